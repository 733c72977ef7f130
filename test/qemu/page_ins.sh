#!/bin/sh
# Pages read in and verified, by the million: `make test-long`.  Runs of test/qemu/apps/paging.c,
# each from a seed of its own, one after the other, until PAGE_INS pages have been read in and
# looked at word by word, beside one that ends amid it; all else changes from seed to seed.
#   PAGE_INS=N  as many (10000000)      SEED=N  the first seed (1)      OPS=N  of each thread in a
#   run (10000)
# Every run that is right is a line in build/page-ins-ARCH-SEED.log.  Started again it goes on
# behind the last one, unless kernel or programs have changed since: then it begins anew.
. "${0%/*}/lib.sh"
first=${SEED:-1} wanted=${PAGE_INS:-10000000} ops=${OPS:-10000}
log=${B:-build}/page-ins-$arch-$first.log
is="# $arch $(cksum <"$kernel") ops=$ops"
[ "$(head -n 1 "$log" 2>/dev/null)" = "$is" ] || echo "$is" >"$log"

pick() { # N WORD...: the seed's
	shift $(($1 % ($# - 1) + 1))
	echo "$1"
}
# The sums of what has been done: pages, runs, pages verified, pages whose writing failed, seconds.
sums() {
	awk '!/^#/ { n++; p += $2; v += $3; e += $4; s += $5 } END { printf "%d %d %d %d %d\n", p, n, v, e, s }' "$log"
}

read -r done runs verified errors seconds <<-EOF
	$(sums)
EOF
[ "$runs" -eq 0 ] || echo "# goes on: $done pages from $runs seeds are done"
while [ "$done" -lt "$wanted" ] && [ $failed -eq 0 ]; do
	seed=$((first + runs)) began=$(date +%s)
	# Each with each of the others, before long.
	policy=$(pick $seed lru clock mru lirs lirs-recent arc sieve s3fifo wtinylfu wtinylfu-margin gap region chooser) prefetch=$(pick $((seed + seed / 8)) none spatial streams ppg ppg-published chooser)
	writes=$(pick $((seed / 5)) 0 500) delay=$(pick $((seed / 3)) 0 0 0 200) \
		end=$((300 + 97 * seed % 1000))
	some="memstat regions=0 -- paging pages=4000 threads=8 ops=100000000 seed=$seed end=$end"
	# The first has the kernel take what it keeps for good: objects of each kind, page tables of
	# its own.
	boot smp=8 mem=256M timeout=3600 -- "disk.ram=128M swap=ram disk.seed=$seed" \
		"disk.fail_writes=$writes disk.delay_us=$delay mem.process=8M mem.policy=$policy" \
		"mem.prefetch=$prefetch -- $some & $some ; memstat regions=0 -- hello ; $some" \
		"& memstat regions=0 -- paging pages=12000 threads=8 ops=$ops seed=$seed ; memstat regions=0" \
		"-- hello"
	guest_ok 1 "seed $seed ($policy, prefetching $prefetch, one of $writes writes fails)"
	r=0
	[ "$(lines "paging event=ends wrong=0" | wc -l)" -eq 3 ] || r=1
	result $r "... and before others ended amid it"
	# Pages that were used: a page that was read ahead counts when it is used.  KB of
	# the disk that could not be written are lost.
	pages=$({ lines pages in; lines prefetched used; lines prefetched pages | sed 's/^/-/'; } |
		awk '{ sum += $1 } END { print sum + 0 }')
	lost=$(lines swap lost_kb | tail -n 1)
	# Of memory 16 pages may be amid the kernel's objects, and so not be free yet.
	r=0
	lines "swap lost_kb=0.." free_kb >"$work/free"
	lines "memory free_kb=0.." free_kb | paste -d' ' - "$work/free" |
		awk -v lost="$lost" -v all="$(lines swap kb | tail -n 1)" -v fail=$writes '
			{ m[++n] = $1; f[n] = $2 }
			END {
				printf "# %d KB less are free\n", m[3] - m[6]
				exit !(n == 6 && m[6] + 64 >= m[3] && f[5] == f[6] && f[6] + lost == all && (fail || !lost))
			}' || r=1
	result $r "... no memory and no slot is lost"
	[ $failed -eq 0 ] || break
	echo "$seed $pages $(lines "paging event=done" verified) $((lost / 4)) $(($(date +%s) - began)) $policy $prefetch" >>"$log"
	read -r done runs verified errors seconds <<-EOF
		$(sums)
	EOF
	echo "# $done of $wanted pages read in and verified"
done
echo "# RESULT page_ins arch=$arch pages=$done seeds=$first..$((first + runs - 1)) verified=$verified write_errors=$errors seconds=$seconds"
done_testing
