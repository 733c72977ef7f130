#!/bin/sh
# Builds programs from elsewhere as their users would, for test/bench/elsewhere.txt.
#
#   test/bench/elsewhere.sh dir=SOURCES [arch=x86_64]
#
# SOURCES has any of the folders Splash-3, NPB-CPP, gapbs, STREAM and coremark, as they come, which
# stay as they are. The programs are in build/elsewhere/ARCH, with twins.f90 of this folder.
set -eu
cd "$(dirname "$0")/../.."
dir= arch=x86_64
for argument; do
	case $argument in
	dir=* | arch=*) value=${argument#*=}; eval "${argument%%=*}=\$value" ;;
	*) echo "elsewhere.sh: unknown argument '$argument'" >&2; exit 125 ;;
	esac
done
[ -d "$dir" ] || { echo "elsewhere.sh: dir='$dir': no such folder" >&2; exit 125; }
dir=$(cd "$dir" && pwd)
prefix=
[ "$arch" = "$(uname -m)" ] || prefix=$arch-linux-gnu-
out=$PWD/build/elsewhere/$arch
mkdir -p "$out"

# Copies the folder of a program anew. Returns false if there is none.
take() { # FROM TO
	[ -d "$dir/$1" ] || { echo "elsewhere.sh: no $1"; return 1; }
	rm -rf "${out:?}/$2"
	cp -r "$dir/$1" "$out/$2"
}

"${prefix}gfortran" -O2 -fopenmp test/bench/twins.f90 -o "$out/fortran"
[ ! -d "$dir/STREAM" ] ||
	"${prefix}gcc" -O2 -fopenmp -DSTREAM_ARRAY_SIZE=200000 -DNTIMES=3 "$dir/STREAM/stream.c" \
		-o "$out/stream"
[ ! -d "$dir/coremark" ] ||
	(cd "$dir/coremark" && "${prefix}gcc" -O2 -DPERFORMANCE_RUN=1 -DMULTITHREAD=4 -DUSE_PTHREAD \
		-DFLAGS_STR='"-O2"' -Iposix -I. core_*.c posix/core_portme.c -o "$out/coremark" \
		-lpthread -lrt)
if [ -d "$dir/gapbs" ]; then
	for program in bc bfs cc pr sssp tc; do
		"${prefix}g++" -std=c++11 -O2 -fopenmp "$dir/gapbs/src/$program.cc" -o "$out/gap_$program"
	done
fi
if take NPB-CPP/NPB-OMP npb; then
	mkdir -p "$out/npb/bin"
	sed -i "s/^CC *=.*/CC = ${prefix}g++ -std=c++14/; s/^CLINK *=.*/CLINK = ${prefix}g++/
		s/-march=native//; s/-mcmodel=medium//" "$out/npb/config/make.def" "$out/npb/sys/make.common"
	for program in ep cg mg ft is bt lu sp; do
		make -s -C "$out/npb" "$program" CLASS=S
		cp "$out/npb/bin/$program.S" "$out/npb_$program"
	done
fi
if take Splash-3/codes splash; then
	for folder in apps/barnes apps/fmm apps/ocean/contiguous_partitions \
		apps/ocean/non_contiguous_partitions apps/radiosity apps/raytrace apps/volrend \
		apps/water-nsquared apps/water-spatial kernels/cholesky kernels/fft \
		kernels/lu/contiguous_blocks kernels/lu/non_contiguous_blocks kernels/radix; do
		make -s -C "$out/splash/$folder" TOOLCHAIN_PREFIX="$prefix"
	done
	(cd "$out/splash/apps/barnes" && sed 's/16384/256/; s/65536/256/' inputs/n16384-p4 >small)
fi
