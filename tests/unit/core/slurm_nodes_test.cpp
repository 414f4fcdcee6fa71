#include "core/slurm_nodes.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

// As scontrol of 22.05.8 prints them.
constexpr const char* text =
    "NodeName=n1 Arch=x86_64 CoresPerSocket=2 CPUAlloc=0 CPUEfctv=2 CPUTot=2 CPULoad=0.55 "
    "AvailableFeatures=(null) "
    "Gres=(null) NodeAddr=n1 NodeHostName=n1 Version=22.05.8 RealMemory=1000 AllocMem=0 Sockets=1 Boards=1 "
    "State=IDLE+DRAIN ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=gpu "
    "Reason=llmgw: not lent to Slurm [slurm@2026-11-30T18:40:53]\n"
    "NodeName=n2 CPUAlloc=2 CPUTot=2 State=MIXED+COMPLETING ThreadsPerCore=1 \n"
    "NodeName=n3 CPUAlloc=0 State=DOWN*+DRAIN ThreadsPerCore=1 Reason=fan [7] is broken "
    "[ann@2026-11-30T18:40:53]\n"
    "No nodes in the system\n";

TEST(SlurmNodes, are_read_with_state_and_reason) {
    const std::vector<SlurmNode> nodes = parse_slurm_nodes(text);
    ASSERT_EQ(nodes.size(), 3U);
    EXPECT_EQ(nodes[0], (SlurmNode{"n1", {"IDLE", "DRAIN"}, "llmgw: not lent to Slurm", 0}));
    EXPECT_FALSE(nodes[0].busy());
    EXPECT_EQ(nodes[1], (SlurmNode{"n2", {"MIXED", "COMPLETING"}, "", 2}));
    EXPECT_TRUE(nodes[1].busy());
    EXPECT_EQ(nodes[2], (SlurmNode{"n3", {"DOWN", "DRAIN"}, "fan [7] is broken", 0}));
    EXPECT_TRUE(parse_slurm_nodes("").empty());
}

TEST(SlurmNodes, a_reason_may_have_brackets_of_its_own) {
    EXPECT_EQ(parse_slurm_nodes("NodeName=n1 State=IDLE+DRAIN Reason=llmgw: not lent to Slurm [lease 7] "
                                "[root@2026-11-30T18:40:53]\n")
                  .at(0)
                  .reason,
              "llmgw: not lent to Slurm [lease 7]");
}

}  // namespace
}  // namespace llmgw
