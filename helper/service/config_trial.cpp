#include "service/config_trial.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "core/last_words.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"
#include "posix/launch.hpp"
#include "posix/untrusted_file.hpp"
#include "service/cluster_paths.hpp"

namespace llmgw::service {
namespace {

// What it says when it has read everything (22.05 to 26.05, controller.c).
constexpr std::string_view serves = "Running as primary controller";
constexpr std::chrono::milliseconds look_every{50};
// One that said neither and still runs had nothing against its configuration.
constexpr std::chrono::seconds good_sign{20};

std::string text_in(int file) {
    std::string text(limits::program_output_bytes, '\0');
    const ssize_t size = ::pread(file, text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
}

// The line that ended it, and the one before where that is an error: "Unable to process configuration file"
// alone says little.
std::string reason_in(const std::string& output) {
    const auto behind = [](std::string_view line, std::string_view word) {
        const std::size_t found = line.find(word);
        return found == std::string_view::npos ? std::string()
                                               : std::string(line.substr(found + word.size()));
    };
    std::string before;
    for (const std::string_view line : split(output, '\n')) {
        if (const std::string why = behind(line, "fatal: "); !why.empty())
            return before.empty() ? why : why + " (" + before + ")";
        before = behind(line, "error: ");
    }
    return last_words(output, 2);
}

Result<void> fill(const SlurmConfig& config, const std::string& directory, const FileOwner& owner) {
    const SlurmConfig trial = trial_config(config, directory);
    for (const auto& [name, content] : {std::pair{"slurm.conf", &trial.slurm_conf},
                                        {"cgroup.conf", &trial.cgroup_conf},
                                        {"gres.conf", &trial.gres_conf}}) {
        const Result<void> written =
            write_file_atomically(directory + "/" + name, *content, 0644, Durability::volatile_, owner);
        if (!written) return written;
    }
    const std::string state = directory + "/state";
    if (::mkdir(state.c_str(), 0700) != 0 || ::chown(state.c_str(), owner.uid, owner.gid) != 0)
        return Error{Code::internal, "cannot make " + state};
    return {};
}

}  // namespace

Result<void> try_slurm_config(const SlurmConfig& config, const std::string& program,
                              const std::string& directory, TaskRunner& runner, const std::stop_token& stop) {
    const std::optional<FileOwner> owner = owner_named("slurm");
    if (!owner) return Error{Code::missing, "there is no user slurm, which Slurm's packages make"};
    if (const Result<void> gone = remove_tree(directory); !gone) return gone;
    if (::mkdir(directory.c_str(), 0700) != 0) return Error{Code::internal, "cannot make " + directory};
    Result<void> outcome = fill(config, directory, *owner);
    // Last, so that nobody else was ever in it while root wrote there.
    if (outcome && ::chown(directory.c_str(), owner->uid, owner->gid) != 0)
        outcome = Error{Code::internal, "cannot give " + directory + " to slurm"};
    if (outcome) {
        Task task;
        task.unit = "llmgw-slurm-trial";
        task.description = "llmgw-slurm: tries a configuration of Slurm";
        task.argv = {program, "--try-slurm-conf", directory};
        task.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
        task.deadline = limits::config_trial;
        const Result<TaskResult> ran = runner.run(task, stop);
        if (!ran) {
            outcome = ran.error().within("cannot try Slurm's configuration");
        } else if (!ran.value().success()) {
            outcome =
                Error{Code::invalid, "slurmctld does not start with it: " + reason_in(ran.value().output)};
        }
    }
    const Result<void> removed = remove_tree(directory);
    return outcome ? removed : outcome;
}

int try_config_here(const std::string& directory, const std::string& slurmctld) {
    const Descriptor output(::memfd_create("slurmctld", MFD_CLOEXEC));
    if (!output.open()) return 2;
    Launch start;
    start.argv = {slurmctld, "-D", "-f", directory + "/slurm.conf"};
    start.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    start.directory = directory;
    start.output = output.get();
    const Result<pid_t> child = launch(start);
    if (!child) {
        std::fputs(child.error().message.c_str(), stdout);
        return 2;
    }
    const auto end = std::chrono::steady_clock::now() + good_sign;
    bool ended = false;
    bool good = false;
    while (!ended && !good) {
        ended = ends_before(child.value(), std::chrono::steady_clock::now() + look_every);
        good = !ended && (contains(text_in(output.get()), serves) || std::chrono::steady_clock::now() >= end);
    }
    ::kill(-child.value(), SIGKILL);
    bury(child.value());
    std::fputs(text_in(output.get()).c_str(), stdout);
    return std::fflush(stdout) == 0 && good ? 0 : 1;
}

}  // namespace llmgw::service
