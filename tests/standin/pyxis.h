#pragma once

#include <slurm/spank.h>
#include <stdbool.h>

// The stand-in for NVIDIA's pyxis: the same options, variables and order of events, in our own code, for
// tests on machines that can't get the real one. In C, as the real one is, so that a machine which can build
// that can build this. What it leaves out: importing from registries, container-scope=job, entrypoints,
// container-env, container-unshare.

enum { max_mounts = 64 };

struct request {
    char* image;
    char* name;
    char* name_flag;  // auto, create, exec or no_exec
    char* workdir;
    char* save;
    char* mounts[max_mounts];  // SRC:DST[:FLAGS], as enroot start --mount takes them
    int mount_count;
    int remap_root;  // -1: not said
    int writable;
};
extern struct request request;

// Registers the options; 0 or -1.
int options_register(spank_t sp);

// Takes PYXIS_CONTAINER_* for what no option said. A bad value is reported and otherwise ignored, as in the
// real one.
void options_from_environment(spank_t sp);

// Is a container asked for? Reports options that mean nothing without one.
bool options_ask_for_container(void);

int add_mount(const char* text);
