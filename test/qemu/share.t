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
r=0; [ "$(ls "$host" | tr '\n' ' ')" = "big file kept link many sub " ] || r=1
result $r "... and what was removed is not"

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
