// What a fuzzer starts from, and what it ever found, as an ordinary test.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace llmgw::fuzz {

// Runs `target` on every file of a corpus directory and on every beginning of each: half a text must not be
// worse than a whole one. Returns how many files there were.
inline std::size_t replay(const std::filesystem::path& corpus, void (*target)(std::string_view)) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        target(text);
        for (std::size_t length = 0; length < text.size(); ++length) target(text.substr(0, length));
        ++files;
    }
    return files;
}

}  // namespace llmgw::fuzz
