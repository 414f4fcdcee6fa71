# The build in a tree, in /build. Sourced there.
# shellcheck shell=bash

# shellcheck source=tests/lib/build.sh
. /source/tests/lib/build.sh

# build TARGET...
# What was built for another Slurm or by another compiler is of no use, and ninja sees only changed headers.
build() {
    local made_with
    made_with="Slurm $(slurmctld -V | cut -d' ' -f2), g++ $(g++ -dumpfullversion), $(cmake --version | head -n 1)"
    [[ -e /build/made-with && $(</build/made-with) == "$made_with" ]] ||
        find /build -mindepth 1 -not -name matrix.log -delete
    echo "building with $made_with"
    # g++ needs the first level of optimisation for its warnings about values, and is no faster without.
    build_into /build -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 -DCMAKE_C_FLAGS=-O1 -DLLMGW_TESTS=ON -- "$@" &&
        echo "$made_with" >/build/made-with
}
