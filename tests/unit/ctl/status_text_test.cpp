#include "ctl/status_text.hpp"

#include <gtest/gtest.h>

#include "json/load.hpp"

namespace llmgw::ctl {
namespace {

Value value(const std::string& text) {
    const Result<Value> parsed = json::parse(text);
    EXPECT_TRUE(parsed.ok()) << parsed.error().message;
    return parsed ? parsed.value() : Value{};
}

constexpr const char* controller = R"({
  "machine": "ctl", "state": "ready", "reason": "pyxis 0.24.0, enroot 4.2.1",
  "leader": {"url": "http://127.0.0.1:8470", "error": ""}, "settings_problem": "",
  "controller": "ctl", "is_controller": true, "enabled": true, "cluster_name": "llmgw", "containers": true,
  "gate": {"mode": "auto", "open": false, "message": "llmgw: waiting for n10"},
  "machines": [
    {"name": "ctl", "ready": true, "reason": "pyxis 0.24.0, enroot 4.2.1"},
    {"name": "a-long-name", "ready": false, "reason": "no report since 09:14"}
  ]})";

TEST(StatusText, of_a_controller) {
    EXPECT_EQ(status_text(value(controller)),
              "cluster llmgw, controller ctl, containers on\n"
              "gate closed: llmgw: waiting for n10\n"
              "this machine, ctl: ready, pyxis 0.24.0, enroot 4.2.1\n"
              "\n"
              "MACHINE      STATE      REASON\n"
              "ctl          ready      pyxis 0.24.0, enroot 4.2.1\n"
              "a-long-name  not ready  no report since 09:14\n");
}

TEST(StatusText, has_what_an_admin_may_want_to_know) {
    Value status = value(controller);
    status.set("notes", value(R"(["pending restart: slurmd still runs the program from before"])"));
    EXPECT_NE(status_text(status).find("enroot 4.2.1\n  note: pending restart: slurmd still runs the "
                                       "program from before\n\nMACHINE"),
              std::string::npos);
}

TEST(StatusText, of_users_and_of_a_shared_path_that_is_gone) {
    Value status = value(controller);
    status.set("users",
               value(R"({"llmgw": true, "known": false, "problem": "", "accounts_problem": "no list"})"));
    EXPECT_NE(status_text(status).find("\naccounts: no list\nusers: being looked at\nthis machine"),
              std::string::npos);
    status.set("users",
               value(R"({"llmgw": true, "known": true, "problem": "", "accounts_problem": "", "active": 499,
                                  "refused_count": 1, "refused": ["number 200003 (x): taken"], "problems": ["no home"]})"));
    status.set("shared_problem", "/shared: it does not answer");
    EXPECT_NE(status_text(status).find("\nusers: 499, 1 refused:\n  number 200003 (x): taken\n  no home\n"
                                       "shared path: /shared: it does not answer\nthis machine"),
              std::string::npos)
        << status_text(status);
    status.set("users", value(R"({"llmgw": false})"));
    EXPECT_EQ(status_text(status).find("users:"), std::string::npos);
}

TEST(StatusText, of_a_gate_that_is_held_by_hand) {
    Value status = value(controller);
    status.set("gate", value(R"({"mode": "open", "open": true, "message": "llmgw: opened"})"));
    EXPECT_NE(status_text(status).find("gate open by hand: llmgw: opened\n"), std::string::npos);
}

TEST(StatusText, of_a_node_that_cannot_reach_the_leader) {
    EXPECT_EQ(status_text(value(R"({
      "machine": "n1", "state": "not-ready", "reason": "no enroot",
      "leader": {"url": "https://l", "error": "connection refused"}, "settings_problem": "nodes: wrong",
      "controller": "ctl", "is_controller": false, "enabled": true, "cluster_name": "c", "containers": false,
      "machines_error": "connection refused", "machines": []})")),
              "cluster c, controller ctl, containers off\n"
              "leader: connection refused\n"
              "settings: nodes: wrong\n"
              "this machine, n1: not-ready, no enroot\n"
              "other machines: connection refused\n");
}

TEST(StatusText, of_a_cluster_that_is_switched_off) {
    EXPECT_EQ(status_text(value(R"({"machine": "n1", "state": "checking", "reason": "being looked at",
                                    "enabled": false, "machines": []})")),
              "Slurm is switched off in llmgw's settings, or they did not come yet\n"
              "this machine, n1: checking, being looked at\n");
}

TEST(StatusText, cannot_be_forged_or_steer_a_terminal) {
    Value status = value(controller);
    const std::string evil =
        "a\x1b[2J\nctl ready\xc2\x9b"
        "1m\xe2\x80\xae\xff";
    const Value machine = Value(Value::Object{}).set("name", evil).set("reason", evil).set("ready", false);
    status.set("machines", Value(Value::Array{}).add(machine));
    status.set("reason", evil).set("settings_problem", evil).set("cluster_name", evil);
    const std::string text = status_text(status);
    for (const char* part : {"\x1b", "\xc2\x9b", "\xe2\x80\xae", "\xff", "\nctl ready"}) {
        EXPECT_EQ(text.find(part), std::string::npos);
    }
    EXPECT_NE(text.find("a?[2J?ctl ready?1m??  not ready  a?[2J?ctl ready?1m??\n"), std::string::npos)
        << text;
}

TEST(StatusText, of_anything_at_all) {
    for (const char* text : {"null", "[]", "{}", "7", R"({"machines":7,"gate":[],"leader":"x"})",
                             R"({"machines":[7,null,{"name":7,"ready":"yes"}],"enabled":true})"}) {
        EXPECT_NE(status_text(value(text)), "");
        EXPECT_FALSE(everything_ready(value(text)));
    }
}

TEST(StatusText, keeps_its_columns_with_letters_of_all_languages) {
    Value status = value(controller);
    status.set("machines", value(R"([{"name":"äöü","ready":true,"reason":"x"},
                                     {"name":"machine7","ready":true,"reason":"y"}])"));
    const std::string text = status_text(status);
    EXPECT_NE(text.find("äöü       ready      x\nmachine7  ready      y\n"), std::string::npos) << text;
}

TEST(EverythingReady, is_about_each_machine) {
    Value status = value(controller);
    EXPECT_FALSE(everything_ready(status));
    status.set("machines", value(R"([{"name":"a","ready":true},{"name":"b","ready":true}])"));
    EXPECT_TRUE(everything_ready(status));
    status.set("machines", Value(Value::Array{}));
    EXPECT_FALSE(everything_ready(status));
}

}  // namespace
}  // namespace llmgw::ctl
