#!/bin/sh
# Copies objects so that the copies can be linked beside them: what they define gets a prefix, the
# name of the copy. What they only use keeps its name.
#   LD=ld NM=nm OBJCOPY=objcopy tools/instances.sh OBJECT... -- DIR/n1.o DIR/n2.o ...
# Debugging information stays with the first ones.
set -eu
objects=
while [ "$1" != -- ]; do
	objects="$objects $1"
	shift
done
shift
unit=${1%/*}/unit
# shellcheck disable=SC2086
"$LD" -r -o "$unit.o" $objects
"$OBJCOPY" --strip-debug "$unit.o"
"$NM" --defined-only --format=posix "$unit.o" | awk '$2 ~ /^[a-zA-Z]$/ && $1 !~ /^[.$]/ { print $1 }' |
	sort -u >"$unit.names"
for copy; do
	name=${copy##*/}
	awk -v prefix="${name%.o}_" '{ print $1, prefix $1 }' "$unit.names" >"$unit.renamed"
	"$OBJCOPY" --redefine-syms="$unit.renamed" "$unit.o" "$copy"
	# A copy that used a variable or function of another would work with that one's connections.
	"$NM" --undefined-only --format=posix "$copy" | cut -d ' ' -f 1 | sort -u >"$unit.used"
	shared=$(comm -12 "$unit.names" "$unit.used")
	[ -z "$shared" ] || { echo "instances.sh: $copy uses of another copy:" $shared >&2; exit 1; }
done
rm -f "$unit.o" "$unit.renamed" "$unit.used"
