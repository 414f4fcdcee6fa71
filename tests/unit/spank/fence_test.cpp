// On a node that is not lent no job starts: refused in the prolog, and in each step.
#include "fence.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "core/lending_record.hpp"
#include "fake_spank.hpp"
#include "posix/file.hpp"
#include "unit/temporary.hpp"

extern "C" int slurm_spank_init(spank_t, int, char**);
extern "C" int slurm_spank_job_prolog(spank_t, int, char**);
extern "C" int slurm_spank_task_init(spank_t, int, char**);

namespace llmgw {
namespace {

using testing::ExitedWithCode;

class Fence : public testing::Test {
  protected:
    void SetUp() override {
        fake::reset();
        words_ = {"state_dir=" + directory.path(), "run_dir=" + directory.path()};
        ::setenv("SLURM_JOB_ID", "4711", 1);
    }
    void TearDown() override { ::unsetenv("SLURM_JOB_ID"); }

    void write(const std::string& text) {
        ASSERT_TRUE(
            write_file_atomically(directory.path() + "/lending", text, 0644, Durability::volatile_).ok());
    }
    void write(LendingPhase phase, bool closing = false, bool fence = true) {
        LendingRecord record;
        record.phase = phase;
        record.closing = closing;
        record.fence = fence;
        write(format_lending_record(record));
    }
    int call(int (*entry)(spank_t, int, char**)) {
        std::vector<char*> words;
        for (std::string& word : words_) words.push_back(word.data());
        words.push_back(nullptr);
        return entry(fake::handle(), static_cast<int>(words_.size()), words.data());
    }
    [[noreturn]] void run_step() {
        call(slurm_spank_init);
        call(slurm_spank_task_init);
        ::_exit(0);
    }
    // Without the directory there is no helper to wait for.
    void with_helper() { ASSERT_TRUE(make_directories(directory.path() + "/fence", 0755).ok()); }
    [[nodiscard]] std::string request(const char* job = "4711") const {
        return directory.path() + "/fence/" + job;
    }

    test::TemporaryDirectory directory;

  private:
    std::vector<std::string> words_;
};

TEST_F(Fence, stops_steps_on_a_node_that_is_not_lent) {
    for (const LendingPhase phase :
         {LendingPhase::gateway, LendingPhase::asking, LendingPhase::checking, LendingPhase::handing_back}) {
        write(phase);
        EXPECT_EXIT(run_step(), ExitedWithCode(1), "step refused on this node: this node is llmgw's now")
            << text_of(phase);
    }
    write(LendingPhase::emptying, true);
    EXPECT_EXIT(run_step(), ExitedWithCode(1), "step refused");
}

TEST_F(Fence, stops_steps_where_it_cannot_tell) {
    for (const char* text : {"", "phase slurm", "llmgw-slurm-lending 2\nphase slurm\nend\n"}) {
        write(text);
        EXPECT_EXIT(run_step(), ExitedWithCode(1), "lending can't be used") << text;
    }
    write(LendingPhase::slurm);
    ASSERT_EQ(::chmod((directory.path() + "/lending").c_str(), 0666), 0);
    EXPECT_EXIT(run_step(), ExitedWithCode(1), "lending can't be used");
}

TEST_F(Fence, is_open_on_a_node_that_is_slurms_or_takes_no_part) {
    EXPECT_EXIT(run_step(), ExitedWithCode(0), "^$");
    write(LendingPhase::slurm);
    EXPECT_EXIT(run_step(), ExitedWithCode(0), "^$");
    write(LendingPhase::emptying);
    EXPECT_EXIT(run_step(), ExitedWithCode(0), "^$");
    write(LendingPhase::gateway, false, false);
    EXPECT_EXIT(run_step(), ExitedWithCode(0), "^$");
    EXPECT_EQ(call(slurm_spank_job_prolog), 0);
}

TEST_F(Fence, holds_a_step_back_until_the_helper_has_sent_its_job_away) {
    with_helper();
    write(LendingPhase::gateway);
    std::thread helper([this] {
        ASSERT_TRUE(test::eventually([this] { return ::access(request("7").c_str(), F_OK) == 0; }));
        ::unlink(request("7").c_str());
    });
    EXPECT_EXIT(run_step(), ExitedWithCode(1), "step refused");
    helper.join();
}

TEST_F(Fence, holds_a_job_back_until_the_helper_has_sent_it_away) {
    with_helper();
    write(LendingPhase::gateway);
    std::thread helper([this] {
        ASSERT_TRUE(test::eventually([this] { return ::access(request().c_str(), F_OK) == 0; }));
        ::unlink(request().c_str());
    });
    EXPECT_EXIT(
        {
            call(slurm_spank_job_prolog);
            ::_exit(0);
        },
        ExitedWithCode(1), "job 4711 is not started: this node is llmgw's");
    helper.join();
}

TEST_F(Fence, lets_a_job_go_on_whose_node_has_become_slurms_meanwhile) {
    with_helper();
    write(LendingPhase::checking);
    std::thread helper([this] {
        ASSERT_TRUE(test::eventually([this] { return ::access(request().c_str(), F_OK) == 0; }));
        write(LendingPhase::slurm);
        ::unlink(request().c_str());
    });
    EXPECT_EQ(call(slurm_spank_job_prolog), 0);
    helper.join();
}

}  // namespace
}  // namespace llmgw
