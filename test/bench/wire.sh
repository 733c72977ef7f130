#!/bin/sh
# `make bench-wire`: requests and a transfer over TCP between two cards of a simulated machine, which
# a wire in model time joins: cards, driver, lwIP and sockets are in the figures. One Linux program
# (test/bench/linux/across.c) is both ends.
#
#   test/bench/wire.sh [name=value ...]
#
#   arch=ARCH       x86_64 or aarch64  (x86_64)
#   machine=NAME    simulated machine, of two chips at least  (openpower720)
#   cpus='S:C ...'  CPUs of the server, at the first card, and of the client, at the second
#                   (0:4 2:6; interrupts of a card's first queue are at CPU 0, and CPU 4)
#   wires='W ...'   QUEUES:LATENCY:MBPS of each wire
#   rounds=N        requests  (500)
#   mb=N            megabytes that are transferred  (8)
#   results=FILE    (docs/results/wire-ARCH.txt)
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'wire.sh: error: %s\n' "$*" >&2; exit 1; }

arch=x86_64 machine=openpower720 cpus='0:4 2:6' rounds=500 mb=8 results= \
	wires='1:5000:100 1:5000:1000 1:5000:10000 1:5000:0 1:0:0 1:50000:10000 8:5000:1000 8:5000:10000'
for argument; do
	case $argument in
	arch=* | machine=* | cpus=* | wires=* | rounds=* | mb=* | results=*) value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (arch= machine= cpus= wires= rounds= mb= results=)" ;;
	esac
done
case $arch in
x86_64) kernel=vigil.elf ;;
aarch64) kernel=vigil.img ;;
*) die "arch=$arch: accepted are x86_64, aarch64" ;;
esac
: "${results:=docs/results/wire-$arch.txt}"
out=build/bench/wire-$arch
mkdir -p "$out"
"$arch-linux-gnu-gcc" -std=gnu11 -O2 -static -pthread -Wall -Wextra -Werror -o "$out/across" \
	test/bench/linux/across.c
tar -C "$out" -cf "$out/initrd.tar" across

# Prints the program's line, for a server and a client at these addresses.
run() { # WIRE CPUS SERVER CLIENT
	IFS=: read -r queues latency mbps <<-EOF
		$1
	EOF
	ARCH=$arch tools/qemu.sh kernel="build/$arch/$kernel" machine="$machine" out="$out" \
		timeout=600 initrd="$out/initrd.tar" \
		plugin="wire=$queues,wire_latency=$latency,wire_mbps=$mbps" \
		append="net.ip=10.0.0.1/24 net.ip1=10.0.0.2/24 -- /across $3 ${2%:*} $4 ${2#*:} $rounds $mb" \
		</dev/null 2>&1 | tr -d '\r' >"$out/$1.txt"
	grep '^ACROSS' "$out/$1.txt" || die "$1: see $out/$1.txt"
}

# Prints a row. A frame has 54 bytes of headers, and on the wire 24 more; 1460 of data at most.
row() { # CPUS QUEUES LATENCY MBPS
	awk -v cpus="$1" -v queues="$2" -v latency="$3" -v mbps="$4" '{
		for (i = 2; i <= NF; i++) { split($i, pair, "="); v[pair[1]] = pair[2] }
		wire = latency == "-" ? 0 : 2 * (latency + (mbps ? (64 + 54 + 24) * 8000 / mbps : 0))
		rate = v["bytes"] * 8000 / v["transfer_cycles"]
		most = mbps > 0 ? mbps * 1460 / 1538 : 0
		printf "%-5s %6s %8s %6s %9d %8d %9d %7d %8s\n", cpus, queues, latency, mbps == 0 ? "none" : mbps,
			v["cycles"], wire, v["cycles"] - wire, rate,
			most ? sprintf("%.1f", 100 * rate / most) : "-"
	}'
}

{
	test/bench/header.sh \
		"test/bench/wire.sh arch=$arch machine=$machine cpus='$cpus' rounds=$rounds mb=$mb wires='$wires'" \
		arch="$arch"
	echo "# Each card with an address and an instance of lwIP, one on each chip; CPUs of server:client;"
	echo "# interrupts of the cards' first queues are at CPUs 0 and 4. 64 bytes there and 64 back: cycles"
	echo "# of a request, of which the wire takes 2 * (latency + bytes on it), and the rest. A transfer to"
	echo "# the server: megabits of data a second, and percent of what such a wire carries in frames of"
	echo "# 1460 bytes of data. The last rows: both ends have one card's address: nothing goes over the"
	echo "# wire."
	printf '%-5s %6s %8s %6s %9s %8s %9s %7s %8s\n' cpus queues latency mbps request wire rest Mbit_s of_wire
	for pair in $cpus; do
		for wire in $wires; do
			line=$(run "$wire" "$pair" 10.0.0.1 10.0.0.2)
			IFS=: read -r queues latency mbps <<-EOF
				$wire
			EOF
			echo "$line" | row "$pair" "$queues" "$latency" "$mbps"
		done
		run 1:5000:10000 "$pair" 10.0.0.2 10.0.0.2 | row "$pair" - - -
	done
} >"$out/table"
cat "$out/table"
mv "$out/table" "$results"
