#include "core/slurm_node_text.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

TEST(SlurmNodeText, is_read_as_it_was_written) {
    NodeInSlurm node;
    node.drained = node.idle = true;
    node.reason = "ann: broken fan [7]";
    EXPECT_EQ(parse_node_in_slurm(format_node_in_slurm(node, "n1"), "n1").value(), node);
    EXPECT_EQ(parse_node_in_slurm(format_node_in_slurm(NodeInSlurm{}, "n1"), "n1").value(), NodeInSlurm{});
}

TEST(SlurmNodeText, about_another_node_or_cut_is_no_answer) {
    const std::string text = format_node_in_slurm(NodeInSlurm{}, "n1");
    EXPECT_EQ(parse_node_in_slurm(text, "n2").error().message, "the answer is about node n1 and not n2");
    for (std::size_t size = 0; size + 1 < text.size(); ++size)
        EXPECT_FALSE(parse_node_in_slurm(text.substr(0, size), "n1").ok()) << size;
    std::string other = text;
    other.replace(other.find("idle no"), 7, "idle ??");
    EXPECT_FALSE(parse_node_in_slurm(other, "n1").ok());
}

TEST(SlurmNodeText, jobs_are_a_line_each) {
    const std::vector<SlurmJob> jobs{{4711, "anna", 1764541800, true}, {4712, "200001", 0, false}};
    EXPECT_EQ(parse_slurm_jobs(format_slurm_job(jobs[0]) + format_slurm_job(jobs[1])).value(), jobs);
    EXPECT_TRUE(parse_slurm_jobs("").value().empty());
    for (const char* text :
         {"4711", "x anna 0 batch", "4711 anna soon batch", "4711 anna 0 other", "4711 anna 0 batch more"})
        EXPECT_FALSE(parse_slurm_jobs(text).ok()) << text;
}

}  // namespace
}  // namespace llmgw
