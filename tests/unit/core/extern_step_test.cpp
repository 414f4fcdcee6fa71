#include "core/extern_step.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

TEST(ExternSocket, is_refused_unless_the_name_is_exactly_slurms) {
    for (const char* name : {"",
                             "n1_5",
                             "n1_5.0",
                             "n1_5.4294967291",
                             "n1_5.4294967292.0",
                             "_5.4294967292",
                             "5.4294967292",
                             "n1_.4294967292",
                             "n1_05.4294967292",
                             "n1_0.4294967292",
                             "n1_+5.4294967292",
                             "n1_-5.4294967292",
                             "n1_5 .4294967292",
                             "n1_5.04294967292",
                             "n1_4294967294.4294967292",
                             "n1_99999999999.4294967292",
                             ".n1_5.4294967292",
                             "n/1_5.4294967292",
                             "../n1_5.4294967292",
                             "n1_5.4294967292 ",
                             "n\n1_5.4294967292",
                             "cred_state"}) {
        EXPECT_FALSE(parse_extern_socket(name)) << name;
    }
    EXPECT_FALSE(parse_extern_socket(std::string("n1_5\0.4294967292", 16)));
}

TEST(ExternSocket, tells_node_and_job) {
    EXPECT_EQ(parse_extern_socket("n1_4711.4294967292"), (ExternStep{"", "n1", 4711, 0}));
    EXPECT_EQ(parse_extern_socket("gpu_node_7_4711.4294967292"), (ExternStep{"", "gpu_node_7", 4711, 0}));
    EXPECT_EQ(parse_extern_socket("n1.example.org_4294967293.4294967292"),
              (ExternStep{"", "n1.example.org", 4294967293, 0}));
}

TEST(ExternSocket, takes_names_of_nodes_up_to_the_limit) {
    const std::string longest(limits::node_name_bytes, 'n');
    EXPECT_TRUE(parse_extern_socket(longest + "_1.4294967292"));
    EXPECT_FALSE(parse_extern_socket(longest + "n_1.4294967292"));
}

TEST(ExternSocket, is_the_name_that_it_was_parsed_from) {
    ExternStep step = parse_extern_socket("a_b_12.4294967292").value();
    step.directory = "/var/spool/slurmd";
    EXPECT_EQ(step.socket(), "/var/spool/slurmd/a_b_12.4294967292");
}

TEST(ExternSteps, come_newest_first) {
    const ExternStep old{"/s", "n1", 9, 100};
    const ExternStep newer{"/s", "n1", 3, 200};
    const ExternStep same_time{"/s", "n1", 4, 200};
    std::vector<ExternStep> steps{old, newer, same_time};
    sort_newest_first(steps);
    EXPECT_EQ(steps, (std::vector{same_time, newer, old}));
}

}  // namespace
}  // namespace llmgw
