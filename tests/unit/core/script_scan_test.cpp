#include "core/script_scan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/limits.hpp"

namespace llmgw {
namespace {

struct Case {
    const char* name;
    std::string script;
    Request directive;
    Request srun;
};

class ScriptScan : public testing::TestWithParam<Case> {};

TEST_P(ScriptScan, finds_what_asks_and_nothing_else) {
    const ScriptFindings findings = scan_script(GetParam().script);
    EXPECT_EQ(findings.directive, GetParam().directive) << GetParam().script;
    EXPECT_EQ(findings.srun, GetParam().srun) << GetParam().script;
}

constexpr Request none = Request::none;
constexpr Request image = Request::image_option;
constexpr Request name = Request::name_option;

INSTANTIATE_TEST_SUITE_P(
    directives, ScriptScan,
    testing::Values(
        Case{"equals", "#!/bin/sh\n#SBATCH --container-image=x\ntrue\n", image, none},
        Case{"space", "#!/bin/sh\n#SBATCH --container-image x\n", image, none},
        Case{"abbreviated", "#!/bin/sh\n#SBATCH --container-im=x\n", image, none},
        Case{"name", "#!/bin/sh\n#SBATCH --container-name=x\n", name, none},
        Case{"quoted", "#!/bin/sh\n#SBATCH \"--container-image=x y\"\n", image, none},
        Case{"second_on_the_line", "#!/bin/sh\n#SBATCH -N 1 --container-image=x\n", image, none},
        Case{"after_a_flag", "#!/bin/sh\n#SBATCH -H --container-image=x\n", image, none},
        Case{"after_comments_and_blanks", "#!/bin/sh\n\n# hello\n   # there\n#SBATCH --container-image=x\n",
             image, none},
        Case{"after_a_comment_that_ends_in_a_backslash",
             "#!/bin/sh\n# C:\\dir\\\n#SBATCH --container-image=x\n", image, none},
        Case{"carriage_return", "#!/bin/sh\r\n#SBATCH --container-image=x\r\n", image, none},
        Case{"no_newline", "#SBATCH --container-image=x", image, none},
        Case{"after_the_first_command", "#!/bin/sh\ntrue\n#SBATCH --container-image=x\n", none, none},
        Case{"in_a_comment", "#!/bin/sh\n# #SBATCH --container-image=x\n", none, none},
        Case{"indented", "#!/bin/sh\n #SBATCH --container-image=x\n", none, none},
        Case{"behind_a_hash", "#!/bin/sh\n#SBATCH -N1 # --container-image=x\n", none, none},
        Case{"argument_of_another", "#!/bin/sh\n#SBATCH -J --container-image=x\n", none, none},
        Case{"inside_quotes", "#!/bin/sh\n#SBATCH --comment=\"a --container-image=x\"\n", none, none},
        Case{"oci", "#!/bin/sh\n#SBATCH --container=/bundle\n", none, none},
        Case{"mounts_alone", "#!/bin/sh\n#SBATCH --container-mounts=/a:/b\n", none, none},
        Case{"next_het_component", "#!/bin/sh\n#SBATCH -N1\n#SBATCH hetjob\n#SBATCH --container-image=x\n",
             none, none},
        Case{"first_het_component", "#!/bin/sh\n#SBATCH --container-image=x\n#SBATCH hetjob\n#SBATCH -N1\n",
             image, none}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    commands, ScriptScan,
    testing::Values(Case{"plain", "srun --container-image=x true\n", none, image},
                    Case{"with_path", "/usr/bin/srun -n4 --container-image x true\n", none, image},
                    Case{"short_with_argument", "srun -N 2 --container-name=x true\n", none, name},
                    Case{"long_with_argument", "srun --nodes 2 --container-name=x true\n", none, name},
                    Case{"after_and", "cd /tmp && srun --container-image=x true\n", none, image},
                    Case{"in_substitution", "out=$(srun --container-image=x true)\n", none, image},
                    Case{"indented", "if true; then\n\tsrun --container-image=x true\nfi\n", none, image},
                    Case{"continued", "srun -N2 \\\n  --container-image=x \\\n  true\n", none, image},
                    Case{"background", "srun true & srun --container-image=x true &\n", none, image},
                    Case{"program_argument", "srun echo --container-image=x\n", none, none},
                    Case{"after_a_comment_that_ends_in_a_backslash",
                         "# C:\\\nsrun --container-image=x true\n", none, image},
                    Case{"program_argument_after_a_flag", "srun -l echo --container-image=x\n", none, none},
                    Case{"program_argument_continued", "srun echo \\\n --container-image=x\n", none, none},
                    Case{"echo", "echo --container-image=x\n", none, none},
                    Case{"commented", "# srun --container-image=x true\n", none, none},
                    Case{"comment_behind", "srun true # --container-image=x\n", none, none},
                    Case{"quoted_text", "echo \"srun --container-image=x\"\n", none, none},
                    Case{"other_command_after", "srun true; echo --container-image=x\n", none, none},
                    Case{"oci", "srun --container=/bundle true\n", none, none}),
    [](const auto& tested) { return tested.param.name; });

TEST(ScriptScanLines, are_counted_from_one) {
    const ScriptFindings findings =
        scan_script("#!/bin/sh\n#SBATCH --container-image=x\n\nsrun --container-name=y z\n");
    EXPECT_EQ(findings.directive_line, 2U);
    EXPECT_EQ(findings.srun_line, 4U);
}

TEST(ScriptScanLimit, is_kept_to_the_byte) {
    const std::string command = "srun --container-image=x true";
    std::string script(limits::script_scan_bytes - command.size() - 1, '#');
    script += "\n" + command;
    ASSERT_EQ(script.size(), limits::script_scan_bytes);
    EXPECT_EQ(scan_script(script).srun, image);
    EXPECT_FALSE(scan_script(script).cut);
    EXPECT_TRUE(scan_script(script + "\n").cut);
    EXPECT_EQ(scan_script("####" + std::string(command.size(), '#') + script).srun, none);
}

TEST(ScriptScanInput, may_be_anything) {
    EXPECT_EQ(scan_script({}), ScriptFindings{});
    std::string binary = "--container-";
    for (int i = 0; i < 4096; ++i) binary += static_cast<char>(i * 7);
    EXPECT_EQ(scan_script(binary).directive, none);
    EXPECT_EQ(scan_script("#SBATCH \"--container-image").directive, image);
}

}  // namespace
}  // namespace llmgw
