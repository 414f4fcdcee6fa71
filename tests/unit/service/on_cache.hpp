// What the tests of fetching share: a cache, files with their pins, and looks at what came.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "crypto/digest.hpp"
#include "posix/events.hpp"
#include "service/fetcher.hpp"
#include "unit/http/faulty_server.hpp"
#include "unit/temporary.hpp"

namespace llmgw::test {

class OnCache : public testing::Test {
  protected:
    OnCache() { options_.cache = place_.file("cache"); }

    static PinnedFile pinned(const std::string& name, const std::string& bytes,
                             const std::string& url = "https://h/") {
        return {name, url, crypto::sha256_hex(bytes).value()};
    }
    Result<void> fetch(const std::vector<PinnedFile>& files, const std::stop_token& stop = {}) const {
        return service::fetch_pinned(files, options_, {}, stop);
    }
    Error refusal(const std::vector<PinnedFile>& files) const {
        const Result<void> fetched = fetch(files);
        if (!fetched.ok()) return fetched.error();
        ADD_FAILURE() << "came";
        return {};
    }
    static void expect_came(const Result<void>& fetched) {
        ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    }
    static void expect_says(const Error& error, Code code, const std::string& text) {
        EXPECT_EQ(error.code, code) << error.message;
        EXPECT_NE(error.message.find(text), std::string::npos) << error.message;
    }
    [[nodiscard]] std::string content(const std::string& name) const {
        std::ifstream file(options_.cache + "/" + name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // Names in the cache, but for the lock.
    [[nodiscard]] std::set<std::string> names() const {
        std::set<std::string> all;
        for (const auto& entry : std::filesystem::directory_iterator(options_.cache))
            all.insert(entry.path().filename().string());
        all.erase(".lock");
        return all;
    }

    TemporaryDirectory place_;
    service::FetchOptions options_;
};

}  // namespace llmgw::test
