#!/bin/sh
# Debian's PAPI, unmodified, in Vigil on the simulated machine: what its tools find, and tests of
# its own suite.
. "${0%/*}/../qemu/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
papi() { # COMMAND ...: its output into $console
	status=0
	booted=" ./vigil run -- $*"
	./vigil run --arch "$arch" --smp 2 --no-report --deb papi-tools -- "$@" </dev/null >"$console" \
		2>"$work/stderr" || status=$?
	status_is 0 "$*"
}
case $arch in
x86_64) pmu=skx cycles=CPU_CLK_UNHALTED:THREAD_P instructions=INST_RETIRED:ANY_P ;;
aarch64) pmu=arm_n1 cycles=CPU_CYCLES instructions=INST_RETIRED ;;
esac
papi papi_component_avail
says "PMUs supported: .*$pmu" "the processor's events are found"
papi papi_command_line $cycles $instructions
says "^$cycles :[[:space:]]*[1-9][0-9]*" "cycles are counted"
says "^$instructions :[[:space:]]*[1-9][0-9]*" "... and instructions"

# Tests of PAPI's: they ask for presets, of which PAPI 7.0.0 knows none for Neoverse N1.
if [ "$arch" = x86_64 ]; then
	booted=" tools/papi.sh"
	status=0
	LOOPS=200000 tools/papi.sh "$arch" first second low-level inherit \
		overflow_single_event overflow_twoevents >"$console" 2>"$work/stderr" || status=$?
	status_is 0 "tests of PAPI's suite"
	for t in first second low-level inherit overflow_single_event overflow_twoevents; do
		says "^$t PASSED" "$t"
	done
fi
done_testing
