#!/bin/bash
# From three machines without Slurm to a cluster, by nothing but our package, a token and the leader's settings: nodes that come and go,
# reboots, a controller and a leader that are away, a configuration that Slurm refuses, keys and clocks that differ, switched off, taken back; and a site's own Slurm.
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/machine-test.sh"
# shellcheck source=tests/lib/machine-containers.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-containers.sh"

settings() { write_on controller /var/lib/llmgw-slurm-leader/settings.json <<<"$1"; }
# node_is NAME STATE: as sinfo says it, without the star of one that doesn't answer.
node_is() { [[ $(on controller sinfo -h -N -n "$1" -o %T) == "$2" ]]; }
nodes_come() { wait_until "$1" node_is n1 "$2" && wait_until "$1" node_is n2 "$2"; }
node_gone() { [[ -z $(on controller sinfo -h -N -n "$1" -o %N) ]]; }
unit_is() { [[ $(on "$1" systemctl is-active "$2") == "$3" ]]; }
says_doctor() { [[ $(on "$1" llmgw-slurm doctor 2>&1) =~ $2 ]]; }
test_time() { ((EPOCHSECONDS >= $1)); }
says_plan() { [[ $(on "$1" llmgw-slurm plan 2>&1) =~ $2 ]]; }
# start_job NODE: runs until /tmp/go-on is there on that node; prints its number.
start_job() {
    on "$1" rm -f /tmp/go-on
    as_user_on controller sbatch --parsable -w "$1" -o none --chdir=/tmp \
        --wrap 'until test -e /tmp/go-on; do sleep 0.5; done'
}
job_is() { [[ $(on controller scontrol show job "$1" | sed -nE 's/.*JobState=([A-Z]+).*/\1/p') == "$2" ]]; }
# set_back NAME UNIT...: ten minutes, and anew with their own time. (libfaketime 0.9.10 can't do the other direction: timers fail.)
set_back() {
    write_on "$1" /usr/local/lib/faketime.so 755 <"$(compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1')"
    for unit in "${@:2}"; do
        on "$1" mkdir -p "/run/systemd/system/$unit.service.d"
        write_on "$1" "/run/systemd/system/$unit.service.d/faketime.conf" <<<'[Service]
Environment=LD_PRELOAD=/usr/local/lib/faketime.so FAKETIME=-600s DONT_FAKE_MONOTONIC=1'
    done
    on "$1" systemctl daemon-reload && on "$1" systemctl restart "${@:2}"
}
set_right() {
    on "$1" sh -c 'rm -f /run/systemd/system/*/faketime.conf /usr/local/lib/faketime.so && systemctl daemon-reload'
    on "$1" systemctl restart "${@:2}"
}
base='"enabled": true, "cluster_name": "llmgw", "controller": "controller", "containers": false'

for name in $(all_machines); do fresh_machine "$name" bare & done
wait
for name in $(all_machines); do wait_booted "$name" || exit 1; done

test_case "before: no Slurm and no munge"
for name in $(all_machines); do
    run on "$name" sh -c 'command -v slurmd slurmctld scontrol munged'
    expect_failure
    file_listing "$name" >"$MACHINES/listing.bare.$name"
done

test_case "our package, a token and settings: a cluster, whose nodes are drained"
run install_package controller n1 n2
expect_status 0
for name in n1 n2; do make_image "$name"; done
for name in $(all_machines); do file_listing "$name" >"$MACHINES/listing.package.$name"; done
configure_leader
on controller mkdir -p /etc/llmgw-slurm
write_on controller /etc/llmgw-slurm/slurm.conf <"$LLMGW_SOURCE_DIR/tests/lib/machine-slurm.conf"
configure_helper controller n1 n2
RUN_LIMIT=660 run nodes_come 600 drained
expect_status 0
run on controller sinfo -N -o '%N %T %E'
expect_output 'llmgw: not lent to Slurm'
run on controller head -n 1 /etc/slurm/slurm.conf
expect_output '^# llmgw-slurm: '
run on n1 ls /etc/slurm/slurm.conf
expect_failure
for name in $(all_machines); do
    run on "$name" stat -c '%a %U %s' /etc/munge/munge.key
    expect_output '^400 munge 1024$'
done
run on n1 sh -c 'munge -n'
expect_status 0
run on controller unmunge <<<"$output"

test_case "lent nodes run jobs, others don't"
settings "{$base, \"nodes\": [\"n1\", \"n2\"], \"lent\": [\"n1\"]}"
run wait_until 120 node_is n1 idle
expect_status 0
run as_user_on controller srun -w n1 hostname
expect_output 'n1'
run as_user_on controller srun -w n2 --immediate=3 true
expect_failure
settings "{$base, \"nodes\": [\"n1\", \"n2\"], \"lent\": [\"n1\", \"n2\"]}"
RUN_LIMIT=150 run nodes_come 120 idle
expect_status 0
run as_user_on controller srun -N2 hostname
expect_status 0
expect_output n1
expect_output n2
run as_user_on n1 srun -N2 hostname
expect_status 0

test_case "nothing is left to do"
for name in $(all_machines); do
    run on "$name" llmgw-slurm apply --wait
    expect_status 0
    run on "$name" llmgw-slurm doctor
    refute_output '[0-9]  (to do|cannot) '
done

test_case "containers on this cluster: both sets of steps agree with each other"
run on controller llmgw-slurm containers on
expect_status 0
RUN_LIMIT=900 run on controller llmgw-slurm status --watch
expect_status 0
expect_output 'n2 +ready '
run as_user_on controller srun -N2 --container-image=/images/lab cat /etc/os-release
expect_status 0
expect_output 'Lab image'
for name in $(all_machines); do
    run on "$name" llmgw-slurm doctor
    refute_output '[0-9]  (to do|cannot) '
done

test_case "a third node by all_nodes, while a job runs"
job=$(start_job n1)
run wait_until 60 job_is "$job" RUNNING
expect_status 0
settings "{$base, \"nodes\": [\"n1\", \"n2\"], \"all_nodes\": true, \"lent\": [\"n1\", \"n2\"]}"
RUN_LIMIT=330 run wait_until 300 node_is controller drained
expect_status 0
run job_is "$job" RUNNING
expect_status 0
settings "{$base, \"nodes\": [\"n1\", \"n2\"], \"all_nodes\": true, \"lent\": [\"n1\", \"n2\", \"controller\"]}"
run wait_until 120 node_is controller idle
expect_status 0
run as_user_on controller srun -w controller,n2 -N2 hostname
expect_status 0

test_case "a node leaves when its jobs have ended, others go on"
other=$(start_job n2)
run wait_until 60 job_is "$other" RUNNING
settings "{$base, \"nodes\": [\"n1\"], \"lent\": [\"n1\"]}"
run wait_until 120 node_is n2 draining
expect_status 0
RUN_LIMIT=150 run wait_until 120 node_gone controller
expect_status 0
run job_is "$other" RUNNING
expect_status 0
on n2 touch /tmp/go-on
run wait_until 60 job_is "$other" COMPLETED
expect_status 0
RUN_LIMIT=330 run wait_until 300 node_gone n2
expect_status 0
RUN_LIMIT=330 run wait_until 300 unit_is n2 slurmd inactive
expect_status 0
run job_is "$job" RUNNING
expect_status 0

test_case "the controller boots anew while a job runs"
run reboot_machine controller
expect_status 0
run wait_until 120 job_is "$job" RUNNING
expect_status 0
settings "{$base, \"nodes\": [\"n1\", \"n2\"], \"lent\": [\"n1\", \"n2\"]}"
RUN_LIMIT=330 run wait_until 300 node_is n2 idle
expect_status 0
run job_is "$job" RUNNING
expect_status 0
on n1 touch /tmp/go-on
run wait_until 60 job_is "$job" COMPLETED
expect_status 0

test_case "a node boots while the controller is away"
# It keeps what it knows; a power failure would cost it the last seconds, and the end of the job above with them.
on controller systemctl stop slurmctld
run stop_machine controller
expect_status 0
run reboot_machine n2
expect_status 0
run unit_is n2 munge active
expect_status 0
start_machine controller
run wait_booted controller 120
expect_status 0
RUN_LIMIT=330 run nodes_come 300 idle
expect_status 0
run as_user_on controller srun -N2 hostname
expect_status 0

test_case "the leader is away for ten minutes, and a node boots meanwhile"
job=$(start_job n1)
on controller systemctl stop llmgw-slurm-leader
back=$((EPOCHSECONDS + 600))
run reboot_machine n2
expect_status 0
RUN_LIMIT=150 run wait_until 120 node_is n2 idle
expect_status 0

test_case "a configuration that Slurm refuses is not put in place"
before=$(on controller md5sum /etc/slurm/slurm.conf)
on controller sh -c 'cp /etc/llmgw-slurm/slurm.conf /root/kept; echo SelectType=select/nothing >>/etc/llmgw-slurm/slurm.conf'
run on controller llmgw-slurm apply --wait
expect_failure
expect_output 'slurmctld does not start with it: .*select/nothing'
expect_equal "$(on controller md5sum /etc/slurm/slurm.conf)" "$before"
run as_user_on controller srun -N2 true
expect_status 0
on controller cp /root/kept /etc/llmgw-slurm/slurm.conf
run on controller llmgw-slurm apply --wait
expect_status 0

test_case "somebody's hand: what was changed comes back"
on controller sh -c 'echo Foo=bar >>/etc/slurm/slurm.conf'
run wait_until 60 on controller sh -c '! grep -q Foo=bar /etc/slurm/slurm.conf'
expect_status 0

test_case "an admin's drain stays"
on controller scontrol update nodename=n2 state=drain reason='a fan is broken'
on controller llmgw-slurm apply --wait
run on controller sinfo -h -N -n n2 -o '%T %E'
expect_output '^drained a fan is broken'
on controller scontrol update nodename=n2 state=resume

test_case "the leader comes back after ten minutes: what ran went on, and the state comes back"
wait_until 660 test_time "$back"
run job_is "$job" RUNNING
expect_status 0
run as_user_on controller srun -w n2 true
expect_status 0
on controller systemctl start llmgw-slurm-leader
on n1 touch /tmp/go-on
run wait_until 60 job_is "$job" COMPLETED
expect_status 0
settings "{$base, \"nodes\": [\"n1\", \"n2\"], \"lent\": [\"n1\"]}"
run wait_until 120 node_is n2 drained
expect_status 0
settings "{$base, \"nodes\": [\"n1\", \"n2\"], \"lent\": [\"n1\", \"n2\"]}"
run wait_until 120 node_is n2 idle
expect_status 0

test_case "another cluster_name: refused, with what to do"
settings "{${base/\"llmgw\"/\"other\"}, \"nodes\": [\"n1\", \"n2\"], \"lent\": [\"n1\", \"n2\"]}"
run wait_until 60 says_plan controller "this cluster's name is llmgw.*say cluster_name llmgw, or stop slurmctld and remove"
expect_status 0
run on controller grep -h ClusterName /etc/slurm/slurm.conf
expect_output 'ClusterName=llmgw'
run as_user_on controller srun -N2 true
expect_status 0
settings "{$base, \"nodes\": [\"n1\", \"n2\"], \"lent\": [\"n1\", \"n2\"]}"
run wait_until 60 says_plan controller 'done +write Slurm.s configuration'
expect_status 0

test_case "munge runs with another key on the controller: nodes say that it is the key"
kept_time=$(on controller stat -c %Y /etc/munge/munge.key)
on controller sh -c 'cp -p /etc/munge/munge.key /root/key && systemctl stop llmgw-slurm-helper &&
    head -c 1024 /dev/urandom >/etc/munge/munge.key && systemctl restart munge && cp -p /root/key /etc/munge/munge.key'
run wait_until 60 says_doctor n1 'slurmctld on controller does not take this machine.s credentials: munge has another key there'
expect_status 0
run on n1 llmgw-slurm apply --wait
expect_failure
expect_output 'munge has another key there'
expect_equal "$(on controller stat -c %Y /etc/munge/munge.key)" "$kept_time"
on controller sh -c 'rm /root/key; systemctl restart munge; systemctl start llmgw-slurm-helper'
run wait_until 60 says_doctor n1 'slurmctld answers, so munge.s key and the clock are right'
expect_status 0
run wait_until 120 on n1 llmgw-slurm apply --wait
expect_status 0

test_case "a clock that is ten minutes behind: which way, and by how much"
set_back n1 munge llmgw-slurm-helper
run wait_until 60 says_doctor n1 'credentials: this machine.s clock is (59[89]|60[0-2]) s behind the leader.s; munge.s credentials are good for 300 s'
expect_status 0
set_right n1 munge llmgw-slurm-helper
run wait_until 120 on n1 llmgw-slurm apply --wait
expect_status 0

test_case "one that is ahead, since the controller and the leader on it are behind"
set_back controller munge llmgw-slurm-leader
run wait_until 60 says_doctor n2 'credentials: this machine.s clock is (59[89]|60[0-2]) s ahead of the leader.s'
expect_status 0
set_right controller munge llmgw-slurm-leader
run wait_until 120 on n2 llmgw-slurm apply --wait
expect_status 0
RUN_LIMIT=150 run nodes_come 120 idle
expect_status 0

test_case "switched off: everything of ours stops when jobs have ended, nothing is uninstalled"
job=$(start_job n1)
settings '{"enabled": false}'
run wait_until 120 node_is n1 draining
expect_status 0
run job_is "$job" RUNNING
expect_status 0
on n1 touch /tmp/go-on
for name in $(all_machines); do
    RUN_LIMIT=330 run wait_until 300 unit_is "$name" munge inactive
    expect_status 0
done
for unit in slurmctld munge; do run unit_is controller "$unit" inactive && expect_status 0; done
run on n1 systemctl is-enabled slurmd
expect_output 'disabled'
run on n1 dpkg-query -W -f '${db:Status-Status}' slurmd
expect_output '^installed$'

test_case "switched on again: as before, and what waits is not lost"
settings "{$base, \"nodes\": [\"n1\", \"n2\"], \"lent\": [\"n1\", \"n2\"]}"
RUN_LIMIT=330 run nodes_come 300 idle
expect_status 0
run as_user_on controller srun -N2 hostname
expect_status 0

test_case "uninstall: refused while it is part of the cluster, and then every machine is as it was"
run on n1 llmgw-slurm uninstall --wait
expect_failure
expect_output 'part of the cluster'
settings '{"enabled": false}'
for name in $(all_machines); do
    RUN_LIMIT=330 run wait_until 300 unit_is "$name" munge inactive
    expect_status 0
done
for name in n1 n2 controller; do
    RUN_LIMIT=300 run on "$name" llmgw-slurm uninstall --wait
    expect_status 0
    file_listing "$name" >"$MACHINES/listing.after.$name"
    output=$(diff "$MACHINES/listing.package.$name" "$MACHINES/listing.after.$name" |
        grep '^[<>]' | grep -vE '/var/lib/(private/)?llmgw-slurm|/etc/llmgw-slurm|/etc/systemd/system/(llmgw-slurm|multi-user)|/tmp/|/root/kept|/etc/(passwd|shadow|group|gshadow|subuid|subgid)|/var/(log|lib)/(slurm|munge)')
    expect_equal "$output" ""
done

test_case "a site's own Slurm is left alone, and told what it needs"
fresh_machine controller || exit 1
before=$(on controller md5sum /etc/slurm/slurm.conf /etc/munge/munge.key)
install_package controller && configure_leader && configure_helper controller
# While it is being worked on there is no plan to be had.
run wait_until 60 says_plan controller 'the site.s own.*JobSubmitPlugins=llmgw'
expect_status 0
run on controller llmgw-slurm apply --wait
expect_status 0
expect_equal "$(on controller md5sum /etc/slurm/slurm.conf /etc/munge/munge.key)" "$before"
run on controller ls /etc/systemd/system/munge.service.d /etc/systemd/system/slurmctld.service.d
expect_failure

# As the others were before.
for name in $(all_machines); do fresh_machine "$name" & done
wait
finish
