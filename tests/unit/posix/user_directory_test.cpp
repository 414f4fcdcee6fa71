#include "posix/user_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw {
namespace {

constexpr uid_t user = 61000;
constexpr uid_t another = 61001;

class UserDirectory : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
        ASSERT_EQ(::chmod(parent_.path().c_str(), 01777), 0);
    }
    [[nodiscard]] std::string path() const { return user_directory(parent_.path(), user); }
    [[nodiscard]] Result<void> check() const { return check_user_directory(parent_.path(), user); }
    [[nodiscard]] Result<void> make() const { return make_user_directory(parent_.path(), {user, 61002}); }
    [[nodiscard]] struct stat status() const {
        struct stat status {};
        EXPECT_EQ(::lstat(path().c_str(), &status), 0) << path();
        return status;
    }
    test::TemporaryDirectory parent_;
};

TEST_F(UserDirectory, is_refused_when_another_user_made_it) {
    ASSERT_EQ(::mkdir(path().c_str(), 0777), 0);
    ASSERT_EQ(::chown(path().c_str(), another, another), 0);
    EXPECT_TRUE(make().ok());
    EXPECT_EQ(status().st_uid, another) << "what is there is not ours to change";
    EXPECT_EQ(check().error().message,
              path() + " belongs to UID 61001; an admin should find out why, and remove it");
}

TEST_F(UserDirectory, is_refused_when_it_is_a_link) {
    const std::string elsewhere = parent_.file("elsewhere");
    ASSERT_EQ(::mkdir(elsewhere.c_str(), 0755), 0);
    ASSERT_EQ(::symlink(elsewhere.c_str(), path().c_str()), 0);
    EXPECT_TRUE(make().ok());
    struct stat target {};
    ASSERT_EQ(::stat(elsewhere.c_str(), &target), 0);
    EXPECT_EQ(target.st_uid, 0U) << "no link is followed";
    EXPECT_EQ(check().error().message,
              path() + " is not a directory; an admin should find out why, and remove it");
}

TEST_F(UserDirectory, is_refused_when_others_can_write_it) {
    ASSERT_TRUE(make().ok());
    ASSERT_EQ(::chmod(path().c_str(), 0770), 0);
    EXPECT_EQ(check().error().code, Code::denied);
}

TEST_F(UserDirectory, is_made_for_its_user_alone) {
    EXPECT_TRUE(check().ok()) << "not there: enroot makes it";
    ASSERT_TRUE(make().ok());
    EXPECT_EQ(status().st_uid, user);
    EXPECT_EQ(status().st_gid, 61002U);
    EXPECT_EQ(status().st_mode & 07777U, 0700U);
    EXPECT_TRUE(check().ok());
    EXPECT_TRUE(make().ok());
}

TEST_F(UserDirectory, is_not_made_where_the_parent_is_not_roots) {
    EXPECT_TRUE(make_user_directory(parent_.file("none"), {user, user}).ok());
    ASSERT_EQ(::chown(parent_.path().c_str(), another, another), 0);
    EXPECT_TRUE(make().ok());
    EXPECT_NE(::access(path().c_str(), F_OK), 0);
}

}  // namespace
}  // namespace llmgw
