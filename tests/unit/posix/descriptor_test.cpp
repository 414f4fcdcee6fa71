#include "posix/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace llmgw {
namespace {

Descriptor open_null() {
    return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

bool is_open(int fd) {
    return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(Descriptors, are_closed_once_by_their_last_owner) {
    int number = -1;
    {
        Descriptor first = open_null();
        number = first.get();
        const Descriptor second = std::move(first);
        EXPECT_TRUE(second.open());
        EXPECT_EQ(second.get(), number);
        EXPECT_TRUE(is_open(number));
    }
    EXPECT_FALSE(is_open(number));
}

TEST(Descriptors, close_what_they_had_when_they_get_another) {
    Descriptor owner = open_null();
    Descriptor other = open_null();
    const int before = owner.get();
    const int after = other.get();
    owner = std::move(other);
    EXPECT_FALSE(is_open(before));
    EXPECT_EQ(owner.get(), after);
    owner.reset();
    EXPECT_FALSE(is_open(after));
    EXPECT_FALSE(owner.open());
}

TEST(Descriptors, give_up_what_is_released) {
    Descriptor owner = open_null();
    const int number = owner.release();
    EXPECT_FALSE(owner.open());
    EXPECT_TRUE(is_open(number));
    ::close(number);
}

}  // namespace
}  // namespace llmgw
