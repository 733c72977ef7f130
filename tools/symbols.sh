#!/bin/sh
# Reads `nm -n` of the kernel, writes the assembly of its symbol table: for each function its distance from image_start,
# ascending, and its name.  Empty input gives the empty table of the first link.
set -eu
exec awk '
$3 == "image_start" { start = $1; next }
$2 ~ /^[tT]$/ && $3 !~ /^(text_start|text_end)$/ {
	address[n] = $1
	name[n++] = $3
}
END {
	print "\t.section .symbols, \"a\"\n\t.balign 8"
	print "\t.globl symbol_count, symbol_table, symbol_names"
	print "symbol_count:\n\t.quad " n + 0
	print "symbol_table:"
	for (i = 0; i < n; i++) {
		print "\t.long 0x" address[i] " - 0x" start ", " offset + 0
		offset += length(name[i]) + 1
	}
	print "symbol_names:"
	for (i = 0; i < n; i++)
		print "\t.asciz \"" name[i] "\""
	print "\t.section .note.GNU-stack, \"\", %progbits"
}'
