#include "posix/container_look.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/limits.hpp"
#include "posix/container_entry.hpp"
#include "posix/held_process.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

// A child of these tests in namespaces of its own.
class Child {
  public:
    explicit Child(int first, int second = 0) {
        int ready[2];
        if (::pipe(ready) != 0) return;
        process_ = ::fork();
        if (process_ == 0) {
            const std::string user = std::to_string(::getuid());
            const std::string group = std::to_string(::getgid());
            bool made = ::unshare(first) == 0;
            // Only whose user and group are known in one may make another in it.
            if (second != 0) {
                std::ofstream("/proc/self/setgroups") << "deny";
                std::ofstream("/proc/self/gid_map") << group + " " + group + " 1\n";
                std::ofstream("/proc/self/uid_map") << user + " " + user + " 1\n";
                made = made && ::unshare(second) == 0;
            }
            [[maybe_unused]] const ssize_t said = ::write(ready[1], made ? "y" : "n", 1);
            for (;;) ::pause();
        }
        char answer = 'n';
        made_ = ::read(ready[0], &answer, 1) == 1 && answer == 'y';
        ::close(ready[0]);
        ::close(ready[1]);
    }
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    void end() {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    [[nodiscard]] pid_t number() const { return process_; }
    [[nodiscard]] bool made() const { return made_; }
    [[nodiscard]] ContainerProcess way() const {
        return {process_, HeldProcess::open(process_).value().started().value()};
    }

  private:
    pid_t process_ = -1;
    bool made_ = false;
};

constexpr int in_container = CLONE_NEWUSER | CLONE_NEWNS;

TEST(NamespacesAmong, passes_over_those_of_others_and_those_that_ended) {
    Child ended(0);
    const pid_t number = ended.number();
    ended.end();
    const Child child(in_container);
    if (!child.made()) GTEST_SKIP() << "no user namespaces here";
    const auto found = namespaces_among({number, child.number(), ::getpid()}, ::getuid() + 1);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE(found.value().empty());
}

TEST(NamespacesAmong, tells_a_container_from_what_is_none) {
    const Child plain(0);
    const Child users_only(CLONE_NEWUSER);
    const Child container(in_container);
    const Child nested(in_container, in_container);
    const Child mounts_again(in_container, CLONE_NEWNS);
    if (!container.made() || !nested.made()) GTEST_SKIP() << "no user namespaces here";
    const auto found = namespaces_among(
        {plain.number(), users_only.number(), container.number(), nested.number(), mounts_again.number()},
        ::getuid());
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found.value().size(), 4U);
    const std::vector<ProcessNamespaces>& all = found.value();
    EXPECT_TRUE(all[0].below_ours && !all[0].own_mounts);
    EXPECT_TRUE(all[1].below_ours && all[1].own_mounts);
    EXPECT_EQ(all[1].process, container.way());
    EXPECT_TRUE(!all[2].below_ours && all[2].own_mounts);
    EXPECT_TRUE(all[3].below_ours && all[3].own_mounts);
    EXPECT_EQ(containers_among(all).count, 2U);
}

class JobOfCgroups : public testing::Test {
  protected:
    // The files of a job in a v1 hierarchy.
    JobOfCgroups() {
        std::filesystem::create_directories(place.file("proc/self"));
        std::ofstream(place.file("proc/self/mountinfo"))
            << "30 20 0:25 / " << place.file("freezer") << " rw - cgroup cgroup rw,freezer\n";
        for (const char* group : {"step_extern/task_0", "step_0/task_0", "step_batch"}) {
            std::filesystem::create_directories(job() + "/" + group);
        }
        put("", "");
    }
    std::string job() { return place.file("freezer/slurm/uid_1/job_5"); }
    void put(const std::string& group, const std::string& numbers) {
        std::ofstream(job() + "/" + group + "/cgroup.procs") << numbers;
    }
    Result<std::vector<pid_t>> found() {
        return processes_beside({"freezer", "/slurm/uid_1/job_5/step_extern"}, place.file("proc"));
    }
    test::TemporaryDirectory place;
};

TEST_F(JobOfCgroups, has_the_processes_of_all_its_steps_but_the_extern_one) {
    put("step_extern", "10\n");
    put("step_extern/task_0", "11\n12\n");
    put("step_0", "");
    put("step_0/task_0", "20\n21\n0\n");
    put("step_batch", "30\n");
    Result<std::vector<pid_t>> processes = found();
    ASSERT_TRUE(processes) << processes.error().message;
    std::sort(processes.value().begin(), processes.value().end());
    EXPECT_EQ(processes.value(), (std::vector<pid_t>{20, 21, 30}));
}

TEST_F(JobOfCgroups, is_not_told_of_when_it_has_more_processes_than_are_looked_at) {
    std::string numbers;
    for (std::size_t i = 1; i <= limits::container_processes; ++i) numbers += std::to_string(i) + "\n";
    put("step_0", numbers);
    put("step_0/task_0", "");
    put("step_batch", "");
    ASSERT_TRUE(found()) << found().error().message;
    EXPECT_EQ(found().value().size(), limits::container_processes);
    put("step_batch", "1\n");
    ASSERT_FALSE(found());
    EXPECT_EQ(found().error().code, Code::too_large);
}

TEST_F(JobOfCgroups, is_not_told_of_when_it_has_more_cgroups_than_are_looked_at) {
    // Itself, two steps and a task are there.
    for (std::size_t i = 4; i < limits::container_cgroups; ++i)
        std::filesystem::create_directory(job() + "/step_" + std::to_string(i));
    for (const auto& at : std::filesystem::recursive_directory_iterator(job())) {
        if (at.is_directory()) std::ofstream(at.path() / "cgroup.procs") << "";
    }
    EXPECT_TRUE(found()) << found().error().message;
    std::filesystem::create_directory(job() + "/step_0/more");
    ASSERT_FALSE(found());
    EXPECT_EQ(found().error().code, Code::too_large);
}

TEST_F(JobOfCgroups, is_not_told_of_without_its_cgroups) {
    std::ofstream(place.file("proc/self/mountinfo")) << "30 20 0:25 / /x rw - cgroup cgroup rw,memory\n";
    ASSERT_FALSE(found());
    EXPECT_EQ(found().error().code, Code::missing);
}

TEST(OpenContainer, takes_no_process_of_nobodys_or_in_no_container) {
    const Child plain(0);
    EXPECT_EQ(open_container(plain.way()).error().code, Code::denied);
    const Child users_only(CLONE_NEWUSER);
    if (!users_only.made()) GTEST_SKIP() << "no user namespaces here";
    EXPECT_EQ(open_container(users_only.way()).error().code, Code::denied);
    Child container(in_container);
    ContainerProcess way = container.way();
    EXPECT_TRUE(open_container(way));
    way.started += 1;
    EXPECT_EQ(open_container(way).error().code, Code::missing);
    way = container.way();
    container.end();
    EXPECT_EQ(open_container(way).error().code, Code::missing);
}

}  // namespace
}  // namespace llmgw
