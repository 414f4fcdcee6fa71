# The booted machines' places and the words for using them. Sourced by tests/machines and by the tests in machines.d;
# changes nothing by itself.
# shellcheck shell=bash

LLMGW_SOURCE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export LLMGW_SOURCE_DIR
export MACHINES=${LLMGW_MACHINES_DIR:-/var/tmp/llmgw-slurm-machines}
# Which Debian they are: as asked for, or as those that are there.
MACHINES_RELEASE=${LLMGW_MACHINES_RELEASE:-$(cat "$MACHINES/release" 2>/dev/null || echo bookworm)}
export MACHINES_RELEASE
# The test hosts' own network, which exists in a network namespace only. The outside is where mirrors are served.
export MACHINES_OUTSIDE=192.0.2.1
export MACHINE_USER=ann # bob is another one

# shellcheck source=tests/lib/wait.sh
. "$LLMGW_SOURCE_DIR/tests/lib/wait.sh"

all_machines() { printf '%s\n' controller n1 n2; }
machine_nodes() { printf '%s\n' n1 n2; }
machine_address() {
    case $1 in
        controller) echo 192.0.2.10 ;;
        n1) echo 192.0.2.11 ;;
        n2) echo 192.0.2.12 ;;
        *) echo "there is no machine $1" >&2 && return 1 ;;
    esac
}

# A process number alone may be somebody else's by now, so its start time is kept beside it.
_start_time() {
    local line
    read -r line <"/proc/$1/stat" || return 1
    # shellcheck disable=SC2086
    set -- ${line##*) }
    [[ $1 != Z ]] && echo "${20}"
} 2>/dev/null
_remember() { echo "$2 $(_start_time "$2")" >"$1"; }
_remembered() {
    local pid start
    read -r pid start <"$1" && [[ $(_start_time "$pid") == "$start" ]] && echo "$pid"
} 2>/dev/null
_child() {
    local child
    read -r child _ <"/proc/$1/task/$1/children" # which has no line end
    [[ -n $child ]] && echo "$child"
} 2>/dev/null

# The process numbers, on this side, of what holds the namespaces together, of a machine's systemd-nspawn and of its init.
machines_keeper() { _remembered "$MACHINES/keeper.pid"; }
machine_nspawn() {
    local process
    process=$(_remembered "$MACHINES/$1/pid") && process=$(_child "$process") && _child "$process"
}
machine_init() {
    local nspawn
    nspawn=$(machine_nspawn "$1") && _child "$nspawn"
}

# on NAME COMMAND...: as root in that machine, in an environment of its own. 125: the machine doesn't run.
on() {
    local init
    init=$(machine_init "$1") || { echo "$1 does not run" >&2 && return 125; }
    shift
    nsenter --target "$init" --mount --uts --ipc --net --pid --cgroup --root --wd -- \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/root "$@"
}

# as_user_on NAME COMMAND...: as the unprivileged test user, in its home directory.
as_user_on() {
    on "$1" setpriv --reuid="$MACHINE_USER" --regid="$MACHINE_USER" --init-groups --inh-caps=-all --bounding-set=-all \
        env --chdir="/home/$MACHINE_USER" HOME="/home/$MACHINE_USER" USER="$MACHINE_USER" LOGNAME="$MACHINE_USER" "${@:2}"
}

# machine_wait SECONDS NAME COMMAND...: until the command succeeds on that machine, also over its reboots.
machine_wait() { wait_until "$1" on "${@:2}"; }

# write_on NAME FILE [MODE]: standard input as that file.
write_on() {
    # shellcheck disable=SC2016
    on "$1" sh -euc 'umask 077; cat >"$1.new"; chmod "$2" "$1.new"; mv "$1.new" "$1"' - "$2" "${3:-644}"
}

# nodes_are STATE: every node, as sinfo prints it.
nodes_are() { [[ $(on controller sinfo -h -N -o %T | sort -u) == "$1" ]]; }

machine_booted() { [[ $(on "$1" systemctl is-system-running 2>/dev/null) =~ ^(running|degraded)$ ]]; }
wait_booted() { wait_until "${2:-60}" machine_booted "$1"; }

_other_init() {
    local init
    init=$(machine_init "$1") && [[ $init != "$2" ]]
}
# reboot_machine NAME: as `reboot` does it; returns when it has booted again.
reboot_machine() {
    local init
    init=$(machine_init "$1") || return 1
    on "$1" systemctl reboot || true
    wait_until 120 _other_init "$1" "$init" && wait_booted "$1" 120
}

# crash_machine NAME: as when the power fails, and comes back.
crash_machine() {
    stop_machine "$1" && start_machine "$1" && wait_booted "$1" 120
}

# kill_helper NAME: the helper's main process, with SIGKILL; systemd starts it again.
kill_helper() { on "$1" systemctl kill --kill-whom=main --signal=KILL llmgw-slurm-helper; }

# in_keeper COMMAND...: in the namespaces that hold the machines and their network.
in_keeper() {
    local keeper
    keeper=$(machines_keeper) || { echo "no machines are up: tests/machines up" >&2 && return 1; }
    nsenter --target "$keeper" --mount --net --pid -- "$@"
}

# file_listing NAME: every file with owner, mode and content, to be compared with another listing.
file_listing() { on "$1" bash -s <"$LLMGW_SOURCE_DIR/tests/lib/listing.sh"; }

# shellcheck source=tests/lib/machine-boot.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-boot.sh"
# What is for another Debian than this machine's is built in that one's tree.
if [[ $MACHINES_RELEASE != bookworm ]]; then
    LLMGW_BUILD_DIR=$cache/$MACHINES_RELEASE-build
fi
export LLMGW_BUILD_DIR=${LLMGW_BUILD_DIR:-$LLMGW_SOURCE_DIR/build}
