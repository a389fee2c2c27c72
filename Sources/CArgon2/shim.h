#include <argon2.h>
#include <stddef.h>

/* libargon2 asks for its memory through a callback that carries no pointer of ours, so the room lent to the call that
   this thread is making stands in a thread-local. Only the three functions below see it. */
struct argon2_room {
    uint8_t *base;
    size_t size;
};

static inline struct argon2_room *argon2_current_room(void) {
    static __thread struct argon2_room room;
    return &room;
}

static inline int argon2_take_room(uint8_t **memory, size_t size) {
    const struct argon2_room *room = argon2_current_room();
    *memory = size <= room->size ? room->base : NULL;
    return *memory == NULL ? ARGON2_MEMORY_ALLOCATION_ERROR : ARGON2_OK;
}

/* The room stays with its owner; libargon2 has wiped it by now. */
static inline void argon2_return_room(uint8_t *memory, size_t size) {
    (void)memory;
    (void)size;
}

/* Argon2id, version 0x13, on the calling thread alone and within the given room (in bytes; `memory` is in KiB).
   Returns ARGON2_OK or a negative code; ARGON2_MEMORY_ALLOCATION_ERROR if the room is too small. */
static inline int argon2id_within(
    void *room, size_t size, uint32_t memory, uint32_t iterations, uint32_t lanes,
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
        .allocate_cbk = argon2_take_room, .free_cbk = argon2_return_room,
        .flags = ARGON2_DEFAULT_FLAGS,
    };
    *argon2_current_room() = (struct argon2_room){(uint8_t *)room, size};
    int code = argon2_ctx(&context, Argon2_id);
    *argon2_current_room() = (struct argon2_room){NULL, 0};
    return code;
}
