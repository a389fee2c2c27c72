// What this service needs of RE2, which is written in C++: patterns that match in a time linear in the text.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct re2_pattern re2_pattern;

/// A compiled pattern, which `re2_free` takes back; NULL where it is none, or needs too much memory.
re2_pattern *re2_compile(const char *pattern, size_t length);
void re2_free(re2_pattern *pattern);

/// Whether the pattern matches the whole of that UTF-8 text. Safe on several threads.
bool re2_matches(const re2_pattern *pattern, const char *text, size_t length);

#ifdef __cplusplus
}
#endif
