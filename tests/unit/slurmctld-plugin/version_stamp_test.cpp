// Whose version stamp the gate takes when slurmctld loads it.
#include "version_stamp.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "slurmctld_api.hpp"

namespace llmgw::gate {
namespace {

constexpr std::uint32_t own = SLURM_VERSION_NUMBER;
constexpr std::uint32_t other_micro = own ^ 0x20;

class Library {
  public:
    explicit Library(const std::string& path) : handle_(::dlopen(path.c_str(), RTLD_LAZY)) {
        EXPECT_NE(handle_, nullptr) << ::dlerror();
    }
    ~Library() { ::dlclose(handle_); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    [[nodiscard]] void* symbol(const char* name) const { return ::dlsym(handle_, name); }

  private:
    void* handle_;
};

std::string plugin(const char* name) {
    return std::string(FAKE_PLUGINS) + name + ".so";
}

TEST(VersionStamp, is_its_own_where_nothing_else_is_loaded) {
    EXPECT_EQ(stamp_of_running_slurm(own), own);
}

TEST(VersionStamp, is_its_own_beside_another_major_minor) {
    const Library loaded(plugin("future_fake"));
    EXPECT_EQ(stamp_of_running_slurm(own), own);
    EXPECT_EQ(stamp_of_running_slurm(own + 0x010000), own + 0x010000);
}

class IgnoredLibrary : public testing::TestWithParam<const char*> {};

TEST_P(IgnoredLibrary, gives_no_stamp) {
    const Library loaded(plugin(GetParam()));
    EXPECT_EQ(stamp_of_running_slurm(own), own);
}

// SPANK plugins need not have the micro version of the Slurm that loads them, whatever their file is called.
INSTANTIATE_TEST_SUITE_P(all, IgnoredLibrary,
                         testing::Values("spank_fake", "renamed_fake", "libfake", "other_fake"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(VersionStamp, is_that_of_a_loaded_plugin_of_another_micro) {
    const Library ignored(plugin("spank_fake"));
    const Library future(plugin("future_fake"));
    const Library loaded(plugin("select_fake"));
    EXPECT_EQ(stamp_of_running_slurm(own), other_micro);
}

TEST(VersionStamp, is_taken_when_the_plugin_is_loaded) {
    const auto stamp_when_loaded = [] {
        const Library gate(GATE_PLUGIN);
        return *static_cast<std::uint32_t*>(gate.symbol("plugin_version"));
    };
    EXPECT_EQ(stamp_when_loaded(), own);
    const Library loaded(plugin("select_fake"));
    EXPECT_EQ(stamp_when_loaded(), other_micro);
}

}  // namespace
}  // namespace llmgw::gate
