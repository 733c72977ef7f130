#!/bin/sh
# Memory nodes as firmware describes them, on every way of starting.
. "${0%/*}/lib.sh"

loader=${B:-build}/$arch/vigil-test.efi
disk=$work/disk.img
tools/espimage.sh "$loader" "$disk" '-- hello'

# Of the 384 and 128 MB firmware and the kernel may keep some.
nodes() { # SOURCE WHAT
	status_is 0 "$2: the program runs"
	line "nodes count=2 by=$1 node0=3,3[0-9][0-9] node1=5,(1[012][0-9]|[5-9][0-9])" "$2: CPUs and memory by node"
	no_line "nodes event=.*" "$2: nothing is wrong with it"
	line "cpus count=8" "$2: all CPUs run"
}
table=ACPI
[ "$arch" = x86_64 ] || table=device-tree
boot smp=8 nodes=3:384M,5:128M -- -- hello
nodes "$table" "started directly"
boot disk="$disk" smp=8 nodes=3:384M,5:128M
nodes ACPI "started by UEFI"
if [ "$arch" = aarch64 ]; then
	boot efi="$loader" smp=8 nodes=3:384M,5:128M board=acpi=off -- -- hello
	nodes device-tree "started by UEFI with a device tree"
fi

boot smp=8 nodes=2:128M,2:128M,2:128M,2:128M -- cpus=3 -- hello
line "nodes count=4 node0=2,.* node1=1,.* node2=0,.* node3=0,.*" "CPUs that are not used do not count"

boot smp=2 -- -- hello
line "nodes count=1 by=none node0=2,[45][0-9][0-9]" "a machine that speaks of no nodes is one"
done_testing
