# For the tests in tests/lab.d: each is a bash script that sources this, checks things and ends with `finish`.
# shellcheck shell=bash

# shellcheck source=tests/lib/lab.sh
. "$(dirname "${BASH_SOURCE[0]}")/lab.sh"
if [[ ! -e $LAB/up ]]; then
    echo "skipped: no lab in $LAB"
    exit 77
fi
eval "$(lab_env)"
# shellcheck source=tests/lib/checks.sh
. "$LLMGW_SOURCE_DIR/tests/lib/checks.sh"
