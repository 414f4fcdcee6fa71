#include "leader/settings_store.hpp"

#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

struct Store : testing::Test {
    test::TemporaryDirectory directory;
    std::string file = directory.file("settings.json");
    std::unique_ptr<SettingsStore> store;

    void open() {
        Result<std::unique_ptr<SettingsStore>> opened = SettingsStore::open(directory.path());
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        store = std::move(opened).value();
    }
    std::string served() const { return *store->now().body; }
};
using SettingsStoreTest = Store;

TEST_F(SettingsStoreTest, AreOffWhereThereAreNone) {
    open();
    EXPECT_EQ(served(), R"({"revision":1,"settings":{"enabled":false}})");
    EXPECT_EQ(store->problem(), "");
}

TEST_F(SettingsStoreTest, AreOffWhereTheFirstOnesAreWrong) {
    write_text(file, R"({"enabled": true})");
    open();
    EXPECT_TRUE(has(served(), R"("settings":{"enabled":false},"problem":")")) << served();
    EXPECT_TRUE(has(store->problem(), "controller")) << store->problem();
}

TEST_F(SettingsStoreTest, StayTheLastGoodOnesWhileTheFileIsWrong) {
    write_text(file, some_settings);
    open();
    const std::uint64_t before = store->now().revision;
    for (const std::string wrong :
         {"{", "", R"({"enabled":true,"controller":"n1","lent":["n9"]})", R"({"enabled":1})"}) {
        write_text(file, wrong);
        EXPECT_TRUE(store->reload().value()) << wrong;
        EXPECT_FALSE(store->reload().value()) << wrong;
        EXPECT_TRUE(has(served(), R"("lent":["n2"]})")) << served();
        EXPECT_TRUE(has(served(), "the last good settings stay in force")) << served();
    }
    EXPECT_GT(store->now().revision, before);
    EXPECT_EQ(text_in(file), R"({"enabled":1})") << "the admin's work is theirs to correct";
    open();  // also over a restart
    EXPECT_TRUE(has(served(), R"("lent":["n2"]})")) << served();
    EXPECT_TRUE(has(served(), "problem"));
    write_text(file, some_settings);
    EXPECT_TRUE(store->reload().value());
    EXPECT_FALSE(has(served(), "problem"));
}

TEST_F(SettingsStoreTest, SayAllErrorsAtOnce) {
    write_text(file, R"({"enabled":true,"controler":"n1","nodes":["n1","n1"]})");
    open();
    EXPECT_TRUE(has(store->problem(), "controler")) << store->problem();
    EXPECT_TRUE(has(store->problem(), "nodes[1]")) << store->problem();
}

TEST_F(SettingsStoreTest, StayWhenTheFileGoesAwayOrCannotBeRead) {
    write_text(file, some_settings);
    open();
    std::filesystem::remove(file);
    EXPECT_TRUE(store->reload().value());
    EXPECT_TRUE(has(served(), R"("lent":["n2"]},"problem":)")) << served();
    std::filesystem::create_directory(file);
    EXPECT_TRUE(store->reload().value());
    EXPECT_TRUE(has(store->problem(), "not a regular file"));
    std::filesystem::remove(file);
    write_text(file, std::string(2 * 1024 * 1024, ' '));
    EXPECT_TRUE(store->reload().value());
    EXPECT_TRUE(has(store->problem(), "bytes")) << store->problem();
}

TEST_F(SettingsStoreTest, GetARevisionPerChangeAndPerStart) {
    write_text(file, some_settings);
    open();
    EXPECT_EQ(store->now().revision, 1U);
    EXPECT_FALSE(store->reload().value());
    EXPECT_EQ(store->now().revision, 1U);
    write_text(file, R"({"enabled":false,"controller":"n1"})");
    EXPECT_TRUE(store->reload().value());
    EXPECT_EQ(served(), R"({"revision":2,"settings":{"enabled":false,"controller":"n1"}})");
    open();
    EXPECT_EQ(store->now().revision, 3U);
}

TEST_F(SettingsStoreTest, PickUpAnEditBeforeTheyArePatched) {
    write_text(file, some_settings);
    open();
    write_text(file, "{");
    const auto wrong = store->patch({{"n1"}, {}, {}}, {});
    ASSERT_TRUE(wrong.has_value());
    EXPECT_EQ(wrong->code, Code::conflict);
    EXPECT_EQ(text_in(file), "{");
    write_text(file, R"({"enabled":true,"controller":"n1","nodes":["n7"]})");
    EXPECT_FALSE(store->patch({{"n7"}, {}, {}}, {}).has_value());
    EXPECT_TRUE(has(served(), R"("nodes":["n7"],"lent":["n7"]})")) << served();
}

TEST_F(SettingsStoreTest, AreNotPatchedIntoSomethingWrong) {
    write_text(file, some_settings);
    open();
    const auto refusal = store->patch({{"n8", "n9"}, {}, {}}, {});
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->code, Code::invalid);
    EXPECT_EQ(refusal->errors.size(), 2U);
    EXPECT_EQ(text_in(file), some_settings);
    EXPECT_EQ(store->now().revision, 1U);
}

TEST_F(SettingsStoreTest, AreNotPatchedBySomeoneWhoSawOlderOnes) {
    write_text(file, some_settings);
    open();
    EXPECT_FALSE(store->patch({{"n1"}, {}, {}}, 1).has_value());
    const auto refusal = store->patch({{}, {"n1"}, {}}, 1);
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->code, Code::conflict);
    EXPECT_TRUE(has(text_in(file), "n1"));
}

TEST_F(SettingsStoreTest, AreNotWrittenWhenNothingChanges) {
    write_text(file, some_settings);
    open();
    EXPECT_FALSE(store->patch({{"n2"}, {"n3"}, {}}, {}).has_value());
    EXPECT_EQ(text_in(file), some_settings);
    EXPECT_EQ(store->now().revision, 1U);
}

TEST_F(SettingsStoreTest, SurviveADirectoryThatCannotBeWritten) {
    write_text(file, some_settings);
    open();
    write_text(file, R"({"enabled":false})");
    // A directory in its place: the counter can't be replaced.
    std::filesystem::remove(directory.file("revision.settings"));
    std::filesystem::create_directories(directory.file("revision.settings/x"));
    EXPECT_FALSE(store->reload().ok());
    EXPECT_TRUE(has(served(), "n2")) << "what can't be counted is not served";
    std::filesystem::remove_all(directory.file("revision.settings"));
    EXPECT_TRUE(store->reload().value());
    EXPECT_EQ(served(), R"({"revision":2,"settings":{"enabled":false}})");
}

}  // namespace
}  // namespace llmgw::leader
