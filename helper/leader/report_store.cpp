#include "leader/report_store.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "json/report_json.hpp"
#include "leader/left_over.hpp"
#include "posix/file.hpp"

namespace llmgw::leader {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t ns_per_second = 1'000'000'000;
constexpr std::string_view ending = ".json";
// Reports change often while a cluster is rolled out.
constexpr std::uint64_t stride = 256;

}  // namespace

Result<std::unique_ptr<ReportStore>> ReportStore::open(const std::string& directory, Now now,
                                                       std::vector<std::string>& skipped) {
    const std::string machines = directory + "/machines";
    if (Result<void> made = make_directories(machines, 0755); !made) return made.error();
    Result<Revision> revision = Revision::open(directory + "/revision.machines", stride);
    if (!revision) return revision.error();
    std::unique_ptr<ReportStore> store(
        new ReportStore(machines, std::move(now), std::move(revision).value()));
    store->load(skipped);
    if (Result<void> raised = store->revision_.raise(); !raised) return raised.error();
    return store;
}

void ReportStore::load(std::vector<std::string>& skipped) {
    std::error_code error;
    std::error_code ignored;
    for (fs::directory_iterator each(directory_, error), end; !error && each != end; each.increment(error)) {
        const std::string file_name = each->path().filename().string();
        const std::string name =
            file_name.substr(0, file_name.size() - std::min(ending.size(), file_name.size()));
        if (file_name.ends_with(ending) && is_name(name) && load_one(name)) continue;
        // Nobody else writes here, so it can only be ours.
        if (is_left_over(file_name, ending) && fs::remove(each->path(), ignored)) continue;
        skipped.push_back(each->path().string());
    }
    if (error) skipped.push_back(directory_ + ": " + error.message());
}

bool ReportStore::load_one(const std::string& name) {
    if (machines_.size() >= limits::machines) return false;
    const Result<std::string> text = read_file(file(name), limits::report_bytes);
    const Result<FileStamp> stamp = stamp_of(file(name));
    if (!text || !stamp) return false;
    Result<MachineReport> report = json::read_report(text.value());
    if (!report || report.value().name != name) return false;
    Machine machine;
    // A clock that was wrong once must not make a machine look alive for years.
    machine.known = {std::move(report).value(), std::min(stamp.value().mtime_ns / ns_per_second, now_())};
    machine.text = json::text_of(machine.known.report);
    machine.silent = is_silent(machine.known, now_());
    machines_.emplace(name, std::move(machine));
    return true;
}

std::uint64_t ReportStore::revision() const {
    const std::lock_guard lock(mutex_);
    return revision_.value();
}

ReportStore::Body ReportStore::body() const {
    const std::lock_guard lock(mutex_);
    std::string text = json::machines_head(revision_.value(), now_());
    for (const auto& [name, machine] : machines_)
        json::add_machine(text, machine.text, machine.known.received);
    json::close_machines(text);
    return {revision_.value(), std::make_shared<const std::string>(std::move(text))};
}

Result<bool> ReportStore::sign_of_life(const MachineReport& report, bool& news) {
    const auto found = machines_.find(report.name);
    if (found == machines_.end() || !(found->second.known.report == report)) return false;
    Machine& machine = found->second;
    if (machine.silent) {
        if (Result<void> raised = revision_.raise(); !raised) return raised.error();
        news = true;
    }
    machine.silent = false;
    machine.known.received = now_();
    // So that a restart knows it, too. No sync, and no matter if it fails: the next report comes soon.
    std::error_code ignored;
    fs::last_write_time(file(report.name), fs::file_time_type::clock::now(), ignored);
    return true;
}

Result<bool> ReportStore::put(const MachineReport& report) {
    bool news = false;
    {
        const std::lock_guard lock(mutex_);
        const Result<bool> alive = sign_of_life(report, news);
        if (!alive) return alive.error();
        if (alive.value()) return news;
    }
    const std::lock_guard one_writer(writing_);
    {
        const std::lock_guard lock(mutex_);
        if (machines_.size() >= limits::machines && !machines_.contains(report.name)) {
            return Error{Code::too_large, "there are " + std::to_string(limits::machines) +
                                              " machines already: DELETE those that are gone for good"};
        }
    }
    Machine machine{{report, now_()}, json::text_of(report), false};
    const Result<void> kept =
        write_file_atomically(file(report.name), machine.text + "\n", 0644, Durability::durable);
    if (!kept) return kept.error();
    const std::lock_guard lock(mutex_);
    if (Result<void> raised = revision_.raise(); !raised) return raised.error();
    machines_.insert_or_assign(report.name, std::move(machine));
    return true;
}

Result<void> ReportStore::forget(const std::string& name) {
    const std::lock_guard one_writer(writing_);
    const std::lock_guard lock(mutex_);
    if (!machines_.contains(name)) return Error{Code::missing, "no machine of that name has reported"};
    if (Result<void> raised = revision_.raise(); !raised) return raised;
    std::error_code error;
    fs::remove(file(name), error);
    if (error) return Error{Code::internal, "cannot remove " + file(name) + ": " + error.message()};
    machines_.erase(name);
    return {};
}

Result<bool> ReportStore::notice_silence() {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = now_();
    std::vector<Machine*> fallen;
    for (auto& [name, machine] : machines_) {
        if (!machine.silent && is_silent(machine.known, now)) fallen.push_back(&machine);
    }
    if (fallen.empty()) return false;
    if (Result<void> raised = revision_.raise(); !raised) return raised.error();
    for (Machine* const machine : fallen) machine->silent = true;
    return true;
}

}  // namespace llmgw::leader
