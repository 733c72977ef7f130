#!/bin/sh
# Unpacks Debian packages and all that they depend on, of either architecture, from the mirror the
# machine is configured for; nothing is installed, and no script of a package is run.
#
#   tools/closure.sh DEBIAN_ARCHITECTURE DIR PACKAGE...
#
# Leaves in DIR: root/ with the packages' files, where /bin, /lib, /lib64 and /sbin lead to /usr;
# control/PACKAGE/ with each package's control files; list, their names and versions.
set -eu
die() { printf 'closure: error: %s\n' "$*" >&2; exit 1; }
[ $# -ge 3 ] || {
	echo "closure: argument=PACKAGE reason=missing: closure.sh DEBIAN_ARCHITECTURE DIR PACKAGE..." >&2
	exit 1; }
architecture=$1 out=$2
shift 2
cd "$(dirname "$0")/.."
apt_dir=$PWD/build/apt/$architecture
. tools/apt.sh
command -v apt-get >/dev/null 2>&1 || die "no apt-get to fetch the packages $* with"

[ ! -e "$out/complete" ] || exit 0 # by another run, for which this one has waited

mkdir -p "$apt_dir/cache/archives/partial"
# What is installed here is of no interest there.
fetch() {
	apt_private "$apt_dir" -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$apt_dir/cache" -o APT::Sandbox::User=root \
		-o Debug::NoLocking=1 -o APT::Get::AutomaticRemove=0 "$@"
}
# Lists younger than a day serve.
if [ -z "$(find "$apt_dir/lists" -maxdepth 1 -name '*_Packages*' -mtime -1 -print -quit 2>/dev/null)" ]; then
	apt_lists "$apt_dir" deb
	fetch update >"$apt_dir/log" 2>&1 ||
		{ tail -n 5 "$apt_dir/log" >&2; die "the package lists could not be fetched (log: $apt_dir/log)"; }
fi
fetch -s --no-install-recommends install "$@" >"$apt_dir/plan" 2>"$apt_dir/log" || {
	grep '^E:' "$apt_dir/log" | head -n 3 >&2
	die "no way to have $* for $architecture"
}
fetch -y --no-install-recommends --download-only install "$@" >"$apt_dir/log" 2>&1 ||
	{ tail -n 5 "$apt_dir/log" >&2; die "$* could not be fetched (log: $apt_dir/log)"; }

rm -rf "$out"
mkdir -p "$out/root/usr" "$out/control"
for name in bin lib lib64 sbin; do
	mkdir -p "$out/root/usr/$name"
	ln -s usr/$name "$out/root/$name"
done
sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1 \2/p' "$apt_dir/plan" | sort >"$out/list"
[ -s "$out/list" ] || die "nothing is to be had for $*"
while read -r name version; do
	name=${name%%:*}
	deb=
	for file in "$apt_dir/cache/archives/${name}_$(printf '%s' "$version" | sed 's/:/%3a/g')"_*.deb; do
		[ ! -f "$file" ] || deb=$file
	done
	[ -n "$deb" ] || die "$name $version was not fetched"
	dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$out/root" ||
		die "$deb cannot be unpacked"
	dpkg-deb -e "$deb" "$out/control/$name"
done <"$out/list"
