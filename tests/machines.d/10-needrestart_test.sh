#!/bin/bash
# An upgrade of a library restarts neither slurmd nor munge nor us where needrestart is told to restart services.
# shellcheck disable=SC2317 # functions are called through run
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "$0")/../lib/machine-test.sh"

ours=/etc/needrestart/conf.d/llmgw-slurm.conf
services="slurmd munge llmgw-slurm-helper dbus"
# shellcheck disable=SC2086
main_pids() { on n1 systemctl show -P MainPID $services | grep .; }
apt() { on "$1" env DEBIAN_FRONTEND=noninteractive apt-get -y -q "${@:2}"; }
# Another file by the same name, as dpkg leaves it.
# shellcheck disable=SC2016
upgrade_library() { on n1 sh -euc 'file=$(readlink -f "$1"); cp -a "$file" "$file.new"; mv "$file.new" "$file"' - "$1"; }
restart_automatically() { on n1 env NEEDRESTART_MODE=a needrestart -r a; }

test_case "needrestart in automatic mode, and a library that all of them use"
run install_package n1
expect_status 0
run apt n1 install needrestart
expect_status 0
expect "the helper" machine_wait 30 n1 systemctl is-active --quiet llmgw-slurm-helper
before=$(main_pids)
as_user_on n1 bash -c 'rm -f go-on; srun -w n1 bash -c "until test -e go-on; do sleep 0.2; done; echo lived"' >"$MACHINES/job.log" 2>&1 &
job=$!
expect "a running job" machine_wait 30 n1 sh -c 'squeue -h -t running | grep -q .'
for library in /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libmunge.so.2; do upgrade_library "$library"; done
run on n1 needrestart -b -r l
for service in $services; do expect_output "NEEDRESTART-SVC: $service.service"; done
run restart_automatically
expect_status 0
expect_output 'deferred:.*slurmd.service'
expect_equal "$(main_pids)" "$before"
on n1 touch "/home/$MACHINE_USER/go-on"
expect "the job to end well" wait "$job"
expect_equal "$(<"$MACHINES/job.log")" lived
on n1 rm "/home/$MACHINE_USER/go-on"

test_case "without our file slurmd would have been restarted"
on n1 mv "$ours" /run/llmgw-slurm.conf
run restart_automatically
expect_status 0
refute_output 'deferred:.*slurmd.service'
expect "another slurmd" test "$(main_pids | head -n 1)" != "$(head -n 1 <<<"$before")"
on n1 mv /run/llmgw-slurm.conf "$ours"
expect "idle nodes" wait_until 60 nodes_are idle

run apt n1 purge needrestart llmgw-slurm
expect_status 0
run apt n1 autoremove --purge
expect_status 0
finish
