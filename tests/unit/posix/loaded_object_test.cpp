#include "posix/loaded_object.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace llmgw {
namespace {

TEST(LoadedObject, is_found_by_its_whole_file_name) {
    const std::string path = loaded_from("libc.so.6");
    EXPECT_TRUE(path.ends_with("/libc.so.6")) << path;
    EXPECT_EQ(loaded_from("ibc.so.6"), "");
    EXPECT_EQ(loaded_from("libc.so"), "");
    EXPECT_EQ(loaded_from(path), "");
    EXPECT_EQ(loaded_from("spank_pyxis.so"), "");
    EXPECT_EQ(loaded_from(std::string(100000, 'x')), "");
}

TEST(LoadedObject, is_found_only_while_it_is_loaded) {
    ASSERT_EQ(loaded_from("libutil.so.1"), "");
    void* library = ::dlopen("libutil.so.1", RTLD_LAZY);
    ASSERT_NE(library, nullptr);
    EXPECT_TRUE(loaded_from("libutil.so.1").ends_with("/libutil.so.1"));
    ::dlclose(library);
    EXPECT_EQ(loaded_from("libutil.so.1"), "");
}

}  // namespace
}  // namespace llmgw
