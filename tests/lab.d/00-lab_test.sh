#!/bin/bash
# The lab itself: plain and container steps of root and of an ordinary user, and what happens when pyxis or enroot is
# taken away. The project's guard and gate have tests of their own, so containers are tried on a stack without them.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

lab=$LLMGW_SOURCE_DIR/tests/lab
for machine in $(lab_machines); do
    "$lab" stop "helper-$machine" # it would close the gate and change plugstack.conf
    plugstack "$machine" without-guard
done
rm -rf "$LAB/saved" && mkdir "$LAB/saved" && cp -p "$LAB"/ctl/run/* "$LAB/saved/" 2>/dev/null
write_gate open
restore() {
    rm -f "$LAB/ctl/run/gate"
    cp -p "$LAB"/saved/* "$LAB/ctl/run/" 2>/dev/null
    for machine in $(lab_machines); do
        plugstack "$machine"
        "$lab" start "helper-$machine"
    done
}
trap restore EXIT

test_case "plain steps run on every node, as root and as a user"
run srun -N "$(lab_nodes | wc -l)" hostname
expect_status 0
expect_equal "$(sort <<<"$output" | xargs)" "$(lab_nodes | sort | xargs)"
run as_user srun id -un
expect_status 0
expect_output "^$LAB_USER$"
run as_user sbatch --wait --wrap 'hostname; srun hostname' -o plain.out
expect_status 0
expect_equal "$(sort -u "$LAB/home/$LAB_USER/plain.out")" n1
run as_user salloc -N1 srun hostname
expect_status 0
expect_output n1

test_case "a container step sees the image, whatever its form and however it was asked for"
for image in "$LAB_IMAGE" "$LAB_IMAGE_SQUASHFS"; do
    run as_user srun --container-image="$image" grep ^ID= /etc/os-release
    # The real enroot takes squashfs files only.
    [[ $image == "$LAB_IMAGE" && $output == *"No such file"* ]] && continue
    expect_status 0
    expect_output '^ID=llmgw-lab-image$'
done
run as_user srun --export=NONE --container-image="$LAB_IMAGE_SQUASHFS" /bin/grep ^ID= /etc/os-release
expect_status 0
expect_output '^ID=llmgw-lab-image$'
run as_user env PYXIS_CONTAINER_IMAGE="$LAB_IMAGE_SQUASHFS" srun grep ^ID= /etc/os-release
expect_output '^ID=llmgw-lab-image$'
run as_user srun -N2 -n4 --container-image="$LAB_IMAGE_SQUASHFS" grep ^ID= /etc/os-release
expect_status 0
expect_equal "$(grep -c '^ID=llmgw-lab-image$' <<<"$output")" 4
run as_user salloc -N1 --container-image="$LAB_IMAGE_SQUASHFS" srun grep ^ID= /etc/os-release
expect_output 'ID=llmgw-lab-image'
run srun --container-image="$LAB_IMAGE_SQUASHFS" grep ^ID= /etc/os-release
expect_output '^ID=llmgw-lab-image$'

test_case "a batch script runs in its container"
run as_user sbatch --wait --container-image="$LAB_IMAGE_SQUASHFS" -o container.out --wrap 'grep ^ID= /etc/os-release'
expect_status 0
expect_equal "$(<"$LAB/home/$LAB_USER/container.out")" ID=llmgw-lab-image

test_case "a container step is in a mount namespace of its own"
run as_user srun -w n1 readlink /proc/self/ns/mnt
plain=$output
run as_user srun -w n1 --container-image="$LAB_IMAGE_SQUASHFS" readlink /proc/self/ns/mnt
expect_output '^mnt:'
expect "another namespace than the plain step's" test "$(tail -n 1 <<<"$output")" != "$(tail -n 1 <<<"$plain")"

test_case "a named container is kept, on its node"
run as_user srun -w n1 --container-image="$LAB_IMAGE_SQUASHFS" --container-name=kept --container-writable touch /marker
expect_status 0
run as_user srun -w n1 --container-name=kept ls /marker
expect_output /marker
run on_node n1 setpriv --reuid="$LAB_USER" --regid="$LAB_USER" --clear-groups enroot remove -f pyxis_kept
expect_status 0
run as_user srun -w n1 --container-name=kept true
expect_output 'does not exist'

test_case "without enroot, a step with an optional pyxis runs on the host: what the guard is for"
remove_enroot n1
run as_user srun -w n1 --container-image="$LAB_IMAGE_SQUASHFS" grep ^ID= /etc/os-release
expect_output 'pyxis: '
refute_output 'llmgw-lab-image'
add_enroot n1

test_case "without pyxis on a node, the option is dropped there"
remove_pyxis n1
plugstack n1 without-guard
run as_user srun -w n1 --container-image="$LAB_IMAGE_SQUASHFS" grep ^ID= /etc/os-release
refute_output 'llmgw-lab-image'
add_pyxis n1
plugstack n1 without-guard
run as_user srun -w n1 --container-image="$LAB_IMAGE_SQUASHFS" grep ^ID= /etc/os-release
expect_output '^ID=llmgw-lab-image$'

test_case "no node was drained by any of this, and no container is left"
run sinfo -h -N -o '%N %T'
refute_output 'drain|down'
expect "no temporary container" test -z "$(find "$LAB"/n*/enroot/data -mindepth 2 -maxdepth 2)"

finish
