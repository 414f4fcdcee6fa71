#include "posix/homes.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw {
namespace {

namespace fs = std::filesystem;

constexpr uid_t ann = 200001;

class HomesTest : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root";
        fs::create_directories(skeleton_ + "/.config");
        std::ofstream(skeleton_ + "/.profile") << "umask 077\n";
        ::chmod((skeleton_ + "/.profile").c_str(), 04777);
        std::ofstream(skeleton_ + "/.config/x") << "x";
        fs::create_symlink("/etc/passwd", skeleton_ + "/link");
    }
    Result<void> make() const { return make_home(homes_, "ann", ann, skeleton_); }
    static struct stat at(const std::string& path) {
        struct stat status {};
        EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
        return status;
    }
    void expect_refused(Code code, const std::string& part) const {
        const Result<void> made = make();
        ASSERT_FALSE(made.ok());
        EXPECT_EQ(made.error().code, code);
        EXPECT_NE(made.error().message.find(part), std::string::npos) << made.error().message;
    }

    test::TemporaryDirectory directory_;
    const std::string homes_ = directory_.file("home");
    const std::string skeleton_ = directory_.file("skel");
};

TEST_F(HomesTest, makes_a_home_that_is_the_users_alone) {
    ASSERT_TRUE(make().ok());
    EXPECT_EQ(at(homes_).st_mode & 07777, 0755U);
    const struct stat home = at(homes_ + "/ann");
    EXPECT_EQ(home.st_uid, ann);
    EXPECT_EQ(home.st_gid, ann);
    EXPECT_EQ(home.st_mode & 07777, 0700U);
    EXPECT_EQ(at(homes_ + "/ann/.profile").st_uid, ann);
    EXPECT_EQ(at(homes_ + "/ann/.profile").st_mode & 07777, 0755U);
    EXPECT_EQ(at(homes_ + "/ann/.config/x").st_uid, ann);
    EXPECT_TRUE(S_ISLNK(at(homes_ + "/ann/link").st_mode));
    EXPECT_EQ(at("/etc/passwd").st_uid, 0U);
    EXPECT_EQ(std::distance(fs::directory_iterator(homes_), {}), 1);
}

TEST_F(HomesTest, leaves_a_home_that_is_there) {
    ASSERT_TRUE(make().ok());
    std::ofstream(homes_ + "/ann/file") << "x";
    ::chmod((homes_ + "/ann").c_str(), 0750);
    ASSERT_TRUE(make().ok());
    EXPECT_EQ(at(homes_ + "/ann").st_mode & 07777, 0750U);
    EXPECT_TRUE(fs::exists(homes_ + "/ann/file"));
}

TEST_F(HomesTest, begins_anew_after_a_crash) {
    fs::create_directories(homes_ + "/.llmgw-new-ann/half");
    ASSERT_TRUE(make().ok());
    EXPECT_FALSE(fs::exists(homes_ + "/ann/half"));
    EXPECT_FALSE(fs::exists(homes_ + "/.llmgw-new-ann"));
}

TEST_F(HomesTest, touches_nothing_of_others) {
    fs::create_directories(homes_ + "/ann");
    expect_refused(Code::conflict, "belongs to number 0 and not to 200001");
    fs::remove(homes_ + "/ann");
    fs::create_symlink("/tmp", homes_ + "/ann");
    expect_refused(Code::conflict, "is not a directory");
    fs::remove(homes_ + "/ann");
    std::ofstream(homes_ + "/ann") << "x";
    expect_refused(Code::conflict, "is not a directory");
}

TEST_F(HomesTest, makes_none_where_users_can_interfere) {
    fs::create_directory(homes_);
    ::chmod(homes_.c_str(), 0777);
    expect_refused(Code::conflict, "can be changed by others than root");
    ::chmod(homes_.c_str(), 0755);
    ASSERT_EQ(::chown(homes_.c_str(), ann, 0), 0);
    expect_refused(Code::conflict, "can be changed by others than root");
}

TEST_F(HomesTest, makes_no_path_to_the_homes) {
    const Result<void> made = make_home(directory_.file("not/there/home"), "ann", ann, skeleton_);
    EXPECT_FALSE(made.ok());
    EXPECT_FALSE(fs::exists(directory_.file("not")));
}

TEST_F(HomesTest, takes_no_login_that_leads_elsewhere) {
    for (const char* login : {"..", "", "a/b", ".x"})
        EXPECT_FALSE(make_home(homes_, login, ann, skeleton_).ok());
}

TEST_F(HomesTest, needs_no_skeleton) {
    EXPECT_TRUE(make_home(homes_, "bob", ann, directory_.file("none")).ok());
}

}  // namespace
}  // namespace llmgw
