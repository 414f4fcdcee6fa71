#!/bin/bash
# Jobs that come through slurmrestd, where no sbatch parsed anything and no guard of a submit host saw them.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"

command -v slurmrestd jq >/dev/null || skip "no slurmrestd or no jq"

restore() {
    "$lab" stop slurmrestd
    scancel -Q -u "$LAB_USER"
    gate auto
    rm -f "$WORK"/*.{sh,out}
}
trap restore EXIT
"$lab" start slurmrestd

# post SCRIPT [VARIABLE=VALUE...]: `output` is slurmrestd's answer.
post() {
    local script=$1 environment
    shift
    environment=$(jq -nc '$ARGS.positional | map(split("=") | {key: .[0], value: (.[1:] | join("="))}) | from_entries' \
        --args PATH=/bin:/usr/bin "$@")
    run rest POST /slurm/VERSION/job/submit "$(jq -nc --argjson e "$environment" --arg s "$script" --arg w "$WORK" '
        {script: $s, job: {name: "rest", partition: "gpu", environment: $e, current_working_directory: $w,
                           standard_output: ($w + "/rest.out")}}')"
    job=$(jq -r '.job_id // empty' <<<"$output" 2>/dev/null)
}
refused() {
    expect_output "System submissions disabled"
    expect "no job" test -z "$job"
}
taken() {
    expect "a job number" _matches "$job" "^[0-9]+$"
    refute_output "System submissions disabled"
}

plain=$'#!/bin/sh\nexec grep ^ID= /etc/os-release\n'
directive=$'#!/bin/sh\n#SBATCH -N1\n#SBATCH --container-image=x\necho ran\n'
nested=$'#!/bin/sh\nsrun --container-image=x true\n'

test_case "gate closed: refused for a variable, for an option forged as one, and for a line of the script"
gate closed
post "$plain" PYXIS_CONTAINER_IMAGE=x
refused
post "$plain" PYXIS_CONTAINER_NAME=x
refused
post "$plain" _SLURM_SPANK_OPTION_pyxis_container_image=x
refused
post "$plain" SLURM_SPANK__SLURM_SPANK_OPTION_pyxis_container_name=x
refused
post "$directive"
refused
expect "nothing queued" no_jobs

test_case "gate closed: a plain job is taken; one whose script runs srun with a container, too, with a warning"
post "$plain" PYXIS_CONTAINER_IMAGE=
taken
refute_output 'llmgw: '
post "$nested"
taken
expect_output 'llmgw: line 2 of the script runs srun with --container-image'
expect "both to end" wait_until 20 no_jobs

test_case "a change of a pending job: refused if it asks for a container, and otherwise never"
run as_user sbatch --parsable --hold --wrap true
job=$output
for entry in PYXIS_CONTAINER_IMAGE=x _SLURM_SPANK_OPTION_pyxis_container_image=x; do
    run rest POST "/slurm/VERSION/job/$job" "$(jq -nc --arg n "${entry%=*}" '{environment: {($n): "x"}}')"
    expect_output 'System submissions disabled'
done
run rest POST "/slurm/VERSION/job/$job" '{"comment": "changed"}'
refute_output 'System submissions disabled'
expect "the comment to be changed" _matches "$(scontrol -o show job "$job")" 'Comment=changed'
scancel "$job"

test_case "gate open: a line that only sbatch would have read is refused, since the job would run on the host"
gate open
post "$directive"
refused
post "$nested"
taken
refute_output 'llmgw: '
expect "it to end" wait_until 20 no_jobs

test_case "gate open: a variable, or an option forged as one, runs the job in the container"
for name in PYXIS_CONTAINER_IMAGE _SLURM_SPANK_OPTION_pyxis_container_image; do
    rm -f "$WORK/rest.out"
    post "$plain" "$name=$LAB_IMAGE"
    taken
    expect "job $job to end" wait_until 20 job_ended "$job"
    expect_equal "$(<"$WORK/rest.out")" ID=llmgw-lab-image
done

test_case "the cluster is as before"
expect_unharmed
finish
