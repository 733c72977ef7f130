#!/bin/sh
# Disks: virtio on PCI, the simulated machine's, and in memory.  Pages keep what was written, on one
# CPU and on eight, with and without errors; what fails is reported, and what does not answer is
# noticed.
. "${0%/*}/lib.sh"
use vigil-suites
image=$work/disk
truncate -s 16M "$image"

good() { # WHAT qemu.sh's arguments -- boot arguments
	what=$1
	shift
	boot "$@" -- block
	status_is 0 "$what: the suite ends"
	guest_tap
}

good "virtio, one CPU" smp=1 drive="$image" timeout=120 --
line "disk event=found name=vda kind=virtio kb=16384 access=read-write" \
	"a line says which disk there is"
line "# disk=vda errors=none" "... and nothing goes wrong"
good "virtio, eight CPUs" smp=8 drive="$image" timeout=200 --
good "virtio on the simulated machine" machine=openpower720 drive="$image" timeout=300 --
good "virtio on the simulated machine, the host's disk takes seconds" machine=openpower720 \
	drive="$image,throttling.bps-total=8000" timeout=300 --
good "the simulated machine's disk" machine=openpower720 plugin=disk=16M timeout=300 --
line "disk event=found name=model kb=16384" "a line says which disk there is"
line "disk event=timing name=model latency_cycles=1000000 page_cycles=4096" \
	"... and what a request takes"
r=0
grep -q "^disk reads=[1-9][0-9]* writes=[1-9][0-9]* .* refused=0 " "$work/truth.txt" || r=1
result $r "... and the truth counts what was asked"
if [ $arch = aarch64 ]; then
	good "the simulated machine's disk, GICv2m" machine=openpower720 gic=2 plugin=disk=16M \
		timeout=300 --
fi
good "in memory, eight CPUs" smp=8 timeout=200 -- disk.ram=16M
line "disk event=found name=ram kb=16384" "a disk in memory"
good "in memory and virtio, with errors and delays" smp=4 drive="$image" timeout=200 -- \
	disk.ram=4M disk.fail_reads=20 disk.fail_writes=30 disk.delay_us=2000
line "# disk=vda errors=seen" "... which are seen"
more="-drive id=direct,if=none,format=raw,file=$image"
more="$more -device virtio-blk-pci,drive=direct,indirect_desc=off,queue-size=16"
good "virtio without indirect descriptors, a short queue" smp=4 timeout=200 --
more=

boot smp=1 timeout=60 -- -- block
line "disk event=none" "no disk: a line says so"
boot smp=1 drive="$image,readonly=on" timeout=60 -- -- block 3
status_is 0 "a read-only disk: the suite ends"
line "disk event=found name=vda access=read-only" "... and a line says what it is"
line "# disk=vda written=no" "... and it is not written to"

# Errors of the device's own: reads of the fourth page and any write fail.
errors="inject-error.0.event=none,inject-error.0.iotype=read,inject-error.0.sector=24"
errors="$errors,inject-error.0.errno=5"
errors="$errors,inject-error.1.event=none,inject-error.1.iotype=write,inject-error.1.errno=5"
more="-drive id=bad,if=none,driver=blkdebug,$errors,image.driver=raw,image.file.driver=file"
more="$more,image.file.filename=$image,werror=report,rerror=report"
more="$more -device virtio-blk-pci,drive=bad"
boot smp=2 timeout=60 -- -- block-failing
more=
status_is 0 "a disk with errors of its own: the suite ends"
line "# disk=vda request=write page=0 result=-5" "a write that fails is reported"
line "# disk=vda request=read page=1 result=0" "... a read that works, too"
line "# disk=vda request=read page=3 result=-5" "... and one that fails"

boot smp=2 drive="$image" timeout=60 -- disk.lose=3 disk.timeout_ms=300 -- block-failing
status_is 0 "requests that get lost: the suite ends"
line "disk event=stopped name=vda reason=timeout request=read|write pages=1 page=0..7 ms=300" \
	"a line names the request"
line "# disk=vda result=-110" "... which is given back"
line "# disk=vda result=-5" "... and the disk takes no others"
done_testing
