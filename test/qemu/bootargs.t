#!/bin/sh
# Boot arguments: what is wrong is named, with what is accepted; nothing starts.
. "${0%/*}/lib.sh"

refused() { # ARGUMENTS REGEX WHAT
	# shellcheck disable=SC2086
	boot smp=1 -- $1
	status_is 2 "$3: the boot is refused"
	says "$2" "$3: the message names it"
	says_not "Hello" "$3: nothing was started"
}
refused "sched.polcy=default -- hello" "sched\.polcy" "an unknown argument"
refused "sched.policy=best -- hello" "sched\.policy.*best.*default.*cluster" "an unknown choice"
refused "sched.slice_us=x -- hello" "sched\.slice_us.*x" "a number that is none"
refused "sched.slice_us=99999999999 -- hello" "sched\.slice_us.*99999999999" "a number out of range"
refused "hello" "hello" "a word that is no argument"

boot smp=1 -- -- no-such-program
says "no-such-program" "an application that does not exist is named"
says "scoreboard" "... and those that do are listed"
r=0; [ "$status" -ne 0 ] || r=1; result $r "... and the run failed"

boot smp=1 -- help
status_is 0 "help"
says "sched\.policy" "help lists the arguments"
sed -n '/^  cpus /,/^applications/p' "$console" | grep -v '^applications' | sed 's/^/    /' >"$work/help"
r=0; [ -s "$work/help" ] && sed -n '/^      cpus /,$p' docs/boot-args.md | cmp -s - "$work/help" || r=1
result $r "docs/boot-args.md says what help says"
boot -- "$(printf '%3000s' '' | tr ' ' x)"
status_is 1 "a command line that is too long ends the start"
says "^vigil: cannot start: the command line is too long" "... and says so"
done_testing
