#!/bin/sh
# Boots an image in QEMU, on plain QEMU or on the simulated multiprocessor, and ends with the
# guest's exit code.
#
#   tools/qemu.sh kernel=build/x86_64/vigil.elf [name=value ...] [-- more QEMU options]
#
#   kernel=FILE      start FILE directly: Vigil's vigil.elf, on aarch64 vigil.img, or
#   disk=FILE        start from a raw disk image under UEFI firmware, or
#   efi=FILE         start a UEFI program under firmware, without a disk  (aarch64), or
#   linux=FILE       start a Linux kernel
#   initrd=FILE      with kernel= or linux=: a file put into memory for it; a disk has its own
#   append=TEXT      command line
#   arch=ARCH        x86_64: QEMU's q35, or aarch64: its virt  (x86_64, or ARCH of the environment)
#   machine=NAME     a simulated machine (build/machine/topologies lists them), or qemu: no
#                    simulation  (qemu)
#   smp=N[,SHAPE]    CPUs; not given: a simulated machine's own number, in its shape; on plain QEMU
#                    their shape in QEMU's words: 8,sockets=2,cores=2,threads=2  (1)
#   mem=SIZE         memory  (512M)
#   nodes=C:SIZE,..  memory nodes: the number of CPUs of each, from the first on, and its memory,
#                    together smp and mem: 3:384M,5:128M
#   cpu=MODEL        CPU model  (max; on a simulated machine
#                    x86_64: max,vendor=GenuineIntel,family=6,model=85,stepping=4,-monitor: QEMU
#                    tells guests of hardware threads in Intel's CPUID leaves only, and does not
#                    sleep in MWAIT; programs that know codes of events take it for a Skylake-SP;
#                    aarch64: neoverse-n1, of which no instruction (SVE, memory copies) accesses
#                    memory without the simulator's notice; any model's counter runs at 1 GHz, a
#                    tick a cycle)
#   gic=2|3          aarch64: version of the interrupt controller; 2 serves 8 CPUs at most  (3)
#   dtb=FILE         aarch64: a device tree in place of QEMU's own
#   devices=A+B      more devices, as QEMU's -device names them: edu+e1000e,romfile=
#   drive=FILE       a virtio disk with the contents of FILE, raw; behind a comma more of QEMU's
#                    options: FILE,readonly=on
#   share=DIR[:ro|:rw]  a folder of the host that the guest can mount, by 9P, under the tag `share`;
#                    the guest cannot write to it unless :rw
#   net=user[,PORT:PORT...]  a network of the guest's own, 10.0.2.0/24, behind which QEMU makes
#                    connections as a program of the host; each port of the host, on 127.0.0.1 only,
#                    leads to one of the guest, and ends with /udp unless it is TCP's
#   nic=CARD         the network card, with net=: a name of QEMU's -device and its options
#                    (virtio-net-pci)
#   netdump=FILE     with net=: writes all frames to FILE, for tcpdump and Wireshark
#   telemetry=FILE   a virtio console; its port 'vigil.telemetry' writes to FILE
#   board=OPTIONS    more options of QEMU's machine: acpi=off, virtualization=on
#   thread=multi     one host thread per CPU, or single: in turns (single when there are more CPUs
#                    than the host has, for then multi is several times slower; a simulated machine
#                    is always single)
#   serial=WHAT      the serial port's other end, in QEMU's words; none: nothing, on x86_64 not even
#                    a port  (stdio)
#   ending=WHAT      status: the guest ends QEMU with its exit code; off: as on hardware it can only
#                    switch the machine off, and the exit code is 0  (status)
#   icount=N         every instruction takes 2^N ns of the guest's time, and an idle guest's time
#                    jumps to the next event: the same run each time, and on aarch64 a PMU that
#                    counts instructions; not on a simulated machine, which has its own time
#   timeout=S        seconds after which QEMU is ended, with status 124  (600)
#   out=DIR          folder of truth.txt, the simulated machine's ground truth, and pages.trace, the
#                    guest's own record of page accesses (mem.record=on)  (build/out)
#   plugin=OPTIONS   more options of the simulated machine: q=2000,seed=1; a disk in model time:
#                    disk=64M (or a file), disk_latency=1000000,disk_page=4096 in cycles;
#                    a network wire in model time between two cards of the guest: wire=8 (queues),
#                    wire_latency=5000 cycles,wire_mbps=10000
#   check=only       starts nothing: checks the other arguments; the image need not exist
#
# The guest's console is on standard output and input.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
die() { printf 'qemu.sh: %s\n' "$*" >&2; exit 125; }
# A refused argument: "ARGUMENT reason=REASON KEY=VALUE...: text", of which tests read the keys.
refuse() { die "argument=$*"; }
commas() { printf '%s' "$1" | sed 's/,/,,/g'; } # within one of QEMU's options

kernel= disk= efi= linux= initrd= append= arch=${ARCH:-x86_64} gic=3 devices= drive= share= net= \
	nic=virtio-net-pci netdump= telemetry= \
	board= machine=qemu smp= mem=512M nodes= cpu= serial=stdio dtb= timeout=600 out=$top/build/out \
	plugin= shape= thread= icount= ending=status check=
while [ $# -gt 0 ]; do
	case $1 in
	--) shift; break ;;
	help | --help) sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p;}' "$0"; exit 0 ;;
	kernel=* | disk=* | efi=* | linux=* | initrd=* | append=* | arch=* | gic=* | devices=* | \
		drive=* | share=* | net=* | nic=* | netdump=* | telemetry=* | board=* | thread=* | check=* | ending=* | icount=* | machine=* | \
		smp=* | mem=* | nodes=* | cpu=* | serial=* | dtb=* | timeout=* | out=* | plugin=*)
		value=${1#*=}
		eval "${1%%=*}=\$value" ;;
	*)
		refuse "${1%%=*} reason=unknown: '$1' is no argument (kernel= disk= efi= linux= initrd=" \
			"append= arch= gic= devices= drive= share= net= nic= netdump= telemetry= board= thread= check= ending= icount=" \
			"machine= smp= mem= nodes= cpu= serial= dtb= timeout= out= plugin=)" ;;
	esac
	shift
done
mkdir -p "$out" 2>/dev/null || refuse "out reason=error: $out: cannot be made a folder"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/vigil-qemu.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# Prints the KB of a size in QEMU's words; nothing if it is not a plain size.
kib() {
	case ${1%[kKmMgG]} in '' | *[!0-9]*) return ;; esac
	case $1 in
	*[kK]) echo ${1%?} ;;
	*[gG]) echo $((${1%?} * 1048576)) ;;
	*) echo $((${1%[mM]} * 1024)) ;;
	esac
}
# Prints the least memory in KB, below which the kernel could not even report the lack. For an ELF
# file: its segments by their physical addresses, 512 KB for the firmware and a megabyte to work in.
# SeaBIOS writes 16 MB below the end of memory: that is not in the loaded contents of a large image.
# For an Image: from 2 MB on, the size in its header, then, at a multiple of 2 MB, room for the
# device tree, and two megabytes to work in.
number() { od -An -v -t u8 -j "$2" -N 8 "$1" | tr -d ' '; } # FILE OFFSET
least_kib() { # FILE
	if [ $arch = aarch64 ]; then
		[ "$(od -An -c -j 56 -N 3 "$1" | tr -d ' ')" = ARM ] || return 0
		echo $((($(number "$1" 16) + 4194303) / 2097152 * 2048 + 3072))
		return
	fi
	end=0 loaded=0 at=$(number "$1" 32) segments=$(od -An -t u2 -j 56 -N 2 "$1")
	while [ $((segments -= 1)) -ge 0 ]; do
		last=$(($(number "$1" $((at + 24))) + $(number "$1" $((at + 40)))))
		[ $last -le $end ] || end=$last
		last=$(($(number "$1" $((at + 24))) + $(number "$1" $((at + 32)))))
		[ $last -le $loaded ] || loaded=$last
		at=$((at + 56))
	done
	end=$((end / 1024 + 1536)) loaded=$(((loaded + 4095) / 4096 * 4 + 16 * 1024 + 256))
	[ $end -lt $((17 * 1024)) ] || [ $end -ge $loaded ] || end=$loaded
	echo $end
}

# Differences between the instruction sets. The guest ends QEMU with a status that differs from
# QEMU's own; see below.
case $arch in
x86_64)
	model=q35 firmware_kib=81920
	simulated_cpu=max,vendor=GenuineIntel,family=6,model=85,stepping=4,-monitor
	with_status='-device isa-debug-exit,iobase=0xf4,iosize=4'
	code=/usr/share/OVMF/OVMF_CODE_4M.fd vars=/usr/share/OVMF/OVMF_VARS_4M.fd package=ovmf ;;
aarch64)
	model=virt,gic-version=$gic firmware_kib=131072 simulated_cpu=neoverse-n1 \
		with_status='-semihosting-config enable=on,target=native'
	code=/usr/share/AAVMF/AAVMF_CODE.fd vars=/usr/share/AAVMF/AAVMF_VARS.fd package=qemu-efi-aarch64 ;;
*) refuse "arch reason=value: $arch: expected x86_64 or aarch64" ;;
esac

case $timeout in
'' | *[!0-9]*) refuse "timeout reason=value: $timeout: expected a number of seconds" ;;
esac
[ -n "$(kib "$mem")" ] || refuse "mem reason=value: $mem: expected a size, such as 512M or 2G"
for file in "kernel=$kernel" "disk=$disk" "efi=$efi" "linux=$linux" "initrd=$initrd" "dtb=$dtb"; do
	[ -z "${file#*=}" ] || [ -e "${file#*=}" ] ||
		refuse "${file%%=*} reason=missing: ${file#*=}: no such file"
done
# Prints the instruction set of an ELF file (e_machine) or an Image (its magic number); nothing for
# another file.
isa_of() { # FILE
	case $(od -An -c -N 4 "$1" | tr -d ' ') in
	177ELF) case $(od -An -t u2 -j 18 -N 2 "$1" | \
		tr -d ' ') in 62) echo x86_64 ;; 183) echo aarch64 ;; esac ;;
	*) [ "$(od -An -c -j 56 -N 3 "$1" 2>/dev/null | tr -d ' ')" != ARM ] || echo aarch64 ;;
	esac
}
[ -z "$kernel" ] || case $(isa_of "$kernel") in
'' | $arch) ;;
*)
	refuse "kernel reason=value for=$(isa_of "$kernel") arch=$arch: $kernel: another machine's" ;;
esac

# Errors that would otherwise only end in silence.
[ -z "$kernel" ] || [ $arch != x86_64 ] || [ ${#append} -le 4095 ] ||
	refuse "append reason=too-long characters=${#append} limit=4095: with kernel= on x86_64 QEMU's" \
		"firmware takes no more"
[ -z "$linux" ] || [ ${#append} -le 2047 ] || \
	refuse "append reason=too-long characters=${#append} limit=2047: Linux takes no more"
[ -z "$initrd" ] || [ -z "$disk$efi" ] || \
	refuse "initrd reason=conflict: $initrd: goes with kernel= or linux=; a disk image has its own" \
		"(tools/espimage.sh)"
least=
[ -z "$disk$efi" ] || least=$firmware_kib
[ -z "$kernel" ] || least=$(least_kib "$kernel")
[ -z "$least" ] || [ -z "$initrd" ] || least=$((least + $(stat -L -c %s "$initrd") / 1024 + 1024))
[ -z "$least" ] || [ "$(kib "$mem")" -ge "$least" ] || \
	refuse "mem reason=range least=${least}K: $mem is too little memory"

case $ending in
status) ;;
off) with_status= ;;
*) refuse "ending reason=value: $ending: expected status or off" ;;
esac

case $check in '' | only) ;; *) refuse "check reason=value: $check: expected only" ;; esac
case $smp in *,*) shape=,${smp#*,} smp=${smp%%,*} ;; esac
case $smp in
*[!0-9]* | 0*) refuse "smp reason=value: $smp: expected a number of CPUs, at least 1" ;;
esac
if [ "$machine" = qemu ]; then
	: "${smp:=1}" "${cpu:=max}"
else
	[ -z "$shape" ] || refuse "smp reason=value: $smp$shape: '$machine' has a shape of its own"
	shape=$("$top/build/machine/topologies" "$machine") ||
		refuse "machine reason=unknown: no machine is called '$machine'; there are: qemu (no" \
			"simulation), $("$top/build/machine/topologies" | awk '{ printf "%s%s", s, $1; s = ", " }')"
	read -r cpus chips cores threads <<-EOF
		$shape
	EOF
	: "${smp:=$cpus}" "${cpu:=$simulated_cpu}"
	[ $arch != aarch64 ] || cpu=$cpu,cntfrq=1000000000
	shape=,sockets=$chips,cores=$cores,threads=$threads,maxcpus=$cpus
	[ "$smp" -le "$cpus" ] || refuse "smp reason=range cpus=$cpus: $smp: '$machine' has no more"
	[ -z "$icount" ] || refuse "icount reason=conflict: $icount: a simulated machine has its own time"
	page=$scratch/registers thread=single # the simulator decides which CPU's turn it is
	truncate -s 1M "$page"
	rm -f "$out/pages.trace"
	set -- -object memory-backend-file,id=registers,size=1M,mem-path="$page",share=on \
		-device ivshmem-plain,id=machine,memdev=registers -rtc clock=vm \
		-plugin "$top/build/machine/machine.so,topology=$machine,page=$page,truth=$(commas "$out")/truth.txt,output=$(commas "$out")/pages.trace${plugin:+,$plugin}" "$@"
fi

for device in $(printf '%s' "$devices" | tr + ' '); do
	set -- "$@" -device "$device"
done

if [ -n "$drive" ]; then
	[ -e "${drive%%,*}" ] || refuse "drive reason=missing: $drive: no such file"
	set -- -drive "id=drive,if=none,format=raw,file=$drive" -device virtio-blk-pci,drive=drive "$@"
fi

if [ -n "$share" ]; then
	access=,readonly=on folder=$share
	case $share in
	*:rw) access= folder=${share%:rw} ;;
	*:ro) folder=${share%:ro} ;;
	esac
	[ -d "$folder" ] || refuse "share reason=missing: $folder: no such folder"
	set -- -fsdev "local,id=share,path=$(commas "$folder"),security_model=none,multidevs=remap$access" \
		-device virtio-9p-pci,fsdev=share,mount_tag=share "$@"
fi

# The options of the user network that forward these ports.
forwards() { # PORT:PORT[/udp]...
	for pair; do
		protocol=tcp ports=$pair
		case $pair in */udp) protocol=udp ports=${pair%/udp} ;; esac
		for port in "${ports%%:*}" "${ports#*:}"; do
			case $port in
			'' | *[!0-9]* | ??????*) return 1 ;;
			esac
			[ "$port" -ge 1 ] && [ "$port" -le 65535 ] || return 1
		done
		printf ',hostfwd=%s:127.0.0.1:%s-:%s' $protocol "${ports%%:*}" "${ports#*:}"
	done
}
case $net in
'') ;;
user | user,*)
	pairs=${net#user}
	# shellcheck disable=SC2046
	options=$(forwards $(printf '%s' "${pairs#,}" | tr , ' ')) ||
		refuse "net reason=value: $net: expected user,PORT:PORT,..., each from 1 to 65535"
	[ -z "$netdump" ] || set -- -object \
		"filter-dump,id=netdump,netdev=net,file=$(commas "$netdump")" "$@"
	set -- -netdev "user,id=net$options" -device "$nic,netdev=net,romfile=" "$@" ;;
*) refuse "net reason=value: $net: expected user, or user,PORT:PORT,..." ;;
esac

if [ -n "$telemetry" ]; then
	set -- -chardev "file,id=telemetry,path=$(commas "$telemetry")" \
		-device virtio-serial-pci,id=ports,max_ports=4 \
		-device virtserialport,bus=ports.0,chardev=telemetry,name=vigil.telemetry "$@"
fi

first=0 node=0
for part in $(printf '%s' "$nodes" | tr , ' '); do
	case $part in
	[1-9]*:[1-9]*) ;;
	*) refuse "nodes reason=value: $nodes: expected CPUS:SIZE,CPUS:SIZE" ;;
	esac
	last=$((first + ${part%:*} - 1))
	set -- -object memory-backend-ram,id=node$node,size="${part#*:}" \
		-numa node,nodeid=$node,cpus=$first-$last,memdev=node$node "$@"
	first=$((last + 1)) node=$((node + 1))
done

case $icount in
'') ;;
[0-9] | 10)
	thread=single # instructions can be counted in turns only
	[ $arch != x86_64 ] || \
		cpu=$cpu,-x2apic # QEMU reports "Bad icount read" for its registers
	set -- -icount "shift=$icount,sleep=off" "$@" ;;
*) refuse "icount reason=value: $icount: expected 0 to 10" ;;
esac
[ -z "$check" ] || exit 0
[ -n "$thread" ] || if [ "$smp" -gt "$(nproc)" ]; then thread=single; else thread=multi; fi

if [ -n "$disk$efi" ]; then
	[ -f $code ] && [ -f $vars ] || die "no UEFI firmware in ${code%/*} (package $package)"
	cp $vars "$scratch/vars.fd"
	set -- -drive if=pflash,format=raw,readonly=on,file=$code \
		-drive if=pflash,format=raw,file="$scratch/vars.fd" "$@"
fi
if [ -n "$disk" ]; then
	set -- -drive format=raw,file="$disk" "$@"
elif [ -n "$linux$kernel$efi" ]; then
	set -- -kernel "$linux$kernel$efi" ${dtb:+-dtb "$dtb"} ${initrd:+-initrd "$initrd"} \
		-append "$append" "$@"
else
	refuse "kernel reason=missing: nothing to start: kernel=, disk=, efi= or linux= is missing"
fi

status=0
timeout --foreground -k 5 "$timeout" "qemu-system-$arch" -machine "$model${board:+,$board}" \
	-accel "tcg,thread=$thread" -cpu "$cpu" -smp "$smp$shape" -m "$mem" \
	-nodefaults -display none -serial "$serial" -no-reboot $with_status "$@" || status=$?
case $status in
124 | 137) printf 'qemu.sh: ended after %s s\n' "$timeout" >&2; exit 124 ;;
esac
# isa-debug-exit ends QEMU with 2 * value + 1; Vigil's value is its exit code + 16, mod 128. An even
# status is QEMU's own. On AArch64, where semihosting's SYS_EXIT takes any status, Vigil asks for
# the same.
if [ $((status & 1)) -eq 1 ] && [ $status -ne 1 ]; then
	exit $((((status >> 1) - 16) & 127))
fi
[ $status -eq 0 ] && [ $ending = off ] && exit 0
printf 'qemu.sh: QEMU ended with status %s, not by the guest\n' "$status" >&2
exit 126
