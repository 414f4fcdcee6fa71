#include "core/path_finding.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

constexpr PathUse every_use[] = {PathUse::data, PathUse::cache, PathUse::runtime, PathUse::temp,
                                 PathUse::shared};

// A disk that can do everything.
PathFinding good(PathUse use) {
    PathFinding finding;
    finding.use = use;
    finding.path = "/var/lib/enroot/data";
    finding.probed = "/var/lib";
    finding.type = "ext4";
    finding.user_xattrs = finding.trusted_xattrs = finding.whiteouts = true;
    finding.free_bytes = 1ULL << 40;
    finding.free_inodes = 1000000;
    return finding;
}

std::string reason(PathUse use, const std::function<void(PathFinding&)>& change) {
    PathFinding finding = good(use);
    change(finding);
    return unfit(finding).value_or("");
}

TEST(Unfit, is_no_disk_that_can_do_everything) {
    for (const PathUse use : every_use) EXPECT_EQ(unfit(good(use)), std::nullopt) << text_of(use);
}

TEST(Unfit, is_what_lacks_what_its_use_needs) {
    struct Row {
        const char* name;
        void (*change)(PathFinding&);
        std::string unfit_for;  // letters of uses: data, cache, runtime, temp, shared
    };
    const Row rows[] = {
        {"read-only", [](PathFinding& f) { f.read_only = true; }, "dcrt"},
        {"network", [](PathFinding& f) { f.network = true; }, "drt"},
        {"noexec", [](PathFinding& f) { f.noexec = true; }, "d"},
        {"no whiteouts", [](PathFinding& f) { f.whiteouts = false; }, "t"},
        {"no user attributes", [](PathFinding& f) { f.user_xattrs = false; }, "d"},
        {"no trusted attributes", [](PathFinding& f) { f.trusted_xattrs = false; }, ""},
        {"no attributes", [](PathFinding& f) { f.trusted_xattrs = f.user_xattrs = false; }, "dt"},
        {"full", [](PathFinding& f) { f.free_bytes = 0; }, "dcrt"},
        {"no inodes left", [](PathFinding& f) { f.free_inodes = 0; }, "drt"},
        {"inodes without a number", [](PathFinding& f) { f.free_inodes.reset(); }, ""},
        {"failure", [](PathFinding& f) { f.failure = "gone"; }, "dcrts"}};
    for (const Row& row : rows) {
        std::string unfit_for;
        for (const PathUse use : every_use) {
            if (!reason(use, row.change).empty()) unfit_for += text_of(use)[0];
        }
        EXPECT_EQ(unfit_for, row.unfit_for) << row.name;
    }
}

TEST(Unfit, names_path_property_and_remedy) {
    EXPECT_EQ(reason(PathUse::data, [](PathFinding& f) { f.type = "nfs", f.network = true; }),
              "/var/lib/enroot/data is on nfs, which is no local file system; set ENROOT_DATA_PATH in "
              "/etc/enroot/enroot.conf to a place on a local disk, or mount one there");
    EXPECT_EQ(
        reason(PathUse::temp,
               [](PathFinding& f) { f.type = "overlay", f.path = "/tmp", f.whiteouts = false; }),
        "/tmp is on overlay, which can't hold whiteouts (mknod c 0 0), as images' layers need them; set "
        "ENROOT_TEMP_PATH in /etc/enroot/enroot.conf to a place on a local disk, or mount one there");
    EXPECT_TRUE(
        reason(PathUse::data, [](PathFinding& f) { f.type = "tmpfs", f.free_bytes = 64 << 20; })
            .starts_with(
                "/var/lib/enroot/data is on tmpfs with 64 MiB free, at least 1024 MiB are needed; set"));
    EXPECT_EQ(reason(PathUse::shared,
                     [](PathFinding& f) { f.path = "/cluster", f.failure = "No such file or directory"; }),
              "the shared path /cluster can't be mounted into containers: No such file or directory; mount "
              "it on this "
              "machine");
}

TEST(Unfit, begins_right_below_the_limits) {
    const auto free = [](std::uint64_t bytes) { return [bytes](PathFinding& f) { f.free_bytes = bytes; }; };
    EXPECT_EQ(reason(PathUse::data, free(limits::container_space_bytes)), "");
    EXPECT_NE(reason(PathUse::data, free(limits::container_space_bytes - 1)), "");
    EXPECT_EQ(reason(PathUse::runtime, free(limits::runtime_space_bytes)), "");
    EXPECT_NE(reason(PathUse::runtime, free(limits::runtime_space_bytes - 1)), "");
    const auto inodes = [](std::uint64_t count) {
        return [count](PathFinding& f) { f.free_inodes = count; };
    };
    EXPECT_EQ(reason(PathUse::temp, inodes(limits::container_space_inodes)), "");
    EXPECT_NE(reason(PathUse::temp, inodes(limits::container_space_inodes - 1)), "");
    EXPECT_EQ(reason(PathUse::runtime, inodes(limits::runtime_space_inodes)), "");
    EXPECT_NE(reason(PathUse::runtime, inodes(limits::runtime_space_inodes - 1)), "");
}

TEST(Unfit, shows_others_words_safely) {
    const std::string text =
        reason(PathUse::data, [](PathFinding& f) { f.path = "/a\n\x1b[2J", f.failure = "x\ny"; });
    EXPECT_EQ(text.find_first_of("\n\x1b"), std::string::npos);
}

TEST(PathNeeds, come_from_the_settings_that_count) {
    EnrootLayout layout;
    EXPECT_EQ(path_needs(layout, ""), (std::vector<PathNeed>{{PathUse::data, "/var/lib/enroot/data"},
                                                             {PathUse::cache, "/var/lib/enroot/cache"},
                                                             {PathUse::runtime, "/run/enroot"},
                                                             {PathUse::temp, "/tmp"}}));
    layout.set_by_others = {{"ENROOT_DATA_PATH", {"/scratch/$(id -u)", "x"}},
                            {"ENROOT_CACHE_PATH", {"${HOME}/c", "x"}}};
    EXPECT_EQ(path_needs(layout, "/cluster"), (std::vector<PathNeed>{{PathUse::data, "/scratch"},
                                                                     {PathUse::runtime, "/run/enroot"},
                                                                     {PathUse::temp, "/tmp"},
                                                                     {PathUse::shared, "/cluster"}}));
}

TEST(PathFindingText, is_read_as_it_was_written) {
    for (const PathUse use : every_use) {
        PathFinding finding = good(use);
        EXPECT_EQ(path_finding_from(state_text_of(finding)).value(), finding);
        finding.whiteouts = false;
        finding.network = finding.noexec = true;
        finding.free_inodes.reset();
        finding.failure = "cannot open /x: No such file or directory";
        EXPECT_EQ(path_finding_from(state_text_of(finding)).value(), finding);
    }
    EXPECT_FALSE(path_finding_from("").ok());
    EXPECT_FALSE(path_finding_from("llmgw-slurm-path 2\nend\n").ok());
}

}  // namespace
}  // namespace llmgw
