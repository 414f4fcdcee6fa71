# Three bare machines become a cluster, and one of llmgw's accounts works there: said and shown. Sourced by tests/machines
# and the test of it, after machine-install.sh.
# shellcheck shell=bash

# shellcheck disable=SC2154 # storage_on_machines is set by machine-boot.sh
# shellcheck source=tests/lib/demo.sh
. "$LLMGW_SOURCE_DIR/tests/lib/demo.sh"
# shellcheck source=tests/lib/machine-containers.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-containers.sh"
# shellcheck source=tests/lib/machine-users.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-users.sh"

demo_email=Ada.Lovelace@example.org demo_uid=300001 demo_login=ada-lovelace

# by_ssh COMMAND: what that account types on the controller, logged in from outside with its key.
by_ssh() {
    in_keeper ssh -F none -i "$MACHINES/demo/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
        -o BatchMode=yes -o ConnectTimeout=20 "$demo_login@$(machine_address controller)" "$@"
}
# The demo's words are those of whoever sits at a machine, not of who reaches into it from here.
as_typed() {
    local text=$1
    text=${text/#'$ install_package '*/'root, on each# apt-get install llmgw-slurm'}
    text=${text/#'$ on controller '/'root@controller# '}
    text=${text/#'$ on n1 '/'root@n1# '}
    # One word for the shell over there.
    [[ $text != "\$ by_ssh '"* ]] || { text="\$ by_ssh ${text#"\$ by_ssh '"}" && text=${text%\'}; }
    text=${text/#'$ by_ssh '/"$demo_login@controller\$ "}
    printf '%s\n' "$text"
}
demo_ready() {
    local state
    state=$(on controller llmgw-slurm status --json) && jq -e '.gate.open' <<<"$state" && nodes_are idle &&
        [[ $(on controller getent passwd "$demo_login") == *:$storage_on_machines/home/* ]]
}
login_works() { by_ssh true; }

demo_settings() {
    cat <<EOS
{"enabled": true, "controller": "controller", "nodes": ["n1", "n2"], "lent": ["n1", "n2"],
 "shared": {"path": "$storage_on_machines"}, "users": "llmgw", "containers": true}
EOS
}

# What only these machines need: one has no cgroup controllers of its own, and none of them has an image's registry.
demo_surroundings() {
    on controller mkdir -p /etc/llmgw-slurm
    write_on controller /etc/llmgw-slurm/slurm.conf <"$LLMGW_SOURCE_DIR/tests/lib/machine-slurm.conf"
    on controller sh -c 'apt-get update -q && apt-get install -y -q openssh-server' >"$MACHINES/demo/sshd.log" 2>&1 ||
        { tail -n 5 "$MACHINES/demo/sshd.log" && return 1; }
    for name in $(machine_nodes); do make_image "$name"; done
}

# machine_demo: on three bare machines, up to now without our package. 1: anything was not as promised.
machine_demo() {
    local name started=$SECONDS job
    failed=0
    mkdir -p "$MACHINES/demo"
    step "three machines with Debian $(on controller cat /etc/debian_version), neither Slurm nor munge on them"
    for name in $(all_machines); do
        promise "$name has no Slurm" no_slurm "$name"
    done
    show 0 on controller hostname
    demo_surroundings || return 1

    step "our package on each of them; the leader on the controller; on the others its address and a token"
    show 0 install_package controller n1 n2
    { configure_leader && configure_helper controller n1 n2; } || return 1
    show 0 on n1 cat /etc/llmgw-slurm/helper.conf

    step "settings and an account, put at the leader: from here on nobody touches a machine"
    rm -f "$MACHINES/demo/key"*
    ssh-keygen -q -t ed25519 -N "" -C demo -f "$MACHINES/demo/key"
    put_shown accounts.json "[$(account "$demo_email" "$demo_uid" true "$(<"$MACHINES/demo/key.pub")")]"
    put_shown settings.json "$(demo_settings)"

    step "Slurm, munge's key, users, enroot and pyxis come by themselves"
    promise "the cluster is ready within fifteen minutes" wait_until 900 demo_ready
    show 0 on controller llmgw-slurm status
    show 0 on controller sinfo -N -o '%N %T %G'
    promise "the account's key lets it in" wait_until 60 login_works
    echo "ready after $((SECONDS - started)) s"

    step "$demo_email logs in to the controller with its key, and works"
    show 0 by_ssh id
    show 0 by_ssh pwd
    promise "its home is under the shared path" test "$output" = "$storage_on_machines/home/$demo_login"
    show 0 by_ssh srun -N2 --label hostname
    promise "both nodes answer" test "$(sort <<<"$output")" = "0: n1"$'\n'"1: n2"
    show 0 by_ssh srun --container-image=/images/lab cat /etc/os-release
    promise "that was in the container" says "Lab image"
    show 0 by_ssh "sbatch --parsable --wait -w n2 -o plain.out --wrap 'hostname; id -un; pwd'"
    show 0 by_ssh cat plain.out
    promise "the job's output is in the home directory" test "$output" = "n2"$'\n'"$demo_login"$'\n'"$storage_on_machines/home/$demo_login"
    show 0 by_ssh "sbatch --parsable --wait -w n1 --container-image=/images/lab -o contained.out --wrap 'cat /etc/os-release'"
    show 0 by_ssh cat contained.out
    promise "the batch job was in the container" says "Lab image"
    job=$(by_ssh sbatch --parsable --wait -o shared.out --wrap "'srun -N2 -n2 touch here-\$SLURM_JOB_ID'" -N2) || true
    promise "what nodes write under the shared path is there" by_ssh test -e "here-${job:-0}"
    step "the end, after $((SECONDS - started)) s"
    end_of_demo
}
# put_shown FILE TEXT: in the leader's directory.
put_shown() {
    printf '%s:\n%s\n' "$1" "$2"
    write_on controller "$users_state/$1" <<<"$2"
}
no_slurm() { ! on "$1" sh -c 'command -v slurmd slurmctld scontrol munged' >/dev/null; }
