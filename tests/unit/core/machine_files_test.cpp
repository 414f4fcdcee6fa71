#include "core/machine_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/marked_block.hpp"

// g++ 12 takes the text of an optional without a value for one that is read (GCC bug 105562).
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace llmgw {
namespace {

const std::string settings_first =
    "# llmgw-slurm: where enroot keeps containers, so that they need no login session and no HOME; written "
    "by "
    "llmgw-slurm-helper\n";

ResolvedSettings with_shared_path(const std::string& path) {
    ResolvedSettings settings;
    settings.shared_path = path;
    return settings;
}

std::vector<MachineFile> files_for(const EnrootLayout& layout, bool gpu = true,
                                   const std::string& shared = {}) {
    Result<std::vector<MachineFile>> files = enroot_files(with_shared_path(shared), layout, gpu);
    EXPECT_TRUE(files.ok()) << files.error().message;
    return files ? std::move(files).value() : std::vector<MachineFile>{};
}

std::string content_of(const std::vector<MachineFile>& files, const std::string& path) {
    const auto found =
        std::find_if(files.begin(), files.end(), [&](const MachineFile& file) { return file.path == path; });
    return found == files.end() ? "(none)" : found->content;
}

TEST(EnrootFiles, are_these_on_a_fresh_machine) {
    const std::vector<MachineFile> files = files_for({});
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[0],
              (MachineFile{"/etc/enroot/enroot.conf.d/zz-llmgw.conf",
                           settings_first + "# What enroot.conf or another file sets is left to it.\n"
                                            "ENROOT_RUNTIME_PATH /run/enroot/user-$(id -u)\n"
                                            "ENROOT_CACHE_PATH /var/lib/enroot/cache/user-$(id -u)\n"
                                            "ENROOT_DATA_PATH /var/lib/enroot/data/user-$(id -u)\n"
                                            "ENROOT_TEMP_PATH ${TMPDIR:-/tmp}\n"
                                            "ENROOT_REMAP_ROOT no\n"
                                            "ENROOT_ROOTFS_WRITABLE yes\n",
                           0644}));
    EXPECT_EQ(files[1],
              (MachineFile{"/etc/tmpfiles.d/llmgw-enroot.conf",
                           "# llmgw-slurm: directories of enroot and pyxis, made at every boot; written by "
                           "llmgw-slurm-helper\n"
                           "d /run/enroot 1777 root root -\n"
                           "d /var/lib/enroot 0755 root root -\n"
                           "d /var/lib/enroot/cache 1777 root root -\n"
                           "d /var/lib/enroot/data 1777 root root -\n"
                           "d /run/pyxis 0755 root root -\n",
                           0644}));
}

TEST(EnrootFiles, mount_the_shared_path_if_there_is_one) {
    EXPECT_EQ(content_of(files_for({}, true, "/cluster/home"), "/etc/enroot/mounts.d/50-llmgw-shared.fstab"),
              "# llmgw-slurm: the cluster's shared path, in every container; written by llmgw-slurm-helper\n"
              "/cluster/home /cluster/home none x-create=dir,rbind,rw,nosuid\n");
    EXPECT_EQ(content_of(files_for({}), "/etc/enroot/mounts.d/50-llmgw-shared.fstab"), "(none)");
}

TEST(EnrootFiles, have_a_hook_where_no_gpu_is) {
    const std::vector<MachineFile> files = files_for({}, false);
    const auto hook = std::find_if(files.begin(), files.end(), [](const MachineFile& file) {
        return file.path == "/etc/enroot/hooks.d/97-llmgw-no-gpu.sh";
    });
    ASSERT_NE(hook, files.end());
    EXPECT_EQ(hook->mode, 0755U);
    EXPECT_TRUE(hook->content.starts_with("#!/usr/bin/env bash\n# llmgw-slurm: no GPU is here"));
}

TEST(EnrootFiles, leave_to_others_what_they_have_set) {
    EnrootLayout layout;
    layout.set_by_others = {{"ENROOT_DATA_PATH", {"/scratch/$(id -u)", "/etc/enroot/enroot.conf"}},
                            {"ENROOT_CACHE_PATH", {"/scratch/cache", "/etc/enroot/enroot.conf.d/site.conf"}},
                            {"ENROOT_REMAP_ROOT", {"yes", "/etc/enroot/enroot.conf"}}};
    const std::vector<MachineFile> files = files_for(layout);
    EXPECT_EQ(files[0].content, settings_first +
                                    "# What enroot.conf or another file sets is left to it.\n"
                                    "ENROOT_RUNTIME_PATH /run/enroot/user-$(id -u)\n"
                                    "# ENROOT_CACHE_PATH is set in /etc/enroot/enroot.conf.d/site.conf\n"
                                    "# ENROOT_DATA_PATH is set in /etc/enroot/enroot.conf\n"
                                    "ENROOT_TEMP_PATH ${TMPDIR:-/tmp}\n"
                                    "# ENROOT_REMAP_ROOT is set in /etc/enroot/enroot.conf\n"
                                    "ENROOT_ROOTFS_WRITABLE yes\n");
    // Nor are directories made that nobody asked us for.
    EXPECT_EQ(directories_in(files[1].content),
              (std::vector<Directory>{{"/run/enroot", 01777}, {"/run/pyxis", 0755}}));
}

TEST(EnrootFiles, are_a_block_where_no_dropins_are_read) {
    EnrootLayout layout;
    layout.reads_dropins = false;
    layout.config = "ENROOT_MAX_PROCESSORS 4";
    layout.config_mode = 0640;
    const MachineFile first = files_for(layout)[0];
    EXPECT_EQ(first.path, "/etc/enroot/enroot.conf");
    EXPECT_EQ(first.mode, 0640U);
    EXPECT_TRUE(
        first.content.starts_with("ENROOT_MAX_PROCESSORS 4\n# llmgw-slurm begin: where enroot keeps"));
    EXPECT_EQ(unmark(first.content).value().rest, "ENROOT_MAX_PROCESSORS 4");
    // The same once it is there.
    layout.config = first.content;
    EXPECT_EQ(files_for(layout)[0], first);
    layout.config->pop_back();
    layout.config->pop_back();
    const Result<std::vector<MachineFile>> cut = enroot_files({}, layout, true);
    ASSERT_FALSE(cut.ok());
    EXPECT_TRUE(cut.error().message.starts_with("/etc/enroot/enroot.conf: line ")) << cut.error().message;
}

TEST(EnrootFiles, are_refused_where_something_else_is_in_their_place) {
    EnrootLayout layout;
    layout.foreign = {"/etc/tmpfiles.d/llmgw-enroot.conf"};
    const Result<std::vector<MachineFile>> files = enroot_files({}, layout, true);
    ASSERT_FALSE(files.ok());
    EXPECT_EQ(files.error(), (Error{Code::conflict,
                                    "/etc/tmpfiles.d/llmgw-enroot.conf is there and not from "
                                    "llmgw-slurm; move it away, it may stay under another name"}));
}

TEST(EnrootFiles, are_refused_where_jobs_would_run_another_enroot) {
    EnrootLayout layout;
    layout.programs = {"/usr/local/bin/enroot", "/usr/bin/enroot"};
    const Result<std::vector<MachineFile>> files = enroot_files({}, layout, true);
    ASSERT_FALSE(files.ok());
    EXPECT_EQ(files.error(), (Error{Code::conflict,
                                    "two enroots are installed, and jobs would run /usr/local/bin/enroot "
                                    "instead of /usr/bin/enroot; remove one of them"}));
    layout.programs = {"/usr/bin/enroot", "/bin/enroot"};
    EXPECT_TRUE(enroot_files({}, layout, true).ok());
    layout.programs = {"/usr/local/bin/enroot"};
    EXPECT_TRUE(enroot_files({}, layout, true).ok()) << "not another one: ours is not installed yet";
}

TEST(EnrootFiles, are_all_among_their_places_and_say_whose_they_are) {
    EnrootLayout layout;
    const std::vector<std::string> places = enroot_file_places(layout);
    const std::vector<MachineFile> files = files_for(layout, false, "/cluster");
    EXPECT_EQ(files.size(), places.size());
    for (const MachineFile& file : files) {
        EXPECT_NE(std::find(places.begin(), places.end(), file.path), places.end()) << file.path;
        EXPECT_TRUE(is_ours(file.content)) << file.path;
        EXPECT_TRUE(file.content.ends_with('\n')) << file.path;
    }
}

TEST(UserDirectories, are_those_of_our_settings_and_of_others_in_the_same_form) {
    EnrootLayout layout;
    EXPECT_EQ(user_directories(layout),
              (std::vector<std::string>{"/run/enroot", "/var/lib/enroot/cache", "/var/lib/enroot/data"}));
    layout.set_by_others["ENROOT_DATA_PATH"] = {"/raid/enroot/user-$(id -u)", "/etc/enroot/enroot.conf"};
    layout.set_by_others["ENROOT_CACHE_PATH"] = {"${HOME}/user-$(id -u)", "/etc/enroot/enroot.conf"};
    layout.set_by_others["ENROOT_RUNTIME_PATH"] = {"/run/user/$(id -u)/enroot", "/etc/enroot/enroot.conf"};
    EXPECT_EQ(user_directories(layout), (std::vector<std::string>{"/raid/enroot"}));
}

TEST(DirectoriesIn, a_tmpfiles_file) {
    EXPECT_EQ(
        directories_in(
            "# d /x 0755\nd /a 1777 root root -\nf /b 0644 root root -\nd /c\n\nd /d 0755 root root -\n"),
        (std::vector<Directory>{{"/a", 01777}, {"/d", 0755}}));
}

}  // namespace
}  // namespace llmgw
