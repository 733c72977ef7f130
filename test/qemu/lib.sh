# What every suite in this folder starts with: boots images and checks their console, as TAP for
# prove.
#   use NAME          boot starts that one: vigil-test if not given
#   $models           machines other than QEMU's best: a word of tools/qemu.sh arguments each
#   boot [tools/qemu.sh arguments] -- boot arguments;   $more: further options for QEMU itself
#   $no_pmu           how plain QEMU has no performance counters
#   status_is N WHAT  the run's exit status is N
#   line LINE WHAT    such a line is on the console; LINE is "SUBJECT KEY=VALUE..." (below)
#   no_line LINE WHAT no such line is
#   cell TABLE ROW COLUMN   prints the values of a column in a table's rows (below)
#   has_cell TABLE ROW COLUMN=VALUE WHAT   one of them has that value
#   says REGEX WHAT;  says_not REGEX WHAT    for output that has no keys: data of programs
#   greets N REGEX WHAT     hello printed these words
#   guest_ok N WHAT         check N of a suite or program in the guest passed
#   guest_tap         checks of a program or suite in the guest become checks here
#   done_testing      the last line of each test
#   skip_all WHY      instead of all of it
#   once              true on one architecture, for code that all have in common; EVERYWHERE=1 in
#                     the environment: true on each
#   BOOT_TIMES=FILE   in the environment: adds a line there for each boot, with its time
#
# Lines that tests read have the form "SUBJECT: KEY=VALUE KEY=VALUE...: SENTENCE". The sentence is
# for people; tests read subject and keys only, so it can be reworded without touching them. LINE
# names the subject and any of the keys in any order. A VALUE is an extended regular expression (of
# mawk: without {N}) for the whole value, or LOW..HIGH for a number, of which one end may be missing.
#
# A table stands behind such a line: a header and rows, all indented, their columns separated by two
# blanks or more. TABLE names the line as LINE does, ROW the rows by values of columns, as
# "COLUMN=VALUE...", or all of them if empty. Blanks in names and values are read as "_"; " %"
# behind a number and commas between its thousands are left out.
cd "$(dirname "$0")/../.."
arch=${ARCH:-x86_64}
case $arch in
aarch64)
	image=img models="cpu=cortex-a72 cpu=neoverse-n1 gic=2 board=virtualization=on"
	no_pmu=cpu=max,pmu=off ;;
*)
	image=elf models="cpu=qemu64 cpu=EPYC cpu=max,-x2apic,-xsave,-fsgsbase"
	no_pmu= ;;
esac
use() { # NAME
	kernel=${B:-build}/$arch/$1.$image
}
# For what is the same code on every architecture, and takes long: it is looked at on this one only.
once() {
	[ "$arch" = x86_64 ] || [ -n "${EVERYWHERE:-}" ]
}
skip_all() { # WHY
	echo "1..0 # SKIP $1"
	exit 0
}
use vigil-test
work=$(mktemp -d "${TMPDIR:-/tmp}/vigil-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
console=$work/console
count=0 failed=0 status= more=

# Boots the test image; leaves its exit code in $status and its console in $console.
boot() {
	set_args= start="kernel=$kernel"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		case $1 in disk=* | efi=*) start= ;; esac
		set_args="$set_args $1"
		shift
	done
	[ $# -eq 0 ] || shift
	booted="$set_args -- $*"
	status=0
	[ -z "${BOOT_TIMES:-}" ] || { times >"$work/times"; began=$(date +%s.%N); }
	# shellcheck disable=SC2086
	tools/qemu.sh $start $set_args out="$work" append="$*" ${more:+-- $more} \
		</dev/null >"$console" 2>"$work/stderr" || status=$?
	[ -z "${BOOT_TIMES:-}" ] || note_times
	sed -i -e "/warning: TCG doesn.t support/d" \
		-e '/warning: CPU-[0-9]* and CPU-.*associated with node/d' \
		-e '/warning: nic .* has no peer/d' "$work/stderr"
	[ ! -s "$work/stderr" ] || status=125 # the launcher or QEMU itself complained
	tr -d '\r' <"$console" >"$work/plain" && mv "$work/plain" "$console"
}

# Adds a line to the file BOOT_TIMES: CPU seconds and seconds of the last boot, test, arguments.
note_times() {
	times >"$work/now"
	{ sed -n 2p "$work/times"; sed -n 2p "$work/now"; } | tr 'ms' '  ' |
		awk -v took="$(date +%s.%N) $began" -v test="${0##*/}" -v arch="$arch" -v what="$booted" '
			{ cpu[NR] = $1 * 60 + $2 + $3 * 60 + $4 }
			END {
				split(took, time, " ")
				printf "%7.1f %7.1f %s %s %s\n", cpu[2] - cpu[1], time[1] - time[2], arch, test,
					substr(what, 1, 160)
			}' >>"$BOOT_TIMES"
}

# Prints boot arguments of LENGTH characters; hello prints them to the last one.
long_line() { # LENGTH
	printf -- '-- hello status=5 %sEND' "$(head -c $(($1 - 21)) /dev/zero | tr '\0' x)"
}

result() { # STATUS WHAT...
	count=$((count + 1))
	ok=$1
	shift
	if [ "$ok" -eq 0 ]; then
		echo "ok $count - $*"
	else
		failed=$((failed + 1))
		echo "not ok $count - $*"
		echo "# not ok: $*" >&2
		echo "# booted:$booted" >&2
		grep -A 14 '^panic' "$console" | sed 's/^/#   /' >&2 || :
		uniq "$console" | tail -n "${TAIL:-25}" | sed 's/^/#   /' >&2
		sed 's/^/#   /' "$work/stderr" >&2
	fi
}
status_is() {
	r=0
	[ "$status" -eq "$1" ] || r=1
	result $r "$2 (exit $1)"
	[ $r -eq 0 ] || echo "# exit was $status" >&2
}
says() {
	r=0
	grep -Eq -- "$1" "$console" || r=1
	result $r "$2"
	[ $r -eq 0 ] || echo "# missing: $1" >&2
}
says_not() {
	r=0
	! grep -Eq -- "$1" "$console" || r=1
	result $r "$2"
}
# Prints the lines with that subject and all those keys, or only the values that they give to KEY.
lines() { # "SUBJECT KEY=VALUE..." [KEY]
	WANTED=$1 SHOWN=${2:-} awk -f test/qemu/keys.awk -f test/qemu/lines.awk "$console"
}
cell() { # "SUBJECT KEY=VALUE..." "COLUMN=VALUE..." COLUMN
	TABLE=$1 ROW=$2 COLUMN=$3 awk -f test/qemu/keys.awk -f test/qemu/cells.awk "$console"
}
has_cell() { # "SUBJECT KEY=VALUE..." "COLUMN=VALUE..." COLUMN=VALUE WHAT
	r=0
	cell "$1" "$2${2:+ }$3" "${3%%=*}" | grep -q . || r=1
	result $r "$4"
	[ $r -eq 0 ] || echo "# missing in the table $1: $2 $3" >&2
}
line() { # "SUBJECT KEY=VALUE..." WHAT
	r=0
	lines "$1" | grep -q . || r=1
	result $r "$2"
	[ $r -eq 0 ] || echo "# missing: $1" >&2
}
no_line() { # "SUBJECT KEY=VALUE..." WHAT
	r=0
	! lines "$1" | grep -q . || r=1
	result $r "$2"
}
# A program hello had N words, "[word] [word]..." as REGEX says.
greets() { # N REGEX WHAT
	r=0
	lines "hello arguments=$1" | sed 's/^[^[]*//' | grep -Eqx -- "$2" || r=1
	result $r "$3"
	[ $r -eq 0 ] || echo "# missing: hello's $1 words $2" >&2
}
# A suite or program in the guest has passed its check N.
guest_ok() { # N WHAT
	r=0
	grep -q "^ok $1 " "$console" && ! grep -q "^not ok $1 " "$console" || r=1
	result $r "$2"
}
within() { # NUMBER LOW HIGH WHAT; no number is not within
	r=0
	awk -v n="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(n != "" && n >= low && n <= high) }' || r=1
	result $r "$4 ($1, from $2 to $3)"
}
# The TAP lines a program in the guest printed become ours.
guest_tap() {
	grep -E '^(not )?ok [0-9]+' "$console" >"$work/tap" || :
	while read -r line; do
		r=0
		case $line in not*) r=1 ;; esac
		result $r "$(printf '%s\n' "$line" | sed -E 's/^(not )?ok [0-9]+ (- )?//')"
	done <"$work/tap"
	r=0
	[ -s "$work/tap" ] || r=1
	result $r "the program reported its checks"
}
done_testing() {
	echo "1..$count"
	[ $failed -eq 0 ]
}
