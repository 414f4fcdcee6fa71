#!/bin/bash
# With job_container/tmpfs a job has a /tmp of its own, and so has a login in it.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/login.sh
. "$(dirname "$0")/../lib/login.sh"

[[ -e $module ]] || skip "the PAM module is not built"
[[ -x /usr/sbin/sshd ]] || skip "there is no sshd here"

mark=llmgw-lab-login-tmpfs
restore() {
    local node
    stop_sshd n1
    scancel -Q -u "$LAB_USER"
    wait_until 30 no_jobs
    as_before
    for node in $(lab_machines); do
        rm -f "$LAB/$node/conf/job_container.conf"
        while mountpoint -q "$LAB/$node/tmpfs"; do umount -l "$LAB/$node/tmpfs"; done
        rm -rf --one-file-system "$LAB/$node/tmpfs"
    done
    remove_login_users
    rm -rf "$LOGIN" "$LAB/dev" "/tmp/$mark"
}
trap restore EXIT
export LOGIN LAB_USER LLMGW_LAB_PORT whereami
make_login_users && make_login_keys || exit 1
for machine in $(lab_machines); do
    printf 'AutoBasePath=true\nBasePath=%s\n' "$LAB/$machine/tmpfs" >"$LAB/$machine/conf/job_container.conf"
done
for_logins Contain JobContainerType=job_container/tmpfs
daemons_before=$(slurm_daemons)
login_words='wait=1 container=join'
start_sshd n1 || exit 1

test_case "a file of the job's /tmp is there for its login, and not on the host"
job=$(as_user sbatch --parsable -o /dev/null -w n1 --wrap "echo of the job >/tmp/$mark; exec sleep infinity")
wait_job 30 "$job" RUNNING && extern_on n1 "$job"
batch_of_job() { pgrep -u "$LAB_USER" -f '(^|/)sleep infinity' >/dev/null; }
expect "the job's script" wait_until 30 batch_of_job
run login "$LAB_USER@n1" "cat /tmp/$mark; $whereami; echo of the login >/tmp/$mark"
expect_output 'of the job'
expect_output "in job $job, [1-9] groups"
expect "no such file on the host" test ! -e "/tmp/$mark"
run login "root@n1" "cat /tmp/$mark"
expect_failure
run as_user srun --overlap --jobid="$job" cat "/tmp/$mark"
expect_equal "$output" 'of the login'

scancel -Q -u "$LAB_USER"
expect_unharmed
finish
