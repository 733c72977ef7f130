#!/bin/bash
# Runs the commands of one page, README.md or of docs/, as TAP for prove. tools/docs.py says which
# blocks have commands. Each runs by bash at the top of the repository and must end with status 0
# within LIMIT seconds, else it is killed. Where the page shows the output, one line of that must
# come again: all numbers are taken to be equal, and ... stands for any text.
#   test/docs/commands.sh PAGE
#   ONLY=REGEX    in the environment: runs the commands that match, skips the others
set -u
cd "$(dirname "$0")/../.."
page=${1:?usage: test/docs/commands.sh PAGE}
LIMIT=${LIMIT:-600}
export WORK
WORK=$(mktemp -d "${TMPDIR:-/tmp}/vigil-docs.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
# What `make test-docs` was given is not for the commands.
unset MAKEFLAGS MAKELEVEL MFLAGS ARCH
count=0 failed=0

# The file's lines with a word in them, blanks and numbers made alike.
alike() { # FILE
	sed -E -e 's/\x1b\[[0-9;]*[A-Za-z]//g' -e 's/[0-9][0-9a-f,]*(\.[0-9]+)?/0/g' \
		-e 's/[ \t\r]+/ /g' -e 's/^ //' -e 's/ $//' "$1" |
		grep -E '[A-Za-z]{3}'
}

result() { # STATUS WHAT
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		failed=$((failed + 1))
		echo "not ok $count - $2"
		tail -n 25 "$WORK/output" | sed 's/^/# /'
	fi
}

tools/docs.py commands "$page" >"$WORK/commands" || {
	echo "Bail out! $page cannot be read"
	exit 1
}
while IFS=$'\t' read -r at reason shown command; do
	what="$at ${command//#/\\#}"
	if [ "$reason" = - ] && ! [[ $command =~ ${ONLY:-} ]]; then
		reason="not among those asked for"
	fi
	if [ "$reason" != - ]; then
		count=$((count + 1))
		echo "ok $count # SKIP $reason: $what"
		continue
	fi
	status=0
	timeout -k 5 "$LIMIT" bash -e -o pipefail -c "$command" </dev/null >"$WORK/output" 2>&1 ||
		status=$?
	case $status in 124 | 137) echo "commands.sh: no end within $LIMIT s" >>"$WORK/output" ;; esac
	result $status "$what"
	if [ "$shown" != - ]; then
		alike "$shown" | sed -e 's/[][\\.*^$+?(){}|]/\\&/g' -e 's/\\\.\\\.\\\./.*/g' >"$WORK/shown"
		alike "$WORK/output" >"$WORK/seen"
		grep -qxEf "$WORK/shown" "$WORK/seen"
		result $? "$at shows a line of the output"
	fi
done <"$WORK/commands"
if [ $count -eq 0 ]; then
	echo "1..0 # SKIP no commands"
else
	echo "1..$count"
fi
[ $failed -eq 0 ]
