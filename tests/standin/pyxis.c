#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pyxis.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pyxis_enroot.h"

#define EXPORTED __attribute__((visibility("default")))

extern EXPORTED const char plugin_name[];
extern EXPORTED const char plugin_type[];
extern EXPORTED const unsigned int plugin_version;
SPANK_PLUGIN(pyxis, 1)

enum { batch_step = (int)0xfffffffb };

// Shared by the tasks of one step on this node: the first one starts the container, the last one lets it go.
struct shared {
    pthread_mutex_t lock;
    unsigned tried;
    unsigned joined;
    unsigned ended;
    pid_t holder;  // the stopped process that keeps the namespaces; ours to continue
    pid_t inside;  // the process whose namespaces are entered
};

static bool enabled;
static int user_init_result;
static const char* runtime_path = "/run/pyxis";
static struct caller caller = {.remap_root = -1, .writable = -1};
static unsigned local_tasks;
static char* container;
static bool reuse_files;
static bool temporary;
static struct shared* shared;

static int read_arguments(int ac, char** av) {
    static const char* const ignored[] = {"execute_entrypoint=", "container_scope=", "sbatch_support=",
                                          "use_enroot_load=",    "importer=",        "use_squashfuse="};
    for (int i = 0; i < ac; ++i) {
        bool known = false;
        for (unsigned k = 0; k < sizeof ignored / sizeof *ignored; ++k) {
            known = known || strncmp(av[i], ignored[k], strlen(ignored[k])) == 0;
        }
        if (strncmp(av[i], "runtime_path=", 13) == 0) {
            runtime_path = av[i] + 13;
        } else if (strncmp(av[i], "enroot=", 7) == 0) {  // only the stand-in has this one
            enroot_program = av[i] + 7;
        } else if (!known) {
            slurm_error("pyxis: unknown configuration option: %s", av[i]);
            return -1;
        }
    }
    return 0;
}

EXPORTED int slurm_spank_init(spank_t sp, int ac, char** av) {
    const spank_context_t context = spank_context();
    if (context == S_CTX_SLURMD) {
        // The real one says this line too; programs that want its version look for it in the file.
        slurm_info("pyxis: version v" PYXIS_VERSION);
        if (read_arguments(ac, av) != 0) return -1;
        if (mkdir(runtime_path, 0755) != 0 && errno != EEXIST) {
            slurm_error("pyxis: slurmd: couldn't mkdir %s: %s", runtime_path, strerror(errno));
            return -1;
        }
        return 0;
    }
    if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE) return 0;
    return read_arguments(ac, av) == 0 ? options_register(sp) : -1;
}

static int get_caller(spank_t sp) {
    int group_count = 0;
    gid_t* groups = NULL;
    if (spank_get_item(sp, S_JOB_UID, &caller.uid) != ESPANK_SUCCESS ||
        spank_get_item(sp, S_JOB_GID, &caller.gid) != ESPANK_SUCCESS ||
        spank_get_item(sp, S_JOB_SUPPLEMENTARY_GIDS, &groups, &group_count) != ESPANK_SUCCESS ||
        spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &local_tasks) != ESPANK_SUCCESS) {
        slurm_error("pyxis: couldn't get the job's user");
        return -1;
    }
    caller.groups = calloc((size_t)group_count + 1, sizeof *groups);
    if (caller.groups == NULL) return -1;
    if (group_count > 0) memcpy(caller.groups, groups, (size_t)group_count * sizeof *groups);
    caller.group_count = group_count;
    caller.remap_root = request.remap_root;
    caller.writable = request.writable;
    return 0;
}

EXPORTED int slurm_spank_init_post_opt(spank_t sp, int ac, char** av) {
    (void)ac, (void)av;
    const spank_context_t context = spank_context();
    if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE) return 0;
    options_from_environment(sp);
    if (!options_ask_for_container() || context != S_CTX_REMOTE) return 0;
    enabled = true;
    if (get_caller(sp) != 0) return -1;
    // This can fail a step before any task is there, which drains the node where pyxis is `required`: as the
    // real one.
    char path[4096];
    snprintf(path, sizeof path, "%s/%u", runtime_path, caller.uid);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        slurm_error("pyxis: couldn't mkdir %s: %s", path, strerror(errno));
        return -1;
    }
    return chown(path, caller.uid, caller.gid);
}

static int make_shared(void) {
    pthread_mutexattr_t attributes;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        shared = NULL;
        return -1;
    }
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    shared->holder = shared->inside = -1;
    return pthread_mutex_init(&shared->lock, &attributes);
}

static int mount_batch_script(spank_t sp) {
    int argc = 0;
    char** argv = NULL;
    char text[8192];
    if (spank_get_item(sp, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc == 0) {
        slurm_error("pyxis: couldn't get sbatch script");
        return -1;
    }
    snprintf(text, sizeof text, "%s:%s:ro", argv[0], argv[0]);
    return add_mount(text);
}

static int find_named(void) {
    pid_t pid = -1;
    if (asprintf(&container, "pyxis_%s", request.name) < 0) return -1;
    if (enroot_find(&caller, container, &pid) != 0) {
        slurm_error("pyxis: couldn't get list of containers");
        return -1;
    }
    const char* flag = request.name_flag != NULL ? request.name_flag : "auto";
    if (strcmp(flag, "create") == 0 && pid >= 0) {
        slurm_error("pyxis: \"create\" flag was passed to --container-name but the container already exists");
        return -1;
    }
    if (strcmp(flag, "exec") == 0 && pid <= 0) {
        slurm_error("pyxis: \"exec\" flag was passed to --container-name but the container is not running");
        return -1;
    }
    if (strcmp(flag, "no_exec") == 0 && pid > 0) pid = 0;
    if (pid < 0 && request.image == NULL) {
        slurm_error("pyxis: a container with name \"%s\" does not exist, and --container-image is not set",
                    container);
        return -1;
    }
    reuse_files = pid >= 0;
    if (pid > 0) shared->inside = pid;
    return 0;
}

static int prepare(spank_t sp) {
    unsigned job = 0;
    unsigned step = 0;
    if (make_shared() != 0 || spank_get_item(sp, S_JOB_ID, &job) != ESPANK_SUCCESS ||
        spank_get_item(sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
        spank_get_item(sp, S_JOB_ENV, &caller.environment) != ESPANK_SUCCESS) {
        return -1;
    }
    if ((int)step == batch_step && mount_batch_script(sp) != 0) return -1;
    if (request.name != NULL) return find_named();
    temporary = true;
    return asprintf(&container, "pyxis_%u.%u", job, step) < 0 ? -1 : 0;
}

// A failure here would not reach srun, so it is kept and returned from task_init, as in the real one.
EXPORTED int slurm_spank_user_init(spank_t sp, int ac, char** av) {
    (void)ac, (void)av;
    if (enabled) user_init_result = prepare(sp);
    return 0;
}

static int create_and_start(void) {
    if (shared->inside > 0) return 0;  // a running container of that name is joined
    if (!reuse_files) {
        if (*request.image != '/' && *request.image != '.') {
            slurm_error("pyxis: failed to import docker image: %s (the stand-in takes paths only)",
                        request.image);
            return -1;
        }
        char* const create[] = {"enroot", "create", "--name", container, request.image, NULL};
        if (enroot_run(&caller, create) != 0) {
            slurm_error("pyxis: failed to create container filesystem for image: %s", request.image);
            enroot_print_log();
            return -1;
        }
    }
    char* argv[2 * max_mounts + 8] = {"enroot", "start"};
    int argc = 2;
    for (int i = 0; i < request.mount_count; ++i) {
        argv[argc++] = "--mount";
        argv[argc++] = request.mounts[i];
    }
    argv[argc++] = container;
    argv[argc++] = "sh";
    argv[argc++] = "-c";
    argv[argc++] = "kill -STOP $$; exit 0";
    argv[argc] = NULL;
    shared->holder = shared->inside = enroot_hold(&caller, argv);
    return shared->holder > 0 ? 0 : -1;
}

static int start_once(void) {
    if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD) pthread_mutex_consistent(&shared->lock);
    if (shared->tried++ == 0 && create_and_start() != 0) shared->inside = -1;
    const int rc = shared->inside > 0 ? 0 : -1;
    if (rc != 0) slurm_error("pyxis: container was not started successfully");
    pthread_mutex_unlock(&shared->lock);
    return rc;
}

static int open_namespace(const char* name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)shared->inside, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) slurm_error("pyxis: unable to open %s namespace file: %s", name, strerror(errno));
    return fd;
}

EXPORTED int slurm_spank_task_init(spank_t sp, int ac, char** av) {
    (void)ac, (void)av;
    if (!enabled) return 0;
    if (user_init_result != 0) return user_init_result;
    if (spank_get_item(sp, S_JOB_ENV, &caller.environment) != ESPANK_SUCCESS || start_once() != 0) return -1;
    // With --export=NONE the task has none; an image's own variables, which the real one imports, hold it.
    char path[8];
    if (spank_getenv(sp, "PATH", path, sizeof path) == ESPANK_ENV_NOEXIST) {
        spank_setenv(sp, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    }
    const int user = open_namespace("user");
    const int mounts = open_namespace("mnt");
    if (user < 0 || mounts < 0) return -1;
    if (setns(user, CLONE_NEWUSER) != 0) {
        slurm_error("pyxis: couldn't join user namespace: %s", strerror(errno));
        return -1;
    }
    if (setns(mounts, CLONE_NEWNS) != 0) {
        slurm_error("pyxis: couldn't join mount namespace: %s", strerror(errno));
        return -1;
    }
    const char* directory = request.workdir != NULL ? request.workdir : "/";
    if (chdir(directory) != 0) {
        slurm_error("pyxis: couldn't chdir to %s: %s", directory, strerror(errno));
        return -1;
    }
    if (__atomic_add_fetch(&shared->joined, 1, __ATOMIC_SEQ_CST) == local_tasks && shared->holder > 0) {
        kill(shared->holder, SIGCONT);
    }
    return 0;
}

EXPORTED int slurm_spank_task_exit(spank_t sp, int ac, char** av) {
    (void)sp, (void)ac, (void)av;
    if (!enabled || shared == NULL || container == NULL) return 0;
    if (__atomic_add_fetch(&shared->ended, 1, __ATOMIC_SEQ_CST) != local_tasks) return 0;
    // The job's variables may be gone by now; enroot needs none of them here.
    caller.environment = NULL;
    int rc = 0;
    if (request.save != NULL && shared->joined == local_tasks) {
        char* const save[] = {"enroot", "export", "-f", "-o", request.save, container, NULL};
        rc = enroot_run(&caller, save);
        if (rc != 0) enroot_print_log();
    }
    if (temporary && shared->tried > 0) {
        char* const remove[] = {"enroot", "remove", "-f", container, NULL};
        if (enroot_run(&caller, remove) != 0) slurm_info("pyxis: failed to remove container %s", container);
    }
    return rc;
}
