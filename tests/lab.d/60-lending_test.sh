#!/bin/bash
# Lending: nodes go from llmgw to Slurm and back, one owner at a time, whatever admins and jobs do meanwhile.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/lending.sh
. "$(dirname "$0")/../lib/lending.sh"

[[ -e $LAB/bin/llmgw-slurm-helper ]] || skip "the helper is not built"
trap end_lending EXIT
begin_lending
mapfile -t nodes < <(lab_nodes)
ran_file=$WORK/ran
job_here() { rm -f "$ran_file" && as_user sbatch --parsable -w "$1" -o /dev/null --wrap "echo \$SLURMD_NODENAME >$ran_file; ${2:-true}"; }
job_state() { scontrol -o show job "$1" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p'; }
waits_for() { llmgw_slurm ctl status --json | jq -e --arg n "$1" --arg w "$2" \
    '.machines[] | select(.name == $n) | .lending.waiting | join("; ") | test($w)' >/dev/null; }

test_case "an ordinary user may not lend, take back or open a fence"
for words in "lend n1" "reclaim n1" "fence off n1"; do
    # shellcheck disable=SC2086
    run as_user llmgw-slurm --bus-address "$LAB_BUS" --bus-name org.llmgw.Slurm1.ctl $words
    expect_failure
    expect_output 'only root and members of the group llmgw-slurm may do this'
done

test_case "what is not lent is llmgw's, and drained in Slurm with our reason"
for node in "${nodes[@]}"; do expect "$node to be llmgw's" wait_phase "$node" gateway 180; done
for node in "${nodes[@]}"; do expect_equal "$(reason_of_node "$node")" "llmgw: not lent to Slurm"; done
expect_one_owner "${nodes[@]}"
run llmgw_slurm ctl status
expect_output "n1 +llmgw's, since"

test_case "nodes are lent: replicas end first, then Slurm has the nodes"
run lend "${nodes[@]}" --wait
expect_status 0
expect_output "n1: Slurm's, since"
for node in "${nodes[@]}"; do expect "$node to take jobs" wait_node 30 "$node" idle; done
expect_one_owner "${nodes[@]}"
run as_user srun -N "${#nodes[@]}" hostname
expect_status 0

test_case "a node comes back when its last job has ended, and status says whose job that is"
job=$(as_user sbatch --parsable -w n1 -t 60 -o /dev/null --wrap "sleep 600")
expect "the job to run" wait_job 30 "$job" RUNNING
run reclaim n1
expect_status 0
expect "n1 to be emptied" wait_phase n1 emptying
expect "the job to be named" wait_until 30 waits_for n1 "job $job of $LAB_USER, until [0-9-]+ [0-9:]+ at most"
expect "Slurm to keep new jobs off" drained n1
expect "the lease to be held still" lease_is n1 free
expect "the job to run on" job_is "$job" RUNNING
scancel "$job"
expect "n1 to be llmgw's" wait_phase n1 gateway
expect_one_owner n1 n2
expect "llmgw to start a replica" wait_until 30 test -e "$replicas/n1/model"

test_case "a node whose admin changed their mind goes on being Slurm's"
job=$(as_user sbatch --parsable -w n2 -o /dev/null --wrap "sleep 600")
expect "the job to run" wait_job 30 "$job" RUNNING
generation=$(record n2 generation)
run reclaim n2
expect "n2 to be emptied" wait_phase n2 emptying
run lend n2 --wait
expect_status 0
expect "n2 to take jobs" wait_until 30 not_drained n2
expect_equal "$(record n2 generation)" "$generation"
expect "the job to run on" job_is "$job" RUNNING

test_case "at the deadline a batch job goes back to the queue, and runs again elsewhere"
run reclaim n2 --deadline 1s --wait
expect_status 0
expect "the job to be back in the queue, and not held" wait_until 30 job_is "$job" 'PENDING|RUNNING'
expect "that it was requeued" _matches "$(scontrol -o show job "$job")" ' Restarts=1 '
scancel "$job"
expect_one_owner n2
run reclaim n3 --deadline soon
expect_status 2
expect_output '30m'

test_case "at the deadline a job is cancelled where that was asked for, and its user told"
run lend n2 --wait
rm -f "$WORK/told"
as_user srun -w n2 sleep 600 >"$WORK/told" 2>&1 &
expect "a running job" wait_until 30 sh -c '[ -n "$(squeue -h -w n2 -t R)" ]'
run reclaim n2 --deadline 0s --cancel --wait
expect_status 0
wait
expect "the user to be told" grep -q 'llmgw: node n2 is needed back' "$WORK/told"

test_case "a node that an admin resumes while llmgw has it runs no job, and the job is not lost"
rm -f "$ran_file"
job=$(job_here n1)
expect "it to wait" job_is "$job" PENDING
scontrol update nodename=n1 state=resume
expect "the node to be drained again" wait_until 90 drained n1
expect "the job to wait again, not held" wait_until 60 job_is "$job" PENDING
expect "that nothing ran" test ! -e "$ran_file"
expect "our reason" _matches "$(reason_of_node n1)" '^llmgw: not lent to Slurm'
expect_equal "$(scontrol -o show job "$job" | sed -n 's/.* Priority=\([0-9]*\) .*/\1/p' | grep -c '^0$')" 0
# Slurm starts no requeued job before its old credential has ended, two minutes later.
expect "the job to be tried again by itself" _matches "$(scontrol -o show job "$job")" ' Reason=(BeginTime|None) .* Restarts=1 '
scancel "$job"
run lend n1 --wait
expect_status 0
job=$(job_here n1)
expect "a job to run now" wait_job 30 "$job" COMPLETED
expect "it to have run on n1" grep -qx n1 "$ran_file"

test_case "with the fence off an admin may do as they like"
run reclaim n1 --wait
expect_status 0
run llmgw_slurm n1 fence off n2
expect_failure
expect_output 'this is n1'
run llmgw_slurm n1 fence off n1
expect_status 0
expect_output 'the fence is down'
expect "status to say so" wait_until 30 bash -c "$(declare -f llmgw_slurm); llmgw_slurm ctl status | grep -q 'n1 .*fence off'"
scontrol update nodename=n1 state=resume
job=$(job_here n1)
expect "the job to run" wait_job 30 "$job" COMPLETED
run llmgw_slurm n1 fence on n1
expect_status 0
expect "the node to be drained again" wait_until 30 drained n1

test_case "an admin's drain stays, before, during and after, and is not ours to undo"
scontrol update nodename=n3 state=drain reason="ann: broken fan"
run reclaim n3 --wait
expect_status 0
expect_equal "$(reason_of_node n3)" "ann: broken fan"
run lend n3 --wait
expect_status 0
expect "status to say why Slurm does not use it" wait_until 30 waits_for n3 'drained in Slurm by somebody else: ann: broken fan'
expect "it to be drained" drained n3
run reclaim n3
expect "n3 to come back" wait_phase n3 gateway
expect_equal "$(reason_of_node n3)" "ann: broken fan"
scontrol update nodename=n3 state=resume
expect "the node to be drained, since llmgw has it" wait_until 90 drained n3
run lend n3 --wait
expect_status 0
expect "n3 to take jobs" wait_until 30 not_drained n3

test_case "what a replica left behind keeps the node from Slurm, and status says who it is"
setsid sh -c 'exec 7<"$0"; exec sleep 1000' "$LAB/n1/dev/gpu0" </dev/null >/dev/null 2>&1 &
holder=$!
run lend n1
expect "n1 to be looked at" wait_phase n1 checking
expect "status to name it" wait_until 30 waits_for n1 'pid [0-9]+ \(s[a-z]+\) has .*/dev/gpu0 open'
expect "it to be drained" drained n1
expect "the leader to have given it" lease_is n1 free
kill -KILL "$holder"
expect "n1 to be Slurm's" wait_phase n1 slurm
expect "n1 to take jobs" wait_until 30 not_drained n1

test_case "a suspended job's processes count"
job=$(as_user sbatch --parsable -w n1 -o /dev/null --wrap "sleep 600")
expect "the job to run" wait_job 30 "$job" RUNNING
scontrol suspend "$job"
expect "it to be suspended" wait_job 30 "$job" SUSPENDED
run reclaim n1
expect "n1 to wait for it" wait_until 30 waits_for n1 "job $job"
expect_equal "$(record n1 phase)" emptying
scontrol resume "$job"
scancel "$job"
expect "n1 to be llmgw's" wait_phase n1 gateway

test_case "a node that was lent and is lent by nobody any more takes no part in the rest"
run reclaim "${nodes[@]}" --wait
expect_status 0
expect_one_owner "${nodes[@]}"
finish
