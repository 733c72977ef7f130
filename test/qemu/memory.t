#!/bin/sh
# Memory: the kernel's own suite, programs that exhaust it, programs that cannot be loaded,
# processes that end amid everything.
. "${0%/*}/lib.sh"

use vigil-suites
for smp in 1 2 8 64; do
	boot smp=$smp mem=128M timeout=400 -- -- mm
	status_is 0 "$smp CPUs: the suite ends"
	guest_tap
done
for machine in qemu openpower720; do
	boot machine=$machine smp=1 mem=128M timeout=120 -- -- string
	status_is 0 "$machine: the kernel's memory functions"
	guest_tap
done
# Spaces by the dozen with few identifiers; QEMU's own TLB knows no identifiers, the simulated
# machine's does and compares each translation it still has with QEMU's.
for smp in 1 2 8; do
	boot smp=$smp mem=128M timeout=120 -- mem.space_ids=66 -- spaces
	status_is 0 "$smp CPUs: more spaces than identifiers"
	guest_tap
done
[ $arch != aarch64 ] || line "memory space_ids=65" "there are as few identifiers as asked for"
boot machine=openpower720 plugin=verify=1 mem=128M timeout=300 -- mem.space_ids=66 -- spaces
status_is 0 "simulated machine: more spaces than identifiers"
guest_tap
r=0
awk '/^simulation/ { n++; checked = $0 }
	END { exit !(n && checked ~ / checked=[1-9][0-9]* mismatches=0$/) }' "$work/truth.txt" || r=1
result $r "simulated machine: no translation outlives its page"
for smp in 2 8; do
	boot smp=$smp mem=128M timeout=120 -- -- heap
	status_is 0 "$smp CPUs: the heap's caches"
	guest_tap
done
boot machine=openpower720 mem=128M timeout=300 -- -- heap
status_is 0 "simulated machine: the heap's caches, and what CPUs cost each other"
guest_tap
use vigil-test

boot smp=2 mem=64M timeout=120 -- -- oom '&' hello '&' private ';' hello again
line "process event=ended reason=memory limit=machine app=oom" \
	"the process that holds all memory is named"
line "exit app=oom status=137" "... and ended"
line "exit app=private status=0" "... alone: who runs beside it goes on"
greets 1 '\[again\]' "... and the memory is there again"

boot smp=2 mem=64M timeout=120 -- -- oom threads ';' oom regions ';' hello
line "oom refused=threads after=1.." "the limit on threads is an error"
line "exit app=oom status=0" "... that a program survives"
line "oom refused=regions after=1.." "the limit on regions is an error"
line "exit app=hello status=0" "... and the others go on"

# What an application leaves behind is gone before the next begins.
boot smp=4 mem=96M timeout=200 -- -- leaves free ';' leaves bomb ';' hello one ';' leaves threads \
	';' hello two ';' \
	mem.kernel=2M leaves limit ';' leaves free
status_is 0 "a fork bomb and thousands of sleeping threads: each application behind them runs"
greets 1 '\[one\]' "... behind the bomb"
greets 1 '\[two\]' "... behind the threads"
first=$(lines leaves free_kb | head -n 1)
last=$(lines leaves free_kb | tail -n 1)
within "$((first - last))" 0 2048 "... and their memory is back: KB missing"
line "process event=limit limit=mem.kernel app=leaves kb=2048" \
	"a process at its limit of kernel memory is told"
line "leaves regions=1..999 session=..-1 limit=yes" "... has few more regions, and no session"
again=$(lines "leaves threads=1.." again)
line "leaves threads=${again:-none}" "... and has what it gives back again"

boot smp=2 mem=64M timeout=120 -- -- mem.kernel=48M leaves hoard '&' leaves eat ';' mem.kernel=2M \
	leaves tables ';' hello
line "process event=ended reason=memory limit=machine pid=1 app=leaves" \
	"memory exhausted: the process that holds most of it in kernel memory ends first"
line "process event=ended reason=memory limit=mem.kernel app=leaves" \
	"a process that needs page tables beyond mem.kernel ends"
line "exit app=hello status=0" "... and the next application runs"

for smp in 1 8; do
	boot smp=$smp timeout=120 -- -- stress exit 80 ';' hello
	line "exit app=stress status=0" \
		"$smp CPUs: a process ends amid 80 threads that sleep, wait, spin and fault"
	line "exit app=hello status=0" "$smp CPUs: ... and the next one runs"
done

boot smp=1 timeout=60 -- -- cut-short ';' no-program ';' hello
line "process event=refused app=cut-short reason=broken" "a program cut short is refused by name"
line "process event=refused app=no-program reason=broken" \
	"a file that is no program is refused by name"
line "exit app=hello status=0" "... and the next one runs"
done_testing
