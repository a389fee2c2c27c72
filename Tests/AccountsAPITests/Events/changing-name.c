// Resolves the host hooks.example to the address in the file CHANGING_ADDRESS, which a test may replace at any time. The
// library is loaded with LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static __typeof__(getaddrinfo) *real;
    if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "getaddrinfo");
    char address[64] = {0};
    if (host && strcmp(host, "hooks.example") == 0) {
        int file = open(getenv("CHANGING_ADDRESS"), O_RDONLY | O_CLOEXEC);
        if (file < 0) return EAI_AGAIN;
        ssize_t length = read(file, address, sizeof address - 1);
        close(file);
        if (length <= 0) return EAI_AGAIN;
        host = address;
    }
    return real(host, service, hints, found);
}
