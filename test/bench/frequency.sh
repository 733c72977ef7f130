#!/bin/sh
# Frequencies of CPUs on the simulated machine, on both instruction sets: how well cycles and the
# trace of frequencies make the time; what a forced drop in the middle of a run does to the verdicts
# of ./vigil phases; and what counting frequencies costs a switch.
#
#   test/bench/frequency.sh [name=value ...]
#
#   results=FILE  (docs/results/frequency.txt)
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'frequency.sh: error: %s\n' "$*" >&2; exit 1; }

results=docs/results/frequency.txt
for argument; do
	case $argument in
	results=*) results=${argument#*=} ;;
	*) die "unknown argument '$argument' (results=)" ;;
	esac
done
out=build/bench/frequency
mkdir -p "$out"
program='phases kind=sort size=300 rounds=600 marks=1'

kernel() { # ARCH
	case $1 in x86_64) echo build/x86_64/vigil.elf ;; *) echo build/aarch64/vigil.img ;; esac
}
# Prints the command, and the lines of what it says on standard error that have REGEX.
report() { # REGEX WORDS...
	regex=$1
	shift
	printf '\n# ./vigil' >>"$out/text"
	for word; do
		case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
	done >>"$out/text"
	printf '\n' >>"$out/text"
	verb=$1
	shift
	# shellcheck disable=SC2086
	./vigil "$verb" -o "$out/$verb" "$@" 2>"$out/said" >/dev/null </dev/null ||
		{ cat "$out/said" >&2; die "$verb failed"; }
	grep -E "$regex" "$out/said" >>"$out/text"
}
# Cycles of a yield to another thread, on one CPU, by the marks of the ground truth.
switch() { # ARCH BOOT-ARGUMENTS
	arch=$1
	shift
	tools/qemu.sh arch="$arch" kernel="$(kernel "$arch")" machine=uniprocessor telemetry="$out/stream" out="$out" \
		timeout=300 append="$* -- costs switch 20000" </dev/null >"$out/console" || die "costs failed: $out/console"
	awk -F'[ =]' '/^mark costs-begin / { from = $4 } /^mark costs-end / { printf "%.1f", ($4 - from) / 20000 }' \
		"$out/truth.txt"
}

test/bench/header.sh test/bench/frequency.sh >"$out/text"
times='^(frequency|conservation): '
verdicts='^(iterations| +[0-9s]|  +operations|frequency|by |steady|not steady)'
for arch in x86_64 aarch64; do
	case $arch in x86_64) then=60 ;; *) then=40 ;; esac # the boot takes other times
	for machine in onechip openpower720; do
		# shellcheck disable=SC2086
		report "$times" trace --arch $arch --machine $machine --smp 2 \
			--kernel-args "trace.frequency=on freq.then=3 freq.then_ms=$then" -- $program
	done
	# shellcheck disable=SC2086
	report "$verdicts" phases --arch $arch --machine onechip --smp 2 -- $program
	# shellcheck disable=SC2086
	report "$verdicts" phases -r 3 --arch $arch --machine onechip --smp 2 \
		--kernel-args "freq.then=3 freq.then_ms=$then" -- $program
done
{
	printf '\n# Cycles of a yield: costs switch 20000, machine=uniprocessor, without telemetry, with\n'
	printf '# telemetry=quanta, and with telemetry=quanta trace.frequency=on:\n'
	for arch in x86_64 aarch64; do
		printf '%-8s %8s %8s %8s\n' $arch "$(switch $arch)" "$(switch $arch telemetry=quanta telemetry.kb=1024)" \
			"$(switch $arch telemetry=quanta telemetry.kb=1024 trace.frequency=on)"
	done
} >>"$out/text"
mv "$out/text" "$results"
