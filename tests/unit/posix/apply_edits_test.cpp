#include "posix/apply_edits.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/limits.hpp"
#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

namespace fs = std::filesystem;

class ApplyEdits : public testing::Test {
  protected:
    [[nodiscard]] std::string at(const std::string& name) const { return directory_.file(name); }
    void put(const std::string& name, const std::string& text, mode_t mode = 0644) const {
        std::ofstream(at(name), std::ios::binary) << text;
        ::chmod(at(name).c_str(), mode);
    }
    [[nodiscard]] std::string text(const std::string& name) const {
        Result<std::string> read = read_file(at(name), limits::edited_file_bytes);
        return read ? std::move(read).value() : "(" + read.error().message + ")";
    }
    [[nodiscard]] struct stat status(const std::string& name) const {
        struct stat status {};
        EXPECT_EQ(::lstat(at(name).c_str(), &status), 0) << name;
        return status;
    }
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_.path()), {}));
    }
    [[nodiscard]] FileEdit edit(const std::string& name, std::optional<std::string> before,
                                std::optional<std::string> after) const {
        return {at(name), std::move(before), std::move(after), 0644, false};
    }
    static void done(const FileEdits& edits) {
        const Result<void> result = apply_edits(edits);
        EXPECT_TRUE(result.ok()) << result.error().message;
    }
    static Error refused(const FileEdits& edits) {
        const Result<void> result = apply_edits(edits);
        EXPECT_FALSE(result.ok());
        return result ? Error{} : result.error();
    }
    test::TemporaryDirectory directory_;
};

TEST_F(ApplyEdits, make_replace_and_remove) {
    put("replaced", "old");
    put("removed", "old");
    done({edit("made", std::nullopt, "new"), edit("replaced", "old", "new"),
          edit("removed", "old", std::nullopt)});
    EXPECT_EQ(text("made"), "new");
    EXPECT_EQ(text("replaced"), "new");
    EXPECT_EQ(entries(), 2U);
}

TEST_F(ApplyEdits, may_change_a_file_twice) {
    done({edit("a", std::nullopt, "1"), edit("b", std::nullopt, "1"), edit("a", "1", "2")});
    EXPECT_EQ(text("a"), "2");
}

TEST_F(ApplyEdits, have_modes_of_their_own_whatever_the_umask) {
    const mode_t mask = ::umask(0077);
    FileEdit made = edit("made", std::nullopt, "new");
    made.mode = 0755;
    done({made});
    ::umask(mask);
    EXPECT_EQ(status("made").st_mode & 07777, 0755U);
}

TEST_F(ApplyEdits, keep_owner_mode_and_attributes) {
    put("file", "old", 0640);
    if (::geteuid() == 0 && ::chown(at("file").c_str(), 1234, 4321) != 0) FAIL();
    // An access list as setfacl writes it: version 2, then owner, user 1001, group, mask, others.
    const unsigned char list[] = {2, 0,   0,   0,   1,   0,   6,  0, 255, 255, 255, 255, 2,   0,  4,
                                  0, 233, 3,   0,   0,   4,   0,  4, 0,   255, 255, 255, 255, 16, 0,
                                  4, 0,   255, 255, 255, 255, 32, 0, 0,   0,   255, 255, 255, 255};
    const bool lists = ::setxattr(at("file").c_str(), "system.posix_acl_access", list, sizeof list, 0) == 0;
    const struct stat before = status("file");
    done({edit("file", "old", "new")});
    const struct stat after = status("file");
    EXPECT_EQ(after.st_mode, before.st_mode);
    EXPECT_EQ(after.st_uid, before.st_uid);
    EXPECT_EQ(after.st_gid, before.st_gid);
    unsigned char now[sizeof list] = {};
    if (lists) {
        EXPECT_EQ(::getxattr(at("file").c_str(), "system.posix_acl_access", now, sizeof now),
                  static_cast<ssize_t>(sizeof list));
        EXPECT_TRUE(std::equal(std::begin(list), std::end(list), std::begin(now)));
    }
}

TEST_F(ApplyEdits, replace_the_file_and_do_not_write_into_it) {
    put("file", "old");
    const int reader = ::open(at("file").c_str(), O_RDONLY | O_CLOEXEC);
    done({edit("file", "old", "newer")});
    char text[8] = {};
    EXPECT_EQ(::read(reader, text, sizeof text), 3) << "who has it open goes on reading the old one";
    ::close(reader);
}

TEST_F(ApplyEdits, refuse_what_somebody_changed_meanwhile) {
    put("file", "other");
    EXPECT_EQ(refused({edit("file", "old", "new")}),
              (Error{Code::conflict, at("file") + " was changed by somebody else meanwhile; try again"}));
    EXPECT_EQ(refused({edit("file", std::nullopt, "new")}).code, Code::conflict);
    EXPECT_EQ(refused({edit("none", "old", "new")}).code, Code::conflict);
    EXPECT_EQ(refused({edit("none", "old", std::nullopt)}).code, Code::conflict);
    EXPECT_EQ(text("file"), "other");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(ApplyEdits, write_through_no_link) {
    put("target", "old");
    fs::create_symlink("target", at("link"));
    EXPECT_EQ(refused({edit("link", "old", "new")}),
              (Error{Code::conflict, at("link") + " is a symbolic link, through which nothing is written"}));
    fs::create_symlink("none", at("dangling"));
    EXPECT_EQ(refused({edit("dangling", std::nullopt, "new")}).code, Code::conflict);
    EXPECT_EQ(refused({edit("link", "old", std::nullopt)}).code, Code::conflict);
    EXPECT_EQ(text("target"), "old");
}

TEST_F(ApplyEdits, take_only_files) {
    fs::create_directory(at("directory"));
    EXPECT_EQ(refused({edit("directory", std::nullopt, "new")}).message,
              at("directory") + " is not a regular file");
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0644), 0);
    EXPECT_EQ(refused({edit("pipe", "", "new")}).code, Code::conflict);
    EXPECT_EQ(refused({{"relative", std::nullopt, "x", 0644, false}}).code, Code::invalid);
    EXPECT_EQ(refused({{at("directory") + "/", std::nullopt, "x", 0644, false}}).code, Code::invalid);
}

TEST_F(ApplyEdits, read_a_file_to_its_limit) {
    const std::string most(limits::edited_file_bytes, 'x');
    put("file", most);
    done({edit("file", most, "new")});
    put("file", most + "x");
    EXPECT_EQ(refused({edit("file", most + "x", "new")}).code, Code::too_large);
}

TEST_F(ApplyEdits, make_a_directory_only_when_asked_to) {
    FileEdit made = edit("d/file", std::nullopt, "new");
    EXPECT_EQ(refused({made}).code, Code::missing);
    made.make_directory = true;
    done({made});
    EXPECT_EQ(text("d/file"), "new");
    EXPECT_EQ(status("d").st_mode & 07777, 0755U);
    done({edit("none/file", std::nullopt, std::nullopt)});
}

TEST_F(ApplyEdits, leave_nothing_of_a_helper_that_was_killed) {
    put(".file.llmgw-new", "half");
    done({edit("file", std::nullopt, "new")});
    EXPECT_EQ(entries(), 1U);
    put(".file.llmgw-new", "half");
    done({edit("file", "new", std::nullopt)});
    EXPECT_EQ(entries(), 0U);
    // What is in the way is not followed.
    fs::create_symlink(at("victim"), at(".file.llmgw-new"));
    done({edit("file", std::nullopt, "new")});
    EXPECT_FALSE(fs::exists(at("victim")));
    EXPECT_FALSE(fs::is_symlink(at("file")));
}

TEST_F(ApplyEdits, undo_what_was_done_when_one_fails) {
    put("replaced", "old", 0600);
    put("removed", "old", 0640);
    put("changed", "other");
    const ino_t untouched = status("changed").st_ino;
    const Error error = refused({edit("made", std::nullopt, "new"), edit("replaced", "old", "new"),
                                 edit("removed", "old", std::nullopt), edit("replaced", "new", "newer"),
                                 edit("changed", "old", "new"), edit("never", std::nullopt, "new")});
    EXPECT_EQ(error.message, at("changed") + " was changed by somebody else meanwhile; try again");
    EXPECT_EQ(text("replaced"), "old");
    EXPECT_EQ(status("replaced").st_mode & 07777, 0600U);
    EXPECT_EQ(text("removed"), "old");
    EXPECT_EQ(status("removed").st_mode & 07777, 0640U);
    EXPECT_EQ(status("changed").st_ino, untouched);
    EXPECT_EQ(entries(), 3U);
}

class OnSmallDisk : public ApplyEdits {
  protected:
    void SetUp() override {
        if (::geteuid() != 0 || ::mount("none", directory_.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
            GTEST_SKIP() << "mounting needs root";
        }
        mounted_ = true;
    }
    void TearDown() override {
        if (mounted_) ::umount2(directory_.path().c_str(), MNT_DETACH);
    }
    bool mounted_ = false;
};

TEST_F(OnSmallDisk, a_full_disk_leaves_everything_as_it_was) {
    put("file", "old");
    const Error error =
        refused({edit("made", std::nullopt, "new"), edit("file", "old", std::string(128 * 1024, 'x'))});
    EXPECT_EQ(error.message, "cannot write " + at("file") + ": No space left on device");
    EXPECT_EQ(text("file"), "old");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(OnSmallDisk, a_read_only_one_is_said) {
    put("file", "old");
    ASSERT_EQ(::mount("none", directory_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
    const Error error = refused({edit("file", "old", "new")});
    EXPECT_EQ(error,
              (Error{Code::denied, "cannot create a file beside " + at("file") + ": Read-only file system"}));
}

}  // namespace
}  // namespace llmgw
