#!/bin/sh
# What tools say of files that are not there or not what they need: one line, and a status that is
# not 0.  Nothing is booted.
. "${0%/*}/../qemu/lib.sh"

refused() { # REGEX WHAT COMMAND...
	regex=$1 what=$2 status=0
	shift 2
	"$@" >"$console" 2>&1 || status=$?
	r=0
	[ $status -ne 0 ] && [ "$(wc -l <"$console")" -eq 1 ] || r=1
	result $r "$what: one line, and a status"
	says "$regex" "... which says what is wrong"
}

refused '^mm.py: kernel=FILE is missing' "measuring without a kernel" python3 test/bench/mm.py parts=host
touch "$work/vigil.img"
refused '^mm.py: .*: expected 1 to 100' "... a size of memory that is none" python3 test/bench/mm.py kernel="$work/vigil.img" percents=50,no
refused '^mm.py: /no/kernel: no such file' "... with one that is not there" python3 test/bench/mm.py kernel=/no/kernel
refused '^mm_plot.py: /no/results: No such file' "plotting a file that is not there" python3 test/bench/mm_plot.py /no/results "$work/plot"
echo "RESULT mm.lu arch=x86_64" >"$work/results"
refused '^mm_plot.py: .*: has no line RESULT mm.policy' "... one without results that can be drawn" \
	python3 test/bench/mm_plot.py "$work/results" "$work/plot"
echo "RESULT mm.policy arch=x86_64 app=fft memory_pct=50 ns=1" >"$work/results"
refused '^mm_plot.py: .*: a line RESULT mm.policy has no policy=' "... a line without a figure" \
	python3 test/bench/mm_plot.py "$work/results" "$work/plot"

touch "$work/vigil.elf"
refused '^mm.py: .*: aarch64 boots the image' "an ELF file of the kernel on aarch64" python3 test/bench/mm.py arch=aarch64 kernel="$work/vigil.elf"

qemu() { # REGEX WHAT tools/qemu.sh arguments
	regex=$1 what=$2
	shift 2
	refused "^qemu.sh: $regex" "$what" tools/qemu.sh out="$work" "$@"
}
qemu 'kernel=/no/kernel: no such file$' "a kernel that is not there" kernel=/no/kernel
qemu "initrd=/no/initrd: no such file\$" "... nor what goes with it" kernel="$kernel" initrd=/no/initrd
qemu "initrd=.*: goes with kernel= or linux=; a disk image has its own" "... for a disk image" disk="$kernel" initrd="$kernel"
case $arch in x86_64) other=aarch64 ;; *) other=x86_64 ;; esac
qemu "kernel=.*: is for $arch, and arch=$other\$" "a kernel for another machine" kernel="$kernel" arch=$other
qemu 'arch=riscv: expected x86_64 or aarch64$' "a machine that there is not" kernel="$kernel" arch=riscv
for smp in 0 -1 two; do
	qemu "smp=$smp: expected a number of CPUs, at least 1\$" "$smp CPUs" kernel="$kernel" smp=$smp
done
qemu 'mem=many: expected a size, such as 512M or 2G$' "a size that is none" kernel="$kernel" mem=many
qemu 'mem=: expected' "... or empty" kernel="$kernel" mem=
qemu 'timeout=-1: expected a number of seconds$' "a time that is none" kernel="$kernel" timeout=-1
refused '^trace: /no/trace: no trace.s folder' "a trace that is not there" python3 tools/trace_json.py /no/trace
refused '^trace: /no/trace: no trace.s folder' "... for curves" python3 tools/trace_mrc.py /no/trace
refused '^espimage: error: usage: ' "an image of nothing" tools/espimage.sh
refused '^espimage: error: /no/loader cannot be read' "... of a loader that is not there" tools/espimage.sh /no/loader "$work/image"
refused '^espimage: error: /no/initrd cannot be read' "... of an initrd that is not there" tools/espimage.sh "$kernel" "$work/image" '' /no/initrd
refused '^run.sh: unknown argument .kernal=. \(kernel=' "a word that make run does not know" tools/run.sh kernal=
refused '^run.sh: swap=many: expected a size' "a swap disk whose size is none" tools/run.sh kernel="$kernel" out="$work" swap=many
touch "$work/file"
refused '^qemu.sh: out=.*/file: cannot be made a folder$' "a file for a folder" tools/qemu.sh kernel="$kernel" out="$work/file"

# Before it fetches a kernel: build/linux, where it keeps that, is not made.
guest() { # REGEX WHAT tools/linux-guest.sh arguments
	regex=$1 what=$2
	shift 2
	mkdir -p "$work/tree/build"
	cp -r tools "$work/tree"
	ln -sfn "$PWD/build/machine" "$work/tree/build/machine"
	printf 'build/machine/topologies: ;\n' >"$work/tree/Makefile"
	refused "^$regex" "$what" "$work/tree/tools/linux-guest.sh" "$@"
	r=0
	[ ! -e "$work/tree/build/linux" ] || r=1
	result $r "... and nothing is fetched"
}
guest "qemu.sh: no machine is called 'pdp11'; there are: " "a Linux guest on no machine" machine=pdp11 -- hello
guest 'qemu.sh: smp=two: expected a number of CPUs' "... with a number of CPUs that is none" smp=two -- hello
guest "qemu.sh: smp=99: 'openpower720' has 8 CPUs" "... with more than there are" smp=99 -- hello
guest 'qemu.sh: mem=lots: expected a size' "... with a size that is none" mem=lots -- hello
guest "linux-guest: error: swap=64: expected a size, such as 64M" "... to swap to no size" swap=64 -- hello
guest "linux-guest: error: write=page-cluster: expected FILE:TEXT" "... to write to no file" write=page-cluster -- hello
guest "linux-guest: error: arch=aarch64: goes with tree= only" "... for AArch64 without a tree" arch=aarch64 -- hello
guest "linux-guest: error: tree=/no/tree: no such file" "... with a tree that is not there" tree=/no/tree
guest "linux-guest: error: tree=.*: what to run is missing" "... with one, and nothing to run in it" tree="$work/vigil.img"
refused '^closure: error: usage' "packages of no name" tools/closure.sh amd64 "$work/packages"
guest "linux-guest: error: no program is called 'word'; there are: hello" "... with a program that there is not" -- hello status=5 ';' word

refused 'ARCH=arm64: expected x86_64 or aarch64' "make for another machine" env -u MAKEFLAGS make --no-print-directory ARCH=arm64 help
done_testing
