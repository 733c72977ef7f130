#!/bin/sh
# A folder of the host, by 9P: read-only and written to, what is refused, and that nothing of it is
# held at the end.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
mkdir "$work/tree" "$work/host"
"$compiler" -O1 -static -o "$work/tree/shared" test/linux/share.c
"$compiler" -O1 -static -o "$work/tree/locks" test/linux/locks.c
tar -C "$work/tree" -cf "$work/initrd.tar" .

host=$work/host
mkdir -p "$host/sub/deep" "$host/many"
echo hello >"$host/file"
touch -d @1000000000 "$host/file"
ln -s file "$host/link"
head -c 300000 /dev/urandom >"$host/big"
(cd "$host/many" && seq -f 'a name of some length %g' 300 | while read -r name; do : >"$name"; done)

boot smp=2 timeout=60 initrd="$work/initrd.tar" share="$host" -- share=share -- /shared ro
status_is 0 "a folder of the host, read-only"
guest_tap
line "share event=ready tag=share at=/share access=ro" "a line says where it is"
line "share event=end files=1..2" "no file of the host is held but the root"

boot smp=2 timeout=60 initrd="$work/initrd.tar" share="$host:rw" -- share=share:rw -- /shared rw
status_is 0 "a folder of the host that is written to"
guest_tap
line "share event=end files=1..2" "no file of the host is held but the root"
boot smp=2 timeout=60 initrd="$work/initrd.tar" share="$host:rw" -- share=share:rw -- /locks /share
status_is 0 "locks, second names and times there"
guest_tap
line "share event=end files=1..2" "no file of the host is held but the root"
rm -f "$host/locked"
boot smp=2 timeout=60 initrd="$work/initrd.tar" -- -- /locks
status_is 0 "locks, second names and times in memory"
guest_tap
r=0; [ "$(cat "$host/kept")" = "from the guest" ] || r=1
result $r "what was written is the host's"
r=0; seq -f 'line %05g' 0 2999 | cmp -s - "$host/mapped" || r=1
result $r "... and what was stored to a mapping"
rm -f "$host/mapped"
r=0; [ "$(ls "$host" | tr '\n' ' ')" = "big file kept link many sub " ] || r=1
result $r "... and what was removed is not"

# The host changes files meanwhile.
echo one >"$host/growing"
(
	for _ in $(seq 300); do
		grep -q "the host's turn" "$console" && break
		sleep 0.1
	done
	echo two >>"$host/growing"
	echo changed by the host >"$host/file"
) &
boot smp=2 timeout=60 initrd="$work/initrd.tar" share="$host" -- share=share -- /shared waits
wait
status_is 0 "what the host changes"
guest_tap
echo hello >"$host/file"
touch -d @1000000000 "$host/file"

# The host looks at what was stored to a mapping while it goes on.
(
	for _ in $(seq 300); do
		grep -q "the host's turn" "$console" && break
		sleep 0.1
	done
	seq -f 'line %05g' 0 2999 | cmp -s - "$host/synced" && echo same >"$host/answer"
) &
boot smp=2 timeout=60 initrd="$work/initrd.tar" share="$host:rw" -- share=share:rw -- /shared sync
wait
status_is 0 "what was stored to mappings is the host's after sync"
guest_tap
rm -f "$host/synced" "$host/answer"

# A mapping of four times the memory: pages go to slots and return before they are the host's; or,
# without a disk, to the host.
for swap in 'swap=ram disk.ram=16M' ''; do
	head -c 8388608 /dev/urandom >"$host/much"
	cp "$host/much" "$work/before"
	boot smp=2 timeout=120 initrd="$work/initrd.tar" share="$host:rw" -- \
		share=share:rw mem.user=2M $swap -- /shared much
	status_is 0 "a mapping larger than memory is stored to, ${swap:-without a disk}"
	guest_tap
	line "share event=end files=1..2" "no file of the host is held but the root"
	r=0; python3 - "$work/before" "$host/much" <<'END' || r=1
import sys
was, now = (bytearray(open(path, "rb").read()) for path in sys.argv[1:])
for page in range(0, len(was), 4096):
    was[page] = (was[page] + 1) % 256
    if page // 4096 % 3 == 0:
        was[page + 1] = ord("w")
sys.exit(was != now)
END
	result $r "... and all of it is the host's"
done

cp "$work/tree/shared" "$host/program"
boot smp=2 timeout=60 share="$host" -- share=share -- /share/program ro
status_is 0 "a program of the folder is run"
guest_tap

boot timeout=60 -- share=other -- hello
status_is 2 "a tag that no device has ends the run"
line "share event=refused tag=other reason=unknown" "... and a line says so"
boot timeout=60 -- share=share:wr -- hello
status_is 2 "an access that there is not ends it"
line "boot event=refused argument=share reason=value" "... and a line says what is accepted"
boot timeout=60 share="$host" initrd="$work/initrd.tar" -- share=share=/shared -- hello
status_is 2 "a path at which a file is ends it"
line "share event=refused tag=share reason=path" "... and a line says so"
boot timeout=60 share="$host" -- share=share=/mnt/host -- files
line "share event=ready tag=share at=/mnt/host" "it can be at another path"
done_testing
