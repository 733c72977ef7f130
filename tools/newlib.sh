#!/bin/sh
# Builds newlib's C library for one ISA out of Debian's newlib-source package.
#   tools/newlib.sh ISA CC OUT_DIR       leaves OUT_DIR/include and OUT_DIR/lib/{libc.a,libm.a}
set -eu
isa=$1 cc=$2 out=$3
archive=$(ls /usr/src/newlib/newlib-*.tar.* | sort | tail -n 1)
work=$out/work
rm -rf "$work"
mkdir -p "$work/source" "$work/build"
out=$(cd "$out" && pwd) work=$out/work

printf 'newlib: building %s for %s (once; about a minute, log in %s)\n' "${archive##*/}" "$isa" "$out/log"
tar -xf "$archive" -C "$work/source" --strip-components=1
# Objects name newlib's sources as /newlib/..., and so are the same wherever they are built.
here="-ffile-prefix-map=$work/source/newlib=/newlib -ffile-prefix-map=$work/build=/newlib/build"
flags="-O2 -g $here -ffunction-sections -fno-pie -fno-stack-protector -D__DYNAMIC_REENT__ -D_COMPILING_NEWLIB -UMISSING_SYSCALL_NAMES"
case $isa in
x86_64)
	triple=x86_64-elf flags="$flags -fcf-protection=none"
	# An array is this ISA's va_list, and a parameter of that type its address already: newlib's
	# &ap, which arguments by position are read by (%2$d), would be the address of that.
	(cd "$work/source/newlib/libc/stdio" &&
		sed -i 's/\(get_arg (.*\)&ap,/\1(va_list *) ap,/' vfprintf.c vfwprintf.c vfscanf.c vfwscanf.c) ;;
aarch64) triple=aarch64-elf flags="$flags -mstrict-align" ;;
*) echo "newlib: error: unknown ISA '$isa' (x86_64, aarch64)" >&2; exit 1 ;;
esac
prefix=${cc%gcc}
if ! (
	cd "$work/build"
	"$work/source/newlib/configure" --host=$triple --prefix=/ --disable-shared --disable-multilib \
		--disable-newlib-supplied-syscalls --enable-newlib-multithread --enable-newlib-retargetable-locking \
		--enable-newlib-global-stdio-streams --enable-newlib-io-long-long --enable-newlib-io-long-double \
		--enable-newlib-io-c99-formats --enable-newlib-io-pos-args --enable-newlib-mb --disable-nls \
		CC="$cc" AR="${prefix}ar" RANLIB="${prefix}ranlib" CFLAGS="$flags"
	make -j"$(nproc)"
	make install DESTDIR="$work/install"
) >"$out/log" 2>&1; then
	tail -n 30 "$out/log" >&2
	echo "newlib: error: the build failed (see above, and $out/log)" >&2
	exit 1
fi
rm -rf "$out/include" "$out/lib"
found=$(dirname "$(find "$work/install" -name stdio.h -path '*/include/stdio.h')")
mv "$found" "$out/include"
mkdir "$out/lib"
find "$work/install" \( -name libc.a -o -name libm.a \) -exec mv {} "$out/lib/" \;
test -f "$out/lib/libc.a"
rm -rf "$work"
