#!/bin/sh
# Writes constants of Linux, from linux-libc-dev's headers, under names that no C library has: an
# enumeration of LINUX_NAME for each NAME of a list (apps/libc/linux.def).
#   tools/constants.sh COMPILER LIST
set -eu
awk '
	/^#/ { next }
	$1 == "in" { print "#include <" $2 ">"; next }
	{ for (i = 1; i <= NF; i++) name[n++] = $i }
	END {
		print "begin_of_constants"
		for (i = 0; i < n; i++)
			print "enum { \"LINUX_" name[i] "\" = " name[i] " };"
	}' "$2" | "$1" -E -P - | sed '1,/begin_of_constants/d; s/"//g'
