// What the fuzzer starts from, and what it ever found, as an ordinary test.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/settings_fuzz.hpp"

namespace llmgw {
namespace {

TEST(SettingsCorpus, EveryDocumentKeepsThePromises) {
    std::size_t documents = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/settings")) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        fuzz::settings(text);
        // Every beginning of it as well: half a file must not be worse than a whole one.
        for (std::size_t length = 0; length < text.size(); ++length) fuzz::settings(text.substr(0, length));
        ++documents;
    }
    EXPECT_GE(documents, 15U);
}

}  // namespace
}  // namespace llmgw
