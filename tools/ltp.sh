#!/bin/sh
# Fetches the Linux Test Project by git, and builds its tests of system calls. No release of Debian
# that is supported has a package of it.
#   tools/ltp.sh ARCH OUT_DIR     leaves in OUT_DIR/root what `make install` of the tests installs
#                                 below /ltp, stripped, and in OUT_DIR/list the tests' names, each
#                                 with its command
# LTP_FROM=URL or DIR: another repository that has the commit.
set -eu
arch=$1 out=$2
# The release 20260529.
commit=3a64d78f58bdceba93ed321e91215fb969a047ed
from=${LTP_FROM:-https://github.com/linux-test-project/ltp.git}
jobs=$(nproc)
die() { printf 'ltp: error: %s\n' "$*" >&2; exit 1; }
[ "$(cat "$out/version" 2>/dev/null)" != "$commit" ] || exit 0

mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/source" "$out/root"
echo "ltp: fetching from $from"
git init -q "$out/source"
cd "$out/source"
git fetch -q --depth 1 "$from" "$commit" || die "no commit $commit from $from"
git checkout -q FETCH_HEAD # git has compared every byte with the commit's name
echo "ltp: building for $arch (log in $out/log)"
build() {
	make autotools
	./configure --host="$arch-linux-gnu" --prefix=/ltp
	make -j"$jobs" -k lib-all
	# Tests that this machine's headers are too old for are left out.
	make -C testcases/kernel/syscalls -j"$jobs" -k || :
	make -C testcases/kernel/syscalls -k install DESTDIR="$out/root" || :
}
flags='-O1 -fno-strict-aliasing -pipe -w -ffunction-sections'
export OPT_CFLAGS="$flags" DEBUG_CFLAGS='' LDFLAGS=-Wl,--gc-sections
(build) >"$out/log" 2>&1 || { tail -n 20 "$out/log" >&2; die "see $out/log"; }
find "$out/root" -type f -exec "$arch-linux-gnu-strip" -s {} + 2>/dev/null || :
grep -v '^#' runtest/syscalls | grep . >"$out/list"
cd "$out"
rm -rf source
echo "$commit" >version
