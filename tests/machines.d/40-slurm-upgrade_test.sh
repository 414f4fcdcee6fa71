#!/bin/bash
# Slurm is upgraded on n1, by packages of a higher version that are made here from the archive's: container steps are
# refused there with the reason until pyxis is rebuilt, plain jobs run all the time.
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/machine-test.sh"
# shellcheck source=tests/lib/machine-containers.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-containers.sh"

upgraded=(slurmd slurm-client slurm-wlm-basic-plugins libslurm38 libslurm-dev)

# The same programs, which say that they are the next micro version; so do the headers.
make_next_version() (
    local work=$MACHINES/next name file old
    rm -rf "$work" && mkdir -p "$work/out" && cd "$work" || exit 1
    for name in "${upgraded[@]}"; do
        file=$(echo "$machine_archive/${name}"_*.deb)
        old=$(dpkg-deb -f "$file" Version)
        dpkg-deb -R "$file" "$name" || exit 1
        sed -i "s/^Version: .*/Version: 22.05.9-1/; s/(= $old)/(= 22.05.9-1)/g" "$name/DEBIAN/control"
        grep -rlF 22.05.8 "$name/usr" | grep -E '/(slurmd|libslurm[^/]*\.so[^/]*)$' | while read -r file; do
            sed -i 's/22\.05\.8/22.05.9/g' "$file"
        done
        [[ $name != libslurm-dev ]] || sed -i 's/0x160508/0x160509/; s/22\.05\.8/22.05.9/g' "$name/usr/include/slurm/slurm_version.h"
        (cd "$name" && find . -path ./DEBIAN -prune -o -type f -printf '%P\n' | xargs -r md5sum >DEBIAN/md5sums)
        dpkg-deb --root-owner-group -b "$name" "out/${name}_22.05.9-1_amd64.deb" >/dev/null || exit 1
        rm -rf "$name"
    done
)

install_llmgw || exit 1
containers on
expect "n1 to be ready" machine_becomes n1 '^ready' 600
make_image n1
run make_next_version
make_next_version || exit 1
publish "$MACHINES"/next/out/*.deb

# A container job at any moment: in the container, or refused; never on the host.
attempts() {
    while [[ -e $MACHINES/attempts ]]; do
        as_user_on controller srun -w n1 --container-image=/images/lab cat /etc/os-release >>"$MACHINES/attempts.said" 2>&1
        as_user_on controller srun -w n1 true >>"$MACHINES/plain.said" 2>&1 || echo failed >>"$MACHINES/plain.said"
    done
}
on controller llmgw-slurm gate open >/dev/null # the node has to refuse
rm -f "$MACHINES"/{attempts,plain}.said
touch "$MACHINES/attempts"
attempts &
trying=$!

test_case "Slurm becomes another while pyxis can't be built"
write_on n1 /usr/local/bin/make 755 <<<'#!/bin/sh
echo "no building today" >&2
exit 1'
on n1 apt-get update -q >/dev/null
run on n1 env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --only-upgrade "${upgraded[@]}"
expect_status 0
run on n1 slurmd -V
expect_output '22\.05\.9'
expect "the reason in the status, not $(this_machine n1)" machine_becomes n1 'not-ready, .*(build pyxis|22\.05\.8)' 60
expect "the build to have been tried" machine_becomes n1 'could not build pyxis 0.24.0: .*no building today' 120
run on n1 cat /etc/slurm/plugstack.conf.d/llmgw.conf
expect_output 'spank_llmgw\.so'
refute_output 'spank_pyxis'
expect "the node to be there" wait_until 120 nodes_are idle
run as_user_on controller srun -w n1 --container-image=/images/lab cat /etc/os-release
expect_failure
expect_output 'llmgw: container step refused on n1: [^'$'\n'']*(22\.05\.8|build pyxis|no building today)'
refute_output 'NAME='
run as_user_on controller srun -w n1 true
expect_status 0
expect_equal "$output" ""

test_case "pyxis is rebuilt for it, and containers run again"
on n1 rm /usr/local/bin/make
run on n1 llmgw-slurm apply --wait
expect_status 0
expect "it to become ready" machine_becomes n1 '^ready'
run as_user_on controller srun -w n1 --container-image=/images/lab cat /etc/os-release
expect_status 0
expect_output 'Lab image'

rm "$MACHINES/attempts"
wait "$trying"
on controller llmgw-slurm gate auto >/dev/null
test_case "no container job ran on the host, and no plain job failed"
output=$(cat "$MACHINES/attempts.said")
refute_output 'Debian'
expect_output 'Lab image'
expect_output 'refused on n1'
expect_equal "$(cat "$MACHINES/plain.said")" ""
expect_equal "$(on controller sinfo -h -n n1 -o '%T %E')" "idle none"

test_case "pyxis's line went before anything else was tried"
run on n1 journalctl -u llmgw-slurm-helper -o cat --no-pager
expect_output 'take pyxis out of plugstack.conf while its library is not right: pyxis was built for Slurm 22\.05\.8, this machine has 22\.05\.9'
finish
