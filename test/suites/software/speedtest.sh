# SQLite's speed test, which checks what it reads: compiled here, then run in each folder. What it
# has read is the same in all.
#   speedtest.sh ARCHIVE SIZE FOLDER...
set -eu
archive=$1 size=$2
shift 2
cd /tmp
tar -xf "$archive" --strip-components=2 --wildcards '*/test/speedtest1.c'
gcc -O1 -o speedtest speedtest1.c -lsqlite3
first=
for at; do
	rm -f "$at/db"
	./speedtest --size "$size" --verify "$at/db" >"/tmp/said" 2>&1 || { tail -n 5 /tmp/said; exit 1; }
	hash=$(sed -n 's/^Verification Hash: //p' /tmp/said)
	echo "$at: tests=$(grep -c '^ [0-9].*s$' /tmp/said) hash=$hash"
	[ -n "$hash" ] && [ "$hash" = "${first:-$hash}" ] || { echo "differs from $first"; exit 1; }
	first=$hash
done
echo "read=same"
