// pyxis's options where pyxis is not loaded.
#include "options.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "fake_spank.hpp"

extern "C" {
int slurm_spank_init(spank_t, int, char**);
extern const char plugin_name[];
}

namespace llmgw {
namespace {

using fake::spank;

class Options : public testing::Test {
  protected:
    void SetUp() override { fake::reset(); }
    static void start(spank_context_t context) {
        fake::reset();
        spank().context = context;
        EXPECT_EQ(slurm_spank_init(fake::handle(), 0, nullptr), 0);
    }
    static const fake::Registered& registered(const std::string& name) {
        const auto found = std::find_if(spank().registered.begin(), spank().registered.end(),
                                        [&](const auto& option) { return option.name == name; });
        if (found == spank().registered.end()) ADD_FAILURE() << name;
        return found == spank().registered.end() ? spank().registered.front() : *found;
    }
};

// Slurm carries an option as "name:plugin", so that a node with the real pyxis takes it.
TEST_F(Options, belong_to_a_plugin_called_pyxis) {
    EXPECT_STREQ(plugin_name, "pyxis");
}

TEST_F(Options, are_not_registered_beside_the_real_pyxis) {
    EXPECT_EXIT(
        {
            if (::dlopen(FAKE_PYXIS, RTLD_LAZY) == nullptr) ::_exit(2);
            for (const spank_context_t context : {S_CTX_LOCAL, S_CTX_ALLOCATOR, S_CTX_REMOTE}) {
                start(context);
                if (!spank().registered.empty()) ::_exit(3);
            }
            ::_exit(0);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(Options, are_not_registered_in_daemons) {
    for (const spank_context_t context : {S_CTX_ERROR, S_CTX_SLURMD, S_CTX_JOB_SCRIPT}) {
        start(context);
        EXPECT_TRUE(spank().registered.empty());
    }
}

TEST_F(Options, are_registered_in_clients_and_steps) {
    for (const spank_context_t context : {S_CTX_LOCAL, S_CTX_ALLOCATOR, S_CTX_REMOTE}) {
        start(context);
        EXPECT_EQ(spank().registered.size(), 16U);
        EXPECT_TRUE(registered("container-image").takes_argument);
        EXPECT_TRUE(registered("container-name").takes_argument);
        EXPECT_FALSE(registered("container-writable").takes_argument);
    }
}

TEST_F(Options, refuse_an_empty_value_as_pyxis_does) {
    start(S_CTX_LOCAL);
    EXPECT_EQ(registered("container-image").accept(0, "", 0), -1);
    EXPECT_EQ(registered("container-image").accept(0, nullptr, 0), -1);
    EXPECT_EQ(registered("container-image").accept(0, "ubuntu", 0), 0);
    EXPECT_EQ(registered("container-writable").accept(0, nullptr, 0), 0);
}

TEST_F(Options, let_nothing_thrown_out) {
    for (const char* thrower : {"spank_context", "spank_option_register"}) {
        for (const auto kind : {fake::Throws::bad_alloc, fake::Throws::runtime_error, fake::Throws::number}) {
            fake::reset();
            spank().context = S_CTX_LOCAL;
            spank().throws = kind;
            spank().thrower = thrower;
            EXPECT_EQ(slurm_spank_init(fake::handle(), 0, nullptr), 0);
            EXPECT_EQ(spank().log.size(), 1U);
        }
    }
}

}  // namespace
}  // namespace llmgw
