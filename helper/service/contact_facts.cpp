// Asks slurmctld something, as this machine's root, to see whether it takes the credentials of this machine.
#include "core/contact_plan.hpp"
#include "core/limits.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"
#include "service/cluster_paths.hpp"
#include "service/setup.hpp"

namespace llmgw::service {

// With a configuration of its own: a node whose credentials were never taken has none.
void Setup::gather_contact(ClusterFacts& cluster, const ResolvedSettings& settings) const {
    const std::string& machine = options_.paths.machine;
    const bool only_node = settings.runs_slurmd(machine) && settings.controller != machine;
    if (!only_node || !cluster.munge.running || cluster.munge_stale) return;
    const std::string conf = options_.run_dir + "/contact.conf";
    const std::string text =
        "# llmgw-slurm: asks whether slurmctld answers this machine\nClusterName=" + settings.cluster_name +
        "\nSlurmctldHost=" + settings.controller + "\nSlurmUser=slurm\nAuthType=auth/munge\n";
    if (!write_file_atomically(conf, text, 0644, Durability::volatile_)) return;
    Command ask;
    ask.argv = {scontrol, "show", "partition"};
    ask.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "SLURM_CONF=" + conf};
    ask.deadline = limits::slurm_contact;
    const Result<Outcome> said = run(ask);
    if (said) {
        cluster.contact = read_contact(said.value().success(), said.value().output);
    } else if (said.error().code != Code::missing) {
        cluster.contact = {SlurmContact::State::silent, said.error().message};
    }
}

}  // namespace llmgw::service
