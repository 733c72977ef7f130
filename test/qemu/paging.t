#!/bin/sh
# Programs larger than memory: every page holds what was written to it, whatever happens to pages,
# disks and processes meanwhile. (By the million: page_ins.sh.)
. "${0%/*}/lib.sh"

paging() { # ARGUMENTS-FOR-THE-KERNEL ARGUMENTS WHAT
	boot smp=$smp mem=128M timeout=300 -- "disk.ram=32M swap=ram $1 -- paging $2 ; hello"
	guest_ok 1 "$smp CPUs: $3"
	line "exit app=paging status=0" "$smp CPUs: ... and the program ends well"
	line "exit app=hello status=0" "$smp CPUs: ... and the next one runs"
}
smp=1
paging mem.process=2M "pages=2500 threads=8 ops=${OPS:-150} seed=1" \
	"a program five times as large as it may be"
smp=8
paging "mem.process=1M mem.policy=clock mem.accessed=off" \
	"pages=1500 threads=8 ops=${OPS:-150} seed=2" "CLOCK, by faults alone"
smp=4
paging "mem.user=4M mem.pool=global" "pages=3000 threads=8 ops=${OPS:-150} seed=3" \
	"one pool for all"
smp=2
# MRU takes pages away that are in use at the moment: what a TLB still knew of them would show.
paging "mem.process=1M mem.policy=mru mem.accessed=off" "pages=1000 threads=4 ops=40 seed=7" \
	"pages that are in use leave"
paging "mem.process=2M disk.fail_writes=5" "pages=1500 threads=8 ops=${OPS:-80} seed=4" \
	"one of five writes fails"
line "swap event=write-failed" "... and each is said"
paging "mem.process=2M disk.delay_us=2000" "pages=1500 threads=8 ops=${OPS:-50} seed=5" \
	"a disk that answers in any order"

for prefetch in spatial ppg; do # the chooser of both is all others'
	paging "mem.process=2M mem.prefetch=$prefetch disk.delay_us=500 disk.fail_writes=50" \
		"pages=1500 threads=8 ops=${OPS:-50} seed=6" "prefetching, $prefetch"
done

# Waits for pages to be read, of a program that has half of its memory: without prefetching, and
# as it comes.
waits=
for prefetch in mem.prefetch=none ""; do
	boot machine=openpower720 smp=2 mem=128M timeout=300 -- \
		"disk.ram=32M swap=ram mem.process=640K mem.pab=128 $prefetch -- memstat regions=0" \
		"-- lu n=384 block=16 rounds=1"
	line "RESULT app=lu check=ok" \
		"lu in half of its memory, ${prefetch:-as it comes}: its result is right"
	waits="$waits $(lines faults major)"
done
line "prefetching by=chooser level=0.. recall_pct=60..100 precision_pct=60..100" \
	"recall and precision are said"
line "prefetched unused=0.." "... and what waits for its first use"
r=0
echo "$waits" | awk '{ exit !(NF == 2 && 2 * $2 < $1) }' || r=1
result $r "... most waits are avoided:$waits"
loop= # a loop over twice the memory: time, and pages read
for prefetch in mem.prefetch=none ""; do
	boot machine=openpower720 smp=1 mem=128M plugin=disk=64M,disk_latency=200000 timeout=300 -- \
		"swap=model mem.process=1M $prefetch -- memstat regions=0 -- loop pages=512 rounds=6"
	line "RESULT app=loop check=ok" \
		"a loop over twice its memory, ${prefetch:-as it comes}: it ends well"
	loop="$loop $(lines "memstat of=loop" ms) $(lines pages in)"
done
r=0
echo "$loop" | awk '{ exit !(NF == 4 && 4 * $3 < $1 && $4 < 1.02 * $2) }' || r=1
result $r "... in less than a quarter of the time, by no more reading:$loop"

# Two programs in one pool: what each waited for is its own, and both together are the pool's.
look="memstat regions=0 format=series interval=20"
boot machine=openpower720 smp=2 mem=128M timeout=300 -- \
	"disk.ram=32M swap=ram mem.user=2M mem.pool=global mem.prefetch=none -- $look" \
	"-- sweep pages=500 order=random access=write & $look -- loop pages=300 rounds=4"
line "RESULT app=sweep order=random access=write pages=500 wrong=0 check=ok" \
	"pages at random: each holds what was written"
own=$(awk '/^MEMORY program=(sweep|loop) / {
		for (i = 2; i <= NF; i++) { split($i, pair, "="); value[pair[1]] = pair[2] }
		own[value["program"]] = value["own_major"]; if (value["major"] + 0 > all) all = value["major"]
	} END { print own["sweep"] + 0, own["loop"] + 0, all + 0 }' "$console")
r=0
echo "$own" | awk '{ exit !($1 > 100 && $2 > 100 && $1 + $2 <= $3 && 10 * ($1 + $2) >= 9 * $3) }' ||
	r=1
result $r "... and its waits are known apart from those of another one in the same pool" \
	"(own, the other, pool): $own"

# Ends PROGRAM with STATUS and LINE; the next one finds memory and swap as they were.
ends() { # ARGUMENTS-FOR-THE-KERNEL PROGRAM STATUS LINE WHAT
	boot smp=2 mem=128M timeout=300 -- "swap=ram $1 -- memstat regions=0 -- hello ; $2" \
		"; memstat regions=0 -- hello"
	line "exit app=${2%% *} status=$3" "$5: it ends (exit $3)"
	line "$4" "... and it is said why"
	r=0
	lines swap free_kb >"$work/free"
	lines swap kb | paste -d' ' - "$work/free" |
		awk 'NF == 2 { n++; ok += $1 == $2 } END { exit !(n >= 2 && ok >= 2) }' || r=1
	result $r "... no slot is lost"
	r=0
	lines memory free_kb | awk '{ a[++n] = $1 } END { exit !(n >= 2 && a[n] + 1024 >= a[1]) }' || r=1
	result $r "... no memory either"
}
ends "disk.ram=32M mem.process=1M disk.fail_reads=100" "paging pages=1500" 135 \
	"process event=ended reason=io app=paging" "a page that cannot be read"
ends "disk.ram=2M mem.process=1M" "paging pages=1500" 137 \
	"process event=ended reason=memory limit=mem.process,mem.user swap=full app=paging" \
	"the disk is full"
ends "disk.ram=32M mem.process=1M disk.delay_us=3000" "paging pages=1500 threads=16 end=300" 0 \
	"paging event=ends wrong=0" "a program ends amid everything"
ends "disk.ram=32M mem.process=1M disk.delay_us=3000" "paging pages=1500 threads=16 end=1000" 0 \
	"paging event=ends wrong=0" "... and later"
boot smp=2 mem=64M timeout=300 -- "disk.ram=8M swap=ram -- oom" \
	"& paging pages=500 threads=2 ops=100 & hello ; hello again"
line "process event=ended reason=memory limit=machine swap=full app=oom" \
	"memory and swap exhausted: the process that holds most ends"
line "exit app=paging status=0" "... alone: who runs beside it goes on"
guest_ok 1 "... and has lost nothing"
greets 1 '\[again\]' "... and the next one runs"
boot smp=1 mem=64M timeout=100 -- "-- mem.process=1M oom ; hello"
line "process event=ended reason=memory limit=mem.process,mem.user swap=none app=oom" \
	"a limit without a disk is kept"
line "exit app=hello status=0" "... and the next one runs"
boot smp=2 mem=128M timeout=300 -- "disk.ram=8M swap=ram disk.delay_us=500 -- mem.process=1M oom" \
	"& paging pages=8000 threads=2 ops=10000 ; hello"
line "process event=ended reason=memory limit=mem.process,mem.user swap=full app=oom" \
	"a limit with the swap disk full is its own"
line "exit app=paging status=0" "... and a larger process, which has no such limit, goes on"
boot smp=2 mem=128M timeout=300 -- "disk.ram=32M swap=ram disk.fail_writes=1" \
	"-- mem.process=1M paging pages=1500 ; memstat regions=0 -- hello again"
line "swap event=write-failed lost=4096" "a disk that takes nothing: every slot is tried once"
line "process event=ended reason=memory swap=bad app=paging" \
	"... then the process that needs it ends"
greets 1 '\[again\]' "... and the next one runs"
line "swap kb=1.. free_kb=0.. lost_kb=1.. reads=0.." \
	"... and memstat says how much of the disk is lost"
boot smp=2 mem=128M timeout=300 -- "disk.ram=32M swap=ram disk.lose=40 disk.timeout_ms=300" \
	"-- mem.process=1M paging pages=1500 ; mem.process=1M oom ; memstat regions=0 -- hello again"
line "disk event=stopped name=ram reason=timeout ms=300" "a disk that stops answering is given up"
lines "process event=ended reason=memory swap=failed app=paging" >"$work/ended"
lines "process event=ended reason=io app=paging" >>"$work/ended"
r=0
[ -s "$work/ended" ] || r=1
result $r "... a process that had pages there ends"
line "process event=ended reason=memory limit=mem.process,mem.user swap=failed app=oom" \
	"... and the process that needs it later is told so"
greets 1 '\[again\]' "... and the next one runs"
boot smp=1 -- "swap=virtio -- hello"
line "swap event=none kind=virtio" "a disk that is not there is named"
line "exit app=hello status=0" "... and all else works"
# Twice what the machine has: its tables of pages grow after memory has become full.
truncate -s 512M "$work/large"
boot smp=2 mem=64M drive="$work/large" timeout=300 -- \
	"swap=virtio mem.policy=chooser mem.prefetch=ppg -- paging pages=28000 threads=4" \
	"ops=${OPS:-150} seed=8 ; hello"
line "exit app=paging status=0" "a program of twice the machine's memory ends well"
guest_ok 1 "... and every page holds what was written"
line "exit app=hello status=0" "... and the next one runs"
# Disks whose time is the host's, and the machine's.
truncate -s 64M "$work/swap"
program="paging pages=2000 threads=8 ops=${OPS:-60} seed=4"
boot smp=8 mem=128M drive="$work/swap" timeout=300 -- "swap=virtio mem.process=2M -- $program"
line "swap event=ready name=vda" "a virtio disk"
guest_ok 1 "... keeps every page"
boot machine=openpower720 plugin=disk=64M mem=128M timeout=300 -- \
	"swap=model mem.process=2M -- $program"
line "swap event=ready name=model" "the simulated machine's disk"
guest_ok 1 "... keeps every page"
use vigil-suites
for smp in 1 4; do
	boot smp=$smp mem=128M timeout=200 -- "disk.ram=16M swap=ram mem.process=1M disk.delay_us=500" \
		"-- swap"
	status_is 0 "$smp CPUs: the suite ends"
	guest_tap
done
done_testing
