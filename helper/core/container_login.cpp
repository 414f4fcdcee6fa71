#include "core/container_login.hpp"

#include <algorithm>
#include <set>

#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr const char* usual_path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// With these a program takes itself for a task of the step, or srun for one that runs inside of it. Pyxis's
// and enroot's would put what is started in here into another container.
constexpr std::string_view of_task[] = {"SLURM_PROCID",
                                        "SLURM_LOCALID",
                                        "SLURM_TASK_PID",
                                        "SLURM_GTIDS",
                                        "SLURM_LAUNCH_NODE_IPADDR",
                                        "OLDPWD",
                                        "PWD",
                                        "SHLVL",
                                        "_"};
constexpr std::string_view of_task_beginnings[] = {"SLURM_STEP", "SLURM_SRUN_COMM", "PMI",
                                                   "OMPI_",      "PYXIS_",          "ENROOT_"};

constexpr std::string_view of_login[] = {
    "TERM",    "LANG",          "SSH_CONNECTION", "SSH_CLIENT",   "SSH_TTY",     "HOME",           "USER",
    "LOGNAME", "SSH_AUTH_SOCK", "DISPLAY",        "SLURM_JOB_ID", "SLURM_JOBID", "SLURMD_NODENAME"};

template <class List>
bool is_one_of(std::string_view name, const List& list) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

bool is_variable(std::string_view entry) {
    const std::size_t equals = entry.find('=');
    return equals != std::string_view::npos && equals > 0;
}

bool belongs_to_task(std::string_view name) {
    return is_one_of(name, of_task) ||
           std::any_of(std::begin(of_task_beginnings), std::end(of_task_beginnings),
                       [&](std::string_view beginning) { return name.starts_with(beginning); });
}

bool belongs_to_login(std::string_view name) {
    return is_one_of(name, of_login) || name.starts_with("LC_");
}

}  // namespace

std::optional<LoginRequest> login_request(const std::vector<std::string>& words,
                                          const std::vector<std::string>& environment) {
    if (words.size() == 3 && words[1] == "-c") return LoginRequest{words[2], false};
    if (words.size() > 1) return std::nullopt;
    if (!words.empty() && words[0].starts_with('-')) return LoginRequest{};
    std::string command = variable(environment, "SSH_ORIGINAL_COMMAND");
    if (command.empty()) return LoginRequest{std::nullopt, true};
    return LoginRequest{std::move(command), true};
}

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
    for (const std::string& entry : environment) {
        if (is_variable(entry) && name_of(entry) == name) return entry.substr(name.size() + 1);
    }
    return "";
}

std::vector<std::string> with_variable(std::vector<std::string> environment, std::string_view name,
                                       const std::string& value) {
    std::erase_if(environment, [&](const std::string& entry) { return name_of(entry) == name; });
    environment.push_back(std::string(name) + "=" + value);
    return environment;
}

std::vector<std::string> without_variables(const std::vector<std::string>& environment,
                                           const std::vector<std::string_view>& names) {
    std::vector<std::string> left;
    for (const std::string& entry : environment) {
        if (!is_one_of(name_of(entry), names)) left.push_back(entry);
    }
    return left;
}

std::vector<std::string> shells(const std::vector<std::string>& environment, std::string_view own) {
    std::vector<std::string> found;
    const std::string wanted = variable(environment, "SHELL");
    if (wanted.starts_with('/') && std::string_view(wanted).substr(wanted.rfind('/') + 1) != own) {
        found.push_back(wanted);
    }
    for (const char* shell : {"/bin/bash", "/bin/sh"}) {
        if (!is_one_of(shell, found)) found.emplace_back(shell);
    }
    return found;
}

std::vector<std::string> container_environment(std::string_view process,
                                               const std::vector<std::string>& login) {
    std::vector<std::string> made;
    std::set<std::string_view> names;
    const auto add = [&](std::string_view entry) {
        if (is_variable(entry) && names.insert(name_of(entry)).second) made.emplace_back(entry);
    };
    for (const std::string& entry : login) {
        if (belongs_to_login(name_of(entry))) add(entry);
    }
    for (const std::string_view entry : split(process, '\0')) {
        if (!belongs_to_task(name_of(entry)) && !belongs_to_login(name_of(entry))) add(entry);
    }
    add(usual_path);
    return made;
}

std::optional<SftpRequest> sftp_request(std::string_view command) {
    std::vector<std::string> words;
    for (const std::string_view word : split(command, ' ')) {
        if (!word.empty()) words.emplace_back(word);
    }
    if (words.empty()) return std::nullopt;
    const bool is_path = words[0].starts_with('/') && words[0].ends_with("/sftp-server");
    if (!is_path && words[0] != "internal-sftp") return std::nullopt;
    SftpRequest request;
    if (is_path) request.servers.push_back(words[0]);
    for (const char* server :
         {"/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server"}) {
        if (!is_one_of(server, request.servers)) request.servers.emplace_back(server);
    }
    request.arguments.assign(words.begin() + 1, words.end());
    return request;
}

}  // namespace llmgw
