// With a source archive of the stand-in, whose Makefile has the shape of the real one.
#include "service/pyxis_build.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "built_paths.hpp"
#include "crypto/digest.hpp"
#include "posix/child_runner.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"
#include "slurm/installation.hpp"
#include "unit/service/build_place.hpp"

namespace llmgw::service {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::string content_of(const std::string& path) {
    const Result<std::string> content = read_file(path, 16 * 1024 * 1024);
    return content ? content.value() : "";
}

class BuildPyxis : public testing::Test {
  protected:
    void SetUp() override {
        const Result<slurm::Installation> installation = slurm::find_installation("");
        if (!installation) GTEST_SKIP() << installation.error().message;
        build_.slurm_version = installation.value().version;
        build_.slurm_library = installation.value().library;
        const Result<SlurmHeaders> headers = find_slurm_headers(build_.slurm_version, place_.tools);
        if (!headers) GTEST_SKIP() << headers.error().message;
        build_.headers = headers.value();
        build_.source = place_.file("source.tar.gz");
        make_archive("0.24.0");
        build_.version = "0.24.0";
        build_.inspector = LLMGW_HELPER_PROGRAM;
        build_.target = place_.file("lib/slurm/spank_pyxis.so");
        build_.work = place_.file("work");
        build_.deadline = 300s;
        fs::create_directories(place_.file("lib/slurm"));
        std::ofstream(build_.target) << "what was there before";
    }
    void make_archive(const std::string& version) {
        Command command;
        command.argv = {LLMGW_SOURCE_DIR "/tests/standin/pyxis-archive", build_.source, version};
        command.environment = {"PATH=/usr/bin:/bin"};
        const Result<Outcome> made = run(command);
        ASSERT_TRUE(made && made.value().success());
        build_.sha256 = crypto::sha256_hex(content_of(build_.source)).value();
    }
    Result<PluginFacts> build(const std::stop_token& stop = {}) {
        build_.tools = place_.tools;
        ChildRunner runner;
        return build_pyxis(build_, runner, stop);
    }
    // A build that fails, with the target as it was and nothing left behind.
    std::string refusal() {
        const Result<PluginFacts> facts = build();
        EXPECT_FALSE(facts.ok());
        expect_untouched();
        return facts ? "" : facts.error().message;
    }
    void expect_untouched() const {
        EXPECT_EQ(content_of(build_.target), "what was there before");
        expect_nothing_left();
    }
    void expect_nothing_left() const {
        EXPECT_TRUE(!fs::exists(build_.work) || fs::is_empty(build_.work));
        for (const auto& entry : fs::directory_iterator(place_.file("lib/slurm"))) {
            EXPECT_EQ(entry.path().filename(), "spank_pyxis.so");
        }
    }
    // In place of make: puts something at the library's place.
    void builds(const std::string& script) { place_.program("make", script); }

    test::BuildPlace place_;
    PyxisBuild build_;
};

TEST_F(BuildPyxis, puts_a_library_of_this_slurm_in_place) {
    const Result<PluginFacts> facts = build();
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_EQ(facts.value(),
              (PluginFacts{"pyxis", "spank", stamp_of_version(build_.slurm_version), "0.24.0"}));
    struct stat status {};
    ASSERT_EQ(::stat(build_.target.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0644U);
    EXPECT_EQ(status.st_uid, ::geteuid());
    expect_nothing_left();
}

TEST_F(BuildPyxis, makes_the_directory_and_takes_the_library_away_again) {
    fs::remove_all(place_.file("lib"));
    ASSERT_TRUE(build());
    std::ofstream(build_.target + ".llmgw-new.Xyzabc") << "of a build that was killed";
    std::ofstream(place_.file("lib/slurm/other.so")) << "not ours";
    ASSERT_TRUE(remove_pyxis(build_.target));
    EXPECT_TRUE(fs::exists(place_.file("lib/slurm/other.so")));
    fs::remove(place_.file("lib/slurm/other.so"));
    EXPECT_TRUE(fs::is_empty(place_.file("lib/slurm")));
    EXPECT_TRUE(remove_pyxis(build_.target));
    fs::remove_all(place_.file("lib"));
    EXPECT_TRUE(remove_pyxis(build_.target));
}

TEST_F(BuildPyxis, clears_what_a_killed_build_left) {
    fs::create_directories(build_.work + "/abcdef/sub");
    std::ofstream(build_.target + ".llmgw-new") << "half";
    ASSERT_TRUE(build());
    expect_nothing_left();
}

TEST_F(BuildPyxis, names_the_package_of_a_missing_program) {
    place_.tools.search_path = place_.file("bin");
    EXPECT_EQ(refusal(), "cc, which building pyxis needs, is not installed; install gcc and libc6-dev");
    place_.program("cc", "exit 1");
    EXPECT_EQ(refusal(), "make, which building pyxis needs, is not installed; install make");
}

TEST_F(BuildPyxis, refuses_a_source_that_changed) {
    std::ofstream(build_.source, std::ios::app) << "x";
    EXPECT_NE(refusal().find("expected is " + build_.sha256), std::string::npos);
}

TEST_F(BuildPyxis, refuses_a_source_that_is_no_archive) {
    std::ofstream(build_.source) << "no archive";
    build_.sha256 = crypto::sha256_hex("no archive").value();
    EXPECT_NE(refusal().find("unpacking pyxis's source failed: "), std::string::npos);
}

TEST_F(BuildPyxis, says_what_the_compiler_said) {
    place_.program("cc", "echo 'pyxis.c:7:2: error: something is wrong here' >&2; exit 1");
    EXPECT_EQ(refusal(), "building pyxis failed: pyxis.c:7:2: error: something is wrong here (exit code 2)");
}

TEST_F(BuildPyxis, ends_a_build_that_hangs) {
    builds("echo compiling; exec sleep 1000");
    build_.deadline = 5s;
    EXPECT_EQ(refusal(), "building pyxis: " + place_.file("bin/make") +
                             " took longer than 5 s and was ended; its last line: \"compiling\"");
}

TEST_F(BuildPyxis, returns_when_the_helper_ends) {
    builds("exec sleep 5");
    std::stop_source stop;
    stop.request_stop();
    const Result<PluginFacts> facts = build(stop.get_token());
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().code, Code::unavailable);
    EXPECT_EQ(content_of(build_.target), "what was there before");
}

// An older header wins on the include path although the right ones were found: the stamp tells.
TEST_F(BuildPyxis, refuses_a_library_with_the_stamp_of_another_slurm) {
    place_.headers("front", "0x140b09");
    fs::copy_file(build_.headers.directory + "/slurm/spank.h", place_.file("front/slurm/spank.h"),
                  fs::copy_options::overwrite_existing);
    fs::copy_file(build_.headers.directory + "/slurm/slurm.h", place_.file("front/slurm/slurm.h"),
                  fs::copy_options::overwrite_existing);
    fs::copy_file(build_.headers.directory + "/slurm/slurm_errno.h",
                  place_.file("front/slurm/slurm_errno.h"));
    place_.program("cc", "exec /usr/bin/cc -I" + place_.file("front") + " \"$@\"");
    EXPECT_EQ(refusal(),
              "pyxis was built and not put in place: the library is stamped for Slurm 20.11.9, "
              "this machine runs " +
                  build_.slurm_version);
}

TEST_F(BuildPyxis, refuses_another_version_of_pyxis) {
    make_archive("0.23.0");
    EXPECT_EQ(refusal(),
              "pyxis was built and not put in place: the library says it is pyxis 0.23.0, wanted is "
              "0.24.0");
}

TEST_F(BuildPyxis, takes_the_headers_that_were_found_first) {
    fs::create_directories(place_.file("opt/include"));
    fs::copy(build_.headers.directory + "/slurm", place_.file("opt/include/slurm"));
    place_.version_header("opt/include", "0x140b09");
    build_.headers = {place_.file("opt/include"), "20.11.9", true};
    build_.slurm_version = "20.11.9";
    const Result<PluginFacts> facts = build();
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_EQ(facts.value().slurm, 0x140b09U);
}

TEST_F(BuildPyxis, refuses_a_library_that_crashes_or_hangs_when_loaded) {
    builds("cp " FAKE_PLUGINS "/crashing/spank_pyxis.so .");
    EXPECT_NE(refusal().find("does not load: signal 6 ended it"), std::string::npos);
    builds("cp " FAKE_PLUGINS "/other/spank_pyxis.so .");
    EXPECT_NE(refusal().find("the library is \"job_submit/lua\", not spank/pyxis"), std::string::npos);
    builds("echo text > spank_pyxis.so");
    EXPECT_NE(refusal().find("does not load"), std::string::npos);
    builds("true");
    EXPECT_NE(refusal().find("what was built: cannot open"), std::string::npos);
}

// Whoever builds must not get root to read or install anything else.
TEST_F(BuildPyxis, follows_no_link_that_was_planted) {
    builds("ln -s /etc/shadow spank_pyxis.so");
    EXPECT_NE(refusal().find("what was built: cannot open"), std::string::npos);
    builds("mkfifo spank_pyxis.so");
    EXPECT_NE(refusal().find("is not a regular file"), std::string::npos);
    builds("echo a > a; ln a spank_pyxis.so");
    EXPECT_NE(refusal().find("has several names"), std::string::npos);
    builds("ln -s / root; ln -s " + place_.file("lib") + " lib; exit 1");
    refusal();
    EXPECT_TRUE(fs::exists(build_.target));
}

TEST_F(BuildPyxis, refuses_a_work_directory_that_is_not_root_s) {
    fs::create_directory(build_.work);
    ::chmod(build_.work.c_str(), 0777);
    EXPECT_NE(refusal().find("is not a directory that only root can write"), std::string::npos);
    fs::remove(build_.work);
    fs::create_directory(place_.file("elsewhere"));
    std::ofstream(place_.file("elsewhere/kept")) << "yes";
    fs::create_directory_symlink(place_.file("elsewhere"), build_.work);
    EXPECT_NE(build().error().message.find("is not a directory that only root can write"), std::string::npos);
    EXPECT_TRUE(fs::exists(place_.file("elsewhere/kept")));
    EXPECT_EQ(content_of(build_.target), "what was there before");
}

TEST_F(BuildPyxis, builds_as_nobody_who_can_write_nowhere_else_and_has_no_network) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can";
    fs::create_directory(place_.file("open"));
    ::chmod(place_.file("open").c_str(), 0777);
    // The first line with "error:" is what is shown: all in one.
    builds("echo \"error: $(id -u) $(grep -c 'NoNewPrivs:.1' /proc/self/status) $(touch " +
           place_.file("open/a") +
           " 2>/dev/null || echo read-only) $(tail -n +3 /proc/net/dev | grep -vc lo:)\"; exit 1");
    EXPECT_EQ(refusal(), "building pyxis failed: error: 65534 1 read-only 0 (exit code 1)");
}

TEST(CheckPyxis, says_what_is_different) {
    const PluginFacts good{"pyxis", "spank", 0x160508, "0.24.0"};
    EXPECT_TRUE(check_pyxis(good, "0.24.0", "22.05.8"));
    EXPECT_EQ(check_pyxis(good, "0.24.0", "22.05.9").error().message,
              "the library is stamped for Slurm 22.05.8, this machine runs 22.05.9");
    EXPECT_FALSE(check_pyxis({"pyxis", "spank", 0, "0.24.0"}, "0.24.0", "22.05.8"));
    EXPECT_FALSE(check_pyxis({"pyxis", "spank", 0x160508, ""}, "0.24.0", "22.05.8"));
}

}  // namespace
}  // namespace llmgw::service
