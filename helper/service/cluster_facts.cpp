// What is to be known of Slurm on this machine before the plan says what to do about it.
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/cluster_plan.hpp"
#include "core/limits.hpp"
#include "core/slurm_config.hpp"
#include "core/text.hpp"
#include "crypto/digest.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"
#include "service/cluster_paths.hpp"
#include "service/recorded_files.hpp"
#include "service/setup.hpp"
#include "slurm/daemon_facts.hpp"

namespace llmgw::service {
namespace {

constexpr const char* slurm_directory = "/etc/slurm";

Result<Outcome> ask(const std::vector<std::string>& argv, std::size_t most_output) {
    Command command;
    command.argv = argv;
    command.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    command.deadline = limits::program_deadline;
    command.most_output = most_output;
    return run(command);
}

std::string text_at(const std::string& path) {
    Result<std::string> text = read_file(path, limits::settings_bytes);
    return text ? std::move(text).value() : std::string();
}

void note_units(ClusterFacts& cluster) {
    const Result<Outcome> said =
        ask({systemctl, "show", "--timestamp=unix",
             "--property=Id,UnitFileState,ActiveState,SubState,NeedDaemonReload,ActiveEnterTimestamp",
             cluster::munge_unit, cluster::slurmctld_unit, cluster::slurmd_unit},
            limits::program_output_bytes);
    if (!said) return;
    const std::map<std::string, UnitFacts> units = parse_units(said.value().output);
    for (const auto& [name, facts] : {std::pair{cluster::munge_unit, &cluster.munge},
                                      {cluster::slurmctld_unit, &cluster.slurmctld},
                                      {cluster::slurmd_unit, &cluster.slurmd}}) {
        const auto found = units.find(name);
        if (found != units.end()) *facts = found->second;
    }
}

Result<std::vector<SlurmNode>> nodes_of_slurmctld() {
    const Result<Outcome> said = ask({scontrol, "--oneliner", "show", "node"}, limits::slurm_nodes_bytes);
    if (!said) return said.error();
    if (!said.value().success()) {
        return Error{Code::unavailable, "scontrol show node: " + last_line(said.value().output)};
    }
    return parse_slurm_nodes(said.value().output);
}

std::string digest_of(const std::string& text) {
    Result<std::string> digest = crypto::sha256_hex(text);
    return digest ? std::move(digest).value() : std::string();
}

}  // namespace

std::map<std::string, UnitFacts> parse_units(std::string_view text) {
    std::map<std::string, UnitFacts> units;
    UnitFacts facts;
    std::string id;
    const auto close = [&] {
        if (!id.empty()) units[id] = facts;
        facts = {};
        id.clear();
    };
    for (const std::string_view line : split(text, '\n')) {
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) {
            close();
            continue;
        }
        const std::string_view key = line.substr(0, equals);
        const std::string_view value = line.substr(equals + 1);
        if (key == "Id") id = value;
        if (key == "UnitFileState") facts.enabled = value == "enabled";
        if (key == "NeedDaemonReload") facts.needs_reload = value == "yes";
        if (key == "ActiveState") {
            facts.running = value == "active" || value == "reloading";
            facts.active = facts.running || value == "activating";
        }
        // "auto-restart-queued" since systemd 254.
        if (key == "SubState") facts.failing = value.starts_with("auto-restart");
        if (key == "ActiveEnterTimestamp" && value.starts_with('@'))
            std::from_chars(value.data() + 1, value.data() + value.size(), facts.since);
    }
    close();
    return units;
}

std::optional<FileOwner> owner_named(const char* name) {
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwnam_r(name, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
        return std::nullopt;
    return FileOwner{found->pw_uid, found->pw_gid};
}

bool Setup::runs_cluster() const {
    const Result<Ledger> ledger = ledger_.read();
    return ledger && ledger.value().cluster;
}

// Why Slurm here is somebody else's; empty: it is ours, or nobody's yet.
std::string Setup::site_slurm(const ClusterFacts& cluster) const {
    const std::string conf = options_.paths.slurm_conf_dir + "/slurm.conf";
    if (options_.paths.slurm_conf_dir != slurm_directory) return "its configuration is in " + conf;
    if (::access(conf.c_str(), F_OK) == 0 && !is_our_config(text_at(conf)))
        return conf + " is not llmgw-slurm's";
    if (::access("/run/systemd/system", F_OK) != 0) return "there is no systemd here to start it";
    if (cluster.ours) return {};
    if (cluster.slurmctld.active) return "a slurmctld runs that llmgw-slurm did not start";
    slurm::DaemonPlaces places;
    places.machine = options_.paths.machine;
    if (slurm::read_slurmd(places).running) return "a slurmd runs that llmgw-slurm did not start";
    return {};
}

void Setup::gather_munge_key(ClusterFacts& cluster, const Ledger& ledger, const std::stop_token& stop) {
    struct stat status {};
    const bool there = ::stat(munge_key_file, &status) == 0;
    const Result<std::string> here = read_file(munge_key_file, limits::munge_key_bytes);
    if (there) cluster.munge_stale = cluster.munge.running && status.st_mtime > cluster.munge.since;
    const bool put_by_us = here && digest_of(here.value()) == text_at(key_digest_path());
    if (!munge_key_) {
        LeaderClient leader(options_.leader);
        munge_key_ = leader.munge_key(stop);
        clock_ahead_ = leader.clock_ahead();
    }
    cluster.clock_ahead = clock_ahead_;
    const Result<std::string>& wanted = *munge_key_;
    if (!wanted) {
        // Put in place when the leader answered; it goes on without the leader.
        cluster.munge_key = put_by_us ? MungeKey::right : MungeKey::unknown;
        cluster.munge_problem = "the munge key comes from the leader: " + wanted.error().message;
        return;
    }
    const std::optional<FileOwner> munge = owner_named("munge");
    const bool safe = munge && there && status.st_uid == munge->uid && (status.st_mode & 0077U) == 0;
    if (here && here.value() == wanted.value() && safe) {
        cluster.munge_key = MungeKey::right;
    } else if (!there || put_by_us || cluster.munge_ours || ledger.munge_key ||
               (here && here.value() == wanted.value())) {
        cluster.munge_key = MungeKey::to_put;
    } else {
        cluster.munge_key = MungeKey::foreign;
        cluster.munge_problem = std::string("munge was here before, with a key of its own in ") +
                                munge_key_file +
                                ": if nothing else needs it, remove that file, and the cluster's comes there";
    }
}

void Setup::gather_cluster(SetupFacts& facts, const ResolvedSettings& settings, const std::stop_token& stop) {
    const Result<Ledger> read = ledger_.read();
    const Ledger ledger = read ? read.value() : Ledger{};
    const std::string& machine = options_.paths.machine;
    if (!settings.is_member(machine) && !ledger.cluster) return;
    ClusterFacts cluster;
    cluster.ours = ledger.cluster;
    cluster.state_dir = options_.state_dir;
    cluster.munge_ours =
        std::find(ledger.packages.begin(), ledger.packages.end(), "munge") != ledger.packages.end();
    note_units(cluster);
    cluster.site = site_slurm(cluster);
    if (!cluster.site.empty()) {
        cluster.site_conf = text_at(options_.paths.slurm_conf_dir + "/slurm.conf");
        facts.cluster = std::move(cluster);
        return;
    }
    for (const std::string& path :
         {cluster::dropin_path(cluster::munge_unit), cluster::dropin_path(cluster::slurmctld_unit),
          cluster::dropin_path(cluster::slurmd_unit), std::string(cluster::slurm_conf),
          std::string(cluster::cgroup_conf), std::string(cluster::gres_conf)}) {
        if (std::optional<MachineFile> file = machine_file_at(path)) cluster.files[path] = std::move(*file);
    }
    if (settings.is_member(machine)) {
        gather_munge_key(cluster, ledger, stop);
        gather_contact(cluster, settings);
    }
    cluster.told = text_at(told_path());
    cluster.additions = text_at(options_.own_slurm_conf);
    if (cluster.slurmctld.running) {
        cluster.nodes = nodes_of_slurmctld();
    } else {
        cluster.nodes = Error{Code::unavailable, "it does not run"};
    }
    slurm::DaemonPlaces places;
    places.machine = machine;
    if (cluster.slurmd.active) cluster.steps = slurm::read_slurmd(places).steps;
    facts.cluster = std::move(cluster);
}

}  // namespace llmgw::service
