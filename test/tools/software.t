#!/bin/sh
# Servers of Debian that start processes of their own: PostgreSQL, and nginx with workers. The whole
# table is `make bench-software`. Left out where packages cannot be fetched.
. "${0%/*}/../qemu/lib.sh"

for name in postgresql nginx; do
	status=0
	booted=" test/suites/software.py arch=$arch only=^$name\$"
	test/suites/software.py arch="$arch" only="^$name\$" limit=300 out="$work" </dev/null >"$console" \
		2>"$work/stderr" || status=$?
	[ $status -ne 2 ] || skip_all "$(tail -n 1 "$work/stderr")"
	status_is 0 "$name does what test/suites/software.txt expects"
done
done_testing
