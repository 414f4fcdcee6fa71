#!/bin/bash
# Each thing that can be wrong with a node: container steps are refused for exactly that reason, plain steps run.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/elf.sh
. "$(dirname "$0")/../lib/elf.sh"

n2=$LAB/n2
library=$n2/lib/spank_pyxis.so
stack=$n2/conf/plugstack.conf
saved=$LAB/saved-n2

# restored: n2 as it was before, but without its helper.
restored() {
    cp -p "$saved/spank_pyxis.so" "$library.new" && mv "$library.new" "$library"
    cp -p "$saved/enroot" "$n2/bin/enroot.new" && mv "$n2/bin/enroot.new" "$n2/bin/enroot"
    rm -f "$n2/bin/away.enroot" "$n2/lib/away.spank_pyxis.so"
    rm -rf "$n2/run/node" "$n2/lib/elsewhere"
    plugstack n2
    write_node n2 ready
}
restore() {
    restored
    rm -rf "$n2/run/node" "$saved"
    "$lab" start helper-n2
    gate auto
    wait_gate open
    rm -f "$WORK"/*.{sh,out}
}
mkdir -p "$saved"
cp -p "$library" "$n2/bin/enroot" "$saved/"
trap restore EXIT
gate open

# refused REASON: on n2, a container step is, and a plain one beside it is not.
refused() {
    run as_user srun -w n2 --container-image="$LAB_IMAGE" echo ran on
    expect_failure
    expect_refused_on n2 "$1"
    run as_user srun -w n2 echo plain
    expect_status 0
    expect_output '(^|'$'\n'')plain$'
}
refused_batch() {
    batch -w n2 --container-image="$LAB_IMAGE" --wrap 'echo ran on'
    expect_refused_on n2 "$1"
    expect_failed "$job"
}
node_says() { wait_log 30 "$n2/run/node" "^reason .*$1"; }

test_case "with the helper running: no pyxis, its line gone, no enroot"
remove_pyxis n2
expect "the helper to see it" node_says 'is not there'
refused 'pyxis is not loaded here \(pyxis: .*spank_pyxis.so is not there\)'
add_pyxis n2
plugstack n2 without-pyxis
expect "the helper to see it" node_says 'not in plugstack.conf'
refused 'pyxis is not loaded here \(pyxis is not in plugstack.conf\)'
plugstack n2
remove_enroot n2
expect "the helper to see it" node_says 'enroot'
refused 'this machine is not ready: enroot: .*/enroot is not there'
add_enroot n2
expect "the helper to see it" wait_log 30 "$n2/run/node" '^state ready'
run as_user srun -w n2 --container-image="$LAB_IMAGE" true
expect_status 0
"$lab" stop helper-n2

test_case "no pyxis: the file is not there"
restored
remove_pyxis n2
refused 'pyxis is not loaded here'
refused_batch 'pyxis is not loaded here'

test_case "no pyxis: it was built for another Slurm, which refuses to load it"
restored
another=$(($(read_number "$library" plugin_version) ^ 0x10000))
write_number "$library" plugin_version "$another"
expect_equal "$(read_number "$library" plugin_version)" "$another"
refused 'pyxis is not loaded here'
refused_batch 'pyxis is not loaded here'

test_case "no pyxis: its line is missing here, and is there on the submit host"
restored
plugstack n2 without-pyxis
refused 'pyxis is not loaded here'
run as_user srun -w n2 --export=NONE --container-image="$LAB_IMAGE" /bin/echo ran on
expect_refused_on n2 'pyxis is not loaded here'

test_case "no pyxis, and no stand-in for its options either"
restored
grep -v -e spank_pyxis -e options "$stack" >"$stack.new" && mv "$stack.new" "$stack"
refused 'pyxis is not loaded here'
run as_user srun -w n2 --export=NONE --container-image="$LAB_IMAGE" /bin/echo ran on
expect_refused_on n2 'pyxis is not loaded here'

test_case "another pyxis than the verified one"
restored
install -D "$library" "$n2/lib/elsewhere/spank_pyxis.so"
sed -i "s,$library,$n2/lib/elsewhere/spank_pyxis.so," "$stack"
refused 'pyxis was loaded from .*/elsewhere/spank_pyxis.so, but the verified one is'

test_case "the library or enroot was replaced since it was verified"
restored
cp "$library" "$library.new" && mv "$library.new" "$library"
refused 'spank_pyxis.so was replaced since it was verified'
restored
cp "$n2/bin/enroot" "$n2/bin/enroot.new" && mv "$n2/bin/enroot.new" "$n2/bin/enroot"
refused 'enroot was replaced since it was verified'

test_case "enroot is gone"
restored
remove_enroot n2
refused 'enroot is gone'
refused_batch 'enroot is gone'

test_case "enroot is there and does not start: pyxis fails, and the task is not left on the host"
restored
printf '#!/bin/sh\necho "enroot: no" >&2\nexit 1\n' >"$n2/bin/enroot"
write_node n2 ready
refused 'pyxis did not put the task in a container'
refused_batch 'pyxis did not put the task in a container'

test_case "the node file: missing, garbage, a directory, of another boot, not ready"
restored
rm "$n2/run/node"
refused 'nothing vouches for this machine'
refused_batch 'nothing vouches for this machine'
head -c 3000 /dev/urandom >"$n2/run/node"
refused 'nothing vouches for this machine'
rm "$n2/run/node" && mkdir "$n2/run/node"
refused 'nothing vouches for this machine'
restored
sed -i 's/^boot .*/boot 00000000-0000-0000-0000-000000000000/' "$n2/run/node"
refused 'not verified since it booted'
write_node n2 not-ready "no disk"
refused 'this machine is not ready: no disk'

test_case "one of the guard's two lines is missing"
restored
sed -i '/verify/d' "$stack"
refused 'plugstack.conf has no line "optional spank_llmgw.so verify" behind pyxis'
refused_batch 'plugstack.conf has no line "optional spank_llmgw.so verify" behind pyxis'
restored
sed -i 1d "$stack"
refused 'plugstack.conf has no line "optional spank_llmgw.so" in front of pyxis'
refused_batch 'plugstack.conf has no line "optional spank_llmgw.so" in front of pyxis'

test_case "another user made this user's directory of enroot's first"
restored
taken=$n2/enroot/data/user-$(id -u "$LAB_USER")
sed -i "/^end/i enroot.users $n2/enroot/run:$n2/enroot/data" "$n2/run/node"
rm -rf "$taken" && install -d -o nobody -m 777 "$taken"
refused "$taken belongs to UID"
refused_batch "$taken belongs to UID"
rm -rf "$taken" "$n2/enroot/run/user-$(id -u "$LAB_USER")"
run as_user srun -w n2 --container-image="$LAB_IMAGE" grep ^ID= /etc/os-release
expect_equal "$output" ID=llmgw-lab-image
expect_equal "$(stat -c '%U %a' "$taken" "$n2/enroot/run/user-$(id -u "$LAB_USER")" | sort -u)" "$LAB_USER 700"

test_case "put right again, and the step runs in its container"
restored
run as_user srun -w n2 --container-image="$LAB_IMAGE" grep ^ID= /etc/os-release
expect_status 0
expect_equal "$output" ID=llmgw-lab-image

test_case "the cluster is as before"
expect_unharmed
finish
