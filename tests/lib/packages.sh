#!/bin/bash
# Installs the Debian packages that a task needs: tests/lib/packages.sh build|lab|packages|matrix|bench|package|machines...
# The lists machine and machine-ROLE are those of the booted machines, machine-archive and -RELEASE what can be installed there.
# Does nothing, and asks no mirror, when all of them are there. No service is started by it.
# With --list first it prints their names instead.
set -euo pipefail

declare -A packages=(
    [build]="cmake ninja-build g++ gcc make pkg-config libgtest-dev libfmt-dev libcli11-dev libjansson-dev libssl-dev
             libcurl4-openssl-dev libmicrohttpd-dev libsystemd-dev libpam0g-dev libslurm-dev"
    [lab]="gcc g++ make libslurm-dev munge slurmctld slurmd slurm-client slurmrestd slurm-wlm-basic-plugins
           slurm-wlm-jwt-plugin dbus-daemon systemd busybox-static squashfs-tools curl jq util-linux passwd iproute2
           openssh-server openssh-client tmux procps"
    [packages]="busybox-static gpg gpg-agent gpgconf rpm dnf dnf-plugins-core createrepo-c python3-yaml python3-jsonschema"
    [matrix]="debootstrap iproute2 util-linux"
    [bench]="libbenchmark-dev libpam-slurm-adopt libpam-wrapper"
    [pack]="dpkg-dev file"
    [package]="dpkg-dev file lintian"
    [machines]="debootstrap systemd-container iproute2 util-linux apt-utils openssl jq openssh-client
                libfaketime"
    [machine]="systemd systemd-sysv dbus libpam-systemd munge slurm-client iproute2 procps"
    [machine-controller]="slurmctld slurm-wlm-basic-plugins"
    [machine-node]="slurmd slurm-wlm-basic-plugins"
    [machine-bare]="munge slurm-client slurm-wlm-basic-plugins"
    [machine-archive]="libjansson4 gcc make libc6-dev libslurm-dev squashfs-tools jq
                       gawk libcap2-bin zstd needrestart openssh-server openssh-client tmux"
    [machine-archive-bookworm]="libfmt9 libcurl4 libmicrohttpd12"
    [machine-archive-trixie]="libfmt10 libcurl4t64 libmicrohttpd12t64"
)

# In a subshell, so that its trap and options stay its own.
install_packages() (
    local -a missing=()
    local -A installed=()
    local list package
    while read -r package; do installed[$package]=1; done < \
        <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
    for list in "$@"; do
        [[ -v packages[$list] ]] || { echo "packages.sh: no list named $list (${!packages[*]})" >&2; return 2; }
        for package in ${packages[$list]}; do
            [[ -v installed[$package] ]] || missing+=("$package")
        done
    done
    ((${#missing[@]})) || return 0
    echo "installing ${missing[*]}"
    keep_services_down
    trap restore_services EXIT
    export DEBIAN_FRONTEND=noninteractive
    local -a options=(-y -qq -o Dpkg::Use-Pty=0 --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold)
    apt-get install "${options[@]}" "${missing[@]}" ||
        { apt-get update -q && apt-get install "${options[@]}" "${missing[@]}"; }
)

# What Debian's maintainer scripts ask before they start a service; 101 means no.
policy=/usr/sbin/policy-rc.d

keep_services_down() {
    # A saved file from a run that was killed is the machine's own; what is in its place then is ours.
    [[ ! -e $policy || -e $policy.llmgw-saved ]] || mv "$policy" "$policy.llmgw-saved"
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
}

restore_services() {
    rm -f "$policy"
    [[ ! -e $policy.llmgw-saved ]] || mv "$policy.llmgw-saved" "$policy"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    (($#)) || { echo "usage: packages.sh [--list] ${!packages[*]}" >&2; exit 2; }
    if [[ $1 == --list ]]; then
        for list in "${@:2}"; do
            read -r -d '' -a names <<<"${packages[$list]}" || true
            printf '%s\n' "${names[@]}"
        done
    else
        install_packages "$@"
    fi
fi
