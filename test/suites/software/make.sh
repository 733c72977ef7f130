# A C library: its configure, which tries the compiler, make with two jobs, and its own tests.
set -eu
mkdir /tmp/source
tar -xf "$1" -C /tmp/source --strip-components=1
cd /tmp/source
./configure --static
make -s -j2 libz.a example minigzip
make -s teststatic
./minigzip <zlib.h | ./minigzip -d | cmp - zlib.h && echo same
