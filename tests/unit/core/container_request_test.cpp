#include "core/container_request.hpp"

#include <gtest/gtest.h>

#include <string>

namespace llmgw {
namespace {

TEST(ContainerRequest, needs_a_value) {
    for (const RequestVariable& variable : request_variables) {
        EXPECT_EQ(request_in_entry(std::string(variable.name)), Request::none) << variable.name;
        EXPECT_EQ(request_in_entry(std::string(variable.name) + "="), Request::none) << variable.name;
        EXPECT_EQ(request_in_entry(std::string(variable.name) + "=x"), variable.request) << variable.name;
    }
}

TEST(ContainerRequest, is_not_seen_in_other_entries) {
    for (const char* entry :
         {"", "=", "=x", "PATH=/bin", "PYXIS_CONTAINER_MOUNTS=/a:/b", "XPYXIS_CONTAINER_IMAGE=x",
          "PYXIS_CONTAINER_IMAGES=x", "A=PYXIS_CONTAINER_IMAGE=x", "SLURM_CONTAINER=/bundle",
          "_SLURM_SPANK_OPTION_pyxis_container_mounts=x", "pyxis_container_image=x"}) {
        EXPECT_EQ(request_in_entry(entry), Request::none) << entry;
    }
}

TEST(ContainerRequest, is_the_same_in_text_of_either_kind) {
    for (const RequestVariable& variable : request_variables) {
        for (const char* rest : {"", "=", "=x", "x=x"}) {
            const std::string entry = variable.name + std::string(rest);
            EXPECT_EQ(request_in_entry(entry.c_str()), request_in_entry(entry)) << entry;
        }
        const std::string longest = variable.name + std::string("=") + std::string(100000, 'x');
        EXPECT_EQ(request_in_entry(longest.c_str()), variable.request);
    }
}

TEST(ContainerRequest, can_be_told_to_people) {
    EXPECT_STREQ(describe(Request::image_option), "--container-image");
    EXPECT_STREQ(describe(Request::name_variable), "the variable PYXIS_CONTAINER_NAME");
    EXPECT_STREQ(describe(Request::oci), "--container");
}

}  // namespace
}  // namespace llmgw
