#include "posix/whereabouts.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace llmgw {
namespace {

constexpr Whereabouts host{1, 2, 3, 4};

TEST(MovedIntoContainer, needs_another_namespace_and_another_root) {
    EXPECT_FALSE(moved_into_container(host, host));
    EXPECT_FALSE(moved_into_container(host, {1, 9, 3, 4}));
    EXPECT_FALSE(moved_into_container(host, {9, 2, 3, 4}));
    EXPECT_FALSE(moved_into_container(host, {1, 2, 3, 9}));
    EXPECT_FALSE(moved_into_container(host, {1, 2, 9, 4}));
    EXPECT_TRUE(moved_into_container(host, {1, 9, 3, 9}));
    EXPECT_TRUE(moved_into_container(host, {1, 9, 9, 4}));
    EXPECT_TRUE(moved_into_container(host, {9, 2, 9, 9}));
}

TEST(WhereaboutsOfThisProcess, are_the_same_twice) {
    const Descriptor proc = open_proc().value();
    const Whereabouts first = whereabouts(proc).value();
    EXPECT_FALSE(moved_into_container(first, whereabouts(proc).value()));
    EXPECT_NE(first.namespace_inode, 0U);
    EXPECT_NE(first.root_inode, 0U);
}

TEST(WhereaboutsOfThisProcess, are_unknown_without_proc) {
    EXPECT_FALSE(whereabouts(Descriptor()));
}

// A container without /proc: the descriptor from before still answers.
TEST(WhereaboutsOfThisProcess, change_in_a_container) {
    const pid_t child = ::fork();
    if (child == 0) {
        const Descriptor proc = open_proc().value();
        const Whereabouts before = whereabouts(proc).value();
        if (::unshare(CLONE_NEWNS) != 0 || ::chroot("/usr") != 0) ::_exit(77);
        const Result<Whereabouts> after = whereabouts(proc);
        ::_exit(after && moved_into_container(before, after.value()) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs root";
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace llmgw
