#!/bin/bash
# The guard on a node that is not ready, with the gate open: every way of asking for a container is refused there, the
# job fails, the node is none the worse, and whoever asked is told.
# shellcheck disable=SC2016 # the commands in the tables are expanded by the user's shell
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"

restore() {
    scancel -Q -u "$LAB_USER"
    "$lab" start helper-n2
    gate auto
    wait_gate open
    rm -f "$WORK"/*.{sh,out}
}
trap restore EXIT
gate open
"$lab" stop helper-n2
write_node n2 not-ready "made so by a test"
not_ready='this machine is not ready: made so by a test'
script 'echo ran on $HOSTNAME'

test_case "srun: refused, and the job failed"
while read -r command; do
    run as_user bash -c "$command"
    expect_failure
    expect_refused_on n2 "$not_ready"
    expect_failed "$(last_job)"
done <<'EOF'
srun -w n2 --container-image=$LAB_IMAGE echo ran on
srun -w n2 --container-name=mine echo ran on
srun -w n2 --export=NONE --container-image=$LAB_IMAGE /bin/echo ran on
PYXIS_CONTAINER_IMAGE=$LAB_IMAGE srun -w n2 echo ran on
PYXIS_CONTAINER_IMAGE=$LAB_IMAGE srun -w n2 --export=NONE /bin/echo ran on
srun -w n2 --export=ALL,PYXIS_CONTAINER_IMAGE=$LAB_IMAGE echo ran on
EOF

test_case "a step inside an allocation: refused, while a plain one beside it runs"
run as_user salloc -w n2 bash -c 'srun --container-image=$LAB_IMAGE echo ran on; srun echo plain step'
expect_refused_on n2 "$not_ready"
expect_output 'plain step'
run as_user salloc -w n2 --container-image="$LAB_IMAGE" srun echo ran on
expect_refused_on n2 "$not_ready"

test_case "sbatch: refused, said in the job's output, and the job failed"
for options in "--container-image=$LAB_IMAGE" "--export=NONE --container-image=$LAB_IMAGE" \
    "--export=ALL,PYXIS_CONTAINER_IMAGE=$LAB_IMAGE" "--requeue --container-image=$LAB_IMAGE"; do
    # shellcheck disable=SC2086
    batch -w n2 $options job.sh
    expect_refused_on n2 "$not_ready"
    expect_failed "$job"
done

test_case "an array: every element refused and failed"
batch -w n2 --array=1-3 --container-image="$LAB_IMAGE" job.sh
expect_refused_on n2 "$not_ready"
expect_equal "$(grep -c 'step refused on n2' <<<"$output")" 3
expect_equal "$(squeue -h -t all -j "$job" -o '%T' | sort | uniq -c | xargs)" "3 FAILED"

test_case "a variable that only the batch script sets: its srun is refused"
script "export PYXIS_CONTAINER_IMAGE=$LAB_IMAGE" 'srun echo ran on the node || echo "srun failed"'
batch -w n2 job.sh
expect_refused_on n2 "$not_ready"
expect_output 'the variable PYXIS_CONTAINER_IMAGE'
expect_output 'srun failed'

test_case "an option given to sbatch holds for the script's srun, too"
script 'srun echo ran on the node'
batch -w n2 --export=NONE --container-image="$LAB_IMAGE" job.sh
expect_refused_on n2 "$not_ready"

test_case "a het step: refused for the component on this node"
run as_user srun -w n1 true : -w n2 --container-image="$LAB_IMAGE" echo ran on
expect_failure
expect_refused_on n2 "$not_ready"

test_case "a step on three nodes ends on all of them when one refuses"
run as_user srun -N3 --container-image="$LAB_IMAGE" sh -c 'sleep 50; echo ran on'
expect_failure
expect_refused_on n2 "$not_ready"
expect_output 'CANCELLED'

test_case "a plain step runs on this node and says nothing"
run as_user srun -w n2 echo plain
expect_status 0
expect_equal "$output" plain
run as_user srun -w n2 --comment=--container-image=x echo --container-image=x
expect_equal "$output" --container-image=x

test_case "a container step runs on a node that is ready, at the same time"
run as_user srun -w n1 --container-image="$LAB_IMAGE" grep ^ID= /etc/os-release
expect_status 0
expect_equal "$output" ID=llmgw-lab-image

test_case "the cluster is as before"
expect_unharmed
finish
