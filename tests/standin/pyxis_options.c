#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pyxis.h"

struct request request = {.remap_root = -1, .writable = -1};

// Slurm may call back twice with the same value; a second, different one is an error.
static int keep(char** place, const char* option, const char* value) {
    if (value == NULL || *value == '\0') {
        slurm_error("pyxis: --%s: argument required", option);
        return -1;
    }
    if (*place != NULL && strcmp(*place, value) == 0) return 0;
    if (*place != NULL) {
        slurm_error("pyxis: --%s specified multiple times", option);
        return -1;
    }
    *place = strdup(value);
    return *place != NULL ? 0 : -1;
}

static int on_image(int val, const char* value, int remote) {
    (void)val, (void)remote;
    return keep(&request.image, "container-image", value);
}

static int on_name(int val, const char* value, int remote) {
    (void)val, (void)remote;
    static const char* const flags[] = {"auto", "create", "exec", "no_exec"};
    char* copy = NULL;
    if (keep(&copy, "container-name", value) != 0) return -1;
    char* flag = strchr(copy, ':');
    if (flag != NULL) *flag++ = '\0';
    if (flag == NULL || *flag == '\0') flag = "auto";
    int rc = -1;
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; ++i) {
        if (strcmp(flag, flags[i]) == 0) rc = 0;
    }
    if (rc != 0)
        slurm_error("pyxis: --container-name: flag must be \"auto\", \"create\", \"exec\" or \"no_exec\"");
    if (rc == 0 && *copy == '\0') {
        slurm_error("pyxis: --container-name: empty name");
        rc = -1;
    }
    if (rc == 0) rc = keep(&request.name, "container-name", copy);
    if (rc == 0) rc = keep(&request.name_flag, "container-name", flag);
    free(copy);
    return rc;
}

static int on_workdir(int val, const char* value, int remote) {
    (void)val, (void)remote;
    return keep(&request.workdir, "container-workdir", value);
}

static int on_save(int val, const char* value, int remote) {
    (void)val, (void)remote;
    return keep(&request.save, "container-save", value);
}

int add_mount(const char* text) {
    if (*text != '/' && *text != '.') {
        slurm_error("pyxis: mount source must be a path: %s", text);
        return -1;
    }
    for (int i = 0; i < request.mount_count; ++i) {
        if (strcmp(request.mounts[i], text) == 0) return 0;
    }
    if (request.mount_count == max_mounts) {
        slurm_error("pyxis: too many mounts");
        return -1;
    }
    char* copy = strdup(text);
    if (copy == NULL) return -1;
    // Flags are separated by + on the command line, where the comma separates mounts.
    for (char* c = copy; *c != '\0'; ++c) {
        if (*c == '+') *c = ',';
    }
    request.mounts[request.mount_count++] = copy;
    return 0;
}

static int on_mounts(int val, const char* value, int remote) {
    (void)val, (void)remote;
    char* copy = NULL;
    if (keep(&copy, "container-mounts", value) != 0) return -1;
    int rc = 0;
    char* rest = copy;
    for (char* item = NULL; rc == 0 && (item = strsep(&rest, ",")) != NULL;) rc = add_mount(item);
    free(copy);
    return rc;
}

static int on_remap_root(int val, const char* value, int remote) {
    (void)value, (void)remote;
    if (request.remap_root >= 0 && request.remap_root != val) {
        slurm_error("pyxis: both --container-remap-root and --no-container-remap-root were specified");
        return -1;
    }
    request.remap_root = val;
    return 0;
}

static int on_writable(int val, const char* value, int remote) {
    (void)value, (void)remote;
    if (request.writable >= 0 && request.writable != val) {
        slurm_error("pyxis: both --container-writable and --container-readonly were specified");
        return -1;
    }
    request.writable = val;
    return 0;
}

static int on_ignored(int val, const char* value, int remote) {
    (void)val, (void)value, (void)remote;
    return 0;
}

static struct spank_option options[] = {
    {"container-image", "[USER@][REGISTRY#]IMAGE[:TAG]|PATH", "[pyxis] the container's image", 1, 0,
     on_image},
    {"container-mounts", "SRC:DST[:FLAGS][,SRC:DST...]", "[pyxis] mounts in the container", 1, 0, on_mounts},
    {"container-workdir", "PATH", "[pyxis] working directory in the container", 1, 0, on_workdir},
    {"container-name", "NAME", "[pyxis] name under which the container is kept", 1, 0, on_name},
    {"container-save", "PATH", "[pyxis] save the container to a squashfs file", 1, 0, on_save},
    {"container-mount-home", NULL, "[pyxis] mount the home directory", 0, 1, on_ignored},
    {"no-container-mount-home", NULL, "[pyxis] do not mount the home directory", 0, 0, on_ignored},
    {"container-remap-root", NULL, "[pyxis] be root in the container", 0, 1, on_remap_root},
    {"no-container-remap-root", NULL, "[pyxis] do not be root in the container", 0, 0, on_remap_root},
    {"container-entrypoint", NULL, "[pyxis] run the image's entrypoint", 0, 1, on_ignored},
    {"no-container-entrypoint", NULL, "[pyxis] do not run the image's entrypoint", 0, 0, on_ignored},
    {"container-entrypoint-log", NULL, "[pyxis] print the entrypoint's output", 0, 1, on_ignored},
    {"container-writable", NULL, "[pyxis] make the container writable", 0, 1, on_writable},
    {"container-readonly", NULL, "[pyxis] make the container read-only", 0, 0, on_writable},
    {"container-env", "NAME[,NAME...]", "[pyxis] variables of the host to keep", 1, 0, on_ignored},
    {"container-unshare", "NS[,NS...]", "[pyxis] new namespaces", 1, 1, on_ignored},
    SPANK_OPTIONS_TABLE_END};

int options_register(spank_t sp) {
    for (struct spank_option* option = options; option->name != NULL; ++option) {
        const spank_err_t rc = spank_option_register(sp, option);
        if (rc != ESPANK_SUCCESS) {
            slurm_error("pyxis: couldn't register option %s: %s", option->name, spank_strerror(rc));
            return -1;
        }
    }
    return 0;
}

static const char* variable(spank_t sp, const char* name, char* buffer, int size) {
    if (spank_context() != S_CTX_REMOTE) return getenv(name);
    return spank_getenv(sp, name, buffer, size) == ESPANK_SUCCESS ? buffer : NULL;
}

static int truth(const char* value) {
    static const char* const yes[] = {"1", "true", "yes", "y"};
    static const char* const no[] = {"0", "false", "no", "n"};
    for (int i = 0; i < 4; ++i) {
        if (strcmp(value, yes[i]) == 0) return 1;
        if (strcmp(value, no[i]) == 0) return 0;
    }
    return -1;
}

void options_from_environment(spank_t sp) {
    char buffer[PATH_MAX];
    const char* value = variable(sp, "PYXIS_CONTAINER_IMAGE", buffer, sizeof buffer);
    if (value != NULL && request.image == NULL) on_image(0, value, 0);
    value = variable(sp, "PYXIS_CONTAINER_MOUNTS", buffer, sizeof buffer);
    if (value != NULL && request.mount_count == 0) on_mounts(0, value, 0);
    value = variable(sp, "PYXIS_CONTAINER_WORKDIR", buffer, sizeof buffer);
    if (value != NULL && request.workdir == NULL) on_workdir(0, value, 0);
    value = variable(sp, "PYXIS_CONTAINER_NAME", buffer, sizeof buffer);
    if (value != NULL && request.name == NULL) on_name(0, value, 0);
    value = variable(sp, "PYXIS_CONTAINER_SAVE", buffer, sizeof buffer);
    if (value != NULL && request.save == NULL) on_save(0, value, 0);
    value = variable(sp, "PYXIS_CONTAINER_REMAP_ROOT", buffer, sizeof buffer);
    if (value != NULL && request.remap_root < 0) request.remap_root = truth(value);
    value = variable(sp, "PYXIS_CONTAINER_WRITABLE", buffer, sizeof buffer);
    if (value != NULL && request.writable < 0) request.writable = truth(value);
    value = variable(sp, "PYXIS_CONTAINER_READONLY", buffer, sizeof buffer);
    if (value != NULL && request.writable < 0 && truth(value) >= 0) request.writable = !truth(value);
}

bool options_ask_for_container(void) {
    if (request.image != NULL || request.name != NULL) return true;
    const struct {
        bool set;
        const char* option;
    } others[] = {
        {request.mount_count > 0, "container-mounts"}, {request.workdir != NULL, "container-workdir"},
        {request.save != NULL, "container-save"},      {request.remap_root >= 0, "[no-]container-remap-root"},
        {request.writable == 0, "container-readonly"}, {request.writable == 1, "container-writable"}};
    for (unsigned i = 0; i < sizeof others / sizeof *others; ++i) {
        if (others[i].set) {
            slurm_error("pyxis: ignoring --%s because neither --container-image nor --container-name is set",
                        others[i].option);
        }
    }
    return false;
}
