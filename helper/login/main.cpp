// llmgw-slurm-login: what a user gets who logs in to a node, as sshd's ForceCommand or as their shell. Runs
// as the user, with no more rights than theirs. With LLMGW_SLURM_CONTAINER, which pam_llmgw_adopt.so sets, it
// is a shell inside the container of their job; otherwise the one that they would get without it.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/container_login.hpp"
#include "core/job_containers.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "posix/container_entry.hpp"
#include "posix/file.hpp"

using namespace llmgw;

namespace {

using Words = std::vector<std::string>;

constexpr const char* own_name = "llmgw-slurm-login";
// As shells have them (POSIX, 2.8.2).
constexpr int exit_no_program = 127;
constexpr int exit_usage = 2;

void say(const std::string& text) {
    std::fprintf(stderr, "llmgw: %s\n", without_control_characters(text).c_str());
}

// Returns only if that can't be started.
void become(const std::string& program, const Words& words, const Words& environment) {
    const auto pointers = [](const Words& texts) {
        std::vector<char*> list;
        // execve() takes them as not const and changes nothing.
        for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
        list.push_back(nullptr);
        return list;
    };
    ::execve(program.c_str(), pointers(words).data(), pointers(environment).data());
}

int serve_files(const SftpRequest& request, const Words& environment) {
    for (const std::string& server : request.servers) {
        Words words{server};
        words.insert(words.end(), request.arguments.begin(), request.arguments.end());
        become(server, words, environment);
    }
    say("no sftp-server can be started on this host (" + reason_of(errno) +
        "); an administrator has to install openssh-sftp-server");
    return exit_no_program;
}

enum class Shell { inside, on_host };

int run_shell(const LoginRequest& request, const Words& environment, Shell where) {
    for (const std::string& shell : shells(environment, own_name)) {
        const std::string name = shell.substr(shell.rfind('/') + 1);
        Words words{name};
        if (request.command) {
            words = {name, "-c", *request.command};
        } else if (where == Shell::on_host) {
            words = {"-" + name};
        }  // inside, a login shell's profile would undo the image's PATH
        become(shell, words, with_variable(environment, "SHELL", shell));
    }
    say(std::string("no shell can be started ") +
        (where == Shell::inside ? "in the container" : "on this host") + ": " + reason_of(errno));
    return exit_no_program;
}

// The job of the login, for messages.
std::string job_in(const Words& environment) {
    const std::string job = variable(environment, "SLURM_JOB_ID");
    return job.empty() ? "your job" : "your job " + printable(job);
}

std::string why_outside(const Error& error, const std::string& job) {
    if (error.code == Code::missing) {
        return "the container of " + job +
               " ended; this login is on the host, in the job. Start a container in it (srun "
               "--container-image=...) and log in again";
    }
    return "this login is on the host, in " + job +
           ", since it can't get into its container: " + error.message;
}

Result<OpenContainer> container_named(const std::string& text) {
    const std::optional<ContainerProcess> container = parse_container(text);
    if (!container) {
        return Error{Code::invalid, std::string(container_variable) + " is " + shown(text) +
                                        ", which names no container; it is pam_llmgw_adopt.so that sets it"};
    }
    return open_container(*container);
}

// To people only: programs that log in read what a command writes.
void welcome(const LoginRequest& request, const Words& given) {
    const std::string words = variable(given, words_variable);
    if (!words.empty() && request.untold && !request.command && ::isatty(STDERR_FILENO) == 1) say(words);
}

int login(const LoginRequest& request, const Words& given) {
    const Words environment =
        without_variables(given, {container_variable, words_variable, "SSH_ORIGINAL_COMMAND"});
    if (request.command) {
        if (const auto sftp = sftp_request(*request.command)) return serve_files(*sftp, environment);
    }
    const std::string named = variable(given, container_variable);
    if (named.empty()) {
        welcome(request, given);
        return run_shell(request, environment, Shell::on_host);
    }
    const std::string job = job_in(environment);
    const Result<OpenContainer> container = container_named(named);
    if (!container) {
        say(why_outside(container.error(), job));
        return run_shell(request, environment, Shell::on_host);
    }
    const Entry entry = enter(container.value());
    if (!entry.result && entry.half_way) {
        say("this login can't get into the container of " + job + ": " + entry.result.error().message +
            "; log in once more, and tell an administrator if it stays so");
        return exit_no_program;
    }
    if (!entry.result) {
        say(why_outside(entry.result.error(), job));
        return run_shell(request, environment, Shell::on_host);
    }
    welcome(request, given);
    const std::string home = variable(environment, "HOME");
    if (home.empty() || ::chdir(home.c_str()) != 0) {
        if (::chdir("/") != 0) say("cannot change to the container's /: " + reason_of(errno));
    }
    Words inside = container_environment(container.value().environment, environment);
    const std::string shell = variable(environment, "SHELL");
    return run_shell(request, with_variable(std::move(inside), "SHELL", shell), Shell::inside);
}

Words words_of(char** list) {
    Words words;
    for (; list != nullptr && *list != nullptr; ++list) words.emplace_back(*list);
    return words;
}

}  // namespace

int main(int, char** argv, char** envp) {
    const auto report = [](const char* where, const char* what) {
        std::fprintf(stderr, "llmgw: %s: %s\n", where, what);
    };
    return contained(own_name, exit_no_program, report, [&] {
        const Words environment = words_of(envp);
        const std::optional<LoginRequest> request = login_request(words_of(argv), environment);
        if (!request) {
            say(std::string("usage: ") + own_name + " [-c COMMAND]; see llmgw-slurm-login(8)");
            return exit_usage;
        }
        return login(*request, environment);
    });
}
