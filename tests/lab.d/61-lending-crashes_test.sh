#!/bin/bash
# Lending through crashes: helper, leader and slurmctld are killed in each phase; afterwards the node has the one owner that
# it is to have.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/lending.sh
. "$(dirname "$0")/../lib/lending.sh"

[[ -e $LAB/bin/llmgw-slurm-helper ]] || skip "the helper is not built"
trap 'kill -KILL "$holder" 2>/dev/null; end_lending' EXIT
begin_lending
holder=0
job=0
for node in $(lab_nodes); do expect "$node to be llmgw's" wait_phase "$node" gateway 180; done

kill_daemon() { # KILL -9, and start it again
    kill -KILL "$(daemon_pid "$1")"
    "$lab" start "$1" 2>/dev/null
}

# hold PHASE: brings n1 there and keeps it there; let_go: what kept it ends.
hold() {
    case $1 in
        asking)
            touch "$LAB/hold-drain"
            lend n1 >/dev/null
            ;;
        checking)
            setsid sh -c "exec 7<'$LAB/n1/dev/gpu0'; exec sleep 1000" </dev/null >/dev/null 2>&1 &
            holder=$!
            lend n1 >/dev/null
            ;;
        emptying)
            lend n1 --wait >/dev/null
            wait_until 30 not_drained n1
            job=$(as_user sbatch --parsable -w n1 -o /dev/null --wrap "sleep 1000")
            wait_job 30 "$job" RUNNING
            reclaim n1 >/dev/null
            ;;
        handing-back)
            # The leader stands still, and answers nobody.
            lend n1 --wait >/dev/null
            wait_until 30 not_drained n1
            job=$(as_user sbatch --parsable -w n1 -o /dev/null --wrap "sleep 1000")
            wait_job 30 "$job" RUNNING
            reclaim n1 >/dev/null
            wait_phase n1 emptying
            kill -STOP "$(daemon_pid leader)"
            scancel "$job"
            ;;
        slurm) lend n1 --wait >/dev/null ;;
        gateway) reclaim n1 --wait >/dev/null ;;
    esac
    wait_phase n1 "$1"
}
let_go() {
    rm -f "$LAB/hold-drain"
    ((holder == 0)) || kill -KILL "$holder" 2>/dev/null
    holder=0
    [[ $1 != emptying ]] || scancel "$job"
    [[ $1 != handing-back ]] || kill -CONT "$(daemon_pid leader)" 2>/dev/null
}
owner_after() { case $1 in asking | checking | slurm) echo slurm ;; *) echo gateway ;; esac; }

for phase in gateway asking checking slurm emptying handing-back; do
    for daemon in helper-n1 leader slurmctld; do
        test_case "$daemon is killed while n1 is in the phase $phase"
        expect "n1 to be in the phase $phase" hold "$phase"
        kill_daemon "$daemon"
        # What was under way goes on from the record, and nobody has got the node by the crash.
        expect "the phase to be kept or to go on" wait_until 30 sh -c "grep -q '^phase' '$LAB/n1/state/lending'"
        # slurmctld may have lost a drain that it had not saved; then it is drained again.
        if [[ $phase != slurm && $phase != emptying ]]; then expect "n1 to be drained" wait_until 60 drained n1; fi
        let_go "$phase"
        owner=$(owner_after "$phase")
        expect "n1 to come to $owner" wait_phase n1 "$owner" 90
        [[ $owner != slurm ]] || expect "n1 to take jobs" wait_until 60 not_drained n1
        expect_one_owner n1
        # The next case begins from the other side.
        [[ $owner == gateway ]] || reclaim n1 --wait >/dev/null
    done
done

test_case "slurmctld is gone: nothing is taken for free, what runs goes on, and all comes back by itself"
lend n1 --wait >/dev/null
wait_until 30 not_drained n1
job=$(as_user sbatch --parsable -w n1 -o /dev/null --wrap "sleep 1000")
expect "the job to run" wait_job 30 "$job" RUNNING
kill -KILL "$(daemon_pid slurmctld)"
reclaim n1 >/dev/null
expect "n1 to be emptied" wait_phase n1 emptying
expect "status to say who does not answer" wait_until 60 bash -c "$(declare -f llmgw_slurm); llmgw_slurm ctl status | grep -q 'n1 .*slurmctld'"
expect "the lease to be held" lease_is n1 free
pkill -KILL -f "^sleep 1000" -u "$LAB_USER"
expect "the lease to be held still" lease_is n1 free
"$lab" start slurmctld 2>/dev/null
scancel "$job"
expect "n1 to be llmgw's" wait_phase n1 gateway 90
expect_one_owner n1

test_case "the leader is gone: the node stays whose it is, and comes back with it"
lend n1 --wait >/dev/null
wait_until 30 not_drained n1
kill -KILL "$(daemon_pid leader)"
run as_user srun -w n1 hostname
expect_status 0
expect_equal "$(record n1 phase)" slurm
"$lab" start leader 2>/dev/null
run reclaim n1 --wait
expect_status 0
expect_one_owner n1

test_case "a record that cannot be read: nothing is done, status says what to do"
"$lab" stop helper-n1 2>/dev/null
cp "$LAB/n1/state/lending" "$LAB/lending.saved"
echo garbage >"$LAB/n1/state/lending"
"$lab" start helper-n1 2>/dev/null
expect "status to say so" wait_until 30 bash -c "$(declare -f llmgw_slurm); llmgw_slurm n1 status | grep -q 'lending: .*state/lending can.t be used'"
expect "n1 to stay drained" drained n1
cp "$LAB/lending.saved" "$LAB/n1/state/lending"
run lend n1 --wait
expect_status 0
expect_one_owner n1
finish
