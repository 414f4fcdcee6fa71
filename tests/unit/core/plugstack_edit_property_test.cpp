// What must hold for every site: all of these files in all combinations.
#include <gtest/gtest.h>

#include "unit/core/stack_sites.hpp"

namespace llmgw {
namespace {

using namespace test;

const std::string other = "/etc/slurm/more.d";

std::vector<StackSite> all_sites() {
    const std::vector<std::string> mains{"(none)",
                                         "",
                                         "# nothing\n",
                                         debian_main,
                                         "include plugstack.conf.d/*.conf",
                                         "optional /s/a.so\n",
                                         "optional /s/a.so",
                                         pyxis_line,
                                         "optional /s/a.so\noptional spank_pyxis.so x=1\noptional /s/b.so",
                                         debian_main + pyxis_line,
                                         pyxis_line + debian_main,
                                         debian_main + debian_main,
                                         "include " + stack_dropins + "/*\n",
                                         "include " + stack_dropins + "/[0-9]*.conf\n",
                                         "include " + other + "/*.conf\n" + debian_main,
                                         guard_line,
                                         guard_line + pyxis_line,
                                         guard_line + options_line + pyxis_line + verify_line,
                                         guard_line + verify_line + debian_main,
                                         verify_line + debian_main + guard_line,
                                         "optional /s/a.so\r\n" + debian_main};
    const std::vector<std::map<std::string, std::string>> dropins{
        {},
        {{dropin("10-site.conf"), "optional /s/c.so"}},
        {{dropin("pyxis.conf"), pyxis_line}},
        {{dropin("00-a.conf"), pyxis_line}},
        {{dropin("llmgw.conf"), "optional /s/c.so\n"}, {dropin("50-llmgw.conf"), "# mine"}},
        {{dropin("00-llmgw.conf"), pyxis_line}},
        {{other + "/x.conf", "optional /s/d.so\ninclude ../plugstack.conf.d/p*.conf\n"}}};
    std::vector<StackSite> sites;
    for (const std::string& main : mains) {
        for (std::map<std::string, std::string> files : dropins) {
            if (main != "(none)") files[stack_main] = main;
            for (const bool published : {false, true}) {
                for (const bool locked : {false, true}) {
                    StackSite site = stack_site(files);
                    site.directories.insert(other);
                    site.published = published;
                    if (locked) site.main_locked = "is locked";
                    sites.push_back(std::move(site));
                }
            }
        }
    }
    return sites;
}

std::string described(const StackSite& site) {
    std::string text = site.published ? "published\n" : "";
    text += site.main_locked.empty() ? "" : "locked\n";
    for (const auto& [path, content] : site.tree.files) text += "== " + path + "\n" + content + "\n";
    return text;
}

// Its pyxis can't be made safe, or there is no place for our lines: then nothing is edited at all.
bool is_refused(const StackSite& site, bool with_pyxis) {
    return !stack_edits(site, stack_libraries, with_pyxis).ok();
}

StackSite made(const StackSite& site, bool with_pyxis) {
    return edited(site, edits_of(stack_edits(site, stack_libraries, with_pyxis)));
}

TEST(EverySite, is_safe_after_the_edits_and_as_before_after_undo) {
    std::size_t done = 0;
    for (const StackSite& site : all_sites()) {
        SCOPED_TRACE(described(site));
        const bool own = pyxis_in(stack_in(site)).has_value();
        for (const bool with_pyxis : {false, true}) {
            if (is_refused(site, with_pyxis)) continue;
            const StackSite after = made(site, with_pyxis);
            const Plugstack stack = stack_in(after);
            ASSERT_EQ(unsafe_stack(stack), std::nullopt) << described(after);
            ASSERT_EQ(pyxis_in(stack).has_value(), own || with_pyxis) << described(after);
            ASSERT_TRUE(edits_of(stack_edits(after, stack_libraries, with_pyxis)).empty())
                << described(after);
            ASSERT_EQ(edited(after, edits_of(without_us(after))).tree, site.tree) << described(after);
            ++done;
        }
    }
    EXPECT_GT(done, 400U);
}

TEST(EverySite, goes_from_one_way_to_the_other_through_safe_states) {
    for (const StackSite& site : all_sites()) {
        SCOPED_TRACE(described(site));
        if (is_refused(site, true)) continue;
        const StackSite with = made(site, true);
        const StackSite without = made(site, false);
        ASSERT_EQ(made(with, false).tree, without.tree);
        ASSERT_EQ(made(without, true).tree, with.tree);
        ASSERT_EQ(edited(with, edits_of(without_pyxis(with))).tree, without.tree);
    }
}

// The admin adds or drops an include, or a machine becomes the controller: our lines move, and in every state
// in between the guard is there and pyxis not twice.
TEST(EverySite, lets_our_lines_move_through_safe_states) {
    const std::vector<std::string> mains{"", debian_main, "optional /s/a.so\n",
                                         "include " + other + "/*.conf\n",
                                         "include " + stack_dropins + "/[0-9]*.conf\n"};
    for (const std::string& before : mains) {
        for (const std::string& now : mains) {
            for (const bool published : {false, true}) {
                StackSite site = stack_site({{stack_main, before}});
                site.directories.insert(other);
                StackSite target = site;
                target.published = published;
                target.tree.files[stack_main] = now;
                StackSite moved = made(site, true);
                moved.published = published;
                // The admin's edit keeps the block that may be in the file.
                std::string& text = moved.tree.files[stack_main];
                text = now + text.substr(before.size());
                const StackSite after = made(moved, true);
                ASSERT_EQ(after.tree, made(target, true).tree) << described(moved);
                ASSERT_EQ(unsafe_stack(stack_in(after)), std::nullopt);
            }
        }
    }
}

}  // namespace
}  // namespace llmgw
