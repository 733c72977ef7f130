#!/bin/sh
# The programs on large arrays: each computes the same everywhere, with any number of threads and
# CPUs, and sees what is wrong.
. "${0%/*}/lib.sh"

# Program, a small shape, and the sum by seed 7, as any machine computes it.
cat >"$work/programs" <<'END'
fft log2n=12 057bb199a1c10726
cg rows=1000 bfd4398a6c37acff
mg n=24 06882651617e6b6b
sp n=12,steps=2 00d3845b3ab70774
ocean n=32,layout=contiguous 2e1ea3be2236c130
ocean n=32,layout=rows,tiles=6 2e1ea3be2236c130
barnes bodies=500 a68776a8c1fe8051
phylogeny sites=64,taxa=20 1d39e060d4713222
cube rows=3000 d0343987798b255d
lu n=128,layout=contiguous a62d8914600da3f9
lu n=128,layout=rows a62d8914600da3f9
END
line_of() { # COMMON: all programs, one after the other
	awk -v common="$1" \
		'{ gsub(/,/, " ", $2); printf "%s%s %s %s", n++ ? " ; " : "", $1, $2, common }' "$work/programs"
}
computed() { # WHERE
	status_is 0 "$1: every program ends"
	while read -r name shape sum; do
		line "RESULT app=$name $(echo "$shape" | tr , ' ') sum=$sum check=ok" \
			"... $name $shape: the sum is the known one"
	done <"$work/programs"
}
boot smp=1 timeout=240 -- -- "$(line_of seed=7)"
computed "1 CPU"
boot smp=8 timeout=240 -- -- "$(line_of 'seed=7 threads=8')"
computed "8 CPUs"

# Programs with their arrays are larger than that: pages go to a disk in memory and come back.
boot smp=4 timeout=240 -- disk.ram=64M swap=ram mem.process=256K -- "$(line_of 'seed=7 threads=2')"
computed "4 CPUs, 256 KB a process"
boot smp=2 timeout=240 -- disk.ram=64M swap=ram mem.process=256K -- memstat interval=20 -- mg n=24 \
	seed=7 rounds=3
for array in u r v; do
	has_cell regions "region=mg[.]$array at=[0-9a-f]+ KB=100..199 faults=0.. access=rw- policy=lru" \
		major=1.. "... the array mg.$array is a region of that name, and pages of it have been away"
done

if once; then
	boot smp=2 timeout=240 -- -- "$(line_of 'seed=7 spoil=1 threads=2')"
	while read -r name shape _; do
		line "RESULT app=$name $(echo "$shape" | tr , ' ') check=[a-z]+(_[a-z]+)+" \
			"$name $shape: a changed element is named"
	done <"$work/programs"
	r=0; [ "$(lines "exit app=.* status=1" | wc -l)" -eq "$(wc -l <"$work/programs")" ] || r=1
	result $r "... and is an error exit"
fi

refused() { # PROGRAM ARGUMENT REASON VALUE...
	program=$1 name=$2 reason=$3
	shift 3
	boot smp=1 timeout=60 -- -- "$program $*"
	status_is 2 "$program $* is refused"
	line "$program argument=$name reason=$reason" "... by name, as $reason"
}
if once; then
	refused lu layout value layout=columns
	refused lu n value n=100
	refused lu n range n=8
	refused ocean n value n=100
	refused cg degree value degree=3
	refused mg n value mb=0 n=9
	refused sp n range n=4
	refused barnes opening range opening=5
	refused phylogeny taxa range taxa=3
	refused cube support range rows=100 support=101
	refused fft log2n range log2n=27
	refused fft threads range threads=65
	refused fft n unknown n=1
fi

# More than there is memory for.
boot smp=1 mem=256M timeout=120 -- -- lu mb=1024
r=0; [ "$status" -ne 0 ] || r=1
result $r "an array that memory has no room for is an error"
done_testing
