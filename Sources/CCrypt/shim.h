#include <crypt.h>
#include <stdlib.h>
#include <string.h>

/* The size of the longest hash, including its final NUL, in bytes. */
static const size_t crypt_hash_size = CRYPT_OUTPUT_SIZE;

/* Hashes the phrase with the setting, such as "$2b$12$" and a salt, and writes the setting and the hash without a NUL
   to `hash`, which must have room for crypt_hash_size bytes. Returns the number of bytes written; 0 if the phrase is
   too long or contains a NUL, the setting is not valid, or there is not enough memory. Wipes the working memory, which
   contains a copy of the phrase. */
static inline size_t crypt_hash(const void *phrase, size_t length, const char *setting, void *hash) {
    struct crypt_data *data = (struct crypt_data *)calloc(1, sizeof(struct crypt_data));
    if (data == NULL) return 0;
    size_t size = 0;
    if (length < sizeof data->input && (length == 0 || memchr(phrase, 0, length) == NULL)) {
        if (length > 0) memcpy(data->input, phrase, length);
        const char *result = crypt_rn(data->input, setting, data, sizeof *data);
        if (result != NULL) {
            size = strlen(result);
            memcpy(hash, result, size);
        }
    }
    explicit_bzero(data, sizeof *data);
    free(data);
    return size;
}
