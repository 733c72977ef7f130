#!/bin/sh
# Boot arguments: what is wrong is named, with what is accepted; nothing starts.
. "${0%/*}/lib.sh"

refused() { # ARGUMENTS KEYS WHAT
	# shellcheck disable=SC2086
	boot smp=1 -- $1
	status_is 2 "$3: the boot is refused"
	line "boot event=refused $2" "$3: the message names it"
	no_line "hello pid=1.." "$3: nothing was started"
}
refused "sched.polcy=default -- hello" "argument=sched.polcy reason=unknown nearest=sched.policy" \
	"an unknown argument"
refused "sched.policy=best -- hello" "argument=sched.policy reason=value" "an unknown choice"
says "[^a-z]default[^a-z].*[^a-z]cluster([^a-z]|\$)" "... with the choices"
refused "sched.slice_us=x -- hello" "argument=sched.slice_us reason=value" "a number that is none"
refused "sched.slice_us=99999999999 -- hello" "argument=sched.slice_us reason=range" \
	"a number out of range"
refused "hello" "argument=hello reason=unknown" "a word that is no argument"
refused "-- hello 'one two" "reason=quotation character=10" "an open quotation"

boot smp=1 -- "-- hello 'one  two' \"a;b & c\" it\"'s\"a '' ; hello --help"
status_is 0 "quoted words"
greets 4 "\[one  two\] \[a;b & c\] \[it'sa\] \[\]" "... are words, whatever is in them"
says "^run: hello 'one  two' 'a;b & c' \"it'sa\" ''$" "... and shown as they can be given again"
says "^hello: [^=]*\$" "--help is an application's help"
boot smp=1 -- "-- memstat regions=0 -- hello 'three four' ; hpmrec criteria=time@1ms" \
	"-- hello five,six '7 8'"
greets 1 "\[three four\]" "words stay words for a program that another starts"
greets 2 "\[five,six\] \[7 8\]" "... whichever starts it"

# What is given to one application about memory is its own and its children's; but mem.user is of
# all, the one before it, too.
show="memstat regions=0 curve=0 interval=0 -- hello"
pools() { # ARGUMENTS "LINES" WHAT
	boot smp=1 timeout=60 -- "$1"
	status_is 0 "$3"
	lines pool policy >"$work/policies"
	lines pool limit_kb | paste -d' ' "$work/policies" - | sort >"$work/pools"
	r=0
	[ "$(tr '\n' ' ' <"$work/pools")" = "$2" ] || r=1
	result $r "... and pools are as the arguments say: $2"
}
pools "-- mem.user=3M $show & mem.process=1M mem.policy=arc $show & $show" \
	"arc 1024 lru 3072 lru 3072 " "a limit of all holds for who is started later"
pools "-- $show & mem.user=3M $show" "lru 3072 lru 3072 " "... and for a program started before"
pools "-- $show & mem.process=1M mem.policy=clock $show & $show" "clock 1024 " \
	"a process's limit is its own alone"
pools "-- mem.user=3M mem.process=1M $show ; $show" "lru 1024 " \
	"when they have ended all is as it was"

boot smp=1 -- "-- nothing-like-it ; scorebaord ; memstat -- warehuose"
line "process event=refused app=nothing-like-it reason=unknown" \
	"an application that does not exist is named"
line "process event=refused app=scorebaord reason=unknown nearest=scoreboard" \
	"... with the nearest, if one is near"
line "process event=refused app=warehuose nearest=warehouse" \
	"... also when another program is to start it"
says "^process: event=refused .*[ :]scoreboard([ ,]|\$)" "... and those that do are listed"
r=0; [ "$status" -ne 0 ] || r=1; result $r "... and the run failed"

boot smp=1 -- help
status_is 0 "help"
says "sched\.policy" "help lists the arguments"
cp "$console" "$work/console.help"
boot smp=1 -- --help
status_is 0 "--help"
r=0; cmp -s "$console" "$work/console.help" || r=1; result $r "--help says what help says"
cp "$work/console.help" "$console"
sed -n '/^  cpus /,/^applications/p' "$console" | grep -v '^applications' |
	sed 's/^/    /' >"$work/help"
r=0; [ -s "$work/help" ] && sed -n '/^      cpus /,/^```/p' docs/use/boot-args.md | sed '$d' |
	cmp -s - "$work/help" || r=1
result $r "docs/use/boot-args.md says what help says"

# The least and the largest that help says of every number, all at once: the kernel starts, and what
# it cannot do it says.
#   extremes FIRST|LAST: of the range, as name=value
extremes() {
	awk -v from="$1" '
		/^  [a-z._]+ / { name = $1; next }
		/^ +a number from [0-9]+ to / { print name "=" (from == "first" ? $4 : $6) }
		/^ +bytes, with K M or G behind the number, from / {
			print name "=" (from == "first" ? $11 : $13)
		}' "$work/help.all" | tr -d ';' | paste -sd ' '
}
cp "$work/console.help" "$work/help.all"
least=$(extremes first) largest=$(extremes last)
within "$(echo "$largest" | wc -w)" 30 100 "numbers among the arguments"
more_of="hpm.accounts=on telemetry=all mem.track=always mem.curves=on swap=any"
# boots QEMU'S LIKE ARGUMENTS...
boots() {
	what=$1
	shift
	boot machine=openpower720 timeout=300 "$@"
	line "exit app=hello status=0" "$what: an application runs"
	no_line panic "$what: nothing panics"
}
boots "all numbers at their largest" mem=512M -- "$largest $more_of -- hello"
boots "the same with little memory" mem=64M -- "$largest $more_of -- hello"
boots "all numbers at their least" mem=512M -- \
	"$least mem.limit=4G mem.process=64G mem.user=64G $more_of -- hello"
boots "the least memory for applications" mem=512M -- \
	"mem.process=256K mem.user=256K disk.ram=8M swap=ram $more_of -- hello"

# 4095 characters arrive by every way, and more are refused with the limit's number.  uefi.t has the
# firmware's ways.
boot smp=1 -- "$(long_line 4095)"
status_is 5 "4095 characters are taken"
greets 2 "\[status=5\] \[x+END\]" "... to the last"
if [ "$arch" = x86_64 ]; then
	for length in 4096 4500 65000; do
		status=0
		tools/qemu.sh kernel="$kernel" append="$(long_line $length)" out="$work" \
			</dev/null >"$console" 2>&1 || status=$?
		status_is 125 "$length characters: the launcher refuses what QEMU's firmware has no room for"
		line "qemu.sh argument=append reason=too-long characters=$length limit=4095" \
			"... and names the limit"
	done
	more="-append $(long_line 4500 | tr ' ' ,)" # past the launcher, and no word of the shell's
	boot smp=1 -- ""
	status_is 1 "4500 characters by QEMU alone"
	line "vigil event=refused reason=too-long|pvh limit=4095" \
		"... are refused by the kernel, which names the limit"
	more=
else
	for length in 4096 4500 65000; do
		boot smp=1 -- "$(long_line $length)"
		status_is 1 "$length characters are refused"
		line "vigil event=refused reason=too-long limit=4095" \
			"... and the limit is named"
	done
fi
done_testing
