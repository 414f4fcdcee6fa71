# Images, mirrors and faults on the booted machines. Sourced by tests in machines.d, after machine-test.sh.
# shellcheck shell=bash
# shellcheck disable=SC2153 # MACHINES and LLMGW_BUILD_DIR are set by machines.sh

# make_image NAME: /images/lab on that machine, a directory with busybox in it.
make_image() {
    on "$1" mkdir -p /images/lab/{bin,dev,etc,proc,sys,tmp,run,var,usr/bin}
    write_on "$1" /images/lab/bin/busybox 755 </bin/busybox
    # In /usr/bin, too: systemd's own PATH, which slurmstepd has, is without /bin from Debian 13 on.
    on "$1" sh -c 'cd /images/lab && for name in sh cat true sleep id; do
        ln -sf busybox "bin/$name" && ln -sf ../../bin/busybox "usr/bin/$name"; done'
    write_on "$1" /images/lab/etc/os-release <<<'NAME="Lab image"'
}

# set_option NAME KEY [VALUE]: a line of the helper's configuration, or without VALUE none; takes effect with its start.
set_option() {
    on "$1" sed -i "/^$2 *=/d" /etc/llmgw-slurm/helper.conf
    [[ -z ${3-} ]] || on "$1" sh -c 'echo "$1 = $2" >>/etc/llmgw-slurm/helper.conf' - "$2" "$3"
    on "$1" systemctl restart llmgw-slurm-helper
}

# A mirror on that machine's loopback whose answers a fault spoils (tests/standin/faulty_mirror.cpp).
start_faulty_mirror() {
    write_on "$1" /usr/local/bin/faulty-mirror 755 <"$LLMGW_BUILD_DIR/tests/standin/faulty-mirror"
    on "$1" sh -c 'echo none >/run/fault'
    on "$1" systemctl reset-failed faulty-mirror 2>/dev/null || true
    on "$1" systemd-run --quiet --unit=faulty-mirror /usr/local/bin/faulty-mirror 8099 /srv/mirror /run/fault
}
stop_faulty_mirror() {
    on "$1" systemctl stop faulty-mirror
    on "$1" rm -f /usr/local/bin/faulty-mirror /run/fault
}
mirror_fault() { on "$1" sh -c 'echo "$1" >/run/fault' - "$2"; }

# this_machine NAME: what its helper says of it, after "this machine, NAME: ".
this_machine() { on "$1" llmgw-slurm status | sed -n "s/^this machine, $1: //p"; }
machine_is() { [[ $(this_machine "$1") =~ $2 ]]; }
# machine_becomes NAME REGEX [SECONDS]
machine_becomes() { wait_until "${3:-120}" machine_is "$1" "$2"; }

# take_back NAME: as before llmgw-slurm; what it is doing at the moment ends first.
take_back() { wait_until 300 on "$1" sh -c 'llmgw-slurm uninstall --force --wait >/dev/null 2>&1'; }

# Reads the settings of the leader and waits until that machine's helper has them.
containers() {
    on controller llmgw-slurm containers "$1" >/dev/null
}
