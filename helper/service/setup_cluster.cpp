// What the cluster's steps do to this machine.
#include <unistd.h>

#include <algorithm>

#include "core/cluster_plan.hpp"
#include "core/last_words.hpp"
#include "core/lending.hpp"
#include "core/limits.hpp"
#include "core/slurm_config.hpp"
#include "core/text.hpp"
#include "crypto/digest.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"
#include "service/cluster_paths.hpp"
#include "service/setup.hpp"

namespace llmgw::service {
namespace {

constexpr std::chrono::seconds ask_again{1};
constexpr int most_asked = 60;

const char* const units[] = {cluster::slurmd_unit, cluster::slurmctld_unit, cluster::munge_unit};

bool is_ours(const Ledger& ledger, const std::string& package) {
    return std::find(ledger.packages.begin(), ledger.packages.end(), package) != ledger.packages.end();
}

}  // namespace

// Apart from the helper, which may not do all of it, and whose end must not end it.
Result<void> Setup::command(const std::vector<std::string>& argv, const std::stop_token& stop) {
    Task task;
    task.unit = "llmgw-slurm-command";
    task.description = "llmgw-slurm: " + join(argv, " ");
    task.argv = argv;
    task.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    task.deadline = limits::reconfigure;
    const Result<TaskResult> ran = runner_.run(task, stop);
    if (!ran) return ran.error();
    if (ran.value().success()) return {};
    return Error{Code::internal, "\"" + join(argv, " ") + "\": " + last_words(ran.value().output, 2)};
}

Result<void> Setup::put_munge_key() {
    if (!munge_key_ || !*munge_key_) return Error{Code::unavailable, "the leader has not given it"};
    const std::string& key = munge_key_->value();
    const std::optional<FileOwner> munge = owner_named("munge");
    if (!munge) return Error{Code::missing, "there is no user munge, which munge's package makes"};
    const Result<std::string> digest = crypto::sha256_hex(key);
    if (!digest) return digest.error();
    if (const Result<void> kept = ledger_.change([](Ledger& ledger) { ledger.munge_key = true; }); !kept)
        return kept;
    const Result<void> written = write_file_atomically(munge_key_file, key, 0400, Durability::durable, munge);
    if (!written) return written;
    return write_file_atomically(key_digest_path(), digest.value(), 0600, Durability::durable);
}

Result<void> Setup::start_unit(const action::StartUnit& what, const std::stop_token& stop) {
    const std::string permission = cluster::permission(options_.state_dir, what.unit);
    const Result<void> allowed = write_file_atomically(
        permission, "llmgw's settings have " + what.unit + " run here.\n", 0644, Durability::durable);
    if (!allowed) return allowed;
    if (const Result<void> enabled = command({systemctl, "enable", "--quiet", what.unit}, stop); !enabled)
        return enabled;
    const std::string verb = what.restart ? "restart" : "start";
    // slurmd waits for slurmctld, wherever that is.
    if (what.unit == cluster::slurmd_unit) return command({systemctl, "--no-block", verb, what.unit}, stop);
    const Result<void> started = command({systemctl, verb, what.unit}, stop);
    if (!started) return started;
    return what.unit == cluster::slurmctld_unit ? wait_for_slurmctld(stop) : Result<void>();
}

Result<void> Setup::stop_unit(const std::string& unit, const std::stop_token& stop) {
    const Result<void> stopped = command({systemctl, "disable", "--quiet", "--now", unit}, stop);
    if (!stopped) return stopped;
    if (unit == cluster::slurmctld_unit) {
        if (const Result<void> removed = remove_file(told_path()); !removed) return removed;
    }
    return remove_file(cluster::permission(options_.state_dir, unit));
}

Result<void> Setup::wait_for_slurmctld(const std::stop_token& stop) {
    Command ping;
    ping.argv = {scontrol, "ping"};
    ping.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    ping.deadline = limits::program_deadline;
    std::string said;
    for (int asked = 0; asked < most_asked; ++asked) {
        const Result<Outcome> outcome = run(ping);
        // "is UP", or "are UP" with a backup.
        if (outcome && contains(outcome.value().output, " UP")) return {};
        said = outcome ? last_line(outcome.value().output) : outcome.error().message;
        if (stop.stop_requested()) return Error{Code::unavailable, "the helper is ending"};
        ::sleep(static_cast<unsigned>(ask_again.count()));
    }
    return Error{Code::unavailable,
                 "slurmctld does not answer: " + said + "; see /var/log/slurm/slurmctld.log and its journal"};
}

Result<void> Setup::tell_slurm(const action::TellSlurm& what, const std::stop_token& stop) {
    if (what.restart) {
        const Result<void> restarted = command({systemctl, "restart", cluster::slurmctld_unit}, stop);
        if (!restarted) return restarted;
        if (const Result<void> answers = wait_for_slurmctld(stop); !answers) return answers;
    }
    if (const Result<void> told = command({scontrol, "reconfigure"}, stop); !told) return told;
    if (const Result<void> answers = wait_for_slurmctld(stop); !answers) return answers;
    return write_file_atomically(told_path(), what.told, 0644, Durability::durable);
}

Result<void> Setup::drain_nodes(const action::DrainNodes& what, const std::stop_token& stop) {
    return command({scontrol, "update", "NodeName=" + join(what.nodes, ","), "State=DRAIN",
                    "Reason=" + std::string(our_drain)},
                   stop);
}

Result<void> Setup::stop_cluster(const Ledger& ledger, const std::stop_token& stop) {
    if (!ledger.cluster) return {};
    for (const char* unit : units) {
        // A site's munge goes on.
        if (unit == cluster::munge_unit && !is_ours(ledger, "munge")) continue;
        if (::access(("/lib/systemd/system/" + std::string(unit)).c_str(), F_OK) != 0) continue;
        if (const Result<void> stopped = stop_unit(unit, stop); !stopped) return stopped;
    }
    return {};
}

Result<void> Setup::forget_cluster(const Ledger& ledger, std::vector<std::string>& left,
                                   const std::stop_token& stop) {
    if (!ledger.cluster) return {};
    const Result<std::string> here = read_file(munge_key_file, limits::munge_key_bytes);
    const Result<std::string> kept = read_file(key_digest_path(), limits::state_file_bytes);
    const Result<std::string> digest = here ? crypto::sha256_hex(here.value()) : here;
    if (ledger.munge_key && digest && kept && digest.value() == kept.value()) {
        if (const Result<void> removed = remove_file(munge_key_file); !removed) return removed;
        if (!is_ours(ledger, "munge")) left.push_back("munge was left, without the cluster's key");
    }
    for (const char* unit : units) {
        const Result<void> removed = remove_file(cluster::permission(options_.state_dir, unit));
        if (!removed) return removed;
    }
    for (const std::string& path : {told_path(), key_digest_path()}) {
        if (const Result<void> removed = remove_file(path); !removed) return removed;
    }
    return command({systemctl, "daemon-reload"}, stop);
}

}  // namespace llmgw::service
