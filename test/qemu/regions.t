#!/bin/sh
# Regions of programs: what is counted for each is what was done in it, and what is printed when the
# program ends.
. "${0%/*}/lib.sh"

regions() { # WHAT QEMU ARGUMENTS
	what=$1
	shift
	boot "$@" timeout=120 -- hpm.modes=user -- regions instructions:u,cycles:u
	status_is 0 "$what: known loops in regions"
	guest_tap
	line "regions count=1.. refused=0.." "$what: a table when the program ends"
	has_cell regions \
		"region=inner calls=3 alone=202000..202999 cycles:u=0.. alone_2=0.." \
		instructions:u=202000..202999 "$what: ... of calls and counts"
	line "regions refused=1.." "$what: ... and what was refused"
}
regions "simulated machine" machine=openpower720
[ "$arch" != aarch64 ] || regions "cortex-a72" smp=1 icount=0 cpu=cortex-a72

# shellcheck disable=SC2086
boot smp=1 $no_pmu timeout=60 -- -- regions none
status_is 0 "where nothing can be counted a program goes on"
guest_tap
done_testing
