#!/bin/sh
# Checks that policies are pure (make policy-check): their objects need nothing but panic, mem* and
# each other, and their headers have pointers to functions in tables alone (struct *_ops and
# *_policy), so that no policy is given a function that calls out of it.
#
#   tools/policy_check.sh NM HEADER... -- OBJECT...
set -eu
nm=$1
shift
headers=
while [ "$1" != -- ]; do
	headers="$headers $1"
	shift
done
shift

# shellcheck disable=SC2086
awk '
	FNR == 1 { of = "" }
	/^(typedef )?(struct|union) [a-z_0-9]+ \{/ { of = $2 }
	/^\}/ { of = "" }
	match($0, /\(\*[a-z_0-9]+\)\(/) && of !~ /_(ops|policy)$/ {
		print "policy-check: " FILENAME ":" FNR ": a policy may be given no function to call"
		bad = 1
	}
	END { exit bad }' $headers

# __aarch64_*: the compiler's way to an atomic instruction or, on CPUs without it, a loop.
pure=" panic memcpy memmove memset memcmp \
$("$nm" --defined-only -g "$@" | awk 'NF == 3 { print $3 }' | tr '\n' ' ') "
for object; do
	for name in $("$nm" -u "$object" | awk '$2 !~ /^__aarch64_/ { print $2 }'); do
		case $pure in *" $name "*) continue ;; esac
		echo "policy-check: $object needs $name: a policy may use only panic, mem* and other" \
			"policies" >&2
		exit 1
	done
done
echo "policy-check: $# pure files need nothing but panic, mem* and each other"
