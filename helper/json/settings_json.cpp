#include "json/settings_json.hpp"

#include <utility>

#include "core/settings_check.hpp"
#include "core/settings_parse.hpp"
#include "json/load.hpp"

namespace llmgw::json {

namespace {

Value list_of(const std::vector<std::string>& names) {
    Value::Array list;
    list.reserve(names.size());
    for (const std::string& name : names) list.emplace_back(name);
    return list;
}

const char* name_of(SharedSource source) {
    switch (source) {
        case SharedSource::none:
            return "none";
        case SharedSource::site:
            return "site";
        case SharedSource::nfs:
            return "nfs";
        case SharedSource::server:
            return "server";
    }
    return "none";
}

}  // namespace

ReadSettings read_settings(const Value& document) {
    ParsedSettings parsed = parse_settings(document);
    ReadSettings result{std::move(parsed.settings), std::move(parsed.errors)};
    for (SettingError& error : check_settings(result.settings, parsed.unread)) {
        result.errors.push_back(std::move(error));
    }
    return result;
}

ReadSettings read_settings_text(std::string_view text) {
    Document document = load(text);
    std::vector<SettingError> errors;
    for (Problem& problem : document.problems) {
        errors.push_back({std::move(problem.key), std::move(problem.message), problem.line, problem.column});
    }
    if (!document.root) return {{}, std::move(errors)};
    ReadSettings result = read_settings(*document.root);
    result.errors.insert(result.errors.begin(), std::make_move_iterator(errors.begin()),
                         std::make_move_iterator(errors.end()));
    return result;
}

std::string text_of(const SettingError& error) {
    if (!error.key.empty()) return error.key + ": " + error.message;
    if (error.line == 0) return error.message;
    return std::to_string(error.line) + ':' + std::to_string(error.column) + ": " + error.message;
}

Value to_value(const Settings& settings) {
    Value shared;
    shared.set("path", settings.shared.path);
    shared.set("nfs", settings.shared.nfs);
    shared.set("server", settings.shared.server);
    Value result;
    result.set("enabled", settings.enabled);
    result.set("cluster_name", settings.cluster_name);
    result.set("controller", settings.controller);
    result.set("nodes", list_of(settings.nodes));
    result.set("all_nodes", settings.all_nodes);
    result.set("lent", list_of(settings.lent));
    result.set("partition", settings.partition);
    result.set("shared", std::move(shared));
    result.set("users", settings.users);
    result.set("containers", settings.containers);
    return result;
}

Value to_value(const ResolvedSettings& settings) {
    Value result;
    result.set("enabled", settings.enabled);
    if (!settings.enabled) return result;
    Value shared;
    shared.set("source", name_of(settings.shared));
    shared.set("path", settings.shared_path);
    shared.set("server", settings.shared_server);
    shared.set("mount", settings.mount_source);
    result.set("cluster_name", settings.cluster_name);
    result.set("controller", settings.controller);
    result.set("partition", settings.partition);
    result.set("all_nodes", settings.all_nodes);
    result.set("slurm_nodes", list_of(settings.slurm_nodes));
    result.set("lent", list_of(settings.lent));
    result.set("lent_unknown", list_of(settings.lent_unknown));
    result.set("shared", std::move(shared));
    result.set("home", settings.home_directory + "/<login>");
    result.set("users", settings.users == Users::llmgw ? "llmgw" : "");
    result.set("containers", settings.containers);
    return result;
}

Value to_value(const std::vector<SettingError>& errors) {
    Value::Array list;
    for (const SettingError& error : errors) {
        Value entry;
        entry.set("key", error.key).set("message", error.message);
        if (error.line > 0)
            entry.set("line", std::int64_t{error.line}).set("column", std::int64_t{error.column});
        list.push_back(std::move(entry));
    }
    Value result;
    return std::move(result.set("errors", std::move(list)));
}

}  // namespace llmgw::json
