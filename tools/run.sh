#!/bin/sh
# `make run`: boots Vigil with the boot arguments given. Without any, runs one program twice in the
# same boot, first with plain load balancing and then with sharing-aware scheduling, and prints the
# difference by the machine's ground truth.
#
#   tools/run.sh kernel=FILE machine=NAME [smp=N] [mem=SIZE] [out=DIR] [bootargs=TEXT]
#                [telemetry=FILE] [drive=FILE | swap=SIZE] [web=PORT]
#
# drive=FILE: a disk, as tools/qemu.sh takes it. swap=SIZE: a disk made for the run: the simulated
# machine's own, in model time, or on plain QEMU swap.img in out, which takes no room until it is
# written to. web=PORT: watchd runs beside the programs, and its page is at that port of this host
# (1: 8080) until the run is interrupted. Leaves in out: console.txt, truth.txt, shmap-N.png (one for each time clusters were
# formed).
set -eu
cd "$(dirname "$0")/.."
kernel= machine=qemu smp= mem=512M out=build/out bootargs= telemetry= drive= swap= web= plugin=
for argument; do
	case $argument in
	help | --help) sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p;}' "$0"; exit 0 ;;
	kernel=* | machine=* | smp=* | mem=* | out=* | bootargs=* | telemetry=* | drive=* | swap=* | web=*)
		value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*)
		echo "run.sh: argument=${argument%%=*} reason=unknown: '$argument' is no argument (kernel=" \
			"machine= smp= mem= out= bootargs= telemetry= drive= swap= web=)" >&2
		exit 125 ;;
	esac
done
program='warehouse ms=250 steady=60'
if [ -n "$web" ]; then
	# Drawn here: the simulated machine would draw the same in every run.
	token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	watchd="watchd stay=1 token=$token"
	[ "$web" != 1 ] || web=8080
	# In front of the first program; what is set for that is set for all that run at the same time.
	case $bootargs in
	'') bootargs="-- sched.policy=cluster $watchd & warehouse ms=2000" ;;
	'-- '* | *' -- '*) bootargs="${bootargs%%-- *}-- $watchd & ${bootargs#*-- }" ;;
	*) bootargs="$bootargs -- $watchd" ;;
	esac
fi
if [ -z "$bootargs" ]; then
	if [ "$machine" = qemu ]; then
		bootargs="-- hello ; scoreboard ms=500 ; warehouse ms=500 ; private ms=500"
	else
		comparing=yes
		bootargs="-- sched.policy=default $program ; sched.policy=cluster $program"
	fi
fi
mkdir -p "$out"
if [ -n "$swap" ] && [ "$machine" != qemu ]; then
	plugin=disk=$swap
elif [ -n "$swap" ]; then
	[ -z "$drive" ] || {
		echo "run.sh: argument=swap reason=conflict: $swap: there is drive=$drive already" >&2
		exit 125; }
	drive=$out/swap.img
	rm -f "$drive"
	truncate -s "$swap" "$drive" 2>/dev/null || { \
		echo "run.sh: argument=swap reason=value: $swap: expected a size, such as 64M" >&2; exit 125; }
fi
rm -f "$out"/shmap-*.png "$out/truth.txt"
: >"$out/console.txt"
echo "run: MACHINE=$machine, boot arguments: $bootargs"
echo "run: console goes to $out/console.txt too"

# Shows the console without the picture's raw data, and a sign of life while it is silent.
begun=$(date +%s)
(
	status=0
	tools/qemu.sh kernel="$kernel" machine="$machine" ${smp:+smp=$smp} mem="$mem" out="$out" \
		${telemetry:+telemetry="$telemetry"} ${drive:+drive="$drive"} ${plugin:+plugin="$plugin"} \
		${web:+net=user,"$web":80} \
		append="$bootargs" || status=$?
	echo "$status" >"$out/status"
) | \
	awk -v file="$out/console.txt" -v web="$web" -v token="${token:-}" '
		{ sub(/\r$/, ""); print >file; fflush(file) }
		!/^shmap: tid=/ { print; fflush() }
		web && /^watchd: event=ready/ {
			print "run: the page is at http://127.0.0.1:" web "/ and its token, for knobs, is " token
			print "run: it goes on until you interrupt it"
			fflush()
		}' &
console=$!
trap 'kill $console 2>/dev/null || :' INT TERM
while kill -0 $console 2>/dev/null; do
	size=$(stat -c %s "$out/console.txt" 2>/dev/null || echo 0)
	i=0
	while [ $i -lt 100 ] && kill -0 $console 2>/dev/null; do sleep 0.1; i=$((i + 1)); done
	kill -0 $console 2>/dev/null || break
	[ "$(stat -c %s "$out/console.txt")" -ne "$size" ] || \
		echo "run: ... simulating, $(($(date +%s) - begun)) s"
done
wait $console || :
status=$(cat "$out/status")
rm -f "$out/status"

if grep -q '^shmap: tid=' "$out/console.txt"; then
	tools/shmap_png.sh "$out/console.txt" "$out/shmap"
fi
[ "$status" -eq 0 ] || { echo "run: the run ended with exit code $status"; exit "$status"; }
[ "${comparing:-no}" = yes ] || exit 0

# ---- What sharing-aware scheduling changed ----
interval() { tools/truth.sh "$out/truth.txt" "steady:$1" "end:$1"; }
{
	grep '^RESULT app=' "$out/console.txt" | sed 's/^RESULT/app/'
	for n in 1 2; do interval $n | sed 's/^/truth /'; done
	grep '^sharing: clusters ' "$out/console.txt" || :
} | awk -v machine="$machine" -v arch="${ARCH:-x86_64}" '
function value(name,   i, pair) {
	for (i = 1; i <= NF; i++) if (split($i, pair, "=") == 2 && pair[1] == name) return pair[2]
	return ""
}
$1 == "app" { n++; app = value("app"); ops[n] = value("ops_steady");
	rate[n] = value("ops_per_s_steady") }
$1 == "truth" { m++; remote[m] = value("remote"); cycles[m] = value("cycles");
	stall[m] = value("dcache_remote_l2") + value("dcache_remote_l3") }
$1 == "sharing:" { wrong = value("wrong") }
END {
	if (n != 2 || m != 2) { print "run: error: the two runs did not both report" > "/dev/stderr";
		exit 1 }
	printf "\n  %-34s %14s %14s\n", app ", after placement has settled", "default", "cluster"
	printf "  %-34s %14.0f %14.0f\n", "operations per second", rate[1], rate[2]
	printf "  %-34s %14.2f %14.2f\n", "accesses to other chips per op", remote[1] / ops[1],
		remote[2] / ops[2]
	printf "  %-34s %14.1f %14.1f\n", "cycles lost to them, percent", 100 * stall[1] / cycles[1],
		100 * stall[2] / cycles[2]
	printf "\nRESULT run arch=%s machine=%s app=%s removed_pct=%.1f gain_pct=%.1f clusters_right=%s\n", arch, machine, app,
		100 * (1 - (remote[2] / ops[2]) / (remote[1] / ops[1])), 100 * (rate[2] / rate[1] - 1),
			wrong == "0" ? "yes" : "no"
}'
