#!/bin/sh
# tools/quanta.py: its pure parts against oracles, and what it refuses. Nothing is booted.
. "${0%/*}/../qemu/lib.sh"
booted=" nothing, quanta.py only" # shown when a check fails
: >"$work/stderr"
console=$work/said

test/tools/quanta_check.py >"$console" 2>&1 || echo "not ok 1 - the checker ends: $(tail -n 1 "$console")" >>"$console"
guest_tap

refused() { # WHAT REGEX ARGUMENTS...
	what=$1 wanted=$2
	shift 2
	r=0
	tools/quanta.py "$@" >"$console" 2>&1 || r=$?
	[ $r -eq 2 ] && grep -Eq -- "$wanted" "$console" && r=0 || r=1
	result $r "$what is refused"
}
printf 'gc\n' >"$work/roles"
refused "no folder" 'FOLDER'
refused "an argument that does not exist" '^quanta: argument=all=1 reason=unknown: accepted are from=, to=' x all=1
refused "a pid that is no number" '^quanta: argument=pid reason=value: .one. is not accepted' x pid=one
refused "stopped= alone" '^quanta: argument=by reason=missing' x stopped=app
refused "a file of roles with half a line" '^quanta: argument=roles reason=value: line 1: ' x roles="$work/roles"
refused "a file of roles that is not there" '^quanta: argument=roles reason=value: .*none' x roles="$work/none"
done_testing
