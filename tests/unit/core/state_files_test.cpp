// The formats of RUN/node and RUN/gate: what is written parses back, everything else is refused.
#include <gtest/gtest.h>

#include <string>

#include "core/gate_state.hpp"
#include "core/limits.hpp"
#include "core/node_state.hpp"
#include "core/state_text.hpp"

namespace llmgw {
namespace {

const std::string header = "llmgw-slurm-test 1";

TEST(StateText, refuses_every_other_shape) {
    const std::string good = header + "\na b\nend\n";
    ASSERT_TRUE(parse_state_text(good, header));
    for (std::size_t length = 0; length < good.size(); ++length) {
        EXPECT_FALSE(parse_state_text(good.substr(0, length), header)) << "cut to " << length;
    }
    for (const char* body : {"a b\nend\n\n", "a b\nend\nc d\n", "a b\na c\nend\n", "A b\nend\n", "a\nend\n",
                             "a \nend\n", " b\nend\n", "a b\x01\nend\n", "a b\r\nend\r\n", "a b\n"}) {
        EXPECT_FALSE(parse_state_text(header + "\n" + body, header)) << body;
    }
    EXPECT_FALSE(parse_state_text("llmgw-slurm-test 2\na b\nend\n", header));
    EXPECT_FALSE(parse_state_text(std::string("\0\0\0\0", 4), header));
    EXPECT_FALSE(parse_state_text(header + "\na b" + std::string(1, '\0') + "\nend\n", header));
}

TEST(StateText, always_writes_what_it_can_read) {
    const StateFields fields =
        parse_state_text(format_state_text(header, {{"a", "x\ny"}, {"b", ""}}), header).value();
    EXPECT_EQ(fields, (StateFields{{"a", "x y"}, {"b", "-"}}));
}

NodeState ready_node() {
    return {"n1",
            true,
            "pyxis 0.24.0, enroot 4.2.1",
            "boot-1",
            false,
            "/p/spank_pyxis.so",
            "1:2:3:4:5",
            "/e/enroot",
            "6:7:8:9:10",
            {"/run/enroot", "/d"}};
}

TEST(NodeStateFile, comes_back_as_written) {
    EXPECT_EQ(parse_node_state(format_node_state(ready_node())).value(), ready_node());
    const NodeState other{"n2", false, "enroot isn't installed", "boot-1", true, "", "", "", "", {}};
    EXPECT_EQ(parse_node_state(format_node_state(other)).value(), other);
}

TEST(NodeStateFile, of_an_older_helper_names_no_directories) {
    NodeState older = ready_node();
    older.user_directories.clear();
    EXPECT_EQ(format_node_state(older).find("enroot.users"), std::string::npos);
    EXPECT_EQ(parse_node_state(format_node_state(older)).value(), older);
}

TEST(NodeStateFile, is_refused_when_ready_without_fingerprints) {
    std::string text = format_node_state(ready_node());
    const std::size_t at = text.find("pyxis.fingerprint");
    text.erase(at, text.find('\n', at) - at + 1);
    EXPECT_EQ(parse_node_state(text).error().message, "has no \"pyxis.fingerprint\"");
}

TEST(NodeStateFile, is_refused_with_an_unknown_state) {
    std::string text = format_node_state(ready_node());
    text.replace(text.find("state ready"), 11, "state maybe");
    EXPECT_FALSE(parse_node_state(text));
}

TEST(GateStateFile, comes_back_as_written) {
    const GateState closed{false, 17, true, "llmgw: containers are not ready"};
    EXPECT_EQ(parse_gate_state(format_gate_state(closed)).value(), closed);
}

TEST(GateStateFile, is_refused_with_a_bad_field) {
    const std::string good = format_gate_state({true, 17, false, "m"});
    for (const auto& [from, to] : {std::pair{"state open", "state ajar"},
                                   {"revision 17", "revision 17x"},
                                   {"revision 17", "revision -1"},
                                   {"oci no", "oci perhaps"},
                                   {"llmgw-slurm-gate 1", "llmgw-slurm-gate 0"},
                                   {"message m\n", ""}}) {
        std::string text = good;
        text.replace(text.find(from), std::string(from).size(), to);
        EXPECT_FALSE(parse_gate_state(text)) << to;
    }
}

TEST(GateStateFile, keeps_messages_to_their_limit) {
    const std::string longest(limits::message_bytes, 'x');
    EXPECT_EQ(parse_gate_state(format_gate_state({false, 1, false, longest})).value().message, longest);
    EXPECT_EQ(parse_gate_state(format_gate_state({false, 1, false, longest + "y"})).value().message.size(),
              limits::message_bytes);
}

}  // namespace
}  // namespace llmgw
