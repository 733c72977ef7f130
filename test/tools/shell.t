#!/bin/sh
# ./vigil shell, typed to on a terminal; and Ctrl-C at ./vigil run.
. "${0%/*}/../qemu/lib.sh"

typed() { # STEPS WORDS...: types to ./vigil; leaves what was shown in $console
	printf '%s\n' "$1" >"$work/steps"
	shift
	booted=" ./vigil $*"
	status=0
	python3 test/tools/typist.py "$work/steps" ./vigil "$@" >"$console" 2>"$work/stderr" || status=$?
}
packages=bash,coreutils,dash,findutils,grep,less,mawk,ncurses-base,procps,sed,util-linux
plain="--arch $arch --machine qemu --smp 2"

# The first one fetches the packages, which takes any time.
printf 'exit 3\n' >"$work/script"
status=0
# shellcheck disable=SC2086
./vigil shell $plain <"$work/script" >"$console" 2>"$work/stderr" || status=$?
status_is 3 "a shell whose input is a file"

# shellcheck disable=SC2086
typed 'see Ctrl-A, then x
see # 
type stty size; hello a\r
see 30 100
see arguments=1: Hello! [a]
see # 
type sh -c "echo re\x27\x27ady; exec sleep 1000"\r
see ready
type \x03
see ^C
see # 
type sh -c "echo re\x27\x27ady; exec sleep 1000"\r
see ready
type \x1a
see Stopped
see # 
type kill -9 %1; sleep 0.5; jobs\r
see Killed
see # 
type echo re\x27\x27ady; cat\r
see ready
type twp\x7fo words\x17\x15third\r
see third
see third
size 40 120
type \x04
see # 
type stty size; sh -c "echo re\x27\x27ady; exec sleep 1000"\r
see 40 120
see ready
type early\r\x03
see # 
type sh -c "exit 7"; exit $?\r' shell $plain
status_is 7 "a shell: its status is the command's"
: >"$work/stderr"
result 0 "... Ctrl-C and Ctrl-Z reach the program in front, also behind a line that is not read"
says 'tw *p.*o words' "... a line is edited"

typed 'see # 
type \x01z\x01x' shell $plain
status_is 130 "Ctrl-A and x end the machine"
typed 'see # 
hangup' shell $plain
status_is 130 "a terminal that hangs up ends the machine"
[ ! -s "$work/stderr" ] || status=1
status_is 130 "... without a word"
typed 'see ready
type \x03
see caught' run $plain --deb $packages -- bash -c 'trap "echo caught; exit 5" INT; echo ready; while :; do :; done'
status_is 5 "Ctrl-C at ./vigil run reaches a program that does not read"
typed 'see ready
type \x03
wait 0.4
type \x03' run $plain --deb $packages -- bash -c 'trap "" INT; echo ready; while :; do :; done'
status_is 130 "a second Ctrl-C within a second ends the machine"
done_testing
