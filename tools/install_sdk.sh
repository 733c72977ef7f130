#!/bin/sh
# Installs what programs are built with outside this tree (make install-sdk): for newlib a compiler's
# wrapper, headers, libraries and a toolchain file of CMake; for any C library vigil.h, with a
# pkg-config file.
#
#   tools/install_sdk.sh PREFIX ARCH CC FLAGS NEWLIB CALLS OBJECT...
#
# PREFIX: an absolute path; FLAGS: of the instruction set; NEWLIB: its folder; CALLS: that with
# libvigil-calls.a; OBJECT: of the lower half.
set -eu
cd "$(dirname "$0")/.."
die() { printf 'install_sdk.sh: error: %s\n' "$*" >&2; exit 1; }

[ $# -ge 7 ] || die "expected PREFIX ARCH CC FLAGS NEWLIB CALLS OBJECT..."
prefix=$1 arch=$2 cc=$3 flags=$4 newlib=$5 calls=$6
shift 6
case $prefix in
/*) ;;
*) die "PREFIX=$prefix: expected an absolute path" ;;
esac
home=$prefix/$arch-vigil
mkdir -p "$prefix/bin" "$prefix/include" "$prefix/lib/pkgconfig" "$prefix/share/vigil" \
	"$home/include/vigil" "$home/lib" 2>/dev/null || die "$prefix: cannot be written to"

# vigil.h stands for itself there: the calls' numbers and structures beside it.
for folder in "$prefix/include" "$home/include/vigil"; do
	sed 's,"kernel/proc/abi\.h","vigil_abi.h",' apps/sdk/vigil.h >"$folder/vigil.h"
	install -m 644 kernel/proc/abi.h "$folder/vigil_abi.h"
done
cp -R "$newlib/include/." "$home/include/"
cp -R apps/libc/include/. "$home/include/vigil/"
install -m 644 "$newlib/lib/libc.a" "$newlib/lib/libm.a" "$home/lib/"
ar=$(echo "$cc" | sed 's/gcc$/ar/')
rm -f "$home/lib/libvigil.a"
"$ar" rcs "$home/lib/libvigil.a" "$@"
install -m 644 "$calls/instrumented/libvigil-calls.a" "$home/lib/"
install -m 644 "$calls/libvigil-calls.a" "$prefix/lib/"

sed -e "s,@ARCH@,$arch,g; s,@CC@,$cc,g; s,@FLAGS@,$flags,g" tools/vigil-cc.in \
	>"$prefix/bin/$arch-vigil-cc"
chmod 755 "$prefix/bin/$arch-vigil-cc"
cat >"$prefix/share/vigil/$arch.cmake" <<END
# A toolchain file of CMake: cmake -DCMAKE_TOOLCHAIN_FILE=$prefix/share/vigil/$arch.cmake
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR $arch)
get_filename_component(vigil_prefix "\${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(CMAKE_C_COMPILER "\${vigil_prefix}/bin/$arch-vigil-cc")
set(CMAKE_FIND_ROOT_PATH "\${vigil_prefix}/$arch-vigil")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
END
cat >"$prefix/lib/pkgconfig/vigil.pc" <<END
prefix=$prefix

Name: vigil
Description: Vigil's groups, marks and counts for programs of any C library; without Vigil they do nothing
Version: 0.1
Cflags: -I\${prefix}/include
END
cat >"$prefix/lib/pkgconfig/vigil-calls.pc" <<END
prefix=$prefix

Name: vigil-calls
Description: Records calls of functions in Vigil (./vigil phases -f)
Version: 0.1
Cflags: -finstrument-functions
Libs: -L\${prefix}/lib -lvigil-calls -pthread
END
echo "installed: $prefix/bin/$arch-vigil-cc, share/vigil/$arch.cmake, include/vigil.h, vigil.pc"
