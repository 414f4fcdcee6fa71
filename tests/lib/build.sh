# Building the project for the tests. Sourced by tests/run, tests/demo and tests/sanitized.
# shellcheck shell=bash

# build_into DIRECTORY [CMAKE OPTION...] -- [TARGET...]: configures and builds, and prints the compiler's output only
# when something is wrong.
build_into() {
    local directory=$1 source log
    local -a options=() targets=()
    source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    shift
    while (($#)) && [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    targets=("${@:2}")
    mkdir -p "$directory"
    log=$directory/build.log
    printf 'building in %s\n' "$directory"
    # The prefix decides where Slurm's plugins are in a package.
    cmake -S "$source" -B "$directory" -G Ninja -DLLMGW_WERROR=ON -DCMAKE_INSTALL_PREFIX=/usr "${options[@]}" >"$log" 2>&1 &&
        cmake --build "$directory" ${targets[0]+--target "${targets[@]}"} >>"$log" 2>&1 || {
        tail -n 60 "$log" >&2
        printf 'the build failed; all of its output is in %s\n' "$log" >&2
        return 1
    }
}

# What of the project a lab needs, and the Debian package with its tests.
lab_targets=(spank_llmgw spank_llmgw_options job_submit_llmgw pam_llmgw_adopt llmgw-slurm llmgw-slurm-helper llmgw-slurm-leader
    llmgw-slurm-node llmgw-slurm-login proof-init tests/standin/all)
