#include "core/lending_record.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

LendingRecord a_record() {
    LendingRecord record;
    record.phase = LendingPhase::emptying;
    record.generation = 7;
    record.lease = "n1.7.4f2a";
    record.held = true;
    record.since = 1764540000;
    record.reclaim = Reclaim{1764541800, "requeue"};
    return record;
}

TEST(LendingRecord, is_read_as_it_was_written) {
    for (const LendingPhase phase :
         {LendingPhase::gateway, LendingPhase::asking, LendingPhase::checking, LendingPhase::slurm,
          LendingPhase::emptying, LendingPhase::handing_back}) {
        LendingRecord record = a_record();
        record.phase = phase;
        const Result<LendingRecord> read = parse_lending_record(format_lending_record(record));
        ASSERT_TRUE(read.ok());
        EXPECT_EQ(read.value(), record);
    }
    const Result<LendingRecord> first = parse_lending_record(format_lending_record(LendingRecord{}));
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first.value(), LendingRecord{});
}

TEST(LendingRecord, refuses_every_cut_and_every_foreign_word) {
    const std::string text = format_lending_record(a_record());
    for (std::size_t size = 0; size + 1 < text.size(); ++size)
        EXPECT_FALSE(parse_lending_record(text.substr(0, size)).ok()) << size;
    for (const auto& [from, to] : {std::pair{"phase emptying", "phase borrowed"},
                                   {"generation 7", "generation -7"},
                                   {"generation 7", "generation 7x"},
                                   {"held yes", "held maybe"},
                                   {"since 1764540000", "since today"},
                                   {"reclaim.then requeue", "reclaim.then shoot"},
                                   {"reclaim.deadline 1764541800", "x 1"},
                                   {"fence yes", "fence"},
                                   {"slurm-lending 1", "slurm-lending 2"}}) {
        std::string other = text;
        const std::size_t at = other.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        other.replace(at, std::string(from).size(), to);
        EXPECT_FALSE(parse_lending_record(other).ok()) << to;
    }
}

TEST(LendingRecord, admits_jobs_while_the_node_is_slurms_and_until_the_last_look) {
    const auto admits = [](LendingPhase phase, bool closing, bool fence) {
        LendingRecord record;
        record.phase = phase;
        record.closing = closing;
        record.fence = fence;
        return record.admits_jobs();
    };
    for (const LendingPhase phase :
         {LendingPhase::gateway, LendingPhase::asking, LendingPhase::checking, LendingPhase::handing_back}) {
        EXPECT_FALSE(admits(phase, false, true)) << text_of(phase);
        EXPECT_TRUE(admits(phase, false, false)) << text_of(phase);
    }
    EXPECT_FALSE(admits(LendingPhase::emptying, true, true));
    EXPECT_TRUE(admits(LendingPhase::emptying, false, true));
    EXPECT_TRUE(admits(LendingPhase::slurm, false, true));
}

}  // namespace
}  // namespace llmgw
