#include "service/recorded_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/limits.hpp"
#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

class RecordedFiles : public testing::Test {
  protected:
    void put(const std::string& content, mode_t mode) const {
        ASSERT_TRUE(write_file_atomically(path_, content, mode, Durability::volatile_).ok());
    }
    [[nodiscard]] Result<void> write() const { return write_recorded(ledger_, {path_, "ours\n", 0644}); }

    test::TemporaryDirectory directory_;
    const std::string path_ = directory_.file("file");
    const LedgerStore ledger_{directory_.file("ledger.json")};
};

TEST_F(RecordedFiles, that_cannot_be_kept_are_left_alone) {
    const std::string large(limits::settings_bytes + 1, 'x');
    put(large, 0600);
    EXPECT_EQ(write().error().code, Code::too_large);
    EXPECT_EQ(std::filesystem::file_size(path_), large.size());
    EXPECT_TRUE(ledger_.read().value().empty());
}

TEST_F(RecordedFiles, come_back_with_their_content_and_mode) {
    put("the site's\n", 0600);
    ASSERT_TRUE(write().ok());
    EXPECT_EQ(machine_file_at(path_), (MachineFile{path_, "ours\n", 0644}));
    std::vector<std::string> left;
    ASSERT_TRUE(restore_recorded(ledger_, path_, left).ok());
    EXPECT_EQ(machine_file_at(path_), (MachineFile{path_, "the site's\n", 0600}));
    EXPECT_TRUE(left.empty());
}

TEST_F(RecordedFiles, that_somebody_changed_since_are_left_and_said) {
    ASSERT_TRUE(write().ok());
    put("changed\n", 0644);
    std::vector<std::string> left;
    ASSERT_TRUE(restore_recorded(ledger_, path_, left).ok());
    EXPECT_EQ(left, (std::vector<std::string>{path_ + " was left: it was changed since we wrote it"}));
    EXPECT_EQ(machine_file_at(path_), (MachineFile{path_, "changed\n", 0644}));
}

}  // namespace
}  // namespace llmgw::service
