#include "posix/file_capabilities.hpp"

#include <gtest/gtest.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw {
namespace {

TEST(FileCapabilities, are_none_of_an_ordinary_file) {
    const test::TemporaryDirectory directory;
    std::ofstream(directory.file("a")) << "x";
    EXPECT_EQ(file_capabilities(directory.file("a")).value(), 0U);
    EXPECT_EQ(file_capabilities(directory.file("none")).error().code, Code::missing);
}

TEST(FileCapabilities, are_those_that_are_permitted_and_effective) {
    // CAP_SYS_ADMIN and CAP_MKNOD, +pe, as setcap writes it.
    unsigned char bytes[20] = {1, 0, 0, 2, 0, 0, 0x20, 0x08};
    const test::TemporaryDirectory directory;
    const std::string path = directory.file("a");
    std::ofstream(path) << "x";
    if (::setxattr(path.c_str(), "security.capability", bytes, sizeof bytes, 0) != 0) {
        GTEST_SKIP() << "file capabilities can't be set here";
    }
    EXPECT_EQ(file_capabilities(path).value(),
              std::uint64_t{1} << cap_sys_admin | std::uint64_t{1} << cap_mknod);
    bytes[0] = 0;
    ASSERT_EQ(::setxattr(path.c_str(), "security.capability", bytes, sizeof bytes, 0), 0);
    EXPECT_EQ(file_capabilities(path).value(), 0U) << "permitted only: the program would have to raise them";
}

}  // namespace
}  // namespace llmgw
