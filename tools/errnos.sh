#!/bin/sh
# Writes the table that translates Linux's error numbers, from linux-libc-dev's <asm/errno.h>, to
# those of the C library that includes it. Numbers that the library lacks are left out.
#   tools/errnos.sh COMPILER
set -eu
"$1" -dM -E -include asm/errno.h - </dev/null | awk '
	$2 ~ /^E[A-Z0-9]+$/ && $3 ~ /^[0-9]+$/ {
		printf "#ifdef %s\n[%d] = %s,\n#endif\n", $2, $3, $2
		n++
	}
	END {
		if (!n) {
			print "errnos: error: no numbers in <asm/errno.h>" >"/dev/stderr"
			exit 1
		}
	}' | tr -s '\n'
