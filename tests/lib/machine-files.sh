#!/bin/bash
# Runs where a machine's root is mounted: writes what makes it that machine, and Slurm's configuration.
# machine-files.sh ROOT NAME MACHINES KIND; of KIND bare it has neither munge nor Slurm.
set -euo pipefail
umask 022

tree=$1 name=$2
# shellcheck source=tests/lib/machines.sh
. "$(dirname "${BASH_SOURCE[0]}")/machines.sh"

echo "$name" >"$tree/etc/hostname"
{
    echo "127.0.0.1 localhost"
    for machine in $(all_machines); do echo "$(machine_address "$machine") $machine"; done
    echo "$MACHINES_OUTSIDE outside"
} >"$tree/etc/hosts"
md5sum <<<"$MACHINES $name" | cut -d' ' -f1 >"$tree/etc/machine-id"
mkdir -p "$tree/etc/systemd/network"
printf '[Match]\nName=host0\n[Network]\nAddress=%s/24\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n' \
    "$(machine_address "$name")" >"$tree/etc/systemd/network/10-host0.network"

[[ $4 != bare ]] || exit 0
install -m 400 "$MACHINES/munge.key" "$tree/etc/munge/munge.key"
chroot "$tree" chown munge: /etc/munge/munge.key

cat >"$tree/etc/slurm/slurm.conf" <<CONF
ClusterName=llmgw
SlurmctldHost=controller
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldDebug=verbose
SlurmdDebug=verbose
# A machine in a container has no cgroup controllers of its own.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
# A node that was rebooted comes back by itself.
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=1000,bf_interval=1
KillWait=2
InactiveLimit=0
MessageTimeout=20
SlurmdTimeout=60
MinJobAge=300
CONF
for machine in $(machine_nodes); do
    # More CPUs than there may be: jobs share them.
    echo "NodeName=$machine CPUs=4 RealMemory=2000"
done >>"$tree/etc/slurm/slurm.conf"
echo "PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP" >>"$tree/etc/slurm/slurm.conf"
