#include "packages/locks.hpp"

#include "unit/packages/lock_keeper.hpp"
#include "unit/packages/machine.hpp"

namespace llmgw::packages {
namespace {

using Clock = std::chrono::steady_clock;

class Locks : public ::testing::Test {
  protected:
    // The first 15 bytes of the program's name, as the kernel keeps it.
    static std::string own_name() {
        std::string name = read("/proc/self/comm");
        name.pop_back();
        return name;
    }

    test::TemporaryDirectory place_;
    const std::string path_ = place_.file("lock");
    Watched watched_;
};

TEST_F(Locks, NobodyHoldsAFileThatIsNotThereOrNotLocked) {
    EXPECT_FALSE(fcntl_holder(path_));
    EXPECT_FALSE(pid_file_holder(path_));
    write(path_, "");
    EXPECT_FALSE(fcntl_holder(path_));
    EXPECT_FALSE(pid_file_holder(path_));
}

TEST_F(Locks, NamesTheHolder) {
    LockKeeper keeper(path_);
    ASSERT_TRUE(keeper.holds());
    const std::optional<LockHolder> holder = fcntl_holder(path_);
    EXPECT_EQ(holder, (LockHolder{path_, keeper.process(), own_name()}));
    keeper.let_go();
    EXPECT_FALSE(fcntl_holder(path_));
}

TEST_F(Locks, NamesTheHolderOfAFileWithANumber) {
    LockKeeper keeper(path_, LockKeeper::Kind::pid_file);
    EXPECT_EQ(pid_file_holder(path_), (LockHolder{path_, keeper.process(), own_name()}));
    keeper.let_go();
    // The number of a process that is gone, and what is no number.
    for (const std::string text : {"2147483646", "0", "-1", "x", "12x", ""}) {
        write(path_, text);
        EXPECT_FALSE(pid_file_holder(path_)) << text;
    }
}

TEST_F(Locks, LooksAtALockAndTakesNone) {
    // A lock of this process would not stand in its own way, so another one tries.
    write(path_, "");
    EXPECT_FALSE(fcntl_holder(path_));
    EXPECT_TRUE(LockKeeper(path_).holds());
}

TEST(LockHolderText, SaysWhatIsKnown) {
    EXPECT_EQ(text_of(LockHolder{"/l", 4711, "unattended-upgr"}),
              "unattended-upgr (PID 4711), which holds /l");
    EXPECT_EQ(text_of(LockHolder{"/l", 0, ""}), "another process, which holds /l");
    EXPECT_EQ(text_of(LockHolder{"/l", 7, ""}), "another process (PID 7), which holds /l");
}

TEST_F(Locks, SaysOnceForWhomItWaitsAndGoesOnWhenTheyAreDone) {
    int looks = 0;
    const Held held = [&]() -> std::optional<LockHolder> {
        ++looks;
        if (looks <= 2) return LockHolder{"/l", 1, "apt-get"};
        if (looks == 3) return LockHolder{"/l", 2, "dpkg"};
        return std::nullopt;
    };
    ASSERT_FINE(wait_until_free(held, Clock::now() + std::chrono::hours(1), watched_.progress, {}));
    EXPECT_EQ(watched_.sentences, (std::vector<std::string>{"waiting for apt-get (PID 1), which holds /l",
                                                            "waiting for dpkg (PID 2), which holds /l"}));
}

TEST_F(Locks, GivesUpWithTheHoldersName) {
    const Held held = [] { return std::optional<LockHolder>({"/l", 4711, "unattended-upgr"}); };
    const Result<void> waited = wait_until_free(held, Clock::now(), {}, {});
    ASSERT_REFUSED(waited, Code::timeout);
    EXPECT_EQ(waited.error().message,
              "gave up waiting for unattended-upgr (PID 4711), which holds /l; nothing was changed, and "
              "trying again "
              "when it is done will do");
}

TEST_F(Locks, StopsWaitingWhenAsked) {
    std::stop_source stop;
    const Held held = [&] {
        stop.request_stop();
        return std::optional<LockHolder>({"/l", 1, "apt-get"});
    };
    ASSERT_REFUSED(wait_until_free(held, Clock::now() + std::chrono::hours(1), {}, stop.get_token()),
                   Code::unavailable);
}

}  // namespace
}  // namespace llmgw::packages
