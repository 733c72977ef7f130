#!/bin/sh
# The check of lint that the variable of a boot argument is called like the argument. Nothing is
# booted.
. "${0%/*}/../qemu/lib.sh"

row() { # ARGUMENT VARIABLE
	printf 'const struct arg test_args[] = {\n    {"%s", ARG_U64, &%s, 0, 1, NULL, ARG_BOOT, ""},\n    {0},\n};\n' "$1" "$2" >"$work/args.c"
}

good() { # ARGUMENT VARIABLE
	row "$1" "$2"
	r=0
	tools/check_args.py "$work/args.c" >"$console" 2>&1 || r=1
	result $r "$2 may hold $1"
}

bad() { # ARGUMENT VARIABLE NAME
	row "$1" "$2"
	r=0
	tools/check_args.py "$work/args.c" >"$console" 2>&1 && r=1
	result $r "$2 may not hold $1"
	says "boot argument $1: its variable is $2: call it $3\$" "... and the name is said"
}

good mem.space_ids mem_space_ids
good console console_wanted
good disk.seed faults.seed
bad mem.space_ids space_ids mem_space_ids
bad console console console_wanted
bad disk.seed faults.random faults.seed
r=0
tools/check_args.py /dev/null >"$console" 2>&1 && r=1
result $r "files without a boot argument are refused"
done_testing
