// Loaded into the image worker with LD_PRELOAD. Where the worker would read the image, which is after it has restricted
// itself, it tries system calls instead. For each of them it writes a line: a name, and the number of the error or 0.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void report(const char *name, long result) {
    char line[64];
    int length = snprintf(line, sizeof line, "%s %d\n", name, result == -1 ? errno : 0);
    syscall(SYS_write, STDOUT_FILENO, line, length);
}

static void try_calls(void) {
    static char *const none[] = {NULL};
    // A process has at most 2^22, so nobody has this id.
    const int nobody = 0x7FFFFFF0;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    report("mmap", (long)page);
#ifdef SYS_open
    report("open", syscall(SYS_open, "/etc/passwd", O_RDONLY));
#endif
    report("openat", syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
    report("socket", syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
    report("mmap-exec", syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    report("mprotect-exec", syscall(SYS_mprotect, page, 4096, PROT_READ | PROT_EXEC));
    report("pkey-mprotect-exec", syscall(SYS_pkey_mprotect, page, 4096, PROT_READ | PROT_EXEC, -1));
    // With this, memory that can be read could be executed, too.
    report("personality", syscall(SYS_personality, READ_IMPLIES_EXEC));
    report("memfd", syscall(SYS_memfd_create, "x", 0));
    report("unlinkat", syscall(SYS_unlinkat, AT_FDCWD, "/nonexistent/file", 0));
    report("kill", syscall(SYS_kill, nobody, 0));
    report("process-vm-readv", syscall(SYS_process_vm_readv, nobody, NULL, 0, NULL, 0, 0));
    report("ptrace", syscall(SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL));
    report("execve", syscall(SYS_execve, "/nonexistent/program", none, none));
}

ssize_t read(int descriptor, void *buffer, size_t count) {
    if (descriptor != STDIN_FILENO) return syscall(SYS_read, descriptor, buffer, count);
    try_calls();
    _exit(0);
}
