#include "service/slurm_headers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/machine_check.hpp"
#include "unit/service/build_place.hpp"

namespace llmgw::service {
namespace {

class FindSlurmHeaders : public testing::Test {
  protected:
    void SetUp() override {
        if (::access("/usr/bin/cc", X_OK) != 0) GTEST_SKIP() << "no compiler";
    }
    // A compiler that finds these headers by itself, and none of the machine's.
    void compiler_with(const std::string& directory) {
        place_.program("cc", "exec /usr/bin/cc -nostdinc -isystem " + place_.file(directory) + " \"$@\"");
    }
    Result<SlurmHeaders> find(const std::string& version) {
        return find_slurm_headers(version, place_.tools);
    }
    test::BuildPlace place_;
};

TEST_F(FindSlurmHeaders, gives_those_that_the_compiler_takes) {
    place_.headers("include", "0x160508");
    compiler_with("include");
    const Result<SlurmHeaders> found = find("22.05.8");
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found.value(), (SlurmHeaders{place_.file("include"), "22.05.8", false}));
}

TEST_F(FindSlurmHeaders, refuses_those_of_another_slurm) {
    place_.headers("include", "0x180b05");
    compiler_with("include");
    EXPECT_EQ(find("22.05.8").error(),
              (Error{Code::conflict, "Slurm's headers in " + place_.file("include") +
                                         "/slurm are of 24.11.5, this machine runs Slurm 22.05.8; install "
                                         "libslurm-dev of 22.05.8, or remove those if they are left from "
                                         "another Slurm"}));
    EXPECT_EQ(find("24.11.6").error().code, Code::conflict) << "the stamp has the micro version, too";
    place_.tools.family = Family::rpm;
    EXPECT_NE(find("22.05.8").error().message.find("install slurm-devel of 22.05.8"), std::string::npos);
}

// Only one file of an older Slurm in front is enough to spoil the stamp.
TEST_F(FindSlurmHeaders, notices_a_copy_in_front) {
    place_.headers("include", "0x160508");
    place_.version_header("front", "0x140b09");
    place_.program("cc", "exec /usr/bin/cc -nostdinc -isystem " + place_.file("front") + " -isystem " +
                             place_.file("include") + " \"$@\"");
    const Error error = find("22.05.8").error();
    EXPECT_EQ(error.code, Code::conflict);
    EXPECT_NE(error.message.find(place_.file("front") + "/slurm are of 20.11.9"), std::string::npos)
        << error.message;
}

TEST_F(FindSlurmHeaders, puts_those_of_a_slurm_in_opt_in_front) {
    place_.headers("include", "0x160508");
    place_.headers("opt/include", "0x180b05");
    compiler_with("include");
    EXPECT_EQ(find("24.11.5").value(), (SlurmHeaders{place_.file("opt/include"), "24.11.5", true}));
    EXPECT_EQ(find("22.05.8").value(), (SlurmHeaders{place_.file("include"), "22.05.8", false}));
}

TEST_F(FindSlurmHeaders, names_the_package_where_there_are_none) {
    compiler_with("include");
    EXPECT_EQ(
        find("22.05.8").error(),
        (Error{Code::missing, "Slurm's headers (slurm/spank.h) are not installed; install libslurm-dev"}));
    place_.tools.family = Family::rpm;
    EXPECT_EQ(find("22.05.8").error().message,
              "Slurm's headers (slurm/spank.h) are not installed; install slurm-devel");
}

TEST_F(FindSlurmHeaders, tells_a_compiler_without_a_c_library) {
    place_.headers("include", "0x160508");
    std::ofstream(place_.file("include/slurm/spank.h")) << "#include <errno.h>\n";
    compiler_with("include");
    const Error error = find("22.05.8").error();
    EXPECT_EQ(error.code, Code::missing);
    EXPECT_NE(error.message.find("errno.h: No such file"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("libc6-dev"), std::string::npos) << error.message;
}

TEST(FindSlurmHeadersAlone, names_the_package_where_no_compiler_is) {
    const test::BuildPlace place;
    BuildTools tools = place.tools;
    tools.search_path = place.file("bin");
    EXPECT_EQ(find_slurm_headers("22.05.8", tools).error(),
              (Error{Code::missing,
                     "cc, which building pyxis needs, is not installed; install gcc and libc6-dev"}));
    EXPECT_EQ(find_tool(tools, "make").error().message,
              "make, which building pyxis needs, is not installed; install make");
    place.program("make", "true");
    EXPECT_EQ(find_tool(tools, "make").value(), place.file("bin/make"));
}

TEST(SlurmHeaders, are_found_in_what_the_preprocessor_says) {
    EXPECT_EQ(headers_in("# 1 \"/usr/include/slurm/spank.h\" 1 3 4\n# 20 \"/a b/slurm/slurm_version.h\" 3 4\n"
                         "#define _SLURM_VERSION_H_ \n#define SLURM_VERSION_NUMBER 0x160508\n"),
              (SlurmHeaders{"/a b", "22.05.8", false}));
    EXPECT_EQ(headers_in("# 1 \"/x/slurm/slurm.h\"\n#define SLURM_VERSION_NUMBER 1443080\n"),
              (SlurmHeaders{"/x", "22.05.8", false}));
    EXPECT_EQ(headers_in(""), SlurmHeaders{});
    EXPECT_EQ(headers_in("#define SLURM_VERSION_NUMBER_X 3\n#define SLURM_VERSION_NUMBER x\n# \"\n#"),
              SlurmHeaders{});
}

TEST(SlurmVersion, is_a_stamp) {
    EXPECT_EQ(stamp_of_version("22.05.8"), 0x160508U);
    EXPECT_EQ(stamp_of_version("26.5.0-0rc1"), 0x1a0500U);
    EXPECT_EQ(stamp_of_version(""), 0U);
    EXPECT_EQ(stamp_of_version("22.05"), 0U);
    EXPECT_EQ(stamp_of_version("22.05."), 0U);
    EXPECT_EQ(stamp_of_version("22.256.1"), 0U);
    EXPECT_EQ(full_version(0x160508), "22.05.8");
    EXPECT_EQ(full_version(0x180b0a), "24.11.10");
}

}  // namespace
}  // namespace llmgw::service
