#include "leader/lease_file.hpp"

#include <filesystem>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "json/dump.hpp"
#include "json/lease_json.hpp"
#include "json/load.hpp"
#include "json/members.hpp"
#include "leader/left_over.hpp"
#include "posix/file.hpp"

namespace llmgw::leader {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".json";

Result<LeaseRecord> record_in(const std::string& text) {
    const Result<Value> document = json::parse(text, {limits::lease_bytes, limits::json_depth});
    if (!document) return document.error();
    const Value& value = document.value();
    const Result<LeaseRequest> request = json::read_lease_request(text);
    if (!request) return request.error();
    LeaseRecord record;
    record.lease = request.value().lease;
    record.generation = request.value().generation;
    const Result<std::string> state = json::text_at(value, "state");
    if (!state) return state.error();
    const std::optional<LeaseState> known = lease_state_of(state.value());
    if (!known) return json::wrong("state", value.find("state"), "none, draining, free or refused");
    record.state = *known;
    if (const Value* const release = value.find("release"); release != nullptr) {
        if (release->boolean() == nullptr) return json::wrong("release", release, "true or false");
        record.release_due = *release->boolean();
    }
    if (value.find("reason") != nullptr) {
        Result<std::string> reason = json::text_at(value, "reason");
        if (!reason) return reason.error();
        record.refusal = std::move(reason).value();
    }
    if (const Value* const reclaim = value.find("reclaim"); reclaim != nullptr) {
        Result<Reclaim> read = json::reclaim_of(*reclaim);
        if (!read) return read.error();
        record.reclaim = std::move(read).value();
    }
    return record;
}

Error broken(const std::string& path, const std::string& node, const Error& error) {
    const std::string what = path + " is no lease: " + error.message;
    if (!is_name(node)) return {Code::invalid, what + "; move it away"};
    return {Code::invalid,
            what +
                ". Nobody knows now whether Slurm has the node. Put a good copy there, or write "
                "{\"lease\":\"unknown\",\"generation\":N,\"state\":\"free\"} into it, with N as `llmgw-slurm "
                "status` shows it on " +
                node + ": llmgw then keeps off the node until it gives itself back"};
}

}  // namespace

Result<void> keep_lease(const std::string& directory, const std::string& node, const LeaseRecord& record) {
    Value value;
    value.set("lease", record.lease).set("generation", record.generation);
    value.set("state", name_of(record.state));
    if (record.release_due) value.set("release", true);
    if (!record.refusal.empty()) value.set("reason", record.refusal);
    if (record.reclaim) value.set("reclaim", json::value_of(*record.reclaim));
    return write_file_atomically(directory + "/" + node + std::string(ending), json::dump(value) + "\n", 0644,
                                 Durability::durable);
}

Result<std::map<std::string, LeaseRecord>> load_leases(const std::string& directory) {
    std::map<std::string, LeaseRecord> leases;
    std::error_code error;
    std::error_code ignored;
    for (fs::directory_iterator each(directory, error), end; !error && each != end; each.increment(error)) {
        const std::string path = each->path().string();
        const std::string file_name = each->path().filename().string();
        if (is_left_over(file_name, ending) && fs::remove(each->path(), ignored)) continue;
        const bool ours = file_name.ends_with(ending);
        const std::string node = ours ? file_name.substr(0, file_name.size() - ending.size()) : "";
        if (!is_name(node)) return broken(path, node, {Code::invalid, "its name is not NODE.json"});
        const Result<std::string> text = read_file(path, limits::lease_bytes);
        if (!text) return broken(path, node, text.error());
        Result<LeaseRecord> record = record_in(text.value());
        if (!record) return broken(path, node, record.error());
        leases.emplace(node, std::move(record).value());
    }
    if (error) return Error{Code::internal, "cannot read " + directory + ": " + error.message()};
    return leases;
}

}  // namespace llmgw::leader
