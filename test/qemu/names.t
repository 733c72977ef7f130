#!/bin/sh
# Hosts by name: an unmodified program of Linux's and servers for names by argument and by DHCP.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/names" test/linux/names.c 2>"$work/warnings" ||
	skip_all "$compiler has no C library to be linked whole"
"$compiler" -O1 -static -o "$work/show" -x c - <<-'EOT'
	#include <stdio.h>
	int main(int argc, char **argv) {
		for (int i = 1, c; i < argc; i++)
			for (FILE *f = fopen(argv[i], "r"); f && (c = getc(f)) != EOF;) putchar(c);
		return 0;
	}
EOT
tar -C "$work" -cf "$work/initrd.tar" names show

boot smp=2 timeout=60 "initrd=$work/initrd.tar" -- net.dns=127.0.0.1 -- /names
status_is 0 "a server for names by argument"
guest_tap
boot smp=1 net=user timeout=60 "initrd=$work/initrd.tar" -- -- /show /etc/resolv.conf /etc/hosts
says '^#PROTO: DHCP$' "/etc/resolv.conf has what a DHCP server told"
says '^nameserver 10\.0\.2\.3$' "... the server for names"
says '^127\.0\.0\.1 localhost$' "/etc/hosts has localhost"
boot smp=1 net=user timeout=60 "initrd=$work/initrd.tar" -- net.dns=10.0.2.7,10.0.2.8 -- \
	/show /etc/resolv.conf
says '^nameserver 10\.0\.2\.7$' "an argument comes before DHCP"
says '^nameserver 10\.0\.2\.8$' "... with two servers"
says_not '10\.0\.2\.3' "... and no other"
mkdir "$work/etc"
echo "nameserver 10.9.9.9" >"$work/etc/resolv.conf"
tar -C "$work" -cf "$work/initrd.tar" names show etc
boot smp=1 timeout=60 "initrd=$work/initrd.tar" -- net.dns=10.0.2.7 -- /show /etc/resolv.conf
says '^nameserver 10\.9\.9\.9$' "a root's own file stays"

for wrong in 10.0.2.3,10.0.2.4,10.0.2.5 10.0.2.300 0.0.0.0 224.0.0.1 10.0.2.3, name.test; do
	boot smp=1 timeout=60 -- "net.dns=$wrong" -- hello
	status_is 2 "net.dns=$wrong"
	line "boot event=refused argument=net.dns reason=value" "... is refused"
done
says 'dhcp or A.B.C.D or A.B.C.D,A.B.C.D' "... with what is accepted"
done_testing
