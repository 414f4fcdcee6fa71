#include "posix/user_database.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw {
namespace {

using namespace std::chrono_literals;

class UserDatabaseTest : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directory(directory_.file("etc")); }
    void put(const std::string& name, const std::string& text) const {
        std::ofstream(directory_.file("etc/" + name)) << text;
    }
    test::TemporaryDirectory directory_;
};

TEST_F(UserDatabaseTest, reads_what_is_there) {
    put("passwd", "p");
    put("group", "g");
    put("shadow", "s");
    const Result<UserFiles> some = read_user_files(directory_.path());
    ASSERT_TRUE(some.ok()) << some.error().message;
    EXPECT_EQ(some.value(), (UserFiles{"p", "g", "s", std::nullopt, "", ""}));
    put("gshadow", "gs");
    put("subuid", "su");
    put("subgid", "sg");
    EXPECT_EQ(read_user_files(directory_.path()).value(), (UserFiles{"p", "g", "s", "gs", "su", "sg"}));
    std::filesystem::remove(directory_.file("etc/shadow"));
    EXPECT_FALSE(read_user_files(directory_.path()).ok());
}

// Another process with the lock that lckpwdf(3) takes.
TEST_F(UserDatabaseTest, waits_for_whoever_has_the_lock) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t other = ::fork();
    if (other == 0) {
        const int file = ::open(directory_.file("etc/.pwd.lock").c_str(), O_WRONLY | O_CREAT, 0600);
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        const bool locked = ::fcntl(file, F_SETLK, &lock) == 0;
        if (locked && ::write(ready[1], "x", 1) == 1) ::pause();
        ::_exit(1);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    const Result<Descriptor> refused = lock_user_database(directory_.path(), 50ms);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::conflict);
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    EXPECT_TRUE(lock_user_database(directory_.path(), 30s).ok());
    // Given back when it goes.
    EXPECT_TRUE(lock_user_database(directory_.path(), 30s).ok());
    ::close(ready[0]);
    ::close(ready[1]);
}

}  // namespace
}  // namespace llmgw
