#include "service/login_proof.hpp"

#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "core/adopt_options.hpp"
#include "core/last_words.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/secret.hpp"

namespace llmgw::service {
namespace {

using namespace std::chrono_literals;

constexpr const char* jobless = "llmgw-proof-none";
constexpr const char* admin = "llmgw-proof-admin";
constexpr const char* refusal = "llmgw: login refused";
constexpr int no_such_user = 6;  // userdel(8)
constexpr int user_is_busy = 8;
constexpr int most_looks = 100;
const std::vector<std::string> environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};

class Attempt {
  public:
    Attempt(const LoginProof& proof, TaskRunner& runner, const std::stop_token& stop)
        : proof_(proof), runner_(runner), stop_(stop) {}
    ~Attempt() {
        std::error_code error;
        std::filesystem::remove_all(proof_.directory, error);
    }
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

    Result<void> prepare() {
        std::error_code error;
        std::filesystem::remove_all(proof_.directory, error);
        // sshd reads keys as the user who logs in.
        if (Result<void> made = make_directories(file("keys"), 0755); !made) return made;
        // Where sshd's own unit does not run.
        if (Result<void> made = make_directories("/run/sshd", 0755); !made) return made;
        const Result<std::string> random = random_hex(16);
        if (!random) return random.error();
        token_ = random.value();
        for (const char* key : {"key", "host_key"}) {
            if (Result<void> done = ask({"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C",
                                         "llmgw-slurm-proof", "-f", file(key)});
                !done)
                return done;
        }
        const Result<std::string> key = read_file(file("key.pub"), 4096);
        if (!key) return key.error();
        for (const char* user : {"root", admin, jobless}) {
            if (Result<void> done = write(std::string("keys/") + user, key.value()); !done) return done;
        }
        return write("sshd_config", config());
    }

    Result<void> make_users() {
        const std::vector<std::string> make{
            "/usr/sbin/useradd", "--system",     "--no-create-home",
            "--home-dir",        "/nonexistent", "--shell",
            "/bin/sh",           "--comment",    "llmgw-slurm's proof of logins"};
        std::vector<std::string> with_group = make;
        with_group.insert(with_group.end(), {"--groups", default_admin_group, admin});
        std::vector<std::string> plain = make;
        plain.emplace_back(jobless);
        if (Result<void> done = ask(with_group); !done) return done;
        return ask(plain);
    }

    // Before those who must not: being locked out is worse.
    Result<void> let_in(const char* user, const std::string& who) {
        const Result<std::string> said = log_in(user);
        if (!said) return said.error();
        if (contains(said.value(), token_)) return {};
        return Error{Code::conflict, who + " was not let in: " + last_words(said.value(), 2)};
    }
    Result<void> refuse(const char* user) {
        const Result<std::string> said = log_in(user);
        if (!said) return said.error();
        if (contains(said.value(), token_)) {
            return Error{Code::conflict,
                         "a user without a job was let in: a line of PAM's before ours ends sshd's account "
                         "and session "
                         "lines, or the module takes this machine for no node"};
        }
        if (contains(said.value(), refusal)) return {};
        return Error{Code::conflict, "a user without a job was refused, but not by our module: " +
                                         last_words(said.value(), 2)};
    }

  private:
    [[nodiscard]] std::string file(const std::string& name) const { return proof_.directory + "/" + name; }
    Result<void> write(const std::string& name, const std::string& text) const {
        return write_file_atomically(file(name), text, 0644, Durability::volatile_);
    }
    [[nodiscard]] std::string config() const {
        return "HostKey " + file("host_key") + "\nPidFile none\nUsePAM yes\nStrictModes no\nUseDNS no\n" +
               "AuthorizedKeysFile " + file("keys") +
               "/%u\nPermitRootLogin yes\nPasswordAuthentication no\n" +
               "KbdInteractiveAuthentication no\nPrintMotd no\nForceCommand echo " + token_ + "\n";
    }
    Result<TaskResult> run(const std::vector<std::string>& argv) {
        Task task;
        task.unit = "llmgw-slurm-login-proof";
        task.description = "llmgw-slurm: proves whom sshd lets in";
        task.argv = argv;
        task.environment = environment;
        task.deadline = 60s;
        task.most_output = 64 * 1024;
        return runner_.run(task, stop_);
    }
    Result<void> ask(const std::vector<std::string>& argv) {
        const Result<TaskResult> ran = run(argv);
        if (!ran) return ran.error();
        if (ran.value().success()) return {};
        return Error{Code::internal, argv.front() + ": " + last_words(ran.value().output, 2)};
    }
    // What came of it; an error only where nothing did.
    Result<std::string> log_in(const std::string& user) {
        const Result<TaskResult> ran =
            run({proof_.ssh,
                 "-F",
                 "none",
                 "-i",
                 file("key"),
                 "-o",
                 "ProxyCommand=" + proof_.sshd + " -i -e -f " + file("sshd_config"),
                 "-o",
                 "StrictHostKeyChecking=no",
                 "-o",
                 "UserKnownHostsFile=/dev/null",
                 "-o",
                 "LogLevel=INFO",
                 "-o",
                 "BatchMode=yes",
                 "-o",
                 "IdentitiesOnly=yes",
                 "-o",
                 "ConnectTimeout=50",
                 "-l",
                 user,
                 "llmgw-slurm-proof"});
        if (!ran) return ran.error().within("a login to try could not be made");
        return ran.value().output;
    }

    const LoginProof& proof_;
    TaskRunner& runner_;
    const std::stop_token& stop_;
    std::string token_;
};

Result<void> prove(Attempt& attempt) {
    if (Result<void> done = attempt.prepare(); !done) return done;
    if (Result<void> done = attempt.make_users(); !done) return done;
    if (Result<void> done = attempt.let_in("root", "root"); !done) return done;
    if (Result<void> done = attempt.let_in(admin, std::string("a member of ") + default_admin_group); !done)
        return done;
    return attempt.refuse(jobless);
}

// systemd may have a manager for them, which takes a moment to end.
Result<void> remove_user(const char* user, TaskRunner& runner, const std::stop_token& stop) {
    const auto run = [&](std::vector<std::string> argv) {
        Task task;
        task.unit = "llmgw-slurm-login-proof";
        task.description = "llmgw-slurm: removes the users of its proof";
        task.argv = std::move(argv);
        task.environment = environment;
        task.deadline = 60s;
        return runner.run(task, stop);
    };
    std::string said;
    for (int look = 0; look < most_looks; ++look) {
        const Result<TaskResult> removed = run({"/usr/sbin/userdel", user});
        if (!removed) return removed.error();
        if (removed.value().success() || removed.value().exit_code == no_such_user) return {};
        said = last_words(removed.value().output, 2);
        if (removed.value().exit_code != user_is_busy) break;
        if (look == 0) static_cast<void>(run({"/usr/bin/loginctl", "terminate-user", user}));
        std::this_thread::sleep_for(100ms);
    }
    return Error{Code::internal, "userdel " + std::string(user) + ": " + said};
}

}  // namespace

Result<void> remove_proof_users(TaskRunner& runner, const std::stop_token& stop) {
    for (const char* user : {admin, jobless}) {
        if (Result<void> removed = remove_user(user, runner, stop); !removed) return removed;
    }
    return {};
}

Result<void> prove_logins(const LoginProof& proof, TaskRunner& runner, const std::stop_token& stop) {
    if (Result<void> done = remove_proof_users(runner, stop); !done) return done;
    Result<void> proven;
    {
        Attempt attempt(proof, runner, stop);
        proven = prove(attempt);
    }
    const Result<void> removed = remove_proof_users(runner, stop);
    return proven ? removed : proven;
}

}  // namespace llmgw::service
