#!/bin/bash
# Changes of pending jobs while the gate is closed. Users and their tools change plain jobs all the time, so only a
# change that itself asks for a container may be refused.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"

restore() {
    scancel -Q -u "$LAB_USER"
    gate auto
    wait_gate open
    rm -f "$LAB/update_job" "$WORK"/*.{sh,out}
}
trap restore EXIT
${CC:-cc} -o "$LAB/update_job" "$LLMGW_SOURCE_DIR/tests/lib/update_job.c" -lslurm || skip "no compiler or no libslurm-dev"

# held OPTION...: `job` is a pending job's number.
held() {
    run as_user sbatch --parsable --hold "$@" --wrap true
    job=$output
}
show() { scontrol -o show job "$job"; }

gate open
held --container-image="$LAB_IMAGE"
container_job=$job
gate closed

test_case "refused: a change that brings a container into a plain job"
held
for entry in _SLURM_SPANK_OPTION_pyxis_container_image=x _SLURM_SPANK_OPTION_pyxis_container_name=x LLMGW_CONTAINER=x; do
    run as_user "$LAB/update_job" "$job" spank "$entry"
    expect_failure
    expect_output 'System submissions disabled'
done
run as_user "$LAB/update_job" "$job" environment PYXIS_CONTAINER_IMAGE=x
expect_failure
expect_output 'System submissions disabled'
refute_output "$(show)" 'container'

test_case "never refused: any other change of a plain job"
run as_user "$LAB/update_job" "$job" spank OTHER=x
expect_status 0
while read -r words; do
    # shellcheck disable=SC2086
    run as_user scontrol $words
    expect_status 0
    expect_equal "$output" ""
done <<EOF
update job=$job comment=--container-image=x
update job=$job timelimit=10
update job=$job name=container
update job=$job nice=5
hold $job
release $job
EOF
expect "the job to run" wait_job 20 "$job" COMPLETED
run as_user scontrol requeue "$job"
expect_status 0
expect "it to be queued again" wait_job 30 "$job" PENDING # Slurm lets it wait for two minutes
expect "it to have been requeued" _matches "$(show)" ' Restarts=1 '
scancel "$job"

test_case "never refused: changes of a plain array and of a plain het job"
held --array=1-2
run as_user scontrol update "job=$job" comment=x
expect_status 0
scancel "$job"
run as_user sbatch --parsable --hold -N1 : -N1 --wrap true
job=$output
run as_user scontrol update "job=$job" comment=x
expect_status 0
run as_user scontrol release "$job"
expect_status 0

test_case "a container job that was taken while the gate was open can be changed and runs"
job=$container_job
run as_user scontrol update "job=$job" comment=x
expect_status 0
run as_user scontrol release "$job"
expect_status 0
expect "the job to run" wait_job 20 "$job" COMPLETED

test_case "the cluster is as before"
expect_unharmed
finish
