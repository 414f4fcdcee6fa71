#include "posix/file.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace llmgw {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "llmgw-file-XXXXXX";
        directory_ = ::mkdtemp(name.data());
    }
    void TearDown() override { fs::remove_all(directory_); }
    [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
    std::string put(const std::string& name, const std::string& content) const {
        std::ofstream(path(name), std::ios::binary) << content;
        return path(name);
    }
    static mode_t mode_of(const std::string& file) {
        struct stat status {};
        EXPECT_EQ(::stat(file.c_str(), &status), 0);
        return status.st_mode & 07777;
    }
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), {}));
    }
    std::string directory_;
};

using ReadFile = Files;
using ReadStateFile = Files;
using WriteFile = Files;
using Stamps = Files;
using MakeDirectories = Files;

TEST_F(ReadFile, tells_a_missing_file_from_others) {
    EXPECT_EQ(read_file(path("none"), 10).error().code, Code::missing);
    EXPECT_EQ(read_file(put("file", "x") + "/below", 10).error().code, Code::missing);
    EXPECT_EQ(read_file("", 10).error().code, Code::missing);
    EXPECT_EQ(read_file(path("none"), 10).error().message,
              "cannot open " + path("none") + ": No such file or directory");
}

TEST_F(ReadFile, refuses_what_is_no_file) {
    EXPECT_EQ(read_file(directory_, 10).error().code, Code::invalid);
    EXPECT_EQ(read_file("/dev/zero", 10).error().code, Code::invalid);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0644), 0);
    EXPECT_EQ(read_file(path("pipe"), 10).error().code, Code::invalid);
}

TEST_F(ReadFile, keeps_to_its_limit) {
    for (const std::size_t limit : {0, 1, 10, 16 * 1024, 16 * 1024 + 1, 100000}) {
        const std::string most(limit, 'x');
        EXPECT_EQ(read_file(put("file", most), limit).value(), most);
        EXPECT_EQ(read_file(put("file", most + "y"), limit).error().code, Code::too_large);
    }
}

// Their size is 0, whatever they hold.
TEST_F(ReadFile, keeps_to_its_limit_in_proc) {
    EXPECT_EQ(read_file("/proc/sys/kernel/random/boot_id", 37).value().size(), 37U);
    EXPECT_EQ(read_file("/proc/sys/kernel/random/boot_id", 36).error().code, Code::too_large);
}

TEST_F(ReadFile, gives_all_bytes_and_follows_links) {
    const std::string bytes("\0\xff\n\0", 4);
    fs::create_symlink(put("file", bytes), path("link"));
    EXPECT_EQ(read_file(path("link"), 10).value(), bytes);
}

TEST_F(ReadStateFile, refuses_a_link) {
    fs::create_symlink(put("file", "x"), path("link"));
    EXPECT_FALSE(read_state_file(path("link"), 10));
    EXPECT_TRUE(read_state_file(path("file"), 10));
}

TEST_F(ReadStateFile, refuses_one_that_others_can_write) {
    put("file", "x");
    for (const mode_t mode : {0620, 0602, 0666, 0777}) {
        ASSERT_EQ(::chmod(path("file").c_str(), mode), 0);
        EXPECT_EQ(read_state_file(path("file"), 10).error().code, Code::denied);
    }
    for (const mode_t mode : {0600, 0644, 0755}) {
        ASSERT_EQ(::chmod(path("file").c_str(), mode), 0);
        EXPECT_TRUE(read_state_file(path("file"), 10));
    }
}

TEST_F(ReadStateFile, refuses_another_users) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    put("file", "x");
    ASSERT_EQ(::chown(path("file").c_str(), 65534, 0), 0);
    EXPECT_EQ(read_state_file(path("file"), 10).error().code, Code::denied);
}

TEST_F(ReadStateFile, does_not_wait_for_a_pipes_writer) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0644), 0);
    EXPECT_EQ(read_state_file(path("pipe"), 10).error().code, Code::invalid);
}

TEST_F(ReadStateFile, has_the_stamp_of_what_was_read) {
    put("file", "x");
    EXPECT_EQ(read_state_file(path("file"), 10).value().stamp, stamp_of(path("file")).value());
}

TEST_F(WriteFile, has_its_mode_whatever_the_umask_is) {
    const mode_t before = ::umask(077);
    EXPECT_TRUE(write_file_atomically(path("open"), "x", 0644, Durability::volatile_));
    EXPECT_TRUE(write_file_atomically(path("secret"), "x", 0600, Durability::durable));
    ::umask(before);
    EXPECT_EQ(mode_of(path("open")), 0644U);
    EXPECT_EQ(mode_of(path("secret")), 0600U);
    EXPECT_EQ(entries(), 2U);
}

TEST_F(WriteFile, has_its_owner) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    ASSERT_TRUE(
        write_file_atomically(path("key"), "secret", 0400, Durability::durable, FileOwner{65534, 65533})
            .ok());
    struct stat status {};
    ASSERT_EQ(::stat(path("key").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 65534U);
    EXPECT_EQ(status.st_gid, 65533U);
    EXPECT_EQ(status.st_mode & 07777U, 0400U);
    EXPECT_EQ(read_file(path("key"), 100).value(), "secret");
}

TEST_F(WriteFile, replaces_and_leaves_nothing_beside) {
    for (const auto durability : {Durability::volatile_, Durability::durable}) {
        ASSERT_TRUE(write_file_atomically(path("file"), "old", 0644, durability));
        const std::ifstream reader(path("file"));
        ASSERT_TRUE(write_file_atomically(path("file"), std::string(100000, 'n'), 0600, durability));
        EXPECT_EQ(read_file(path("file"), 100000).value(), std::string(100000, 'n'));
        std::stringstream old;
        old << reader.rdbuf();
        EXPECT_EQ(old.str(), "old");
        EXPECT_EQ(mode_of(path("file")), 0600U);
    }
    EXPECT_EQ(entries(), 1U);
}

TEST_F(WriteFile, replaces_a_link_and_not_what_it_names) {
    fs::create_symlink(put("target", "kept"), path("link"));
    ASSERT_TRUE(write_file_atomically(path("link"), "new", 0644, Durability::volatile_));
    EXPECT_EQ(read_file(path("target"), 10).value(), "kept");
    EXPECT_FALSE(fs::is_symlink(path("link")));
}

TEST_F(WriteFile, fails_without_leaving_anything) {
    fs::create_directory(path("directory"));
    EXPECT_FALSE(write_file_atomically(path("directory"), "x", 0644, Durability::volatile_));
    EXPECT_EQ(write_file_atomically(path("none/file"), "x", 0644, Durability::volatile_).error().code,
              Code::missing);
    EXPECT_EQ(entries(), 1U);
}

TEST_F(WriteFile, keeps_the_old_content_when_the_disk_is_full) {
    fs::create_directory(path("small"));
    if (::mount("tmpfs", path("small").c_str(), "tmpfs", 0, "size=64k") != 0) {
        GTEST_SKIP() << "needs to mount a small file system";
    }
    const std::string file = path("small/file");
    EXPECT_TRUE(write_file_atomically(file, "old", 0644, Durability::durable));
    const Result<void> full =
        write_file_atomically(file, std::string(1 << 20, 'x'), 0644, Durability::durable);
    EXPECT_FALSE(full);
    EXPECT_EQ(full.error().message, "cannot write " + file + ": No space left on device");
    EXPECT_EQ(read_file(file, 10).value(), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(path("small")), {}), 1);
    EXPECT_EQ(::umount(path("small").c_str()), 0);
}

TEST_F(Stamps, change_with_the_file) {
    EXPECT_EQ(stamp_of(path("none")).error().code, Code::missing);
    const FileStamp first = stamp_of(put("file", "x")).value();
    EXPECT_EQ(stamp_of(path("file")).value(), first);
    put("other", "x");
    fs::rename(path("other"), path("file"));
    EXPECT_NE(stamp_of(path("file")).value(), first);
}

TEST_F(Stamps, are_of_what_a_link_names) {
    const FileStamp target = stamp_of(put("file", "x")).value();
    fs::create_symlink(path("file"), path("link"));
    EXPECT_EQ(stamp_of(path("link")).value(), target);
}

TEST_F(Stamps, have_a_text) {
    EXPECT_EQ((FileStamp{1, 2, 3, 4, 5}.text()), "1:2:3:4:5");
    EXPECT_EQ((FileStamp{~0ULL, 2, 3, -4, 5}.text()), "18446744073709551615:2:3:-4:5");
}

TEST_F(MakeDirectories, has_modes_whatever_the_umask_is) {
    const mode_t before = ::umask(077);
    EXPECT_TRUE(make_directories(path("a/b/c"), 01777));
    ::umask(before);
    EXPECT_EQ(mode_of(path("a")), 0755U);
    EXPECT_EQ(mode_of(path("a/b")), 0755U);
    EXPECT_EQ(mode_of(path("a/b/c")), 01777U);
}

TEST_F(MakeDirectories, takes_a_slash_at_the_end) {
    EXPECT_TRUE(make_directories(path("a/b/"), 0700));
    EXPECT_EQ(mode_of(path("a/b")), 0700U);
    EXPECT_TRUE(make_directories("/", 0755));
}

TEST_F(MakeDirectories, leaves_existing_ones_as_they_are) {
    fs::create_directory(path("a"));
    ASSERT_EQ(::chmod(path("a").c_str(), 0711), 0);
    EXPECT_TRUE(make_directories(path("a"), 0755));
    EXPECT_TRUE(make_directories(path("a/b"), 0755));
    EXPECT_EQ(mode_of(path("a")), 0711U);
}

TEST_F(MakeDirectories, refuses_what_is_no_directory) {
    put("file", "x");
    EXPECT_EQ(make_directories(path("file"), 0755).error().code, Code::invalid);
    EXPECT_FALSE(make_directories(path("file/below"), 0755));
    EXPECT_FALSE(make_directories("", 0755));
}

}  // namespace
}  // namespace llmgw
