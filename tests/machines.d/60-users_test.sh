#!/bin/bash
# llmgw's accounts as users of three machines, and the shared path: 500 at once, one changed, names and numbers of
# others, inactive ones, keys with a real sshd, jobs that wait for their users; a mount that comes late.
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/machine-test.sh"
# shellcheck source=tests/lib/machine-users.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-users.sh"

install_llmgw || exit 1
for name in n1 n2; do
    on "$name" sh -c 'apt-get update -q && apt-get install -y -q openssh-server openssh-client' >"$MACHINES/$name/sshd.log" 2>&1 ||
        skip "openssh-server can't be installed on $name"
done
on n1 sh -c 'rm -f /root/test-key*; ssh-keygen -q -t ed25519 -N "" -C test -f /root/test-key'
test_key=$(on n1 cat /root/test-key.pub)
# ssh_to NAME LOGIN COMMAND...: from n1, with that key.
ssh_to() {
    on n1 ssh -i /root/test-key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes \
        -o ConnectTimeout=20 "$2@$(machine_address "$1")" "${@:3}"
}
milliseconds() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
for name in $(all_machines); do
    file_listing "$name" | grep -E ' /etc/(passwd|shadow|group|gshadow|ssh)' >"$MACHINES/users.before.$name"
    on "$name" cat /etc/passwd /etc/group /etc/gshadow >"$MACHINES/passwd.before.$name"
done

# Debian gives each ordinary user 65536 numbers for containers, from 100000 on: the second one's reach into llmgw's.
for name in $(all_machines); do on "$name" sed -i /^bob:/d /etc/subuid /etc/subgid; done

test_case "no accounts yet: nothing is made, and the status says why"
settings_are '"users": "llmgw"'
run wait_until 60 helper_says n1 'accounts: .*there is no accounts.json'
expect_status 0
run on n1 getent passwd user0
expect_failure

test_case "accounts become users, the same on every machine"
{
    echo "["
    account Ann.Smith@x.org 200000 true "$test_key" && echo ,
    account ann.smith@y.org 200001 && echo ,
    account root@x.org 200002 && echo ,
    account 'j+ürg@x.org' 200003 && echo ,
    account gone@x.org 200004 false
    echo "]"
} | accounts_are
run wait_until 60 everywhere login_is j-rg 200003
expect_status 0 || finish
for name in $(all_machines); do
    run on "$name" getent passwd ann-smith ann-smith-200001 root-200002
    expect_status 0
    expect_output '^ann-smith:x:200000:200000:Ann.Smith@x.org:/home/ann-smith:/bin/bash'
    run on "$name" getent shadow ann-smith
    expect_output '^ann-smith:\*:[0-9]+::::::$'
    run on "$name" getent passwd gone
    expect_failure
    run on "$name" stat -c '%a %U %G' /home/ann-smith
    expect_equal "$output" "700 ann-smith ann-smith"
done

test_case "sshd reads their keys, and its own as before"
run wait_until 120 on n2 test -e /etc/ssh/sshd_config.d/zz-llmgw-slurm.conf
expect_status 0
run on n2 sshd -T
expect_output 'authorizedkeysfile \.ssh/authorized_keys \.ssh/authorized_keys2 /etc/ssh/llmgw-slurm/keys/%u'
run on n2 stat -c '%a %U' /etc/ssh/llmgw-slurm/keys /etc/ssh/llmgw-slurm/keys/ann-smith
expect_output '755 root.644 root'
run wait_until 30 ssh_to n2 ann-smith id -u
expect_status 0
run ssh_to n2 ann-smith id -un
expect_equal "$output" ann-smith
run ssh_to n2 ann-smith-200001 id -u
expect_failure

test_case "they submit once every machine has them"
run wait_until 60 on controller setpriv --reuid=200000 --regid=200000 --clear-groups srun -N2 -D / true
expect_status 0
run on controller setpriv --reuid=200000 --regid=200000 --clear-groups srun -N2 -D / id -un
expect_equal "$output" ann-smith$'\n'ann-smith
on n2 systemctl stop llmgw-slurm-helper
{ echo "[" && account Ann.Smith@x.org 200000 true "$test_key" && echo , && account late@x.org 200005 && echo "]"; } | accounts_are
run wait_until 60 login_is controller late 200005
expect_status 0
run wait_until 60 on controller grep -q '200005 not on n2 yet' /run/llmgw-slurm/users
expect_status 0
run on controller setpriv --reuid=200005 --regid=200005 --clear-groups srun -D / true
expect_failure
expect_output 'your account is not on n2 yet'
run as_user_on controller srun true
expect_status 0
on n2 systemctl start llmgw-slurm-helper
run wait_until 90 on controller setpriv --reuid=200005 --regid=200005 --clear-groups srun -N2 -D / true
expect_status 0

test_case "who is in no list any more is locked, and nothing of theirs is lost"
run wait_until 60 everywhere is_locked ann-smith-200001
expect_status 0
run on n1 test -d /home/ann-smith-200001
expect_status 0

test_case "inactive: locked, session, jobs and processes ended, files kept"
on n2 sh -c 'echo mine >/home/ann-smith/file; chown ann-smith: /home/ann-smith/file'
(on n1 ssh -i /root/test-key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "ann-smith@$(machine_address n2)" sleep 900) >/dev/null 2>&1 &
session=$!
run wait_until 60 on n2 pgrep -u ann-smith sleep
expect_status 0
job=$(on controller setpriv --reuid=200000 --regid=200000 --clear-groups sbatch --parsable -D / -o /dev/null -w n1 --wrap 'sleep 900')
run wait_until 60 on n1 pgrep -u ann-smith sleep
expect_status 0
{ echo "[" && account Ann.Smith@x.org 200000 false "$test_key" && echo , && account late@x.org 200005 && echo "]"; } | accounts_are
run wait_until 60 everywhere is_locked ann-smith
expect_status 0
for name in n1 n2; do
    run wait_until 60 runs_nothing "$name" ann-smith
    expect_status 0
done
wait "$session"
run on controller squeue -h -j "$job" -t RUNNING,PENDING
expect_equal "$output" ""
run ssh_to n2 ann-smith id -u
expect_failure
run on n2 cat /home/ann-smith/file
expect_equal "$output" mine
run on controller setpriv --reuid=200000 --regid=200000 --clear-groups srun -D / true
expect_failure
expect_output 'not active in llmgw'

test_case "a name, a number and a range of others: refused, shown, nothing changed"
on n1 useradd -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 -M late2
on n1 useradd -K UID_MAX=300000 -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 -M -u 200007 -N other
on n1 sh -c 'echo site:200008:10 >>/etc/subuid'
{ echo "[" && account late2@x.org 200006 && echo , && account seven@x.org 200007 && echo , && account eight@x.org 200008 && echo "]"; } | accounts_are
run wait_until 60 login_is controller eight 200008
expect_status 0
run wait_until 60 helper_says n1 '3 refused'
expect_status 0
run on n1 llmgw-slurm status
expect_output 'number 200006 \(late2@x.org\): a user late2 is there already'
expect_output 'number 200007 \(seven@x.org\): number 200007 is the user "other"'
expect_output 'number 200008 \(eight@x.org\): number 200008 is in "site"'
run on n1 getent passwd late2 other
expect_output 'late2:x:[0-9]+:'
for login in seven eight; do expect "no $login on n1" no_login n1 "$login"; done
run wait_until 60 on controller grep -q '200007 not on n1 yet' /run/llmgw-slurm/users
expect_status 0
on n1 sh -c 'userdel late2; userdel other; sed -i /^site:/d /etc/subuid'

test_case "wrong accounts: the last good ones stay, and the status says so"
{ echo "[" && account notanaddress 200009 && echo "]"; } | accounts_are
run wait_until 60 helper_says n2 'accounts: .*no e-mail address'
expect_status 0
expect "eight to be there still" login_is n2 eight 200008

test_case "500 accounts, and one changed"
started=$(milliseconds)
{ echo "[" && many_accounts 500 && echo "]"; } | accounts_are
run wait_until 120 everywhere login_is user499 200599
expect_status 0
echo "   500 users on three machines, from the file to the last of them: $(($(milliseconds) - started)) ms"
for name in $(all_machines); do
    run wait_until 60 on "$name" test -d /home/user499
    expect_status 0
done
on n1 journalctl -u llmgw-slurm-helper -o cat --no-pager | grep 'users: .* changes were made in' | tail -n 5 | sed 's/^/   n1: /'
# By the files' own times, since looking from here takes longer than what is looked at.
changed_at() { on "$1" stat -c %.Y "$2" | tr -d .; }
took=()
for state in false true false true false true; do
    { echo "[" && many_accounts 499 && echo , && account user499@x.org 200599 "$state" && echo "]"; } | accounts_are
    if [[ $state == true ]]; then run wait_until 60 not_locked n1 user499; else run wait_until 60 is_locked n1 user499; fi
    expect_status 0
    took+=($((($(changed_at n1 /etc/shadow) - $(changed_at controller "$users_state/accounts.json")) / 1000000)))
done
echo "   one changed account, from accounts.json to n1's shadow, six times: ${took[*]} ms"
on n1 journalctl -u llmgw-slurm-helper -o cat --no-pager | grep 'users: .* changes were made in' | tail -n 6 | sed 's/^/   n1: /'

test_case "plan and doctor know them, apply has nothing to do"
run on n2 llmgw-slurm plan
expect_output 'done +make the accounts. users'
expect_output 'done +let sshd read the accounts. keys'

test_case "the shared path: slurmd waits for it, and nothing is written under it"
for name in $(all_machines); do put_mount_nfs "$name"; done
settings_are '"users": "llmgw", "shared": {"path": "/shared", "nfs": "nas:/export"}'
run wait_until 120 on n1 test -e /etc/systemd/system/shared.mount
expect_status 0
run on n1 systemd-analyze verify --man=no /etc/systemd/system/shared.mount slurmd.service
expect_equal "$output" ""
run wait_until 120 helper_says n1 'shared path: /shared: .*nas:/export'
expect_status 0
run wait_until 60 helper_says n1 'could not mount /shared: .*Connection timed out' # not while it is tried again
expect_status 0
run on n1 setpriv --reuid=200100 --regid=200100 --clear-groups touch /shared/x
expect_failure
run reboot_machine n1
expect_status 0
run on n1 systemctl is-active slurmd
expect_failure
on n1 touch /run/nfs-up
run wait_until 120 on n1 systemctl is-active slurmd
expect_status 0
run on n1 findmnt -n -o SOURCE /shared
expect_equal "$output" nas:/export

test_case "the shared path, once its server is there: mounted by itself, and homes are made by the controller alone"
for name in controller n2; do on "$name" touch /run/nfs-up; done
for name in controller n2; do
    on "$name" llmgw-slurm apply --wait >/dev/null 2>&1
    run wait_until 120 on "$name" findmnt -n -o SOURCE /shared
    expect_status 0
done
run wait_until 120 on controller test -d /shared/home/user499
expect_status 0
run on n2 getent passwd user499
expect_output ':/shared/home/user499:'
run on n2 test -d /shared/home
expect_failure

test_case "uninstall: the machines' own users are as they were, homes and numbers stay"
settings_are
for name in $(all_machines); do
    RUN_LIMIT=300 run wait_until 240 on "$name" llmgw-slurm uninstall --wait
    expect_status 0
    expect_equal "$(on "$name" cat /etc/passwd /etc/group /etc/gshadow | grep -v '^sshd:')" "$(grep -v '^sshd:' "$MACHINES/passwd.before.$name")"
    run on "$name" ls /etc/ssh/llmgw-slurm/keys /etc/ssh/sshd_config.d/zz-llmgw-slurm.conf /etc/systemd/system/shared.mount
    expect_failure
    refute_output '^/etc'
    run on "$name" findmnt /shared
    expect_failure
    run on "$name" grep -c '"removed":true' /var/lib/llmgw-slurm/users.json
    expect_status 0
    on "$name" rm -rf /sbin/mount.nfs /run/nfs-up
    on "$name" sh -c 'rm -rf /home/user* /home/ann-smith* /home/late /home/eight /home/j-rg /home/root-200002'
done

finish
