// The helper lends its node: a real leader, a real record, and a program in place of llmgw-slurm-node that is
// slurmctld.
#include "unit/daemon/on_machine.hpp"

namespace llmgw::daemon {
namespace {

constexpr const char* lent =
    R"({"enabled":true,"controller":"n1","nodes":["n1"],"lent":["n1"],"containers":true})";

class HelperLends : public HelperTest {
  protected:
    void SetUp() override {
        HelperTest::SetUp();
        // Files are the node: `drained` has the reason; `down` means that slurmctld doesn't answer.
        machine_.put(
            "node",
            std::string("#!/bin/sh\ncd ") + machine_.at("") +
                "\n[ ! -e down ] || { echo no answer; exit 1; }\n"
                "reason='llmgw: not lent to Slurm'\n"
                "case $1 in\n"
                "drain) [ -e drained ] || echo \"$reason [lease $3]\" | sed 's/ .lease 0.//' >drained ;;\n"
                "undrain) rm -f drained ;;\n"
                "show) d=no; r=-; [ ! -e drained ] || { d=yes; r=$(cat drained); }\n"
                "printf '%s\\n' 'llmgw-slurm-node-in-slurm 1' 'node n1' 'known yes' \"drained $d\" "
                "'kept.by.others no' 'idle yes' 'registered yes' 'power.saving no' \"reason $r\" end ;;\n"
                "esac\n",
            0755);
        service::LendingOptions lending;
        lending.machine = "n1";
        lending.state_dir = machine_.at("state");
        lending.run_dir = machine_.at("run");
        lending.node_program = machine_.at("node");
        // No slurmd of this name runs on the machine of the test, where a lab may have an n1.
        lending.slurmd.machine = "unit-test";
        lending.slurmd.slurm_conf = machine_.at("slurm.conf");
        lending.gpus.devices = {machine_.at("gpu*")};
        lending.leader = options_.leader;
        lending_.emplace(lending);
        lends_ = &*lending_;
    }
    bool phase_is(LendingPhase phase) {
        return test::eventually([&] {
            const Result<StateFile> file =
                read_state_file(machine_.at("state/lending"), limits::state_file_bytes);
            const Result<LendingRecord> record =
                file ? parse_lending_record(file.value().content) : Result<LendingRecord>(file.error());
            return record && record.value().phase == phase && !record.value().closing;
        });
    }
    [[nodiscard]] bool drained() const { return std::filesystem::exists(machine_.at("drained")); }
    std::optional<service::Lending> lending_;
};

TEST_F(HelperLends, its_node_to_slurm_and_back) {
    start();
    ASSERT_TRUE(phase_is(LendingPhase::gateway));
    EXPECT_TRUE(drained());
    settings(lent);
    leader_->reload_settings();
    ASSERT_TRUE(phase_is(LendingPhase::slurm));
    EXPECT_TRUE(test::eventually([&] { return !drained(); }));
    settings(one_machine);
    leader_->reload_settings();
    ASSERT_TRUE(phase_is(LendingPhase::gateway));
    EXPECT_TRUE(drained());
}

TEST_F(HelperLends, nothing_that_it_can_not_see_to_be_free) {
    machine_.put("down", "");
    settings(lent);
    leader_->reload_settings();
    start();
    EXPECT_TRUE(test::eventually([&] { return described("lending_problem").empty(); }));
    std::filesystem::remove(machine_.at("down"));
    ASSERT_TRUE(phase_is(LendingPhase::slurm));
}

TEST_F(HelperLends, and_says_whose_it_is_in_its_report) {
    settings(lent);
    leader_->reload_settings();
    start();
    ASSERT_TRUE(phase_is(LendingPhase::slurm));
    EXPECT_TRUE(test::eventually([&] {
        const Value all = description();
        const Value* machines = all.find("machines");
        if (machines == nullptr || machines->array() == nullptr || machines->array()->empty()) return false;
        const Value* lending = machines->array()->front().find("lending");
        return lending != nullptr && lending->find("phase")->text() != nullptr &&
               *lending->find("phase")->text() == "slurm";
    }));
}

TEST_F(HelperLends, to_whom_an_admin_says_with_its_fence) {
    start();
    ASSERT_TRUE(phase_is(LendingPhase::gateway));
    const auto fence = [&](const std::string& node, bool on) {
        return answer([=, this](auto given) { helper_->set_fence(node, on, std::move(given)); });
    };
    EXPECT_EQ(fence("n2", false).error().code, Code::invalid);
    EXPECT_TRUE(fence("n1", false).ok());
    const Result<StateFile> file = read_state_file(machine_.at("state/lending"), limits::state_file_bytes);
    EXPECT_FALSE(parse_lending_record(file.value().content).value().fence);
    EXPECT_TRUE(fence("n1", true).ok());
}

TEST_F(HelperLends, not_with_a_record_that_it_can_not_read) {
    machine_.put("state/lending", "garbage");
    start();
    EXPECT_TRUE(test::eventually([&] {
        return described("lending_problem").find("state/lending can't be used") != std::string::npos;
    }));
    EXPECT_FALSE(drained());
}

}  // namespace
}  // namespace llmgw::daemon
