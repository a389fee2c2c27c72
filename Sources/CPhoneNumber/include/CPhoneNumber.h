// C functions for the part of libphonenumber (C++) that this service uses.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Whether the library supports the region, which is an ISO 3166-1 code in capital letters.
bool phone_knows_region(const char *region);

/// Writes the E.164 form and a NUL if the text is a mobile or fixed-line number without an extension. The text is read
/// as people in the region dial it; with `+` and a country code, it may be a number of any region. Returns false for
/// any other text. The form has at most 16 characters. Thread-safe.
bool phone_format_e164(const char *text, size_t length, const char *region, char e164[17]);

/// Writes an E.164 number as people in the region write it, and a NUL: in national format if the number has the country
/// code of the region, otherwise in international format, with country code and spaces. Returns false if the number
/// cannot be parsed, or if its text and the NUL need more than `capacity` bytes. Thread-safe.
bool phone_format_text(const char *e164, size_t length, const char *region, char *text, size_t capacity);

#ifdef __cplusplus
}
#endif
