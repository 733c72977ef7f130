# Python's own tests, a module after the other: a line with counts each, and one for each failure.
#   python.sh 'MODULE ARGUMENTS'...
set -u
cd /tmp
for words; do
	t=${words%% *}
	# shellcheck disable=SC2086
	timeout -k 5 540 python3 -m test.$words >"/tmp/$t.log" 2>&1
	status=$?
	awk -v name="$t" -v status="$status" '
		/^(FAIL|ERROR): / { failures[++bad] = $0 }
		/^Ran / { run = $2 }
		match($0, /skipped=[0-9]+/) { skipped = substr($0, RSTART + 8, RLENGTH - 8) }
		END {
			printf "%s: status=%d run=%d bad=%d skipped=%d\n", name, status, run, bad, skipped
			for (i = 1; i <= bad; i++) print "  " failures[i]
		}' "/tmp/$t.log"
	[ "$status" -ne 124 ] || tail -n 5 "/tmp/$t.log"
done
