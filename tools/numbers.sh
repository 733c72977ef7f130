#!/bin/sh
# Writes a table that translates Linux's numbers of names that begin with PREFIX, from
# linux-libc-dev's HEADER, to those of the C library that includes it. Names that the library lacks
# are left out.
#   tools/numbers.sh COMPILER HEADER PREFIX
set -eu
"$1" -dM -E -include "$2" - </dev/null | awk -v name="^$3[A-Z0-9]+\$" '
	$2 ~ name && $3 ~ /^[0-9]+$/ && $3 < 256 && !seen[$3]++ {
		printf "#ifdef %s\n[%d] = %s,\n#endif\n", $2, $3, $2
		n++
	}
	END {
		if (!n) {
			print "numbers: error: no such names in the header" >"/dev/stderr"
			exit 1
		}
	}'
