#include "slurm/plugin_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "built_paths.hpp"
#include "core/limits.hpp"
#include "unit/temporary.hpp"

namespace llmgw::slurm {
namespace {

namespace fs = std::filesystem;

constexpr const char* no_slurm = "/nonexistent/libslurmfull.so";

std::string plugin(const std::string& kind) {
    return FAKE_PLUGINS "/" + kind + "/spank_pyxis.so";
}
Result<PluginFacts> inspected(const std::string& path) {
    return inspect_plugin(LLMGW_HELPER_PROGRAM, path, no_slurm);
}
std::string refusal(const std::string& path) {
    const Result<PluginFacts> facts = inspected(path);
    EXPECT_FALSE(facts.ok());
    return facts ? "" : facts.error().message;
}

TEST(InspectPlugin, gives_what_the_library_says_of_itself) {
    const Result<PluginFacts> facts = inspected(plugin("good"));
    ASSERT_TRUE(facts.ok()) << facts.error().message;
    EXPECT_EQ(facts.value(), (PluginFacts{"pyxis", "spank", 0x160508, "0.24.0"}));
}

TEST(InspectPlugin, leaves_empty_what_a_library_does_not_say) {
    const Result<PluginFacts> facts = inspected(plugin("other"));
    ASSERT_TRUE(facts.ok()) << facts.error().message;
    EXPECT_EQ(facts.value(), (PluginFacts{"lua", "job_submit", 0, ""}));
}

TEST(InspectPlugin, refuses_what_is_no_library) {
    const test::TemporaryDirectory directory;
    ::chmod(directory.path().c_str(), 0755);
    std::ofstream(directory.file("text.so")) << "no ELF";
    EXPECT_EQ(refusal(directory.file("text.so")),
              directory.file("text.so does not load: ") + directory.file("text.so: file too short"));
    std::ofstream(directory.file("long.so")) << std::string(10000, 'x');
    EXPECT_EQ(refusal(directory.file("long.so")),
              directory.file("long.so does not load: ") + directory.file("long.so: invalid ELF header"));
    EXPECT_NE(refusal(directory.file("none.so")).find("No such file or directory"), std::string::npos);
    EXPECT_NE(refusal(directory.path()).find("does not load"), std::string::npos);
}

// pyxis is linked with -z now: built against another Slurm it doesn't even load.
TEST(InspectPlugin, names_the_symbol_that_this_slurm_does_not_have) {
    EXPECT_EQ(refusal(plugin("unresolved")), plugin("unresolved") +
                                                 " does not load: " + plugin("unresolved") +
                                                 ": undefined symbol: llmgw_test_no_such_symbol");
}

TEST(InspectPlugin, does_not_wait_for_a_constructor_that_hangs) {
    const auto start = std::chrono::steady_clock::now();
    const Result<PluginFacts> facts = inspected(plugin("hanging"));
    ASSERT_FALSE(facts.ok());
    EXPECT_EQ(facts.error().code, Code::timeout);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 3 * limits::program_deadline);
}

TEST(InspectPlugin, outlives_a_constructor_that_crashes) {
    EXPECT_EQ(refusal(plugin("crashing")), plugin("crashing") + " does not load: signal 6 ended it");
}

TEST(InspectPlugin, runs_constructors_as_nobody) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
    const std::string directory = FAKE_PLUGINS "/writing";
    const std::string anyone = directory + "/anyone";
    fs::remove_all(anyone);
    fs::create_directory(anyone);
    ASSERT_EQ(::chmod(anyone.c_str(), 01777), 0);
    EXPECT_TRUE(inspected(plugin("writing")).ok());
    struct stat status {};
    ASSERT_EQ(::stat((anyone + "/mark").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 65534U);
    EXPECT_EQ(status.st_gid, 65534U);
    EXPECT_FALSE(fs::exists(directory + "/root-only"));
    fs::remove_all(anyone);
}

// ld.so itself prints warnings, such as "no version information available".
TEST(InspectPlugin, finds_its_own_words_among_those_of_the_library) {
    const Result<PluginFacts> facts = inspected(plugin("noisy"));
    ASSERT_TRUE(facts.ok()) << facts.error().message;
    EXPECT_EQ(facts.value(), (PluginFacts{"pyxis", "spank", 0x160508, "0.24.0"}));
}

TEST(InspectPlugin, needs_an_inspector_that_answers) {
    const Result<PluginFacts> none = inspect_plugin("/nonexistent/helper", plugin("good"), no_slurm);
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code, Code::missing);
    const Result<PluginFacts> dumb = inspect_plugin("/bin/true", plugin("good"), no_slurm);
    ASSERT_FALSE(dumb.ok());
    EXPECT_EQ(dumb.error().message, "what was found in " + plugin("good") + ": is empty");
}

}  // namespace
}  // namespace llmgw::slurm
