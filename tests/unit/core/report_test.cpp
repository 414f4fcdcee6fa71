#include "core/report.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

MachineReport good() {
    return {"n1", true, "pyxis 0.24.0, enroot 4.2.1", {{"pyxis", "0.24.0"}}, "b00t", "0.1.0", {}};
}

TEST(Report, RefusesNamesThatLeadElsewhere) {
    for (const std::string& name :
         {std::string(), std::string("../x"), std::string(".."), std::string("a/b"), std::string("-a"),
          std::string("a\0b", 3), std::string("a b"), std::string(64, 'a'), std::string("\xC3\xA4")}) {
        MachineReport report = good();
        report.name = name;
        EXPECT_FALSE(check_report(report).ok()) << name;
    }
}

TEST(Report, RefusesControlCharactersAnywhere) {
    for (std::string MachineReport::*const field :
         {&MachineReport::reason, &MachineReport::boot, &MachineReport::helper}) {
        MachineReport report = good();
        report.*field = "a\x1b[2J";
        EXPECT_EQ(check_report(report).error().code, Code::invalid);
    }
    MachineReport report = good();
    report.versions["slurm"] = "22\n05";
    EXPECT_EQ(check_report(report).error().code, Code::invalid);
    report = good();
    report.versions["sl urm"] = "22.05";
    EXPECT_EQ(check_report(report).error().code, Code::invalid);
}

TEST(Report, HoldsAtItsLimitsAndNotPastThem) {
    MachineReport report = good();
    report.name = std::string(63, 'a');
    report.reason = std::string(limits::message_bytes, 'r');
    report.boot = report.helper = std::string(limits::report_word_bytes, 'b');
    for (std::size_t i = report.versions.size(); i < limits::report_versions; ++i) {
        report.versions["v" + std::to_string(i)] = "1";
    }
    EXPECT_TRUE(check_report(report).ok());
    MachineReport larger = report;
    larger.reason += 'r';
    EXPECT_EQ(check_report(larger).error().code, Code::too_large);
    larger = report;
    larger.helper += 'r';
    EXPECT_EQ(check_report(larger).error().code, Code::too_large);
    larger = report;
    larger.versions["one"] = "more";
    EXPECT_EQ(check_report(larger).error().code, Code::too_large);
    larger = report;
    larger.reason.clear();
    EXPECT_EQ(check_report(larger).error().code, Code::invalid);
}

TEST(Report, IsSilentByTheLeadersClock) {
    EXPECT_FALSE(is_silent({good(), 1000}, 1090));
    EXPECT_TRUE(is_silent({good(), 1000}, 1091));
    EXPECT_FALSE(is_silent({good(), 1000}, 900));
}

TEST(Report, lending_has_a_known_phase_and_few_words) {
    MachineReport report = good();
    for (const std::string_view phase : lending_phases) {
        report.lending = LendingReport{std::string(phase), limits::lease_generation, 0, {}, false};
        EXPECT_TRUE(check_report(report).ok()) << phase;
    }
    report.lending->waiting.assign(limits::lending_waiting, std::string(limits::lending_waiting_bytes, 'w'));
    EXPECT_TRUE(check_report(report).ok());
    const auto refused = [&](const auto& change) {
        MachineReport wrong = report;
        change(*wrong.lending);
        return check_report(wrong).error().code;
    };
    EXPECT_EQ(refused([](LendingReport& lending) { lending.phase = "lent"; }), Code::invalid);
    EXPECT_EQ(refused([](LendingReport& lending) { lending.phase = ""; }), Code::invalid);
    EXPECT_EQ(refused([](LendingReport& lending) { ++lending.generation; }), Code::invalid);
    EXPECT_EQ(refused([](LendingReport& lending) { lending.since = -1; }), Code::invalid);
    EXPECT_EQ(refused([](LendingReport& lending) { lending.waiting.emplace_back("one more"); }),
              Code::too_large);
    EXPECT_EQ(refused([](LendingReport& lending) { lending.waiting[0] += 'w'; }), Code::too_large);
    EXPECT_EQ(refused([](LendingReport& lending) { lending.waiting[0] = "a\x1b[2J"; }), Code::invalid);
}

TEST(Report, users_are_numbers_in_order) {
    MachineReport report = good();
    for (const char* users : {"", "200000", "200000-200499,200501"}) {
        report.users = users;
        EXPECT_TRUE(check_report(report).ok()) << users;
    }
    for (const std::string& users : {std::string("x"), std::string("2,1"), std::string("200000\n"),
                                     "200000," + std::string(limits::report_users_bytes, '1')}) {
        report.users = users;
        EXPECT_FALSE(check_report(report).ok()) << users.substr(0, 20);
    }
}

}  // namespace
}  // namespace llmgw
