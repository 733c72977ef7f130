#!/bin/sh
# A real Prometheus reads a booted machine and answers what the Grafana dashboard asks; Go's pprof
# reads its profile.
. "${0%/*}/lib.sh"

use vigil-test
command -v prometheus >/dev/null 2>&1 || skip_all "no prometheus"
token=0123456789abcdef ms=20
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
port=$(free_port) own=$(free_port)
attach() {
	VIGIL_TOKEN=$token timeout 200 ./vigil attach "127.0.0.1:$port" --timeout 150 "$@"
}
cat >"$work/prometheus.yml" <<EOF
scrape_configs:
  - job_name: vigil
    scrape_interval: 6s
    scrape_timeout: 6s
    static_configs: [{targets: ['127.0.0.1:$port']}]
EOF
outside() {
	attach list >"$work/list"
	prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" \
		--web.listen-address="127.0.0.1:$own" >"$work/prometheus" 2>&1 &
	prometheus=$!
	python3 test/qemu/grafana_check.py "http://127.0.0.1:$own" 150 >"$work/checked" 2>"$work/failed"
	kill $prometheus
	wait $prometheus
	attach get /metrics >"$work/before"
	attach get "/debug/pprof/profile?ms=$ms" >"$work/profile"
	attach get /metrics >"$work/after"
	attach stop "$(sed -n 's/^process pid=\([0-9]*\) name=scoreboard .*/\1/p' "$work/list")"
}
outside &
boot machine=openpower720 net=user,"$port":80 timeout=500 -- \
	-- sched.policy=cluster watchd token=$token '&' scoreboard ms=100000
wait
cat "$work/failed" >&2
while read -r verdict what; do
	r=1
	[ "$verdict" != ok ] || r=0
	result $r "$what"
done <"$work/checked"
within "$(wc -l <"$work/checked")" 30 60 "all panels were asked for"
if command -v promtool >/dev/null 2>&1; then
	r=0
	promtool check metrics <"$work/after" >"$work/promtool" 2>&1 || r=1
	result $r "promtool has no complaint"
	cat "$work/promtool" >&2
fi

# Sum of a metric's values, with those labels.
total() { # FILE METRIC
	awk -v name="$2" '$1 ~ "^" name "[{]" { n += $NF } END { printf "%.0f\n", n }' "$work/$1"
}
if command -v go >/dev/null 2>&1; then
	go tool pprof -raw "$work/profile" >"$work/raw" 2>/dev/null || :
	go tool pprof -top -sample_index=cycles "$work/profile" >"$work/top" 2>/dev/null || :
	cycles=$(awk '/^ +[0-9]+ +[0-9]+: / { n += $2 } END { printf "%.0f\n", n }' "$work/raw")
	samples=$(awk '/^ +[0-9]+ +[0-9]+: / { n += $1 } END { print n + 0 }' "$work/raw")
	r=0
	grep -qx 'samples/count cycles/count' "$work/raw" || r=1
	result $r "pprof reads the profile: samples, and cycles that they stand for"
	r=0
	sed -n '/flat%/{n;p;}' "$work/top" | grep -Eq ' operate$' || r=1
	result $r "... the hottest function is the program's"
	grep -q 'scoreboard.c:[0-9]' "$work/raw" && r=0 || r=1
	result $r "... with its file and line"
	grep -q 'process:\[scoreboard\]' "$work/raw" && r=0 || r=1
	result $r "... and its process"
	within "$samples" 20 100000 "... with samples enough"
	spent=$(($(total after vigil_cycles_total) - $(total before vigil_cycles_total)))
	within "$cycles" $((ms * 8 * 1000000 / 3)) "$spent" \
		"... whose cycles are those of $ms ms of eight CPUs, no more than were counted"
fi
no_line panic "the kernel did not panic"
done_testing
