# Words for the tests of gate, guard and helper: what must hold after a refusal. Sourced behind test.sh.
# shellcheck shell=bash

# shellcheck source=tests/lib/daemons.sh
. "$LLMGW_SOURCE_DIR/tests/lib/daemons.sh"

lab=$LLMGW_SOURCE_DIR/tests/lab
export WORK=$LAB/home/$LAB_USER # where as_user runs

no_jobs() { [[ -z $(squeue -h) ]]; }

# Every node idle, none drained, no reason.
nodes_fine() { [[ $(sinfo -h -N -o '%T %E' | sort -u) == "idle none" ]]; }

# Slurm's daemons by process number and start time.
slurm_daemons() {
    local file
    for file in "$LAB"/pids/slurm{ctld,d-*}; do
        alive "${file##*/}" && echo "${file##*/} $(<"$file")"
    done
}
daemons_before=$(slurm_daemons)

# expect_unharmed: nothing queued or running, all nodes idle and without a reason, the same daemons as before.
expect_unharmed() {
    expect "no job left" wait_until 30 no_jobs
    expect "idle nodes without a reason" wait_until 30 nodes_fine
    expect_equal "$(slurm_daemons)" "$daemons_before"
}

# The job that was submitted last; of an array or a het job its last part.
last_job() { squeue -h -t all -S -i -o %A | head -n 1; }

# expect_failed JOB: the job ended as failed, and not to be tried again.
expect_failed() {
    expect "job $1 to fail" wait_job 30 "$1" FAILED
    expect "job $1 not to be requeued" _matches "$(scontrol -o show job "$1")" ' Requeue=[01] Restarts=0 '
}

# batch ARGUMENT...: sbatch as the test user, then waits for the job's end; `output` is what the job wrote (for an
# array or a het job: all parts together), `job` its number.
batch() {
    job=""
    rm -f "$WORK"/job-*.out
    run as_user sbatch --parsable -o "job-%j.out" "$@"
    if ((status)) || ! [[ $output =~ ^[0-9]+$ ]]; then
        _check "expected sbatch to take the job" false
        return 1
    fi
    job=$output
    _check "expected job $job to end" wait_until 30 job_ended "$job"
    output=$(cat "$WORK"/job-*.out 2>&1)
}
job_ended() { [[ -z $(squeue -h -j "$1" 2>/dev/null) ]]; }

# script LINE...: a batch script of these lines, as WORK/job.sh.
script() {
    printf '%s\n' '#!/bin/bash' "$@" >"$WORK/job.sh"
    chmod 755 "$WORK/job.sh"
}

# expect_refused_on NODE REASON: the guard of that node refused the last `run` or `batch`, and nothing of it ran.
expect_refused_on() {
    expect_output "llmgw: container step refused on $1: [^"$'\n'"]*$2"
    refute_output 'ran on'
}

# Opens or closes the gate, or lets the machines' state decide: open, closed, auto.
gate() {
    llmgw_slurm ctl gate "$1" >/dev/null
}
wait_gate() { wait_log 30 "$LAB/ctl/run/gate" "^state $1"; }
