#!/bin/sh
# Programs that misbehave are ended with a message that says why; everything else goes on.
. "${0%/*}/lib.sh"

boot smp=2 timeout=60 -- -- badcalls
status_is 0 "wild pointers into every system call"
guest_tap

boot smp=1 -- proc.calls=refused -- memstat -- nothing-like-it ';' badcalls unknown
says "^call: process [0-9]+ memstat, thread [0-9]+: spawn\(0x.*\) = -2$" "proc.calls=refused: a refused call is named"
says "^call: process [0-9]+ badcalls, thread [0-9]+: number 4096\(0x1, .*\) = -88$" "... an unknown one has its number"
says_not "^call:.* = [0-9]" "... and a call that succeeds is not printed"
boot smp=1 -- proc.calls=all -- hello
says "^call: process [0-9]+ hello, thread [0-9]+: write\(0x1, .*\) = [0-9]+$" "proc.calls=all: every call is printed"

# Misdeed, where it is known, and what the message about it must say.
cat >"$work/misdeeds" <<'END'
null-jump *                 null
null-read *                 null
wild-write *                .
no-address *                .
kernel-read *               .
kernel-write *              .
kernel-jump *               .
code-write *                .
constant-write *            .
data-exec *                 .
stack-exec *                .
stack-overflow *            stack overflow
thread-overflow *           stack overflow
wild-thread *               .
unmapped-use *              .
no-access *                 .
illegal *                   illegal
breakpoint *                breakpoint
interrupts-off *            privileged
halt x86_64                 privileged
port x86_64                 privileged
control-register x86_64     privileged
compat-syscall x86_64       privileged
divide x86_64               arithmetic
single-step x86_64          breakpoint
halt aarch64                illegal
control-register aarch64    privileged|illegal
hypervisor-call aarch64     illegal
firmware-call aarch64       illegal
exception-return aarch64    illegal
tlb-flush aarch64           privileged|illegal
odd-jump aarch64            misaligned
odd-atomic aarch64          misaligned
debug-channel aarch64       privileged
signature aarch64           illegal
END
awk -v isa="$arch" '$2 == "*" || $2 == isa' "$work/misdeeds" | split -l 12 - "$work/batch."
for batch in "$work"/batch.*; do
	# shellcheck disable=SC2046
	boot smp=2 timeout=60 -- -- $(awk '{ printf "faults %s ; ", $1 }' "$batch") hello still here
	while read -r misdeed _ message; do
		says "^process [0-9]+ faults, thread.*($message)" "$misdeed is named"
		says_not "faults: $misdeed was allowed" "$misdeed is not allowed"
	done <"$batch"
	r=0
	[ "$(grep -c '^exit: faults 139' "$console")" -eq "$(wc -l <"$batch")" ] || r=1
	result $r "each ends its program with status 139"
	says "Hello.*still.*here" "the next program runs"
	says_not "panic|broken invariant" "the kernel did not panic"
done

# Entered at EL2, the kernel has left nothing there that would call on it.
if [ "$arch" = aarch64 ]; then
	boot smp=2 board=virtualization=on timeout=60 -- -- faults signature ';' faults hypervisor-call ';' faults debug-channel ';' hello
	says "^process [0-9]+ faults, thread.*(illegal)" "entered at EL2: a misdeed is named"
	r=0; [ "$(grep -c '^exit: faults 139' "$console")" -eq 3 ] || r=1
	result $r "... and each ends its program"
	says "^exit: hello 0" "... alone"
fi

boot smp=2 mem=128M timeout=120 -- -- oom ';' hello
says "out of memory" "memory exhausted is said"
says "Hello" "... and ends only the culprit"
done_testing
