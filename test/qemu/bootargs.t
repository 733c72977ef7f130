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

# What is given to one application about memory is its own and its children's; but mem.user is of all, the one before it, too.
show="memstat regions=0 curve=0 interval=0 -- hello"
pools() { # ARGUMENTS "LINES" WHAT
	boot smp=1 timeout=60 -- "$1"
	status_is 0 "$3"
	sed -nE 's/^  pool: ([a-z]+), [0-9]+ of ([0-9]+) KB.*/\1 \2/p' "$console" | sort >"$work/pools"
	r=0
	[ "$(tr '\n' ' ' <"$work/pools")" = "$2" ] || r=1
	result $r "... and pools are as the arguments say: $2"
}
pools "-- mem.user=3M $show & mem.process=1M mem.policy=arc $show & $show" "arc 1024 lru 3072 lru 3072 " "a limit of all holds for who is started later"
pools "-- $show & mem.user=3M $show" "lru 3072 lru 3072 " "... and for who was started before"
pools "-- $show & mem.process=1M mem.pools=always mem.policy=clock $show & $show" "clock 1024 " "a process's limit is nobody else's"
pools "-- mem.user=3M mem.process=1M $show ; $show" "lru 1024 " "when they have ended all is as it was"

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
