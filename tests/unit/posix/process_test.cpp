#include "posix/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "posix/descriptor.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Command shell(const std::string& script) {
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.environment = {"PATH=/usr/bin:/bin"};
    return command;
}

Outcome outcome_of(const Command& command) {
    const Result<Outcome> outcome = run(command);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome ? outcome.value() : Outcome{-1, ""};
}

bool lives(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string stat;
    return std::getline(file, stat) && stat.find(") Z ") == std::string::npos;
}

TEST(Run, gives_the_exit_code_and_both_outputs) {
    const Outcome outcome = outcome_of(shell("echo out; echo err >&2; exit 7"));
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_FALSE(outcome.success());
    EXPECT_EQ(outcome.output, "out\nerr\n");
    EXPECT_TRUE(outcome_of(shell("true")).success());
}

TEST(Run, gives_a_signal_as_the_shell_would) {
    EXPECT_EQ(outcome_of(shell("kill -SEGV $$")).exit_code, 128 + SIGSEGV);
    EXPECT_EQ(outcome_of(shell("kill -KILL $$")).exit_code, 128 + SIGKILL);
}

TEST(Run, passes_arguments_as_they_are) {
    Command command = shell("printf '<%s>' \"$@\"");
    command.argv.insert(command.argv.end(), {"sh", "a b", "", "$HOME", "'\"\n"});
    EXPECT_EQ(outcome_of(command).output, "<a b><><$HOME><'\"\n>");
}

TEST(Run, tells_a_missing_program) {
    Command command;
    command.argv = {"/nonexistent/program"};
    EXPECT_EQ(run(command).error(), (Error{Code::missing,
                                           "cannot start /nonexistent/program: No such file "
                                           "or directory"}));
}

TEST(Run, tells_a_program_that_cannot_be_executed) {
    Command command;
    command.argv = {"/etc/passwd"};
    EXPECT_EQ(run(command).error().code, Code::internal);
    EXPECT_EQ(run(command).error().message, "cannot start /etc/passwd: Permission denied");
}

TEST(Run, wants_an_absolute_path) {
    EXPECT_EQ(run({}).error().code, Code::invalid);
    EXPECT_EQ(run(Command{{"sh", "-c", "true"}, {}, {}, {}}).error().code, Code::invalid);
    EXPECT_EQ(run(Command{{""}, {}, {}, {}}).error().code, Code::invalid);
}

TEST(Run, gives_exactly_the_environment_that_was_asked_for) {
    ::setenv("LLMGW_TEST_SECRET", "x", 1);
    Command command;
    command.argv = {"/usr/bin/env"};
    command.environment = {"A=1", "B=two words"};
    EXPECT_EQ(outcome_of(command).output, "A=1\nB=two words\n");
    command.environment.clear();
    EXPECT_EQ(outcome_of(command).output, "");
    ::unsetenv("LLMGW_TEST_SECRET");
}

TEST(Run, gives_an_empty_standard_input) {
    EXPECT_EQ(outcome_of(shell("cat; readlink /proc/self/fd/0; pwd")).output, "/dev/null\n/\n");
}

// A socket or a token's file of the helper must not reach a program that it starts, whoever forgot CLOEXEC.
TEST(Run, leaks_no_descriptor) {
    const Descriptor forgotten(::open("/dev/null", O_RDONLY));
    const Descriptor far_away(::fcntl(forgotten.get(), F_DUPFD, 300));
    ASSERT_TRUE(far_away.open());
    // Without a shell, which opens the directory that it lists itself.
    Command command;
    command.argv = {"/usr/bin/find", "/proc/self/fd", "-lname", "/dev/null"};
    EXPECT_EQ(outcome_of(command).output, "/proc/self/fd/0\n");
    command.argv = {"/usr/bin/find", "/proc/self/fd/" + std::to_string(far_away.get())};
    EXPECT_NE(outcome_of(command).exit_code, 0);
}

TEST(Run, blocks_and_ignores_no_signal_in_the_program) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto handler = std::signal(SIGPIPE, SIG_IGN);
    const auto interrupt = std::signal(SIGINT, SIG_IGN);
    EXPECT_EQ(outcome_of(shell("grep -E '^Sig(Blk|Ign)' /proc/self/status")).output,
              "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    std::signal(SIGINT, interrupt);
    std::signal(SIGPIPE, handler);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Run, keeps_no_more_output_than_asked_for_and_lets_the_program_end) {
    Command command = shell("head -c 1000000 /dev/zero | tr '\\0' x; exit 3");
    for (const std::size_t most : {0, 1, 4095, 4096, 4097, 65536}) {
        command.most_output = most;
        const Outcome outcome = outcome_of(command);
        EXPECT_EQ(outcome.output, std::string(most, 'x'));
        EXPECT_EQ(outcome.exit_code, 3);
    }
}

// Ends with everything it started, also when it doesn't want to.
TEST(Run, ends_a_program_that_takes_too_long) {
    const test::TemporaryDirectory directory;
    Command command = shell("trap '' TERM INT HUP; (trap '' TERM; sleep 1000 & echo $! > " +
                            directory.file("child") + "; wait) & wait; sleep 1000");
    command.deadline = 300ms;
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(run(command).error(), (Error{Code::timeout, "/bin/sh took longer than 300 ms"}));
    EXPECT_LT(Clock::now() - start, 5s);
    pid_t child = 0;
    std::ifstream(directory.file("child")) >> child;
    ASSERT_GT(child, 1);
    EXPECT_TRUE(test::eventually([&] { return !lives(child); }));
}

TEST(Run, ends_a_program_that_closed_its_output_and_goes_on) {
    Command command = shell("exec >&- 2>&-; exec sleep 1000");
    command.deadline = 300ms;
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(run(command).error().code, Code::timeout);
    EXPECT_LT(Clock::now() - start, 5s);
}

// What an inspected library leaves behind would run on as nobody, without anyone knowing.
TEST(Run, leaves_nothing_running_behind_a_program_that_ended) {
    const test::TemporaryDirectory directory;
    const Outcome outcome =
        outcome_of(shell("sleep 1000 >/dev/null 2>&1 & echo $! > " + directory.file("child")));
    EXPECT_TRUE(outcome.success());
    pid_t child = 0;
    std::ifstream(directory.file("child")) >> child;
    ASSERT_GT(child, 1);
    EXPECT_TRUE(test::eventually([&] { return !lives(child); }));
    if (lives(child)) ::kill(child, SIGKILL);
}

TEST(Run, leaves_no_zombie) {
    outcome_of(shell("true"));
    Command command = shell("sleep 1000");
    command.deadline = 50ms;
    EXPECT_FALSE(run(command).ok());
    command.argv = {"/nonexistent/program"};
    EXPECT_FALSE(run(command).ok());
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST(Run, becomes_another_user_with_none_of_root_s_groups) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can";
    Command command = shell("id -u; id -g; id -G");
    command.uid = 65534;
    command.gid = 65534;
    EXPECT_EQ(outcome_of(command).output, "65534\n65534\n65534\n");
    command.gid.reset();
    EXPECT_EQ(outcome_of(command).output, "65534\n65534\n65534\n")
        << "a user alone brings its number as group";
    EXPECT_EQ(::geteuid(), 0U);
}

TEST(Run, says_why_it_cannot_become_another_user) {
    if (::geteuid() == 0) GTEST_SKIP() << "root can";
    Command command = shell("true");
    command.uid = 0;
    command.gid = 0;
    EXPECT_EQ(run(command).error().message, "cannot start /bin/sh: Operation not permitted");
}

TEST(Run, works_from_many_threads) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([i] {
            for (int j = 0; j < 10; ++j) {
                const std::string said = std::to_string(i * 100 + j);
                EXPECT_EQ(outcome_of(shell("echo " + said)).output, said + "\n");
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST(LastLine, is_the_last_one_that_says_something) {
    EXPECT_EQ(last_line(""), "");
    EXPECT_EQ(last_line(" \n\n"), "");
    EXPECT_EQ(last_line("a"), "a");
    EXPECT_EQ(last_line("a\nb c \r\n\n"), "b c");
    EXPECT_EQ(last_line("\n  a"), "  a");
}

TEST(Process, keeps_standard_error_apart_where_that_is_wanted) {
    Command command = shell("echo out; echo err >&2; echo more");
    EXPECT_EQ(outcome_of(command).errors, "");
    command.errors_apart = true;
    const Outcome apart = outcome_of(command);
    EXPECT_EQ(apart.output, "out\nmore\n");
    EXPECT_EQ(apart.errors, "err\n");
    command = shell("head -c 5000 /dev/zero | tr '\\0' e >&2; head -c 5000 /dev/zero | tr '\\0' o");
    command.errors_apart = true;
    command.most_output = 4096;
    const Outcome cut = outcome_of(command);
    EXPECT_EQ(cut.output, std::string(4096, 'o'));
    EXPECT_EQ(cut.errors, std::string(4096, 'e'));
}

TEST(Process, ends_a_program_that_is_not_wanted_any_more) {
    for (const std::string script : {"echo begun; exec sleep 600", "exec >&- 2>&-; exec sleep 600"}) {
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        const Descriptor stop(ends[0]);
        Descriptor stopper(ends[1]);
        Command command = shell(script);
        command.deadline = 300s;
        command.stop = stop.get();
        std::thread stopping([&] {
            ::poll(nullptr, 0, 50);
            stopper.reset();
        });
        const Clock::time_point begin = Clock::now();
        const Result<Outcome> stopped = run(command);
        stopping.join();
        ASSERT_FALSE(stopped.ok());
        EXPECT_EQ(stopped.error().code, Code::unavailable);
        EXPECT_LT(Clock::now() - begin, 60s) << script;
    }
}

}  // namespace
}  // namespace llmgw
