#!/bin/sh
# Memory nodes as firmware describes them, on every way of starting.
. "${0%/*}/lib.sh"

loader=${B:-build}/$arch/vigil-test.efi
disk=$work/disk.img
tools/espimage.sh "$loader" "$disk" '-- hello'

# Of the 384 and 128 MB firmware and the kernel may keep some.
nodes() { # WHO WHAT
	status_is 0 "$2: the program runs"
	says "^nodes: 2 by $1; 0: 3 CPUs (3[0-9]{2}) MB, 1: 5 CPUs (1[012][0-9]|[5-9][0-9]) MB\$" "$2: CPUs and memory by node"
	says_not "^nodes: .*(broken|wrong|gives no)" "$2: nothing is wrong with it"
	says "^cpus: 8 on" "$2: all CPUs run"
}
table=ACPI
[ "$arch" = x86_64 ] || table='device tree'
boot smp=8 nodes=3:384M,5:128M -- -- hello
nodes "$table" "started directly"
boot disk="$disk" smp=8 nodes=3:384M,5:128M
nodes ACPI "started by UEFI"
if [ "$arch" = aarch64 ]; then
	boot efi="$loader" smp=8 nodes=3:384M,5:128M board=acpi=off -- -- hello
	nodes 'device tree' "started by UEFI with a device tree"
fi

boot smp=8 nodes=2:128M,2:128M,2:128M,2:128M -- cpus=3 -- hello
says '^nodes: 4 by .*; 0: 2 CPUs .*, 1: 1 CPUs .*, 2: 0 CPUs .*, 3: 0 CPUs' "CPUs that are not used do not count"

boot smp=2 -- -- hello
says '^nodes: 1; 0: 2 CPUs [45][0-9]{2} MB$' "a machine that speaks of no nodes is one"
done_testing
