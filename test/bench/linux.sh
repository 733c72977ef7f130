#!/bin/sh
# Compares Linux's scheduler with Vigil's default one on the same simulated machine: the same programs with the same
# arguments, several seeds in each boot.
#
#   test/bench/linux.sh [name=value ...]
#
#   machine=NAME     simulated machine  (openpower720)
#   seeds='1 2 3'    of the programs' random choices, thread creation order included  (1 to 10)
#   ms=N             duration of each run in model time  (100)
#   systems=NAMES    linux, linux-good and linux-bad (threads bound by group: tools/linux-guest.sh pin=), vigil, and
#                    vigil-POLICY for another policy than default  (linux vigil)
#   programs=NAMES   of those below  (all)
#   timeout=S        for one boot  (1200)
#
# A line for each run, then means with their standard errors.  Neither kernel moves threads much once all CPUs are busy, so a
# run measures one placement by chance: it takes several seeds to say anything.  remote: loads and reads for ownership served
# by another chip's caches, for each operation the program completed, by the machine's ground truth; everything that ran on
# the machine from "start" to "end" counts, and once more from "steady" to "end".
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'linux.sh: error: %s\n' "$*" >&2; exit 1; }

machine=openpower720 seeds='1 2 3 4 5 6 7 8 9 10' ms=100 systems='linux vigil' timeout=1200
programs='scoreboard-4x4 warehouse-2x8 warehouse-4x4 private-16'
for argument in "$@"; do
	case $argument in
	machine=* | seeds=* | ms=* | systems=* | programs=* | timeout=*) value=${argument#*=}; eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (machine= seeds= ms= systems= programs= timeout=)" ;;
	esac
done
out=$PWD/build/out/linux
mkdir -p "$out"
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

boot() { # SYSTEM DIR RUNS
	case $1 in
	linux) tools/linux-guest.sh machine="$machine" timeout="$timeout" out="$2" -- "$3" ;;
	linux-*) tools/linux-guest.sh machine="$machine" timeout="$timeout" out="$2" pin="${1#linux-}" -- "$3" ;;
	vigil | vigil-*)
		policy=${1#vigil}
		policy=${policy#-}
		tools/qemu.sh machine="$machine" timeout="$timeout" out="$2" kernel=build/x86_64/vigil.elf \
			append="sched.policy=${policy:-default} -- $3" ;;
	*) die "'$1' is no system (linux, linux-good, linux-bad, vigil, vigil-POLICY)" ;;
	esac
}

# The n-th run's figures, from its RESULT line and the ground truth between its marks.
figures() { # SYSTEM SEED DIR N PROGRAM
	result=$(grep '^RESULT app=' "$3/console" | sed -n "$4p" | tr -d '\r')
	case $result in *" seed=$2 "*"check=ok"*) ;; *) die "$1, $5, seed $2: '$result' (see $3/console)" ;; esac
	{
		printf '%s\n' "$result"
		tools/truth.sh "$3/truth.txt" "start:$4" "end:$4"
		tools/truth.sh "$3/truth.txt" "steady:$4" "end:$4"
	} | awk -v who="$1" -v seed="$2" -v name="$5" '
		{ for (i = 2; i <= NF; i++) { split($i, pair, "="); value[NR, pair[1]] = pair[2] } }
		END {
			printf "RESULT linux system=%s app=%s seed=%s remote_per_op=%.3f remote_per_op_steady=%.3f", who, name, seed,
				value[2, "remote"] / value[1, "ops"], value[3, "remote"] / value[1, "ops_steady"]
			printf " user_remote_per_op=%.3f cycles_per_op=%.0f ops=%s busy_pct=%.1f\n",
				value[2, "user_remote"] / value[1, "ops"], value[2, "cycles"] / value[1, "ops"], value[1, "ops"],
				100 * value[2, "cycles"] / (value[2, "cycles"] + value[2, "idle"])
		}'
}

case " $systems" in *" vigil"*) make -s kernel machine ;; esac
: >"$out/results"

measure() { # SYSTEM PROGRAM SEEDS...
	who=$1 program=$2 runs= number=0
	shift 2
	command=$(command_of "$program")
	for seed in "$@"; do runs="${runs:+$runs ; }$command ms=$ms seed=$seed"; done
	dir=$out/$who-$program-$1
	mkdir -p "$dir"
	boot "$who" "$dir" "$runs" </dev/null >"$dir/console" || die "$who, $program: see $dir/console"
	for seed in "$@"; do
		number=$((number + 1))
		figures "$who" "$seed" "$dir" $number "$program" >"$dir/figures"
		tee -a "$out/results" <"$dir/figures"
	done
}

for program in $programs; do
	for who in $systems; do
		printf '%s\n' $seeds | xargs -n $per_boot | while read -r batch; do
			measure "$who" "$program" $batch
		done
	done
done

# Means and their standard errors.
awk -v systems="$systems" '
function cell(who, app, figure,    list, count, i, sum, squares) {
	count = split(values[who, app, figure], list, " ")
	for (i = 1; i <= count; i++) { sum += list[i]; squares += list[i] ^ 2 }
	mean = count ? sum / count : 0
	squares = squares / (count ? count : 1) - mean ^ 2
	return sprintf("%9.2f +-%6.2f", mean, count > 1 && squares > 0 ? sqrt(squares / (count - 1)) : 0)
}
{
	for (i = 3; i <= NF; i++) {
		split($i, pair, "=")
		if (pair[1] == "app" && !(pair[2] in known)) { known[pair[2]]; apps[++app_count] = pair[2] }
		value[pair[1]] = pair[2]
	}
	for (figure in value) values[value["system"], value["app"], figure] = values[value["system"], value["app"], figure] " " value[figure]
}
END {
	count = split(systems, names, " ")
	printf "\n%-15s %-14s %-20s %-20s %-20s %s\n", "program", "system", " remote/op", " settled", " cycles/op", "of " names[1]
	for (a = 1; a <= app_count; a++)
		for (s = 1; s <= count; s++) {
			row = cell(names[s], apps[a], "remote_per_op")
			if (s == 1) base = mean
			share = base ? sprintf("%6.1f %%", 100 * mean / base) : "-"
			printf "%-15s %-14s %-20s %-20s %-20s %s\n", apps[a], names[s], row, cell(names[s], apps[a], "remote_per_op_steady"),
				cell(names[s], apps[a], "cycles_per_op"), share
		}
}' "$out/results" | tee "$out/table.txt"
