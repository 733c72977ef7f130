# redis: BGSAVE, a fork, while keys are written; another server reads the snapshot. Then the same
# with the log of commands, which a child rewrites.
set -eu
cli() { redis-cli -s /tmp/r.sock "$@"; }
start() {
	redis-server --port 0 --unixsocket /tmp/r.sock --dir /tmp --daemonize yes --save '' \
		--ignore-warnings ARM64-COW-BUG "$@" >/tmp/said
	until [ "$(cli ping 2>/tmp/none)" = PONG ]; do sleep 0.2; done
}
stop() {
	cli shutdown nosave || :
	while [ -e /tmp/r.sock ]; do sleep 0.2; done
}
info() { cli info persistence | tr -d '\r' | grep "^$1:"; }
wait_for() { until info "$1" | grep -q ':0$'; do sleep 0.2; done; }
sum() {
	cli eval "local s = 0 for i = 1, 20000 do
			s = (s * 31 + redis.call('get', 'k' .. i) * 1) % 1000003 end
		local z = redis.call('zrange', 'z', 0, -1) return s .. ' ' .. redis.sha1hex(table.concat(z))" 0
}
start
cli eval "for i = 1, 20000 do redis.call('set', 'k' .. i, i * 7919 % 20011) end
	for i = 1, 2000 do redis.call('zadd', 'z', i * 7919 % 2003, 'm' .. i) end" 0
first=$(sum)
cli bgsave
redis-benchmark -s /tmp/r.sock -q -n 2000 -c 4 -t set -r 1000 -d 100 >/tmp/said
wait_for rdb_bgsave_in_progress
info rdb_last_bgsave_status
stop
start --appendonly no
[ "$(sum)" = "$first" ] && echo "snapshot=read"
cli config set appendonly yes
wait_for aof_rewrite_in_progress
cli set k1 4711
cli bgrewriteaof
wait_for aof_rewrite_in_progress
info aof_last_bgrewrite_status
second=$(sum)
stop
start --appendonly yes
[ "$(sum)" = "$second" ] && echo "log=read"
stop
