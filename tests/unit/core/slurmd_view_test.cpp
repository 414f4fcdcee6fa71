#include "core/slurmd_view.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

SlurmdFacts running(std::vector<std::string> steps = {}) {
    SlurmdFacts slurmd;
    slurmd.running = true;
    slurmd.started_ns = 1000;
    slurmd.steps = std::move(steps);
    return slurmd;
}

TEST(ToTell, is_nothing_for_what_steps_and_commands_read_themselves) {
    EXPECT_EQ(to_tell(running(), {.changed_ns = 2000}), ToTell{});
    EXPECT_EQ(to_tell({}, {.changed_ns = 2000, .for_slurmd = true}), ToTell{}) << "no slurmd runs";
}

TEST(ToTell, is_what_slurmd_itself_has_to_load) {
    const StackChange change{
        .changed_ns = 2000, .main_published = false, .for_slurmd = true, .reconfigure_reloads = false};
    EXPECT_EQ(to_tell(running(), change),
              (ToTell{Tell::restart,
                      "pending restart: slurmd started before plugstack.conf was changed; restart it"}));
    EXPECT_EQ(to_tell(running({"7.0", "7.extern"}), change).sentence,
              "pending restart: slurmd started before plugstack.conf was changed; restart it when no step "
              "runs any more "
              "(now 2 steps run)");
    StackChange newer = change;
    newer.reconfigure_reloads = true;
    EXPECT_EQ(to_tell(running(), newer),
              (ToTell{Tell::reconfigure,
                      "slurmd started before plugstack.conf was changed: run \"scontrol reconfigure\""}));
    SlurmdFacts later = running();
    later.started_ns = 2001;
    EXPECT_EQ(to_tell(later, change), ToTell{});
}

TEST(ToTell, is_that_slurmd_was_upgraded_under_its_feet) {
    SlurmdFacts slurmd = running({"7.0"});
    slurmd.replaced = true;
    EXPECT_EQ(to_tell(slurmd, {}),
              (ToTell{Tell::restart,
                      "pending restart: slurmd still runs the program from before its upgrade; restart it "
                      "when no step runs any more (now 1 step runs)"}));
}

TEST(ToTell, is_a_file_that_all_machines_get) {
    EXPECT_EQ(to_tell({}, {.changed_ns = 1, .main_published = true}),
              (ToTell{Tell::reconfigure,
                      "all machines get plugstack.conf from this one: run \"scontrol reconfigure\""}));
}

TEST(RestartMustWait, for_every_step) {
    EXPECT_EQ(restart_must_wait(running()), std::nullopt);
    EXPECT_EQ(restart_must_wait(running({"7.0"})), "slurmd is not restarted while 1 step runs here (7.0)");
    EXPECT_EQ(restart_must_wait(running({"7.0", "8.batch"})),
              "slurmd is not restarted while 2 steps run here (7.0, ...)");
}

TEST(SlurmdArguments, say_where_its_configuration_is) {
    const auto parsed = [](std::vector<std::string> argv) {
        argv.insert(argv.begin(), "slurmd");
        return parse_slurmd_arguments(argv);
    };
    EXPECT_EQ(parsed({}), SlurmdArguments{});
    EXPECT_EQ(parsed({"-D", "-s", "-f", "/x/slurm.conf", "-N", "n1"}),
              (SlurmdArguments{"/x/slurm.conf", "n1", false}));
    EXPECT_EQ(parsed({"-Dsf/x/slurm.conf", "-Nn1"}), (SlurmdArguments{"/x/slurm.conf", "n1", false}));
    EXPECT_EQ(parsed({"-DsN", "n1", "--conf-server", "ctl:6817"}), (SlurmdArguments{"", "n1", true}));
    EXPECT_EQ(parsed({"--conf-server=ctl"}).conf_server, true);
    EXPECT_EQ(parsed({"--conf=ctl"}).conf_server, true);
    EXPECT_EQ(parsed({"--systemd", "-L", "-f", "-n-5"}), SlurmdArguments{}) << "-f is the name of the log";
    EXPECT_EQ(parsed({"-F", "-Z"}), SlurmdArguments{});
    EXPECT_EQ(parsed({"--", "-f", "/x"}), SlurmdArguments{});
    EXPECT_EQ(parsed({"-f"}), SlurmdArguments{});
}

TEST(SlurmConf, gives_the_value_of_a_key) {
    const std::string text =
        "ClusterName=c\n"
        "# SlurmdSpoolDir=/comment\n"
        "slurmdspooldir = /var/spool/slurmd.%n   # where\n"
        "PlugStackConfig=\"/etc/my stack.conf\"\n"
        "SlurmctldParameters=enable_configless,\\\n"
        "idle_on_node_suspend\n"
        "NodeName=n1 SlurmdSpoolDir=/no\n"
        "Prolog=/x\\#y\r\n"
        "TmpFS=/a\nTmpFS=/b\n";
    EXPECT_EQ(slurm_conf_value(text, "SlurmdSpoolDir"), "/var/spool/slurmd.%n");
    EXPECT_EQ(slurm_conf_value(text, "PlugStackConfig"), "/etc/my stack.conf");
    EXPECT_EQ(slurm_conf_value(text, "SlurmctldParameters"), "enable_configless,idle_on_node_suspend");
    EXPECT_EQ(slurm_conf_value(text, "Prolog"), "/x\\#y");
    EXPECT_EQ(slurm_conf_value(text, "TmpFS"), "/b") << "the latest one is used";
    EXPECT_EQ(slurm_conf_value(text, "None"), std::nullopt);
    EXPECT_EQ(slurm_conf_value("", "None"), std::nullopt);
}

TEST(SlurmConf, names_what_it_includes) {
    EXPECT_EQ(slurm_conf_include("Include /etc/slurm/nodes.conf # all"), "/etc/slurm/nodes.conf");
    EXPECT_EQ(slurm_conf_include(" include\tnodes.conf\r"), "nodes.conf");
    for (const char* line : {"", "include", "includes x", "#include x", "Include=x"}) {
        EXPECT_EQ(slurm_conf_include(line), std::nullopt) << line;
    }
}

TEST(StepSocketNames, are_known_by_their_names) {
    EXPECT_EQ(step_of_socket("n1_4711.0", "n1"), "4711.0");
    EXPECT_EQ(step_of_socket("n1_4711.4294967291", "n1"), "4711.batch");
    EXPECT_EQ(step_of_socket("n1_4711.4294967292", "n1"), "4711.extern");
    EXPECT_EQ(step_of_socket("n_1_4711.3.2", "n_1"), "4711.3");
    for (const char* name : {"n1_4711", "n1_.0", "n1_a.0", "n1_1.2.3.4", "n1_1.", "n2_1.0", "n11_1.0", "n1",
                             "conf-cache", "n1_1.0.new", "cred_state"}) {
        EXPECT_EQ(step_of_socket(name, "n1"), std::nullopt) << name;
    }
}

TEST(ExpandedPath, has_the_names_in_it) {
    EXPECT_EQ(expanded_path("/var/spool/%h/slurmd.%n", "n1", "host"), "/var/spool/host/slurmd.n1");
    EXPECT_EQ(expanded_path("/100%/%x%", "n1", "host"), "/100%/%x%");
}

}  // namespace
}  // namespace llmgw
