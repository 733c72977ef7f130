#!/bin/sh
# The cost of seeing which pages programs use: hardware, protection, accessed marks, on the
# simulated machine, with plenty of memory.
#
#   test/bench/track.sh kernel=FILE [quick=1] [trackers='NAME ...'] [programs='NAME ...'] [out=DIR]
#                       [results=FILE]
#
# Programs have at least ten times as much memory as the page access buffer covers. quick: an eighth
# of that, with an eighth of the buffer and the TLB. Each tracker watches from the program's start,
# and makes curves of misses by memory from the accesses it sees:
#   path   the hardware with its defaults: pages are sampled where it would cost more than
#          mem.track_permille
#   whole  the hardware, all pages
#   both   the hardware, all pages, with MRU's curves, too (mem.curves=on)
#   log    the hardware, all pages, without curves
#   soft   an active set as large as the buffer
#   scan   accessed marks, every 100 ms
#
# overhead_pct is of the time between the program's marks start and end, in model cycles, against no
# tracker; for the warehouse, of operations in the same time. entries: accesses logged. sampled: 1
# in this many pages at the end.
set -eu
cd "$(dirname "$0")/../.."
arch=${ARCH:-x86_64}
kernel= quick=0 trackers='path whole both log soft scan' \
	programs='fft cg mg ocean sort warehouse' out=build/bench/track-$arch \
	results=docs/results/track-$arch.txt
for argument; do
	case $argument in
	kernel=* | quick=* | trackers=* | programs=* | out=* | results=*) value=${argument#*=}; \
		eval "${argument%%=*}=\$value" ;;
	*) echo "track.sh: unknown argument '$argument'" >&2; exit 125 ;;
	esac
done
mkdir -p "$out" "$(dirname "$results")"
if [ "$quick" = 1 ]; then
	results=$out/quick.txt pab=256 tlb=16 mem=256M
else
	pab=2048 tlb=128 mem=768M
fi

program() { # NAME: the application
	case $1-$quick in
	fft-1) echo fft log2n=18 threads=1 ;;
	fft-0) echo fft log2n=21 threads=1 ;;
	cg-1) echo cg rows=65536 threads=1 ;;
	cg-0) echo cg rows=450000 threads=1 ;;
	sort-1) echo phases kind=sort size=600000 rounds=1 ;;
	sort-0) echo phases kind=sort size=4800000 rounds=1 ;;
	ocean-1) echo ocean n=336 threads=1 ;;
	ocean-0) echo ocean n=992 threads=1 ;;
	mg-1) echo mg n=64 threads=1 ;;
	mg-0) echo mg n=160 threads=1 ;;
	warehouse-1) echo warehouse warehouses=1 threads=1 scale=48 ms=100 ;;
	warehouse-0) echo warehouse warehouses=4 threads=1 scale=100 ms=200 ;;
	*) echo "track.sh: unknown program '$1'" >&2; exit 125 ;;
	esac
}

settings() { # TRACKER
	case $1 in
	none) echo mem.tracker=none ;;
	path) echo mem.tracker=path mem.track=always mem.pab=$pab ;;
	whole) echo mem.tracker=path mem.track=always mem.pab=$pab mem.track_permille=1000 ;;
	both) echo mem.tracker=path mem.track=always mem.pab=$pab mem.track_permille=1000 mem.curves=on ;;
	log) echo mem.tracker=path mem.track=always mem.pab=$pab mem.track_permille=1000 mem.curves=off ;;
	soft) echo mem.tracker=soft mem.track=always mem.active_pages=$pab ;;
	scan) echo mem.tracker=scan mem.track=always ;;
	*) echo "track.sh: unknown tracker '$1'" >&2; exit 125 ;;
	esac
}

# Prints the time of a unit of work, and the base of the curve: accesses and sampling.
measure() { # PROGRAM TRACKER
	dir=$out/$1-$2
	mkdir -p "$dir"
	smp=1
	[ "$1-$quick" != warehouse-0 ] || smp=4
	tools/qemu.sh kernel="$kernel" machine=openpower720 smp=$smp mem=$mem timeout=1800 out="$dir" \
		plugin=tlb=$tlb \
		append="hpm.pmu=none $(settings "$2") mem.curves_print=on -- $(program "$1")" </dev/null \
		>"$dir/console.txt" 2>&1 || {
		echo "track.sh: $1 with tracker $2 failed: $dir/console.txt" >&2
		exit 1
	}
	tr -d '\r' <"$dir/console.txt" | awk '
		/^RESULT/ { for (i = 2; i <= NF; i++) { split($i, v, "="); f[v[1]] = v[2] } }
		END { if (f["check"] != "ok") exit 1; printf "%.9g\n",
			"ops_per_s" in f ? 1e9 / f["ops_per_s"] : f["ns"] }'
}

logged() { # PROGRAM TRACKER
	awk '
		$1 == "mark" { n = 0 }
		$1 == "path" { for (i = 3; i <= NF; i++) { split($i, v, "=")
			if (v[1] == "logged") n += v[2] } }
		END { print n + 0 }' "$out/$1-$2/truth.txt"
}

test/bench/header.sh "test/bench/track.sh kernel=$kernel" machine=openpower720 arch="$arch" \
	smp="1 (warehouse: 4)" mem=$mem tlb=$tlb mem.pab=$pab >"$results"
for t in $trackers; do
	echo "# $t: $(settings "$t")"
done | tee -a "$results"
for p in $programs; do
	echo "# $p: $(program "$p")"
	base=$(measure "$p" none)
	for t in $trackers; do
		time=$(measure "$p" "$t")
		sampled=$(sed -n 's/.* sampled=1\/\([0-9]*\) .*/\1/p' "$out/$p-$t/console.txt" | tail -n 1)
		awk -v arch="$arch" -v p="$p" -v t="$t" -v base="$base" -v time="$time" \
			-v logged="$(logged "$p" "$t")" -v sampled="${sampled:-1}" -v pab=$pab \
			'BEGIN {
				printf "RESULT mm.track arch=%s program=%s tracker=%s pab=%d ", arch, p, t, pab
				printf "overhead_pct=%.2f logged=%d sampled=%d\n", (time / base - 1) * 100,
					logged, sampled }'
	done
done | tee -a "$results"
