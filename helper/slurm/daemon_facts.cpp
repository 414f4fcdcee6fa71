#include "slurm/daemon_facts.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>

#include "core/text.hpp"
#include "posix/file.hpp"

namespace llmgw::slurm {
namespace {

constexpr std::size_t proc_bytes = 1024 * 1024;
constexpr std::size_t conf_bytes = 16 * 1024 * 1024;
constexpr const char* default_spool = "/var/spool/slurmd";
constexpr std::string_view deleted = " (deleted)";
constexpr std::int64_t ns_per_second = 1'000'000'000;

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

std::vector<std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
    if (!directory) return names;
    while (const dirent* entry = ::readdir(directory.get())) names.emplace_back(entry->d_name);
    std::sort(names.begin(), names.end());
    return names;
}

std::string text_of(const std::string& path, std::size_t most) {
    Result<std::string> text = read_file(path, most);
    return text ? std::move(text).value() : std::string();
}

std::string link_of(const std::string& path) {
    std::array<char, 4096> target{};
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    return std::string(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (const std::string_view word : split(text, '\0')) words.emplace_back(word);
    return words;
}

bool exists(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0;
}

// slurm.conf with the files that it includes in their places (parse_config.c, "Include FILE").
std::string configuration_text(const std::string& file, std::size_t depth = 0) {
    constexpr std::size_t deepest = 4;
    std::string whole;
    const std::string text = text_of(file, conf_bytes);
    for (const std::string_view line : split(text, '\n')) {
        whole += line;
        whole += '\n';
        const std::optional<std::string> included = depth < deepest ? slurm_conf_include(line) : std::nullopt;
        if (!included) continue;
        whole += configuration_text(
            included->starts_with('/') ? *included : directory_of(file) + "/" + *included, depth + 1);
    }
    return whole;
}

struct Process {
    std::int64_t started_ns = 0;
    bool replaced = false;
    SlurmdArguments arguments;
    std::string slurm_conf;  // SLURM_CONF in its environment
};

// When the machine was started; /proc counts from there.
std::int64_t boot_ns() {
    timespec now{};
    timespec up{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    ::clock_gettime(CLOCK_BOOTTIME, &up);
    return (now.tv_sec - up.tv_sec) * ns_per_second + (now.tv_nsec - up.tv_nsec);
}

// Field 22 of /proc/PID/stat, in clock ticks; the second one is the program's name in brackets.
std::int64_t started_ns(const std::string& stat) {
    constexpr std::size_t field = 22 - 3;
    const std::vector<std::string_view> fields =
        split(std::string_view(stat).substr(std::min(stat.rfind(')') + 2, stat.size())), ' ');
    std::int64_t ticks = 0;
    if (fields.size() <= field) return 0;
    std::from_chars(fields[field].data(), fields[field].data() + fields[field].size(), ticks);
    return boot_ns() + ticks * (ns_per_second / ::sysconf(_SC_CLK_TCK));
}

// "slurmd" of a process's program; only its own name where a helper with few rights can't see the program.
std::string program_name(const std::string& directory, const std::string& program) {
    if (program.empty()) {
        const std::string name = text_of(directory + "/comm", proc_bytes);
        return name.substr(0, name.find('\n'));
    }
    const std::string path = program.substr(0, program.find(deleted));
    return path.substr(path.rfind('/') + 1);
}

// One in a container on this machine is another machine's: it has a number there, too.
bool is_of_this_machine(const std::string& directory) {
    const std::string status = text_of(directory + "/status", proc_bytes);
    for (const std::string_view line : split(status, '\n')) {
        if (line.starts_with("NSpid:")) return split(trimmed(line.substr(6)), '\t').size() == 1;
    }
    return true;
}

std::optional<Process> slurmd_process(const std::string& directory) {
    const std::string program = link_of(directory + "/exe");
    const std::string name = program_name(directory, program);
    // Debian's is called slurmd-wlm behind a link.
    if ((name != "slurmd" && name != "slurmd-wlm") || !is_of_this_machine(directory)) return std::nullopt;
    Process process;
    process.replaced = program.ends_with(deleted);
    process.started_ns = started_ns(text_of(directory + "/stat", proc_bytes));
    process.arguments = parse_slurmd_arguments(words_of(text_of(directory + "/cmdline", proc_bytes)));
    for (const std::string& variable : words_of(text_of(directory + "/environ", proc_bytes))) {
        if (variable.starts_with("SLURM_CONF=")) process.slurm_conf = variable.substr(variable.find('=') + 1);
    }
    return process;
}

// Of several (slurmd -N) the one with this machine's name, else the one that runs longest.
std::optional<Process> find_slurmd(const DaemonPlaces& places) {
    std::optional<Process> found;
    for (const std::string& name : names_in(places.proc)) {
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::optional<Process> process = slurmd_process(places.proc + "/" + name);
        if (!process) continue;
        if (process->arguments.node == places.machine) return process;
        if (!process->arguments.node.empty() && !places.machine.empty()) continue;
        if (!found || process->started_ns < found->started_ns) found = std::move(process);
    }
    return found;
}

// The order of slurmd.c, _establish_configuration().
std::string configuration_of(const Process& process, const DaemonPlaces& places, bool& from_controller) {
    from_controller = false;
    if (!process.arguments.conf_server) {
        if (!process.arguments.file.empty()) return process.arguments.file;
        if (!process.slurm_conf.empty()) return process.slurm_conf;
        if (exists(places.slurm_conf)) return places.slurm_conf;
    }
    const std::string copy = link_of(places.fetched);
    from_controller = process.arguments.conf_server || !copy.empty();
    return from_controller ? (copy.empty() ? places.fetched : copy) + "/slurm.conf" : places.slurm_conf;
}

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return {};
    const std::string whole = name.data();
    return whole.substr(0, whole.find('.'));
}

bool has_word(std::string text, std::string_view word) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return text.find(word) != std::string::npos;
}

// Sockets that somebody listens on: those of steps that were killed stay in the directory.
std::vector<std::string> running_steps(const std::string& spool, const std::string& node,
                                       const std::string& proc) {
    std::vector<std::string> steps;
    const Result<std::string> sockets = read_file(proc + "/net/unix", conf_bytes);
    for (const std::string& name : names_in(spool)) {
        const std::optional<std::string> step = step_of_socket(name, node);
        if (!step) continue;
        // Where that can't be told, it runs: a restart can wait.
        if (sockets && sockets.value().find(" " + spool + "/" + name + "\n") == std::string::npos) continue;
        steps.push_back(*step);
    }
    return steps;
}

}  // namespace

SlurmdFacts read_slurmd(const DaemonPlaces& places) {
    SlurmdFacts facts;
    const std::optional<Process> process = find_slurmd(places);
    facts.running = process.has_value();
    const Process slurmd = process.value_or(Process{});
    facts.started_ns = slurmd.started_ns;
    facts.replaced = slurmd.replaced;
    const std::string file = configuration_of(slurmd, places, facts.from_controller);
    facts.conf = file;
    const std::string text = configuration_text(file);
    const std::string node = slurmd.arguments.node.empty() ? places.machine : slurmd.arguments.node;
    const bool serves =
        !facts.from_controller &&
        has_word(slurm_conf_value(text, "SlurmctldParameters").value_or(""), "enable_configless");
    facts.spool_dir =
        expanded_path(slurm_conf_value(text, "SlurmdSpoolDir").value_or(default_spool), node, host_name());
    // Said in slurm.conf, it is a file of this machine, and slurmctld gives it to nobody.
    const std::optional<std::string> said = slurm_conf_value(text, "PlugStackConfig");
    const bool usual = places.plugstack.empty() && !said;
    facts.plugstack = usual                      ? directory_of(file) + "/plugstack.conf"
                      : places.plugstack.empty() ? *said
                                                 : places.plugstack;
    facts.from_controller = facts.from_controller && usual;
    facts.serves_configless = serves && usual;
    facts.steps = running_steps(facts.spool_dir, node, places.proc);
    return facts;
}

StackPlace stack_place(const SlurmdFacts& slurmd) {
    return {slurmd.plugstack, slurmd.from_controller, slurmd.serves_configless};
}

}  // namespace llmgw::slurm
