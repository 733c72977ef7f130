#!/bin/sh
# How far do figures depend on the simulated machine's turn length Q (test/machine/turn.c)? A line
# that several CPUs write can move only when turns change, so cross-chip traffic falls as Q grows.
#
#   test/bench/quantum.sh [name=value ...]
#
#   kernel=FILE       the image that is started  (build/x86_64/vigil.elf)
#   machine=NAME      simulated machine  (openpower720)
#   quanta='250 ...'  cycles  (250 500 1000 2000 4000 8000)
#   seeds='1 2 3'     of the program, and of the machine's own jitter  (1 2 3)
#   policies=NAMES    scheduling policies to compare  (default hand)
#   program=TEXT      the program  (scoreboard groups=4 threads=4 ms=100)
#
# Prints for each Q, as medians over the seeds between the marks "steady" and "end": accesses served
# by another chip's caches and cycles for each operation, by ground truth; then what the last policy
# removes and gains against the first.
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'quantum.sh: error: %s\n' "$*" >&2; exit 1; }

kernel=build/x86_64/vigil.elf machine=openpower720 quanta='250 500 1000 2000 4000 8000' \
	seeds='1 2 3' policies='default hand'
program='scoreboard groups=4 threads=4 ms=100'
for argument; do
	case $argument in
	kernel=* | machine=* | quanta=* | seeds=* | policies=* | program=*) value=${argument#*=}; \
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (kernel= machine= quanta= seeds= policies= program=)" ;;
	esac
done
out=build/out/quantum
mkdir -p "$out"

# Q POLICY SEED -> "Q POLICY remote_per_op cycles_per_op"
measure() {
	tools/qemu.sh kernel="$kernel" machine="$machine" out="$out" plugin="q=$1,seed=$3" timeout=600 \
		append="sched.policy=$2 -- $program seed=$3" </dev/null >"$out/console" || \
		die "q=$1 policy=$2 seed=$3: see $out/console"
	{ tr -d '\r' <"$out/console" | grep '^RESULT app='; tools/truth.sh "$out/truth.txt" steady end; \
		} | awk -v q="$1" -v policy="$2" '
		{ for (i = 1; i <= NF; i++) if (split($i, p, "=") == 2) v[p[1]] = p[2] }
		END { if (v["check"] != "ok" || !v["ops_steady"]) exit 1
			printf "%s %s %.4f %.1f\n", q, policy, v["remote"] / v["ops_steady"],
				v["cycles"] / v["ops_steady"] }' ||
		die "q=$1 policy=$2 seed=$3: no figures in $out"
}

for q in $quanta; do
	for policy in $policies; do
		for seed in $seeds; do measure "$q" "$policy" "$seed"; done
	done
done | sort -k1,1n -k2,2 -k3,3n | awk -v policies="$policies" -v quanta="$quanta" '
	{ k = $1 " " $2; n[k]++; remote[k, n[k]] = $3; cycles[k, n[k]] = $4 }
	function middle(a, k,   i, j, t, s) {
		for (i = 1; i <= n[k]; i++) s[i] = a[k, i]
		for (i = 1; i <= n[k]; i++) for (j = i + 1; j <= n[k]; j++) if (s[j] < s[i]) { t = s[i];
			s[i] = s[j]; s[j] = t }
		return s[int((n[k] + 1) / 2)]
	}
	END {
		count = split(policies, policy, " ")
		printf "%8s", "Q"
		for (p = 1; p <= count; p++) printf " %22s %22s", policy[p] " remote/op", policy[p] " cycles/op"
		printf " %12s %12s\n", "removed_pct", "gain_pct"
		for (i = split(quanta, q, " "); i >= 1; i--) order[i] = q[i]
		for (i = 1; i in order; i++) {
			printf "%8s", order[i]
			for (p = 1; p <= count; p++) {
				r[p] = middle(remote, order[i] " " policy[p]); c[p] = middle(cycles, order[i] " " policy[p])
				printf " %22.3f %22.1f", r[p], c[p]
			}
			printf " %12.1f %12.1f\n", r[1] ? 100 * (1 - r[count] / r[1]) : 0, 100 * (c[1] / c[count] - 1)
		}
	}'
