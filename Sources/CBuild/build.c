// Package.swift defines SOURCE_COMMIT. Only this file depends on it, so another value recompiles only this file.
#include "CBuild.h"

const char *source_commit(void) { return SOURCE_COMMIT; }
