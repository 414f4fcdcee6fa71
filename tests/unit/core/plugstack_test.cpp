#include "core/plugstack.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

using Kind = PlugstackLine::Kind;
using Words = std::vector<std::string>;

TEST(PlugstackLines, of_plugins) {
    EXPECT_EQ(parse_plugstack_line("optional /p/a.so"), (PlugstackLine{Kind::plugin, false, "/p/a.so", {}}));
    EXPECT_EQ(parse_plugstack_line("required a.so x=1 y"),
              (PlugstackLine{Kind::plugin, true, "a.so", {"x=1", "y"}}));
    EXPECT_EQ(parse_plugstack_line("\t optional\t/p/a.so \t x=1\t"),
              (PlugstackLine{Kind::plugin, false, "/p/a.so", {"x=1"}}));
}

// A line from another system: Slurm takes the carriage return for a part of the path, finds no such file and
// goes on without the plugin.
TEST(PlugstackLines, keep_a_carriage_return_as_slurm_does) {
    EXPECT_EQ(parse_plugstack_line("optional /p/spank_pyxis.so\r"),
              (PlugstackLine{Kind::plugin, false, "/p/spank_pyxis.so\r", {}}));
    EXPECT_EQ(pyxis_in({parse_plugstack_line("optional /p/spank_pyxis.so\r")}), std::nullopt);
    EXPECT_EQ(parse_plugstack_line("\r").kind, Kind::unknown);
}

TEST(PlugstackLines, end_at_a_zero_byte) {
    EXPECT_EQ(parse_plugstack_line(std::string_view("optional /p/a.so\0 x", 19)),
              (PlugstackLine{Kind::plugin, false, "/p/a.so", {}}));
}

TEST(PlugstackLines, of_includes) {
    EXPECT_EQ(parse_plugstack_line("include plugstack.conf.d/*.conf"),
              (PlugstackLine{Kind::include, false, "plugstack.conf.d/*.conf", {}}));
}

TEST(PlugstackLines, that_say_nothing) {
    for (const char* line : {"", "   ", "\t", "# optional /p/a.so", "  #", "#"}) {
        EXPECT_EQ(parse_plugstack_line(line), PlugstackLine{}) << line;
    }
}

TEST(PlugstackLines, end_where_a_comment_begins) {
    EXPECT_EQ(parse_plugstack_line("optional /p/a.so x#y z"),
              (PlugstackLine{Kind::plugin, false, "/p/a.so", {"x"}}));
    EXPECT_EQ(parse_plugstack_line("optional /p/a.so#"), (PlugstackLine{Kind::plugin, false, "/p/a.so", {}}));
}

TEST(PlugstackLines, that_slurm_ignores) {
    for (const char* line : {"optional", "include", "include # x", "Optional /p/a.so", "optionally /p/a.so",
                             "/p/a.so", "optional=/p/a.so", "\"optional\" /p/a.so"}) {
        EXPECT_EQ(parse_plugstack_line(line).kind, Kind::unknown) << line;
    }
}

PlugstackLine line(const std::string& text) {
    return parse_plugstack_line(text);
}

const PlugstackLine guard = line("optional /usr/lib/slurm/spank_llmgw.so run_dir=/run/x");
const PlugstackLine options = line("optional /usr/lib/slurm/spank_llmgw_options.so");
const PlugstackLine pyxis = line("optional /usr/local/lib/slurm/spank_pyxis.so");
const PlugstackLine verify = line("optional /usr/lib/slurm/spank_llmgw.so verify run_dir=/run/x");
const PlugstackLine other = line("required /usr/lib/slurm/other.so");

TEST(PartOf, a_line_is_told_by_its_file_name) {
    EXPECT_EQ(part_of(guard), StackPart::guard);
    EXPECT_EQ(part_of(options), StackPart::options);
    EXPECT_EQ(part_of(pyxis), StackPart::pyxis);
    EXPECT_EQ(part_of(verify), StackPart::verify);
    EXPECT_EQ(part_of(other), StackPart::other);
    EXPECT_EQ(part_of(line("include /x/spank_pyxis.so")), StackPart::other);
    EXPECT_EQ(part_of({}), StackPart::other);
}

TEST(PyxisIn, a_stack_is_known_by_its_file_name) {
    EXPECT_EQ(pyxis_in({guard, options, pyxis, verify}), "/usr/local/lib/slurm/spank_pyxis.so");
    EXPECT_EQ(pyxis_in({line("optional spank_pyxis.so")}), "spank_pyxis.so");
    EXPECT_EQ(pyxis_in({guard, options, verify, line("optional /p/not_spank_pyxis.so")}), std::nullopt);
    EXPECT_EQ(pyxis_in({line("optional /spank_pyxis.so/other.so")}), std::nullopt);
    EXPECT_EQ(pyxis_in({}), std::nullopt);
}

TEST(UnsafeStack, is_none_of_these) {
    EXPECT_EQ(unsafe_stack({guard, options, pyxis, verify}), std::nullopt);
    EXPECT_EQ(unsafe_stack({other, guard, other, pyxis, other, verify, other}), std::nullopt);
    EXPECT_EQ(unsafe_stack({guard}), std::nullopt) << "no pyxis, nothing to verify";
    EXPECT_EQ(unsafe_stack({guard, guard, pyxis, verify, verify}), std::nullopt);
}

TEST(UnsafeStack, has_no_guard) {
    for (const Plugstack& stack : {Plugstack{}, Plugstack{other}, Plugstack{pyxis, verify},
                                   Plugstack{options, pyxis, verify}, Plugstack{verify}}) {
        EXPECT_EQ(unsafe_stack(stack), "plugstack.conf has no line \"optional spank_llmgw.so\"");
    }
}

TEST(UnsafeStack, has_the_guard_behind_pyxis) {
    EXPECT_EQ(unsafe_stack({pyxis, guard, verify}),
              "plugstack.conf has spank_llmgw.so behind pyxis, not in front of it");
    EXPECT_EQ(unsafe_stack({verify, pyxis, guard, verify}),
              "plugstack.conf has spank_llmgw.so behind pyxis, not in front of it");
}

TEST(UnsafeStack, has_nothing_behind_pyxis_that_verifies) {
    for (const Plugstack& stack : {Plugstack{guard, pyxis}, Plugstack{guard, verify, pyxis},
                                   Plugstack{guard, pyxis, guard}, Plugstack{guard, pyxis, other}}) {
        EXPECT_EQ(unsafe_stack(stack),
                  "plugstack.conf has no line \"optional spank_llmgw.so verify\" behind pyxis's");
    }
}

// Slurm's own check for that never triggers: it would be loaded and run twice.
TEST(UnsafeStack, has_pyxis_twice) {
    EXPECT_EQ(unsafe_stack({guard, pyxis, pyxis, verify}), "plugstack.conf loads pyxis twice");
    EXPECT_EQ(unsafe_stack({guard, pyxis, verify, line("optional /elsewhere/spank_pyxis.so")}),
              "plugstack.conf loads pyxis twice");
}

TEST(UnsafeStack, has_one_of_its_lines_required) {
    const auto required = [](PlugstackLine changed) {
        changed.required = true;
        return changed;
    };
    EXPECT_EQ(unsafe_stack({guard, required(pyxis), verify}),
              "plugstack.conf has spank_pyxis.so as required, which fails every job when it is missing");
    for (const Plugstack& stack :
         {Plugstack{required(guard), pyxis, verify}, Plugstack{guard, pyxis, required(verify)},
          Plugstack{guard, pyxis, verify, required(verify)}, Plugstack{required(guard)}}) {
        EXPECT_EQ(unsafe_stack(stack),
                  "plugstack.conf has spank_llmgw.so as required, which fails every job when it is missing");
    }
    EXPECT_EQ(
        unsafe_stack({guard, required(options), pyxis, verify}),
        "plugstack.conf has spank_llmgw_options.so as required, which fails every job when it is missing");
}

}  // namespace
}  // namespace llmgw
