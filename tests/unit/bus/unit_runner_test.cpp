// Against a real systemd: skipped where this machine wasn't booted by one. tests/machines runs it in a
// machine.
#include "bus/unit_runner.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bus/systemd.hpp"
#include "posix/child_runner.hpp"
#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw::bus {
namespace {

using namespace std::chrono_literals;

class OnSystemd : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0 || ::access("/run/systemd/system", F_OK) != 0 || !systemd_is_on("")) {
            GTEST_SKIP() << "only root on a machine that systemd booted";
        }
        // Not the test's own /tmp: units may have one of their own.
        ASSERT_TRUE(make_directories(place_, 0755));
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(place_, ignored);
    }
    [[nodiscard]] std::string file(const std::string& name) const { return place_ + "/" + name; }

    static Task shell(const std::string& script) {
        Task task;
        task.unit = "llmgw-slurm-unit-test";
        task.description = "a test";
        task.argv = {"/bin/sh", "-c", script};
        task.environment = {"PATH=/usr/bin:/bin"};
        task.deadline = 120s;
        return task;
    }
    static Result<TaskResult> run(const Task& task, const std::stop_token& stop = {}) {
        return UnitRunner("").run(task, stop);
    }
    static TaskResult result_of(const Task& task) {
        const Result<TaskResult> result = run(task);
        EXPECT_TRUE(result.ok()) << result.error().message;
        return result ? result.value() : TaskResult{-1, ""};
    }
    [[nodiscard]] bool appears(const std::string& name) const {
        return test::eventually([&] { return ::access(file(name).c_str(), F_OK) == 0; });
    }
    // Waits for another one's sign, as `name` in the place.
    [[nodiscard]] std::string until(const std::string& name) const {
        return "while ! test -e " + file(name) + "; do sleep 0.05; done; ";
    }

  private:
    std::string place_ = "/var/lib/llmgw-unit-test-" + std::to_string(::getpid());
};

TEST_F(OnSystemd, is_found) {
    EXPECT_NE(dynamic_cast<UnitRunner*>(best_runner("").get()), nullptr);
    // A bus without systemd on it is somebody's test.
    EXPECT_NE(dynamic_cast<UnitRunner*>(best_runner("unix:path=/nonexistent").get()), nullptr);
}

TEST(BestRunner, is_a_child_where_no_systemd_is) {
    if (::access("/run/systemd/system", F_OK) == 0) GTEST_SKIP() << "systemd is here";
    EXPECT_NE(dynamic_cast<ChildRunner*>(best_runner("").get()), nullptr);
}

TEST_F(OnSystemd, gives_exit_code_and_both_outputs) {
    const TaskResult result = result_of(shell("echo out; echo err >&2; cat; exit 7"));
    EXPECT_EQ(result.exit_code, 7);
    EXPECT_EQ(result.output, "out\nerr\n");
    EXPECT_EQ(result_of(shell("kill -SEGV $$")).exit_code, 128 + SIGSEGV);
}

TEST_F(OnSystemd, passes_arguments_and_the_environment_as_they_are) {
    Task task = shell("printf '<%s>' \"$@\"");
    task.argv.insert(task.argv.end(), {"sh", "a b", "", "$HOME", "${PATH}", "%n %% %", "'\"\\\n", "@x"});
    EXPECT_EQ(result_of(task).output, "<a b><><$HOME><${PATH}><%n %% %><'\"\\\n><@x>");
    task.argv = {"/usr/bin/env"};
    task.environment = {"A=1", "B=two $A %n \"words\"", "C="};
    EXPECT_EQ(result_of(task).output, "A=1\nB=two $A %n \"words\"\nC=\n");
    task.environment.clear();
    EXPECT_EQ(result_of(task).output, "");
    task.unprivileged = true;
    EXPECT_EQ(result_of(task).output, "");
}

TEST_F(OnSystemd, tells_a_missing_program_and_one_that_cannot_be_executed) {
    Task task = shell("");
    task.argv = {"/nonexistent/program"};
    EXPECT_EQ(run(task).error().code, Code::missing);
    std::ofstream(file("program")) << "#!/nonexistent/shell\n";
    std::filesystem::permissions(file("program"), std::filesystem::perms(0755));
    task.argv = {file("program")};
    EXPECT_EQ(run(task).error().code, Code::internal) << run(task).error().message;
}

TEST_F(OnSystemd, works_for_tasks_that_end_at_once) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(result_of(shell("echo a; exit 3")).output, "a\n");
    EXPECT_TRUE(test::eventually([] {
        Task task;
        task.unit = "llmgw-slurm-unit-test-list";
        task.argv = {"/bin/systemctl", "list-units", "--all", "--plain", "llmgw-slurm-unit-test.service"};
        task.environment = {"PATH=/usr/bin:/bin"};
        return result_of(task).output.find("llmgw-slurm-unit-test.service") == std::string::npos;
    })) << "a unit stays behind";
}

TEST_F(OnSystemd, passes_lines_on_as_they_come) {
    Task task = shell("echo one; " + until("seen") + "echo two");
    std::vector<std::string> lines;
    task.on_line = [&](std::string_view line) {
        lines.emplace_back(line);
        if (line == "one") std::ofstream(file("seen")) << "yes";
    };
    result_of(task);
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST_F(OnSystemd, ends_what_takes_too_long_with_everything_it_started) {
    Task task = shell("setsid sleep 1000 & echo $! > " + file("child") + "; echo working; wait");
    task.deadline = 3s;
    EXPECT_EQ(
        run(task).error(),
        (Error{Code::timeout, "/bin/sh took longer than 3 s and was ended; its last line: \"working\""}));
    pid_t child = 0;
    std::ifstream(file("child")) >> child;
    EXPECT_TRUE(test::eventually([&] { return ::kill(child, 0) != 0; }));
}

// Package managers make systemd read its units anew.
TEST_F(OnSystemd, goes_on_while_systemd_reloads) {
    const TaskResult result = result_of(shell("echo a; systemctl daemon-reload && echo b; exit 5"));
    EXPECT_EQ(result.output, "a\nb\n");
    EXPECT_EQ(result.exit_code, 5);
}

TEST_F(OnSystemd, restricts_a_task) {
    Task task = shell(
        "id -u; id -G; grep NoNewPrivs /proc/self/status; tail -n +3 /proc/net/dev | grep -vc lo:; "
        "touch " +
        file("no") + " 2>/dev/null || echo read-only; touch " + file("yes/a") +
        " && echo written; ls /tmp | wc -l");
    ASSERT_TRUE(make_directories(file("yes"), 0777));
    task.unprivileged = task.no_network = task.read_only = true;
    task.writable = {file("yes")};
    EXPECT_EQ(result_of(task).output, "65534\n65534\nNoNewPrivs:\t1\n0\nread-only\nwritten\n0\n");
    Task kept = shell("id -u; grep NoNewPrivs /proc/self/status");
    kept.unprivileged = kept.keep_capabilities = kept.private_tmp = kept.no_network = true;
    EXPECT_EQ(result_of(kept).output, "65534\nNoNewPrivs:\t0\n");
}

TEST_F(OnSystemd, limits_memory) {
    Task task = shell("head -c 300000000 /dev/zero | tail -n 1 | wc -c");
    task.unprivileged = true;
    task.memory_bytes = 32 * 1024 * 1024;
    const TaskResult result = result_of(task);
    EXPECT_NE(result.output, "300000000\n");
}

TEST_F(OnSystemd, returns_at_once_when_asked_to_stop_and_the_next_one_waits_for_the_task) {
    Task task = shell("echo started; " + until("go") +
                      "echo still talking; sleep 0.3; echo talking; echo a > " + file("first"));
    std::stop_source stop;
    task.on_line = [&](std::string_view) { stop.request_stop(); };
    EXPECT_EQ(run(task, stop.get_token()).error(),
              (Error{Code::unavailable, "the helper ends while /bin/sh goes on"}));
    Task next = shell("cat " + file("first") + "; echo b");
    std::vector<std::string> lines;
    next.on_line = [&](std::string_view line) {
        if (lines.empty()) std::ofstream(file("go")) << "yes";
        lines.emplace_back(line);
    };
    EXPECT_EQ(result_of(next).output, "a\nb\n");
    EXPECT_EQ(lines.front(), "waiting for llmgw-slurm-unit-test.service to end");
}

// A helper that is killed must not end a package manager, neither by its end nor by a closed pipe.
TEST_F(OnSystemd, lets_a_task_of_a_killed_helper_go_on) {
    Task task =
        shell("echo a > " + file("started") + "; " + until("go") +
              "for i in 1 2 3 4 5 6 7 8 9; do echo talking $i || exit 1; echo err >&2 || exit 1; done; "
              "echo done > " +
              file("done"));
    const pid_t helper = ::fork();
    if (helper == 0) {
        static_cast<void>(UnitRunner("").run(task, {}));
        ::_exit(0);
    }
    ASSERT_TRUE(appears("started"));
    ::kill(helper, SIGKILL);
    ::waitpid(helper, nullptr, 0);
    std::ofstream(file("go")) << "yes";
    EXPECT_TRUE(appears("done"));
    EXPECT_EQ(result_of(shell("echo next")).output, "next\n");
}

TEST_F(OnSystemd, starts_again_after_a_failure_that_nobody_looked_at) {
    const pid_t helper = ::fork();
    if (helper == 0) {
        static_cast<void>(
            UnitRunner("").run(shell("echo a > " + file("started") + "; " + until("go") + "exit 1"), {}));
        ::_exit(0);
    }
    ASSERT_TRUE(appears("started"));
    ::kill(helper, SIGKILL);
    ::waitpid(helper, nullptr, 0);
    std::ofstream(file("go")) << "yes";
    EXPECT_EQ(result_of(shell("echo next")).output, "next\n");
}

TEST_F(OnSystemd, runs_one_at_a_time_under_one_name) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            EXPECT_EQ(result_of(shell("mkdir " + file("lock") + " && sleep 0.1 && rmdir " + file("lock") +
                                      " && echo alone"))
                          .output,
                      "alone\n");
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace llmgw::bus
