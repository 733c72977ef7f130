#!/bin/sh
# Monitoring, from inside the kernel on the simulated multiprocessor, and what it measured against
# the ground truth.
. "${0%/*}/lib.sh"
use vigil-suites

# Compares "NAME=VALUE ..." of the console (lines beginning with "# $1") with the truth between two
# marks.
#   compare WORD FROM TO KIND PERMILLE NAMES WHAT: every name within PERMILLE of the truth
compare() {
	tools/truth.sh "$work/truth.txt" "$2" "$3" "$4" >"$work/facts" || :
	grep "^# $1 " "$console" | sed "s/^# $1 //" >"$work/measured" || :
	r=0
	awk -v permille="$5" -v names="$6" '
		function parse(to, i, p) { for (i = 1; i <= NF; i++) { split($i, p, "="); to[p[1]] = p[2] } }
		FNR == NR { split("", f); parse(f); t = f["tag"] + 0; for (n in f) fact[t, n] = f[n]; next }
		{
			split("", m); parse(m); t = m["tag"] + 0
			for (n in m) {
				if (index(" " names " ", " " n " ") == 0) continue
				off = m[n] - fact[t, n]; if (off < 0) off = -off
				seen++
				if (off * 1000 > permille * fact[t, n]) { print "# " n " of " t ": " m[n] ", truth " fact[t, n]; bad = 1 }
			}
		}
		END { exit bad || !seen }' "$work/facts" "$work/measured" >"$work/off" || r=1
	result $r "$7"
	cat "$work/off" >&2
}

boot machine=openpower720 timeout=300 -- -- hpm
status_is 0 "simulated machine: the suite ends"
guest_tap
compare herd herd-begin herd-end tag 0 "instructions" "a thread's instructions are the truth's"
compare herd herd-begin herd-end tag 1 "cycles" "a thread's cycles are within 0.1 % of the truth"
compare herd herd-begin herd-end tag 10 "dcache_remote_l2" "a thread's remote stalls are within 1 % of the truth"
compare figure mix-begin mix-end total 10 "cycles instructions dcache_remote_l2" \
	"the machine's cycles, instructions and remote stalls are within 1 % of the truth"
compare figure mix-begin mix-end total 50 "stall_dcache local_l2 dcache_local_l2 stall_branch" \
	"large scaled figures of the machine are within 5 % of the truth"

compare account accounts-begin accounts-end total 1 "cycles instructions" \
	"the accounts' sum is within 0.1 % of the truth"

boot machine=openpower720 timeout=300 -- hpm.accounts=on -- hpm 11
status_is 0 "interrupts and monitoring counted apart"
guest_tap
compare account accounts-begin accounts-end total 1 "cycles instructions" \
	"the four accounts' sum is within 0.1 % of the truth"

# shellcheck disable=SC2086
boot smp=2 $no_pmu -- hpm.print_ms=100 -- hpm 99
line "hpm event=none reason=no-device" "plain QEMU: says that there are no counters"
line "monitor argument=hpm.print_ms reason=no-device" "plain QEMU: and that there is nothing to print"

boot machine=openpower720 -- hpm.pmu=none -- hpm 99
line "hpm event=none reason=hpm.pmu" "the counters can be switched off"

use vigil-test
for modes in user kernel both; do
	boot machine=openpower720 smp=1 timeout=300 -- hpm.modes=$modes -- counts $modes 500
	status_is 0 "a program's own counts, $modes"
	guest_tap
done
done_testing
