// The gate file in memory: never a content that is not there, never one that can't be trusted.
#include "gate_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "core/limits.hpp"

namespace llmgw::gate {
namespace {

class GateFiles : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "llmgw-gate-file-XXXXXX";
        directory_ = ::mkdtemp(name.data());
        path_ = directory_ + "/gate";
        gate_ = std::make_unique<GateFile>(path_);
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }
    void write(const std::string& text, mode_t mode = 0644) const {
        ASSERT_TRUE(write_file_atomically(path_, text, mode, Durability::volatile_));
    }
    void write_open(std::uint64_t revision) const {
        write(format_gate_state({true, revision, false, "open"}));
    }
    // A good content is in memory before; it must not outlive the file.
    void expect_error(const std::string& what) {
        const auto state = gate_->state();
        ASSERT_FALSE(*state);
        EXPECT_NE(state->error().message.find(what), std::string::npos) << state->error().message;
    }
    std::string directory_;
    std::string path_;
    std::unique_ptr<GateFile> gate_;
};

class UntrustedGateFile : public GateFiles {
  protected:
    void SetUp() override {
        GateFiles::SetUp();
        write_open(1);
        ASSERT_TRUE(*gate_->state());
    }
};

TEST_F(UntrustedGateFile, that_is_missing) {
    std::filesystem::remove(path_);
    expect_error("No such file");
    write_open(2);
    EXPECT_EQ(gate_->state()->value().revision, 2U);
}

TEST_F(UntrustedGateFile, that_is_cut_off_anywhere) {
    const std::string good = format_gate_state({true, 1, false, "open"});
    for (std::size_t size = 0; size < good.size(); ++size) {
        write(good.substr(0, size));
        EXPECT_FALSE(*gate_->state()) << size;
    }
}

TEST_F(UntrustedGateFile, that_is_binary) {
    write(std::string("\0\xff\x01open\n", 8));
    expect_error(path_ + " is ");
}

TEST_F(UntrustedGateFile, that_is_past_the_limit) {
    const std::string good = format_gate_state({true, 1, false, "m"});
    const std::size_t header = good.find('\n') + 1;
    const auto of_size = [&](std::size_t size) {
        return good.substr(0, header) + "filler " + std::string(size - good.size() - 8, 'x') + "\n" +
               good.substr(header);
    };
    write(of_size(limits::state_file_bytes));
    EXPECT_TRUE(*gate_->state());
    write(of_size(limits::state_file_bytes + 1));
    expect_error("has more than");
    write(of_size(10 << 20));
    expect_error("has more than");
}

TEST_F(UntrustedGateFile, that_is_a_directory) {
    std::filesystem::remove(path_);
    std::filesystem::create_directory(path_);
    expect_error("not a regular file");
}

TEST_F(UntrustedGateFile, that_is_a_pipe_without_waiting) {
    std::filesystem::remove(path_);
    ASSERT_EQ(::mkfifo(path_.c_str(), 0644), 0);
    expect_error("not a regular file");
}

TEST_F(UntrustedGateFile, that_is_a_link) {
    std::filesystem::rename(path_, directory_ + "/elsewhere");
    std::filesystem::create_symlink(directory_ + "/elsewhere", path_);
    expect_error("cannot open");
}

TEST_F(UntrustedGateFile, that_belongs_to_another_user) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
    expect_error("belongs to user 65534");
    ASSERT_EQ(::chown(path_.c_str(), 0, 0), 0);
    EXPECT_TRUE(*gate_->state());
}

TEST_F(UntrustedGateFile, that_others_may_write) {
    for (const mode_t mode : {0664, 0646, 0666}) {
        ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
        expect_error("can be written by others");
    }
    ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
    EXPECT_TRUE(*gate_->state());
}

TEST_F(GateFiles, are_read_once_as_long_as_they_are_the_same) {
    write_open(1);
    const auto first = gate_->state();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(gate_->state(), first);
    write("garbage");
    const auto garbage = gate_->state();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(gate_->state(), garbage);
}

TEST_F(GateFiles, are_seen_as_soon_as_renamed_into_place) {
    for (std::uint64_t revision = 1; revision <= 200; ++revision) {
        const bool open = revision % 2 == 0;
        write(format_gate_state({open, revision, false, std::string(revision, 'm')}));
        const auto state = gate_->state();
        ASSERT_TRUE(*state);
        EXPECT_EQ(state->value().revision, revision);
        EXPECT_EQ(state->value().open, open);
    }
}

TEST_F(GateFiles, may_change_while_many_threads_read) {
    constexpr std::uint64_t changes = 1000;
    write_open(0);
    std::atomic<bool> done = false;
    std::atomic<unsigned> wrong = 0;
    std::vector<std::thread> readers;
    for (int i = 0; i < 8; ++i) {
        readers.emplace_back([&] {
            while (!done) {
                const auto state = gate_->state();
                const bool right = *state && state->value().open == (state->value().revision % 2 == 0);
                if (!right) ++wrong;
            }
        });
    }
    for (std::uint64_t revision = 1; revision < changes; ++revision) {
        write(format_gate_state({revision % 2 == 0, revision, false, "m"}));
    }
    write(format_gate_state({true, changes, false, "the last one"}));
    EXPECT_EQ(gate_->state()->value().revision, changes);
    done = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(gate_->state()->value().message, "the last one");
    EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace llmgw::gate
