#include "http/part_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw::http {
namespace {

namespace fs = std::filesystem;

class PartFileTest : public testing::Test {
  protected:
    [[nodiscard]] PartFile opened(const PartOf& of) const {
        Result<PartFile> part = PartFile::open(directory_.get(), "f", of);
        EXPECT_TRUE(part.ok()) << (part.ok() ? "" : part.error().message);
        return std::move(part).value();
    }
    void leave(const std::string& bytes, const Validator& validator = {"\"1\"", ""},
               std::uint64_t total = 10) const {
        PartFile part = opened(of_);
        ASSERT_TRUE(part.restart(validator, total).ok());
        ASSERT_TRUE(part.append(bytes).ok());
    }
    [[nodiscard]] std::string content(const std::string& name) const {
        std::ifstream file(place_.file(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    test::TemporaryDirectory place_;
    Descriptor directory_{::open(place_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    PartOf of_{"https://h/f", "digest"};
};

TEST_F(PartFileTest, OfSomethingElseIsBegunAgain) {
    leave("abc");
    EXPECT_EQ(opened({"https://h/g", "digest"}).size(), 0U);
    EXPECT_EQ(content("f.part"), "");
    leave("abc");
    EXPECT_EQ(opened({"https://h/f", "other"}).size(), 0U);
}

TEST_F(PartFileTest, WithoutAUsableNoteIsBegunAgain) {
    leave("abc");
    fs::remove(place_.file("f.part.from"));
    EXPECT_EQ(opened(of_).size(), 0U);
    leave("abc");
    const std::string note = content("f.part.from");
    for (const std::string& broken : {std::string("nonsense"), std::string(), note.substr(0, note.size() - 2),
                                      note + note, std::string(100'000, 'x')}) {
        leave("abc");
        std::ofstream(place_.file("f.part.from")) << broken;
        EXPECT_EQ(opened(of_).size(), 0U) << broken.substr(0, 500);
    }
    leave("abc", {"", ""});
    EXPECT_EQ(opened(of_).size(), 0U) << "nothing would show that the file has changed";
    leave("abc", {"W/\"1\"", ""});
    EXPECT_EQ(opened(of_).size(), 0U) << "a weak ETag says nothing about bytes";
    leave("abc", {"\"a\nb\"", ""});
    EXPECT_EQ(opened(of_).size(), 0U) << "can't be sent back";
    leave("abcdefghijk");
    EXPECT_EQ(opened(of_).size(), 0U) << "longer than the whole";
}

TEST_F(PartFileTest, ThatSomebodyElseCouldReachIsReplacedAndItsTargetLeftAlone) {
    std::ofstream(place_.file("target")) << "untouched";
    leave("abc");
    fs::remove(place_.file("f.part"));
    fs::create_symlink("target", place_.file("f.part"));
    {
        PartFile part = opened(of_);
        EXPECT_EQ(part.size(), 0U);
        ASSERT_TRUE(part.append("x").ok());
    }
    EXPECT_EQ(content("target"), "untouched");
    EXPECT_FALSE(fs::is_symlink(place_.file("f.part")));

    fs::remove(place_.file("f.part"));
    fs::create_hard_link(place_.file("target"), place_.file("f.part"));
    EXPECT_EQ(opened(of_).size(), 0U);
    EXPECT_EQ(content("target"), "untouched");

    leave("abc");
    ::chmod(place_.file("f.part").c_str(), 0666);
    EXPECT_EQ(opened(of_).size(), 0U);
    leave("abc");
    ::chmod(place_.file("f.part.from").c_str(), 0666);
    EXPECT_EQ(opened(of_).size(), 0U);

    fs::remove(place_.file("f.part"));
    ASSERT_EQ(::mkfifo(place_.file("f.part").c_str(), 0600), 0);
    EXPECT_EQ(opened(of_).size(), 0U);
    EXPECT_TRUE(fs::is_regular_file(place_.file("f.part")));

    fs::remove(place_.file("f.part"));
    fs::create_directory(place_.file("f.part"));
    const Result<PartFile> directory = PartFile::open(directory_.get(), "f", of_);
    ASSERT_FALSE(directory.ok());
    EXPECT_EQ(directory.error().code, Code::internal);
}

TEST_F(PartFileTest, GoesOnWhereItWas) {
    leave("abc", {"\"1\"", "Mon, 01 Jan 2024 00:00:00 GMT"}, 6);
    PartFile part = opened(of_);
    EXPECT_EQ(part.size(), 3U);
    EXPECT_EQ(part.total(), 6U);
    EXPECT_EQ(part.validator(), (Validator{"\"1\"", "Mon, 01 Jan 2024 00:00:00 GMT"}));
    ASSERT_TRUE(part.append("def").ok());
    EXPECT_EQ(content("f.part"), "abcdef");
    struct stat status {};
    ASSERT_EQ(::stat(place_.file("f.part").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
    ASSERT_TRUE(part.restart({}, 0).ok());
    EXPECT_EQ(content("f.part"), "");
    PartFile::remove(directory_.get(), "f");
    EXPECT_TRUE(fs::is_empty(place_.path()));
}

TEST(ValidatorTest, ComparesOnlyWhatBothSay) {
    const Validator both{"\"1\"", "Mon"};
    EXPECT_EQ(both.condition(), "\"1\"");
    EXPECT_EQ((Validator{"W/\"1\"", "Mon"}.condition()), "Mon");
    EXPECT_EQ(Validator{}.condition(), "");
    EXPECT_TRUE(both.may_be({}));
    EXPECT_TRUE(both.may_be({"\"1\"", ""}));
    EXPECT_FALSE(both.may_be({"\"2\"", "Mon"}));
    EXPECT_FALSE(both.may_be({"", "Tue"}));
}

}  // namespace
}  // namespace llmgw::http
