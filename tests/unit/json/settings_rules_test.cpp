// Every rule of docs/settings.md from a document's text, refusals first, at each limit and one past it.
#include <gtest/gtest.h>

#include <cctype>
#include <ostream>
#include <string>
#include <vector>

#include "json/settings_json.hpp"

namespace llmgw::json {
namespace {

struct Expected {
    std::string key;
    std::string words;  // in the message
};

struct Case {
    std::string name;
    std::string document;
    std::vector<Expected> errors;

    friend std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }
};

// Enabled, with a controller and two nodes, and `members` besides.
std::string with(const std::string& members) {
    return R"({"enabled":true,"controller":"ctl","nodes":["n1","n2"])" +
           (members.empty() ? "" : "," + members) + "}";
}
// The same under all_nodes, without nodes.
std::string all(const std::string& members) {
    return R"({"enabled":true,"controller":"ctl","all_nodes":true,)" + members + "}";
}
std::string enabled(const std::string& members) {
    return R"({"enabled":true,)" + members + "}";
}
std::string off(const std::string& members) {
    return R"({"enabled":false,)" + members + "}";
}
std::string text(std::size_t length) {
    return '"' + std::string(length, 'n') + '"';
}
std::string path(const std::string& value) {
    return with(R"("shared":{"path":")" + value + R"("})");
}
std::string nfs(const std::string& value) {
    return with(R"("shared":{"path":"/s","nfs":")" + value + R"("})");
}
std::string server(const std::string& value) {
    return R"("shared":{"path":"/s","server":")" + value + R"("})";
}

const char* const type = "wrong type";
const char* const no_name = "is no name of a";

std::vector<Case> refused_names() {
    return {
        {"controller_missing", enabled(R"("nodes":["n1"])"), {{"controller", "missing"}}},
        {"controller_empty", enabled(R"("controller":"")"), {{"controller", "missing"}}},
        {"controller_dash", enabled(R"("controller":"-c")"), {{"controller", no_name}}},
        {"controller_64", enabled(R"("controller":)" + text(64)), {{"controller", "up to 62"}}},
        {"controller_slash", enabled(R"("controller":"a/b")"), {{"controller", "\"a/b\""}}},
        {"controller_newline", enabled(R"("controller":"a\nb")"), {{"controller", "\"a?b\""}}},
        {"cluster_name_dot", with(R"("cluster_name":".c")"), {{"cluster_name", "name of a cluster"}}},
        {"cluster_name_64", with(R"("cluster_name":)" + text(64)), {{"cluster_name", no_name}}},
        {"cluster_name_space", with(R"("cluster_name":"a b")"), {{"cluster_name", no_name}}},
        {"partition_underscore", with(R"("partition":"_p")"), {{"partition", "name of a partition"}}},
        {"partition_64", with(R"("partition":)" + text(64)), {{"partition", no_name}}},
        {"partition_umlaut", with(R"("partition":"gpü")"), {{"partition", "\"gpü\""}}},
        {"nodes_empty_name", enabled(R"("controller":"c","nodes":["n1",""])"), {{"nodes[1]", no_name}}},
        {"nodes_64", enabled(R"("controller":"c","nodes":[)" + text(64) + "]"), {{"nodes[0]", no_name}}},
        {"nodes_range", enabled(R"("controller":"c","nodes":["n[1-3]"])"), {{"nodes[0]", no_name}}},
        {"nodes_twice",
         enabled(R"("controller":"c","nodes":["a","b","a"])"),
         {{"nodes[2]", "already nodes[0]"}}},
        {"nodes_three_times",
         enabled(R"("controller":"c","nodes":["a","a","a"])"),
         {{"nodes[1]", "already nodes[0]"}, {"nodes[2]", "already nodes[0]"}}},
        {"lent_not_in_nodes", with(R"("lent":["n1","n3"])"), {{"lent[1]", "not one of nodes"}}},
        {"lent_controller_is_no_node", with(R"("lent":["ctl"])"), {{"lent[0]", "not one of nodes"}}},
        {"lent_other_case", with(R"("lent":["N1"])"), {{"lent[0]", "not one of nodes"}}},
        {"lent_twice", with(R"("lent":["n1","n1"])"), {{"lent[1]", "already lent[0]"}}},
        {"lent_bad_name_said_once", with(R"("lent":["-"])"), {{"lent[0]", no_name}}},
        {"lent_bad_name_under_all_nodes", all(R"("lent":["a b"])"), {{"lent[0]", no_name}}},
        {"lent_without_nodes",
         enabled(R"("controller":"c","lent":["n1"])"),
         {{"lent[0]", "not one of nodes"}}},
        {"users_unknown", with(R"("users":"ldap")"), {{"users", "\"ldap\" is not known"}}},
        {"users_other_case", with(R"("users":"LLMGW")"), {{"users", "not known"}}},
    };
}

std::vector<Case> refused_shared() {
    std::vector<Case> cases = {
        {"path_relative", path("shared"), {{"shared.path", "not absolute"}}},
        {"path_trailing_slash", path("/shared/"), {{"shared.path", "ends with a slash"}}},
        {"path_system_with_slash", path("/etc/"), {{"shared.path", "ends with a slash"}}},
        {"path_two_slashes", path("/a//b"), {{"shared.path", "empty component"}}},
        {"path_only_slashes", path("//"), {{"shared.path", "slash"}}},
        {"path_dot", path("/a/./b"), {{"shared.path", "begins with a dot"}}},
        {"path_dots", path("/a/../etc"), {{"shared.path", "begins with a dot"}}},
        {"path_hidden", path("/.a"), {{"shared.path", "begins with a dot"}}},
        {"path_space", path("/a b"), {{"shared.path", "character that is not allowed"}}},
        {"path_newline", path("/a\\nb"), {{"shared.path", "\"/a?b\""}}},
        {"path_1025", path("/" + std::string(1024, 'x')), {{"shared.path", "at most 1024"}}},
        {"path_missing_with_nfs",
         with(R"("shared":{"nfs":"nas:/x"})"),
         {{"shared.path", "while shared.nfs is set"}}},
        {"path_missing_with_server",
         with(R"("shared":{"server":"n1"})"),
         {{"shared.path", "while shared.server is set"}}},
        {"path_empty_with_both",
         with(R"("shared":{"path":"","nfs":"nas:/x","server":"n1"})"),
         {{"shared.path", "missing"}, {"shared.server", "besides shared.nfs"}}},
        {"nfs_no_path", nfs("nas"), {{"shared.nfs", "no :/"}}},
        {"nfs_relative", nfs("nas:x"), {{"shared.nfs", "no :/"}}},
        {"nfs_no_host", nfs(":/x"), {{"shared.nfs", "begin with a letter or digit"}}},
        {"nfs_host_bracket_first", nfs("[::1]:/x"), {{"shared.nfs", "begin with a letter or digit"}}},
        {"nfs_host_dash_first", nfs("-o:/x"), {{"shared.nfs", "begin with a letter or digit"}}},
        {"nfs_host_character", nfs("u@nas:/x"), {{"shared.nfs", "host with a character"}}},
        {"nfs_host_254", nfs(std::string(254, 'h') + ":/x"), {{"shared.nfs", "at most 253"}}},
        {"nfs_path_comma", nfs("nas:/x,rw"), {{"shared.nfs", "path with a character"}}},
        {"nfs_path_space", nfs("nas:/a b"), {{"shared.nfs", "path with a character"}}},
        {"nfs_path_1025", nfs("nas:/" + std::string(1024, 'x')), {{"shared.nfs", "at most 1024"}}},
        {"both",
         with(R"("shared":{"path":"/s","nfs":"nas:/x","server":"n1"})"),
         {{"shared.server", "besides shared.nfs \"nas:/x\""}}},
        {"server_unknown",
         with(server("n3")),
         {{"shared.server", "neither the controller nor one of nodes"}}},
        {"server_no_name", with(server("n1:/x")), {{"shared.server", no_name}}},
        {"server_no_name_under_all_nodes", all(server(".x")), {{"shared.server", no_name}}},
    };
    for (const char* taken : {"/", "/etc", "/usr", "/var", "/var/lib", "/home", "/root", "/boot", "/opt",
                              "/srv", "/tmp", "/proc", "/sys", "/dev", "/run"}) {
        cases.push_back(
            {std::string("path_taken_") + taken, path(taken), {{"shared.path", "directory of the system"}}});
    }
    return cases;
}

std::vector<Case> refused_keys_and_types() {
    std::vector<Case> cases = {
        {"document_list", "[]", {{"", "must be an object"}}},
        {"document_text", R"("enabled")", {{"", "must be an object"}}},
        {"document_null", "null", {{"", "must be an object"}}},
        {"unknown_key", with(R"("node":["n1"])"), {{"node", "unknown key: known are enabled"}}},
        {"unknown_key_case", with(R"("Lent":[])"), {{"Lent", "unknown key"}}},
        {"unknown_empty_key", with(R"("":1)"), {{R"("")", "unknown key"}}},
        {"unknown_shared_key",
         with(R"("shared":{"path":"/s","mount":"x"})"),
         {{"shared.mount", "known are path, nfs, server"}}},
        {"shared_written_flat", with(R"("shared.path":"/s")"), {{"shared.path", "unknown key"}}},
        {"unknown_key_nested", with(R"("x":{"y":{"z":1}})"), {{"x", "unknown key"}}},
        {"controller_type_said_once",
         enabled(R"("controller":5)"),
         {{"controller", "the number 5 is of the wrong type"}}},
        {"nodes_type_does_not_cascade",
         enabled(R"("controller":"c","nodes":"n1","lent":["n1"],)" + server("n1")),
         {{"nodes", type}}},
        {"nodes_entry_type", enabled(R"("controller":"c","nodes":["n1",7])"), {{"nodes[1]", type}}},
        {"nodes_entry_list",
         enabled(R"("controller":"c","nodes":[["n1"]])"),
         {{"nodes[0]", "a list is of the wrong type"}}},
        {"lent_entry_null", with(R"("lent":[null])"), {{"lent[0]", "null is of the wrong type"}}},
        {"shared_text", with(R"("shared":"/s")"), {{"shared", "an object with path"}}},
        {"shared_path_type", with(R"("shared":{"path":1,"nfs":"nas:/x"})"), {{"shared.path", type}}},
        {"shared_nfs_type", with(R"("shared":{"path":"/s","nfs":["x"]})"), {{"shared.nfs", type}}},
        {"shared_server_type", with(R"("shared":{"path":"/s","server":true})"), {{"shared.server", type}}},
        {"enabled_type_checks_the_rest",
         R"({"enabled":"true"})",
         {{"enabled", "true or false"}, {"controller", "missing"}}},
        {"all_nodes_type_does_not_cascade",
         with(R"("all_nodes":"yes","lent":["n9"])"),
         {{"all_nodes", type}}},
    };
    for (const char* key : {"cluster_name", "partition", "users"}) {
        for (const char* value : {"1", "null", "true", "[]", "{}", "0.5"}) {
            cases.push_back({std::string(key) + "_is_" + value,
                             with('"' + std::string(key) + "\":" + value),
                             {{key, type}}});
        }
    }
    for (const char* key : {"all_nodes", "containers"}) {
        for (const char* value : {"1", "null", R"("true")", "[]", "{}"}) {
            cases.push_back({std::string(key) + "_is_" + value,
                             with('"' + std::string(key) + "\":" + value),
                             {{key, type}}});
        }
    }
    for (const char* key : {"lent", "shared"}) {
        for (const char* value : {"1", "null", R"("n1")", "false"}) {
            cases.push_back({std::string(key) + "_is_" + value,
                             with('"' + std::string(key) + "\":" + value),
                             {{key, type}}});
        }
    }
    return cases;
}

std::vector<Case> refused_documents() {
    return {
        {"empty", "", {{"", "empty"}}},
        {"blank", " \n\t", {{"", "empty"}}},
        {"syntax", R"({"enabled":true,})", {{"", "not JSON"}}},
        {"comment", "# settings\n{}", {{"", "not JSON"}}},
        {"byte_order_mark", "\xEF\xBB\xBF{}", {{"", "byte order mark"}}},
        {"nul_byte", std::string("{}\0", 3), {{"", "NUL byte"}}},
        {"nul_escape", R"({"controller":"a\u0000b"})", {{"", "\\u0000"}}},
        {"not_utf8", "{\"controller\":\"a\xff\"}", {{"", "not JSON"}}},
        {"too_deep",
         "{\"x\":" + std::string(16, '[') + std::string(16, ']') + "}",
         {{"", "more than 16 levels"}}},
        {"too_large", std::string(1024 * 1024 + 1, ' '), {{"", "larger than 1048576 bytes"}}},
        {"trailing_garbage", with("") + " x", {{"", "after the end"}}},
        {"trailing_brace", with("") + "}", {{"", "after the end"}}},
        {"second_document", with("") + "\n{}", {{"", "after the end"}}},
        {"trailing_and_rules",
         enabled(R"("controller":"-")") + "x",
         {{"", "after the end"}, {"controller", no_name}}},
        {"key_twice", with(R"("controller":"ctl")"), {{"controller", "written twice"}}},
        {"key_twice_escaped", R"({"enabled":false,"\u0065nabled":false})", {{"enabled", "written twice"}}},
        {"key_three_times", off(R"("lent":[],"lent":[],"l\u0065nt":[])"), {{"lent", "written 3 times"}}},
        {"key_twice_nested",
         with(R"("shared":{"path":"/s","path":"/s"})"),
         {{"shared.path", "written twice"}}},
        {"keys_twice_on_two_levels",
         off(R"("users":"","shared":{"nfs":"","nfs":""},"users":"")"),
         {{"shared.nfs", "written twice"}, {"users", "written twice"}}},
        {"unknown_key_twice", off(R"("x":1,"x":2)"), {{"x", "written twice"}, {"x", "unknown key"}}},
        {"off_unknown_key", off(R"("enable":true)"), {{"enable", "unknown key"}}},
        {"off_wrong_type", off(R"("nodes":"n1")"), {{"nodes", type}}},
        {"off_trailing_garbage", R"({"enabled":false} true)", {{"", "after the end"}}},
        {"everything_at_once",
         R"({"enabled":true,"nodes":["a","a",1],"lent":["z"],"shared":{"path":"/etc","nfs":"x"},"users":"x","users":"y","typo":0} .)",
         {{"", "after the end"},
          {"users", "written twice"},
          {"nodes[2]", type},
          {"typo", "unknown key"},
          {"controller", "missing"},
          {"nodes[1]", "already"},
          {"lent[0]", "not one of nodes"},
          {"shared.path", "system"},
          {"shared.nfs", "no :/"},
          {"users", "\"y\""}}},
    };
}

std::vector<Case> accepted() {
    return {
        {"smallest", "{}", {}},
        {"off_only", R"({"enabled":false})", {}},
        {"off_checks_nothing_else",
         off(R"("controller":"-","nodes":["a","a"],"lent":["z"],"shared":{"path":"/etc","nfs":"x","server":"y"},"users":"x")"),
         {}},
        {"left_out_is_off", R"({"controller":"-"})", {}},
        {"controller_only", enabled(R"("controller":"c")"), {}},
        {"controller_63", enabled(R"("controller":)" + text(63)), {}},
        {"controller_one_of_nodes", enabled(R"("controller":"n1","nodes":["n1"])"), {}},
        {"empty_texts_are_defaults",
         with(R"("cluster_name":"","partition":"","users":"","shared":{"path":"","nfs":"","server":""})"),
         {}},
        {"names_63", with(R"("cluster_name":)" + text(63) + R"(,"partition":)" + text(63)), {}},
        {"nodes_63", enabled(R"("controller":"c","nodes":[)" + text(63) + "]"), {}},
        {"nodes_differ_in_case", enabled(R"("controller":"c","nodes":["n1","N1"])"), {}},
        {"lent", with(R"("lent":["n2","n1"])"), {}},
        {"lent_under_all_nodes", all(R"("lent":["whoever"])"), {}},
        {"users_llmgw", with(R"("users":"llmgw")"), {}},
        {"shared_by_the_site", path("/shared"), {}},
        {"shared_below_a_taken_one", path("/home/shared"), {}},
        {"path_1024", path("/" + std::string(1023, 'x')), {}},
        {"nfs", nfs("nas.example:/export/a-b_c.d"), {}},
        {"nfs_root", nfs("nas:/"), {}},
        {"nfs_ipv6", nfs("2001:db8::1:/x"), {}},
        {"nfs_host_253", nfs(std::string(253, 'h') + ":/x"), {}},
        {"nfs_path_1024", nfs("nas:/" + std::string(1023, 'x')), {}},
        {"server_controller", with(server("ctl")), {}},
        {"server_node", with(server("n2")), {}},
        {"server_any_under_all_nodes", all(server("other")), {}},
        {"escaped_keys", R"({"\u0065nabled":true,"controller":"c"})", {}},
        {"same_key_in_different_objects", with(R"("shared":{"path":"/s"})"), {}},
        {"blanks_around", " \r\n\t" + with("") + " \r\n\t", {}},
        {"largest", "{}" + std::string(1024 * 1024 - 2, ' '), {}},
    };
}

class SettingsRules : public testing::TestWithParam<Case> {};

TEST_P(SettingsRules, GiveExactlyTheseErrors) {
    const Case& one = GetParam();
    const ReadSettings read = read_settings_text(one.document);
    std::string all_errors;
    for (const SettingError& error : read.errors) all_errors += text_of(error) + '\n';
    ASSERT_EQ(read.errors.size(), one.errors.size()) << all_errors;
    for (std::size_t index = 0; index < one.errors.size(); ++index) {
        EXPECT_EQ(read.errors[index].key, one.errors[index].key) << all_errors;
        EXPECT_NE(read.errors[index].message.find(one.errors[index].words), std::string::npos)
            << read.errors[index].message << "\nlacks: " << one.errors[index].words;
    }
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
    std::string name;
    for (const char c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name + '_' + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(RefusedNames, SettingsRules, testing::ValuesIn(refused_names()), test_name);
INSTANTIATE_TEST_SUITE_P(RefusedShared, SettingsRules, testing::ValuesIn(refused_shared()), test_name);
INSTANTIATE_TEST_SUITE_P(RefusedTypes, SettingsRules, testing::ValuesIn(refused_keys_and_types()), test_name);
INSTANTIATE_TEST_SUITE_P(RefusedDocuments, SettingsRules, testing::ValuesIn(refused_documents()), test_name);
INSTANTIATE_TEST_SUITE_P(Accepted, SettingsRules, testing::ValuesIn(accepted()), test_name);

}  // namespace
}  // namespace llmgw::json
