#!/bin/sh
# Trackers of page accesses: each on a program with a checked result, and its records against what
# the simulated machine logged.
. "${0%/*}/lib.sh"

walks=$work/walks
boot machine=openpower720 smp=4 mem=128M timeout=300 plugin="tlb=16,pages=$walks" -- \
	mem.track=always mem.pab=128 mem.track_permille=1000 \
	mem.record=on mem.curves_print=on mem.curves=on -- fft log2n=15 threads=6
status_is 0 "a program is tracked by hardware"
line "tracker event=ready name=path when=always" "the tracker is named"
line "curve space=1 pages=100..999 accesses=1000.. cold=100..999 sampled=1/1 lru=[0-9,]+ mru=[0-9,]+" "curves are made of what it did"
logged=$(awk '$1 == "mark" { n = 0 } $1 == "path" { for (i = 3; i <= NF; i++) { split($i, v, "="); if (v[1] == "logged") n += v[2]; if (v[1] == "lost" && v[2]) lost = 1 } }
	END { print lost ? -1 : n }' "$work/truth.txt")
r=0; python3 test/qemu/page_trace_check.py "$work/pages.trace" "$walks" "$logged" >"$work/check" \
	2>&1 || r=1
sed 's/^/# /' "$work/check"
result $r "what is recorded is what was logged, on each CPU in the order of its TLB misses"

boot machine=uniprocessor mem=128M timeout=300 -- mem.track=always mem.pab=128 mem.curves_print=on \
	-- fft log2n=16
status_is 0 "a program is tracked within its cost"
line "curve space=1 sampled=1/([2-9]|[1-9][0-9])" "pages are sampled"
no_line "curve space=1 mru=.*" "... and MRU's curve is not made unless mem.curves=on asks for it"

boot machine=uniprocessor mem=128M timeout=300 -- disk.ram=32M swap=ram mem.process=1M mem.pab=128 \
	mem.curves_print=on -- fft log2n=15
status_is 0 "with little memory it has the same result"
line "tracker event=ready name=path when=short-of-memory" "it is tracked when that is so"
line "curve space=1 sampled=1/1" "and every page is seen"

for memory in "" "disk.ram=8M swap=ram mem.process=256K"; do
	boot machine=uniprocessor mem=128M timeout=300 -- \
		"$memory mem.track=always mem.pab=1024 mem.track_permille=1000 -- memstat regions=0 interval=0" \
		"-- anew"
	status_is 0 "pages come again where others were${memory:+, some of which had left memory}"
	records=$(lines "tracker lost=0" records)
	r=0; [ "${records:-0}" -ge 3200 ] || r=1
	result $r "each time the first use is logged, though the buffer knew a page there ($records records)"
done

for tracker in soft scan; do
	boot smp=4 mem=128M timeout=120 -- mem.tracker=$tracker mem.track=always mem.active_pages=32 \
		mem.scan_ms=1 mem.curves_print=on -- \
		fft log2n=15 threads=6 ';' lu n=256 threads=3
	status_is 0 "programs are tracked by $tracker, on plain QEMU"
	line "curve space=1 pages=100..999 accesses=0.." "and curves are made of what they use"
	boot smp=2 mem=128M timeout=120 -- disk.ram=32M swap=ram mem.process=1M mem.tracker=$tracker \
		mem.active_pages=32 mem.scan_ms=1 -- fft log2n=15 threads=3
	status_is 0 "and while pages come and go"
done

boot machine=openpower720 smp=4 mem=128M timeout=300 -- mem.tracker=sampled mem.track=always \
	mem.sample_period=20 mem.curves_print=on -- memstat regions=0 -- fft log2n=15 threads=6
status_is 0 "a program is tracked by the PMU's records"
line "tracker event=ready name=sampled when=always" "the tracker is named"
line "curve space=2 pages=10..999 accesses=10.." "a curve is made of what was recorded"
boot machine=openpower720 smp=2 mem=128M timeout=300 -- disk.ram=32M swap=ram mem.process=1M \
	mem.tracker=sampled -- fft log2n=15 threads=3
status_is 0 "and while pages come and go"
boot machine=openpower720 smp=2 mem=128M timeout=300 -- disk.ram=32M swap=ram mem.tracker=sampled \
	mem.process=1M -- hpmrec criteria=access.any@500 limit=10 -- fft log2n=15
no_line "tracker event=refused name=sampled" "accesses are sampled for the tracker and for a session"
line "hpmrec criterion=access.any samples=10.. lost=0" "... which has its samples"
line "RESULT app=fft check=ok" "... and the program runs"
boot smp=1 mem=128M -- mem.tracker=sampled mem.track=always -- hello
status_is 0 "without such a PMU a program runs"
line "tracker event=refused name=sampled reason=no-device" "and that is said"

boot smp=1 mem=128M -- mem.tracker=path mem.track=always -- hello
status_is 0 "without the hardware a program runs"
line "tracker event=refused name=path reason=no-device" "and that is said"
line "tracker event=none" "and that there is no other"

if [ "$arch" = aarch64 ]; then
	boot machine=openpower720 gic=2 smp=4 mem=128M timeout=300 -- disk.ram=32M swap=ram \
		mem.process=640K mem.pab=128 mem.track=always -- lu n=384 block=16 rounds=1
	line "path event=no-interrupts" "a GICv2 takes no message for a CPU of its own: that is said"
	line "RESULT app=lu check=ok" "... and logs are taken all the same"
fi

boot machine=uniprocessor mem=128M -- mem.track=always mem.pab=1000 -- hello
status_is 0 "with a buffer that cannot be a program runs"
line "tracker event=refused argument=mem.pab reason=value" "and what is wrong is named"
done_testing
