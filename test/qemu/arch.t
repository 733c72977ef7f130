#!/bin/sh
# What the architecture promises, from inside the kernel; and that every way to die is readable.
. "${0%/*}/lib.sh"
use vigil-suites

for model in smp=1 smp=8 $models; do
	boot smp=4 $model -- -- arch
	status_is 0 "$model: the suite ends"
	guest_tap
done

# panics N KEYS [tools/qemu.sh arguments]: the Nth of the suite "panics" ends the run with the
# panic's exit code and a line with those keys.  dies N KEYS FUNCTION ...: also function by
# function, on every CPU.
panics() {
	n=$1 keys=$2
	shift 2
	boot smp=4 "$@" -- -- panics "$n"
	status_is 101 "panic $n ends the run"
	line "panic cpu=0.. $keys" "panic $n says: $keys"
	no_line "panic event=nested" "panic $n is the only one"
}
dies() {
	n=$1 keys=$2 function=$3
	shift 3
	panics "$n" "$keys" "$@"
	says "[0-9a-f]{16} $function(\.[a-z.0-9]+)?\+0x" "panic $n: the backtrace names $function"
	line "backtrace cpu=3" "panic $n: every CPU shows where it was"
	lines "backtrace event=none" >"$work/on"
	lines "# event=goes-on" >>"$work/on"
	r=0; [ ! -s "$work/on" ] || r=1
	result $r "panic $n: ... and stops"
}
dies 1 "code=page-fault fault=null-pointer access=write at=0x8" null_pointer
dies 2 "fault=stack-overflow" recurse
dies 3 "code=page-fault fault=read-only access=write" text_written
dies 4 "code=page-fault fault=data-executed" data_executed
dies 5 "code=page-fault fault=user-access" user_memory_touched
dies 6 "code=lock-order lock=outer held=inner" locks_out_of_order
dies 7 "code=lock-twice lock=twice" lock_taken_twice
dies 8 "code=test" "[a-z]+_deaf"
dies 9 "code=page-fault fault=wild-pointer" wild_pointer
dies 10 "code=test" "[a-z]+_deaf"
dies 11 "code=test" "[a-z]+_deaf"
dies 12 "code=test" end_whole_end
line "steps done=2 of=3" "... but not before it is done with what must be whole"
dies 13 "code=gate-held gate=shut" user_memory_copied_with_a_gate_held
dies 14 "code=gate-held gate=shut" sleep_with_a_gate_held
dies 15 "code=gate-order gate=shut held=inner" gates_out_of_order
if [ "$arch" = aarch64 ]; then
	dies 8 "code=test" "[a-z]+_deaf" gic=2
	# Groups that are not ours, hence no FIQs: a CPU with interrupts off stops when it takes a lock
	# or prints, or is named.
	for gic in 2 3; do
		panics 8 "code=test" gic=$gic board=secure=on
		line "backtrace event=none cpu=3 reason=runs" \
			"GICv$gic without FIQs: a CPU that cannot be stopped is named"
		line "backtrace cpu=2" "GICv$gic without FIQs: ... and the others show where they were"
		dies 10 "code=test" lock_deaf gic=$gic board=secure=on
		dies 11 "code=test" print_deaf gic=$gic board=secure=on
	done
fi

# Atomics are the CPU's own instructions where it has them (FEAT_LSE), exclusive accesses elsewhere.
# QEMU lists what it came to of the functions that know; the former by their encodings, DDI 0487,
# C4.1.94.
atomics() { # MODEL KIND
	range=$(aarch64-linux-gnu-nm "${kernel%.img}.elf" |
		awk '/ T __aarch64_/ { print "0x" $1 }' | sort | sed -n '1p;$p' | xargs)
	more="-d in_asm -D $work/listing -dfilter ${range% *}..${range#* }" boot smp=2 cpu="$1" -- -- \
		arch 1
	awk '/ stl?xr / { print "exclusive" }
		$2 ~ /^([048c]8[abef]|[37bf]8[2367abef])/ { print "single" }' "$work/listing" |
		sort -u | xargs >"$work/kinds"
	r=0; [ "$(cat "$work/kinds")" = "$2" ] || r=1
	result $r "$1: atomics are $2 instructions ($(cat "$work/kinds"))"
}
if [ "$arch" = aarch64 ]; then
	atomics neoverse-n1 single
	atomics cortex-a72 exclusive
fi

# Firmware that puts registers where the CPU cannot reach: they are refused by name, and the rest
# goes on.
use vigil-test
if [ "$arch" = x86_64 ]; then
	printf '\1\242\206\200\0\100\0\0\0\0\0\0\0\100\0\0\0\0\0\0' >"$work/hpet" \
		# id, a memory address of 64 bits: 2^46
	more="-acpitable sig=HPET,rev=1,data=$work/hpet" boot smp=2 board=hpet=off -- -- hello
	line "memory event=unreachable registers=0x400000000000 bits=40" "a timer out of reach is refused"
	line "clock source=TSC by=ACPI-timer" "... and another one serves"
else
	more="-machine dumpdtb=$work/far.dtb" boot smp=2
	fdtput -t x "$work/far.dtb" /pcie@10000000 reg 0x10000 0 0 0x10000000
	more="-dtb $work/far.dtb" boot smp=2 -- -- hello
	line "memory event=unreachable registers=0x1000000000000 bits=48" \
		"a PCI bridge out of reach is refused"
fi
status_is 0 "... and the rest goes on"
done_testing
