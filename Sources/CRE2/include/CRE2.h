// C functions for the part of RE2 (C++) that this service uses. The time of a match is linear in the length of the
// text.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct re2_pattern re2_pattern;

/// Compiles a pattern. The caller frees the result with `re2_free`. Returns NULL if the pattern is invalid or needs too
/// much memory.
re2_pattern *re2_compile(const char *pattern, size_t length);
void re2_free(re2_pattern *pattern);

/// Whether the pattern matches the whole UTF-8 text. Thread-safe.
bool re2_matches(const re2_pattern *pattern, const char *text, size_t length);

#ifdef __cplusplus
}
#endif
