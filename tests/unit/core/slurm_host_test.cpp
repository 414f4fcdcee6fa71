#include "core/slurm_host.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

TEST(SlurmHost, has_slurms_default_without_a_line) {
    EXPECT_EQ(parse_slurm_host("").spool, "/var/spool/slurmd");
    EXPECT_EQ(parse_slurm_host("#SlurmdSpoolDir=/x\n").spool, "/var/spool/slurmd");
}

TEST(SlurmHost, takes_any_node_and_any_host) {
    EXPECT_EQ(parse_slurm_host("slurmdspooldir = /var/spool/%n/%h.d # comment\n").spool, "/var/spool/*/*.d");
}

TEST(SlurmHost, names_every_controller) {
    const SlurmHost host = parse_slurm_host(
        "SlurmctldHost=ctl1(192.0.2.10)\nSlurmctldHost=ctl2\nControlMachine=old\nBackupController=older\n"
        "AccountingStorageHost=db\n");
    EXPECT_EQ(host.controllers, (std::vector<std::string>{"ctl1", "ctl2", "old", "older"}));
    EXPECT_TRUE(is_controller(host, "ctl1"));
    EXPECT_TRUE(is_controller(host, "ctl2.example.org"));
    EXPECT_FALSE(is_controller(host, "ctl"));
    EXPECT_FALSE(is_controller(host, "db"));
    EXPECT_FALSE(is_controller(host, ""));
    EXPECT_FALSE(is_controller(parse_slurm_host("SlurmctldHost=(192.0.2.10)"), ""));
}

}  // namespace
}  // namespace llmgw
