# Our package on the machines. Sourced.
# shellcheck shell=bash

prepare_archive() {
    mkdir -p "$MACHINES"/{archive,mirror}
    index_archive "$MACHINES/archive"
}
install_llmgw() { echo "there is no package yet"; }
