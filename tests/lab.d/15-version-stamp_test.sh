#!/bin/bash
# A gate that was built for another micro version of this Slurm takes the stamp of the slurmctld that loads it, without
# which that slurmctld would not start.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/elf.sh
. "$(dirname "$0")/../lib/elf.sh"

other=$(find "$LLMGW_BUILD_DIR" -maxdepth 4 -name gate_of_another_micro.so -print -quit 2>/dev/null)
[[ -n $other ]] || skip "gate_of_another_micro is not built"

plugin=$LAB/plugins/job_submit_llmgw.so
restore() {
    "$lab" restart slurmctld # with the gate as it was built
    gate auto
    wait_gate open
}
trap restore EXIT

test_case "the number that it brings is another one than this Slurm's, and only in its last byte"
mine=$(read_number "$plugin" plugin_version)
theirs=$(read_number "$other" plugin_version)
expect "different numbers" test "$mine" != "$theirs"
expect_equal $((theirs >> 8)) $((mine >> 8))

test_case "slurmctld loads it all the same, and it does its work"
"$lab" stop slurmctld
cp "$other" "$plugin"
(start_slurmctld)
expect "slurmctld to answer" is_controller_up
gate closed
run as_user srun --container-image="$LAB_IMAGE" true
expect_failure
expect_output 'an administrator has closed this cluster for container jobs'
run as_user srun true
expect_status 0
run cat "$LAB/ctl/log/slurmctld.log"
refute_output 'job_submit/llmgw: [^'$'\n'']*version'

finish
