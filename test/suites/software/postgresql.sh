# PostgreSQL: a new cluster, a server of several processes, queries, two clients at once, an end.
set -eu
[ "$(id -u)" != 0 ] || exec setpriv --reuid=33 --regid=33 --clear-groups bash "$0" # under Linux
PATH=/usr/lib/postgresql/15/bin:$PATH
export PGDATA=/tmp/pg PGHOST=/tmp PGUSER=pg PGDATABASE=postgres LC_ALL=C
mkdir -m 700 /tmp/pg
initdb -A trust --no-sync -U pg >/tmp/initdb.log 2>&1 || { cat /tmp/initdb.log; exit 1; }
pg_ctl -o "-k /tmp -c listen_addresses=''" -l /tmp/log -w start >/tmp/none ||
	{ cat /tmp/log; exit 1; }
psql -At -c 'create table t as select i, md5(i::text) as m from generate_series(1, 5000) i' \
	-c 'create index on t(m)' -c 'select count(*), min(m), max(m) from t' \
	-c "begin" -c "delete from t" -c "rollback" -c "select 'rows=' || count(*) from t"
pgbench -q -i -s 1 2>/tmp/none
pgbench -c 2 -t 20 | grep -E '^number of (transactions actually|failed)'
psql -At -c "select 'balance=' || (select sum(abalance) from pgbench_accounts)
	- (select sum(delta) from pgbench_history)"
pg_ctl -w stop >/tmp/none
grep -q 'database system is shut down' /tmp/log && echo stopped
