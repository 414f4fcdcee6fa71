#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pyxis_enroot.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

char* enroot_program = "enroot";
static int log_fd = -1;

// enroot sees the job's variables, but finds its programs and its directories as the machine says, not the
// user.
static void set_environment(char** job, int remap_root, int writable) {
    static const char* const kept_out[] = {"PATH=", "LD_LIBRARY_PATH=", "LD_PRELOAD=", "ENROOT_"};
    const char* path = getenv("PATH");
    char* saved = path != NULL ? strdup(path) : NULL;
    clearenv();
    if (saved != NULL) setenv("PATH", saved, 1);
    for (; job != NULL && *job != NULL; ++job) {
        int keep = 1;
        for (unsigned i = 0; i < sizeof kept_out / sizeof *kept_out; ++i) {
            if (strncmp(*job, kept_out[i], strlen(kept_out[i])) == 0) keep = 0;
        }
        if (keep) putenv(*job);
    }
    if (remap_root >= 0) setenv("ENROOT_REMAP_ROOT", remap_root ? "y" : "n", 1);
    if (writable >= 0) setenv("ENROOT_ROOTFS_WRITABLE", writable ? "y" : "n", 1);
    setenv("PYXIS_VERSION", PYXIS_VERSION, 1);
}

pid_t enroot_spawn(const struct caller* caller, char* const argv[]) {
    if (log_fd >= 0) close(log_fd);
    log_fd = memfd_create("enroot-log", MFD_CLOEXEC);
    const pid_t child = fork();
    if (child != 0) {
        if (child < 0) slurm_error("pyxis: could not fork: %s", strerror(errno));
        return child;
    }
    const int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(log_fd >= 0 ? log_fd : null, STDOUT_FILENO);
    dup2(log_fd >= 0 ? log_fd : null, STDERR_FILENO);
    syscall(SYS_close_range, 3U, ~0U, 0U);
    if (geteuid() == 0 && setgroups((size_t)caller->group_count, caller->groups) != 0) _exit(126);
    if (setregid(caller->gid, caller->gid) != 0 || setreuid(caller->uid, caller->uid) != 0) _exit(126);
    set_environment(caller->environment, caller->remap_root, caller->writable);
    execvp(enroot_program, argv);
    dprintf(STDERR_FILENO, "could not execute %s: %s\n", enroot_program, strerror(errno));
    _exit(127);
}

void enroot_print_log(void) {
    FILE* log = log_fd >= 0 && lseek(log_fd, 0, SEEK_SET) == 0 ? fdopen(log_fd, "r") : NULL;
    if (log == NULL) return;
    slurm_error("pyxis: printing enroot log file:");
    char line[512];
    while (fgets(line, sizeof line, log) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        slurm_error("pyxis:     %s", line);
    }
    fclose(log);
    log_fd = -1;
}

int enroot_run(const struct caller* caller, char* const argv[]) {
    const pid_t child = enroot_spawn(caller, argv);
    int status = 0;
    if (child < 0) return -1;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    slurm_error("pyxis: child %d failed with error code: %d", (int)child,
                WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return -1;
}

int enroot_find(const struct caller* caller, const char* name, pid_t* pid) {
    char* const argv[] = {"enroot", "list", "-f", NULL};
    *pid = -1;
    if (enroot_run(caller, argv) != 0) {
        enroot_print_log();
        return -1;
    }
    FILE* out = log_fd >= 0 && lseek(log_fd, 0, SEEK_SET) == 0 ? fdopen(log_fd, "r") : NULL;
    if (out == NULL) return -1;
    char line[512];
    char found[256];
    while (*pid < 0 && fgets(line, sizeof line, out) != NULL) {
        int number = 0;
        if (sscanf(line, "%255s %d", found, &number) >= 1 && strcmp(found, name) == 0) *pid = number;
    }
    fclose(out);
    log_fd = -1;
    return 0;
}

pid_t enroot_hold(const struct caller* caller, char* const argv[]) {
    const pid_t child = enroot_spawn(caller, argv);
    int status = 0;
    if (child < 0) return -1;
    // The shell in the container stops itself; by then its namespaces are complete.
    while (waitpid(child, &status, WUNTRACED) < 0) {
        if (errno != EINTR) return -1;
    }
    if (WIFSTOPPED(status)) return child;
    slurm_error("pyxis: container start failed with error code: %d",
                WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    enroot_print_log();
    return -1;
}
