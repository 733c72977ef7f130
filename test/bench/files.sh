#!/bin/sh
# `make bench-files`: reads of a file twice the memory that files may have, under Linux's page cache
# and under Vigil's policies: one Linux program, the same binary, on the same simulated machine with
# the same disk in model time.
#
#   test/bench/files.sh [name=value ...]
#
#   machine=NAME      simulated machine, of which one CPU is used  (openpower720)
#   pages=N           of the file  (4096)
#   rounds=N          over the file  (3)
#   free=KB           memory available under Linux; what of it the file's pages get is what Vigil
#                     gets (mem.user)  (11000)
#   latency=N page=N  of the disk: of a request, and of a page on its channel, in cycles  (1000000
#                     4096)
#   policies=NAMES    Vigil's mem.policy  (lru lirs chooser)
#   results=FILE      (docs/results/files.txt)
#
# Rows: loop, from the file's beginning to its end, again and again; random, as many pages, drawn;
# points, the loop with as many reads of the file's first 16th in between. By read(2), and by a
# shared mapping. ms: model time. read, requests: pages that came from the disk, and requests for
# them, by /proc/diskstats.
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'files.sh: error: %s\n' "$*" >&2; exit 1; }

machine=openpower720 pages=4096 rounds=3 free=11000 latency=1000000 page=4096 \
	policies='lru lirs chooser' results=docs/results/files.txt
given="$*"
for argument in "$@"; do
	case $argument in
	machine=* | pages=* | rounds=* | free=* | latency=* | page=* | policies=* | results=*)
		value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (machine= pages= rounds= free= latency= page= policies= results=)" ;;
	esac
done
out=$PWD/build/out/files
mkdir -p "$out/tree"
make -s kernel machine
gcc -std=gnu11 -O2 -static -Wall -Wextra -Werror -o "$out/tree/pages" test/linux/pages.c
tar -C "$out/tree" -cf "$out/tree.tar" .
perl -e 'print pack("V*", $_ * 1024 .. $_ * 1024 + 1023) for 0 .. $ARGV[0] - 1' "$pages" >"$out/file"
disk=$out/file,disk_latency=$latency,disk_page=$page

# runs PROGRAM FILE HOW: the words of a boot's runs; Linux takes 31
runs() {
	for pattern in loop random points; do
		printf '%s %s %s %s %s ; ' "$1" "$2" $pattern "$3" "$rounds"
	done | sed 's/ ; $//'
}
# keep SYSTEM: the results of a console
keep() {
	[ "$(grep -c '^RESULT app=pages.*wrong=0' "$out/console")" = 3 ] || die "$1: see $out/console"
	tr -d '\r' <"$out/console" | sed -n "s/^RESULT app=pages/$1/p" >>"$out/results"
	echo "files: $1 $how"
}
: >"$out/results"
for how in read map; do
	tools/linux-guest.sh machine="$machine" smp=1 mem=512M timeout=900 disk="$disk" free="$free" -- \
		"$(runs pages /dev/model0 $how)" >"$out/console" </dev/null || die "linux: see $out/console"
	keep linux
done
ours=$(sed -n 's/.*cached_kb=//p' "$out/results" | sort -n | tail -n 1)
for policy in $policies; do for how in read map; do
	tools/qemu.sh kernel=build/x86_64/vigil.elf machine="$machine" smp=1 mem=512M timeout=900 \
		initrd="$out/tree.tar" plugin="disk=$disk" </dev/null >"$out/console" \
		append="mem.user=${ours}K mem.policy=$policy -- $(runs /pages /dev/model $how)" ||
		die "$policy: see $out/console"
	keep "vigil-$policy"
done; done

{
	test/bench/header.sh "test/bench/files.sh${given:+ $given}" machine="$machine" arch=x86_64 \
		pages="$pages" rounds="$rounds" available_kb="$free" files_kb="$ours" latency="$latency" \
		page="$page" "kernel=$(cat build/linux/package 2>/dev/null)"
	awk '
	{
		for (i = 2; i <= NF; i++) { split($i, pair, "="); value[pair[1]] = pair[2] }
		row = value["pattern"] " " value["how"]
		if (!(row in rows)) { rows[row]; order[++row_count] = row }
		if (!($1 in known)) { known[$1]; names[++count] = $1 }
		ms[row, $1] = value["ns"] / 1e6
		read[row, $1] = value["read"]
		requests[row, $1] = value["requests"]
	}
	END {
		printf "%-12s %-14s %9s %9s %9s %9s\n", "pattern", "system", "ms", "of_linux", "read",
			"requests"
		for (r = 1; r <= row_count; r++)
			for (i = 1; i <= count; i++) {
				key = order[r] SUBSEP names[i]
				printf "%-12s %-14s %9.1f %9.2f %9d %9d\n", order[r], names[i], ms[key],
					ms[key] / ms[order[r], names[1]], read[key], requests[key]
			}
	}' "$out/results"
} >"$out/table"
cp "$out/table" "$results"
cat "$results"
