# Makes, starts and ends booted machines. Sourced by machines.sh.
# All of them live in namespaces (mounts, network, processes) that end with one process, the keeper: killing that one
# leaves neither a mount, nor a network device, nor a process, whatever the machines were at.
# shellcheck shell=bash
# shellcheck disable=SC2153 # MACHINES is set by machines.sh

# shellcheck source=tests/lib/machine-trees.sh
. "$(dirname "${BASH_SOURCE[0]}")/machine-trees.sh"

# A file system that all of them have, as a site would mount it: containers can't do NFS.
export storage_on_machines=/srv/storage

# What belongs to these machines has this in its environment, or in the name of its cgroup.
machines_mark() { echo "LLMGW_MACHINES_MARK=$MACHINES"; }
machines_groups() { echo "llmgw-machines-$(cksum <<<"$MACHINES" | cut -d' ' -f1)"; }
# machine_groups NAME: one directory in those of this host's hierarchies that a booted machine's systemd writes to.
machine_groups() {
    local part
    own_groups "$1" | while read -r part; do
        if [[ -e ${part%/*}/cgroup.controllers || $part == /sys/fs/cgroup/systemd/* ]]; then echo "$part"; fi
    done
}

start_keeper() {
    mkdir -p "$MACHINES"
    # shellcheck disable=SC2016
    env "$(machines_mark)" setsid unshare --mount --net --pid --fork --kill-child --mount-proc bash -c '
        mkdir -p /run/systemd && mount -t tmpfs tmpfs /run/systemd && ip link set lo up &&
            ip link add machines type bridge && ip address add "$1/24" dev machines && ip link set machines up &&
            echo $$ >"$2/keeper.up"
        # Bash buries those that others leave behind.
        while :; do sleep 1000; done' - "$MACHINES_OUTSIDE" "$MACHINES" </dev/null >"$MACHINES/keeper.log" 2>&1 7>&- 8>&- &
    local unshare=$!
    disown "$unshare"
    wait_file 30 "$MACHINES/keeper.up" || { cat "$MACHINES/keeper.log" && return 1; }
    _remember "$MACHINES/keeper.pid" "$(_child "$unshare")"
}

# create_machine NAME [bare]: its files as on the day it was installed; bare: without Slurm and munge.
create_machine() {
    local base=$MACHINES/$1 layer kind=node
    [[ $1 != controller ]] || kind=controller
    kind=${2:-$kind}
    layer=$(layer_of "$kind")
    rm -rf --one-file-system "$base"
    mkdir -p "$base"/{upper,work,root,var} "$MACHINES/storage"
    # /var is no overlay, since programs ask what a file system can, and overlays can't all of it.
    # shellcheck disable=SC2016
    in_keeper bash -euc '
        mount -t overlay overlay -o "lowerdir=$1:$2,upperdir=$3/upper,workdir=$3/work" "$3/root"
        cp -a "$3/root/var/." "$3/var/"
        exec bash "$4/tests/lib/machine-files.sh" "$3/root" "$5" "$MACHINES" "$6"' \
        - "$layer" "$machine_base" "$base" "$LLMGW_SOURCE_DIR" "$1" "$kind"
}

# start_machine NAME: switches it on; wait_booted says when it is up.
start_machine() {
    local base=$MACHINES/$1 keeper part
    local -a groups unified=()
    keeper=$(machines_keeper) || return 1
    mapfile -t groups < <(machine_groups "$(machines_groups)-$1-$BASHPID")
    for part in "${groups[@]}"; do
        if ! { mkdir -p "$part" && prepare_group "$part"; }; then echo "no cgroup $part" >&2 && return 1; fi
    done
    # On this host's cgroup hierarchies, as systemd in a container takes them, or with MACHINES_CGROUP=v2 on cgroup v2 alone, where
    # slurmd ends with "Hybrid mode is not supported" unless it is kept from seeing v1 (put_only_cgroup2).
    # With --keep-unit, systemd-nspawn ends with 133 when the machine wants to boot again.
    # shellcheck disable=SC2016
    [[ ${MACHINES_CGROUP-} != v2 ]] || unified=(SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1)
    env -i "$(machines_mark)" PATH="$PATH" LANG=C.UTF-8 "${unified[@]}" setsid bash -c '
        keeper=$1 groups=$2
        shift 2
        while (for part in $groups; do echo "$BASHPID" >"$part/cgroup.procs"; done
            exec nsenter --target "$keeper" --mount --net --pid -- systemd-nspawn "$@"); (($? == 133)); do :; done' \
        - "$keeper" "${groups[*]}" --quiet --boot --register=no --keep-unit --machine="$1" --directory="$base/root" \
        --network-bridge=machines --kill-signal=SIGRTMIN+3 --resolv-conf=off --timezone=off --link-journal=no --console=pipe \
        --bind="$base/var:/var" --bind="$MACHINES/storage:$storage_on_machines" --bind-ro="$MACHINES/archive:/srv/archive/llmgw" \
        --bind-ro="$machine_archive:/srv/archive/debian" --bind-ro="$MACHINES/mirror:/srv/mirror" \
        </dev/null >>"$base/console" 2>&1 7>&- 8>&- &
    _remember "$base/pid" "$!"
    disown "$!"
}

# stop_machine NAME: pulls the plug.
stop_machine() {
    local -a processes
    local process
    mapfile -t processes < <(_remembered "$MACHINES/$1/pid"; machine_nspawn "$1"; machine_init "$1")
    for process in "${processes[@]}"; do kill -KILL "$process" 2>/dev/null || true; done
    for process in "${processes[@]}"; do wait_until 30 _gone "$process" || return 1; done
    # Its network goes a little later, and a new one couldn't have the name before.
    wait_until 30 _unplugged "$1" || return 1
    find_groups "$1" | while read -r group; do find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true; done
}
_gone() { [[ -z $(_start_time "$1") ]]; }
_unplugged() { ! in_keeper ip link show "vb-$1"; }

# fresh_machine NAME [bare]: as create_machine, in place of what is there, and booted.
fresh_machine() {
    stop_machine "$1" && in_keeper umount "$MACHINES/$1/root" && create_machine "$@" && start_machine "$1" &&
        wait_booted "$1"
}

# find_groups [NAME]: the cgroups that machines of these left or have.
find_groups() {
    local part
    for part in $(machine_groups x); do
        find "${part%/*}" -maxdepth 1 -type d -name "$(machines_groups)-${1-}*"
    done | sort -u
}

# end_machines: everything, also after an `up` that was killed. Leaves the trees in the cache.
end_machines() {
    local -a processes
    local file
    # The keeper's death ends what is in its namespaces.
    mapfile -t processes < <(grep -lzxF -- "$(machines_mark)" /proc/[0-9]*/environ 2>/dev/null | sed -E 's,/proc/([0-9]+)/.*,\1,')
    ((${#processes[@]} == 0)) || kill -KILL "${processes[@]}" 2>/dev/null || true
    for file in "${processes[@]}"; do wait_until 30 _gone "$file" || { echo "process $file does not end" >&2 && return 1; }; done
    find_groups | while read -r group; do
        wait_until 10 _remove_group "$group" || echo "could not remove $group" >&2
    done
    rm -rf --one-file-system "$MACHINES"
}
_remove_group() { find "$1" -depth -type d -exec rmdir {} + 2>/dev/null || [[ ! -e $1 ]]; }
