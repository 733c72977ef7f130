#!/bin/sh
# Fetches the upstream source of a Debian source package from the mirror the machine is configured
# for.
#   tools/source.sh PACKAGE ARCHIVE [SUITE]       leaves the upstream archive at ARCHIVE (whatever
#                                 its compression), its version in ARCHIVE.version, and what Debian
#                                 adds, its patches among it, at ARCHIVE.debian, with the package's
#                                 version in ARCHIVE.debian.version. SUITE: that of another release
#                                 of Debian than the machine's
set -eu
package=$1 archive=$2 wanted=${3:-}
cd "$(dirname "$0")/.."
apt_dir=$PWD/build/apt/source$wanted
. tools/apt.sh
die() { printf 'source: error: %s\n' "$*" >&2; exit 1; }
command -v apt-get >/dev/null 2>&1 || die "no apt-get to fetch the Debian source package $package with"

work=$(mktemp -d "${TMPDIR:-/tmp}/vigil-source.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$apt_dir/cache/archives/partial"
apt_lists "$apt_dir" deb-src
of_suite() { sed -i "s/\b$suite\b/$1/g" "$apt_dir/sources.list" $(find "$apt_dir/sources" -type f); }
if [ -n "$wanted" ] && [ "$wanted" != "$suite" ]; then
	rm -f "$apt_dir/sources/backports.sources"
	sed -i "/$suite-backports/d" "$apt_dir/sources.list"
	of_suite "$wanted"
fi
fetch() { apt_private "$apt_dir" -o Dir::Cache="$apt_dir/cache" -o APT::Sandbox::User=root "$@"; }

printf 'source: fetching %s (log in %s)\n' "$package" "${apt_dir#"$PWD/"}/log"
get() { (fetch update && cd "$work" && fetch source --only-source --download-only "$package") >"$apt_dir/log" 2>&1; }
older() {
	[ "$suite" != bookworm ] && [ -z "$wanted" ] || return 1
	printf 'source: %s has no %s that can be fetched: that of bookworm\n' "$suite" "$package"
	of_suite bookworm
}
get || { older && get; } || { tail -n 20 "$apt_dir/log" >&2; die "$package could not be fetched (see above, and $apt_dir/log)"; }
found=$(find "$work" -name '*.orig.tar.*' ! -name '*.asc')
[ -f "$found" ] || die "no single upstream archive in the source package $package"
mkdir -p "$(dirname "$archive")"
mv "$found" "$archive"
found=${found%.orig.tar.*}
printf '%s\n' "${found##*_}" >"$archive.version"
added=$(find "$work" -name '*.debian.tar.*')
if [ -f "$added" ]; then
	mv "$added" "$archive.debian"
	added=${added%.debian.tar.*}
	printf '%s\n' "${added##*_}" >"$archive.debian.version"
fi
