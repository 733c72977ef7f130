#!/bin/sh
# What tools say of files that are not there or not what they need: one line, and a status that is
# not 0.  Nothing is booted.
. "${0%/*}/../qemu/lib.sh"

refused() { # LINE WHAT COMMAND...
	keys=$1 what=$2 status=0
	shift 2
	"$@" >"$console" 2>&1 || status=$?
	sed -i 's/^Makefile:[0-9]*: [*]* *//' "$console" # make's own beginning of a line
	r=0
	[ $status -ne 0 ] && [ "$(wc -l <"$console")" -eq 1 ] || r=1
	result $r "$what: one line, and a status"
	line "$keys" "... which says what is wrong"
}

refused "mm.py argument=kernel reason=missing" "measuring without a kernel" python3 \
	test/bench/mm.py parts=host
touch "$work/vigil.img"
refused "mm.py argument=percents reason=value" "... a size of memory that is none" python3 \
	test/bench/mm.py kernel="$work/vigil.img" percents=50,no
refused "mm.py argument=kernel reason=missing" "... with one that is not there" python3 \
	test/bench/mm.py kernel=/no/kernel
refused "mm_plot.py argument=FILE reason=unreadable" "plotting a file that is not there" python3 \
	test/bench/mm_plot.py /no/results "$work/plot"
echo "RESULT mm.lu arch=x86_64" >"$work/results"
refused "mm_plot.py argument=FILE reason=empty" "... one without results that can be drawn" \
	python3 test/bench/mm_plot.py "$work/results" "$work/plot"
echo "RESULT mm.policy arch=x86_64 app=fft memory_pct=50 ns=1" >"$work/results"
refused "mm_plot.py argument=FILE reason=key kind=mm.policy key=policy" \
	"... a line without a figure" \
	python3 test/bench/mm_plot.py "$work/results" "$work/plot"

touch "$work/vigil.elf"
refused "mm.py argument=kernel reason=value" "an ELF file of the kernel on aarch64" python3 \
	test/bench/mm.py arch=aarch64 kernel="$work/vigil.elf"

qemu() { # KEYS WHAT tools/qemu.sh arguments
	keys=$1 what=$2
	shift 2
	refused "qemu.sh $keys" "$what" tools/qemu.sh out="$work" "$@"
}
qemu "argument=kernel reason=missing" "a kernel that is not there" kernel=/no/kernel
qemu "argument=initrd reason=missing" "... nor what goes with it" kernel="$kernel" initrd=/no/initrd
qemu "argument=initrd reason=conflict" "... for a disk image" disk="$kernel" initrd="$kernel"
case $arch in x86_64) other=aarch64 ;; *) other=x86_64 ;; esac
qemu "argument=kernel reason=value for=$arch arch=$other" "a kernel for another machine" \
	kernel="$kernel" arch=$other
qemu "argument=arch reason=value" "a machine that there is not" kernel="$kernel" arch=riscv
for smp in 0 -1 two; do
	qemu "argument=smp reason=value" "$smp CPUs" kernel="$kernel" smp=$smp
done
qemu "argument=mem reason=value" "a size that is none" kernel="$kernel" mem=many
qemu "argument=mem reason=value" "... or empty" kernel="$kernel" mem=
qemu "argument=timeout reason=value" "a time that is none" kernel="$kernel" timeout=-1
refused "trace argument=FOLDER reason=value" "a trace that is not there" python3 tools/trace_json.py /no/trace
refused "trace argument=FOLDER reason=value" "... for curves" python3 tools/trace_mrc.py /no/trace
refused "espimage argument=loader reason=missing" "an image of nothing" tools/espimage.sh
refused "espimage argument=loader reason=unreadable" "... of a loader that is not there" tools/espimage.sh /no/loader "$work/image"
refused "espimage argument=initrd reason=unreadable" "... of an initrd that is not there" tools/espimage.sh "$kernel" "$work/image" '' /no/initrd
refused "run.sh argument=kernal reason=unknown" "a word that make run does not know" tools/run.sh kernal=
refused "run.sh argument=swap reason=value" "a swap disk whose size is none" tools/run.sh kernel="$kernel" out="$work" swap=many
touch "$work/file"
refused "qemu.sh argument=out reason=error" "a file for a folder" tools/qemu.sh kernel="$kernel" \
	out="$work/file"

# Before it fetches a kernel: build/linux, where it keeps that, is not made.
guest() { # LINE WHAT tools/linux-guest.sh arguments
	keys=$1 what=$2
	shift 2
	mkdir -p "$work/tree/build"
	cp -r tools "$work/tree"
	ln -sfn "$PWD/build/machine" "$work/tree/build/machine"
	printf 'build/machine/topologies: ;\n' >"$work/tree/Makefile"
	refused "$keys" "$what" "$work/tree/tools/linux-guest.sh" "$@"
	r=0
	[ ! -e "$work/tree/build/linux" ] || r=1
	result $r "... and nothing is fetched"
}
guest "qemu.sh argument=machine reason=unknown" "a Linux guest on no machine" machine=pdp11 -- hello
guest "qemu.sh argument=smp reason=value" "... with a number of CPUs that is none" smp=two -- hello
guest "qemu.sh argument=smp reason=range cpus=8" "... with more than there are" smp=99 -- hello
guest "qemu.sh argument=mem reason=value" "... with a size that is none" mem=lots -- hello
guest "linux-guest argument=swap reason=value" "... to swap to no size" swap=64 -- hello
guest "linux-guest argument=write reason=value" "... to write to no file" write=page-cluster -- \
	hello
guest "linux-guest argument=arch reason=conflict" "... for AArch64 without a tree" arch=aarch64 \
	-- hello
guest "linux-guest argument=tree reason=missing" "... with a tree that is not there" tree=/no/tree
guest "linux-guest argument=command reason=missing" "... with one, and nothing to run in it" \
	tree="$work/vigil.img"
refused "closure argument=PACKAGE reason=missing" "packages of no name" \
	tools/closure.sh amd64 "$work/packages"
guest "linux-guest argument=program reason=unknown" "... with a program that there is not" -- \
	hello status=5 ';' word

refused "make argument=ARCH reason=value" "make for another machine" env -u MAKEFLAGS make \
	--no-print-directory ARCH=arm64 help
done_testing
