#include <argon2.h>
#include <stddef.h>

/* libargon2 allocates its memory with a callback that has no parameter for user data, so the buffer for the current
   call is in a thread-local variable. Only the functions below use it. */
struct argon2_buffer {
    uint8_t *base;
    size_t size;
};

static inline struct argon2_buffer *argon2_current_buffer(void) {
    static __thread struct argon2_buffer buffer;
    return &buffer;
}

static inline int argon2_allocate(uint8_t **memory, size_t size) {
    const struct argon2_buffer *buffer = argon2_current_buffer();
    *memory = size <= buffer->size ? buffer->base : NULL;
    return *memory == NULL ? ARGON2_MEMORY_ALLOCATION_ERROR : ARGON2_OK;
}

/* Does nothing: the caller owns the buffer, which libargon2 has wiped already. */
static inline void argon2_free_nothing(uint8_t *memory, size_t size) {
    (void)memory;
    (void)size;
}

/* Computes Argon2id, version 0x13, on the calling thread, in a buffer of `size` bytes. `memory` is in KiB.
   Returns ARGON2_OK or a negative code, such as ARGON2_MEMORY_ALLOCATION_ERROR if the buffer is too small. */
static inline int argon2id_within(
    void *buffer, size_t size, uint32_t memory, uint32_t iterations, uint32_t lanes,
    const void *password, size_t password_length, const uint8_t *salt, size_t salt_length,
    const uint8_t *key, size_t key_length, const uint8_t *associated, size_t associated_length,
    void *tag, size_t tag_length
) {
    argon2_context context = {
        .out = (uint8_t *)tag, .outlen = (uint32_t)tag_length,
        .pwd = (uint8_t *)password, .pwdlen = (uint32_t)password_length,
        .salt = (uint8_t *)salt, .saltlen = (uint32_t)salt_length,
        .secret = (uint8_t *)key, .secretlen = (uint32_t)key_length,
        .ad = (uint8_t *)associated, .adlen = (uint32_t)associated_length,
        .t_cost = iterations, .m_cost = memory, .lanes = lanes, .threads = 1,
        .version = ARGON2_VERSION_13,
        .allocate_cbk = argon2_allocate, .free_cbk = argon2_free_nothing,
        .flags = ARGON2_DEFAULT_FLAGS,
    };
    *argon2_current_buffer() = (struct argon2_buffer){(uint8_t *)buffer, size};
    int code = argon2_ctx(&context, Argon2_id);
    *argon2_current_buffer() = (struct argon2_buffer){NULL, 0};
    return code;
}

/* Computes Argon2, version 0x13, on the calling thread, for a hash that another system has made. `type` is 0 for
   Argon2d, 1 for Argon2i and 2 for Argon2id. `memory` is in KiB; libargon2 allocates it. Returns ARGON2_OK or a
   negative code. */
static inline int argon2_foreign(
    int type, uint32_t memory, uint32_t iterations, uint32_t lanes, const void *password, size_t password_length,
    const uint8_t *salt, size_t salt_length, void *tag, size_t tag_length
) {
    argon2_context context = {
        .out = (uint8_t *)tag, .outlen = (uint32_t)tag_length,
        .pwd = (uint8_t *)password, .pwdlen = (uint32_t)password_length,
        .salt = (uint8_t *)salt, .saltlen = (uint32_t)salt_length,
        .t_cost = iterations, .m_cost = memory, .lanes = lanes, .threads = 1,
        .version = ARGON2_VERSION_13, .flags = ARGON2_DEFAULT_FLAGS,
    };
    return argon2_ctx(&context, (argon2_type)type);
}
