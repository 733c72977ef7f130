#!/bin/sh
# Writes the rows of Linux's system calls for one instruction set: the calls of calls.def that it
# has, each with its number from linux-libc-dev's <asm/unistd.h>.
#   tools/calls.sh COMPILER CALLS.DEF
set -eu
"$1" -dM -E -include asm/unistd.h - </dev/null | awk '
	NR == FNR {
		if ($2 ~ /^__NR/)
			value[$2] = $3
		next
	}
	FNR == 1 {
		for (n in value) {
			# Some have the value of another name: __NR3264_lseek.
			v = value[n] in value ? value[value[n]] : value[n]
			if (n ~ /^__NR_/ && v ~ /^[0-9]+$/)
				number[substr(n, 6)] = v
		}
	}
	match($0, /^(CALL|REFUSED)\([a-z0-9_]+/) {
		name = substr($0, RSTART, RLENGTH)
		sub(/^.*\(/, "", name)
		seen++
		if (name in number)
			printf "%s(%s, %s\n", substr($0, 1, index($0, "(") - 1), number[name],
				substr($0, index($0, "(") + 1)
	}
	END {
		if (!seen || !length(number)) {
			print "calls: error: no rows, or no numbers in <asm/unistd.h>" >"/dev/stderr"
			exit 1
		}
	}' - "$2"
