#include "service/leader.hpp"

#include <charconv>
#include <ctime>
#include <vector>

#include "core/base64.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "core/url.hpp"
#include "json/accounts_json.hpp"
#include "json/dump.hpp"
#include "json/lease_json.hpp"
#include "json/load.hpp"
#include "json/report_json.hpp"
#include "json/settings_json.hpp"
#include "posix/secret.hpp"

namespace llmgw::service {
namespace {

constexpr int not_modified = 304;
constexpr std::chrono::seconds patience{10};  // beyond the wait of a long poll
// With report_every it must stay well below report_silent_after.
constexpr std::chrono::seconds machines_wait{20};
// For an answer that the leader has at once. Who asked over the bus waits for 30 seconds.
constexpr std::chrono::seconds answer_within{20};
// The settings, and a little around them.
constexpr json::Limits settings_answer{limits::settings_bytes + 4096, limits::json_depth + 1};

// Never `missing`, which means that nothing changed: who waits would ask again at once, for ever.
Result<std::string> read_token(const std::string& path) {
    Result<std::string> token = read_secret(path);
    if (!token) return Error{Code::denied, token.error().message};
    return token;
}

std::string lease_path(const std::string& node) {
    return "/slurm/v1/nodes/" + node + "/lease";
}

// Whatever is wrong with it: who asked must ask again, and must not go on as if it had been told something.
Result<LeaseAnswer> lease_in(const http::Response& response) {
    Result<LeaseAnswer> answer = json::read_lease_answer(response.body);
    if (!answer)
        return Error{Code::unavailable, "the leader's answer about the lease: " + answer.error().message};
    return answer;
}

std::string error_in(const http::Response& response) {
    const Result<Value> body = json::parse(response.body);
    const Value* said = body ? body.value().find("error") : nullptr;
    const std::string text = said != nullptr && said->text() != nullptr
                                 ? ": " + printable(*said->text(), limits::message_bytes)
                                 : "";
    return "the leader answered " + std::to_string(response.status) + text;
}

}  // namespace

Result<Settings> settings_from(const std::string& text) {
    json::ReadSettings read = json::read_settings_text(text);
    if (read.ok()) return std::move(read.settings);
    std::vector<std::string> lines;
    for (const SettingError& error : read.errors) lines.push_back(json::text_of(error));
    return Error{Code::invalid, "the settings are wrong: " + join(lines, "; ")};
}

Result<http::Response> LeaderClient::send(const Call& call, const std::stop_token& stop) {
    const Result<std::string> token = read_token(call.token_file);
    if (!token) return token.error();
    http::Request request;
    request.method = call.method;
    request.url = address_.url + call.path;
    request.body = call.body;
    request.bearer = token.value();
    request.ca_file = address_.ca_file;
    request.total_timeout = answer_within;
    if (call.known > 0) {
        request.headers.emplace_back("If-None-Match", "\"" + std::to_string(call.known) + "\"");
        request.url += "?wait=" + std::to_string(call.wait.count());
        request.total_timeout = call.wait + patience;
    }
    Result<http::Response> response = client_.send(request, stop);
    if (!response) return response.error();
    const std::optional<std::int64_t> leaders = http::date_of(response.value().headers);
    if (leaders) clock_ahead_ = std::time(nullptr) - *leaders;
    const int status = response.value().status;
    if (status == not_modified && call.known > 0) return Error{Code::missing, "nothing changed"};
    if (status == 401 || status == 403) return Error{Code::denied, error_in(response.value())};
    if (status == 409) return Error{Code::conflict, error_in(response.value())};
    if (status >= 500) return Error{Code::unavailable, error_in(response.value())};
    if (status < 200 || status > 299) return Error{Code::invalid, error_in(response.value())};
    return response;
}

Result<LeaderSettings> LeaderClient::settings(std::uint64_t known, const std::stop_token& stop) {
    const Result<http::Response> response =
        send({"GET", "/slurm/v1/settings", "", address_.token_file, known, limits::long_poll}, stop);
    if (!response) return response.error();
    const Result<Value> answer = json::parse(response.value().body, settings_answer);
    if (!answer) return answer.error().within("the leader's settings");
    const Value* revision = answer.value().find("revision");
    const Value* document = answer.value().find("settings");
    const Value* problem = answer.value().find("problem");
    if (revision == nullptr || revision->integer() == nullptr || *revision->integer() < 0 ||
        document == nullptr) {
        return Error{Code::invalid, "the leader's settings have no revision or no settings"};
    }
    LeaderSettings settings;
    settings.revision = static_cast<std::uint64_t>(*revision->integer());
    settings.text = json::dump(*document);
    if (problem != nullptr && problem->text() != nullptr) settings.problem = *problem->text();
    Result<Settings> read = settings_from(settings.text);
    if (!read) return read.error();
    settings.settings = std::move(read).value();
    return settings;
}

Result<LeaderAccounts> LeaderClient::accounts(std::uint64_t known, const std::stop_token& stop) {
    const Result<http::Response> response =
        send({"GET", "/slurm/v1/accounts", "", address_.token_file, known, limits::long_poll}, stop);
    if (!response) return response.error();
    ReadAccounts read = json::read_accounts_text(response.value().body);
    if (!read.ok()) {
        return Error{Code::invalid, "the leader's accounts are wrong: " + json::sentence_of(read.errors)};
    }
    LeaderAccounts accounts;
    accounts.accounts = std::move(read.accounts);
    accounts.problem =
        printable(http::header(response.value().headers, "Llmgw-Problem"), limits::message_bytes);
    const std::string tag = http::header(response.value().headers, "ETag");
    // Without one there is no waiting for news: the list is asked for now and then.
    if (tag.size() > 2) {
        std::from_chars(tag.data() + 1, tag.data() + tag.size() - 1, accounts.revision);
    }
    return accounts;
}

Result<KnownMachines> LeaderClient::machines(std::uint64_t known, const std::stop_token& stop) {
    const Result<http::Response> response =
        send({"GET", "/slurm/v1/machines", "", address_.token_file, known, machines_wait}, stop);
    if (!response) return response.error();
    return json::read_machines(response.value().body);
}

Result<void> LeaderClient::report(const MachineReport& report, const std::stop_token& stop) {
    const Result<http::Response> response =
        send({"PUT", "/slurm/v1/machines/" + report.name, json::text_of(report), address_.token_file}, stop);
    if (!response) return response.error();
    return {};
}

Result<std::string> LeaderClient::munge_key(const std::stop_token& stop) {
    const Result<Url> url = parse_url(address_.url);
    if (!url || (!url.value().tls && !is_loopback(url.value().host))) {
        return Error{Code::denied,
                     "the munge key is not fetched from " + shown(address_.url) +
                         ": others could read it on its way; give the leader TLS, and say https://"};
    }
    const Result<http::Response> response =
        send({"GET", "/slurm/v1/munge-key", "", address_.token_file}, stop);
    if (!response) return response.error();
    const Result<Value> answer = json::parse(response.value().body);
    const Value* const text = answer ? answer.value().find("key") : nullptr;
    Result<std::string> key = text != nullptr && text->text() != nullptr
                                  ? from_base64(*text->text())
                                  : Result<std::string>(Error{Code::invalid, "there is none"});
    if (!key || key.value().size() < limits::munge_key_least_bytes ||
        key.value().size() > limits::munge_key_bytes) {
        return Error{Code::invalid, "the leader's answer has no munge key of 32 to 1024 bytes in it"};
    }
    return key;
}

Result<void> LeaderClient::change_settings(const Value& change, const std::stop_token& stop) {
    if (address_.admin_token_file.empty()) {
        return Error{
            Code::denied,
            "this machine has no admin token (--admin-token-file); do it where the leader runs, or in "
            "llmgw's settings"};
    }
    const Result<http::Response> response =
        send({"PATCH", "/slurm/v1/settings", json::dump(change), address_.admin_token_file}, stop);
    if (!response) return response.error();
    return {};
}

Result<void> LeaderClient::set_containers(bool on, const std::stop_token& stop) {
    Value change(Value::Object{});
    change.set("containers", on);
    return change_settings(change, stop);
}

Result<void> LeaderClient::set_lent(const std::vector<std::string>& add,
                                    const std::vector<std::string>& remove,
                                    const std::optional<Reclaim>& reclaim, const std::stop_token& stop) {
    Value lent{Value::Object{}};
    lent.set("add", Value::Array(add.begin(), add.end()));
    lent.set("remove", Value::Array(remove.begin(), remove.end()));
    Value change;
    change.set("lent", std::move(lent));
    if (reclaim) change.set("reclaim", json::value_of(*reclaim));
    return change_settings(change, stop);
}

Result<LeaseAnswer> LeaderClient::send_lease(const std::string& method, const std::string& node,
                                             const LeaseRequest& request, const std::stop_token& stop) {
    const Result<http::Response> response =
        send({method, lease_path(node), json::text_of(request), address_.token_file}, stop);
    if (!response) return response.error();
    return lease_in(response.value());
}

Result<LeaseAnswer> LeaderClient::ask_lease(const std::string& node, const std::string& lease,
                                            std::uint64_t generation, const std::stop_token& stop) {
    return send_lease("POST", node, {lease, generation}, stop);
}

Result<LeaseAnswer> LeaderClient::give_back_lease(const std::string& node, const std::string& lease,
                                                  std::uint64_t generation, const std::stop_token& stop) {
    return send_lease("DELETE", node, {lease, generation}, stop);
}

Result<std::optional<LeaseAnswer>> LeaderClient::lease(const std::string& node, std::uint64_t seen_revision,
                                                       std::chrono::seconds wait,
                                                       const std::stop_token& stop) {
    const Result<http::Response> response =
        send({"GET", lease_path(node), "", address_.token_file, seen_revision, wait}, stop);
    if (!response && response.error().code == Code::missing) return std::optional<LeaseAnswer>();
    if (!response) return response.error();
    Result<LeaseAnswer> answer = lease_in(response.value());
    if (!answer) return answer.error();
    return std::optional(std::move(answer).value());
}

}  // namespace llmgw::service
