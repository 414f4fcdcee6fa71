#!/bin/bash
# Submit hosts without pyxis, or without anything of ours: container options get the cluster's answer there.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"

restore() {
    plugstack ctl
    plugstack n2
    gate auto
    for machine in ctl n2; do wait_log 30 "$LAB/$machine/run/node" '^state ready'; done
    wait_gate open
    rm -f "$WORK"/*.{sh,out}
}
trap restore EXIT
inside=ID=llmgw-lab-image

test_case "without pyxis, gate closed: the cluster's reason, not 'unrecognized option'"
plugstack ctl without-pyxis
expect "the gate to close" wait_gate closed
for command in "srun --container-image=$LAB_IMAGE" "srun --container-name=x --container-mounts=/tmp:/tmp" \
    "salloc --container-image $LAB_IMAGE" "sbatch --container-im=$LAB_IMAGE --wrap" "env PYXIS_CONTAINER_IMAGE=$LAB_IMAGE srun"; do
    # shellcheck disable=SC2086
    run as_user $command true
    expect_failure
    expect_output 'error: llmgw: containers are not ready on this cluster: 3 of 4 machines .*ctl \(pyxis is not in plugstack.conf\)'
    refute_output 'nrecognized'
done
expect "nothing queued" no_jobs

test_case "without pyxis: every option of pyxis is known, and an empty image is a mistake"
run as_user srun --help
for option in image mounts workdir name save mount-home remap-root entrypoint entrypoint-log writable readonly env; do
    expect_output "--container-$option"
done
run as_user srun --container-image= true
expect_failure
expect_output 'argument required'

test_case "without pyxis, gate open: the options reach the nodes, and the job runs in its container"
gate open
run as_user srun -N2 --container-image="$LAB_IMAGE_SQUASHFS" grep ^ID= /etc/os-release
expect_status 0
expect_equal "$output" "$inside"$'\n'"$inside"
run as_user srun --export=NONE --container-image="$LAB_IMAGE_SQUASHFS" /bin/grep ^ID= /etc/os-release
expect_status 0
expect_equal "$output" "$inside"
batch --container-image="$LAB_IMAGE_SQUASHFS" --container-mounts=/tmp:/mnt --wrap 'grep ^ID= /etc/os-release; ls -d /mnt'
expect_output "$inside"
expect_output '/mnt'
run as_user srun true
expect_equal "$output" ""

test_case "without pyxis here and on the node: the node refuses"
plugstack n2 without-pyxis
for export in ALL NONE; do
    run as_user srun -w n2 --export=$export --container-image="$LAB_IMAGE" /bin/echo ran on
    expect_failure
    expect_refused_on n2 'pyxis is not loaded here'
done

test_case "with pyxis and without the guard on the submit host: the node refuses all the same"
plugstack ctl without-guard
for export in ALL NONE; do
    run as_user srun -w n2 --export=$export --container-image="$LAB_IMAGE" /bin/echo ran on
    expect_failure
    expect_refused_on n2 'pyxis is not loaded here'
done
run as_user env PYXIS_CONTAINER_IMAGE="$LAB_IMAGE" srun -w n2 echo ran on
expect_refused_on n2 'pyxis is not loaded here'

test_case "with pyxis and without the guard on the submit host, gate closed: an option is refused"
gate closed
run as_user srun --container-image="$LAB_IMAGE" true
expect_output 'error: llmgw: an administrator has closed this cluster'

test_case "with nothing at all on the submit host: plain jobs run"
plugstack ctl empty
run as_user srun echo plain
expect_status 0
expect_equal "$output" plain
run as_user env PYXIS_CONTAINER_IMAGE="$LAB_IMAGE" srun -w n2 echo ran on
expect_refused_on n2 'pyxis is not loaded here'

test_case "the cluster is as before"
expect_unharmed
finish
