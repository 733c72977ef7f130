#!/bin/sh
# Where threads run under the policies that do not watch: roundrobin goes by creation, hand by the
# groups that a program states.
. "${0%/*}/lib.sh"

boot smp=4 -- -- sched.policy=roundrobin where 10 0 20
status_is 0 "roundrobin: ten busy threads on four CPUs"
# The first thread of the process is the one that starts the others.
r=0
[ "$(sed -n 's/^RESULT where thread=\([0-9]*\) .* cpu=\([0-9]*\)$/\1 \2/p' "$console" | awk '$2 != ($1 + 1) % 4 { bad = 1 } END { print NR, bad + 0 }')" = "10 0" ] || r=1
result $r "... each is on the CPU of its turn, and stays there"

boot machine=openpower720 timeout=200 -- -- sched.policy=hand where 8 2 60
status_is 0 "hand: two stated groups of four on two chips"
# "  chip N cpu cpu | cpu cpu"
chips=$(sed -n 's/^  chip \([0-9]*\)  *\(.*\)$/\1 \2/p' "$console" | tr -d '|')
r=0
{ echo "$chips" | sed 's/^/chip /'; grep '^RESULT where ' "$console"; } | awk '
	$1 == "chip" { for (i = 3; i <= NF; i++) of[$i] = $2; next }
	{ sub("group=", "", $4); sub("cpu=", "", $5); n++; seen[$4] = seen[$4] " " of[$5] }
	END {
		for (g = 0; g < 2; g++) {
			split(seen[g], chip, " ")
			for (i = 2; i <= 4; i++) if (chip[i] == "" || chip[i] != chip[1]) bad = 1
			first[g] = chip[1]
		}
		exit !(n == 8 && !bad && first[0] != first[1])
	}' || r=1
result $r "... each group has a chip to itself"
done_testing
