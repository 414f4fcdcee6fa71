// What the tests of downloads share: a directory, a download that loses no time, and looks at what came.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "http/download.hpp"
#include "http/part_file.hpp"
#include "unit/http/faulty_server.hpp"
#include "unit/temporary.hpp"

namespace llmgw::test {

class OnServer : public testing::Test {
  protected:
    [[nodiscard]] http::Download from(const std::string& url) const {
        http::Download download;
        download.url = url;
        download.directory = directory_.get();
        download.name = "f";
        download.identity = "digest";
        download.first_pause = std::chrono::milliseconds(1);
        download.longest_pause = std::chrono::milliseconds(5);
        return download;
    }
    [[nodiscard]] std::string content(const std::string& name = "f.part") const {
        std::ifstream file(place_.file(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] bool there(const std::string& name = "f.part") const {
        return std::filesystem::exists(place_.file(name));
    }
    // What was left by an earlier call.
    void leave(const std::string& url, const std::string& bytes, const http::Validator& validator,
               std::uint64_t total) const {
        Result<http::PartFile> part = http::PartFile::open(directory_.get(), "f", {url, "digest"});
        ASSERT_TRUE(part.ok());
        ASSERT_TRUE(part.value().restart(validator, total).ok());
        ASSERT_TRUE(part.value().append(bytes).ok());
    }

    TemporaryDirectory place_;
    Descriptor directory_{::open(place_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

}  // namespace llmgw::test
