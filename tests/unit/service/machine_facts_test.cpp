#include "service/machine_facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "posix/file.hpp"
#include "unit/service/machine.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;

class GatherFacts : public testing::Test {
  protected:
    [[nodiscard]] MachineFacts facts() const { return gather_facts(machine_.paths).facts; }
    test::Machine machine_;
};

TEST_F(GatherFacts, of_a_machine_with_nothing) {
    const Gathered gathered = gather_facts(machine_.paths);
    EXPECT_EQ(gathered.facts.machine, "n1");
    EXPECT_EQ(gathered.facts.boot.size(), 36U);
    EXPECT_FALSE(gathered.facts.oci);
    ASSERT_TRUE(gathered.facts.plugstack.ok());
    EXPECT_TRUE(gathered.facts.plugstack.value().empty());
    EXPECT_EQ(gathered.facts.enroot_file.error(),
              (Error{Code::missing, machine_.at("bin/enroot") + " is not there"}));
    const auto watched = [&](const std::string& directory) {
        return std::count(gathered.watch.begin(), gathered.watch.end(), directory) > 0;
    };
    EXPECT_TRUE(watched(machine_.at("conf")));
    EXPECT_TRUE(watched(machine_.at("bin")));
}

TEST_F(GatherFacts, of_a_machine_with_everything) {
    machine_.put_everything();
    machine_.put("conf/oci.conf", "");
    const Gathered gathered = gather_facts(machine_.paths);
    const MachineFacts& facts = gathered.facts;
    EXPECT_TRUE(facts.oci);
    EXPECT_EQ(facts.plugstack.value().size(), 3U);
    ASSERT_TRUE(facts.pyxis_file.ok()) << facts.pyxis_file.error().message;
    EXPECT_EQ(facts.pyxis_file.value(),
              (FileFacts{machine_.pyxis(), stamp_of(machine_.pyxis()).value().text()}));
    ASSERT_TRUE(facts.enroot.ok()) << facts.enroot.error().message;
    EXPECT_EQ(facts.enroot.value(), "4.2.1");
    EXPECT_EQ(facts.enroot_file.value().path, machine_.paths.enroot);
    EXPECT_EQ(std::count(gathered.watch.begin(), gathered.watch.end(), machine_.at("lib")), 1);
    if (!test::Machine::has_slurm()) GTEST_SKIP() << "no slurmd here";
    ASSERT_TRUE(facts.pyxis.ok()) << facts.pyxis.error().message;
    EXPECT_EQ(facts.pyxis.value(), (PluginFacts{"pyxis", "spank", 0x160508, "0.24.0"}));
}

TEST_F(GatherFacts, asks_a_program_again_only_when_its_files_are_others) {
    const std::string asked = machine_.at("asked");
    const auto put_enroot = [&](const std::string& version) {
        machine_.put("bin/enroot", "#!/bin/sh\necho >>" + asked + "\necho " + version + "\n", 0755);
    };
    std::ofstream(asked) << "";
    ASSERT_EQ(::chmod(asked.c_str(), 0666), 0);
    put_enroot("4.2.1");
    Inspections inspections;
    const auto look = [&] { return gather_facts(machine_.paths, inspections).facts.enroot.value(); };
    EXPECT_EQ(look(), "4.2.1");
    EXPECT_EQ(look(), "4.2.1");
    EXPECT_EQ(fs::file_size(asked), 1U);
    put_enroot("4.2.2");
    EXPECT_EQ(look(), "4.2.2");
    EXPECT_EQ(fs::file_size(asked), 2U);
    // Its settings decide whether it starts.
    fs::create_directory(machine_.at("enroot"));
    machine_.put("enroot/enroot.conf", "ENROOT_X y\n");
    EXPECT_EQ(look(), "4.2.2");
    EXPECT_EQ(fs::file_size(asked), 3U);
}

TEST_F(GatherFacts, says_what_is_wrong_with_enroot) {
    machine_.put("bin/enroot", "#!/bin/sh\necho cannot find jq >&2\nexit 1\n", 0755);
    EXPECT_EQ(facts().enroot.error().message, machine_.at("bin/enroot") + " does not start: cannot find jq");
    machine_.put("bin/enroot", "#!/bin/sh\n", 0644);
    EXPECT_EQ(facts().enroot.error().message,
              "cannot start " + machine_.at("bin/enroot") + ": Permission denied");
    machine_.put("bin/enroot", "#!/bin/sh\nid -u; env | grep -v -e ^PWD= -e ^_= | sort\n", 0755);
    EXPECT_EQ(facts().enroot.value().substr(0, 5), "PATH=") << "the last line of an environment of two";
    fs::remove(machine_.at("bin/enroot"));
    fs::create_directory(machine_.at("bin/enroot"));
    EXPECT_EQ(facts().enroot_file.error(),
              (Error{Code::invalid, machine_.at("bin/enroot") + " is not a file"}));
}

TEST_F(GatherFacts, trusts_no_file_that_others_can_change) {
    machine_.put_everything();
    ::chmod(machine_.pyxis().c_str(), 0664);
    EXPECT_EQ(facts().pyxis_file.error(),
              (Error{Code::denied, machine_.pyxis() + " can be written by others than root"}));
    ::chmod(machine_.paths.enroot.c_str(), 0757);
    EXPECT_EQ(facts().enroot_file.error().code, Code::denied);
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    ::chmod(machine_.pyxis().c_str(), 0644);
    ASSERT_EQ(::chown(machine_.pyxis().c_str(), 65534, 65534), 0);
    EXPECT_EQ(facts().pyxis_file.error(),
              (Error{Code::denied, machine_.pyxis() + " does not belong to root"}));
}

// A program that can be replaced under root's feet is never started.
TEST_F(GatherFacts, starts_nothing_that_others_can_change) {
    machine_.put("bin/enroot", "#!/bin/sh\ntouch " + machine_.at("started") + "\n", 0777);
    ::chmod(machine_.at("").c_str(), 0777);
    EXPECT_FALSE(facts().enroot.ok());
    EXPECT_FALSE(fs::exists(machine_.at("started")));
}

TEST_F(GatherFacts, looks_at_the_library_that_slurm_would_load) {
    machine_.put_everything();
    fs::create_directory(machine_.at("elsewhere"));
    fs::rename(machine_.pyxis(), machine_.at("elsewhere/spank_pyxis.so"));
    EXPECT_EQ(facts().pyxis_file.error(), (Error{Code::missing, machine_.pyxis() + " is not there"}));
    if (!test::Machine::has_slurm()) GTEST_SKIP() << "no slurmd here";
    // A name without a directory is looked for in Slurm's plugin directory, where libslurmfull.so is.
    machine_.paths.slurm_library = machine_.at("elsewhere/libslurmfull.so");
    machine_.put("conf/plugstack.conf", "optional spank_pyxis.so\n");
    const MachineFacts found = facts();
    ASSERT_TRUE(found.pyxis_file.ok()) << found.pyxis_file.error().message;
    EXPECT_EQ(found.pyxis_file.value().path, machine_.at("elsewhere/spank_pyxis.so"));
}

}  // namespace
}  // namespace llmgw::service
