# Makes the containers' images for tests. Sourced.
# shellcheck shell=bash

# make_lab_image DIRECTORY: DIRECTORY/lab, a small root file system, and DIRECTORY/lab.sqsh, the same as squashfs.
make_lab_image() {
    local root=$1/lab applet busybox
    busybox=$(command -v busybox) || { echo "busybox is missing: tests/lib/packages.sh lab" >&2; return 1; }
    mkdir -p "$root"/{bin,dev,etc,proc,root,sys,tmp,usr,var}
    cp "$busybox" "$root/bin/busybox"
    for applet in sh ash cat cp date echo env false grep head hostname id kill ls mkdir mount mv ps pwd readlink rm \
        sed seq sleep stat tail test touch true uname wc; do
        ln -sf busybox "$root/bin/$applet"
    done
    ln -sfn ../bin "$root/usr/bin"
    printf '%s\n' 'ID=llmgw-lab-image' 'NAME="llmgw lab image"' 'PRETTY_NAME="llmgw lab image"' VERSION_ID=1 \
        >"$root/etc/os-release"
    printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
    printf 'root:x:0:\n' >"$root/etc/group"
    # The real enroot runs these two in every container.
    printf '#!/bin/sh\nif [ -s /etc/rc.local ]; then . /etc/rc.local; fi\nexec "$@"\n' >"$root/etc/rc"
    chmod 755 "$root/etc/rc"
    : >"$root/etc/fstab"
    chmod -R go+rX "$root"
    mksquashfs "$root" "$1/lab.sqsh" -noappend -all-root -quiet -no-progress >/dev/null
    chmod 644 "$1/lab.sqsh"
}
