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
	says "^regions: name +calls +instructions:u +alone +cycles:u +alone$" "$what: a table when the program ends"
	says "^regions: inner +3 +202[0-9]{3} +202[0-9]{3} +[0-9]+ +[0-9]+$" "$what: ... of calls and counts"
	says "^regions: [0-9]+ begins or ends were refused$" "$what: ... and what was refused"
}
regions "simulated machine" machine=openpower720
[ "$arch" != aarch64 ] || regions "cortex-a72" smp=1 icount=0 cpu=cortex-a72

# shellcheck disable=SC2086
boot smp=1 $no_pmu timeout=60 -- -- regions none
status_is 0 "where nothing can be counted a program goes on"
guest_tap
done_testing
