#include "leader/report_store.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "core/limits.hpp"
#include "json/report_json.hpp"
#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

MachineReport report(const std::string& name, const std::string& reason = "r") {
    return json::read_report(report_of(name, reason)).value();
}

struct ReportStoreTest : testing::Test {
    test::TemporaryDirectory directory;
    std::int64_t now = 2'000'000'000;
    std::vector<std::string> skipped;
    std::unique_ptr<ReportStore> store;

    void open() {
        skipped.clear();
        Result<std::unique_ptr<ReportStore>> opened = ReportStore::open(
            directory.path(), [this] { return now; }, skipped);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        store = std::move(opened).value();
    }
    std::string file(const std::string& name) const { return directory.file("machines/" + name + ".json"); }
    KnownMachines known() const { return json::read_machines(*store->body().text).value(); }
};

TEST_F(ReportStoreTest, PassesOverFilesThatAreNone) {
    std::filesystem::create_directories(directory.file("machines/dir.json"));
    write_text(file("n1"), report_of("n2"));
    write_text(file("n3"), "{");
    write_text(file(".hidden"), report_of("n4"));
    write_text(directory.file("machines/n5.json.backup~"), report_of("n5"));
    write_text(file("n6"), report_of("n6"));
    open();
    EXPECT_EQ(skipped.size(), 5U);
    ASSERT_EQ(known().machines.size(), 1U);
    EXPECT_EQ(known().machines[0].report.name, "n6");
}

TEST_F(ReportStoreTest, ClearsAwayWhatASuddenDeathLeft) {
    std::filesystem::create_directories(directory.file("machines"));
    const std::string left = directory.file("machines/n5.json.aB3xYz");
    write_text(left, report_of("n5").substr(0, 20));
    open();
    EXPECT_TRUE(skipped.empty());
    EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(ReportStoreTest, KeepsReportsOverARestart) {
    open();
    EXPECT_TRUE(store->put(report("n1")).value());
    EXPECT_TRUE(store->put(report("n2")).value());
    const std::uint64_t before = store->revision();
    open();
    EXPECT_GT(store->revision(), before);
    ASSERT_EQ(known().machines.size(), 2U);
    EXPECT_EQ(known().machines[1].report, report("n2"));
    EXPECT_LE(known().machines[0].received, now);
}

TEST_F(ReportStoreTest, TakesARepeatedReportForASignOfLifeOnly) {
    open();
    EXPECT_TRUE(store->put(report("n1")).value());
    const std::uint64_t revision = store->revision();
    struct stat first {};
    ::stat(file("n1").c_str(), &first);
    now += 30;
    EXPECT_FALSE(store->put(report("n1")).value());
    struct stat second {};
    ::stat(file("n1").c_str(), &second);
    EXPECT_EQ(first.st_ino, second.st_ino) << "it was written again";
    EXPECT_EQ(store->revision(), revision);
    EXPECT_EQ(known().machines[0].received, now);
    EXPECT_TRUE(store->put(report("n1", "other")).value());
    EXPECT_GT(store->revision(), revision);
    EXPECT_EQ(json::read_report(text_in(file("n1"))).value().reason, "other");
}

TEST_F(ReportStoreTest, TellsWhenMachinesFallSilentAndComeBack) {
    open();
    ASSERT_TRUE(store->put(report("n1")).ok());
    const std::uint64_t revision = store->revision();
    now += limits::report_silent_after.count();
    EXPECT_FALSE(store->notice_silence().value());
    now += 1;
    EXPECT_TRUE(store->notice_silence().value());
    EXPECT_FALSE(store->notice_silence().value());
    EXPECT_EQ(store->revision(), revision + 1);
    EXPECT_TRUE(store->put(report("n1")).value()) << "it is back, although it says what it said";
    EXPECT_EQ(store->revision(), revision + 2);
}

TEST_F(ReportStoreTest, ForgetsForGood) {
    open();
    EXPECT_EQ(store->forget("n1").error().code, Code::missing);
    ASSERT_TRUE(store->put(report("n1")).ok());
    EXPECT_TRUE(store->forget("n1").ok());
    EXPECT_TRUE(known().machines.empty());
    open();
    EXPECT_TRUE(known().machines.empty());
}

TEST_F(ReportStoreTest, KeepsWhatItHasWhenTheDiskFails) {
    open();
    ASSERT_TRUE(store->put(report("n1")).ok());
    std::filesystem::rename(directory.file("machines"), directory.file("away"));
    EXPECT_FALSE(store->put(report("n1", "other")).ok());
    EXPECT_EQ(known().machines[0].report.reason, "r");
    EXPECT_FALSE(store->put(report("n1")).value()) << "a sign of life needs no disk";
}

TEST_F(ReportStoreTest, HoldsAsManyMachinesAsItsLimitAndNoMore) {
    std::filesystem::create_directories(directory.file("machines"));
    for (std::size_t i = 0; i < limits::machines; ++i) {
        const std::string name = "n" + std::to_string(i);
        write_text(file(name), report_of(name));
    }
    open();
    EXPECT_TRUE(skipped.empty());
    EXPECT_EQ(store->put(report("more")).error().code, Code::too_large);
    EXPECT_TRUE(store->put(report("n7", "other")).value());
    const ReportStore::Body body = store->body();
    EXPECT_LT(body.text->size(), limits::answer_bytes);
    EXPECT_EQ(json::read_machines(*body.text).value().machines.size(), limits::machines);
    EXPECT_TRUE(store->forget("n8").ok());
    EXPECT_TRUE(store->put(report("more")).value());
}

}  // namespace
}  // namespace llmgw::leader
