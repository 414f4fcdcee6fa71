#include "core/plugstack_edit.hpp"

#include <gtest/gtest.h>

#include "core/marked_block.hpp"
#include "unit/core/stack_sites.hpp"

namespace llmgw {
namespace {

using namespace test;

const std::string first_line =
    "# llmgw-slurm: " + std::string(stack_purpose) + "; written by llmgw-slurm-helper\n";
const std::string all_lines = guard_line + options_line + pyxis_line + verify_line;

StackSite made(const StackSite& site, bool with_pyxis = true) {
    return edited(site, edits_of(stack_edits(site, stack_libraries, with_pyxis)));
}

std::string refused(const StackSite& site) {
    const Result<FileEdits> edits = stack_edits(site, stack_libraries, true);
    EXPECT_FALSE(edits.ok());
    return edits ? "" : edits.error().message;
}

TEST(StackEdits, put_a_file_into_an_included_directory) {
    const StackSite site = stack_site({{stack_main, debian_main}});
    const FileEdits edits = edits_of(stack_edits(site, stack_libraries, true));
    ASSERT_EQ(edits.size(), 1U);
    EXPECT_EQ(edits[0], (FileEdit{dropin("llmgw.conf"), std::nullopt, first_line + all_lines, 0644, true}));
    EXPECT_EQ(file_in(made(site, false), dropin("llmgw.conf")),
              first_line + guard_line + options_line + verify_line);
}

TEST(StackEdits, write_the_file_that_is_missing) {
    const StackSite after = made(stack_site({}));
    EXPECT_EQ(after.tree.files.size(), 1U);
    EXPECT_EQ(file_in(after, stack_main),
              with_block(std::nullopt, BlockPlace::end, stack_purpose, all_lines));
    EXPECT_TRUE(file_in(after, stack_main).starts_with("# llmgw-slurm begin: "))
        << "the first line says whose it is";
}

TEST(StackEdits, add_a_block_where_no_directory_is_included) {
    const std::string text = "# our plugins\nrequired /opt/site/lua.so /etc/lua.d/*";
    const StackSite after = made(stack_site({{stack_main, text}}));
    EXPECT_EQ(file_in(after, stack_main), with_block(text, BlockPlace::end, stack_purpose, all_lines));
}

// A directory that users can write, or that other machines share, is none for us.
TEST(StackEdits, add_a_block_where_the_directory_is_unfit) {
    StackSite site = stack_site({{stack_main, debian_main}});
    site.directories.clear();
    EXPECT_EQ(made(site).tree.files.size(), 1U);
}

TEST(StackEdits, find_a_name_that_the_pattern_takes) {
    const auto name_for = [](const std::string& pattern) {
        const StackSite after =
            made(stack_site({{stack_main, "include " + stack_dropins + "/" + pattern + "\n"}}));
        for (const auto& [path, text] : after.tree.files) {
            if (path != stack_main) return path.substr(stack_dropins.size() + 1);
        }
        return std::string();
    };
    EXPECT_EQ(name_for("*.conf"), "llmgw.conf");
    EXPECT_EQ(name_for("*"), "llmgw.conf");
    EXPECT_EQ(name_for("[0-9]*.conf"), "50-llmgw.conf");
    EXPECT_EQ(name_for("??????"), "");
    EXPECT_EQ(name_for("?????"), "llmgw");
    EXPECT_EQ(name_for("one.conf"), "") << "not a pattern: a single file, which is the site's";
}

TEST(StackEdits, leave_a_file_of_the_site_that_has_the_name) {
    const StackSite after =
        made(stack_site({{stack_main, debian_main}, {dropin("llmgw.conf"), "optional /s/a.so\n"}}));
    EXPECT_EQ(file_in(after, dropin("llmgw.conf")), "optional /s/a.so\n");
    EXPECT_EQ(file_in(after, dropin("50-llmgw.conf")), first_line + all_lines);
}

TEST(StackEdits, say_run_dir_when_it_is_another) {
    StackLibraries libraries = stack_libraries;
    libraries.run_dir = "/run/lab/n1";
    const StackSite site = stack_site({});
    const StackSite after = edited(site, edits_of(stack_edits(site, libraries, true)));
    EXPECT_NE(file_in(after, stack_main).find("spank_llmgw.so verify run_dir=/run/lab/n1\n"),
              std::string::npos);
    EXPECT_NE(file_in(after, stack_main).find("spank_llmgw.so run_dir=/run/lab/n1\n"), std::string::npos);
}

TEST(StackEdits, refuse_paths_that_slurm_would_read_otherwise) {
    for (const char* path :
         {"", "spank_pyxis.so", "/a b/spank_pyxis.so", "/a#b/spank_pyxis.so", "/a\n/spank_pyxis.so"}) {
        StackLibraries libraries = stack_libraries;
        libraries.pyxis = path;
        const Result<FileEdits> edits = stack_edits(stack_site({}), libraries, true);
        ASSERT_FALSE(edits.ok()) << path;
        EXPECT_EQ(edits.error().code, Code::invalid);
    }
}

TEST(StackEdits, change_nothing_when_all_is_there_by_hand) {
    const StackSite site = stack_site({{stack_main, all_lines}});
    EXPECT_TRUE(edits_of(stack_edits(site, stack_libraries, true)).empty());
    EXPECT_TRUE(edits_of(stack_edits(site, stack_libraries, false)).empty());
}

TEST(StackEdits, add_to_what_is_there_by_hand) {
    const StackSite after = made(stack_site({{stack_main, guard_line + options_line}}));
    EXPECT_EQ(file_in(after, stack_main), with_block(guard_line + options_line, BlockPlace::end,
                                                     stack_purpose, guard_line + pyxis_line + verify_line))
        << "options that were registered twice would be said on every command";
}

TEST(SitesOwnPyxis, gets_the_guard_around_it_in_an_included_directory) {
    const std::string theirs = "optional /opt/pyxis/spank_pyxis.so container_scope=job\n";
    const StackSite site = stack_site({{stack_main, debian_main}, {dropin("pyxis.conf"), theirs}});
    EXPECT_EQ(site_pyxis(site).value(), dropin("pyxis.conf") + ":1");
    const FileEdits edits = edits_of(stack_edits(site, stack_libraries, true));
    ASSERT_EQ(edits.size(), 2U);
    EXPECT_EQ(edits[0].path, dropin("00-llmgw.conf"))
        << "the guard first, which refuses until it is verified";
    EXPECT_EQ(edits[0].after, first_line + guard_line + options_line);
    EXPECT_EQ(edits[1].path, dropin("zz-llmgw.conf"));
    EXPECT_EQ(edits[1].after, first_line + verify_line);
    const StackSite after = edited(site, edits);
    EXPECT_EQ(file_in(after, dropin("pyxis.conf")), theirs);
    EXPECT_EQ(site_pyxis(after).value(), dropin("pyxis.conf") + ":1");
    const FileEdits undo = edits_of(without_us(after));
    ASSERT_EQ(undo.size(), 2U);
    EXPECT_EQ(undo[0].path, dropin("zz-llmgw.conf")) << "the guard last, which refuses without verify";
}

TEST(SitesOwnPyxis, gets_blocks_around_it_in_the_main_file) {
    const std::string text = "optional /s/a.so\noptional /opt/spank_pyxis.so";
    const StackSite after = made(stack_site({{stack_main, text}}));
    const std::string front = with_block(text, BlockPlace::head, stack_purpose, guard_line + options_line);
    EXPECT_EQ(file_in(after, stack_main), with_block(front, BlockPlace::end, stack_purpose, verify_line));
}

TEST(SitesOwnPyxis, may_need_one_of_each) {
    const StackSite behind = made(stack_site({{stack_main, debian_main + pyxis_line}}));
    EXPECT_EQ(file_in(behind, dropin("00-llmgw.conf")), first_line + guard_line + options_line);
    EXPECT_TRUE(file_in(behind, stack_main).ends_with(verify_line + "# llmgw-slurm end\n"));
    const StackSite before = made(stack_site({{stack_main, pyxis_line + debian_main}}));
    EXPECT_EQ(file_in(before, dropin("zz-llmgw.conf")), first_line + verify_line);
    EXPECT_TRUE(file_in(before, stack_main).starts_with("# llmgw-slurm begin"));
}

TEST(SitesOwnPyxis, may_be_called_what_sorts_first_or_last) {
    for (const char* name : {"!first.conf", "00-a.conf", "~last.conf", "zzz.conf"}) {
        const StackSite after = made(stack_site({{stack_main, debian_main}, {dropin(name), pyxis_line}}));
        EXPECT_EQ(unsafe_stack(stack_in(after)), std::nullopt) << name;
    }
}

TEST(SitesOwnPyxis, is_refused_when_it_is_required) {
    EXPECT_EQ(refused(stack_site({{stack_main, "# x\nrequired /opt/spank_pyxis.so\n"}})),
              stack_main +
                  ":2 loads \"/opt/spank_pyxis.so\" as required, which fails every job while it is missing; "
                  "write optional there");
    EXPECT_EQ(refused(stack_site({{stack_main, "required /usr/lib/slurm/spank_llmgw.so\n"}})),
              stack_main +
                  ":1 loads \"/usr/lib/slurm/spank_llmgw.so\" as required, which fails every job while it is "
                  "missing; write optional there");
}

TEST(SitesOwnPyxis, is_refused_twice) {
    EXPECT_EQ(refused(stack_site({{stack_main, pyxis_line + debian_main}, {dropin("p.conf"), pyxis_line}})),
              dropin("p.conf") + ":1 loads pyxis, as " + stack_main + ":1 does already; remove one of them");
}

TEST(SitesOwnPyxis, is_refused_under_another_name) {
    StackSite site = stack_site({{stack_main, "optional /opt/container.so\n"}});
    site.aliases = {"/opt/container.so"};
    EXPECT_EQ(refused(site),
              stack_main +
                  ":1 loads pyxis as \"/opt/container.so\", by which the guard doesn't know it; "
                  "call the file spank_pyxis.so");
}

TEST(LockedStack, still_takes_files_in_an_included_directory) {
    StackSite site = stack_site({{stack_main, debian_main}});
    site.main_locked = "is a symbolic link to \"/shared/plugstack.conf\"";
    EXPECT_EQ(file_in(made(site), dropin("llmgw.conf")), first_line + all_lines);
}

TEST(LockedStack, is_refused_without_one) {
    StackSite site = stack_site({{stack_main, "optional /s/a.so\n"}});
    site.main_locked = "comes from the controller, whose own plugstack.conf is the one to edit";
    EXPECT_EQ(refused(site),
              "llmgw-slurm's lines have no place in /etc/slurm/plugstack.conf, which comes from the "
              "controller, whose own plugstack.conf is the one to edit; put the line \"include "
              "/etc/slurm/plugstack.conf.d/*.conf\" there");
    site.unfit_directories = {{"/shared/slurm.d", "is on nfs, which other machines may use, too"}};
    EXPECT_NE(refused(site).find("; /shared/slurm.d is on nfs, which other machines may use, too; put"),
              std::string::npos);
    site.tree.files[stack_main] = pyxis_line;
    EXPECT_TRUE(refused(site).starts_with(
        "/etc/slurm/plugstack.conf:1 loads pyxis, and the guard can't be put around it"));
}

// What an admin of the controller has there is the site's on a node, even if our helper wrote it on the
// controller.
TEST(LockedStack, has_no_lines_of_ours) {
    const StackSite controller = made(stack_site({{stack_main, "optional /s/a.so\n"}}));
    StackSite node = stack_site({{stack_main, file_in(controller, stack_main)}});
    node.main_locked = "comes from the controller";
    EXPECT_TRUE(edits_of(stack_edits(node, stack_libraries, true)).empty());
    EXPECT_TRUE(edits_of(without_us(node)).empty());
    EXPECT_TRUE(edits_of(without_pyxis(node)).empty());
}

// Lines in a file that all machines get would name this machine's libraries on those that have none.
TEST(PublishedStack, gets_an_include_and_not_the_lines) {
    StackSite controller = stack_site({{stack_main, "optional /s/a.so\n"}});
    controller.published = true;
    const StackSite after = made(controller);
    EXPECT_EQ(file_in(after, stack_main), with_block("optional /s/a.so\n", BlockPlace::end, stack_purpose,
                                                     "include " + stack_dropins + "/llmgw*.conf\n"));
    EXPECT_EQ(file_in(after, dropin("llmgw.conf")), first_line + all_lines);
    EXPECT_EQ(edited(after, edits_of(without_us(after))).tree, controller.tree);
    StackSite node = stack_site({{stack_main, file_in(after, stack_main)}});
    node.main_locked = "comes from the controller";
    EXPECT_EQ(file_in(made(node), dropin("llmgw.conf")), first_line + all_lines);
}

TEST(OurLines, are_not_taken_out_with_somebodys_among_them) {
    StackSite site = made(stack_site({{stack_main, debian_main}}));
    site.tree.files[dropin("llmgw.conf")] += "optional /s/a.so\n";
    const std::string reason =
        dropin("llmgw.conf") +
        " has the line \"optional /s/a.so\" among those of llmgw-slurm, which rewrites and removes "
        "them; move it out, into a file of your own or in front of them";
    EXPECT_EQ(refused(site), reason);
    EXPECT_EQ(without_us(site).error(), (Error{Code::conflict, reason}));
    StackSite block =
        stack_site({{stack_main, with_block("", BlockPlace::end, "x", guard_line + "include /s/*\n")}});
    EXPECT_TRUE(refused(block).starts_with(stack_main + " has the line \"include /s/*\""));
}

TEST(OurLines, are_an_error_when_somebody_cut_them) {
    StackSite site = made(stack_site({{stack_main, "optional /s/a.so\n"}}));
    site.tree.files[stack_main] += "# llmgw-slurm end\n";
    EXPECT_TRUE(refused(site).starts_with(stack_main + ": line ")) << refused(site);
    EXPECT_FALSE(without_us(site).ok());
}

// A comment sign is how people turn a line off; what the settings say comes back.
TEST(OurLines, come_back_when_somebody_changed_them) {
    const StackSite right = made(stack_site({{stack_main, debian_main}}));
    for (const std::string& text : {first_line, first_line + "#" + guard_line + pyxis_line + verify_line,
                                    first_line + pyxis_line + guard_line}) {
        StackSite site = right;
        site.tree.files[dropin("llmgw.conf")] = text;
        EXPECT_EQ(made(site).tree, right.tree);
    }
}

// Without its include, our file counts for nothing; it goes with the rest.
TEST(OurLines, are_found_where_nothing_includes_them_any_more) {
    StackSite site = made(stack_site({{stack_main, debian_main}}));
    site.tree.files[stack_main] = "optional /s/a.so\n";
    const StackSite after = made(site);
    EXPECT_EQ(file_in(after, dropin("llmgw.conf")), "(none)");
    EXPECT_EQ(unsafe_stack(stack_in(after)), std::nullopt);
}

TEST(WithoutPyxis, takes_out_that_line_alone) {
    for (const std::string& main : {debian_main, std::string("optional /s/a.so\n")}) {
        const StackSite site = made(stack_site({{stack_main, main}}));
        const StackSite after = edited(site, edits_of(without_pyxis(site)));
        EXPECT_EQ(pyxis_in(stack_in(after)), std::nullopt);
        EXPECT_EQ(after.tree, made(stack_site({{stack_main, main}}), false).tree);
        EXPECT_TRUE(edits_of(without_pyxis(after)).empty());
        EXPECT_EQ(made(after).tree, site.tree);
    }
}

TEST(WithoutPyxis, leaves_the_sites_own) {
    const StackSite site = made(stack_site({{stack_main, debian_main}, {dropin("pyxis.conf"), pyxis_line}}));
    EXPECT_TRUE(edits_of(without_pyxis(site)).empty());
}

}  // namespace
}  // namespace llmgw
