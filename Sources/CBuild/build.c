// Package.swift defines SOURCE_COMMIT. Only this file depends on it, so a build of another commit compiles only this
// file anew.
#include "CBuild.h"

const char *source_commit(void) { return SOURCE_COMMIT; }
