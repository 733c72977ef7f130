#!/bin/sh
# Makes the kernel's font from a PC screen font (Linux, kbd, doc/font-formats): the printable ASCII
# characters, found by the file's own table of characters.
#
#   tools/font.sh FONT.psf.gz OUT.c       fonts of version 1, characters 8 pixels wide
set -eu
font=$1 out=$2
gzip -dc "$font" | od -An -v -tu1 -w1 | awk -v name="${font##*/}" '
function fail(why) { failed = 1; print "font: error: " name ": " why > "/dev/stderr"; exit 1 }
{ byte[n++] = $1 + 0 }
END {
	if (failed) exit 1
	if (n < 4 || byte[0] != 54 || byte[1] != 4) fail("not a PC screen font of version 1")
	if (int(byte[2] / 2) % 2 == 0) fail("no table of characters")
	glyphs = byte[2] % 2 ? 512 : 256
	height = byte[3]
	if (!height || n < 4 + glyphs * height) fail("cut short")
	# The characters of each glyph, two bytes each, then 0xffff; sequences of characters are
	# behind 0xfffe.
	at = 4 + glyphs * height
	for (g = 0; g < glyphs; g++) {
		single = 1
		for (; ; at += 2) {
			if (at + 1 >= n) fail("the table of characters is cut short")
			c = byte[at] + 256 * byte[at + 1]
			if (c == 65535) break
			if (c == 65534) single = 0
			else if (single && !(c in glyph)) glyph[c] = g
		}
		at += 2
	}
	print "/* " name ", made by tools/font.sh. */"
	print "#include \"kernel/dev/display/font.h\"\n"
	print "static const uint8_t rows[FONT_GLYPHS][" height "] = {"
	for (c = 32; c < 127; c++) {
		if (!(c in glyph)) fail("no character " c)
		printf "    {"
		for (y = 0; y < height; y++) printf "%d%s", byte[4 + glyph[c] * height + y],
			y < height - 1 ? ", " : "},\n"
	}
	print "};\n"
	print "const struct font console_font = {.width = 8, .height = " height ", .rows = rows[0]};"
}' >"$out.new"
mv "$out.new" "$out"
