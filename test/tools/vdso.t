#!/bin/sh
# The vDSO of either instruction set, as programs and debuggers find it: names, versions, type, and
# what it may not have.
cd "$(dirname "$0")/../.."
count=0 failed=0
result() { # STATUS WHAT
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else failed=1; echo "not ok $count - $2"; fi
}
has() { # REGEX WHAT
	r=0; grep -qE "$1" "$read" || r=1; result $r "$isa: $2"
}
work=$(mktemp -d "${TMPDIR:-/tmp}/vigil-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
read=$work/read
# the_object ISA VERSION FUNCTIONS...
the_object() {
	isa=$1 version=$2 file=${B:-build}/$1/vdso.so
	shift 2
	make --no-print-directory ARCH="$isa" "$file" >/dev/null
	readelf -hlnVW --dyn-syms "$file" >"$read"
	has 'Type: *DYN' "a shared object"
	has 'Name: linux-vdso.so.1' "under Linux's name"
	for function; do
		has " FUNC +GLOBAL +DEFAULT +[0-9]+ $function@@$version\$" "$function of version $version"
	done
	[ "$(grep -c ' FUNC ' "$read")" = $(($# + $(grep -c ' FUNC *WEAK ' "$read"))) ]
	result $? "$isa: and no other function"
	has 'LOAD .* 0x0+ 0x0+ 0x0+ .* R E ' "its segment begins at 0 and is read-only code"
	has 'GNU_EH_FRAME' "unwinders find its frames"
	has 'Linux +0x0+4' "the system's version"
	tools/vdso_check.sh "$file"
	result $? "$isa: needs no relocation"
}
the_object x86_64 LINUX_2.6 __vdso_clock_gettime __vdso_clock_getres __vdso_gettimeofday \
	__vdso_time __vdso_getcpu
the_object aarch64 LINUX_2.6.39 __kernel_clock_gettime __kernel_clock_getres \
	__kernel_gettimeofday __kernel_rt_sigreturn
readelf --debug-dump=frames "$file" >"$read"
! grep -q '"zRS"' "$read"
result $? "aarch64: no frame tells of the return from a handler: unwinders look into the signal's"

# What is wrong is noticed: an object with data that needs relocation.
echo 'extern int x; int *p = &x;' | gcc -shared -nostdlib -fPIC -x c - -o "$work/bad.so"
! tools/vdso_check.sh "$work/bad.so" 2>"$read"
result $? "another object is refused"
grep -q 'relocations' "$read"
result $? "... with the reason"
echo "1..$count"
exit $failed
