#!/bin/sh
# Starts on plain QEMU: 1 to 64 CPUs, little and much memory, several CPU models.
. "${0%/*}/lib.sh"

for smp in 1 2 8 64; do
	boot smp=$smp -- -- hello world
	status_is 0 "$smp CPUs: runs a program and switches off"
	line "hello cpus=$smp" "$smp CPUs: the program sees them"
done

boot smp=66 -- -- hello
line "cpus event=ignored count=2" "66 CPUs: two too many are left alone"
status_is 0 "66 CPUs: and the others run"

# shellcheck disable=SC2086
boot smp=2 mem=64M $no_pmu -- -- hello status=7
status_is 7 "64 MB: the program's exit status becomes the machine's"
line "hpm event=none reason=no-device" "plain QEMU: says that there is no PMU"
boot smp=2 mem=2G -- -- hello
status_is 0 "2 GB"
for model in $models; do
	boot smp=8 $model -- -- hello
	status_is 0 "$model"
done

# Too little memory: nothing starts, and what is needed is said, by the launcher where the kernel
# could not; the least that it names is enough.
for mem in 1M 2M 3M 5M 7M 9000K; do
	status=0
	tools/qemu.sh kernel="$kernel" mem=$mem out="$work" </dev/null >"$console" 2>&1 || status=$?
	status_is 125 "$mem: refused"
	line "qemu.sh argument=mem reason=range least=[0-9]+K" "... with what is needed"
done
least=$(lines "qemu.sh argument=mem" least)
boot smp=1 mem="$least" -- -- hello
status_is 0 "$least are enough"
if [ "$arch" = x86_64 ]; then
	# Past the launcher. At 30 MB, firmware writes into the loaded image.
	for mem in 3M 5M 7M 9200K 30M; do
		more="-m $mem"
		boot smp=1 timeout=20 -- -- hello
		status_is 1 "$mem by QEMU alone: the kernel does not start"
		line "vigil event=refused reason=memory kb=0.. needed_kb=1.." "... and says why"
	done
	least=$(lines "vigil event=refused" needed_kb)K
	more="-m $least"
	boot smp=1 -- -- hello
	status_is 0 "$least by QEMU alone are enough"
	more=
	# Firmware works in the last megabytes before the kernel starts, and 16 MB below the end,
	# where variables may be by then.
	least_mb=$(((${least%K} + 1023) / 1024))
	for mb in $least_mb $((least_mb + 1)) $((least_mb + 2)); do
		boot smp=1 mem=${mb}M -- -- hello
		status_is 0 "$mb MB, whatever firmware left in it"
	done
	no_line "quirk name=acpi" "COM1 and PIT work, so nothing is said to be missing"
	boot smp=1 board=pit=off -- -- hello
	line "quirk name=acpi missing=PIT" "... but what is missing is named"
fi
boot smp=64 mem="$least" timeout=60 -- -- hello
status_is 4 "64 CPUs need more: refused"
line "memory event=too-little free_kb=1.. needed_kb=1.. enough_mb=1.." "... with what is needed"
least=$(lines "memory event=too-little" enough_mb)M
boot smp=64 mem="$least" timeout=120 -- -- hello
status_is 0 "$least are enough"

# A file in memory for the kernel: it is found, and its memory is not given away.
head -c 20000001 /dev/zero >"$work/initrd"
boot initrd="$work/initrd" -- -- hello
status_is 0 "an initrd"
line "boot initrd=0x.* bytes=20000001" "... is found, with all of its bytes"
with=$(lines "memory mb=1.." mb)
boot -- -- hello
no_line "boot initrd=.*" "without one nothing is said of it"
[ $((with + 19)) -eq "$(lines "memory mb=1.." mb)" ] ||
	[ $((with + 20)) -eq "$(lines "memory mb=1.." mb)" ]
result $? "... and its memory is free"
status=0
tools/qemu.sh kernel="$kernel" initrd="$work/initrd" mem=16M out="$work" </dev/null >"$console" \
	2>&1 || status=$?
status_is 125 "an initrd that leaves no memory for the kernel is refused"
line "qemu.sh argument=mem reason=range least=[0-9]+K" "... with what is needed"

# A CPU that does not answer in time: x86-64 resets it and starts the next on its stack; AArch64,
# where nothing keeps it from coming, starts no more.
boot smp=4 timeout=120 -- cpus.late=2 -- hello ';' hello
status_is 0 "a CPU that comes late: the others run"
if [ "$arch" = x86_64 ]; then
	line "cpus event=silent id=2" "... it is named"
	line "hello cpus=3" "... and the others are used"
else
	line "cpus event=silent id=0x2" "... it is named"
	line "cpus event=not-started count=1" "... those behind it are not started"
	line "hello cpus=2" "... and those before it are used"
fi

# With icount every instruction is counted, and nothing that a device does may upset that.
boot smp=2 icount=1 timeout=60 -- -- hello
status_is 0 "icount"

# A guest that ends without a status of its own, such as a Linux whose kernel panics, has failed.
status=0
echo quit | tools/qemu.sh linux="$kernel" serial=none out="$work" append='-- hello' -- -S -monitor \
	stdio >"$console" 2>&1 || status=$?
status_is 126 "a guest that ends without a status of its own has failed"

# A second chip whose APIC id needs more than 8 bits.
if [ "$arch" = x86_64 ]; then
	status=0
	tools/qemu.sh kernel="$kernel" smp=2 timeout=120 append='-- hello' -- -smp \
		sockets=2,cores=130,threads=1,maxcpus=260 \
		-device max-x86_64-cpu,socket-id=1,core-id=0,thread-id=0 </dev/null >"$console" 2>"$work/stderr" \
		|| status=$?
	status_is 0 "APIC id 256"
	line "hello cpus=3" "... is a CPU that runs"
	says '^  chip 1  \| 2' "... on the second chip"
fi

# Hardware takes no exit code: ACPI's S5 or PSCI's SYSTEM_OFF is the end.
boot smp=2 timeout=60 ending=off -- -- hello status=3
status_is 0 "without an exit for the status the machine is switched off"
line "exit app=hello status=3" "... when the program has ended"

boot smp=4 -- -- hello one ';' hello status=3 two '&' hello three
status_is 3 "the first failing program's status is the machine's"
greets 1 '\[three\]' "programs after a failing one run"
done_testing
