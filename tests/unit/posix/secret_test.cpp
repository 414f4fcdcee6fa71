#include "posix/secret.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/secret.hpp"
#include "unit/http/support.hpp"

namespace llmgw {
namespace {

struct SecretFile : testing::Test {
    test::TemporaryDirectory directory;
    std::string path = directory.file("token");

    void write(const std::string& content, mode_t mode = 0600) const {
        std::ofstream(path) << content;
        ::chmod(path.c_str(), mode);
    }
};

TEST_F(SecretFile, RefusesLooserModes) {
    for (const mode_t mode : {0640U, 0604U, 0620U, 0602U, 0610U, 0601U, 0666U}) {
        write("secret\n", mode);
        const Result<std::string> secret = read_secret(path);
        ASSERT_FALSE(secret.ok()) << std::oct << mode;
        EXPECT_EQ(secret.error().code, Code::denied);
        EXPECT_NE(secret.error().message.find("chmod 600"), std::string::npos);
        EXPECT_EQ(secret.error().message.find("secret\n"), std::string::npos);
    }
}

TEST_F(SecretFile, RefusesOtherOwners) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    write("secret\n");
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(read_secret(path).error().code, Code::denied);
}

TEST_F(SecretFile, RefusesWhatIsNoFileOrNoSecret) {
    EXPECT_EQ(read_secret(path).error().code, Code::missing);
    EXPECT_EQ(read_secret(directory.path()).error().code, Code::invalid);
    write("\n");
    EXPECT_EQ(read_secret(path).error().code, Code::invalid);
    write(std::string(4097, 'x'));
    EXPECT_EQ(read_secret(path).error().code, Code::too_large);
    write("secret");
    ASSERT_EQ(::symlink(path.c_str(), directory.file("link").c_str()), 0);
    EXPECT_EQ(read_secret(directory.file("link")).error().code, Code::denied);
}

TEST_F(SecretFile, ReadsAllButTheLineBreak) {
    write("secret\n", 0400);
    EXPECT_EQ(read_secret(path).value(), "secret");
    write(std::string(4096, 'x'));
    EXPECT_EQ(read_secret(path).value().size(), 4096U);
}

TEST(Random, IsNeverTheSameAndHasItsLimit) {
    EXPECT_EQ(random_hex(32).value().size(), 64U);
    EXPECT_NE(random_hex(32).value(), random_hex(32).value());
    EXPECT_TRUE(random_hex(256).ok());
    EXPECT_FALSE(random_hex(257).ok());
}

TEST(Secret, IsComparedWhole) {
    EXPECT_FALSE(equal_in_constant_time("secret", "secreT"));
    EXPECT_FALSE(equal_in_constant_time("secret", "Secret"));
    EXPECT_FALSE(equal_in_constant_time("secret", "secre"));
    EXPECT_FALSE(equal_in_constant_time("", "secret"));
    EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
}

}  // namespace
}  // namespace llmgw
