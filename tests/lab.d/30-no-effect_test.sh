#!/bin/bash
# What must not notice us: prologs, extern steps, restarts, and plain jobs while our own files are broken.
# shellcheck disable=SC2016 # expanded by the job
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"

restart_slurm() {
    local name
    for name in slurmctld $(lab_nodes | sed 's/^/slurmd-/'); do "$lab" restart "$name"; done
    expect "the nodes to be back" wait_until 20 nodes_fine
    daemons_before=$(slurm_daemons)
}
restore() {
    local machine
    scancel -Q -u "$LAB_USER"
    for machine in $(lab_machines); do
        sed -i '/# by a test$/d' "$LAB/$machine/conf/slurm.conf"
        plugstack "$machine"
    done
    rm -rf "$LAB/n2/run/node" "$LAB/prolog" "$WORK"/*.{sh,out}
    restart_slurm
    "$lab" restart helper-n2
    gate auto
    wait_gate open
}
trap restore EXIT

# A job on n2 that goes on until the test says so.
start_job() {
    rm -f "$WORK/go"
    run as_user sbatch --parsable -w n2 -o long.out \
        --wrap 'until test -e go; do sleep 0.1; done; srun echo step of $SLURM_JOB_ID'
    long=$output
    expect "job $long to run" wait_job 20 "$long" RUNNING
}
end_job() {
    as_user touch go
    expect "job $long to complete" wait_job 20 "$long" COMPLETED
    expect_equal "$(<"$WORK/long.out")" "step of $long"
    rm -f "$WORK/go"
}

test_case "plain jobs run while our files are broken: a node file full of garbage, arguments that mean nothing"
start_job
"$lab" stop helper-n2
head -c 100000 /dev/urandom >"$LAB/n2/run/node"
sed -i '1s,run_dir=.*,run_dir= = alone=no,; $s,run_dir=.*,run_dir=relative -x,' "$LAB/n2/conf/plugstack.conf"
run as_user srun -w n2 --overlap echo plain
expect_status 0
expect_equal "$output" plain
batch -w n2 --wrap 'echo plain; srun echo step'
expect_equal "$output" plain$'\n'step
end_job
run as_user srun -w n2 --container-image="$LAB_IMAGE" echo ran on
expect_failure
expect_refused_on n2 'nothing vouches for this machine'
plugstack n2
write_node n2 ready

test_case "plain jobs survive a restart of slurmd and of slurmctld"
start_job
"$lab" restart slurmd-n2
"$lab" restart slurmctld
expect "the nodes to be back" wait_node 20 n1 idle
run as_user srun -w n1 echo plain
expect_equal "$output" plain
end_job
run as_user srun -N3 --container-image="$LAB_IMAGE" true
expect_status 0

test_case "a gate that is closed is closed behind a restart of slurmctld, too"
gate closed
"$lab" restart slurmctld
expect "the nodes to be back" wait_until 20 nodes_fine
run as_user srun --container-image="$LAB_IMAGE" true
expect_failure
expect_output 'error: llmgw: an administrator has closed this cluster'
gate open

test_case "with PrologFlags=Contain, a Prolog and an Epilog: plain and container jobs run, refused ones drain nothing"
mkdir -p "$LAB/prolog"
chmod 1777 "$LAB/prolog"
for script in Prolog Epilog; do
    printf '#!/bin/sh\nenv >"%s/%s.$SLURM_JOB_ID"\n' "$LAB/prolog" "$script" >"$LAB/prolog/$script"
    chmod 755 "$LAB/prolog/$script"
done
for machine in $(lab_machines); do
    printf '%s # by a test\n' PrologFlags=Contain "Prolog=$LAB/prolog/Prolog" "Epilog=$LAB/prolog/Epilog" >>"$LAB/$machine/conf/slurm.conf"
done
restart_slurm
start_job
expect "an extern step" wait_until 30 test -S "$LAB/n2/spool/n2_$long.4294967292"
end_job
expect "its epilog to have run" wait_file 30 "$LAB/prolog/Epilog.$long"
run as_user srun -w n2 --container-image="$LAB_IMAGE_SQUASHFS" grep ^ID= /etc/os-release
expect_status 0
expect_output 'ID=llmgw-lab-image'
job=$(last_job)
expect "the prolog to be told" grep -q '^SPANK_LLMGW_CONTAINER=--container-image$' "$LAB/prolog/Prolog.$job"
write_node n2 not-ready "made so by a test"
run as_user srun -w n2 --container-image="$LAB_IMAGE" echo ran on
expect_failure
expect_refused_on n2 'made so by a test'
expect_failed "$(last_job)"
batch -w n2 --container-image="$LAB_IMAGE" --wrap 'echo ran on'
expect_refused_on n2 'made so by a test'
expect_failed "$job"
expect "its epilog to have run" wait_file 30 "$LAB/prolog/Epilog.$job"
run as_user salloc -w n2 srun echo plain
expect_output plain
write_node n2 ready

test_case "the cluster is as before"
expect_unharmed
finish
