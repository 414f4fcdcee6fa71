#!/bin/bash
# Whom sshd lets in on the nodes of a cluster that our package made, with the distribution's own PAM files and systemd's
# sessions: lines that the helper adds, proves and takes back; verdicts; logins that end with their job; what upgrades keep.
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/machine-test.sh"
# shellcheck source=tests/lib/machine-users.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-users.sh"

node_is() { [[ $(on controller sinfo -h -N -n "$1" -o %T) == "$2" ]]; }
says_doctor() { [[ $(on "$1" llmgw-slurm doctor 2>&1) =~ $2 ]]; }
# ssh_to NAME LOGIN COMMAND...: from the controller, with the test's key.
ssh_to() {
    on controller ssh -F none -i /root/test-key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=INFO \
        -o BatchMode=yes -o ConnectTimeout=30 "$2@$(machine_address "$1")" "${@:3}" </dev/null
}
as() { on controller setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"; }
# job_of UID NODE: runs until it is cancelled; sets `job` once it takes logins.
job_of() {
    job=$(as "$1" sbatch --parsable -D / -o /dev/null -w "$2" --wrap 'exec sleep infinity') && wait_until 60 extern_on "$2" "$job"
}
extern_on() { on "$1" sh -c "ls /var/spool/slurmd/*_$2.4294967292 /var/lib/slurm/slurmd/*_$2.4294967292 2>/dev/null | grep -q ."; }
leaves() { ! on "$1" sh -c "ls /var/spool/slurmd/*_$2.* /var/lib/slurm/slurmd/*_$2.* 2>/dev/null | grep -q ."; }
lines_are() { on n1 sh -c 'cat /etc/pam.d/common-account /etc/pam.d/common-session /etc/pam.d/common-auth' | grep -c pam_llmgw_adopt | grep -qx "$1"; }
shown='shown: a user without a job is refused, root and admins get in'
no_job='llmgw: login refused on n1: no job of yours runs on this machine'
# In how many hierarchies the login is in a job's extern step, and in which job.
# shellcheck disable=SC2016
whereami='echo "in job ${SLURM_JOB_ID-none}, $(grep -c /step_extern /proc/self/cgroup) groups"'
# As many as Slurm's own processes of a job are in.
groups_of() { on "$1" sh -c "grep -c '/job_$2\|/step_' /proc/\$(pgrep -o -f 'slurmstepd: \[$2.batch\]')/cgroup"; }

# On cgroup v2 alone, as new machines are, but for the host's v1 that they see in /proc: slurmd must not.
export MACHINES_CGROUP=v2
put_only_cgroup2() {
    "${CC:-cc}" -shared -fPIC -O1 -o "$MACHINES/only_cgroup2.so" "$LLMGW_SOURCE_DIR/tests/lib/only_cgroup2.c" || return 1
    write_on "$1" /usr/local/lib/only_cgroup2.so 755 <"$MACHINES/only_cgroup2.so"
    on "$1" mkdir -p /etc/systemd/system/slurmd.service.d
    write_on "$1" /etc/systemd/system/slurmd.service.d/only-cgroup2.conf <<<'[Service]
Environment=LD_PRELOAD=/usr/local/lib/only_cgroup2.so'
}
for name in $(all_machines); do fresh_machine "$name" bare & done
wait
for name in $(all_machines); do wait_booted "$name" || exit 1; done
for name in n1 n2; do put_only_cgroup2 "$name" || exit 1; done
for name in $(all_machines); do
    on "$name" sh -c 'apt-get update -q && apt-get install -y -q openssh-server tmux' >"$MACHINES/$name/sshd.log" 2>&1 ||
        skip "openssh-server can't be installed on $name"
    on "$name" sh -c 'cat /etc/pam.d/common-account /etc/pam.d/common-auth /etc/pam.d/common-session /etc/pam.d/sshd' >"$MACHINES/pam.before.$name"
done
install_package controller n1 n2 && configure_leader || exit 1
on controller mkdir -p /etc/llmgw-slurm
# Slurm knows its processes by cgroups; what limits memory and CPUs is the host's.
grep -v ^ProctrackType "$LLMGW_SOURCE_DIR/tests/lib/machine-slurm.conf" | write_on controller /etc/llmgw-slurm/slurm.conf
configure_helper controller n1 n2 || exit 1
on controller sh -c 'rm -f /root/test-key*; ssh-keygen -q -t ed25519 -N "" -C test -f /root/test-key'
test_key=$(on controller cat /root/test-key.pub)
{ echo "[" && account vera@x.org 300001 true "$test_key" && echo , && account nils@x.org 300002 true "$test_key" && echo "]"; } | accounts_are
for name in $(all_machines); do
    on "$name" sh -c "useradd --create-home --shell /bin/bash -G llmgw-slurm olga && mkdir -p /root/.ssh ~olga/.ssh"
    for file in /root/.ssh/authorized_keys /home/olga/.ssh/authorized_keys; do write_on "$name" "$file" 600 <<<"$test_key"; done
    on "$name" chown -R olga: /home/olga
done

test_case "a cluster's nodes get sshd's lines, which are proved"
settings_are '"users": "llmgw"'
for name in n1 n2; do
    RUN_LIMIT=660 run wait_until 600 node_is "$name" idle
    expect_status 0 || finish
    run wait_until 120 says_doctor "$name" "$shown"
    expect_status 0 || { on "$name" journalctl -u llmgw-slurm-helper -n 40 --no-pager; finish; }
done
run on n1 cat /etc/pam.d/common-session
expect_output 'pam_systemd.so.*pam_succeed_if.so quiet service = sshd uid != 0 user notingroup llmgw-slurm.*required.pam_llmgw_adopt.so'
expect "two lines and one in three sections" lines_are 3
run on n1 getent passwd llmgw-proof-none llmgw-proof-admin
expect_equal "$output" ""
run on n1 systemctl is-active llmgw-slurm-login-rollback.timer
expect_failure
run on controller grep -l pam_llmgw_adopt /etc/pam.d/common-account
expect_failure
run on n1 ls /run/llmgw-slurm/login-proof
expect_failure

test_case "denials first: no job here"
run ssh_to n1 nils true
expect_failure
expect_output "$no_job"
expect "a job elsewhere" job_of 300002 n2
run ssh_to n1 nils true
expect_failure
expect_output "$no_job"

test_case "root and admins, whatever runs"
for user in root olga; do
    run ssh_to n1 "$user" "$whereami"
    expect_status 0
    expect_output 'in job none, 0 groups'
done
run ssh_to controller vera "$whereami"
expect_output 'in job none, 0 groups'

test_case "a user with a job: in it, in every hierarchy that Slurm uses, though systemd made a session of it"
expect "a job" job_of 300001 n1
vera_job=$job
run groups_of n1 "$vera_job"
groups=$output
run ssh_to n1 vera "$whereami; cat /proc/self/cgroup"
expect_status 0
expect_output "in job $vera_job, [1-9] groups"
[[ $groups == 0 ]] || expect_output "in job $vera_job, $groups groups"
run ssh_to n1 vera 'systemctl --user is-system-running; systemd-run --user --scope true'
refute_output '^(running|degraded)'
expect_output 'Failed to connect to (user scope )?bus|No such file'
run on n1 systemctl is-active user@300001.service
expect_failure
run ssh_to n1 olga 'systemctl is-active user@$(id -u).service'
expect_output 'active'

test_case "scancel ends the login with everything it started; the other job and its login live on"
lives() { on n1 pgrep -f "^$1" >/dev/null; }
nobody_lives() { ! lives "$1"; }
start_login() { # WORD
    ssh_to n1 vera "cd /; setsid bash -c 'exec -a $1-setsid sleep 4000' & tmux -L $1 -f /dev/null new-session -d 'exec -a $1-tmux sleep 4000'
        (bash -c '(setsid bash -c \"exec -a $1-daemon sleep 4000\") &' &); exec -a $1-shell sleep 4000" >/dev/null 2>&1 &
    for word in setsid tmux daemon shell; do expect "$1-$word" wait_until 60 lives "$1-$word"; done
}
start_login one
sleep 1.1
expect "a second job" job_of 300001 n1
newer=$job
start_login two
run on controller scancel "$newer"
for word in setsid tmux daemon shell; do
    expect "no two-$word" wait_until 60 nobody_lives "two-$word"
    expect "one-$word still" lives "one-$word"
done
expect "job $newer to be gone from the node" wait_until 60 leaves n1 "$newer"

test_case "slurmctld and slurmd down: the same verdicts"
on controller systemctl stop slurmctld
run ssh_to n1 nils true
expect_output "$no_job"
run ssh_to n1 vera "$whereami"
expect_output "in job $vera_job, [1-9] groups"
on n1 systemctl stop slurmd
run ssh_to n1 nils true
expect_output "$no_job"
run ssh_to n1 vera "$whereami"
expect_output "in job $vera_job, [1-9] groups"
run ssh_to n1 olga true
expect_status 0
on controller systemctl start slurmctld
on n1 systemctl start slurmd

test_case "Slurm's library gone: users out with a sentence and a line in the log, root and admins in"
library=$(on n1 sh -c 'ls /usr/lib/*/libslurm.so.*' | head -n 1)
on n1 mv "$library" "$library.hidden"
run ssh_to n1 vera true
expect_failure
expect_output 'llmgw: login refused on n1: .*libslurm'
for user in root olga; do
    run ssh_to n1 "$user" true
    expect_status 0
done
on n1 mv "$library.hidden" "$library"
run on n1 journalctl -t sshd -t sshd-session --no-pager
expect_output 'login refused: .*libslurm'

test_case "upgrades of the distribution's packages keep the lines"
run on n1 sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -y -q --reinstall openssh-server libpam-runtime libpam-modules && pam-auth-update --package'
expect_status 0
expect "the lines are there" lines_are 3
run ssh_to n1 nils true
expect_output "$no_job"
run on n1 sh -c 'dpkg --verify openssh-server libpam-runtime'
refute_output 'pam.d'

test_case "a rule of the admin's that keeps admins out: noticed, taken back by itself, and told"
on n1 sed -i '1i account requisite pam_succeed_if.so quiet uid = 0' /etc/pam.d/sshd
on n1 llmgw-slurm apply --wait >/dev/null 2>&1
run wait_until 120 says_doctor n1 'a member of llmgw-slurm was not let in'
expect_status 0
expect "no line is left" lines_are 0
run on n1 getent passwd llmgw-proof-none llmgw-proof-admin
expect_equal "$output" ""
on n1 sed -i 1d /etc/pam.d/sshd
on n1 llmgw-slurm apply --wait >/dev/null 2>&1
run wait_until 120 says_doctor n1 "$shown"
expect_status 0
run ssh_to n1 nils true
expect_output "$no_job"

test_case "a line that ends sshd's account section early: the session line refuses all the same"
on n1 sed -i '1i account sufficient pam_permit.so' /etc/pam.d/sshd
run ssh_to n1 nils true
expect_failure
run ssh_to n1 vera "$whereami"
expect_output "in job $vera_job, [1-9] groups"
on n1 sed -i 1d /etc/pam.d/sshd
on n1 llmgw-slurm apply --wait >/dev/null 2>&1
run wait_until 120 says_doctor n1 "$shown"
expect_status 0

test_case "a helper that is killed while it proves: in the end the lines hold, and nothing is left over"
proves() { on n2 getent passwd llmgw-proof-admin >/dev/null; }
on n2 pam-auth-update --package --disable llmgw-slurm
on n2 systemctl kill -s HUP llmgw-slurm-helper
(on n2 llmgw-slurm apply --wait) >/dev/null 2>&1 &
run wait_until 60 proves
expect_status 0
on n2 systemctl kill -s KILL llmgw-slurm-helper
run wait_until 180 says_doctor n2 "$shown"
expect_status 0
run on n2 getent passwd llmgw-proof-none llmgw-proof-admin
expect_equal "$output" ""
run ssh_to n2 vera true
expect_failure

test_case "the timer alone: without a helper the lines go by themselves"
on n2 systemctl stop llmgw-slurm-helper
run on n2 llmgw-slurm-helper --leave-logins
expect_status 0
run on n2 grep -l pam_llmgw_adopt /etc/pam.d/common-account
expect_failure
on n2 systemctl start llmgw-slurm-helper
run wait_until 120 says_doctor n2 "$shown"
expect_status 0

test_case "into the job's container, by the helper's option: sshd starts the program for users alone"
on n2 sh -c 'echo "logins = container" >>/etc/llmgw-slurm/helper.conf && systemctl restart llmgw-slurm-helper'
program=/usr/libexec/llmgw-slurm/llmgw-slurm-login
run wait_until 120 on n2 sh -c 'grep -q container=join /etc/pam.d/common-session && test -e /etc/ssh/sshd_config.d/zz-llmgw-slurm-login.conf'
expect_status 0
run wait_until 120 says_doctor n2 "$shown"
expect_status 0
for user in root olga; do
    run on n2 sshd -T -C "user=$user,host=x,addr=127.0.0.1"
    refute_output "forcecommand $program"
done
run on n2 sshd -T -C user=nils,host=x,addr=127.0.0.1
expect_output "forcecommand $program"
expect "a job" job_of 300002 n2
run ssh_to n2 nils "$whereami; exit 7"
expect_status 7
expect_output "in job $job, [1-9] groups"
on n2 sh -c 'sed -i /^logins/d /etc/llmgw-slurm/helper.conf && systemctl restart llmgw-slurm-helper'
run wait_until 120 on n2 sh -c '! grep -q container=join /etc/pam.d/common-session && ! test -e /etc/ssh/sshd_config.d/zz-llmgw-slurm-login.conf'
expect_status 0
run wait_until 120 says_doctor n2 "$shown"
expect_status 0

test_case "a node that leaves the cluster lets users in as before"
on controller scancel -u nils
nodes_are_only() { write_on controller "$users_state/settings.json" <<<"{\"enabled\": true, \"controller\": \"controller\", \"nodes\": [\"n1\"], \"lent\": [\"n1\"], \"users\": \"llmgw\"}"; }
nodes_are_only
# An account needs a machine of the cluster; olga and root are the machine's own.
run wait_until 180 on n2 sh -c '! grep -q pam_llmgw_adopt /etc/pam.d/common-account'
expect_status 0
settings_are '"users": "llmgw"'
run wait_until 240 says_doctor n2 "$shown"
expect_status 0

test_case "uninstall: PAM's files are as they were, and users get in as before"
on controller scancel -u vera
on n1 useradd --create-home --shell /bin/bash carl
on n1 sh -c 'mkdir -p ~carl/.ssh && cp /root/.ssh/authorized_keys ~carl/.ssh/ && chown -R carl: ~carl'
run ssh_to n1 carl true
expect_output "$no_job"
RUN_LIMIT=300 run wait_until 240 on n1 llmgw-slurm uninstall --wait --force
expect_status 0
run on n1 sh -c 'cat /etc/pam.d/common-account /etc/pam.d/common-auth /etc/pam.d/common-session /etc/pam.d/sshd'
expect_equal "$output" "$(cat "$MACHINES/pam.before.n1")"
run ssh_to n1 carl true
expect_status 0
run on n1 ls /etc/systemd/system/user@.service.d
expect_failure

test_case "the package goes from a node that still has the lines: they go first"
run wait_until 60 says_doctor n2 "$shown"
expect_status 0
run on n2 sh -c 'systemctl stop slurmd; DEBIAN_FRONTEND=noninteractive apt-get remove -y -q llmgw-slurm'
expect_status 0
run on n2 grep -l pam_llmgw_adopt /etc/pam.d/common-account /etc/pam.d/common-session /etc/pam.d/common-auth
expect_failure
run ssh_to n2 olga true
expect_status 0

unset MACHINES_CGROUP
for name in $(all_machines); do fresh_machine "$name" & done
wait
finish
