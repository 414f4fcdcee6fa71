#include "service/login_access.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <utility>

#include "core/last_words.hpp"
#include "core/limits.hpp"
#include "core/marked_block.hpp"
#include "core/text.hpp"
#include "crypto/digest.hpp"
#include "posix/apply_edits.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"
#include "service/login_proof.hpp"
#include "service/recorded_files.hpp"
#include "service/sshd_access.hpp"

namespace llmgw::service {
namespace {

constexpr const char* systemctl = "/usr/bin/systemctl";
constexpr const char* rollback = "llmgw-slurm-login-rollback";
constexpr const char* purpose = "users log in by ssh only into a job of theirs; docs/login.md";
constexpr unsigned everyone_reads = 0644;
// How long a proof that failed stands: what was wrong may be mended elsewhere than in PAM's files.
constexpr std::int64_t failure_stands = 600;

// STATE/login: what we know of lines that are ours. Three lines: "added", the fingerprint of what was proved
// or failed, and "proven" or "TIME SENTENCE".
struct Kept {
    bool there = false;
    std::string fingerprint;
    bool proven = false;
    std::int64_t failed_at = 0;
    std::string failure;
};

Kept read_kept(const std::string& path) {
    Kept kept;
    const Result<StateFile> file = read_state_file(path, limits::settings_bytes);
    if (!file) return kept;
    kept.there = true;
    const std::vector<std::string_view> lines = split(file.value().content, '\n');
    if (lines.size() < 3) return kept;
    kept.fingerprint = lines[1];
    kept.proven = lines[2] == "proven";
    const std::size_t blank = lines[2].find(' ');
    if (kept.proven || blank == std::string_view::npos) return kept;
    std::from_chars(lines[2].data(), lines[2].data() + blank, kept.failed_at);
    kept.failure = lines[2].substr(blank + 1);
    return kept;
}

Result<void> write_kept(const std::string& path, const std::string& fingerprint, const std::string& outcome) {
    return write_file_atomically(path, "added\n" + fingerprint + "\n" + outcome + "\n", 0600,
                                 Durability::durable);
}

}  // namespace

LoginAccess::LoginAccess(LoginOptions options, TaskRunner& runner)
    : options_(std::move(options)), runner_(runner), ledger_(options_.state_dir + "/login.json") {}

bool LoginAccess::has_profiles() const {
    return ::access(options_.pam_auth_update.c_str(), X_OK) == 0;
}

std::vector<PamLine> LoginAccess::lines() const {
    const PamFiles files = [&](const std::string& name) -> std::optional<std::string> {
        Result<std::string> text =
            read_file(name.starts_with('/') ? name : options_.pam_dir + "/" + name, limits::settings_bytes);
        return text ? std::optional<std::string>(std::move(text).value()) : std::nullopt;
    };
    return pam_lines(files, login_service);
}

// Of everything that a proof depends on: PAM's lines, our module, and sshd.
std::string LoginAccess::fingerprint(const std::vector<PamLine>& lines) const {
    std::string text = text_of(lines);
    for (const std::string& path : {options_.module, options_.sshd}) {
        const Result<FileStamp> stamp = stamp_of(path);
        text += path + " " + (stamp ? stamp.value().text() : "missing") + "\n";
    }
    const Result<std::string> digest = crypto::sha256_hex(text);
    return digest ? digest.value() : std::string();
}

LoginFacts LoginAccess::look() const {
    LoginFacts facts;
    facts.rule = options_.rule;
    facts.sshd = ::access(options_.sshd.c_str(), X_OK) == 0;
    facts.client = ::access(options_.ssh.c_str(), X_OK) == 0;
    facts.module = ::access(options_.module.c_str(), R_OK) == 0;
    const std::vector<PamLine> all = lines();
    const Kept kept = read_kept(state_path());
    facts.ours = kept.there;
    facts.added = has_login_lines(all, options_.rule) && drop_in_right();
    facts.any = has_any_login_line(all);
    facts.other = other_login_module(all);
    const bool as_proved = kept.there && kept.fingerprint == fingerprint(all);
    const std::optional<MachineFile> manager = machine_file_at(options_.user_manager);
    facts.proven = as_proved && kept.proven && manager && manager->content == user_manager_text();
    if (as_proved && std::time(nullptr) < kept.failed_at + failure_stands) facts.failure = kept.failure;
    return facts;
}

bool LoginAccess::drop_in_right() const {
    const std::optional<MachineFile> there = machine_file_at(options_.drop_in);
    if (options_.rule != LoginRule::container) return !there;
    return there && there->content == login_drop_in_text(options_.login_program);
}

Result<void> LoginAccess::add_drop_in(const std::stop_token& stop) {
    if (const Result<void> written = write_recorded(
            ledger_, {options_.drop_in, login_drop_in_text(options_.login_program), everyone_reads});
        !written)
        return written;
    Task task;
    task.unit = "llmgw-slurm-logins";
    task.description = "llmgw-slurm: asks sshd what it starts";
    task.argv = {options_.sshd, "-T", "-C", "user=nobody,host=localhost,addr=127.0.0.1"};
    task.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    task.deadline = limits::program_deadline;
    const Result<TaskResult> said = runner_.run(task, stop);
    if (!said) return said.error();
    if (said.value().success() && sshd_starts(said.value().output, options_.login_program)) {
        reload_sshd(systemctl);
        return {};
    }
    return Error{Code::conflict,
                 "sshd does not start " + options_.login_program + " for users although " + options_.drop_in +
                     " says so: " +
                     last_words(said.value().success() ? "another file sets ForceCommand before it, or "
                                                         "sshd_config.d is not included"
                                                       : said.value().output,
                                1)};
}

Result<void> LoginAccess::drop_drop_in() {
    const Result<Ledger> ledger = ledger_.read();
    if (!ledger) return ledger.error();
    const bool ours = std::any_of(ledger.value().files.begin(), ledger.value().files.end(),
                                  [&](const LedgerFile& file) { return file.path == options_.drop_in; });
    if (!ours) return {};
    std::vector<std::string> left;
    if (const Result<void> done = restore_recorded(ledger_, options_.drop_in, left); !done) return done;
    reload_sshd(systemctl);
    return {};
}

Result<void> LoginAccess::command(const char* unit, std::vector<std::string> argv,
                                  const std::stop_token& stop) const {
    Task task;
    task.unit = unit;
    task.description = "llmgw-slurm: sets whom sshd lets in";
    task.argv = std::move(argv);
    task.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"};
    task.deadline = limits::program_deadline;
    const Result<TaskResult> ran = runner_.run(task, stop);
    if (!ran) return ran.error();
    if (ran.value().success()) return {};
    return Error{Code::internal, join(task.argv, " ") + ": " + last_words(ran.value().output, 2)};
}

Result<void> LoginAccess::add_lines(const std::stop_token& stop) {
    if (const Result<void> written =
            write_recorded(ledger_, {options_.user_manager, user_manager_text(), everyone_reads});
        !written)
        return written;
    if (const Result<void> read = command("llmgw-slurm-logins", {systemctl, "daemon-reload"}, stop); !read)
        return read;
    const Result<void> dropped = options_.rule == LoginRule::container ? add_drop_in(stop) : drop_drop_in();
    if (!dropped) return dropped;
    if (has_profiles()) {
        const bool joins = options_.rule == LoginRule::container;
        return command("llmgw-slurm-logins",
                       {options_.pam_auth_update, "--package", "--disable",
                        joins ? "llmgw-slurm" : "llmgw-slurm-container", "--enable",
                        joins ? "llmgw-slurm-container" : "llmgw-slurm"},
                       stop);
    }
    const std::string path = options_.pam_dir + "/" + login_service;
    const Result<std::string> text = read_file(path, limits::settings_bytes);
    if (!text) return text.error();
    const Result<Unmarked> unmarked = unmark(text.value());
    if (!unmarked) return unmarked.error().within(path);
    return apply_edits(
        {{path, text.value(),
          with_block(unmarked.value().rest, BlockPlace::end, purpose, login_block(options_.rule))}});
}

Result<void> LoginAccess::drop_lines(const std::stop_token& stop) {
    if (has_profiles()) {
        if (const Result<void> done = command(
                "llmgw-slurm-logins",
                {options_.pam_auth_update, "--package", "--disable", "llmgw-slurm", "llmgw-slurm-container"},
                stop);
            !done)
            return done;
    }
    const std::string path = options_.pam_dir + "/" + login_service;
    const Result<std::string> text = read_file(path, limits::settings_bytes);
    if (text) {
        const Result<Unmarked> unmarked = unmark(text.value());
        if (!unmarked) return unmarked.error().within(path);
        if (!unmarked.value().blocks.empty()) {
            const Result<void> done = apply_edits({{path, text.value(), unmarked.value().rest}});
            if (!done) return done;
        }
    }
    if (has_any_login_line(lines())) {
        return Error{Code::conflict, std::string(adopt_module) +
                                         " is still in sshd's PAM lines: the files in " + options_.pam_dir +
                                         " were changed by hand, so take it out by hand"};
    }
    if (const Result<void> done = drop_drop_in(); !done) return done;
    std::vector<std::string> left;
    if (const Result<void> done = restore_recorded(ledger_, options_.user_manager, left); !done) return done;
    ::rmdir(directory_of(options_.user_manager).c_str());
    return command("llmgw-slurm-logins", {systemctl, "daemon-reload"}, stop);
}

Result<void> LoginAccess::guard(const std::stop_token& stop) {
    for (const char* file : {"/run/nologin", "/etc/nologin"}) {
        if (::access(file, F_OK) == 0)
            return Error{Code::unavailable, std::string("it can't be tried while there is ") + file +
                                                ", which keeps everybody out; it is tried again later"};
    }
    if (const Result<void> kept = write_kept(state_path(), "-", "-"); !kept) return kept;
    // In case this process does not live to see the proof's end.
    static_cast<void>(
        command("llmgw-slurm-logins", {systemctl, "stop", std::string(rollback) + ".timer"}, stop));
    if (const Result<void> armed =
            command("llmgw-slurm-logins",
                    {"/usr/bin/systemd-run", "--quiet", std::string("--unit=") + rollback,
                     "--description=llmgw-slurm: takes sshd's lines back", "--on-active=300",
                     options_.program, "--leave-logins"},
                    stop);
        !armed)
        return armed.error().within("no timer for taking sshd's lines back could be set, so none were added");
    Result<void> done = add_lines(stop);
    if (done && !has_login_lines(lines(), options_.rule)) {
        done = Error{Code::conflict,
                     "pam-auth-update left sshd's lines as they were, since the files common-* in " +
                         options_.pam_dir +
                         " were changed by hand; add the lines of docs/login.md by hand, or run "
                         "\"pam-auth-update --force\""};
    }
    if (done)
        done = prove_logins({options_.run_dir + "/login-proof", options_.sshd, options_.ssh}, runner_, stop);
    if (done) {
        done = write_kept(state_path(), fingerprint(lines()), "proven");
    } else if (!stop.stop_requested()) {
        log(Level::error, "sshd's lines are taken back: " + done.error().message);
        if (const Result<void> back = drop_lines(stop); !back)
            return back.error().within("sshd's lines are wrong (" + done.error().message +
                                       ") and could not be taken back");
        if (done.error().code == Code::conflict) {
            static_cast<void>(write_kept(
                state_path(), fingerprint(lines()),
                std::to_string(std::time(nullptr)) + " " + without_control_characters(done.error().message)));
        } else {
            static_cast<void>(remove_file(state_path()));
        }
        done = done.error().within("logins are as before");
    }
    if (!stop.stop_requested())
        static_cast<void>(
            command("llmgw-slurm-logins", {systemctl, "stop", std::string(rollback) + ".timer"}, stop));
    return done;
}

Result<void> LoginAccess::leave(const std::stop_token& stop) {
    if (!did_anything()) return {};
    if (const Result<void> done = drop_lines(stop); !done) return done;
    static_cast<void>(
        command("llmgw-slurm-logins", {systemctl, "stop", std::string(rollback) + ".timer"}, stop));
    if (const Result<void> gone = remove_proof_users(runner_, stop); !gone) return gone;
    if (const Result<void> forgotten = ledger_.remove(); !forgotten) return forgotten;
    return remove_file(state_path());
}

bool LoginAccess::did_anything() const {
    const Result<Ledger> ledger = ledger_.read();
    return read_kept(state_path()).there || !ledger || !ledger.value().empty();
}

}  // namespace llmgw::service
