#!/bin/sh
# Compares swapping with Linux's: a program that uses twice the memory it may have
# (apps/workloads/sweep), on the same simulated machine with the same disk in model time. Pages in
# order and at random, read and written.
#
#   test/bench/swap.sh [name=value ...]
#
#   machine=NAME      simulated machine, of which one CPU is used  (openpower720)
#   systems=NAMES     of those below  (all)
#   seeds='1 2'       of the random orders, a boot each  (1 2)
#   pages=N           of the program; there is memory for half of them  (4096)
#   rounds=N          accesses to each page, the first not measured  (3)
#   latency=N page=N  of the disk: of a request, and of a page on its channel, in cycles  (1000000
#                     4096)
#   timeout=S         for one boot  (1500)
#   results=FILE      (build/out/swap/table.txt)
#
# Systems:
#   vigil         its defaults
#   linux         Debian's defaults: page clusters of 8, two lists
#   linux-single  no readahead: vm.page-cluster=0
#   linux-wide    page clusters of 32
#   linux-lrugen  generations in place of two lists (CONFIG_LRU_GEN), page clusters of 8
#
# Linux has as much memory available (MemAvailable) as leaves about half of the program's pages in
# memory: it gets more than what is available, out of what Linux would rather keep free. Vigil's
# mem.user= is the most the program had under linux, in the case where that was least.
#
# A row is of one order and access. us: time of an access. read, written, requests: pages moved on
# the disk, and requests, for 1,000 accesses. All figures are after the first round, by the
# machine's marks "steady" and "end": means over seeds, and the spread of the time in percent.
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'swap.sh: error: %s\n' "$*" >&2; exit 1; }

machine=openpower720 systems='linux linux-single linux-wide linux-lrugen vigil' seeds='1 2' \
	pages=4096 rounds=3 latency=1000000 page=4096 timeout=1500 results=
given="$*"
for argument in "$@"; do
	case $argument in
	machine=* | systems=* | seeds=* | pages=* | rounds=* | latency=* | page=* | timeout=* | results=*)
		value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (machine= systems= seeds= pages= rounds= latency= page= timeout= results=)" ;;
	esac
done
out=$PWD/build/out/swap
mkdir -p "$out"
: "${results:=$out/table.txt}"
free=$((pages * 2 - 1400)) ours=$((pages * 2))
cases='loop-read loop-write random-read random-write'
make -s kernel machine
: >"$out/results"

boot() { # SYSTEM DIR RUNS
	shape="machine=$machine smp=1 mem=512M timeout=$timeout out=$2"
	disk=$((pages / 128 + 64))M,disk_latency=$latency,disk_page=$page
	write=
	case $1 in
	vigil)
		tools/qemu.sh $shape kernel=build/x86_64/vigil.elf plugin="disk=$disk" \
			append="swap=model mem.user=${ours}K -- $3"
		return ;;
	linux) ;;
	linux-single) write=/proc/sys/vm/page-cluster:0 ;;
	linux-wide) write=/proc/sys/vm/page-cluster:5 ;;
	linux-lrugen) write=/sys/kernel/mm/lru_gen/enabled:y ;;
	*) die "'$1' is no system (vigil, linux, linux-single, linux-wide, linux-lrugen)" ;;
	esac
	tools/linux-guest.sh $shape swap="$disk" free=$free ${write:+write=$write} -- "$3"
}

# Prints the figures between the N-th "steady" and the next "end".
figures() { # DIR N
	awk -v n="$2" -v accesses=$((pages * (rounds - 1))) '
		$1 == "mark" { label = $2; split($3, t, "="); time = t[2]; if (label == "steady") steady++ }
		$1 == "disk" && steady == n && (label == "steady" || label == "end") {
			for (i = 2; i <= NF; i++) { split($i, pair, "="); value[label, pair[1]] = pair[2] }
			value[label, "time"] = time
		}
		function of(what) { return value["end", what] - value["steady", what] }
		END {
			printf "us=%.2f read=%.1f written=%.1f requests=%.1f", of("time") / 1000 / accesses,
				1000 * of("pages_read") / accesses,
				1000 * of("pages_written") / accesses, 1000 * (of("reads") + of("writes")) / accesses
		}' "$1/truth.txt"
}

case " $systems " in *" linux "*"vigil "*) ;; *)
	die "systems=$systems: vigil comes behind linux, which says how much memory it may have" ;;
esac
for system in $systems; do
	for seed in $seeds; do
		dir=$out/$system-$seed runs= n=0
		mkdir -p "$dir"
		for case in $cases; do
			runs="${runs:+$runs ; }sweep pages=$pages rounds=$rounds seed=$seed"
			runs="$runs order=${case%-*} access=${case#*-}"
		done
		boot "$system" "$dir" "$runs" </dev/null >"$dir/console" || \
			die "$system, seed $seed: see $dir/console"
		[ "$system" != linux ] || ours=$(tr -d '\r' <"$dir/console" | \
			sed -n 's/^GUEST memory: sweep: most_kb=\([0-9]*\).*/\1/p' | sort -n | head -n 1)
		for case in $cases; do
			n=$((n + 1))
			result=$(grep '^RESULT app=sweep' "$dir/console" | sed -n "${n}p" | tr -d '\r')
			shape="order=${case%-*} access=${case#*-}"
			case $result in *" $shape "*"check=ok"*) ;; *)
				die "$system, $case: '$result' (see $dir/console)" ;;
			esac
			echo "RESULT swap system=$system seed=$seed $shape $(figures "$dir" $n)" |
				tee -a "$out/results"
		done
	done
done

{
	test/bench/header.sh "test/bench/swap.sh${given:+ $given}" machine="$machine" arch=x86_64 \
		pages="$pages" available_kb="$free" vigil_kb="$ours" latency="$latency" page="$page" \
		"kernel=$(cat build/linux/package 2>/dev/null)"
	for system in $systems; do
		sed -n "s/\r//; s/^GUEST swap=/# $system: swap_kb=/p" "$out/$system-${seeds%% *}/console"
	done
	awk '
	{
		for (i = 3; i <= NF; i++) { split($i, pair, "="); value[pair[1]] = pair[2] }
		row = value["order"] " " value["access"]; key = row SUBSEP value["system"]
		if (!(row in rows)) { rows[row]; order[++row_count] = row }
		if (!(value["system"] in known)) { known[value["system"]]; names[++count] = value["system"] }
		n[key]++
		for (f in value) sum[key, f] += value[f]
		us = value["us"] + 0
		if (!(key in least) || us < least[key]) least[key] = us
		if (us > most[key]) most[key] = us
	}
	END {
		printf "%-14s %-14s %9s %8s %9s %9s %9s\n", "order access", "system", "us", "spread", "read",
			"written", "requests"
		for (r = 1; r <= row_count; r++) {
			best = ""
			for (s = 1; s <= count; s++) {
				key = order[r] SUBSEP names[s]
				us = sum[key, "us"] / n[key]
				if (names[s] ~ /^linux/ && (best == "" || us < best)) { best = us; winner = names[s] }
				if (names[s] == "vigil") ours = us
				printf "%-14s %-14s %9.1f %7.1f%% %9.0f %9.0f %9.0f\n", order[r], names[s], us,
					us ? 100 * (most[key] - least[key]) / us : 0,
					sum[key, "read"] / n[key], sum[key, "written"] / n[key], sum[key, "requests"] / n[key]
			}
			if (best &&
				ours) summary = summary sprintf("RESULT swap.summary %s best_linux=%s times_as_fast=%.2f\n",
					order[r], winner, best / ours)
		}
		printf "\n%s", summary
	}' "$out/results"
	echo
	cat "$out/results"
} >"$results"
grep -v '^RESULT swap system' "$results"
