#!/bin/sh
# Installs the policies' library, the headers its sources include, and a pkg-config file (make
# install-policy).
#
#   tools/install_policy.sh PREFIX LIBRARY SOURCE...
#
# PREFIX: an absolute path; files go to lib/, lib/pkgconfig/ and include/vigil-policy/ below it.
set -eu
cd "$(dirname "$0")/.."
die() { printf 'install_policy.sh: error: %s\n' "$*" >&2; exit 1; }

[ $# -ge 3 ] || die "expected PREFIX LIBRARY SOURCE..."
prefix=$1 library=$2
shift 2
case $prefix in
/*) ;;
*) die "PREFIX=$prefix: expected an absolute path" ;;
esac
[ -f "$library" ] || die "$library: no such file"
mkdir -p "$prefix/lib/pkgconfig" 2>/dev/null || die "$prefix: cannot be written to"

headers=$(gcc -std=gnu11 -I. -MM "$@" | tr ' ' '\n' | grep '\.h$' | sort -u)
for header in $headers; do
	install -D -m 644 "$header" "$prefix/include/vigil-policy/$header" || \
		die "$prefix/include: cannot be written to"
done
install -m 644 "$library" "$prefix/lib/"
cat >"$prefix/lib/pkgconfig/vigil-policy.pc" <<END
prefix=$prefix

Name: vigil-policy
Description: Vigil's policies: page replacement, prefetching, miss-rate curves, division of memory, clustering of threads, multiplexing
Version: 0.1
Cflags: -I\${prefix}/include/vigil-policy
Libs: -L\${prefix}/lib -lvigil-policy
END
echo "installed: $prefix/lib/libvigil-policy.a, its headers and vigil-policy.pc"
