#include "posix/child_runner.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

using namespace std::chrono_literals;

Task shell(const std::string& script) {
    Task task;
    task.unit = "llmgw-slurm-test";
    task.argv = {"/bin/sh", "-c", script};
    task.environment = {"PATH=/usr/bin:/bin"};
    task.deadline = 60s;
    return task;
}

Result<TaskResult> run(const Task& task, const std::stop_token& stop = {}) {
    return ChildRunner().run(task, stop);
}

TaskResult result_of(const Task& task) {
    const Result<TaskResult> result = run(task);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result ? result.value() : TaskResult{-1, ""};
}

bool lives(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string stat;
    return std::getline(file, stat) && stat.find(") Z ") == std::string::npos;
}

pid_t number_in(const std::string& path) {
    pid_t number = 0;
    std::ifstream(path) >> number;
    return number;
}

bool is_root() {
    return ::geteuid() == 0;
}

TEST(ChildRunner, gives_exit_code_and_both_outputs) {
    const TaskResult result = result_of(shell("echo out; echo err >&2; cat; exit 7"));
    EXPECT_EQ(result.exit_code, 7);
    EXPECT_FALSE(result.success());
    EXPECT_EQ(result.output, "out\nerr\n");
    EXPECT_EQ(result_of(shell("kill -SEGV $$")).exit_code, 128 + SIGSEGV);
}

TEST(ChildRunner, tells_a_missing_program) {
    Task task = shell("");
    task.argv = {"/nonexistent/program"};
    EXPECT_EQ(run(task).error().code, Code::missing);
    task.argv.clear();
    EXPECT_EQ(run(task).error().code, Code::invalid);
}

TEST(ChildRunner, gives_exactly_this_environment_and_directory) {
    Task task = shell("pwd; env | grep -v ^PWD=");
    task.environment = {"A=1", "PATH=/usr/bin:/bin"};
    task.directory = "/usr";
    EXPECT_EQ(result_of(task).output, "/usr\nA=1\nPATH=/usr/bin:/bin\n");
}

TEST(ChildRunner, passes_lines_on_as_they_come) {
    const test::TemporaryDirectory directory;
    // The second line only comes once the first one was seen.
    Task task = shell("echo one; while ! test -e " + directory.file("seen") +
                      "; do sleep 0.01; done; printf 'two\\rthree\\r\\n\\nlast'");
    std::vector<std::string> lines;
    const std::thread::id here = std::this_thread::get_id();
    task.on_line = [&](std::string_view line) {
        EXPECT_EQ(std::this_thread::get_id(), here);
        lines.emplace_back(line);
        if (line == "one") std::ofstream(directory.file("seen")) << "yes";
    };
    result_of(task);
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three", "last"}));
}

TEST(ChildRunner, passes_an_endless_line_on_in_pieces) {
    Task task = shell("head -c 10000 /dev/zero | tr '\\0' x");
    std::vector<std::size_t> sizes;
    task.on_line = [&](std::string_view line) { sizes.push_back(line.size()); };
    result_of(task);
    EXPECT_EQ(sizes, (std::vector<std::size_t>{4096, 4096, 1808}));
}

TEST(ChildRunner, keeps_the_last_bytes) {
    Task task = shell("head -c 100000 /dev/zero | tr '\\0' x; echo end");
    for (const std::size_t most : {0, 1, 4, 5, 70000}) {
        task.most_output = most;
        const std::string output = result_of(task).output;
        EXPECT_EQ(output.size(), most);
        EXPECT_TRUE(most < 4 || output.ends_with("end\n"));
    }
}

// "> /dev/stderr" in a script cuts the file that is its standard error.
TEST(ChildRunner, goes_on_reading_what_a_script_writes_to_dev_stderr) {
    Task task = shell("echo one; sleep 0.3; echo two > /dev/stderr; echo three");
    task.on_line = [](std::string_view) {};
    EXPECT_TRUE(result_of(task).output.ends_with("two\nthree\n"));
}

TEST(ChildRunner, ends_what_takes_too_long_with_everything_it_started) {
    const test::TemporaryDirectory directory;
    Task task = shell("trap '' TERM INT HUP; (trap '' TERM; sleep 1000 & echo $! > " +
                      directory.file("child") + "; wait) & echo working; wait; sleep 1000");
    task.deadline = 3s;
    EXPECT_EQ(
        run(task).error(),
        (Error{Code::timeout, "/bin/sh took longer than 3 s and was ended; its last line: \"working\""}));
    const pid_t child = number_in(directory.file("child"));
    ASSERT_GT(child, 1);
    EXPECT_TRUE(test::eventually([&] { return !lives(child); }));
}

TEST(ChildRunner, leaves_nothing_running_and_no_zombie) {
    const test::TemporaryDirectory directory;
    result_of(shell("sleep 1000 & echo $! > " + directory.file("child")));
    const pid_t child = number_in(directory.file("child"));
    ASSERT_GT(child, 1);
    EXPECT_TRUE(test::eventually([&] { return !lives(child); }));
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(ChildRunner, returns_at_once_when_asked_to_stop_and_the_task_goes_on) {
    const test::TemporaryDirectory directory;
    Task task = shell("echo started; while ! test -e " + directory.file("go") +
                      "; do sleep 0.01; done; echo still talking; echo done > " + directory.file("done"));
    task.deadline = 1000s;
    std::stop_source stop;
    task.on_line = [&](std::string_view) { stop.request_stop(); };
    EXPECT_EQ(run(task, stop.get_token()).error(),
              (Error{Code::unavailable, "the helper ends while /bin/sh goes on"}));
    std::ofstream(directory.file("go")) << "yes";
    EXPECT_TRUE(test::eventually([&] {
        return number_in(directory.file("done")) == 0 && read_file(directory.file("done"), 10).ok();
    }));
}

TEST(ChildRunner, becomes_nobody_without_new_privileges_unless_they_are_kept) {
    if (!is_root()) GTEST_SKIP() << "only root can";
    Task task = shell("id -u; id -G; grep NoNewPrivs /proc/self/status");
    task.unprivileged = true;
    EXPECT_EQ(result_of(task).output, "65534\n65534\nNoNewPrivs:\t1\n");
    task.keep_capabilities = true;
    EXPECT_EQ(result_of(task).output, "65534\n65534\nNoNewPrivs:\t0\n");
}

TEST(ChildRunner, takes_the_network_away) {
    if (!is_root()) GTEST_SKIP() << "only root can";
    Task task = shell("ls /sys/class/net; tail -n +3 /proc/net/dev | grep -c :");
    task.argv = {"/bin/sh", "-c", "tail -n +3 /proc/net/dev | grep -vc lo:"};
    task.no_network = true;
    EXPECT_EQ(result_of(task).output, "0\n");
}

TEST(ChildRunner, writes_only_where_it_may) {
    if (!is_root()) GTEST_SKIP() << "only root can";
    const test::TemporaryDirectory directory;
    ASSERT_TRUE(make_directories(directory.file("yes"), 0777));
    Task task = shell("echo a > " + directory.file("no") + "; echo b > " + directory.file("yes/b") +
                      "; echo c > /var/tmp/llmgw-test-c; echo d > /dev/null; cat " + directory.file("yes/b"));
    task.read_only = true;
    task.writable = {directory.file("yes")};
    EXPECT_TRUE(result_of(task).output.ends_with("b\n"));
    EXPECT_EQ(read_file(directory.file("no"), 10).error().code, Code::missing);
    EXPECT_EQ(read_file(directory.file("yes/b"), 10).value(), "b\n");
    EXPECT_NE(::access("/var/tmp/llmgw-test-c", F_OK), 0);
}

TEST(ChildRunner, has_a_private_tmp) {
    if (!is_root()) GTEST_SKIP() << "only root can";
    Task task = shell("ls /tmp; echo a > /tmp/llmgw-test-private; cat /tmp/llmgw-test-private");
    task.private_tmp = true;
    EXPECT_EQ(result_of(task).output, "a\n");
    EXPECT_NE(::access("/tmp/llmgw-test-private", F_OK), 0);
}

TEST(ChildRunner, limits_memory) {
    Task task = shell("head -c 200000000 /dev/zero | tail -n 1 | wc -c");
    task.memory_bytes = 64 * 1024 * 1024;
    EXPECT_NE(result_of(task).output, "200000000\n");
}

}  // namespace
}  // namespace llmgw
