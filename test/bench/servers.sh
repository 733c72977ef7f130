#!/bin/sh
# `make bench-servers`: what a request to an unmodified redis, memcached or nginx costs on the
# simulated machine, under Vigil and under Debian's Linux with the same files.
#
#   test/bench/servers.sh [arch=x86_64] [machine=openpower720] [seeds=3] [over=unix|tcp]
#                         [servers='redis memcached nginx'] [systems='SYSTEM ...']
#                         [requests=1600] [out=DIR] [results=FILE] [keep=1]
#
# A system is linux, or a scheduling policy of Vigil; POLICY-packets: with net.fusion=off. Without
# systems= it is each policy, over tcp both ways, and linux.
#
# In one boot two clients run one after the other, the second with `requests` requests more than
# the first: the difference of what the machine counted, by the number of requests, is the cost of
# one without any start. Cycles are those of all CPUs that did not idle, of servers and clients. A
# seed gives CPUs' turns other lengths. Of the seeds: the median, and the lowest and highest cycles.
# Runs whose results are in `out` are not made again. keep=1: results also if some runs fail.
set -eu
cd "$(dirname "$0")/../.."
. test/bench/servers-lib.sh
arch=x86_64 machine=openpower720 seeds=3 over=unix servers='redis memcached nginx' \
	systems= requests=1600 out= results= keep=0
for argument; do
	case $argument in
	arch=* | machine=* | seeds=* | over=* | servers=* | systems=* | requests=* | out=* | results=* | \
	keep=*) \
		value=${argument#*=}; eval "${argument%%=*}=\$value" ;;
	*) echo "servers.sh: unknown argument '$argument'" >&2; exit 125 ;;
	esac
done
[ "$over" = unix ] || : "${systems:=default cluster default-packets cluster-packets linux}"
: "${systems:=default cluster linux}" "${out:=build/bench/servers-$arch-$over}" \
	"${results:=docs/results/servers-$arch-$over.txt}"
mkdir -p "$out" "$(dirname "$results")"
out=$(cd "$out" && pwd)
conf=$out/nginx.conf few=160
write_nginx_conf "$out"
head -c 1000 /dev/zero | tr '\0' x >"$out/page.txt"

# A client with N requests. memcslap's 7 threads get each key that it has set before.
client() { # SERVER N
	at=$(place "$1")
	case $over:$1 in
	unix:redis) echo "redis-benchmark -s $at -q -c 16 -t set,get -n $(($2 / 2))" ;;
	tcp:redis) echo "redis-benchmark -p $at -q -c 16 -t set,get -n $(($2 / 2))" ;;
	*:memcached)
		[ "$over" = unix ] || at=127.0.0.1:$at
		echo "memcslap --servers=$at --test=get --concurrency=7 --execute-number=$(($2 / 8))" ;;
	unix:nginx) echo "h2load --h1 -c 16 -n $2 --base-uri=unix:$at http://here/page.txt" ;;
	tcp:nginx) echo "h2load --h1 -c 16 -n $2 http://127.0.0.1:$at/page.txt" ;;
	esac
}

# Prints the difference of the second and the first client by the number of requests.
cost() { # TRUTH
	{ tools/truth.sh "$1" client:1 served && tools/truth.sh "$1" client:2 served; } |
		awk -v n="$requests" '
		{ for (i = 1; i <= NF; i++) if (split($i, pair, "=") == 2) {
			sum[pair[1]] += NR == 1 ? -pair[2] : pair[2] } }
		END { printf "%.0f %.0f %.0f %.0f %.2f\n", sum["cycles"] / n, sum["user_cycles"] / n,
			sum["kernel_cycles"] / n, sum["instructions"] / n, sum["remote"] / n }'
}

measure() { # SERVER SYSTEM SEED
	run=$out/$1-$2-$3
	case $2 in
	linux) options='--kernel linux' ;;
	*-packets) options="--policy sched=${2%-packets} --kernel-args net.fusion=off" ;;
	*) options="--policy sched=$2" ;;
	esac
	[ ! -s "$run.cost" ] || return 0
	# shellcheck disable=SC2046,SC2086
	${SLOT:-} ./vigil run --arch "$arch" --machine "$machine" --seed "$3" $options --timeout 1500 \
		--deb "$(debs "$1")" --file "$conf" --file "$out/page.txt" --out "$run" --no-report \
		--beside "$(server_command "$1")" --await "$(place "$1")" -- \
		$(client "$1" $few) -- $(client "$1" $((few + requests))) \
		</dev/null >"$run.console" 2>"$run.errors" ||
		{ echo "servers.sh: $1 $2 seed=$3 FAILED, see $run.console" >&2; return 1; }
	cost "$run/truth.txt" >"$run.new" && mv "$run.new" "$run.cost"
	rm -f "$run/vigil.tar"
	echo "servers: $1 $2 seed=$3: $(cat "$run.cost")" >&2
}

failed=0
for server in $servers; do
	for system in $systems; do
		for seed in $(seq "$seeds"); do
			measure "$server" "$system" "$seed" || failed=1
		done
	done
done
[ $failed -eq 0 ] || [ "$keep" = 1 ] || exit 1
{
	test/bench/header.sh "make bench-servers ARCH=$arch OVER=$over SEEDS=$seeds REQUESTS=$requests" machine="$machine" arch="$arch"
	printf '%-10s %-15s %5s %8s %15s %7s %7s %7s %7s\n' server system seeds cycles low..high user \
		kernel instr remote
	for server in $servers; do
		for system in $systems; do
			ls "$out/$server-$system"-[0-9]*.cost >/dev/null 2>&1 || continue
			sort -n "$out/$server-$system"-[0-9]*.cost | awk -v server="$server" -v kind="$system" '
				{ for (i = 1; i <= NF; i++) v[NR, i] = $i }
				END {
					m = int((NR + 1) / 2)
					printf "%-10s %-15s %5d %8d %15s", server, kind, NR, v[m, 1], v[1, 1] ".." v[NR, 1]
					printf " %7d %7d %7d %7.2f\n", v[m, 2], v[m, 3], v[m, 4], v[m, 5]
				}'
		done
	done
	echo '# of one request, on all CPUs: cycles (of the median seed, of two the lower; lowest..highest);'
	echo '# of the same seed cycles in user mode and in the kernel, instructions, accesses that another'
	echo "# chip's caches served. default, cluster: Vigil with that sched.policy; packets: by lwIP's"
	echo '# loopback, not fused.'
} >"$results.new"
mv "$results.new" "$results"
cat "$results"
