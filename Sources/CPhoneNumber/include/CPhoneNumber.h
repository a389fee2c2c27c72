// What this service needs of libphonenumber, which is written in C++.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Whether the library knows that region: two capital letters, ISO 3166-1.
bool phone_knows_region(const char *region);

/// Writes the E.164 form with a closing NUL where the text is a number of a mobile or a fixed line, without extension,
/// as dialled in that region; false otherwise. The longest such form has 16 characters. Safe on several threads.
bool phone_format_e164(const char *text, size_t length, const char *region, char e164[17]);

/// Writes a number in E.164 as people do, with its country's code and gaps, and a closing NUL; false where it is none or
/// there is too little room. Safe on several threads.
bool phone_format_international(const char *e164, size_t length, char *text, size_t room);

#ifdef __cplusplus
}
#endif
