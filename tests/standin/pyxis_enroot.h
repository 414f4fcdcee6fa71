#pragma once

#include <slurm/spank.h>
#include <sys/types.h>

// The real one's Makefile says it, too.
#ifndef PYXIS_VERSION
#define PYXIS_VERSION "0.24.0"
#endif

// Whose container it is.
struct caller {
    uid_t uid;
    gid_t gid;
    gid_t* groups;
    int group_count;
    char** environment;
    int remap_root;  // -1: as enroot is configured
    int writable;
};

extern char* enroot_program;  // a name looked up in PATH, or a path

// Starts enroot as the caller, with its output in a log that enroot_print_log shows to the user. -1 on
// failure.
pid_t enroot_spawn(const struct caller* caller, char* const argv[]);
void enroot_print_log(void);

// Runs enroot to its end; 0 when that was 0.
int enroot_run(const struct caller* caller, char* const argv[]);

// The container of this name: *pid is -1 where there is none, 0 where it is not running, else one of its
// processes.
int enroot_find(const struct caller* caller, const char* name, pid_t* pid);

// Starts a container whose first process stops itself, and waits for that; its pid or -1.
pid_t enroot_hold(const struct caller* caller, char* const argv[]);
