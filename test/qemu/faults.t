#!/bin/sh
# Programs that misbehave are ended with a message that says why; everything else goes on.
. "${0%/*}/lib.sh"

boot smp=2 timeout=60 -- -- badcalls
status_is 0 "wild pointers into every system call"
guest_tap

boot smp=1 -- proc.calls=refused -- memstat -- nothing-like-it ';' badcalls unknown
line "process event=call name=spawn number=0.. result=-2 pid=1.. app=memstat" \
	"proc.calls=refused: a refused call is named"
line "process event=call name=unknown number=500 result=-38 arguments=0x1,.*" \
	"... an unknown one has its number"
no_line "process event=call result=0.." "... and a call that succeeds is not printed"
boot smp=1 -- proc.calls=all -- hello
line "process event=call name=write number=0.. result=0.. pid=1.. app=hello arguments=0x1,.*" \
	"proc.calls=all: every call is printed"

# Misdeed, the architecture that has it, and the kind of fault and of address that the message
# names.
cat >"$work/misdeeds" <<'END'
null-jump        *       memory null
null-read        *       memory null
wild-write       *       .* .*
no-address       *       .* .*
kernel-read      *       .* .*
kernel-write     *       .* .*
kernel-jump      *       .* .*
code-write       *       .* .*
constant-write   *       .* .*
data-exec        *       .* .*
stack-exec       *       .* .*
stack-overflow   *       memory overflow
thread-overflow  *       memory overflow
wild-thread      *       .* .*
unmapped-use     *       .* .*
no-access        *       .* .*
illegal          *       illegal none
breakpoint       *       breakpoint none
interrupts-off   *       privileged none
halt             x86_64  privileged none
port             x86_64  privileged none
control-register x86_64  privileged none
compat-syscall   x86_64  privileged none
divide           x86_64  arithmetic none
single-step      x86_64  breakpoint none
halt             aarch64 illegal none
control-register aarch64 privileged|illegal none
hypervisor-call  aarch64 illegal none
firmware-call    aarch64 illegal none
exception-return aarch64 illegal none
tlb-flush        aarch64 privileged|illegal none
odd-jump         aarch64 misaligned none
odd-atomic       aarch64 misaligned none
debug-channel    aarch64 privileged none
signature        aarch64 illegal none
END
awk -v isa="$arch" '$2 == "*" || $2 == isa' "$work/misdeeds" | split -l 12 - "$work/batch."
for batch in "$work"/batch.*; do
	# shellcheck disable=SC2046
	boot smp=2 timeout=60 -- -- $(awk '{ printf "faults %s ; ", $1 }' "$batch") hello still here
	while read -r misdeed _ kind where; do
		line "process event=ended reason=fault kind=$kind in=$where app=faults" "$misdeed is named"
		says_not "faults: $misdeed was allowed" "$misdeed is not allowed"
	done <"$batch"
	r=0
	[ "$(lines "exit app=faults status=(132|133|135|136|139)" | wc -l)" -eq "$(wc -l <"$batch")" ] || r=1
	result $r "each ends its program with 128 and the number of the signal"
	line "hello arguments=2" "the next program runs"
	no_line panic "the kernel did not panic"
done

# Entered at EL2, the kernel has left nothing there that would call on it.
if [ "$arch" = aarch64 ]; then
	boot smp=2 board=virtualization=on timeout=60 -- -- faults signature ';' faults hypervisor-call \
		';' faults debug-channel ';' hello
	line "process event=ended reason=fault kind=illegal app=faults" \
		"entered at EL2: a misdeed is named"
	r=0; [ "$(lines "exit app=faults status=(132|139)" | wc -l)" -eq 3 ] || r=1
	result $r "... and each ends its program"
	line "exit app=hello status=0" "... alone"
fi

boot smp=2 mem=128M timeout=120 -- -- oom ';' hello
line "process event=ended reason=memory limit=machine app=oom" "memory exhausted is said"
line "hello arguments=0" "... and ends only the culprit"
done_testing
