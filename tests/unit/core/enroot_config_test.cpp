#include "core/enroot_config.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

using Settings = std::vector<EnrootSetting>;
using Words = std::vector<std::string>;

TEST(EnrootConfig, is_read_as_enroot_reads_it) {
    EXPECT_EQ(parse_enroot_config("ENROOT_DATA_PATH /var/lib/enroot/$(id -u)\n"
                                  "# ENROOT_CACHE_PATH /x\n"
                                  "#ENROOT_CACHE_PATH /x\n"
                                  "\n"
                                  "  ENROOT_CACHE_PATH=/a b \t\n"
                                  "ENROOT_TEMP_PATH\t = /tmp\n"
                                  "ENROOT_SQUASH_OPTIONS -comp lzo -b=1\n"
                                  "ENROOT_REMAP_ROOT\n"
                                  "NVIDIA_VISIBLE_DEVICES void\n"
                                  "https_proxy http://proxy:3128\n"),
              (EnrootConfig{{{"ENROOT_DATA_PATH", "/var/lib/enroot/$(id -u)", 1},
                             {"ENROOT_CACHE_PATH", "/a b", 5},
                             {"ENROOT_TEMP_PATH", "/tmp", 6},
                             {"ENROOT_SQUASH_OPTIONS", "-comp lzo -b=1", 7},
                             {"ENROOT_REMAP_ROOT", "", 8},
                             {"NVIDIA_VISIBLE_DEVICES", "void", 9},
                             {"https_proxy", "http://proxy:3128", 10}},
                            {}}));
}

TEST(EnrootConfig, has_doubts_about_what_has_no_effect) {
    const EnrootConfig config =
        parse_enroot_config("ENROOT_DATAPATH /x\nENROOT_Data_PATH /x\nPATH /x\nENROOT_TEMP_PATH /x");
    EXPECT_EQ(config.settings, (Settings{{"ENROOT_DATAPATH", "/x", 1}}));
    EXPECT_EQ(config.doubts,
              (Words{"line 1 sets ENROOT_DATAPATH, which is no setting of enroot's that is known here",
                     "line 2 sets \"ENROOT_Data_PATH\", which enroot drops",
                     "line 3 sets \"PATH\", which enroot drops", "line 4 has no end, so enroot drops it"}));
}

TEST(EnrootConfig, of_enroots_own_package_sets_nothing) {
    EXPECT_EQ(
        parse_enroot_config(
            "#ENROOT_LIBRARY_PATH        /usr/lib/enroot\n\n# Gzip program\n#ENROOT_GZIP_PROGRAM gzip\n"),
        EnrootConfig{});
    EXPECT_EQ(parse_enroot_config(""), EnrootConfig{});
}

TEST(FixedPart, is_what_all_users_share) {
    EXPECT_EQ(fixed_part("/var/lib/enroot/data/user-$(id -u)"), "/var/lib/enroot/data");
    EXPECT_EQ(fixed_part("/scratch/${USER}/enroot"), "/scratch");
    EXPECT_EQ(fixed_part("/scratch/enroot"), "/scratch/enroot");
    EXPECT_EQ(fixed_part("/$(id -u)"), "/");
    EXPECT_EQ(fixed_part("${TMPDIR:-/tmp}"), "/tmp");
    EXPECT_EQ(fixed_part("\"/scratch/enroot\""), std::nullopt);
    for (const char* value :
         {"", "relative", "${TMPDIR}", "${HOME}/x", "${TMPDIR:-}", "${TMPDIR:-/tmp}/x", "$(cat /x)"}) {
        EXPECT_EQ(fixed_part(value), std::nullopt) << value;
    }
}

}  // namespace
}  // namespace llmgw
