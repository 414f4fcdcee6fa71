#include "daemon/options.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw::daemon {
namespace {

struct Parsed {
    int code = 0;
    bool leave = false;
    Options options;
    std::string out;
    std::string err;
};

Parsed parsed(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "llmgw-slurm-helper");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    Parsed result;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    result.code = parse_options(static_cast<int>(argv.size()), argv.data(), result.options, result.leave);
    result.out = testing::internal::GetCapturedStdout();
    result.err = testing::internal::GetCapturedStderr();
    return result;
}

TEST(HelperOptions, have_defaults_for_a_packaged_machine) {
    const Parsed all = parsed({"--machine", "n1"});
    EXPECT_FALSE(all.leave);
    EXPECT_EQ(all.options.paths.machine, "n1");
    EXPECT_EQ(all.options.paths.plugstack, "");  // the one that slurmd reads
    EXPECT_EQ(all.options.paths.enroot, "/usr/bin/enroot");
    EXPECT_EQ(all.options.leader.url, "http://127.0.0.1:8470");
    EXPECT_EQ(all.options.leader.admin_token_file, "");
    EXPECT_EQ(all.options.run_dir, "/run/llmgw-slurm");
    EXPECT_EQ(all.options.bus_address, "");
    EXPECT_NE(all.options.paths.inspector, "");
}

TEST(HelperOptions, can_stand_in_a_file) {
    const test::TemporaryDirectory directory;
    std::ofstream(directory.file("helper.conf"))
        << "machine = n2\nleader = \"https://leader:8470\"\n# token-file = x\n";
    const Parsed all = parsed({"--config", directory.file("helper.conf"), "--machine", "n3"});
    EXPECT_FALSE(all.leave) << all.err;
    EXPECT_EQ(all.options.paths.machine, "n3") << "the command line comes first";
    EXPECT_EQ(all.options.leader.url, "https://leader:8470");
}

TEST(HelperOptions, that_are_wrong_end_the_program) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"--no-such-option"}, {"--machine", "a b"}, {"--machine", ""}, {"stray"}}) {
        const Parsed all = parsed(arguments);
        EXPECT_TRUE(all.leave);
        EXPECT_EQ(all.code, 2);
        EXPECT_NE(all.err, "");
        EXPECT_EQ(all.out, "");
    }
    // What was given is shown so that it can't steer a terminal.
    EXPECT_EQ(parsed({"--machine", "a\x1b[2J"}).err.find('\x1b'), std::string::npos);
}

TEST(HelperOptions, tell_help_and_version) {
    const Parsed help = parsed({"--help"});
    EXPECT_TRUE(help.leave);
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("--admin-token-file"), std::string::npos);
    EXPECT_EQ(parsed({"--version"}).out, LLMGW_VERSION "\n");
}

// The inspection runs on machines of any name, and doesn't need it.
TEST(HelperOptions, for_an_inspection_need_no_machine) {
    const Parsed all = parsed({"--machine", "-", "--inspect-plugin", "/x.so", "--slurm-library", "/y.so"});
    EXPECT_FALSE(all.leave);
    EXPECT_EQ(all.options.inspect_plugin, "/x.so");
    EXPECT_EQ(all.options.paths.slurm_library, "/y.so");
}

}  // namespace
}  // namespace llmgw::daemon
