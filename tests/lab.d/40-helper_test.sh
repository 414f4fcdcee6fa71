#!/bin/bash
# The helpers: what they see on their machines, what the gate becomes of it, and who may tell them what.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"

[[ -e $LAB/bin/llmgw-slurm-helper ]] || skip "the helper is not built"
reports=$LAB/leader/machines
restore() {
    local machine
    "$lab" start leader
    [[ -e $LAB/n2/lib/spank_pyxis.so ]] || add_pyxis n2
    plugstack n2
    for machine in $(lab_machines); do "$lab" start "helper-$machine"; done
    wait_until 20 llmgw_slurm ctl containers on
    wait_until 20 llmgw_slurm ctl gate auto
    wait_gate open
}
trap restore EXIT

status_json() { llmgw_slurm ctl status --json; }
# shows FILTER: does `llmgw-slurm status --json` fulfil this filter of jq?
shows() { status_json | jq -e "$1" >/dev/null; }
gate_is() { grep -qx "state $1" "$LAB/ctl/run/gate"; }
milliseconds() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

test_case "an ordinary user may not act"
for words in "containers off" "containers on" "gate open" "gate closed" "gate auto" recheck; do
    # shellcheck disable=SC2086
    run as_user llmgw-slurm --bus-address "$LAB_BUS" --bus-name org.llmgw.Slurm1.ctl $words
    expect_failure
    expect_equal "$output" "llmgw-slurm: only root and members of the group llmgw-slurm may do this"
done
expect "the gate to be as it was" shows '.gate.mode == "auto" and .gate.open and .containers'
run as_user busctl --address="$LAB_BUS" call org.llmgw.Slurm1.ctl /org/llmgw/Slurm1 org.llmgw.Slurm1 SetGate s open
expect_failure
expect_output '[Dd]enied|Rejected'

test_case "an ordinary user may read the status"
run as_user llmgw-slurm --bus-address "$LAB_BUS" --bus-name org.llmgw.Slurm1.ctl status
expect_status 0
for machine in $(lab_machines); do expect_output "$machine +ready +pyxis 0.24.0, enroot 4.2.1"; done
run as_user llmgw-slurm status --json --bus-address "$LAB_BUS" --bus-name org.llmgw.Slurm1.n1
expect_status 0
expect_output '"machine": "n1"'

test_case "pyxis is taken from a machine: the gate closes, and status says which machine and why"
remove_pyxis n2
expect "the gate to close" wait_gate closed
expect "status to say so" wait_until 30 shows '.gate.open == false and .gate.mode == "auto"'
expect "n2's reason" shows '.machines[] | select(.name == "n2") | (.ready | not) and (.reason | test("spank_pyxis.so is not there"))'
expect "no reason of the others" shows '[.machines[] | select(.ready)] | length == 3'
run llmgw_slurm ctl status
expect_status 1
expect_output 'n2 +not ready +pyxis: [^ ]*spank_pyxis.so is not there'
run llmgw_slurm n2 status
expect_output 'this machine, n2: not-ready, pyxis: [^ ]*spank_pyxis.so is not there'

test_case "pyxis is back: the gate opens by itself, and no daemon was restarted"
started=$(milliseconds)
add_pyxis n2
expect "the gate to open" wait_until 30 gate_is open
took=$(($(milliseconds) - started))
echo "   it took $took ms"
run as_user srun -w n2 --container-image="$LAB_IMAGE_SQUASHFS" true
expect_status 0

test_case "the guard's lines are taken from a machine: not ready"
plugstack n2 without-guard
expect "the gate to close" wait_gate closed
run llmgw_slurm n2 status
expect_output 'this machine, n2: not-ready, plugstack.conf has no line "optional spank_llmgw.so"'
plugstack n2
expect "the gate to open" wait_gate open

test_case "containers are switched off and on"
run llmgw_slurm ctl containers off
expect_status 0
expect "the gate to close" wait_gate closed
run as_user srun --container-image="$LAB_IMAGE" true
expect_output 'error: llmgw: containers are switched off on this cluster\. Plain jobs run\.'
expect "the settings to say so" test "$(jq .containers "$LAB/leader/settings.json")" = false
run llmgw_slurm ctl containers on
expect_status 0
expect "the gate to open" wait_gate open

test_case "the gate by hand: it holds, also through a restart of the helper, until auto"
gate closed
expect "closed" gate_is closed
"$lab" restart helper-ctl
expect "closed still" gate_is closed
expect "the mode" wait_until 30 shows '.gate.mode == "closed" and .gate.open == false'
remove_pyxis n2
expect "n2 to be seen" wait_until 30 shows '.machines[] | select(.name == "n2") | .ready | not'
gate open
expect "open" gate_is open
run llmgw_slurm ctl status
expect_output 'gate open by hand'
gate auto
expect "closed, since n2 has no pyxis" wait_until 30 gate_is closed
add_pyxis n2
expect "open" wait_gate open
run llmgw_slurm n1 gate closed
expect_failure
expect_output 'the gate is on ctl'
run llmgw_slurm ctl gate ajar
expect_failure

test_case "a restart of the controller's helper does not close the gate"
"$lab" stop helper-ctl
run as_user srun --container-image="$LAB_IMAGE_SQUASHFS" true
expect_status 0
"$lab" start helper-ctl
expect "open" gate_is open

test_case "a state file that someone removed is written again at the next look"
rm "$LAB/n2/run/node" "$LAB/ctl/run/gate"
for machine in n2 ctl; do
    run llmgw_slurm "$machine" recheck
    expect_status 0
done
expect "the node file" wait_log 30 "$LAB/n2/run/node" '^state ready'
expect "the gate file" wait_gate open

test_case "the leader is killed: the gate stays, status says so, and all is well when it is back"
kill -KILL "$(daemon_pid leader)"
expect "status to say so" wait_until 30 shows '.leader.error != ""'
expect "the gate open" gate_is open
run as_user srun --container-image="$LAB_IMAGE_SQUASHFS" true
expect_status 0
run llmgw_slurm ctl status
expect_output 'leader: '
run llmgw_slurm ctl containers off
expect_failure
remove_pyxis n3
run as_user srun -w n3 --container-image="$LAB_IMAGE_SQUASHFS" echo ran on
expect_refused_on n3 'pyxis is not loaded here'
add_pyxis n3
"$lab" start leader
expect "no error any more" wait_until 40 shows '.leader.error == ""'
expect "the gate open" wait_gate open

test_case "a machine's helper is killed: what it reported holds for a while, then its machine counts as silent"
kill -KILL "$(daemon_pid helper-n3)"
expect "the gate open" gate_is open
# The limit is a minute and a half; instead of waiting, the last report is made older.
"$lab" stop leader
expect "the report of n3" test -e "$reports/n3.json"
touch -d '-10 minutes' "$reports/n3.json"
"$lab" start leader
expect "the gate to close" wait_until 40 gate_is closed
run as_user srun --container-image="$LAB_IMAGE" true
expect_output 'waiting for n3 \(no report since [0-9: -]+\)'
"$lab" start helper-n3
expect "the gate to open" wait_gate open

test_case "the cluster is as before"
expect_unharmed
finish
