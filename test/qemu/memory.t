#!/bin/sh
# Memory: the kernel's own suite, programs that exhaust it, programs that cannot be loaded, processes that end amid everything.
. "${0%/*}/lib.sh"

use vigil-suites
for smp in 1 2 8 64; do
	boot smp=$smp mem=128M timeout=400 -- -- mm
	status_is 0 "$smp CPUs: the suite ends"
	guest_tap
done
# Spaces by the dozen with few identifiers; QEMU's own TLB knows no identifiers, the simulated machine's does and compares
# each translation it still has with QEMU's.
for smp in 1 2 8; do
	boot smp=$smp mem=128M timeout=120 -- mem.space_ids=66 -- spaces
	status_is 0 "$smp CPUs: more spaces than identifiers"
	guest_tap
done
[ $arch != aarch64 ] || says "^memory: 65 address-space identifiers" "there are as few identifiers as asked for"
boot machine=openpower720 plugin=verify=1 mem=128M timeout=300 -- mem.space_ids=66 -- spaces
status_is 0 "simulated machine: more spaces than identifiers"
guest_tap
r=0
awk '/^simulation/ { n++; checked = $0 } END { exit !(n && checked ~ / checked=[1-9][0-9]* mismatches=0$/) }' "$work/truth.txt" || r=1
result $r "simulated machine: no translation outlives its page"
use vigil-test

boot smp=2 mem=64M timeout=120 -- -- oom '&' hello '&' private ';' hello again
says "^process [0-9]+ oom: out of memory" "who holds all memory is named"
says "^exit: oom 137" "... and ended"
says "^exit: private 0" "... alone: who runs beside it goes on"
says "Hello.*again" "... and the memory is there again"

boot smp=2 mem=64M timeout=120 -- -- oom threads ';' oom regions ';' hello
says "^oom: refused after [0-9]+ threads" "the limit on threads is an error"
says "^exit: oom 0" "... that a program survives"
says "^oom: refused after [0-9]+ regions" "the limit on regions is an error"
says "^exit: hello 0" "... and everybody else goes on"

for smp in 1 8; do
	boot smp=$smp timeout=120 -- -- stress exit 80 ';' hello
	says "^exit: stress 0" "$smp CPUs: a process ends amid 80 threads that sleep, wait, spin and fault"
	says "^exit: hello 0" "$smp CPUs: ... and the next one runs"
done

boot smp=1 timeout=60 -- -- cut-short ';' no-program ';' hello
says "cut-short: broken program: segment beyond the end of the file" "a program cut short is refused by name"
says "no-program: broken program: not an ELF file" "a file that is no program is refused by name"
says "^exit: hello 0" "... and the next one runs"
done_testing
