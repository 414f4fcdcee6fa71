# llmgw's accounts and the shared path on the booted machines. Sourced by tests in machines.d, after machine-test.sh.
# shellcheck shell=bash

users_state=/var/lib/llmgw-slurm-leader

# settings_are JSON: the leader's settings, but for what every cluster has.
settings_are() {
    local nodes
    nodes=$(machine_nodes | sed 's/.*/"&"/' | paste -sd, -)
    write_on controller "$users_state/settings.json" <<<"{\"enabled\": true, \"cluster_name\": \"llmgw\", \"controller\": \"controller\", \"nodes\": [$nodes], \"lent\": [$nodes]${1:+, $1}}"
}

# accounts_are: the leader's accounts, from standard input.
accounts_are() { write_on controller "$users_state/accounts.json"; }

# account EMAIL UID [ACTIVE [KEY]]: one entry.
account() {
    printf '{"email":"%s","uid":%s,"active":%s,"ssh_keys":[%s]}' "$1" "$2" "${3:-true}" "${4:+\"$4\"}"
}

# many_accounts COUNT: user0 to userN from number 200100 on.
many_accounts() {
    local i
    for ((i = 0; i < $1; i++)); do
        ((i == 0)) || printf ,
        account "user$i@x.org" $((200100 + i)) true "$test_key"
    done
}

# login_is NAME LOGIN UID / no_login NAME LOGIN
login_is() { [[ $(on "$1" getent passwd "$2" | cut -d: -f3) == "$3" ]]; }
no_login() { ! on "$1" getent passwd "$2" >/dev/null; }
not_locked() { [[ $(on "$1" getent shadow "$2" | cut -d: -f2,8) == "*:" ]]; }
is_locked() { [[ $(on "$1" getent shadow "$2" | cut -d: -f2,8) == '!'*:1 ]]; }
everywhere() { # FUNCTION ARGUMENT...: it holds on each machine
    local name
    for name in $(all_machines); do "$1" "$name" "${@:2}" || return 1; done
}
helper_says() { on "$1" llmgw-slurm status 2>&1 | grep -qE "$2"; }

# uids: those that run something on that machine, of a login.
runs_nothing() { ! on "$1" pgrep -u "$2" >/dev/null; }

# Stands in for the kernel's NFS, which containers don't have: a tmpfs of the source's name, while /run/nfs-up is there.
put_mount_nfs() {
    write_on "$1" /sbin/mount.nfs 755 <<'EOF'
#!/bin/sh
# Stands in for NFS in a test: SOURCE TARGET OPTION...
[ -e /run/nfs-up ] || { echo "mount.nfs: Connection timed out for $1" >&2; exit 32; }
exec mount -i -t tmpfs -o mode=0755 "$1" "$2"
EOF
}
