# Keeps Debian trees, for tests on other Slurm versions, and runs commands inside one. Sourced by tests/matrix.
# shellcheck shell=bash

cache=${LLMGW_TEST_CACHE:-/var/cache/llmgw-slurm-tests}
tree_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Raised when a tree that was made by an older version of this file won't do any more.
tree_format=1

# The mirror that this machine's own Debian comes from.
debian_mirror() {
    local codename
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    apt-get --print-uris update 2>/dev/null | sed -n "s,^'\(.*\)/dists/$codename/InRelease'.*,\1,p" | head -n 1
}

# in_tree NAME [network] COMMAND...: as root, as in a container: own processes, mounts, host name and cgroups, and,
# unless `network` is said, an own loopback. Not chroot: in one the kernel refuses user namespaces. What it reads is
# NAME's tree, the source in /source, read-only, and NAME's build directory in /build.
in_tree() (
    local name=$1 part status=0 network=own
    local -a unshared=(--mount --pid --ipc --uts --cgroup --fork --kill-child) groups=()
    shift
    if [[ $1 == network ]]; then network=shared && shift; else unshared+=(--net); fi
    mkdir -p "$cache/$name-build"
    trap 'remove_groups "${groups[@]}"' EXIT
    mapfile -t groups < <(own_groups "llmgw-matrix-$name-$BASHPID")
    for part in "${groups[@]}"; do
        # Those of a run that was killed; one with processes in it can't be removed.
        find "${part%/*}" -depth -path "*/llmgw-matrix-$name-*" -type d -exec rmdir {} + 2>/dev/null || true
        if ! { mkdir "$part" && prepare_group "$part"; }; then echo "no cgroup $part" >&2 && return 1; fi
    done
    (
        for part in "${groups[@]}"; do echo "$BASHPID" >"$part/cgroup.procs"; done
        exec unshare "${unshared[@]}" bash "$tree_source/tests/lib/container.sh" "$cache/$name" "$tree_source" \
            "$cache/$name-build" "$network" "$@"
    ) || status=$?
    return "$status"
)

# One directory below ours in each of this machine's hierarchies, so that Slurm's cgroups in a tree have the same names
# as those of a lab beside it and are not the same.
own_groups() {
    local controllers path place
    while IFS=: read -r _ controllers path; do
        place=$(awk -v wanted="$controllers" '
            { for (i = 7; $i != "-"; i++); type = $(i + 1); options = "," $(i + 3) "," }
            wanted == "" && type == "cgroup2" || wanted != "" && type == "cgroup" && index(options, "," wanted ",") {
                print $5; exit }' /proc/self/mountinfo)
        [[ -z $place ]] || echo "${place%/}${path%/}/$1"
    done </proc/self/cgroup
}

# A cpuset begins empty, and takes no process so.
prepare_group() {
    local file
    for file in cpuset.cpus cpuset.mems; do
        [[ ! -e $1/$file || ! -e $1/cpuset.cpu_exclusive ]] || cat "$1/../$file" >"$1/$file" || return 1
    done
}

remove_groups() {
    local group
    for group in "$@"; do
        # Killed processes may take a moment to leave.
        for _ in {1..40}; do
            [[ -d $group ]] || break
            find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.05
        done
    done
}

# make_tree NAME SUITE: the tree as it has to be, from nothing or from what is there. Says what it does; the programs'
# output goes to NAME.log.
make_tree() {
    local name=$1 suite=$2 log=$cache/$1.log wanted
    wanted="format $tree_format"$'\n'$(tree_packages)
    mkdir -p "$cache"
    [[ -e $cache/$name/.base ]] || base_tree "$name" "$suite" "$log" || return 1
    if [[ -n $(find "$cache/$name/.ready" -mmin -1440 2>/dev/null) && $(<"$cache/$name/.ready") == "$wanted" ]]; then
        return 0
    fi
    fill_tree "$name" "$suite" "$log" "$wanted" && return 0
    # The archive moves under an old tree, and an interrupted one may be anything; a new one settles it.
    echo "$name: could not be brought up to date, making it anew"
    base_tree "$name" "$suite" "$log" && fill_tree "$name" "$suite" "$log" "$wanted"
}

tree_packages() { bash "$tree_source/tests/lib/packages.sh" --list build lab pack; }

# debootstrap knows suites that are newer than itself by sid's script.
base_tree() {
    local name=$1 suite=$2 log=$3 mirror script=/usr/share/debootstrap/scripts/$2
    mirror=${LLMGW_TEST_MIRROR:-$(debian_mirror)}
    [[ -n $mirror ]] || { echo "$name: this machine's apt names no Debian mirror; set LLMGW_TEST_MIRROR"; return 1; }
    [[ -e $script ]] || script=/usr/share/debootstrap/scripts/sid
    echo "$name: making a tree of Debian $suite"
    rm -rf --one-file-system "${cache:?}/$name" "$cache/$name-build"
    # In namespaces of its own, which end with it: killed, it leaves no process and no mount in the tree.
    unshare --mount --pid --fork --kill-child --mount-proc debootstrap --variant=minbase --include=ca-certificates \
        "$suite" "$cache/$name" "$mirror" "$script" >"$log" 2>&1 || { tail -n 5 "$log"; return 1; }
    touch "$cache/$name/.base"
}

fill_tree() {
    local name=$1 suite=$2 log=$3 wanted=$4 tree=$cache/$1 mirror fresh=''
    [[ ! -e $tree/.ready || $(<"$tree/.ready") != "$wanted" ]] || fresh=1
    mirror=${LLMGW_TEST_MIRROR:-$(debian_mirror)}
    [[ -z $mirror ]] || echo "deb $mirror $suite main" >"$tree/etc/apt/sources.list"
    # What this machine's apt needs to reach its mirror, say a proxy.
    apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|Retries)' >"$tree/etc/apt/apt.conf.d/90host" || true
    printf '%s\n' 'APT::Install-Recommends "false";' 'Acquire::Languages "none";' \
        'APT::Keep-Downloaded-Packages "false";' >"$tree/etc/apt/apt.conf.d/91matrix"
    # A tree that a power failure broke is made anew.
    printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/doc/*' 'path-exclude=/usr/share/man/*' \
        'path-exclude=/usr/share/locale/*' >"$tree/etc/dpkg/dpkg.cfg.d/matrix"
    printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
    chmod 755 "$tree/usr/sbin/policy-rc.d"
    cp -L /etc/resolv.conf "$tree/etc/resolv.conf"
    echo "$name: $([[ -n $fresh ]] && echo "looking for a newer Slurm" || echo "installing packages")"
    if ! in_tree "$name" network /source/tests/matrix.d/packages build lab pack >>"$log" 2>&1; then
        tail -n 5 "$log"
        # No mirror today: yesterday's tree will do.
        [[ -n $fresh ]]
        return
    fi
    printf '%s\n' "$wanted" >"$tree/.ready"
}
