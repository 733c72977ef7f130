#!/bin/sh
# Compares Linux's scheduler with Vigil's default one on the same simulated machine: the same
# programs with the same arguments, several seeds in each boot.
#
#   test/bench/linux.sh [name=value ...]
#
#   machine=NAME     simulated machine  (openpower720)
#   seeds='1 2 3'    of the programs' random choices, thread creation order included  (1 to 10)
#   ms=N             duration of each run in model time  (100)
#   systems=NAMES    linux; linux-adaptive (glibc's mutexes spin before they sleep, as Vigil's do);
#                    linux-good and linux-bad (threads bound by group: tools/linux-guest.sh pin=);
#                    vigil, and vigil-POLICY for another policy than default  (linux linux-adaptive
#                    vigil)
#   mem=SIZE         of either system; with less than 1G Linux has no huge pages  (1G)
#   tlbs='N ...'     entries of a hardware thread's TLB, a table each  (128 2048)
#   programs=NAMES   of those below  (all)
#   timeout=S        for one boot  (1200)
#   results=FILE     (build/out/linux/table.txt)
#
# Prints a line for each run, then means with their standard errors. Neither kernel moves threads
# much once all CPUs are busy, so a run measures one placement by chance: a result takes several
# seeds.
#
# Columns: remote accesses and cycles for each operation, both again when settled, and the time of
# operations, waiting for a CPU included: the median, 99 of 100, the longest. remote: loads and
# reads for ownership served by another chip's caches, for each operation the program completed, by
# the machine's ground truth. All events on the machine from "start" to "end" count; settled: from
# "steady" to "end".
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'linux.sh: error: %s\n' "$*" >&2; exit 1; }

machine=openpower720 seeds='1 2 3 4 5 6 7 8 9 10' ms=100 systems='linux linux-adaptive vigil' \
	timeout=1200 mem=1G tlbs='128 2048'
programs='scoreboard-4x4 warehouse-2x8 warehouse-4x4 private-16' results=
given="$*"
for argument in "$@"; do
	case $argument in
	machine=* | seeds=* | ms=* | systems=* | programs=* | timeout=* | mem=* | tlbs=* | results=*)
		value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (machine= seeds= ms= systems= programs= timeout= mem= tlbs= results=)" ;;
	esac
done
out=$PWD/build/out/linux
mkdir -p "$out"
: "${results:=$out/table.txt}"
per_boot=5 # Linux takes 31 words of arguments

command_of() { # PROGRAM
	case $1 in
	scoreboard-4x4) echo scoreboard groups=4 threads=4 ;;
	warehouse-2x8) echo warehouse warehouses=2 threads=8 ;;
	warehouse-4x4) echo warehouse warehouses=4 threads=4 ;;
	private-16) echo private threads=16 ;;
	*) die "'$1' is no program (scoreboard-4x4 warehouse-2x8 warehouse-4x4 private-16)" ;;
	esac
}

boot() { # SYSTEM TLB DIR RUNS
	shape="machine=$machine timeout=$timeout mem=$mem plugin=tlb=$2 out=$3"
	case $1 in
	linux) tools/linux-guest.sh $shape -- "$4" ;;
	linux-adaptive) tools/linux-guest.sh $shape mutex=adaptive -- "$4" ;;
	linux-good | linux-bad) tools/linux-guest.sh $shape pin="${1#linux-}" -- "$4" ;;
	vigil | vigil-*)
		policy=${1#vigil}
		policy=${policy#-}
		tools/qemu.sh $shape kernel=build/x86_64/vigil.elf \
			append="sched.policy=${policy:-default} -- $4" ;;
	*) die "'$1' is no system (linux, linux-adaptive, linux-good, linux-bad, vigil, vigil-POLICY)" ;;
	esac
}

# Prints the figures of run N, from its RESULT line and the ground truth between its marks.
figures() { # SYSTEM TLB SEED DIR N PROGRAM
	result=$(grep '^RESULT app=' "$4/console" | sed -n "$5p" | tr -d '\r')
	case $result in *" seed=$3 "*"check=ok"*) ;; *)
		die "$1, $6, seed $3: '$result' (see $4/console)" ;;
	esac
	{
		printf '%s\n' "$result"
		tools/truth.sh "$4/truth.txt" "start:$5" "end:$5"
		tools/truth.sh "$4/truth.txt" "steady:$5" "end:$5"
	} | awk -v who="$1" -v tlb="$2" -v seed="$3" -v name="$6" '
		{ for (i = 1; i <= NF; i++) if (split($i, pair, "=") == 2) value[NR, pair[1]] = pair[2] }
		END {
			ops = value[1, "ops"]; late = value[1, "ops_steady"]
			printf "RESULT linux system=%s tlb=%s app=%s seed=%s remote=%.3f remote_settled=%.3f", who,
				tlb, name, seed,
				value[2, "remote"] / ops, value[3, "remote"] / late
			printf " user_remote=%.3f cycles=%.0f cycles_settled=%.0f", value[2, "user_remote"] / ops,
				value[2, "cycles"] / ops, value[3, "cycles"] / late
			printf " p50_us=%.2f p99_us=%.2f longest_us=%.1f ops=%s busy_pct=%.1f\n", value[1,
				"p50_ns"] / 1000, value[1, "p99_ns"] / 1000,
				value[1, "max_ns"] / 1000, ops, 100 * value[2, "cycles"] / (value[2, "cycles"] + value[2,
					"idle"])
		}'
}

case " $systems" in *" vigil"*) make -s kernel machine ;; esac
: >"$out/results"

measure() { # SYSTEM TLB PROGRAM SEEDS...
	who=$1 tlb=$2 program=$3 runs= number=0
	shift 3
	command=$(command_of "$program")
	for seed in "$@"; do runs="${runs:+$runs ; }$command ms=$ms seed=$seed"; done
	dir=$out/$who-$program-$tlb-$1
	mkdir -p "$dir"
	boot "$who" "$tlb" "$dir" "$runs" </dev/null >"$dir/console" || \
		die "$who, $program: see $dir/console"
	for seed in "$@"; do
		number=$((number + 1))
		figures "$who" "$tlb" "$seed" "$dir" $number "$program" >"$dir/figures"
		tee -a "$out/results" <"$dir/figures"
	done
}

for tlb in $tlbs; do
	for program in $programs; do
		for who in $systems; do
			printf '%s\n' $seeds | xargs -n $per_boot | while read -r batch; do
				measure "$who" "$tlb" "$program" $batch
			done
		done
	done
done

# Prints means and their standard errors; for the longest operations, the median and the largest of
# all runs.
{
	test/bench/header.sh "test/bench/linux.sh${given:+ $given}" machine="$machine" arch=x86_64 \
		mem="$mem" ms="$ms" "kernel=$(cat build/linux/package)"
	awk -v systems="$systems" -v tlbs="$tlbs" '
	function sorted(text,    i, j, t) {
		count = split(text, list, " ")
		for (i = 2; i <= count; i++)
			for (j = i; j > 1 && list[j - 1] + 0 > list[j] + 0; j--) { t = list[j]; list[j] = list[j - 1];
				list[j - 1] = t }
	}
	function cell(key, figure, format,    i, sum, squares, mean) {
		count = split(values[key, figure], list, " ")
		for (i = 1; i <= count; i++) { sum += list[i]; squares += list[i] ^ 2 }
		mean = count ? sum / count : 0
		squares = squares / (count ? count : 1) - mean ^ 2
		return sprintf(format " +-" format, mean, count > 1 &&
			squares > 0 ? sqrt(squares / (count - 1)) : 0)
	}
	function longest(key) {
		sorted(values[key, "longest_us"])
		return sprintf("%8.0f %8.0f", list[int((count + 1) / 2)], list[count])
	}
	{
		for (i = 3; i <= NF; i++) { split($i, pair, "="); value[pair[1]] = pair[2] }
		if (!(value["app"] in known)) { known[value["app"]]; apps[++app_count] = value["app"] }
		key = value["system"] SUBSEP value["tlb"] SUBSEP value["app"]
		for (figure in value) values[key, figure] = values[key, figure] " " value[figure]
	}
	END {
		count_systems = split(systems, names, " "); count_tlbs = split(tlbs, sizes, " ")
		for (z = 1; z <= count_tlbs; z++) {
			printf "\nTLB of %s entries.  remote/op, cycles/op: mean +- standard error; op, microseconds: means; longest: median, largest of the runs\n", sizes[z]
			printf "%-15s %-15s %14s %14s %15s %15s %15s %15s %17s\n", "program", "system", "remote/op",
				"settled", "cycles/op", "settled", "p50 us", "p99 us",
				"longest us"
			for (a = 1; a <= app_count; a++)
				for (s = 1; s <= count_systems; s++) {
					key = names[s] SUBSEP sizes[z] SUBSEP apps[a]
					printf "%-15s %-15s %14s %14s %15s %15s %15s %15s %17s\n", apps[a], names[s], cell(key,
						"remote", "%5.2f"),
						cell(key, "remote_settled", "%5.2f"), cell(key, "cycles", "%6.0f"), cell(key,
							"cycles_settled", "%6.0f"), cell(key, "p50_us", "%5.1f"),
						cell(key, "p99_us", "%5.1f"), longest(key)
				}
		}
		print ""
	}' "$out/results"
	cat "$out/results"
} >"$results"
grep -v '^RESULT' "$results"
