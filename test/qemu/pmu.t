#!/bin/sh
# Hardware's own counters, which QEMU has for AArch64: with icount= every instruction takes a known
# time, so counts are exact.
. "${0%/*}/lib.sh"
[ "$arch" = aarch64 ] || skip_all \
	"QEMU emulates no performance counters of $arch (hpm.t has those of the simulated machine)"

# counted_as MODEL VERSION: the suite, and what is said of the counters
counted_as() {
	# shellcheck disable=SC2086
	boot smp=1 icount=0 $1 -- -- pmu
	status_is 0 "$1: the suite ends"
	line "hpm pmu=armv8 counters=5 fixed=2 groups=1 slice=1000000 unit=cycles modes=both records=no" \
		"$1: one line says what was found"
	says "^hpm: pmu=armv8 .*: $2\$" "$1: ... with its version"
	guest_tap
}
use vigil-suites
counted_as cpu=cortex-a72 "PMUv3, 32 bits"
line "hpm event=lacks pmu=armv8 figures=stalls-by-cause,stalls-by-half,accesses-by-source,misses" \
	"cortex-a72: what it lacks is said at boot"
says_not '(completion|front end|instruction cache|remote L2) +[0-9]' \
	"cortex-a72: and it is not shown as 0"
counted_as cpu=neoverse-n1 "PMUv3p1, 32 bits"
counted_as cpu=max "PMUv3p5, 64 bits"
line "lacks figures=stalls-by-cause,accesses-by-source,misses" \
	"max: what it lacks is named below the breakdown"
counted_as "cpu=cortex-a72 board=virtualization=on gic=2" "PMUv3, 32 bits"

for model in cpu=cortex-a72 cpu=max; do
	boot smp=1 icount=0 $model -- hpm.slices=instructions -- pmu
	status_is 0 "$model, slices of instructions: the suite ends"
	line "hpm pmu=armv8 groups=1 slice=1000000 unit=instructions" "$model: ... which is said"
	guest_tap
done

boot smp=4 cpu=cortex-a72 -- -- pmu
status_is 0 "without icount, 4 CPUs: the suite ends"
line "hpm event=lacks pmu=armv8 figures=instructions(,.*)?" \
	"... no instructions: said at boot"
no_line "hpm event=not-counted" "... every CPU is counted"
guest_tap

boot efi="${B:-build}/$arch/vigil-suites.efi" smp=1 icount=0 cpu=cortex-a72 -- -- pmu 4
status_is 0 "described by ACPI: the counters' interrupt arrives"
guest_ok 4 "... at the end of each turn"

boot smp=1 cpu=max,pmu=off -- -- pmu
status_is 0 "without counters the suite ends"
line "hpm event=none reason=no-device" "... and that is said"
guest_tap

use vigil-test
for model in cpu=cortex-a72 cpu=max; do
	for modes in user kernel both; do
		boot smp=1 icount=0 $model -- hpm.modes=$modes -- counts $modes
		status_is 0 "$model: a program's own counts, $modes"
		guest_tap
	done
done
boot smp=1 icount=0 cpu=cortex-a72 -- hpm.modes=user hpm.slices=instructions \
	hpm.slice_cycles=20000 -- counts user
status_is 0 "slices of instructions: a program's own counts"
guest_tap
boot efi="${B:-build}/$arch/vigil-test.efi" smp=1 icount=0 cpu=cortex-a72 -- hpm.modes=user -- \
	counts user
status_is 0 "described by ACPI: a program's own counts"
line "hpm pmu=armv8" "described by ACPI: the counters are found"

boot smp=4 -- -- sched.policy=cluster scoreboard ms=20 ';' sched.policy=cluster hello
status_is 0 "policy cluster goes on without records of accesses"
r=0
[ "$(lines "sharing event=refused reason=no-device" | wc -l)" -eq 1 ] || r=1
result $r "... and says so once"
done_testing
