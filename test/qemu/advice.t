#!/bin/sh
# What a program says of how it reads is heeded; a mapped disk is read ahead.
. "${0%/*}/lib.sh"
image=$work/image
perl -e 'print pack("V*", $_ * 1024 .. $_ * 1024 + 1023) for 0 .. 1199' >"$image"

boot machine=openpower720 smp=2 mem=128M timeout=300 -- \
	"disk.ram=32M swap=ram mem.process=1M mem.prefetch=spatial -- advice swap"
status_is 0 "memory that is swapped: the program ends"
guest_tap
boot smp=2 mem=128M drive="$image,readonly=on" timeout=300 -- "-- advice disk"
status_is 0 "a mapped disk: the program ends"
guest_tap
boot smp=2 mem=128M drive="$image,readonly=on" timeout=300 -- \
	"disk.ram=32M swap=ram mem.process=1M mem.prefetch=none -- memstat -- advice disk"
status_is 0 "... that is larger than memory: it ends"
guest_tap
line "prefetching by=none level=0 recall_pct=80..99.9 precision_pct=90..100" \
	"... and its reading ahead is counted"
boot machine=openpower720 plugin=disk="$image" smp=2 mem=128M timeout=300 -- \
	"mem.track=always mem.pab=128 disk.ram=32M swap=ram mem.process=1M -- advice disk model"
status_is 0 "... of the simulated machine, where pages are tracked: it ends"
guest_tap
done_testing
