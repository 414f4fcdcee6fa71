#include "guard.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "core/boundary.hpp"
#include "core/container_request.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "fence.hpp"
#include "node_fitness.hpp"
#include "posix/descriptor.hpp"
#include "posix/loaded_object.hpp"
#include "posix/whereabouts.hpp"
#include "step_end.hpp"

namespace llmgw::guard {
namespace {

// What slurmstepd's callbacks hand on to the ones in the task, which is forked from it. One step a process,
// one thread at a time.
struct Latch {
    std::optional<std::string> fenced;
    Request request = Request::none;
    bool oci = false;
    bool verify_line = false;
    Descriptor proc;
    std::optional<Whereabouts> before_pyxis;
};

// sbatch, salloc and srun call once for each component of a het job, in their order.
struct Components {
    bool seen = false;
    bool first_asks = false;
};

// Not an object with a destructor at namespace scope: those run when Slurm unloads the library.
Latch& latch() {
    static Latch* const only = new Latch;
    return *only;
}

bool has_value(spank_t step, const char* name) {
    char first[2] = {0, 0};
    const spank_err_t answer = spank_getenv(step, name, first, sizeof first);
    return answer == ESPANK_NOSPACE || (answer == ESPANK_SUCCESS && first[0] != '\0');
}

std::string variable(spank_t step, const char* name) {
    char value[256];
    return spank_getenv(step, name, value, sizeof value) == ESPANK_SUCCESS ? value : "";
}

Request request_in_step_environment(spank_t step) {
    for (const RequestVariable& candidate : request_variables) {
        if (has_value(step, candidate.name)) return candidate.request;
    }
    return Request::none;
}

// 22.05 with --export=NONE sends options in the launch message only. Slurm looks an option up by its name in
// every loaded plugin (plugstack.c:1568), so this finds pyxis's, and ours where pyxis isn't loaded.
bool has_option(spank_t task, const char* option_name) {
    std::string name = option_name;
    spank_option option{};
    option.name = name.data();
    option.has_arg = 1;
    char* value = nullptr;
    return spank_option_getopt(task, &option, &value) == ESPANK_SUCCESS && value != nullptr && *value != '\0';
}

Request request_in_options(spank_t task) {
    if (has_option(task, "container-image")) return Request::image_option;
    if (has_option(task, "container-name")) return Request::name_option;
    return Request::none;
}

// Asked again in the task, should noting it have failed; the options can be asked for only there.
void find_request(spank_t task) {
    Request& request = latch().request;
    if (request == Request::none) request = request_in_options(task);
    if (request == Request::none) request = request_in_step_environment(task);
}

std::optional<User> user_of(spank_t step) {
    User user;
    if (spank_get_item(step, S_JOB_UID, &user.uid) != ESPANK_SUCCESS) return std::nullopt;
    if (spank_get_item(step, S_JOB_GID, &user.gid) != ESPANK_SUCCESS) return std::nullopt;
    return user;
}

bool is_extern_step(spank_t step) {
    std::uint32_t id = 0;
    return spank_get_item(step, S_JOB_STEPID, &id) == ESPANK_SUCCESS && id == SLURM_EXTERN_CONT;
}

std::uint32_t job_of(spank_t step) {
    std::uint32_t job = 0;
    return spank_get_item(step, S_JOB_ID, &job) == ESPANK_SUCCESS ? job : 0;
}

std::string node_name(spank_t task) {
    std::string name = variable(task, "SLURMD_NODENAME");
    return name.empty() ? "this node" : name;
}

// The mark says what the submit host's guard saw. Anyone can set it, so only what we would have written is
// repeated.
std::string source_of_request(spank_t task) {
    if (latch().request != Request::mark) return describe(latch().request);
    const std::string marked = variable(task, mark_in_environment);
    for (const RequestVariable& known : request_variables) {
        if (marked == describe(known.request)) return marked;
    }
    return describe(Request::mark);
}

std::string refusal(spank_t task, const std::string& reason) {
    return "llmgw: container step refused on " + node_name(task) + ": " + reason + ". It was asked for by " +
           source_of_request(task) +
           ". Plain steps run here; \"llmgw-slurm status\" shows which machines are ready for containers.";
}

// The first line of plugstack.conf.
void admit_before_pyxis(spank_t task, const Arguments& arguments) {
    find_request(task);
    Latch& step = latch();
    if (step.request == Request::none) {
        if (!step.oci || oci_runtime_or_unknown(arguments)) return;
        step.request = Request::oci;
        refuse(task,
               refusal(task,
                       "Slurm has no OCI runtime here (no oci.conf), and would run the step without the "
                       "container. For an image, use --container-image"));
    }
    std::optional<std::string> unfit = unfitness(arguments, loaded_from("spank_pyxis.so"));
    if (!unfit && !step.verify_line) {
        unfit = "plugstack.conf has no line \"optional spank_llmgw.so verify\" behind pyxis's";
    }
    if (!unfit) unfit = unsafe_directory(arguments, ::geteuid());
    if (!unfit) {
        Result<Descriptor> proc = open_proc();
        Result<Whereabouts> here = proc ? whereabouts(proc.value()) : Result<Whereabouts>(proc.error());
        if (here) {
            step.proc = std::move(proc).value();
            step.before_pyxis = here.value();
            return;
        }
        unfit = here.error().message;
    }
    refuse(task, refusal(task, *unfit));
}

// The line behind pyxis's, which must not rely on the first one being there.
void verify_after_pyxis(spank_t task) {
    find_request(task);
    const Latch& step = latch();
    if (step.request == Request::none || step.request == Request::oci) return;
    std::string reason;
    if (!step.before_pyxis) {
        reason = "plugstack.conf has no line \"optional spank_llmgw.so\" in front of pyxis's";
    } else if (const Result<Whereabouts> here = whereabouts(step.proc); !here) {
        reason = here.error().message;
    } else if (!moved_into_container(*step.before_pyxis, here.value())) {
        reason =
            "pyxis did not put the task in a container; its own messages above say why, or, without any, "
            "--export "
            "kept the request from it";
    } else {
        return;
    }
    refuse(task, refusal(task, reason));
}

}  // namespace

Arguments parse_arguments(int count, char* const* words) {
    Arguments arguments;
    constexpr std::string_view run_directory = "run_dir=";
    constexpr std::string_view state_directory = "state_dir=";
    constexpr std::string_view enroot = "enroot=";
    for (int i = 0; i < count; ++i) {
        const std::string_view word = words[i] == nullptr ? "" : words[i];
        if (word == "verify") {
            arguments.verify = true;
        } else if (word == "alone") {
            arguments.alone = true;
        } else if (word.starts_with(run_directory)) {
            arguments.run_directory = word.substr(run_directory.size());
        } else if (word.starts_with(state_directory)) {
            arguments.state_directory = word.substr(state_directory.size());
        } else if (word.starts_with(enroot)) {
            arguments.enroot = word.substr(enroot.size());
        } else {
            slurm_debug("llmgw: plugstack.conf: unknown argument %s", shown(word).c_str());
        }
    }
    return arguments;
}

void note_step(spank_t step, const Arguments& arguments) {
    // Asked again here, where the step's socket is there (slurmstepd.c, main): so a look at the machine's
    // sockets and the closing of the fence can't miss each other; and for the first time where slurmd doesn't
    // know yet that this plugin has a prolog.
    if (!arguments.verify) latch().fenced = held_at_fence(arguments, job_of(step));
    if (is_extern_step(step)) return;
    if (arguments.verify) latch().verify_line = true;
    latch().request = request_in_step_environment(step);
    // srun and sbatch --container set it, and srun takes it as that option (22.05 srun/opt.c).
    latch().oci = has_value(step, "SLURM_CONTAINER");
    if (latch().request == Request::none || arguments.verify) return;
    if (const std::optional<User> user = user_of(step)) make_user_directories(arguments, *user);
}

void mark_job(spank_t job) {
    static Components components;
    const char* source = nullptr;
    for (const RequestVariable& candidate : request_variables) {
        if (candidate.request == Request::mark) continue;
        const char* value = std::getenv(candidate.name);
        if (value == nullptr || *value == '\0') continue;
        source = describe(candidate.request);
        break;
    }
    if (source != nullptr) {
        spank_job_control_setenv(job, mark_in_job_control, source, 1);
        ::setenv(mark_in_environment, source, 1);
    } else {
        spank_job_control_unsetenv(job, mark_in_job_control);
        ::unsetenv(mark_in_environment);
    }
    if (components.first_asks && source != nullptr) {
        spank_job_control_setenv(job, mark_of_later_component, "yes", 1);
    } else {
        spank_job_control_unsetenv(job, mark_of_later_component);
    }
    if (!components.seen) components = {true, source != nullptr};
}

void admit_task(spank_t task, const Arguments& arguments) {
    if (const std::optional<std::string>& reason = latch().fenced; reason && !arguments.verify)
        refuse(task, "llmgw: step refused on " + node_name(task) + ": " + *reason);
    if (is_extern_step(task)) return;
    if (arguments.verify) {
        verify_after_pyxis(task);
    } else {
        admit_before_pyxis(task, arguments);
    }
}

bool container_step(spank_t task) noexcept {
    contained(
        "container_step", 0, [](const char*, const char*) {},
        [&] {
            find_request(task);
            return 0;
        });
    return latch().request != Request::none;
}

void refuse(spank_t task, const std::string& message) {
    slurm_error("%s", without_control_characters(message).c_str());
    end_step(task);
    ::_exit(1);
}

}  // namespace llmgw::guard
