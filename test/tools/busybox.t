#!/bin/sh
# Applets of Debian's busybox in Vigil, each with what it prints.
. "${0%/*}/../qemu/lib.sh"

status=0
booted=" ./vigil run -- busybox sh test/linux/busybox.sh"
./vigil run --arch "$arch" --machine qemu --smp 2 --deb busybox-static -- \
	busybox sh "$PWD/test/linux/busybox.sh" /bin/busybox </dev/null >"$console" 2>"$work/stderr" || status=$?
status_is 0 "applets print what they do under Linux"
guest_tap
done_testing
