// A step that asked for no container costs its tasks nothing: no file is looked at, none is opened. Before
// them, once a step, it is asked whether this node is lent.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "core/container_request.hpp"
#include "fake_spank.hpp"

extern "C" int slurm_spank_init(spank_t, int, char**);
extern "C" int slurm_spank_task_init(spank_t, int, char**);

namespace llmgw {
namespace {

// From here on every system call that names a file ends the process.
void forbid_files() {
    constexpr auto ask = [](unsigned number) -> std::array<sock_filter, 2> {
        return {sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    };
    constexpr unsigned forbidden[] = {
#ifdef SYS_open
        SYS_open,       SYS_stat,  SYS_lstat,  SYS_access,
#endif
        SYS_newfstatat, SYS_statx, SYS_openat, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_connect};
    std::array<sock_filter, 2 * std::size(forbidden) + 2> program{};
    std::size_t used = 0;
    program[used++] = sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    for (const unsigned number : forbidden) {
        for (const sock_filter& instruction : ask(number)) program[used++] = instruction;
    }
    program[used++] = sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog filter{static_cast<unsigned short>(used), program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        ::_exit(9);
    }
}

[[noreturn]] void run_step_without_files() {
    for (const bool verify : {false, true}) {
        char word[] = "verify";
        char* words[] = {word, nullptr};
        (void)slurm_spank_init(fake::handle(), verify ? 1 : 0, words);
    }
    forbid_files();
    (void)slurm_spank_task_init(fake::handle(), 0, nullptr);
    char word[] = "verify";
    char* words[] = {word, nullptr};
    (void)slurm_spank_task_init(fake::handle(), 1, words);
    ::_exit(0);
}

TEST(PlainStep, has_tasks_that_touch_no_file) {
    fake::reset();
    EXPECT_EXIT(run_step_without_files(), testing::ExitedWithCode(0), "^$");
}

// So that the test above means something.
TEST(PlainStep, unlike_a_container_step) {
    fake::reset();
    fake::spank().environment.emplace("PYXIS_CONTAINER_IMAGE", "x");
    EXPECT_EXIT(run_step_without_files(), testing::KilledBySignal(SIGSYS), "");
}

}  // namespace
}  // namespace llmgw
