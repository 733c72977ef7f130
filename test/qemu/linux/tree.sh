#!/bin/sh
# Completes the tree of files for the tests of Linux's programs: the C library, scripts, environment.
#   test/qemu/linux/tree.sh COMPILER INTERPRETER FOLDER
set -eu
interpreter=$2 folder=$3
libc=$("$1" -print-file-name=libc.so.6)
loader=$("$1" -print-file-name="${interpreter##*/}")
[ -f "$loader" ] || loader=$interpreter
mkdir -p "$folder${interpreter%/*}" "$folder/lib" "$folder/etc" "$folder/usr/bin"
cp -L "$loader" "$folder$interpreter"
cp -L "$libc" "$folder/lib/libc.so.6"
cp "$folder/test/start.static" "$folder/usr/bin/"
mkdir -p "$folder/tmp/below" # which the kernel covers by a folder that can be written
cp "$folder/test/start.static" "$folder/tmp/"
cp "$folder/test/start.static" "$folder/tmp/below/"
cat >"$folder/etc/environment" <<END
# comment
PATH=/usr/bin:/bin
VIGIL_TEST=yes = 1
END
printf '#! /test/start.static script\n' >"$folder/test/script"
printf '#!/test/circle\n' >"$folder/test/circle"
chmod 755 "$folder/test/script" "$folder/test/circle"
echo 'int main(void) { return 0; }' |
	"$1" -x c - -Wl,--dynamic-linker=/lib/lost.so -o "$folder/test/lost"
