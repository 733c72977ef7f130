#!/bin/sh
# PostgreSQL, a program of processes that share memory and no address space, under the placement
# policies: Debian's server and its pgbench, eight clients that read, over AF_UNIX.
#
#   test/bench/postgresql.sh [name=value ...]
#
#   machine=NAME smp=N    simulated machine  (openpower720 8)
#   seconds=N             of model time, after the tables are filled  (1)
#   policies=NAMES        sched.policy, one boot each  (default cluster)
#   results=FILE          (docs/results/postgresql.txt)
#
# Columns: transactions a second of model time; of all cycles those that waited for another chip's
# caches; detections of the server's processes, samples, threads that were moved.
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'postgresql.sh: error: %s\n' "$*" >&2; exit 1; }

machine=openpower720 smp=8 seconds=1 policies='default cluster' \
	results=docs/results/postgresql.txt
given="$*"
for argument in "$@"; do
	case $argument in
	machine=* | smp=* | seconds=* | policies=* | results=*)
		value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (machine= smp= seconds= policies= results=)" ;;
	esac
done
out=$PWD/build/out/postgresql
mkdir -p "$out"
cat >"$out/pg.sh" <<'END'
set -eu
PATH=/usr/lib/postgresql/15/bin:$PATH
export PGDATA=/tmp/pg PGHOST=/tmp PGUSER=pg PGDATABASE=postgres LC_ALL=C
mkdir -m 700 /tmp/pg
initdb -A trust --no-sync -U pg >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
pg_ctl -o "-k /tmp -c listen_addresses='' -c fsync=off -c autovacuum=off" -l /tmp/log -w start \
	>/tmp/none || { cat /tmp/log; exit 1; }
pgbench -q -i -s 1 2>/tmp/none
pgbench -n -S -c 8 -j 2 -T "$1"
pg_ctl -w stop >/tmp/none
END
: >"$out/table"
for policy in $policies; do
	rm -rf "$out/run"
	(cd "$out" && "$OLDPWD/vigil" run --machine "$machine" --smp "$smp" --mem 1G --timeout 3000 \
		--deb postgresql-15,bash,dash,coreutils,grep --report --out run --file pg.sh \
		--kernel-args "proc.user=33 sched.policy=$policy" -- bash pg.sh "$seconds") \
		>"$out/stdout" 2>"$out/stderr" </dev/null || die "$policy: see $out/stdout, stderr"
	awk -v policy="$policy" '
	/^tps = / { tps = $3 }
	/failed transactions: [^0]/ { failed = 1 }
	/waited for data of:/ {
		n = split($0, part, ",")
		for (i = 1; i <= n; i++)
			if (part[i] ~ /another chip.s (second|third) cache/) {
				match(part[i], /[0-9.]+ %/)
				remote += substr(part[i], RSTART, RLENGTH)
			}
	}
	/^sharing: account/ {
		for (i = 2; i <= NF; i++) { split($i, pair, "="); sum[pair[1]] += pair[2] }
	}
	END {
		if (!tps || failed) exit 1
		printf "%-10s %10.0f %9.1f %11d %8d %6d\n", policy, tps, remote, sum["detections"],
			sum["samples"], sum["migrations"]
	}' "$out/stdout" "$out/stderr" "$out/run/console.txt" >>"$out/table" ||
		die "$policy: no result: see $out/stdout, stderr"
	echo "postgresql: $policy"
done
{
	test/bench/header.sh "test/bench/postgresql.sh${given:+ $given}" machine="$machine" arch=x86_64 \
		smp="$smp" seconds="$seconds" "postgresql=$(sed -n 's/^pgbench (\([0-9.]*\) .*/\1/p' "$out/stdout")"
	printf '%-10s %10s %9s %11s %8s %6s\n' policy tps remote_pct detections samples moved
	cat "$out/table"
} >"$out/results"
cp "$out/results" "$results"
cat "$results"
