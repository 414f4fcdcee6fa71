#include "daemon/gate_keeper.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/limits.hpp"
#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw::daemon {
namespace {

namespace fs = std::filesystem;

class Keeper : public testing::Test {
  protected:
    void SetUp() override {
        fs::create_directory(run());
        fs::create_directory(state());
    }
    [[nodiscard]] std::string run() const { return directory_.file("run"); }
    [[nodiscard]] std::string state() const { return directory_.file("state"); }
    [[nodiscard]] std::string gate() const { return run() + "/gate"; }
    [[nodiscard]] std::string mode() const { return state() + "/gate-mode"; }
    [[nodiscard]] GateKeeper keeper() const { return {run(), state()}; }
    [[nodiscard]] GateState published() const {
        const Result<StateFile> file = read_state_file(gate(), limits::state_file_bytes);
        EXPECT_TRUE(file.ok()) << file.error().message;
        const Result<GateState> state = parse_gate_state(file ? file.value().content : "");
        EXPECT_TRUE(state.ok()) << state.error().message;
        return state ? state.value() : GateState{};
    }
    static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
    test::TemporaryDirectory directory_;
};

const Readiness open_gate{true, "llmgw: all is well", {}};
const Readiness closed_gate{false, "llmgw: waiting for n1", {}};

TEST_F(Keeper, publishes_what_was_decided_for_everyone_to_read) {
    GateKeeper keeper = this->keeper();
    EXPECT_FALSE(keeper.published());
    ASSERT_TRUE(keeper.publish(closed_gate, true).ok());
    EXPECT_EQ(published(), (GateState{false, 1, true, "llmgw: waiting for n1"}));
    EXPECT_EQ(keeper.published(), published());
    struct stat status {};
    ASSERT_EQ(::stat(gate().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0644U);
}

TEST_F(Keeper, writes_only_what_is_different) {
    GateKeeper keeper = this->keeper();
    ASSERT_TRUE(keeper.publish(closed_gate, false).ok());
    const FileStamp first = stamp_of(gate()).value();
    ASSERT_TRUE(keeper.publish(closed_gate, false).ok());
    EXPECT_EQ(stamp_of(gate()).value(), first);
    ASSERT_TRUE(keeper.publish(closed_gate, true).ok());
    ASSERT_TRUE(keeper.publish(open_gate, true).ok());
    ASSERT_TRUE(keeper.publish({true, "llmgw: other words", {}}, true).ok());
    EXPECT_EQ(published().revision, 4U);
}

TEST_F(Keeper, writes_again_what_somebody_removed) {
    GateKeeper keeper = this->keeper();
    ASSERT_TRUE(keeper.publish(open_gate, false).ok());
    fs::remove(gate());
    ASSERT_TRUE(keeper.publish(open_gate, false).ok());
    EXPECT_EQ(published(), (GateState{true, 2, false, "llmgw: all is well"}));
}

TEST_F(Keeper, goes_on_counting_after_a_restart) {
    ASSERT_TRUE(keeper().publish(open_gate, false).ok());
    const FileStamp first = stamp_of(gate()).value();
    GateKeeper again = keeper();
    EXPECT_EQ(again.published(), (GateState{true, 1, false, "llmgw: all is well"}));
    ASSERT_TRUE(again.publish(open_gate, false).ok());
    EXPECT_EQ(stamp_of(gate()).value(), first);
    ASSERT_TRUE(again.publish(closed_gate, false).ok());
    EXPECT_EQ(published().revision, 2U);
}

// What was written is what is compared, also where it had to be cut or cleaned.
TEST_F(Keeper, writes_a_long_or_strange_message_once) {
    const Readiness readiness{false, "a\x1b[2J\n" + std::string(2 * limits::message_bytes, 'x'), {}};
    ASSERT_TRUE(keeper().publish(readiness, false).ok());
    ASSERT_TRUE(keeper().publish(readiness, false).ok());
    EXPECT_EQ(published().revision, 1U);
    EXPECT_LE(published().message.size(), limits::message_bytes);
}

TEST_F(Keeper, keeps_what_was_forced) {
    EXPECT_EQ(keeper().forced(), GateOverride::automatic);
    for (const GateOverride mode : {GateOverride::closed, GateOverride::open, GateOverride::automatic}) {
        GateKeeper keeper = this->keeper();
        ASSERT_TRUE(keeper.force(mode).ok());
        EXPECT_EQ(keeper.forced(), mode);
        EXPECT_EQ(this->keeper().forced(), mode);
    }
}

TEST_F(Keeper, forces_nothing_that_it_could_not_keep) {
    GateKeeper keeper = this->keeper();
    fs::remove(state());
    EXPECT_FALSE(keeper.force(GateOverride::open).ok());
    EXPECT_EQ(keeper.forced(), GateOverride::automatic);
}

TEST_F(Keeper, takes_nothing_from_files_that_make_no_sense) {
    for (const char* text : {"", "\n", "Open\n", "open closed\n", "garbage", " open\n"}) {
        write(mode(), text);
        EXPECT_EQ(keeper().forced(), GateOverride::automatic) << text;
    }
    write(mode(), std::string(100, 'x'));
    EXPECT_EQ(keeper().forced(), GateOverride::automatic);
    write(mode(), "closed");
    EXPECT_EQ(keeper().forced(), GateOverride::closed);
    for (const char* text : {"", "garbage", "llmgw-slurm-gate 1\nstate open\nrevision 17\n"}) {
        write(gate(), text);
        EXPECT_FALSE(keeper().published()) << text;
    }
    ASSERT_TRUE(keeper().publish(closed_gate, false).ok());
    EXPECT_EQ(published().revision, 1U);
}

TEST_F(Keeper, takes_nothing_from_files_that_others_can_write) {
    ASSERT_TRUE(keeper().force(GateOverride::open).ok());
    ASSERT_TRUE(keeper().publish(open_gate, false).ok());
    ::chmod(mode().c_str(), 0666);
    ::chmod(gate().c_str(), 0666);
    EXPECT_EQ(keeper().forced(), GateOverride::automatic);
    EXPECT_FALSE(keeper().published());
}

TEST_F(Keeper, tries_again_after_it_could_not_write) {
    GateKeeper keeper = this->keeper();
    fs::remove(run());
    EXPECT_FALSE(keeper.publish(open_gate, false).ok());
    EXPECT_FALSE(keeper.published());
    fs::create_directory(run());
    EXPECT_TRUE(keeper.publish(open_gate, false).ok());
    EXPECT_EQ(published().revision, 1U);
}

TEST_F(Keeper, withdraws_the_gate) {
    GateKeeper keeper = this->keeper();
    keeper.withdraw();
    ASSERT_TRUE(keeper.publish(open_gate, false).ok());
    keeper.withdraw();
    EXPECT_FALSE(fs::exists(gate()));
    EXPECT_FALSE(keeper.published());
}

TEST(GateModes, have_words) {
    for (const GateOverride mode : {GateOverride::automatic, GateOverride::open, GateOverride::closed}) {
        EXPECT_EQ(override_from(text_of(mode)), mode);
    }
    for (const char* word : {"", "Auto", "automatic", "open ", "on"}) EXPECT_FALSE(override_from(word));
}

}  // namespace
}  // namespace llmgw::daemon
