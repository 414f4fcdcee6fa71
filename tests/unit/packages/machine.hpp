// What the tests with real package managers share: programs that must work, files, and waiting for nothing.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "packages/manager.hpp"
#include "posix/child_runner.hpp"
#include "posix/process.hpp"
#include "unit/temporary.hpp"

namespace llmgw::packages {

// Package managers and chroot want root; tests/run is root. Elsewhere the test says that it was left out.
#define NEEDS_ROOT() \
    if (::geteuid() != 0) GTEST_SKIP() << "needs root"

// Those of tests/lib/packages.sh's list `packages`, which tests/run installs.
#define NEEDS_PROGRAMS(...)                   \
    for (const char* program : {__VA_ARGS__}) \
        if (::access(program, X_OK) != 0) GTEST_SKIP() << "needs " << program

#define ASSERT_FINE(expression)                                       \
    do {                                                              \
        const auto& fine_result = (expression);                       \
        ASSERT_TRUE(fine_result.ok()) << fine_result.error().message; \
    } while (false)

#define ASSERT_REFUSED(expression, expected_code)                                                \
    do {                                                                                         \
        const auto& refused_result = (expression);                                               \
        ASSERT_FALSE(refused_result.ok());                                                       \
        ASSERT_EQ(refused_result.error().code, expected_code) << refused_result.error().message; \
    } while (false)

inline std::string must_run(const std::vector<std::string>& argv) {
    Command command;
    command.argv = argv;
    command.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/root"};
    command.deadline = std::chrono::minutes(2);
    const Result<Outcome> outcome = run(command);
    if (!outcome) {
        ADD_FAILURE() << outcome.error().message;
        return {};
    }
    EXPECT_TRUE(outcome.value().success()) << argv[0] << ": " << outcome.value().output;
    return outcome.value().output;
}

inline void write(const std::string& path, const std::string& text, mode_t mode = 0644) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::trunc) << text;
    ::chmod(path.c_str(), mode);
}

inline std::string read(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

inline bool there(const std::string& path) {
    return std::filesystem::exists(path);
}

inline bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline bool mentions(const std::vector<std::string>& texts, const std::string& part) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return mentions(text, part); });
}

// What a person who watches would have read.
struct Watched {
    std::vector<std::string> sentences;
    Progress progress = [this](const std::string& sentence) { sentences.push_back(sentence); };

    Watched() = default;
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
};

// What is below a directory, a line each with type, mode, owner, size and content's place; for "as before".
inline std::string listing(const std::string& directory) {
    std::string output = must_run({"/usr/bin/find", directory, "-printf", "%P %y %m %u %s %l\\n"});
    std::vector<std::string> lines;
    std::stringstream stream(output);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

}  // namespace llmgw::packages
