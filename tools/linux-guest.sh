#!/bin/sh
# Runs the applications under Debian's Linux kernel, on plain QEMU or on the simulated
# multiprocessor, to compare its scheduler with Vigil's on the same machine. Ends with the programs'
# exit status; 126: the guest ended without one, as it does when its kernel panics.
#
#   tools/linux-guest.sh [name=value ...] [-- PROGRAM name=value ... [';' PROGRAM ...]]
#
#   machine=NAME        as for tools/qemu.sh, and so are smp= mem= timeout= out= icount= plugin=
#                       (openpower720)
#   pin=good|bad        bind each group's threads to one chip, or deal them over the chips; not
#                       given: Linux decides
#   mutex=adaptive      glibc's mutexes spin a while before they sleep; not given: its default ones,
#                       which sleep at once
#   swap=SIZE           the simulated machine's disk in model time, swapped to;
#                       SIZE,disk_latency=N,disk_page=N as its plugin= has them
#   disk=FILE           the same disk with the contents of FILE, as /dev/model0, and no swapping;
#                       FILE,disk_latency=N,disk_page=N as its plugin= has them
#   free=KB             memory available to the programs; the rest is taken away
#   write=FILE:TEXT,..  text written to the kernel's files beforehand: /proc/sys/vm/page-cluster:0
#   options=TEXT        more options for the Linux kernel
#   package=NAME        Debian package of the kernel  (the one linux-image-cloud-amd64 depends on)
#   arch=ARCH           x86_64, or with tree= aarch64  (x86_64)
#   tree=FILE           the guest's root is this tar archive, and command=FILE runs in it: the
#                       working directory, the path of a program and its words, program's name
#                       first, each with a zero byte behind it. Its status is on the console, as
#                       tools/linux-root.c describes
#   mark=TEXT           with tree=: stands on the console before and after the command's output
#
# Without a program everything is made ready and nothing is started. The kernel is downloaded once,
# by package name and from the mirror this machine is configured for, and unpacked into build/linux;
# nothing of it is installed.
set -eu
cd "$(dirname "$0")/.."
say() { printf 'linux-guest: %s\n' "$*" >&2; }
# A refused argument: "ARGUMENT reason=REASON: text", of which tests read the keys.
refuse() { printf 'linux-guest: argument=%s\n' "$*" >&2; exit 125; }
die() { printf 'linux-guest: error: %s\n' "$*" >&2; exit 125; }

machine=openpower720 pin= mutex= options= package= pass= swap= disk= free= write= plugin= arch=x86_64 \
	tree= command= mark=
while [ $# -gt 0 ]; do
	case $1 in
	--) shift; break ;;
	help | --help) sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p;}' "$0"; exit 0 ;;
	machine=* | pin=* | mutex=* | options=* | package=* | plugin=* | swap=* | disk=* | free=* | write=* | \
		arch=* | tree=* | command=* | mark=*)
		value=${1#*=}
		eval "${1%%=*}=\$value" ;;
	smp=* | mem=* | timeout=* | out=* | icount=*) pass="$pass $1" ;;
	*)
		refuse "${1%%=*} reason=unknown: '$1' is no argument (machine= smp= mem= timeout= out= icount= plugin=" \
			"pin= mutex= swap= disk= free= write= options= package= arch= tree= command= mark=, then" \
			"-- PROGRAM)" ;;
	esac
	shift
done
case $arch in
x86_64) dir=$PWD/build/linux debian=amd64 compiler=gcc terminal=ttyS0 ;;
aarch64)
	[ -n "$tree" ] || refuse "arch reason=conflict: aarch64 goes with tree= only"
	dir=$PWD/build/linux-aarch64 debian=arm64 compiler=aarch64-linux-gnu-gcc terminal=ttyAMA0 ;;
*) refuse "arch reason=value: $arch: accepted are x86_64, aarch64" ;;
esac
for file in "tree=$tree" "command=$command"; do
	[ -z "${file#*=}" ] || [ -r "${file#*=}" ] || refuse "${file%%=*} reason=missing: ${file#*=}: no such file"
done
[ -n "$tree" ] || [ -z "$command$mark" ] || refuse "command reason=conflict: command= and mark= go with tree="
[ -z "$tree" ] || [ -n "$command" ] || refuse "command reason=missing: tree=$tree: what to run is missing: command=FILE"
case $pin in '' | good | bad) ;; *) refuse "pin reason=value: $pin: accepted are good, bad" ;; esac
case $mutex in '' | default | adaptive) ;; *)
	refuse "mutex reason=value: $mutex: accepted are default, adaptive" ;;
esac
case $free in *[!0-9]*) refuse "free reason=value: $free: expected a number of KB" ;; esac
[ -z "$swap$disk" ] || [ "$machine" != qemu ] ||
	refuse "swap reason=conflict: $swap$disk: plain QEMU has no disk in model time"
[ -z "$swap" ] || [ -z "$disk" ] || refuse "disk reason=conflict: $disk: swap= takes the disk"
[ -z "$disk" ] || [ -r "${disk%%,*}" ] || refuse "disk reason=missing: ${disk%%,*}: no such file"
case ${swap%%,*} in '') ;; [1-9]*[kKmMgG]) ;; *)
	refuse "swap reason=value: $swap: expected a size, such as 64M" ;;
esac
for setting in $(printf '%s' "$write" | tr ' ,' '_ '); do
	case $setting in
	/*:?*) ;;
	*) refuse "write reason=value: $write: expected FILE:TEXT,FILE:TEXT, each FILE from / on" ;;
	esac
done
programs=$*
names="hello scoreboard warehouse private latency sweep" # and strings and pages, of the tests'
for name in $(printf '%s\n' "$programs" | tr ';' '\n' | sed 's/^ *//; s/ .*//'); do
	case " $names strings pages " in
	*" $name "*) ;;
	*) refuse "program reason=unknown: no program is called '$name'; there are: $names strings pages" ;;
	esac
done

# Extracts the ELF file inside a kernel image (Linux, Documentation/arch/x86/boot.rst: setup_sects,
# payload_offset, payload_length). QEMU starts it directly, so that nothing has to be decompressed
# under simulation.
unpack_kernel() {
	image=$(echo "$dir"/unpacked/boot/vmlinuz-*)
	# An arm64 Image as it is, or packed.
	if [ $arch = aarch64 ]; then
		case $(od -An -t x1 -N 2 "$image" | tr -d ' ') in
		1f8b) gzip -dc "$image" >"$dir/vmlinux" ;;
		*) cp "$image" "$dir/vmlinux" ;;
		esac
		[ "$(od -An -c -j 56 -N 3 "$dir/vmlinux" | tr -d ' ')" = ARM ] ||
			{ printf 'the kernel is no arm64 Image: %s\n' "$image"; return 1; }
		return
	fi
	field() { od -An -t "u$2" -j "$1" -N "$2" $image | tr -d ' '; }
	start=$((($(field 497 1) + 1) * 512 + $(field 584 4)))
	length=$(($(field 588 4) - 4)) # less the original size, which follows
	magic=$(od -An -t x1 -j $start -N 4 $image | tr -d ' ')
	case $magic in
	02214c18) unpack=lz4 package_of=lz4 ;;
	28b52ffd) unpack=zstd package_of=zstd ;;
	fd377a58) unpack=xz package_of=xz-utils ;;
	*) printf 'the kernel is compressed in a way that is not known: %s\n' "$magic"; return 1 ;;
	esac
	tools/deps.sh $package_of && tail -c +$((start + 1)) $image | head -c $length | \
		$unpack -dc >"$dir/vmlinux"
}

# The kernel: dir/vmlinux, and the name of its package in dir/package.
private="-o Dir::State::lists=$dir/lists -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
	-o APT::Sandbox::User=root -o Acquire::Retries=3"
[ $arch = x86_64 ] || private="$private -o APT::Architecture=$debian -o APT::Architectures=$debian \
	-o Dir::State::status=/dev/null"
fetch_kernel() {
	mkdir -p "$dir/lists/partial"
	say "fetching a Debian kernel (once; details in build/${dir##*/}/log)"
	(
		apt-get $private update || exit
		[ -n "$package" ] ||
			package=$(apt-cache $private depends linux-image-cloud-$debian | sed -n 's/^ *Depends: //p' | \
				head -n 1)
		rm -rf "$dir"/*.deb "$dir/unpacked" "$dir/package"
		(cd "$dir" && apt-get $private download "$package") && dpkg-deb -x "$dir"/*.deb "$dir/unpacked" &&
			unpack_kernel && printf '%s\n' "$package" >"$dir/package" || exit
		rm -rf "$dir"/*.deb "$dir/unpacked"
	) >"$dir/log" 2>&1 || { tail -n 20 "$dir/log" >&2; \
		die "no kernel package could be had (see above, and $dir/log)"; }
}

# Fetches the packages a driver is built with, named by the kernel's package; unpacks them, and sets
# their paths.
fetch_headers() {
	release=$(cat "$dir/package") release=${release#linux-image-}
	say "fetching what drivers for it are built with (once; details in build/${dir##*/}/log)"
	(
		apt-get $private update || exit
		parts=$(apt-cache $private depends "linux-headers-$release" | \
			sed -n 's/^ *Depends: \(linux-headers\|linux-kbuild\)/\1/p')
		rm -rf "$dir/headers" && mkdir -p "$dir/headers" && cd "$dir/headers" &&
			apt-get $private download "linux-headers-$release" $parts || exit
		for deb in *.deb; do dpkg-deb -x "$deb" . || exit; done
		sed -i "s|/usr/src|$dir/headers/usr/src|" "usr/src/linux-headers-$release/Makefile" || exit
		rm -f *.deb
		echo "$release $dir" >release
	) >>"$dir/log" 2>&1 || { tail -n 20 "$dir/log" >&2; \
		die "no headers of the kernel could be had (see above, and $dir/log)"; }
}

# Builds the driver of the simulated machine's disk.
build_driver() {
	release=$(cat "$dir/package") release=${release#linux-image-}
	[ "$(cat "$dir/headers/release" 2>/dev/null)" = "$release $dir" ] || fetch_headers
	module=$dir/module
	mkdir -p "$module/kernel/dev/model" "$module/kernel/lib"
	cp tools/linux-disk.c "$module/model.c"
	cp kernel/dev/model/machine.h "$module/kernel/dev/model/"
	echo '#include <linux/types.h>' >"$module/kernel/lib/base.h"
	printf 'obj-m := model.o\nccflags-y := -I$(src)\n' >"$module/Kbuild"
	make -s -C "$dir/headers/usr/src/linux-headers-$release" M="$module" modules >"$module/log" 2>&1 ||
		{ cat "$module/log" >&2; die "the driver of the machine's disk cannot be built (see above)"; }
	cp "$module/model.ko" "$dir/root/model.ko"
}

# Builds the programs and init, linked statically, and the archive in which the kernel finds them.
build_programs() {
	[ -f "$dir/initrd" ] && { [ -z "$swap$disk" ] || [ -f "$dir/root/model.ko" ]; } && \
		[ -z "$(find apps test/qemu/apps/strings.c test/linux/pages.c tools/linux-init.c tools/linux-disk.c \
		kernel/lib/base.h kernel/lib/nearest.h kernel/dev/model/machine.h tools/linux-guest.sh \
		-newer "$dir/initrd" -print -quit)" ] && return
	mkdir -p "$dir/root/bin" "$dir/root/dev" "$dir/root/proc" "$dir/root/sys"
	flags="-std=gnu11 -O2 -g -static -pthread -I. -Wall -Wextra -Werror -Wl,--wrap=pthread_mutex_init"
	for name in $names; do
		gcc $flags -s -o "$dir/root/bin/$name" apps/workloads/$name/*.c apps/common/*.c apps/linux/*.c -lm
	done
	gcc $flags -D_GNU_SOURCE -s -o "$dir/root/bin/strings" test/qemu/apps/strings.c
	gcc $flags -s -o "$dir/root/bin/pages" test/linux/pages.c
	gcc $flags -s -o "$dir/root/init" tools/linux-init.c
	[ -z "$swap$disk" ] || build_driver
	(cd "$dir/root" && find . | cpio --quiet -o -H newc) >"$dir/initrd"
}

# Builds the first process for a user's tree, and the archive of both.
build_tree() {
	mkdir -p "$dir"
	if [ ! -f "$dir/init" ] || [ -n "$(find tools/linux-root.c tools/linux-machine.h kernel/dev/model/machine.h -newer "$dir/init")" ]; then
		$compiler -std=gnu11 -O2 -g -static -I. -Wall -Wextra -Werror -D_GNU_SOURCE -s -o "$dir/init.new" \
			tools/linux-root.c && mv "$dir/init.new" "$dir/init" || die "the first process cannot be built"
	fi
	tools/initramfs.py "$tree" "$archive" /init="$dir/init" /.vigil/command="$command" || exit 125
}

# Checked before anything is fetched: QEMU's arguments, and that there are such programs.
[ "$machine" = qemu ] || make -s build/machine/topologies
# QEMU's device edu lends the disk an interrupt.
[ -z "$swap$disk" ] || plugin="${plugin:+$plugin,}disk=$swap$disk" pass="$pass devices=edu"
tools/qemu.sh check=only arch=$arch machine="$machine" linux=/dev/null $pass plugin="$plugin" \
	append="$programs" || exit

case $arch in
x86_64) tools/deps.sh gcc libc6-dev cpio 'qemu-system-x86>=1:10' ;;
aarch64) tools/deps.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross 'qemu-system-arm>=1:10' ;;
esac >&2
have=$(cat "$dir/package" 2>/dev/null) || have=
[ -n "$have" ] && [ "${package:-$have}" = "$have" ] || fetch_kernel
if [ -n "$tree" ]; then
	# Beside the tree, under a name of its own, for runs at the same time; gone at the end.
	archive=$(mktemp "${TMPDIR:-/tmp}/vigil-linux.XXXXXX")
	trap 'rm -f "$archive"' EXIT
	trap 'exit 130' INT TERM
	build_tree
else
	build_programs
fi
[ -n "$programs$tree" ] || { say "ready: $(cat "$dir/package")"; exit 0; }

# Scheduling is Linux's default. What is switched off only costs time under simulation or reacts to
# the simulation's speed: watchdogs, self-tests, checks of clocks against each other, workarounds
# for faults this processor lacks. A simulated machine's clock runs at 1 GHz: lpj is that by 250
# timer ticks a second, so that it is not measured.
quick="quiet loglevel=3 panic=-1 norandmaps mitigations=off nowatchdog tsc=reliable no_timer_check random.trust_cpu=on \
cryptomgr.notests"
if [ "$machine" != qemu ]; then
	make -s machine
	quick="$quick lpj=4000000"
fi
if [ -n "$tree" ]; then
	status=0
	tools/qemu.sh arch=$arch machine="$machine" linux="$dir/vmlinux" initrd="$archive" ending=off $pass \
		plugin="$plugin" append="console=$terminal $quick $options${mark:+ VIGIL_MARK=$mark}" || status=$?
	exit $status
fi
exec tools/qemu.sh machine="$machine" linux="$dir/vmlinux" initrd="$dir/initrd" $pass \
	plugin="$plugin" \
	append="console=ttyS0 $quick $options${pin:+ HPM_PIN=$pin}${mutex:+ HPM_MUTEX=$mutex}${swap:+ HPM_SWAP=1}${disk:+ HPM_DISK=1}${free:+ HPM_FREE=$free}${write:+ HPM_WRITE=$write} -- $programs"
