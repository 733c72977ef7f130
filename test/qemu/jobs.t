#!/bin/sh
# Job control of the console: signals that are typed go to the job in front.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -o "$work/jobs" test/linux/jobs.c
tar -C "$work" -cf "$work/initrd.tar" jobs

# Types a key once the program waits for it: after that many checks have passed.
type_after() { # CHECKS KEYS
	for _ in $(seq 600); do
		[ "$(grep -ac '^ok' "$work/raw")" -lt "$1" ] || break
		sleep 0.1
	done
	printf '%b' "$2"
}
status=0
booted=" -- -- /jobs"
: >"$work/raw"
{ type_after 2 '\003\n'; type_after 4 '\032\n'; } |
	tools/qemu.sh kernel="$kernel" smp=2 timeout=60 initrd="$work/initrd.tar" out="$work" \
		append="-- /jobs" >"$work/raw" 2>"$work/stderr" || status=$?
tr -d '\r' <"$work/raw" >"$console"
status_is 0 "a shell controls its jobs"
guest_tap
done_testing
