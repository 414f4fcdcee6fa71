# Keeps what the booted machines are made of: a tree of Debian 12 or another one, a layer for controllers and one for nodes, and an
# archive of packages, so that a machine installs everything without a network. Sourced by tests/machines.
# shellcheck shell=bash

# shellcheck source=tests/lib/tree.sh
. "$(dirname "${BASH_SOURCE[0]}")/tree.sh"

# Exported, since `run` of the tests calls functions in a shell of its own.
machine_tree=machine
[[ $MACHINES_RELEASE == bookworm ]] || machine_tree=machine-$MACHINES_RELEASE
export machine_base=$cache/$machine_tree
export machine_archive=$cache/$machine_tree-archive # *.deb and their index
# Raised when what an older version of this file made won't do any more.
machine_format=4

machine_list() { bash "$tree_source/tests/lib/packages.sh" --list "$1"; }

# What can be installed on machines, of which some names are another release's.
archive_list() { machine_list machine-archive && machine_list "machine-archive-$MACHINES_RELEASE"; }

# layered ROLE: the directory that holds what a machine of that role has beside the base.
layer_of() { echo "$cache/$machine_tree-$1"; }

# make_machine_trees: all of it as it has to be, from nothing or from what is there.
make_machine_trees() {
    local wanted log=$cache/$machine_tree.log
    wanted="format $machine_format"$'\n'$(machine_list machine && machine_list machine-controller &&
        machine_list machine-node && machine_list machine-bare && archive_list)
    mkdir -p "$cache"
    (
        flock -n 7 || { echo "machines: another run makes the trees, waiting" && flock 7; }
        [[ ! -e $machine_base/.ready || $(<"$machine_base/.ready") != "$wanted" ]] || exit 0
        rm -rf --one-file-system "$(layer_of controller)" "$(layer_of node)" "$(layer_of bare)" "$machine_archive"
        base_tree "$machine_tree" "$MACHINES_RELEASE" "$log" || exit 1
        echo "machines: installing packages, and fetching those that machines may ask for"
        { fill_base && fill_layer controller && fill_layer node && fill_layer bare; } >>"$log" 2>&1 || { tail -n 5 "$log" && exit 1; }
        printf '%s\n' "$wanted" >"$machine_base/.ready"
    ) 7>"$cache/$machine_tree.lock"
}

# in_root DIRECTORY OPTION... -- COMMAND...: the command in that tree, with systemd-nspawn, not booted.
in_root() (
    local -a options=()
    local root=$1 variable
    shift
    while [[ $1 != -- ]]; do options+=("$1") && shift; done
    shift
    for variable in http_proxy https_proxy no_proxy; do
        [[ -z ${!variable-} ]] || options+=("--setenv=$variable=${!variable}")
    done
    # In a mount namespace where /run/systemd is its own: nspawn keeps a directory there.
    exec unshare --mount bash -c 'mkdir -p /run/systemd && mount -t tmpfs tmpfs /run/systemd && exec systemd-nspawn "$@"' - \
        --quiet --register=no --keep-unit --as-pid2 --link-journal=no --timezone=off --directory="$root" \
        --setenv=DEBIAN_FRONTEND=noninteractive "${options[@]}" -- "$@" </dev/null
)

fill_base() {
    local tree=$machine_base
    apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|Retries)' >"$tree/etc/apt/apt.conf.d/90host" || true
    printf '%s\n' 'APT::Install-Recommends "false";' 'Acquire::Languages "none";' >"$tree/etc/apt/apt.conf.d/90machines"
    # A tree that a power failure broke is made anew. Documentation is left out of the tree, not out of the machines; its
    # directories are there, since dpkg takes one that isn't out of all packages' lists when a later package brings it.
    printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/doc/*/*' 'path-exclude=/usr/share/man/man?/*' \
        'path-exclude=/usr/share/man/*/man?/*' 'path-exclude=/usr/share/locale/*/LC_MESSAGES/*' \
        >"$tree/etc/dpkg/dpkg.cfg.d/tree"
    # shellcheck disable=SC2016
    in_root "$tree" --resolv-conf=copy-host -- bash -euxc '
        apt-get update -q
        apt-get install -y -q '"$(machine_list machine | paste -sd' ')"'
        apt-get clean
        apt-get install -y -q --download-only -o Binary::apt-get::APT::Keep-Downloaded-Packages=true \
            '"$({ machine_list machine-controller && machine_list machine-node && archive_list; } | paste -sd' ')"'
        # What bare machines have to install, and this tree has already.
        (cd /var/cache/apt/archives && apt-get download -q '"$(machine_list machine-bare | paste -sd' ')"')
        systemctl enable systemd-networkd
        for user in ann:20001 bob:20002; do
            useradd --uid "${user#*:}" --user-group --create-home --shell /bin/bash "${user%:*}"
        done
        rm -rf /var/lib/apt/lists/* /etc/apt/apt.conf.d/90host /etc/hostname /etc/resolv.conf /etc/machine-id' || return 1
    echo 'force-unsafe-io' >"$tree/etc/dpkg/dpkg.cfg.d/tree"
    mkdir -p "$machine_archive" "$tree"/srv/{archive/{debian,llmgw},mirror,storage}
    mv "$tree"/var/cache/apt/archives/*.deb "$machine_archive/"
    index_archive "$machine_archive"
    printf 'deb [trusted=yes] file:/srv/archive/%s ./\n' debian llmgw >"$tree/etc/apt/sources.list"
}

# index_archive DIRECTORY: makes it something that apt can install from.
index_archive() (
    cd "$1" && apt-ftparchive packages . >Packages && apt-ftparchive release . >Release
)

# What makes a layer of the base: Slurm's daemons, or nothing of Slurm at all.
layer_commands() {
    local list
    list=$(machine_list "machine-$1" | paste -sd' ')
    case $1 in
        controller) echo "apt-get install -y -q $list && systemctl enable slurmctld" ;;
        node) echo "apt-get install -y -q $list && systemctl enable slurmd" ;;
        bare) echo "apt-get purge -y -q $list && rm -rf /etc/munge /etc/slurm /var/lib/munge /var/lib/slurm" ;;
    esac
}

fill_layer() {
    local layer work merged
    layer=$(layer_of "$1")
    work=$layer.work merged=$layer.merged
    mkdir -p "$layer" "$work" "$merged"
    # shellcheck disable=SC2016
    unshare --mount bash -euc '
        . "$1"
        mount -t overlay overlay -o "lowerdir=$machine_base,upperdir=$2,workdir=$3" "$4"
        in_root "$4" --bind-ro="$machine_archive:/srv/archive/debian" --tmpfs=/srv/archive/llmgw -- bash -euxc "
            touch /srv/archive/llmgw/Packages
            apt-get update -q
            $5
            rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin"' \
        - "$tree_source/tests/lib/machine-trees.sh" "$layer" "$work" "$merged" "$(layer_commands "$1")" || return 1
    rm -rf "$work" "$merged"
}
