#include "core/proof_verdict.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

TEST(ProofAnswer, is_found_among_other_lines) {
    const ProofAnswer expected{"t1", "m1", "254:0 77", 3};
    EXPECT_EQ(proof_answer_in("a warning\nllmgw-proof t1 m1 254:0 77 3\nbye\n"), expected);
    EXPECT_EQ(proof_answer_in("llmgw-proof t0 m0 1:0 2 0\nllmgw-proof t1 m1 254:0 77 3"), expected);
}

TEST(ProofAnswer, is_none_where_the_line_is_not_whole) {
    for (const char* line : {"", "llmgw-proof ", "llmgw-proof t m 254:0 77", "llmgw-proof t m 254:0 77 x",
                             "llmgw-proof t m 254:0 77 3x", "llmgw-proof t m 254:0 77 3 4",
                             "> llmgw-proof t m 254:0 77 3", "llmgw-proof t m 254:0 77 "}) {
        EXPECT_EQ(proof_answer_in(line), std::nullopt) << line;
    }
}

TEST(Judge, wants_the_container_that_was_made) {
    const ProofWanted wanted{"t", "254:0 2", false};
    EXPECT_TRUE(judge({"t", "t", "254:0 77", 0}, wanted));
    EXPECT_FALSE(judge({"t", "other", "254:0 77", 0}, wanted));
    EXPECT_FALSE(judge({"other", "t", "254:0 77", 0}, wanted));
    EXPECT_EQ(judge({"t", "t", "254:0 2", 0}, wanted).error().message,
              "the program ran on the machine itself, not in a container");
}

TEST(Judge, wants_nvidia_s_hook_to_have_run_where_gpus_are) {
    const ProofWanted wanted{"t", "254:0 2", true};
    EXPECT_TRUE(judge({"t", "t", "254:0 77", 1}, wanted));
    EXPECT_NE(judge({"t", "t", "254:0 77", 0}, wanted).error().message.find("NVIDIA's hook put nothing"),
              std::string::npos);
}

constexpr const char* no_namespace =
    "enroot-nsenter: failed to create user namespace: No space left on device\n";

TEST(Remedy, names_the_switch_that_is_off) {
    NamespaceLimits limits{100, 1, 0, 100, false};
    EXPECT_NE(remedy_for(no_namespace, limits).find("as many user namespaces"), std::string::npos);
    limits.max_user_namespaces = 0;
    EXPECT_NE(remedy_for(no_namespace, limits).find("user.max_user_namespaces is 0"), std::string::npos);
    limits = {100, 0, 0, 100, false};
    EXPECT_NE(remedy_for("enroot-nsenter: failed to create user namespace: Operation not permitted", limits)
                  .find("kernel.unprivileged_userns_clone is 0"),
              std::string::npos);
    limits = {100, 1, 0, 0, false};
    EXPECT_NE(remedy_for("enroot-nsenter: failed to create mount namespace: No space left on device", limits)
                  .find("user.max_mnt_namespaces is 0"),
              std::string::npos);
}

TEST(Remedy, tells_apparmor_with_and_without_a_profile) {
    const char* failed = "enroot-mount: failed to mount: tmpfs: Permission denied";
    EXPECT_NE(remedy_for(failed, {100, 1, 1, 100, true}).find("apparmor_parser -r /etc/apparmor.d/enroot"),
              std::string::npos);
    EXPECT_NE(remedy_for(failed, {100, 1, 1, 100, false}).find("reinstall the package enroot"),
              std::string::npos);
    EXPECT_EQ(remedy_for(failed, {}), "");
}

TEST(Remedy, does_not_blame_a_switch_for_something_else) {
    const NamespaceLimits off{0, 0, 1, 0, false};
    EXPECT_EQ(remedy_for(
                  "mkdir: cannot create directory '/var/lib/enroot/data/user-65534': Permission denied", off),
              "");
    EXPECT_EQ(remedy_for("write error: No space left on device", off), "free some space there");
}

TEST(Remedy, names_the_package_of_a_missing_program) {
    EXPECT_EQ(remedy_for("[ERROR] Command not found: unsquashfs\n", {}), "install squashfs-tools");
    EXPECT_EQ(remedy_for("[ERROR] Command not found: nvidia-container-cli, see https://x\n", {}),
              "install libnvidia-container-tools");
    EXPECT_EQ(remedy_for("[ERROR] Command not found: zstd", {}), "install the package that has zstd");
}

TEST(ProofFailure, is_one_line) {
    EXPECT_EQ(proof_failure("a\nb\n\x1b[31m[ERROR]\x1b[0m c\n", 1, {}),
              "b; ?[31m[ERROR]?[0m c (exit code 1)");
    EXPECT_EQ(proof_failure("", 137, {}), "it said nothing (exit code 137)");
    EXPECT_EQ(proof_failure("cp: x: No space left on device", 1, {}),
              "cp: x: No space left on device (exit code 1); free some space there");
}

}  // namespace
}  // namespace llmgw
