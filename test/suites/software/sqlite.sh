# SQLite: a table, an index, transactions, one of which is rolled back, checks; with each kind of
# journal.
set -eu
at=$1
for mode in $2; do
	rm -f "$at/db"
	sqlite3 "$at/db" <<.
pragma journal_mode=$mode;
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
	insert into t select i, hex(i * 7919 % 5003), i / 3.0 from n;
create index t_b on t(b);
begin; delete from t where a % 3 = 0; update t set b = b || 'x' where a % 5 = 0; rollback;
begin; delete from t where a % 7 = 0; update t set b = b || 'x' where a % 5 = 0; commit;
.
	sqlite3 "$at/db" 'pragma integrity_check; select count(*), sum(a), max(b) from t; vacuum;
		pragma integrity_check'
done
