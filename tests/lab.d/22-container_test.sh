#!/bin/bash
# With everything in place, container steps run inside their image on every node, and plain ones beside them on the host.
# shellcheck disable=SC2016 # expanded by the job
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"

restore() {
    for node in $(lab_nodes); do
        on_node "$node" as_user enroot remove -f pyxis_kept &>/dev/null
    done
    rm -f "$WORK"/*.{sh,out}
}
trap restore EXIT
inside=ID=llmgw-lab-image
host=$(grep ^ID= /etc/os-release)
nodes=$(lab_nodes | wc -l)

test_case "all nodes are in the image, as a squashfs file and as a directory"
for image in "$LAB_IMAGE_SQUASHFS" "$LAB_IMAGE"; do
    run as_user srun -N"$nodes" --container-image="$image" grep ^ID= /etc/os-release
    [[ $image == "$LAB_IMAGE" && $output == *"No such file"* ]] && continue # the real enroot takes squashfs files only
    expect_status 0
    expect_equal "$(sort <<<"$output" | uniq -c | xargs)" "$nodes $inside"
done

test_case "a plain step on all nodes sees the host, and nothing is said"
run as_user srun -N"$nodes" grep ^ID= /etc/os-release
expect_status 0
expect_equal "$(sort <<<"$output" | uniq -c | xargs)" "$nodes $host"

test_case "however it is asked for"
while read -r command; do
    run as_user bash -c "$command /bin/grep ^ID= /etc/os-release"
    expect_status 0
    expect_output "(^|"$'\n'")$inside($|"$'\n'")"
    refute_output "$host"
done <<'EOF'
srun --export=NONE --container-image=$LAB_IMAGE_SQUASHFS
PYXIS_CONTAINER_IMAGE=$LAB_IMAGE_SQUASHFS srun
srun --export=ALL,PYXIS_CONTAINER_IMAGE=$LAB_IMAGE_SQUASHFS
salloc --container-image=$LAB_IMAGE_SQUASHFS srun
salloc srun --container-image=$LAB_IMAGE_SQUASHFS
EOF

test_case "a named container is made once and used again on its node"
run as_user srun -w n1 --container-image="$LAB_IMAGE_SQUASHFS" --container-name=kept --container-writable touch /marker
expect_status 0
run as_user srun -w n1 --container-name=kept ls /marker
expect_status 0
expect_output '/marker'
run as_user srun -w n2 --container-name=kept echo ran on
expect_failure
refute_output 'ran on'

test_case "sbatch: the batch script is in the container, and so is every element of an array"
printf '#!/bin/sh\ngrep ^ID= /etc/os-release\n' >"$WORK/job.sh" # the image has no bash
batch --container-image="$LAB_IMAGE_SQUASHFS" job.sh
expect_equal "$output" "$inside"
batch --array=1-2 --container-image="$LAB_IMAGE_SQUASHFS" job.sh
expect_equal "$(sort <<<"$output" | uniq -c | xargs)" "2 $inside"

test_case "sbatch --export=NONE, with which 22.05 keeps the option from the node: in the container or not at all"
batch --export=NONE --container-image="$LAB_IMAGE_SQUASHFS" job.sh
if [[ $output != "$inside" ]]; then
    expect_output 'container step refused on n[0-9]: pyxis did not put the task in a container; .*--export kept the request'
    expect_failed "$job"
fi

test_case "a script outside that runs steps inside and outside"
script 'grep ^ID= /etc/os-release' "srun --container-image=$LAB_IMAGE_SQUASHFS grep ^ID= /etc/os-release" \
    'srun grep ^ID= /etc/os-release'
batch job.sh
expect_equal "$output" "$host"$'\n'"$inside"$'\n'"$host"

test_case "a het step: each component as it was asked for"
run as_user srun -w n1 sh -c 'grep ^ID= /etc/os-release' : -w n2 --container-image="$LAB_IMAGE_SQUASHFS" sh -c 'grep ^ID= /etc/os-release'
expect_status 0
expect_output "$inside"

test_case "a plain and a container step at the same time on one node"
run as_user salloc -Q -w n1 -n2 bash -c \
    'srun -n1 --exact sh -c "sleep 0.5; grep ^ID= /etc/os-release" & srun -n1 --exact --container-image=$LAB_IMAGE_SQUASHFS grep ^ID= /etc/os-release; wait'
expect_status 0
expect_equal "$(sort <<<"$output" | grep ^ID= | sort | xargs)" "$(printf '%s\n' "$host" "$inside" | sort | xargs)"

test_case "a program that fails in its container: its own exit code, and the node is none the worse"
run as_user srun --container-image="$LAB_IMAGE_SQUASHFS" sh -c 'exit 7'
expect_status 7
refute_output 'llmgw'

test_case "the cluster is as before"
expect_unharmed
finish
