#!/bin/sh
# Installs packages that a build needs and this machine lacks, by name, from the mirror the machine
# is configured for. Installs nothing if none is missing.
#
#   tools/deps.sh PACKAGE...       a word NAME>=VERSION asks for that version at least
#
# The system's own source lists stay as they are: everything goes through a private list in
# build/apt, which on Debian 12 adds the backports suite of the same mirror (for QEMU 10).
set -eu
cd "$(dirname "$0")/.."
apt_dir=$PWD/build/apt

say() { printf 'deps: %s\n' "$*"; }
die() { printf 'deps: error: %s\n' "$*" >&2; exit 1; }

# Prints a package's installed version, or nothing.
installed() {
	dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null |
		sed -n 's/^installed //p'
}

find_missing() { # PACKAGE...
	missing=
	for want; do
		name=${want%%>=*}
		version=$(installed "$name")
		case $want in
		*'>='*) [ -n "$version" ] && dpkg --compare-versions "$version" ge "${want#*>=}" && continue ;;
		*) [ -n "$version" ] && continue ;;
		esac
		missing="$missing $name"
	done
}
find_missing "$@"
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null 2>&1 ||
	die "missing:$missing. They are Debian package names; this machine has no apt-get to install them with."
as_root=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null 2>&1 ||
		die "missing:$missing. Run 'apt-get install$missing' as root, then try again."
	as_root=sudo
fi
. tools/apt.sh
find_missing "$@" # another one may have installed it in the meantime
[ -n "$missing" ] || exit 0
[ "${ID:-}" = debian ] || \
	say "this is ${PRETTY_NAME:-an unknown system}; Debian 12 and 13 are what is tested"

apt_lists "$apt_dir" deb
apt() { apt_private "$apt_dir" "$@"; }

say "installing:$missing"
log=$apt_dir/log
if ! apt update >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	die "the package lists could not be fetched (see above, and $log)"
fi
# Packages that need a newer version than the release has come from backports, with their
# dependencies.
plain= newer=
for name in $missing; do
	case " $* " in *" $name>="*) newer="$newer $name" ;; *) plain="$plain $name" ;; esac
done
try_from() {
	say "  apt-get install $*  (details in build/apt/log)"
	apt install -y --no-install-recommends "$@" >>"$log" 2>&1
}
install_from() {
	try_from "$@" && return
	tail -n 20 "$log" >&2
	die "apt-get install $* failed (see above, and $log)"
}
backports=
[ "$suite" != bookworm ] || backports='-t bookworm-backports'
# A library that came from backports earlier, with QEMU, needs its headers from there, too.
if [ -n "$plain" ] && { [ -z "$backports" ] || ! try_from $plain; }; then
	install_from $backports $plain
fi
[ -z "$newer" ] || install_from $backports $newer
say "done"
