#!/bin/sh
# The machine's own guest (test/machine/guest) on several topologies: known misses, walks,
# ping-pong, times, interrupts.
#
#   test/machine/machine.t       TAP on standard output; from the environment ARCH=x86_64|aarch64,
#   and quantum and seed:
#                                MACHINE_PLUGIN=q=500,seed=3
cd "$(dirname "$0")/../.." || exit 1
out=$(mktemp -d "${TMPDIR:-/tmp}/machine-test.XXXXXX")
trap 'rm -rf "$out"' EXIT

# machine and CPUs: all of them, or a part
{
	while read -r machine smp; do
		echo "# $machine"
		tools/qemu.sh kernel="build/machine/guest-${ARCH:-x86_64}.elf" machine="$machine" \
			${smp:+smp=$smp} mem=4G timeout=120 out="$out" \
			plugin=verify=1,disk=1M,wire=2${MACHINE_PLUGIN:+,$MACHINE_PLUGIN} </dev/null
		echo "status $machine $?"
		[ "${smp:-8}" -lt 5 ] || awk -v machine="$machine" \
			'$1 == "mark" { n = 0 } $1 == "shared" && $2 + $3 == 201 { n += $4 }
			END { if (machine !~ /onechip|uniprocessor/) print "exchanged", machine, n }' "$out/truth.txt"
		sed -n "s/^simulation.* checked=\([0-9]*\) mismatches=\([0-9]*\)$/verified $machine \1 \2/p" \
			"$out/truth.txt" | tail -n 1
	done
} <<-EOF_MACHINES | tr -d '\r' | awk '
	/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++n); print; next }
	/^1\.\./ { next }
	$1 == "status" {
		print ($3 == 0 ? "ok " : "not ok ") ++n " - " $2 ": the guest ends with status 0 # " $3; next }
	$1 == "exchanged" { print ($3 >= 3900 &&
		$3 <= 4100 ? "ok " : "not ok ") ++n " - " $2 ": the truth names the threads that shared, and how often # " $3; next }
	$1 == "verified" {
		print ($3 > 0 &&
			$4 == 0 ? "ok " : "not ok ") ++n " - " $2 ": every translation is QEMU'"'"'s # " $3; next }
	{ print "#", $0 }
	END { print "1.." n }'
	openpower720
	openpower720 3
	openpower-8chip
	epyc-like
	onechip
	uniprocessor
EOF_MACHINES
