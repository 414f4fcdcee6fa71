#include "posix/untrusted_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t most = 100;

class UntrustedFile : public testing::Test {
  protected:
    Result<std::string> read(const std::string& name) {
        return read_untrusted_file(directory_.path(), name, ::geteuid(), most);
    }
    void write(const std::string& name, const std::string& content) {
        std::ofstream(directory_.file(name)) << content;
    }
    test::TemporaryDirectory directory_;
};

TEST_F(UntrustedFile, is_read_up_to_the_limit) {
    write("a", "content");
    EXPECT_EQ(read("a").value(), "content");
    write("b", std::string(most, 'x'));
    EXPECT_EQ(read("b").value(), std::string(most, 'x'));
    write("c", std::string(most + 1, 'x'));
    EXPECT_EQ(read("c").error().code, Code::too_large);
    write("d", "");
    EXPECT_EQ(read("d").value(), "");
    EXPECT_EQ(read("none").error().code, Code::missing);
}

TEST_F(UntrustedFile, is_no_link) {
    fs::create_symlink("/etc/shadow", directory_.file("link"));
    EXPECT_EQ(read("link").error().code, Code::denied);
    write("a", "content");
    fs::create_hard_link(directory_.file("a"), directory_.file("b"));
    EXPECT_EQ(read("a").error(), (Error{Code::denied, directory_.file("a") + " has several names"}));
    fs::create_directory_symlink(directory_.path(), directory_.file("directory"));
    EXPECT_EQ(read_untrusted_file(directory_.file("directory"), "a", ::geteuid(), most).error().code,
              Code::denied);
}

TEST_F(UntrustedFile, is_nothing_that_blocks) {
    ASSERT_EQ(::mkfifo(directory_.file("pipe").c_str(), 0600), 0);
    EXPECT_EQ(read("pipe").error(),
              (Error{Code::denied, directory_.file("pipe") + " is not a regular file"}));
    EXPECT_EQ(read(".").error().code, Code::denied);
}

TEST_F(UntrustedFile, belongs_to_who_wrote_it) {
    write("a", "content");
    EXPECT_EQ(read_untrusted_file(directory_.path(), "a", ::geteuid() + 1, most).error().code, Code::denied);
}

TEST_F(UntrustedFile, is_in_a_directory_that_only_its_owner_uses) {
    const Result<std::string> made =
        make_directory_for(directory_.path(), ::geteuid() == 0 ? 65534 : ::geteuid());
    ASSERT_TRUE(made) << made.error().message;
    struct stat status {};
    ASSERT_EQ(::stat(made.value().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700U);
    EXPECT_EQ(status.st_uid, ::geteuid() == 0 ? 65534U : ::geteuid());
    EXPECT_NE(make_directory_for(directory_.path(), ::geteuid()).value(), made.value());
}

TEST_F(UntrustedFile, goes_without_what_a_link_in_the_tree_points_to) {
    fs::create_directories(directory_.file("tree/sub"));
    fs::create_directory(directory_.file("outside"));
    write("outside/kept", "yes");
    fs::create_directory_symlink(directory_.file("outside"), directory_.file("tree/link"));
    ASSERT_TRUE(empty_directory(directory_.file("tree")));
    EXPECT_TRUE(fs::is_empty(directory_.file("tree")));
    EXPECT_TRUE(fs::exists(directory_.file("outside/kept")));
    ASSERT_TRUE(remove_tree(directory_.file("tree")));
    EXPECT_FALSE(fs::exists(directory_.file("tree")));
    EXPECT_TRUE(remove_tree(directory_.file("tree")));
    EXPECT_TRUE(empty_directory(directory_.file("tree")));
}

}  // namespace
}  // namespace llmgw
