// Machines' stacks for tests of the editor, and what must hold whatever is edited.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/edit_order.hpp"
#include "core/plugstack_edit.hpp"

namespace llmgw::test {

inline const std::string stack_main = "/etc/slurm/plugstack.conf";
inline const std::string stack_dropins = "/etc/slurm/plugstack.conf.d";
inline const StackLibraries stack_libraries{"/usr/lib/slurm/spank_llmgw.so",
                                            "/usr/lib/slurm/spank_llmgw_options.so",
                                            "/usr/local/lib/slurm/spank_pyxis.so", "/run/llmgw-slurm"};
inline const std::string guard_line = "optional /usr/lib/slurm/spank_llmgw.so\n";
inline const std::string options_line = "optional /usr/lib/slurm/spank_llmgw_options.so\n";
inline const std::string pyxis_line = "optional /usr/local/lib/slurm/spank_pyxis.so\n";
inline const std::string verify_line = "optional /usr/lib/slurm/spank_llmgw.so verify\n";
inline const std::string debian_main = "include /etc/slurm/plugstack.conf.d/*.conf\n";

inline std::string dropin(const std::string& name) {
    return stack_dropins + "/" + name;
}

inline StackSite stack_site(std::map<std::string, std::string> files) {
    StackSite site;
    site.tree = {stack_main, std::move(files)};
    site.directories = {stack_dropins};
    return site;
}

inline std::string file_in(const StackSite& site, const std::string& path) {
    const auto found = site.tree.files.find(path);
    return found == site.tree.files.end() ? "(none)" : found->second;
}

// Does the edits on the values, as apply_edits() does them on disk, and holds that no state on the way is
// worse than where it begins and ends.
inline StackSite edited(StackSite site, const FileEdits& edits) {
    PlugstackTree end = site.tree;
    for (const FileEdit& edit : edits) {
        end.files.erase(edit.path);
        if (edit.after) end.files[edit.path] = *edit.after;
    }
    const StackDanger most = std::max(danger_of(site.tree), danger_of(end));
    for (const FileEdit& edit : edits) {
        const auto there = site.tree.files.find(edit.path);
        EXPECT_EQ(there != site.tree.files.end(), edit.before.has_value()) << edit.path;
        if (there != site.tree.files.end() && edit.before) {
            EXPECT_EQ(there->second, *edit.before) << edit.path;
        }
        EXPECT_NE(edit.before, edit.after) << edit.path;
        site.tree.files.erase(edit.path);
        if (edit.after) site.tree.files[edit.path] = *edit.after;
        EXPECT_LE(danger_of(site.tree), most) << "after " << edit.path;
    }
    EXPECT_EQ(site.tree, end);
    return site;
}

inline Plugstack stack_in(const StackSite& site) {
    const Result<ResolvedStack> resolved = resolve_stack(site.tree);
    EXPECT_TRUE(resolved.ok());
    return resolved ? resolved.value().stack() : Plugstack{};
}

inline FileEdits edits_of(const Result<FileEdits>& edits) {
    EXPECT_TRUE(edits.ok()) << edits.error().message;
    return edits ? edits.value() : FileEdits{};
}

}  // namespace llmgw::test
