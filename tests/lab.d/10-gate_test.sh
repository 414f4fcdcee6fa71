#!/bin/bash
# The gate while it is closed: every way of asking for a container is refused, and no plain job is.
# shellcheck disable=SC2016 # the commands in the tables are expanded by the user's shell
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"

restore() {
    [[ -e $LAB/n2/lib/spank_pyxis.so ]] || add_pyxis n2
    gate auto
    wait_gate open
    rm -f "$WORK"/*.{sh,out}
}
trap restore EXIT

# refused COMMAND MESSAGE: fails, and says why on stderr.
refused() {
    run as_user bash -c "$1 2>&1 >/dev/null"
    expect_failure
    expect_output "error: ([01]: )?$2"
}

script 'echo ran on $HOSTNAME'
cp "$WORK/job.sh" "$WORK/plain.sh"

test_case "closed because a machine lost pyxis: refused, with counts, the machine and its reason"
remove_pyxis n2
expect "the gate to close" wait_gate closed
waiting='llmgw: containers are not ready on this cluster: 3 of 4 machines have pyxis 0.24.0 and enroot 4.2.1; '
waiting+='waiting for n2 \(pyxis: [^)]*is not there\)\. Plain jobs run\.'
while read -r command; do refused "$command" "$waiting"; done <<'EOF'
srun --container-image=$LAB_IMAGE true
sbatch --container-image=$LAB_IMAGE plain.sh
salloc --container-image=$LAB_IMAGE true
EOF

test_case "closed by hand: refused, however the container is asked for on the command line"
gate closed
closed='llmgw: an administrator has closed this cluster for container jobs\.'
while read -r command; do refused "$command" "$closed"; done <<'EOF'
srun --container-image $LAB_IMAGE true
srun --container-im=$LAB_IMAGE true
srun --container-name=mine true
srun --export=NONE --container-image=$LAB_IMAGE true
srun -N3 --container-image=$LAB_IMAGE true
srun --test-only --container-image=$LAB_IMAGE true
salloc --container-name mine true
sbatch --container-im $LAB_IMAGE plain.sh
sbatch --container-name=mine plain.sh
sbatch --export=NONE --container-image=$LAB_IMAGE plain.sh
sbatch --test-only --container-image=$LAB_IMAGE plain.sh
sbatch --array=1-3 --container-image=$LAB_IMAGE plain.sh
sbatch --container-image=$LAB_IMAGE --wrap true
EOF

test_case "refused when a variable asks for it"
while read -r command; do refused "$command" "$closed"; done <<'EOF'
PYXIS_CONTAINER_IMAGE=$LAB_IMAGE srun true
PYXIS_CONTAINER_NAME=mine srun true
PYXIS_CONTAINER_IMAGE=$LAB_IMAGE salloc true
PYXIS_CONTAINER_IMAGE=$LAB_IMAGE sbatch plain.sh
PYXIS_CONTAINER_IMAGE=$LAB_IMAGE sbatch --export=NONE plain.sh
sbatch --export=ALL,PYXIS_CONTAINER_IMAGE=$LAB_IMAGE plain.sh
sbatch --export=PYXIS_CONTAINER_NAME=mine plain.sh
SLURM_SPANK__SLURM_SPANK_OPTION_pyxis_container_image=$LAB_IMAGE srun true
EOF

test_case "refused when a line of the script asks for it"
while read -r line; do
    script '# a comment' '' "#SBATCH -N1" "$line" 'echo ran'
    refused "sbatch job.sh" "$closed"
done <<EOF
#SBATCH --container-image=$LAB_IMAGE
#SBATCH --container-image $LAB_IMAGE
#SBATCH --container-image="$LAB_IMAGE"
#SBATCH --container-ima='$LAB_IMAGE'
#SBATCH -J name --container-name=mine
EOF
script "#SBATCH --container-image=$LAB_IMAGE" 'echo ran'
refused 'sbatch --export=NONE job.sh' "$closed"
refused 'sbatch --array=1-2 <job.sh' "$closed"

test_case "refused whole when one component of a het job asks for it"
while read -r command; do refused "$command" "$closed"; done <<'EOF'
sbatch -N1 --container-image=$LAB_IMAGE : -N1 plain.sh
sbatch -N1 : -N1 --container-image=$LAB_IMAGE plain.sh
srun -N1 --container-image=$LAB_IMAGE true : -N1 true
srun -N1 true : -N1 --container-image=$LAB_IMAGE true
salloc -N1 : -N1 --container-image=$LAB_IMAGE true
EOF
script '#SBATCH -N1' '#SBATCH hetjob' "#SBATCH -N1 --container-image=$LAB_IMAGE" 'echo ran'
refused 'sbatch job.sh' "$closed"
script "#SBATCH -N1 --container-name=mine" '#SBATCH hetjob' '#SBATCH -N1' 'echo ran'
refused 'sbatch job.sh' "$closed"

test_case "refused: --container where Slurm has no OCI runtime, and would run the job on the host"
for command in 'srun --container=/tmp true' 'sbatch --container=/tmp plain.sh'; do
    refused "$command" 'llmgw: --container needs an OCI runtime'
done

test_case "none of all these was queued"
expect_equal "$(squeue -h -o '%i %T')" ""

test_case "plain jobs are taken, run, and nothing is said"
before=$(last_job)
while read -r command; do
    run as_user bash -c "$command"
    expect_status 0
    refute_output 'llmgw'
done <<'EOF'
srun true
salloc srun true
srun echo --container-image=x
srun -J --container-image=x true
srun --comment="--container-image=x" true
PYXIS_CONTAINER_IMAGE= PYXIS_CONTAINER_NAME= srun true
srun -N1 true : -N1 true
srun --test-only true
sbatch --test-only plain.sh
sbatch --wrap "echo --container-image=x"
sbatch plain.sh --container-image=x
sbatch --comment="--container-image=x" plain.sh
sbatch --export=NONE plain.sh
sbatch --array=1-3 plain.sh
sbatch -N1 : -N1 plain.sh
PYXIS_CONTAINER_IMAGE= sbatch plain.sh
EOF
for line in '# --container-image=x' '##SBATCH --container-image=x' 'echo --container-image=x' '#SBATCH --comment=--container-image=x'; do
    script "$line" 'true'
    run as_user sbatch job.sh
    expect_status 0
    refute_output 'llmgw'
done
script 'true' '#SBATCH --container-image=x'
run as_user sbatch job.sh
expect_status 0
refute_output 'llmgw'
expect "all of them to run" wait_until 30 no_jobs
expect_equal "$(squeue -h -t F,CA,NF,TO,BF -o %A | awk -v first="$before" '$1 > first')" ""

test_case "a script that runs srun with a container is taken, with a warning that names the line"
script 'hostname' "srun --container-image=$LAB_IMAGE true"
run as_user sbatch job.sh
expect_status 0
expect_output 'llmgw: line 3 of the script runs srun with --container-image, which its node may refuse'

test_case "--parsable prints one word, also on both streams: gate closed, then open"
run as_user sbatch --parsable plain.sh
expect_output '^[0-9]+$'
add_pyxis n2
gate auto
expect "the gate to open" wait_gate open
run as_user sbatch --parsable plain.sh
expect_output '^[0-9]+$'
run as_user sbatch --parsable --container-image="$LAB_IMAGE" --wrap true
expect_output '^[0-9]+$'

test_case "gate open: a later component of a het batch job that alone asks is refused, since its steps would run on the host"
dropped='llmgw: component 1 of this het job asks for --container-image, and the first one does not'
refused "sbatch -N1 : -N1 --container-image=$LAB_IMAGE plain.sh" "$dropped"
refused "sbatch --export=NONE -N1 : -N1 --container-image=$LAB_IMAGE plain.sh" "$dropped"
script '#SBATCH -N1' '#SBATCH hetjob' "#SBATCH -N1 --container-image=$LAB_IMAGE" 'srun --het-group=1 true'
refused 'sbatch job.sh' "$dropped"
printf '#!/bin/sh\ngrep ^ID= /etc/os-release\n' >"$WORK/job.sh"
for both in "" "--container-image=$LAB_IMAGE_SQUASHFS"; do
    # shellcheck disable=SC2086
    batch -N1 --container-image="$LAB_IMAGE_SQUASHFS" : -N1 $both job.sh
    expect_equal "$output" ID=llmgw-lab-image
done
run as_user salloc -N1 : -N1 --container-image="$LAB_IMAGE_SQUASHFS" true
expect_status 0

test_case "the cluster is as before"
expect_unharmed
finish
