# Sourced by the tools that install or fetch packages: apt-get on private lists, so that the
# system's stay as they are.
#
#   apt_lists DIR TYPE    Debian's own entries of the machine's configuration, in either format, as
#   TYPE (deb, deb-src)
#                         in DIR; on Debian 12 with the backports suite of the same mirror
#   apt_private DIR ...   apt-get on them
# Who sources it waits for others that have, until they end: apt-get's caches serve one at a time,
# and make starts several.
. /etc/os-release
mkdir -p build
exec 9>build/apt.lock
flock 9
suite=${VERSION_CODENAME:-}

apt_lists() {
	mkdir -p "$1/lists/partial" "$1/sources"
	rm -f "$1"/sources/*
	: >"$1/sources.list"
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -f "$file" ] || continue
		grep -Eq "^Suites:.*\\b$suite\\b" "$file" || continue
		sed "s/^Types:.*/Types: $2/" "$file" >"$1/sources/${file##*/}"
		[ "$suite" = bookworm ] || continue
		# The stanza that names the plain suite is the main archive: the same with
		# -backports.
		awk -v RS= -v suite="$suite" '$0 ~ "(^|\n)Suites:[^\n]*[ \t]" suite "([ \t\n]|$)" {
			sub(/Suites:[^\n]*/, "Suites: " suite "-backports"); print $0 "\n" }' "$1/sources/${file##*/}" \
			>>"$1/sources/backports.sources"
	done
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -f "$file" ] || continue
		sed -nE "/ $suite(-updates|-security|\/updates)? /s/^deb /$2 /p" "$file" >>"$1/sources.list"
		[ "$suite" = bookworm ] || continue
		sed -nE "s/^deb (.*) $suite( .*)/$2 \\1 $suite-backports\\2/p" "$file" >>"$1/sources.list"
	done
}

apt_private() {
	apt_dir_=$1
	shift
	${as_root:-} env DEBIAN_FRONTEND=noninteractive apt-get \
		-o Dir::Etc::sourcelist="$apt_dir_/sources.list" -o Dir::Etc::sourceparts="$apt_dir_/sources" \
		-o Dir::State::lists="$apt_dir_/lists" -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}
