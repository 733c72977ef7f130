#!/bin/sh
# What telemetry=quanta costs: workloads with it and without, on the simulated machine.
#
#   test/bench/quanta.sh [name=value ...]
#
#   arch=ARCH        x86_64 or aarch64  (x86_64)
#   machine=NAME     simulated machine  (openpower720)
#   runs=N           boots each, with seeds of the machine 1 to N  (3)
#   counts=none|topdown  what quanta have beside cycles and instructions  (topdown)
#   results=FILE     (docs/results/quanta-ARCH.txt)
#
# A program that does a fixed work is judged by its time, one that runs for a fixed time by its
# operations: both by `ops` and `ns` of its RESULT line, in model time. Threads stay where they are
# first put (sched.policy=roundrobin): where the balancer moves them differs from run to run by more
# than the tracer costs. The reader of what is recorded is a thread, too, so it shifts the others:
# off, it is there as well (telemetry=marks), and the breakdown pauses as it does with
# counts=topdown (hpm.breakdown=off). The control is a machine without it: what it differs from off
# by, in either direction, is where threads lie, not what anything costs.
# Columns: median of the boots' nanoseconds for an operation, off and on, and how much slower that
# is; the least and most of the boots' slowdowns, seed by seed; the control against off, and the
# least and most of that; quanta and wake-ups recorded in a second of the program, and those without
# room.
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'quanta.sh: error: %s\n' "$*" >&2; exit 1; }

arch=x86_64 machine=openpower720 runs=3 counts=topdown results=
for argument; do
	case $argument in
	arch=* | machine=* | runs=* | counts=* | results=*) value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (arch= machine= runs= counts= results=)" ;;
	esac
done
case $arch in
x86_64) kernel=build/x86_64/vigil.elf ;;
aarch64) kernel=build/aarch64/vigil.img ;;
*) die "arch=$arch: accepted are x86_64, aarch64" ;;
esac
case $counts in
topdown) control=hpm.breakdown=off ;;
none) control= ;;
*) die "counts=$counts: accepted are none, topdown" ;;
esac
: "${results:=docs/results/quanta-$arch.txt}"
out=build/bench/quanta-$arch
mkdir -p "$out"
programs='scoreboard ms=20
warehouse ms=20
auction ms=20
chat ms=20
private ms=20
cg threads=8
fft threads=8
lu threads=8 n=192
mg threads=8
ocean threads=8 n=64
sp threads=8
phylogeny threads=8 moves=30
cube threads=8
barnes threads=8 bodies=1024'

# PROGRAM SEED control|off|on -> "key=value ..." of one boot
measure() {
	case $3 in
	on) args="telemetry=quanta trace.counts=$counts" ;;
	off) args="telemetry=marks $control" ;;
	control) args=$control ;;
	esac
	rm -f "$out/stream"
	ARCH=$arch tools/qemu.sh kernel="$kernel" machine="$machine" out="$out" plugin="seed=$2" timeout=900 \
		telemetry="$out/stream" append="$args sched.policy=roundrobin -- $1" </dev/null >"$out/console" 2>&1 ||
		die "$1, seed $2, $3: see $out/console"
	tr -d '\r' <"$out/console" | awk -v program="${1%% *}" -v seed="$2" -v state="$3" '
		/^RESULT app=/ || /^quanta: / || /^telemetry: taken/ {
			for (i = 1; i <= NF; i++) if (split($i, p, "=") == 2) v[p[1]] = p[2] }
		END { if (v["check"] != "ok" || !v["ops"]) exit 1
			printf "program=%s seed=%s state=%s ops=%s ns=%s taken=%d late=%d discarded=%d\n", program,
				seed, state, v["ops"], v["ns"], v["taken"], v["late"], v["discarded"] }' ||
		die "$1, seed $2, $3: no figures in $out/console"
}

: >"$out/lines"
echo "$programs" | while read -r program; do
	for seed in $(seq "$runs"); do
		measure "$program" "$seed" control </dev/null >>"$out/lines"
		measure "$program" "$seed" off </dev/null >>"$out/lines"
		measure "$program" "$seed" on </dev/null >>"$out/lines"
	done
	tail -n 1 "$out/lines"
done
{
	test/bench/header.sh "test/bench/quanta.sh arch=$arch machine=$machine runs=$runs counts=$counts" \
		machine="$machine" arch="$arch" counts="$counts"
	echo "# ns for an operation, median of $runs boots; slower: on against off; control: against off"
	awk '
	function median(text,    n, a, i, j, t) {
		n = split(text, a, " ")
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && a[j] + 0 < a[j - 1] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
		return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
	}
	function note(p, state, each,    slower) {
		slower = 100 * (each / before - 1)
		if (!((p, state) in least) || slower < least[p, state]) least[p, state] = slower
		if (!((p, state) in most) || slower > most[p, state]) most[p, state] = slower
	}
	function against(p, state) {
		return 100 * (median(list[p, state]) / median(list[p, "off"]) - 1)
	}
	{
		for (i = 1; i <= NF; i++) { split($i, pair, "="); v[pair[1]] = pair[2] }
		p = v["program"]
		if (!(p in known)) { known[p]; names[++count] = p }
		each = v["ns"] / v["ops"]
		list[p, v["state"]] = list[p, v["state"]] " " each
		if (v["state"] == "control") { control = each; next }
		if (v["state"] == "off") { before = each; note(p, "control", control); next }
		note(p, "on", each)
		events[p] = events[p] " " v["taken"] * 1e9 / v["ns"]
		lost[p] += v["late"] + v["discarded"]
	}
	END {
		printf "%-11s %10s %10s %7s %16s %8s %16s %9s %5s\n", "program", "off_ns", "on_ns", "slower",
			"of_seeds", "control", "of_seeds", "events/s", "lost"
		for (i = 1; i <= count; i++) {
			p = names[i]; s = against(p, "on")
			printf "%-11s %10.3f %10.3f %6.2f%% %7.2f%%..%6.2f%% %7.2f%% %7.2f%%..%6.2f%% %9d %5d\n", p,
				median(list[p, "off"]), median(list[p, "on"]), s, least[p, "on"], most[p, "on"],
				against(p, "control"), least[p, "control"], most[p, "control"], median(events[p]), lost[p]
			sum += log(1 + s / 100); controls += log(1 + against(p, "control") / 100)
			if (i == 1 || s > worst) { worst = s; worst_of = p }
		}
		printf "mean_slower=%.2f%% worst_slower=%.2f%% of=%s mean_control=%.2f%% programs=%d\n",
			100 * (exp(sum / count) - 1), worst, worst_of, 100 * (exp(controls / count) - 1), count
	}' "$out/lines"
} >"$out/results"
cp "$out/results" "$results"
cat "$results"
