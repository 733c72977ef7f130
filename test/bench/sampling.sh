#!/bin/sh
# Part of `make bench-hpm`: how evenly samples fall on the eight stores of a loop, on the simulated
# machine, with a fixed period and with random primes around it. All stores miss the first-level
# cache, so each should have an eighth of the samples.
#
#   test/bench/sampling.sh kernel=FILE [machine=NAME] [quick=1] [out=DIR] [results=FILE]
#
# criterion: l1d.miss, a counter's interrupts; access.any, records of the hardware, with another
# prime up to ten times a second. Means from 997 to 1,003 events, about 10,650 samples each: buffers
# hold 11,410, and the primes of a run may be some per cent below their mean.
#
# Columns:
#   ratio    samples of the most sampled store to those of the least, half a sample added to both
#   missed   number of the eight stores without a sample
#   .all     ratio_worst of one mean, and the ratio of all samples together
#   chance   median ratio if each sample took one of the stores at random: about 1.03 for all
#            together, so that a larger bias would be seen
set -eu
cd "$(dirname "$0")/../.."
arch=${ARCH:-x86_64}
kernel= machine=openpower720 quick=0 out=build/bench/sampling-$arch \
	results=docs/results/sampling-$arch.txt jobs=$(nproc)
for argument; do
	case $argument in
	kernel=* | machine=* | quick=* | out=* | results=* | jobs=*) value=${argument#*=}; \
		eval "${argument%%=*}=\$value" ;;
	*) echo "sampling.sh: unknown argument '$argument'" >&2; exit 125 ;;
	esac
done
periods='997 998 999 1000 1001 1002 1003'
if [ "$quick" = 1 ]; then periods='999 1000' results=build/bench/sampling-quick.txt; fi
mkdir -p "$out" "$(dirname "$results")"

one() { # CRITERION PERIOD on|off
	dir=$out/$1-$2-$3
	mkdir -p "$dir"
	rm -f "$dir/done"
	${QEMU:-tools/qemu.sh} kernel="$kernel" machine="$machine" smp=1 out="$dir" timeout=300 \
		append="hpm.breakdown=off hpm.primes=$3 -- stores criteria=$1:u@$2 passes=1300" </dev/null \
		2>"$dir/stderr" | tr -d '\r' >"$dir/console.txt" || :
	grep -q '^RESULT app=stores .* lost=0 throttled=0 .* check=ok$' "$dir/console.txt" && \
		: >"$dir/done" && return
	echo "bench: $1 $2 $3 FAILED, see $dir" >&2
	return 1
}

if [ "${one:-}" ]; then # one run of the list, by xargs below
	# shellcheck disable=SC2086
	one $one
	exit
fi

for primes in on off; do
	for criterion in l1d.miss access.any; do
		for period in $periods; do
			echo "$criterion $period $primes"
		done
	done
done >"$out/list"
failed=0
echo "bench: $(wc -l <"$out/list") runs, $jobs at a time"
xargs -P "$jobs" -d '\n' -I '{}' env one='{}' "$0" kernel="$kernel" machine="$machine" \
	quick="$quick" out="$out" <"$out/list" || failed=1
{
	test/bench/header.sh "make bench-hpm ARCH=$arch" machine="$machine" arch="$arch"
	while read -r criterion period primes; do
		dir=$out/$criterion-$period-$primes
		[ ! -e "$dir/done" ] || sed -n "s/^RESULT app=stores /$criterion $period $primes /p" \
			"$dir/console.txt"
	done <"$out/list" | awk -v arch="$arch" -v machine="$machine" '
		function field(name) { match($0, " " name "=[^ ]*");
			return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) }
		# Two stores with n samples each differ as independent counts do, by sqrt(n) each.
		# The median range of eight normal values is 2.81 of that.
		function chance(n) { return 1 + 2.81 / sqrt(n / 8) }
		function ratio() { return (field("most") + 0.5) / (field("least") + 0.5) }
		{
			n = split(field("by_store"), store, ",")
			for (missed = i = 0; ++i <= n;) missed += store[i] == 0
			all = $1 " " ($3 == "on" ? "primes" : "fixed")
			for (i = 1; i <= n; i++) total[all, i] += store[i]
			kind = $3 == "on" ? "primes" : "fixed"
			printf "RESULT hpm.bias arch=%s machine=%s criterion=%s periods=%s mean=%d samples=%d by_store=%s ratio=%.2f chance=%.2f missed=%d\n",
				arch, machine, $1, kind, $2, field("samples"), field("by_store"), ratio(),
					chance(field("samples")), missed
			if (!(all in worst)) order[++alls] = all
			if (ratio() > worst[all]) worst[all] = ratio()
			sum[all] += missed; runs[all]++
		}
		END {
			for (i = 1; i <= alls; i++) {
				split(order[i], name, " ")
				most = all = 0; least = total[order[i], 1]
				for (j = 1; j <= 8; j++) {
					n = total[order[i], j]; all += n
					if (n > most) most = n
					if (n < least) least = n
				}
				printf "RESULT hpm.bias.all arch=%s machine=%s criterion=%s periods=%s means=%d ratio_worst=%.3f missed_percent=%.1f samples_per_site=%d ratio=%.4f chance=%.4f\n",
					arch, machine, name[1], name[2], runs[order[i]], worst[order[i]],
						100 * sum[order[i]] / (8 * runs[order[i]]), all / 8, (most + 0.5) / (least + 0.5), chance(all)
			}
		}'
} >"$out/results" || failed=1
cat "$out/results"
[ "$failed" = 0 ] || { echo "bench: $results stays as it was" >&2; exit 1; }
mv "$out/results" "$results"
