# For the tests in tests/machines.d: each is a bash script that sources this, checks things and ends with `finish`.
# shellcheck shell=bash

# shellcheck source=tests/lib/machines.sh
. "$(dirname "${BASH_SOURCE[0]}")/machines.sh"
# shellcheck source=tests/lib/machine-install.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-install.sh"
# shellcheck source=tests/lib/checks.sh
. "$LLMGW_SOURCE_DIR/tests/lib/checks.sh"
if [[ ! -e $MACHINES/up ]]; then
    echo "skipped: no machines in $MACHINES"
    exit 77
fi
# Installing packages takes a while on a loaded machine.
RUN_LIMIT=300
