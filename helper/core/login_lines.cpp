#include "core/login_lines.hpp"

#include <algorithm>

#include "core/adopt_options.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr const char* container_word = "container=join";

// Passes over ours for everybody whom it does not concern, so that a module that is missing locks out nobody
// but users at sshd's door. One line: pam-auth-update tells lines of one module apart by their controls
// without numbers. What can't be told (another answer than success and auth_err) goes on to ours.
std::string skip() {
    return std::string("[success=ignore auth_err=1 default=ignore] pam_succeed_if.so quiet service = ") +
           login_service + " uid != 0 user notingroup " + default_admin_group + "\n";
}

bool has_line(const std::vector<PamLine>& sshd, const char* type, LoginRule rule) {
    return std::any_of(sshd.begin(), sshd.end(), [&](const PamLine& line) {
        if (line.type != type || !line.is(adopt_module)) return false;
        const bool joins =
            std::find(line.words.begin(), line.words.end(), container_word) != line.words.end();
        return joins == (rule == LoginRule::container);
    });
}

}  // namespace

const char* text_of(LoginRule rule) {
    switch (rule) {
        case LoginRule::job:
            return "job";
        case LoginRule::container:
            return "container";
        case LoginRule::site:
            break;
    }
    return "site";
}

std::string login_block(LoginRule rule) {
    const std::string words =
        rule == LoginRule::container ? std::string(" ") + container_word : std::string();
    const std::string module = adopt_module + words + "\n";
    return "auth optional " + module + "account " + skip() + "account required " + module + "session " +
           skip() + "session required " + module;
}

bool has_login_lines(const std::vector<PamLine>& sshd, LoginRule rule) {
    return has_line(sshd, "auth", rule) && has_line(sshd, "account", rule) && has_line(sshd, "session", rule);
}

bool has_any_login_line(const std::vector<PamLine>& sshd) {
    return std::any_of(sshd.begin(), sshd.end(), [](const PamLine& line) { return line.is(adopt_module); });
}

std::string other_login_module(const std::vector<PamLine>& sshd) {
    for (const PamLine& line : sshd) {
        if (line.is("pam_slurm_adopt.so") || line.is("pam_slurm.so"))
            return line.module + " in " + line.place();
    }
    return {};
}

std::string login_drop_in_text(const std::string& program) {
    return std::string(
               "# llmgw-slurm: users log in to their job's container; docs/login.md\n"
               "Match User *,!root Group *,!") +
           default_admin_group + "\n    ForceCommand " + program + "\n";
}

bool sshd_starts(std::string_view effective, const std::string& program) {
    const std::vector<std::string_view> lines = split(effective, '\n');
    return std::find(lines.begin(), lines.end(), "forcecommand " + program) != lines.end();
}

std::string user_manager_text() {
    return "# llmgw-slurm: on a node, what users start belongs to their jobs; docs/login.md\n"
           "[Service]\n"
           "ExecCondition=+/bin/sh -c 'test %i -lt 1000 || id -nG -- %i | tr \" \" \"\\\\n\" | grep -qxF " +
           std::string(default_admin_group) + "'\n";
}

}  // namespace llmgw
