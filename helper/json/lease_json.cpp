#include "json/lease_json.hpp"

#include "core/limits.hpp"
#include "json/dump.hpp"
#include "json/load.hpp"
#include "json/members.hpp"

namespace llmgw::json {
namespace {

constexpr Limits lease_limits{limits::lease_bytes, limits::json_depth};

}  // namespace

Result<Reclaim> reclaim_of(const Value& value) {
    Result<std::int64_t> deadline = integer_at(value, "deadline");
    if (!deadline) return deadline.error().within("reclaim");
    Result<std::string> then = text_at(value, "then");
    if (!then) return then.error().within("reclaim");
    Reclaim reclaim{deadline.value(), std::move(then).value()};
    if (Result<void> good = check_reclaim(reclaim); !good) return good.error();
    return reclaim;
}

Value value_of(const Reclaim& reclaim) {
    Value value;
    value.set("deadline", reclaim.deadline).set("then", reclaim.then);
    return value;
}

Result<LeaseRequest> read_lease_request(std::string_view text) {
    const Result<Value> value = parse(text, lease_limits);
    if (!value) return value.error();
    Result<std::string> lease = text_at(value.value(), "lease");
    if (!lease) return lease.error();
    const Result<std::uint64_t> generation = count_at(value.value(), "generation");
    if (!generation) return generation.error();
    LeaseRequest request{std::move(lease).value(), generation.value()};
    if (Result<void> good = check_lease_request(request); !good) return good.error();
    return request;
}

std::string text_of(const LeaseRequest& request) {
    Value value;
    value.set("lease", request.lease).set("generation", request.generation);
    return dump(value);
}

Result<LeaseAnswer> read_lease_answer(std::string_view text) {
    const Result<Value> parsed = parse(text, lease_limits);
    if (!parsed) return parsed.error();
    const Value& value = parsed.value();
    LeaseAnswer answer;
    for (const auto& [key, field] : {std::pair{"state", &answer.state}, std::pair{"lease", &answer.lease},
                                     std::pair{"reason", &answer.reason}}) {
        Result<std::string> member = text_at(value, key);
        if (!member) return member.error();
        *field = std::move(member).value();
    }
    const Result<std::uint64_t> revision = count_at(value, "revision");
    if (!revision) return revision.error();
    const Result<std::uint64_t> generation = count_at(value, "generation");
    if (!generation) return generation.error();
    const Result<std::uint64_t> replicas = count_at(value, "replicas");
    if (!replicas) return replicas.error();
    if (replicas.value() > UINT32_MAX) return Error{Code::invalid, "replicas: it is out of range"};
    answer.revision = revision.value();
    answer.generation = generation.value();
    answer.replicas = static_cast<std::uint32_t>(replicas.value());
    if (const Value* const reclaim = value.find("reclaim"); reclaim != nullptr) {
        Result<Reclaim> read = reclaim_of(*reclaim);
        if (!read) return read.error();
        answer.reclaim = std::move(read).value();
    }
    if (Result<void> good = check_lease_answer(answer); !good) return good.error();
    return answer;
}

std::string text_of(const LeaseAnswer& answer) {
    Value value;
    value.set("revision", answer.revision).set("state", answer.state).set("lease", answer.lease);
    value.set("generation", answer.generation).set("replicas", std::int64_t{answer.replicas});
    value.set("reason", answer.reason);
    if (answer.reclaim) value.set("reclaim", value_of(*answer.reclaim));
    return dump(value);
}

}  // namespace llmgw::json
