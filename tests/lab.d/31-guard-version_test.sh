#!/bin/bash
# A micro upgrade of Slurm, or a wrong one: the guard that is installed must cost no plain step.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/elf.sh
. "$(dirname "$0")/../lib/elf.sh"

guard=$LAB/lib/spank_llmgw.so
[[ -e $guard ]] || skip "the guard is not built"
cp -p "$guard" "$LAB/saved-guard.so"
restore() {
    mv "$LAB/saved-guard.so" "$guard"
    gate auto
    wait_gate open
}
trap restore EXIT
gate open
built_for=$(read_number "$guard" plugin_version)

# stamped NUMBER: puts a guard in place that says it was built for that Slurm.
stamped() {
    cp "$LAB/saved-guard.so" "$guard.new"
    write_number "$guard.new" plugin_version "$1"
    mv "$guard.new" "$guard"
    expect_equal "$(read_number "$guard" plugin_version)" "$1"
}

test_case "built for another micro version: plain steps run, container steps do in their container or are refused"
stamped $(((built_for & 0xffff00) | 99))
run as_user srun -w n2 echo plain
expect_status 0
expect_equal "$output" plain
run as_user srun -w n2 --container-image="$LAB_IMAGE_SQUASHFS" grep ^ID= /etc/os-release
expect_status 0
expect_equal "$output" ID=llmgw-lab-image
plugstack n2 without-pyxis
run as_user srun -w n2 --container-image="$LAB_IMAGE" echo ran on
expect_failure
expect_refused_on n2 'pyxis is not loaded here'
plugstack n2

test_case "built for another Slurm, which does not load it: plain steps and jobs run"
stamped $((built_for ^ 0x10000))
run as_user srun echo plain
expect_status 0
expect_output 'plain$'
run as_user sbatch --wrap 'srun true' -o /dev/null
expect_status 0
expect "the job to be complete" wait_job 20 "$(last_job)" COMPLETED

test_case "the cluster is as before"
expect_unharmed
finish
