#!/bin/sh
# Programs that misbehave are ended with a message that says why; everything else goes on.
. "${0%/*}/lib.sh"

boot smp=2 timeout=60 -- -- badcalls
status_is 0 "wild pointers into every system call"
guest_tap

# Misdeed, and what the message about it must say.
while read -r mode message; do
	case $mode in '') continue ;; esac
	commands="${commands:-} faults $mode ;"
	list="${list:-}$mode $message
"
	[ $(($(echo "$list" | wc -l) % 12)) -eq 0 ] || [ "$mode" = breakpoint ] || continue
	# shellcheck disable=SC2086
	boot smp=2 timeout=60 -- -- $commands hello still here
	while read -r mode message; do
		[ -n "$mode" ] || continue
		says "^process [0-9]+ faults, thread.*($message)" "$mode is named"
		says_not "faults: $mode was allowed" "$mode is not allowed"
	done <<END
$list
END
	r=0
	[ "$(grep -c '^exit: faults 139' "$console")" -eq "$(echo "$list" | grep -c .)" ] || r=1
	result $r "each ends its program with status 139"
	says "Hello.*still.*here" "the next program runs"
	says_not "panic|broken invariant" "the kernel did not panic"
	commands= list=
done <<'END'
null-jump null
null-read null
wild-write .
no-address .
kernel-read .
kernel-write .
kernel-jump .
code-write .
constant-write .
data-exec .
stack-exec .
stack-overflow stack overflow
thread-overflow stack overflow
wild-thread .
unmapped-use .
no-access .
privileged privileged
halt privileged
port privileged
compat-syscall privileged
divide .
control-register privileged
illegal .
breakpoint breakpoint
END

boot smp=2 mem=128M timeout=120 -- -- oom ';' hello
says "out of memory" "memory exhausted is said"
says "Hello" "... and ends only the culprit"
done_testing
