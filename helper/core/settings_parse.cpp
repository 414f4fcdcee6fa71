#include "core/settings_parse.hpp"

#include <string_view>

#include "core/shown.hpp"

namespace llmgw {

namespace {

constexpr std::string_view known_keys =
    "enabled, cluster_name, controller, nodes, all_nodes, lent, partition, shared, users, containers";
constexpr std::string_view known_shared_keys = "path, nfs, server";

class Reader {
  public:
    ParsedSettings read(const Value& document);

  private:
    void member(const std::string& key, const Value& value);
    void shared(const Value& value);
    void shared_member(const std::string& key, const Value& value);
    void flag(const std::string& key, const Value& value, bool& into);
    void text(const std::string& key, const Value& value, std::string& into, std::string_view wanted);
    void names(const std::string& key, const Value& value, std::vector<std::string>& into);
    void wrong_type(const std::string& key, const Value& value, std::string_view wanted);
    void unknown(const std::string& key, std::string_view known);
    void error(const std::string& key, std::string message);

    ParsedSettings result_;
};

ParsedSettings Reader::read(const Value& document) {
    const Value::Object* members = document.object();
    if (members == nullptr) {
        error("", "the document is " + described(document) +
                      R"(: it must be an object such as {"enabled": false})");
        return std::move(result_);
    }
    for (const auto& [key, value] : *members) member(key, value);
    return std::move(result_);
}

void Reader::member(const std::string& key, const Value& value) {
    Settings& settings = result_.settings;
    if (key == "enabled") return flag(key, value, settings.enabled);
    if (key == "cluster_name") return text(key, value, settings.cluster_name, "a name");
    if (key == "controller") return text(key, value, settings.controller, "the name of a machine");
    if (key == "nodes") return names(key, value, settings.nodes);
    if (key == "all_nodes") return flag(key, value, settings.all_nodes);
    if (key == "lent") return names(key, value, settings.lent);
    if (key == "partition") return text(key, value, settings.partition, "a name");
    if (key == "shared") return shared(value);
    if (key == "users") return text(key, value, settings.users, R"("" or "llmgw")");
    if (key == "containers") return flag(key, value, settings.containers);
    unknown(key, known_keys);
}

void Reader::shared(const Value& value) {
    const Value::Object* members = value.object();
    if (members == nullptr) return wrong_type("shared", value, "an object with path, nfs, server");
    for (const auto& [key, member_value] : *members) shared_member(key, member_value);
}

void Reader::shared_member(const std::string& key, const Value& value) {
    Settings::Shared& shared = result_.settings.shared;
    if (key == "path") return text("shared.path", value, shared.path, "an absolute path");
    if (key == "nfs") return text("shared.nfs", value, shared.nfs, "host:/path");
    if (key == "server") return text("shared.server", value, shared.server, "the name of a machine");
    unknown("shared." + key, known_shared_keys);
}

void Reader::flag(const std::string& key, const Value& value, bool& into) {
    if (const bool* given = value.boolean()) {
        into = *given;
    } else {
        wrong_type(key, value, "true or false");
    }
}

void Reader::text(const std::string& key, const Value& value, std::string& into, std::string_view wanted) {
    if (const std::string* given = value.text()) {
        into = *given;
    } else {
        wrong_type(key, value, std::string(wanted) + " in quotes");
    }
}

void Reader::names(const std::string& key, const Value& value, std::vector<std::string>& into) {
    const Value::Array* entries = value.array();
    if (entries == nullptr) return wrong_type(key, value, R"(a list of names such as ["n1", "n2"])");
    for (const Value& entry : *entries) {
        into.emplace_back();
        text(key + '[' + std::to_string(into.size() - 1) + ']', entry, into.back(), "the name of a machine");
    }
}

void Reader::wrong_type(const std::string& key, const Value& value, std::string_view wanted) {
    result_.unread.insert(key);
    error(key, described(value) + " is of the wrong type: use " + std::string(wanted));
}

void Reader::unknown(const std::string& key, std::string_view known) {
    std::string message = "unknown key: known are ";
    message += known;
    // The two ways people get here with settings that would be right elsewhere.
    if (key == "slurm")
        message += "; this document is what llmgw has under slurm, without that key around it";
    if (key.starts_with("shared.") && known == known_keys) {
        message += R"(; write "shared": {"path": ...} instead)";
    }
    // An error without a key is one of the document, which this is not.
    error(key.empty() ? R"("")" : key, std::move(message));
}

void Reader::error(const std::string& key, std::string message) {
    result_.errors.push_back({printable(key), std::move(message), 0, 0});
}

}  // namespace

ParsedSettings parse_settings(const Value& document) {
    return Reader().read(document);
}

}  // namespace llmgw
