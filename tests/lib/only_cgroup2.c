/* Preloaded into slurmd, for tests of its cgroup v2 plugin on a host that has v1, too: /proc/PID/cgroup has only the line of
   v2, as on a host without v1. Everything else is the host's own v2 hierarchy. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

typedef int (*open_function)(const char*, int, ...);
typedef FILE* (*fopen_function)(const char*, const char*);

static int is_cgroup_file(const char* path) {
    const size_t length = strlen(path);
    return strncmp(path, "/proc/", 6) == 0 && length > 7 && strcmp(path + length - 7, "/cgroup") == 0;
}

static int only_v2(open_function real, const char* path) {
    char text[65536];
    char* rest = text;
    char* line;
    const int from = real(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) return from;
    const ssize_t got = read(from, text, sizeof text - 1);
    close(from);
    const int to = memfd_create("cgroup", MFD_CLOEXEC);
    if (got < 0 || to < 0) return -1;
    text[got] = '\0';
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (strncmp(line, "0::", 3) == 0 && dprintf(to, "%s\n", line) < 0) return -1;
    }
    lseek(to, 0, SEEK_SET);
    return to;
}

#define OPEN(name)                                            \
    int name(const char* path, int flags, ...) {              \
        open_function real = (open_function)dlsym(RTLD_NEXT, #name); \
        mode_t mode = 0;                                      \
        if (flags & (O_CREAT | __O_TMPFILE)) {                \
            va_list list;                                     \
            va_start(list, flags);                            \
            mode = va_arg(list, mode_t);                      \
            va_end(list);                                     \
        }                                                     \
        return is_cgroup_file(path) ? only_v2(real, path) : real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                             \
    FILE* name(const char* path, const char* mode) {                            \
        fopen_function real = (fopen_function)dlsym(RTLD_NEXT, #name);          \
        if (!is_cgroup_file(path)) return real(path, mode);                     \
        const int file = only_v2((open_function)dlsym(RTLD_NEXT, "open"), path); \
        return file < 0 ? NULL : fdopen(file, mode);                            \
    }
FOPEN(fopen)
FOPEN(fopen64)
