#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "ctl/context.hpp"
#include "json/load.hpp"
#include "posix/file.hpp"

namespace llmgw::ctl {
namespace {

struct Outcome {
    int code = 0;
    std::string out;
    std::string err;
};

Outcome call(std::vector<const char*> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), "llmgw-slurm");
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    Context context{in, out, err};
    const int code = run(static_cast<int>(arguments.size()), arguments.data(), context);
    return {code, out.str(), err.str()};
}

class Check : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "llmgw-check-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string file(const std::string& content) {
        const std::string path = directory_ + "/settings.json";
        EXPECT_TRUE(write_file_atomically(path, content, 0644, Durability::volatile_).ok());
        return path;
    }

    std::string directory_;
};

const char* const fine = R"({"enabled":true,"controller":"ctl","nodes":["n1"],"lent":["n1"]})";
const char* const open_ended = R"({"enabled":true,"controller":"ctl","all_nodes":true,"lent":["n9"]})";

TEST_F(Check, ShowsTheLoginsOfAccounts) {
    const char* const accounts =
        R"([{"email":"ann@y.org","uid":200001,"active":false},{"email":"Ann@x.org","uid":200000,"active":true}])";
    const Outcome outcome = call({"check", "--accounts", "-"}, accounts);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "200000  ann  Ann@x.org\n200001  ann-200001  ann@y.org  inactive\n");
    const Outcome wrong = call({"check", "--accounts", "-"}, R"([{"email":"ann","uid":5,"active":1}])");
    EXPECT_EQ(wrong.code, 1);
    EXPECT_EQ(std::count(wrong.err.begin(), wrong.err.end(), '\n'), 3) << wrong.err;
    EXPECT_EQ(call({"check", "--accounts", "/nonexistent"}).code, 2);
    EXPECT_EQ(call({"check", "--accounts", "--json", "-"}, "[]").out, "[]\n");
}

TEST_F(Check, WrongArgumentsAreUsageErrors) {
    for (const auto& arguments : std::vector<std::vector<const char*>>{{},
                                                                       {"check"},
                                                                       {"chekc", "x"},
                                                                       {"check", "-", "more"},
                                                                       {"check", "--what", "-"},
                                                                       {"check", "-", "--machines"}}) {
        const Outcome outcome = call(arguments, fine);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_NE(outcome.err, "");
        EXPECT_EQ(outcome.out, "");
    }
}

TEST_F(Check, MachinesMustBeNames) {
    for (const char* machines : {"a,,b", "a,-b", "a b", "n[1-3]", "a,"}) {
        const Outcome outcome = call({"check", "-", "--machines", machines}, fine);
        EXPECT_EQ(outcome.code, 2) << machines;
        EXPECT_NE(outcome.err.find("--machines: "), std::string::npos);
    }
}

TEST_F(Check, AFileThatCanNotBeReadSaysSoAndWhatToDo) {
    const std::string missing = directory_ + "/mis\nsing";
    const Outcome outcome = call({"check", missing.c_str()});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("mis?sing: No such file or directory: give a file"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(call({"check", directory_.c_str()}).code, 2);
    EXPECT_EQ(call({"check", "/dev/null"}).code, 2);
}

TEST_F(Check, SyntaxErrorsHaveAPlace) {
    const std::string path = file("{\n\"enabled\": yes\n}");
    const Outcome outcome = call({"check", path.c_str()});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err.find(path + ":2:"), 0U) << outcome.err;
    EXPECT_EQ(outcome.out, "");
}

TEST_F(Check, EveryErrorIsALineWithItsKey) {
    const std::string path = file(R"({"enabled":true,"nodes":["a","a"],"users":"x","users":"y"})");
    const Outcome outcome = call({"check", path.c_str()});
    EXPECT_EQ(outcome.code, 1);
    std::istringstream lines(outcome.err);
    std::vector<std::string> starts;
    for (std::string line; std::getline(lines, line);) {
        ASSERT_EQ(line.find(path + ": "), 0U) << line;
        line.erase(0, path.size() + 2);
        starts.push_back(line.substr(0, line.find(": ")));
    }
    EXPECT_EQ(starts, (std::vector<std::string>{"users", "controller", "nodes[1]", "users"}));
}

TEST_F(Check, ErrorsAsJsonComeBesidesTheLines) {
    const Outcome outcome = call({"check", "--json", "-"}, R"({"enabled":true,"users":"x"})");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err.find("-: controller: missing"), 0U) << outcome.err;
    const auto json = json::parse(outcome.out);
    ASSERT_TRUE(json.ok()) << json.error().message;
    const Value::Array& errors = *json.value().find("errors")->array();
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(*errors[0].find("key")->text(), "controller");
    EXPECT_EQ(*errors[1].find("key")->text(), "users");
}

TEST_F(Check, TooMuchIsAFaultOfTheFile) {
    const std::string largest = fine + std::string(limits::settings_bytes - std::string(fine).size(), ' ');
    EXPECT_EQ(call({"check", "-"}, largest).code, 0);
    EXPECT_EQ(call({"check", file(largest).c_str()}).code, 0);
    const std::string path = file(largest + ' ');
    EXPECT_EQ(call({"check", "-"}, largest + ' ').err, "-: larger than 1048576 bytes\n");
    EXPECT_EQ(call({"check", path.c_str()}).err, path + ": larger than 1048576 bytes\n");
    EXPECT_EQ(call({"check", path.c_str()}).code, 1);
}

TEST_F(Check, AnswerThatCanNotBeWrittenIsNoSuccess) {
    std::istringstream in(fine);
    std::ostream out(nullptr);
    std::ostringstream err;
    Context context{in, out, err};
    const std::vector<const char*> arguments = {"llmgw-slurm", "check", "-"};
    EXPECT_EQ(run(3, arguments.data(), context), 2);
    EXPECT_NE(err.str().find("standard output"), std::string::npos);
}

TEST_F(Check, FineSettingsAreShownForPeople) {
    const Outcome outcome = call({"check", file(fine).c_str()});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out,
              "cluster:       llmgw\n"
              "controller:    ctl\n"
              "partition:     gpu\n"
              "slurmd on:     n1\n"
              "lent:          n1\n"
              "shared path:   none\n"
              "homes:         /home/<login>\n"
              "users:         the site's own\n"
              "containers:    no\n");
}

TEST_F(Check, FineSettingsAsJson) {
    const Outcome outcome = call({"check", "--json", "--machines", "n9, n1", "-"}, open_ended);
    EXPECT_EQ(outcome.code, 0);
    const auto json = json::parse(outcome.out);
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(*json.value().find("slurm_nodes"), Value(Value::Array{"ctl", "n1", "n9"}));
    EXPECT_EQ(*json.value().find("lent"), Value(Value::Array{"n9"}));
}

TEST_F(Check, AllNodesNeedTheMachinesToBeComplete) {
    Outcome outcome = call({"check", "-"}, open_ended);
    EXPECT_NE(outcome.out.find("slurmd on:     ctl, and every other machine"), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("lent:          n9\n"), std::string::npos) << outcome.out;
    outcome = call({"check", "-", "--machines", ""}, open_ended);
    EXPECT_NE(outcome.out.find("slurmd on:     ctl\n"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("lent, unknown: n9\n"), std::string::npos) << outcome.out;
}

TEST_F(Check, NotEnabled) {
    const Outcome outcome = call({"check", "-"}, R"({"enabled":false,"controller":"-"})");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "Not enabled: nothing else is checked. Every node is llmgw's.\n");
}

TEST_F(Check, HelpAndVersion) {
    EXPECT_EQ(call({"--help"}).code, 0);
    EXPECT_NE(call({"--help"}).out.find("check"), std::string::npos);
    EXPECT_NE(call({"check", "--help"}).out.find("Exit status"), std::string::npos);
    EXPECT_EQ(call({"--version"}).out, "llmgw-slurm " LLMGW_VERSION "\n");
}

}  // namespace
}  // namespace llmgw::ctl
