#!/bin/sh
# Input: every byte of it arrives, from the first on. The rest of a line that a program has not read
# does not go to the next program.
. "${0%/*}/lib.sh"

# typed_by INPUT COMMANDS
typed_by() {
	booted=" -- -- $2"
	status=0
	printf "$1" | tools/qemu.sh kernel="$kernel" smp=2 timeout=60 out="$work" append="-- $2" >"$work/raw" 2>"$work/stderr" || status=$?
	tr -d '\r' <"$work/raw" >"$console"
}
typed_by 'first\nsecond\nthird\n' "typed 100 100 100"
status_is 0 "a program reads"
says '^typed typed: \[first\$\]$' "what was sent before the kernel ran arrives from its first byte on"
says '^typed typed: \[second\$\]$' "... and so does the rest"
says '^typed typed: \[third\$\]$' "... to the last"

typed_by 'abcdefg\nsecond\nthird line, longer than a FIFO\nfourth\n' "typed 3 2 ; typed 100 1 ; typed 100"
says '^typed typed: \[abc\]$' "a program reads a part of its line"
says '^typed typed: \[de\]$' "... and goes on where it was"
says '^typed typed: \[second\$\]$' "... but the next program begins with a line of its own"
says '^typed typed: \[t\]$' "... and takes a part of another"
says '^typed typed: \[fourth\$\]$' "... of which nothing is left to the third"
done_testing
