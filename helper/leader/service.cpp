#include "leader/service.hpp"

#include <strings.h>

#include <functional>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/shown.hpp"
#include "json/dump.hpp"
#include "json/lease_json.hpp"
#include "json/report_json.hpp"
#include "json/settings_json.hpp"
#include "leader/patch.hpp"
#include "leader/routes.hpp"

namespace llmgw::leader {
namespace {

using http::Answer;
using http::error_answer;
using http::Incoming;

int status_of(Code code) {
    switch (code) {
        case Code::invalid:
            return 422;
        case Code::missing:
            return 404;
        case Code::denied:
            return 403;
        case Code::too_large:
            return 413;
        case Code::conflict:
            return 409;
        case Code::timeout:
        case Code::unavailable:
            return 503;
        case Code::internal:
            return 500;
    }
    return 500;
}

bool is_json(const http::Headers& headers) {
    const std::string type = http::header(headers, "Content-Type");
    constexpr std::string_view json = "application/json";
    if (type.empty()) return true;
    return type.size() >= json.size() && ::strncasecmp(type.data(), json.data(), json.size()) == 0 &&
           (type.size() == json.size() || type[json.size()] == ';' || type[json.size()] == ' ');
}

Answer revision_answer(std::uint64_t revision) {
    Answer answer = http::json_answer(200, R"({"revision":)" + std::to_string(revision) + "}");
    answer.headers.emplace_back("ETag", etag_of(revision));
    return answer;
}

Answer lease_answer(const LeaseAnswer& lease) {
    Answer answer = http::json_answer(200, json::text_of(lease));
    answer.headers.emplace_back("ETag", etag_of(lease.revision));
    return answer;
}

Answer refusal_answer(const LeaseRefusal& refusal) {
    Value body;
    body.set("error", refusal.message).set("generation", refusal.generation);
    return http::json_answer(409, json::dump(body));
}

Answer refusal_answer(const PatchRefusal& refusal) {
    Value body;
    body.set("error", refusal.message);
    if (!refusal.errors.empty()) body.set("errors", *json::to_value(refusal.errors).find("errors"));
    return http::json_answer(status_of(refusal.code), json::dump(body));
}

}  // namespace

http::Topic lease_topic(const std::string& node) {
    constexpr http::Topic first = accounts_topic + 1;
    return first + std::hash<std::string>{}(node) % (http::topics - first);
}

void Service::use_tokens(Tokens tokens) {
    const std::lock_guard lock(mutex_);
    tokens_ = std::move(tokens);
}

Caller Service::caller(const Incoming& request) const {
    const std::lock_guard lock(mutex_);
    return caller_of(tokens_, http::header(request.headers, "Authorization"));
}

std::variant<Answer, std::size_t> Service::admit(const Incoming& request) {
    const Caller who = caller(request);
    if (who == Caller::nobody) {
        Answer answer =
            error_answer(401, "a bearer token of this leader's is wanted: Authorization: Bearer ...");
        answer.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"llmgw-slurm\"");
        return answer;
    }
    const std::optional<Route> route = route_of(request.target);
    if (!route)
        return error_answer(404, "there is nothing here; docs/contract.openapi.yaml says what there is");
    const std::optional<Permission> permission = permission_for(*route, request.method);
    if (!permission) {
        Answer answer = error_answer(405, "this can't be done here; possible: " + methods_of(*route));
        answer.headers.emplace_back("Allow", methods_of(*route));
        return answer;
    }
    if (permission->admin_only && who != Caller::admin) {
        return error_answer(403, "this takes the admin token, and this is a machine's");
    }
    const bool named =
        route->resource == Route::Resource::machine || route->resource == Route::Resource::lease;
    if (named && !is_name(route->machine)) {
        return error_answer(400,
                            shown(route->machine) + " is no machine's name; use " + std::string(name_rule));
    }
    const Result<std::chrono::seconds> wait = wait_of(request.target);
    if (!wait) return error_answer(400, wait.error().message);
    if (permission->body_limit > 0 && !is_json(request.headers)) {
        return error_answer(415, "the body is to be application/json");
    }
    return permission->body_limit;
}

Service::Reply Service::answer(const Incoming& request) {
    const std::optional<Route> route = route_of(request.target);
    if (!route) return error_answer(404, "there is nothing here");
    switch (route->resource) {
        case Route::Resource::settings:
            if (request.method == "GET") return get_settings(request);
            return patch_settings(request);
        case Route::Resource::machines:
            return get_machines(request);
        case Route::Resource::accounts:
            return get_accounts(request);
        case Route::Resource::machine:
            if (request.method == "PUT") return put_report(route->machine, request);
            return forget_machine(route->machine);
        case Route::Resource::lease:
            if (request.method == "GET") return get_lease(route->machine, request);
            return change_lease(route->machine, request);
        case Route::Resource::munge_key:
            return get_munge_key();
    }
    return error_answer(500, "there is no answer");
}

namespace {

// Nothing: the caller hasn't seen this revision yet, so it gets the answer itself.
std::optional<std::variant<Answer, http::Wait>> nothing_new(const Incoming& request, std::uint64_t revision,
                                                            http::Topic topic) {
    if (!has_seen(request.headers, revision)) return std::nullopt;
    const Result<std::chrono::seconds> wait = wait_of(request.target);
    if (wait && wait.value().count() > 0 && !request.waited) return http::Wait{topic, wait.value()};
    return Answer{304, nullptr, {{"ETag", etag_of(revision)}}};
}

}  // namespace

Service::Reply Service::get_settings(const Incoming& request) const {
    const Published settings = settings_.now();
    if (auto nothing = nothing_new(request, settings.revision, settings_topic)) return *nothing;
    return Answer{200, settings.body, {{"ETag", etag_of(settings.revision)}}};
}

Service::Reply Service::get_machines(const Incoming& request) const {
    if (auto nothing = nothing_new(request, reports_.revision(), machines_topic)) return *nothing;
    const ReportStore::Body machines = reports_.body();
    return Answer{200, machines.text, {{"ETag", etag_of(machines.revision)}}};
}

Service::Reply Service::get_accounts(const Incoming& request) const {
    const AccountsStore::Body accounts = accounts_.now();
    if (auto nothing = nothing_new(request, accounts.revision, accounts_topic)) return *nothing;
    // An empty list would lock everybody out, so it is one only where somebody wrote it.
    if (accounts.text == nullptr) {
        return error_answer(404, accounts.problem.empty()
                                     ? "there is no accounts.json in the leader's directory"
                                     : accounts.problem);
    }
    Answer answer{200, accounts.text, {{"ETag", etag_of(accounts.revision)}}};
    if (!accounts.problem.empty())
        answer.headers.emplace_back(problem_header, printable(accounts.problem, limits::message_bytes));
    return answer;
}

Answer Service::patch_settings(const Incoming& request) {
    const Result<std::optional<std::uint64_t>> expected = expected_revision(request.headers);
    if (!expected) return error_answer(400, expected.error().message);
    const Result<Patch> patch = read_patch(request.body);
    if (!patch) return error_answer(400, patch.error().message);
    if (patch.value().reclaim && patch.value().unlend.empty()) {
        return error_answer(422, "reclaim: it is for the nodes in lent.remove, and there are none");
    }
    const std::optional<PatchRefusal> refusal = settings_.patch(patch.value(), expected.value());
    news_(settings_topic);
    if (refusal) return refusal_answer(*refusal);
    // Behind the settings: a node that is not lent any more hears of it as a change of its lease's answer,
    // and who got no answer asks again.
    if (Result<void> reclaimed = reclaim(patch.value()); !reclaimed)
        return error_answer(status_of(reclaimed.error().code), reclaimed.error().message);
    const Published settings = settings_.now();
    return Answer{200, settings.body, {{"ETag", etag_of(settings.revision)}}};
}

Result<void> Service::reclaim(const Patch& patch) {
    if (patch.reclaim) {
        const Result<std::vector<std::string>> changed = leases_.set_reclaim(patch.unlend, *patch.reclaim);
        if (!changed) return changed.error();
        for (const std::string& node : changed.value()) news_(lease_topic(node));
    }
    // Also what another request lent meanwhile.
    return settle_reclaims();
}

Result<void> Service::settle_reclaims() {
    const Result<std::vector<std::string>> changed = leases_.drop_reclaims(settings_.lent());
    if (!changed) return changed.error();
    for (const std::string& node : changed.value()) news_(lease_topic(node));
    return {};
}

Service::Reply Service::get_lease(const std::string& node, const Incoming& request) const {
    const LeaseAnswer lease = leases_.answer(node);
    if (auto nothing = nothing_new(request, lease.revision, lease_topic(node))) return *nothing;
    return lease_answer(lease);
}

Answer Service::change_lease(const std::string& node, const Incoming& request) {
    const Result<LeaseRequest> lease = json::read_lease_request(request.body);
    if (!lease) return error_answer(status_of(lease.error().code), lease.error().message);
    const std::shared_ptr<const SiteCommands> commands = site_.now();
    const Result<LeaseStore::Outcome> outcome = request.method == "POST"
                                                    ? leases_.ask(node, lease.value(), *commands)
                                                    : leases_.give_back(node, lease.value(), *commands);
    if (!outcome) {
        const bool full = outcome.error().code == Code::too_large;
        return error_answer(full ? 507 : status_of(outcome.error().code), outcome.error().message);
    }
    if (outcome.value().refusal) return refusal_answer(*outcome.value().refusal);
    if (outcome.value().changed) {
        news_(lease_topic(node));
        look_(node);
    }
    return lease_answer(outcome.value().answer);
}

Answer Service::put_report(const std::string& machine, const Incoming& request) {
    const Result<MachineReport> report = json::read_report(request.body);
    if (!report) return error_answer(status_of(report.error().code), report.error().message);
    if (report.value().name != machine) {
        return error_answer(422, "name: the report is " + shown(report.value().name) +
                                     "'s, and the path is " + shown(machine) + "'s");
    }
    const Result<bool> news = reports_.put(report.value());
    if (!news) {
        const bool full = news.error().code == Code::too_large;
        return error_answer(full ? 507 : status_of(news.error().code), news.error().message);
    }
    if (news.value()) news_(machines_topic);
    return revision_answer(reports_.revision());
}

Answer Service::forget_machine(const std::string& machine) {
    const Result<void> forgotten = reports_.forget(machine);
    if (!forgotten) return error_answer(status_of(forgotten.error().code), forgotten.error().message);
    news_(machines_topic);
    return revision_answer(reports_.revision());
}

Answer Service::get_munge_key() const {
    if (!munge_key_) {
        return error_answer(403,
                            "the munge key is given over TLS or on loopback only: start this leader with "
                            "--tls-cert and --tls-key");
    }
    const Result<std::string> key = munge_key_();
    if (!key) return error_answer(status_of(key.error().code), key.error().message);
    Value body;
    body.set("key", key.value());
    Answer answer = http::json_answer(200, json::dump(body));
    answer.headers.emplace_back("Cache-Control", "no-store");
    return answer;
}

}  // namespace llmgw::leader
