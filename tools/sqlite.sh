#!/bin/sh
# Builds the program that runs SQLite's own tests, from Debian's source package.
#   tools/sqlite.sh ARCH OUT_DIR     leaves in OUT_DIR/root/sqlite the program, testfixture, and the
#                                    tests. It wants Debian's package tcl8.6 where it runs, and a
#                                    user that is not root
set -eu
cd "$(dirname "$0")/.."
arch=$1 out=$2
die() { printf 'sqlite: error: %s\n' "$*" >&2; exit 1; }
case $arch in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; *) die "no architecture '$arch'" ;; esac
[ ! -e "$out/root/sqlite/testfixture" ] || exit 0
command -v tclsh >/dev/null || die "SQLite is made by tclsh: install tcl"

mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/source" "$out/root"
tools/source.sh sqlite3 "$out/archive"
tools/foreign.sh tcl8.6-dev $debian "$out/tcl-dev"
tools/foreign.sh libtcl8.6 $debian "$out/tcl"
tools/foreign.sh zlib1g-dev $debian "$out/zlib"
mkdir "$out/source"
tar -xf "$out/archive" -C "$out/source" --strip-components=1
echo "sqlite: building for $arch (log in $out/log)"
cc="$arch-linux-gnu-gcc -O1 -w -I. -Isrc -Iext/rtree -Iext/icu -Iext/fts3 -Iext/async -Iext/session
	-Iext/userauth -I$out/zlib/usr/include -I$out/tcl-dev/usr/include/tcl8.6 -D_HAVE_SQLITE_CONFIG_H -DBUILD_sqlite
	-DSQLITE_THREADSAFE=1"
build() {
	./configure --disable-readline --disable-tcl
	# The sources are made by this machine's programs, the program for the other one.
	make testfixture LTLINK="$(echo $cc)" LIBTCL="$(echo "$out"/tcl/usr/lib/*/libtcl8.6.so)" \
		TLIBS="$(echo "$out"/zlib/usr/lib/*/libz.a) -lm -Wl,--allow-shlib-undefined"
}
(cd "$out/source" && build) >"$out/log" 2>&1 || { tail -n 20 "$out/log" >&2; die "see $out/log"; }
mkdir -p "$out/root/sqlite"
"$arch-linux-gnu-strip" "$out/source/testfixture"
mv "$out/source/testfixture" "$out/source/test" "$out/source/ext" "$out/root/sqlite"
rm -f "$out"/root/sqlite/test/fuzzdata*.db # for another program
rm -rf "$out/source" "$out/tcl" "$out/tcl-dev" "$out/zlib"
