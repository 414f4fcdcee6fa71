#include "core/machine_check.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

const WantedVersions wanted{"0.24.0", "4.2.1"};
constexpr const char* pyxis_path = "/usr/local/lib/slurm/spank_pyxis.so";

PlugstackLine plugin(const std::string& path, const std::vector<std::string>& arguments = {}) {
    return {PlugstackLine::Kind::plugin, false, path, arguments};
}

MachineFacts good() {
    MachineFacts facts;
    facts.machine = "n1";
    facts.boot = "some-boot";
    facts.oci = true;
    facts.slurm = std::string("22.05.8");
    facts.plugstack =
        Plugstack{plugin("/p/spank_llmgw.so"), plugin(pyxis_path), plugin("/p/spank_llmgw.so", {"verify"})};
    facts.pyxis_file = FileFacts{pyxis_path, "1:2:3:4:5"};
    facts.pyxis = PluginFacts{"pyxis", "spank", 0x160508, "0.24.0"};
    facts.enroot_file = FileFacts{"/usr/bin/enroot", "6:7:8:9:10"};
    facts.enroot = std::string("4.2.1");
    facts.user_directories = {"/run/enroot"};
    facts.proven = true;
    return facts;
}

MachineCheck checked(const MachineFacts& facts) {
    return check_machine(facts, wanted, "0.1.0");
}
std::string reason(const MachineFacts& facts) {
    const MachineCheck check = checked(facts);
    EXPECT_EQ(check.node.ready, check.report.ready);
    EXPECT_EQ(check.node.reason, check.report.reason);
    EXPECT_TRUE(check_report(check.report).ok()) << check_report(check.report).error().message;
    if (!check.node.ready) {
        EXPECT_EQ(check.node.pyxis_path + check.node.pyxis_fingerprint + check.node.enroot_path, "");
    }
    return check.node.ready ? "ready" : check.node.reason;
}

TEST(MachineCheck, of_a_good_machine_says_what_the_guard_and_the_leader_need) {
    const MachineCheck check = checked(good());
    EXPECT_EQ(check.node, (NodeState{"n1",
                                     true,
                                     "pyxis 0.24.0, enroot 4.2.1",
                                     "some-boot",
                                     true,
                                     pyxis_path,
                                     "1:2:3:4:5",
                                     "/usr/bin/enroot",
                                     "6:7:8:9:10",
                                     {"/run/enroot"}}));
    EXPECT_EQ(check.report, (MachineReport{"n1",
                                           true,
                                           "pyxis 0.24.0, enroot 4.2.1",
                                           {{"pyxis", "0.24.0"}, {"enroot", "4.2.1"}, {"slurm", "22.05.8"}},
                                           "some-boot",
                                           "0.1.0",
                                           {}}));
}

// Each thing put right uncovers the next: the order is the one in which an admin would go.
TEST(MachineCheck, gives_one_reason_at_a_time_in_its_order) {
    MachineFacts facts;
    facts.machine = "n1";
    facts.boot = "some-boot";
    facts.slurm = Error{Code::missing, "neither slurmd, slurmctld nor srun is installed"};
    facts.plugstack = Error{Code::internal, "cannot open /etc/slurm/plugstack.conf: Permission denied"};
    facts.enroot_file = Error{Code::missing, "/usr/bin/enroot is not there"};
    EXPECT_EQ(reason(facts), "Slurm: neither slurmd, slurmctld nor srun is installed");
    facts.slurm = std::string("22.05.8");
    EXPECT_EQ(reason(facts), "cannot open /etc/slurm/plugstack.conf: Permission denied");
    facts.plugstack = Plugstack{};
    EXPECT_EQ(reason(facts), "enroot: /usr/bin/enroot is not there");
    facts.enroot_file = FileFacts{"/usr/bin/enroot", "6:7:8:9:10"};
    facts.enroot = Error{Code::timeout, "/usr/bin/enroot took longer than 10000 ms"};
    EXPECT_EQ(reason(facts), "enroot: /usr/bin/enroot took longer than 10000 ms");
    facts.enroot = std::string();
    EXPECT_EQ(reason(facts), "enroot is of an unknown version, wanted is 4.2.1");
    facts.enroot = std::string("3.5.0");
    EXPECT_EQ(reason(facts), "enroot is 3.5.0, wanted is 4.2.1");
    facts.enroot = std::string("4.2.1");
    EXPECT_EQ(reason(facts), "pyxis is not in plugstack.conf");
    facts.plugstack = Plugstack{plugin(pyxis_path)};
    facts.pyxis_file = Error{Code::denied, std::string(pyxis_path) + " does not belong to root"};
    EXPECT_EQ(reason(facts), "pyxis: " + std::string(pyxis_path) + " does not belong to root");
    facts.pyxis_file = FileFacts{pyxis_path, "1:2:3:4:5"};
    facts.pyxis = Error{Code::invalid, "it does not load"};
    EXPECT_EQ(reason(facts), "pyxis: it does not load");
    facts.pyxis = PluginFacts{"pyxis", "job_submit", 0x170207, "0.20.0"};
    EXPECT_EQ(reason(facts), std::string(pyxis_path) + " is not pyxis");
    facts.pyxis = PluginFacts{"other", "spank", 0x170207, "0.20.0"};
    EXPECT_EQ(reason(facts), std::string(pyxis_path) + " is not pyxis");
    facts.pyxis = PluginFacts{"pyxis", "spank", 0x170207, "0.20.0"};
    EXPECT_EQ(reason(facts), "pyxis was built for Slurm 23.02.7, this machine has 22.05.8");
    facts.pyxis = PluginFacts{"pyxis", "spank", 0x160502, ""};
    EXPECT_EQ(reason(facts), "pyxis is of an unknown version, wanted is 0.24.0");
    facts.pyxis = PluginFacts{"pyxis", "spank", 0x160502, "0.20.0"};
    EXPECT_EQ(reason(facts), "pyxis is 0.20.0, wanted is 0.24.0");
    facts.pyxis = PluginFacts{"pyxis", "spank", 0x160502, "0.24.0"};
    EXPECT_EQ(reason(facts), "plugstack.conf has no line \"optional spank_llmgw.so\"");
    facts.plugstack = good().plugstack;
    EXPECT_EQ(reason(facts), "no container was started yet with what is installed now");
    facts.user_directories = {"/run/enroot"};
    facts.proven = true;
    EXPECT_EQ(reason(facts), "ready");
}

// A site's own pyxis has to load, ours is built anew for each Slurm.
TEST(MachineCheck, holds_the_library_that_we_build_to_the_micro_version) {
    MachineFacts facts = good();
    facts.slurm = std::string("22.05.9");
    EXPECT_EQ(reason(facts), "ready");
    facts.pyxis_is_ours = true;
    EXPECT_EQ(reason(facts), "pyxis was built for Slurm 22.05.8, this machine has 22.05.9");
}

TEST(MachineCheck, not_ready_keeps_the_machine_and_its_versions) {
    const MachineCheck check = not_ready(checked(good()), "being\ntaken back");
    EXPECT_FALSE(check.node.ready);
    EXPECT_EQ(check.node.reason, "being?taken back");
    EXPECT_EQ(check.node.pyxis_path + check.node.enroot_fingerprint, "");
    EXPECT_FALSE(check.report.ready);
    EXPECT_EQ(check.report.reason, "being?taken back");
    EXPECT_EQ(check.report.versions, checked(good()).report.versions);
}

TEST(MachineCheck, reports_the_versions_that_are_there_although_it_is_not_ready) {
    MachineFacts facts = good();
    facts.enroot = std::string("3.5.0");
    facts.pyxis = Error{Code::invalid, "it does not load"};
    const std::map<std::string, std::string> versions{{"enroot", "3.5.0"}, {"slurm", "22.05.8"}};
    EXPECT_EQ(checked(facts).report.versions, versions);
}

// A report that the leader refuses would leave the machine without any: the reason is lost then.
TEST(MachineCheck, makes_reports_that_the_leader_takes_whatever_was_found) {
    MachineFacts facts = good();
    facts.enroot_file = Error{Code::missing, "/" + std::string(4000, 'e') + "/enroot is not there"};
    EXPECT_EQ(reason(facts).size(), limits::message_bytes);
    facts = good();
    facts.enroot = std::string("4.2.1\x1b[2J");
    EXPECT_EQ(reason(facts), "enroot is 4.2.1?[2J, wanted is 4.2.1");
    facts = good();
    facts.pyxis = Error{Code::invalid, "a\nb\x7f\xc2\x9b\xff"};
    EXPECT_EQ(reason(facts), "pyxis: a?b???");
    facts = good();
    facts.slurm = std::string(limits::report_word_bytes + 1, '2');
    EXPECT_NE(reason(facts), "ready");
}

TEST(MajorMinor, of_a_version) {
    EXPECT_EQ(major_minor(std::string("22.05.8")), "22.05");
    EXPECT_EQ(major_minor(std::string("24.11.0-0rc1")), "24.11");
    EXPECT_EQ(major_minor(std::string("26.05")), "26.05");
    EXPECT_EQ(major_minor(std::string("26")), "26");
    EXPECT_EQ(major_minor(std::string()), "");
}

TEST(MajorMinor, of_a_stamp) {
    EXPECT_EQ(major_minor(0x160508U), "22.05");
    EXPECT_EQ(major_minor(0x180b05U), "24.11");
    EXPECT_EQ(major_minor(0x1a0500U), "26.05");
    EXPECT_EQ(major_minor(0U), "0.00");
}

TEST(FullVersion, of_a_stamp) {
    EXPECT_EQ(full_version(0x160508U), "22.05.8");
    EXPECT_TRUE(is_of_slurm(0x180b00U, "24.11.0-0rc1"));
    EXPECT_FALSE(is_of_slurm(0x180b00U, "24.11.1"));
}

}  // namespace
}  // namespace llmgw
