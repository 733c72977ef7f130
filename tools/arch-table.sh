#!/bin/sh
# Prints the table of docs/extend/arch-calls.md: every call of kernel/arch/arch.h, where it is
# implemented, and its size.
#
#   tools/arch-table.sh BUILD       BUILD/x86_64 and BUILD/aarch64 hold a kernel each (make kernel
#                                   ARCH=...)
set -eu
cd "$(dirname "$0")/.."
build=${1:?usage: tools/arch-table.sh BUILD}

# Prints "CALL FILE BYTES" for the calls of an instruction set.
sizes() { # ISA NM
	find "$build/$1/fast/kernel/arch" -name '*.o' | sort | while read -r object; do
		file=${object#"$build/$1/fast/kernel/arch/"}
		"$2" -S --defined-only "$object" | awk -v file="${file%.o}.c" '$4 ~ /^arch_/ && $3 ~ /[TRD]/ {
			print $4, file, $2 }'
	done
}

# Prints the calls in the order of the contract. Inline ones are named in its first comment.
calls() {
	grep -oE '\barch_[a-z0-9_]+' kernel/arch/arch.h | awk '!seen[$0]++'
}

work=$(mktemp -d "${TMPDIR:-/tmp}/vigil-arch.XXXXXX")
trap 'rm -rf "$work"' EXIT
sizes x86_64 nm >"$work/x86_64"
sizes aarch64 aarch64-linux-gnu-nm >"$work/aarch64"
echo '| Call | x86-64 | bytes | AArch64 | bytes |'
echo '|---|---|---:|---|---:|'
calls | while read -r call; do
	for isa in x86_64 aarch64; do
		grep "^$call " "$work/$isa" ||
			{ grep -q "static inline.*[ *]$call(" "kernel/arch/$isa/arch_inline.h" && \
				echo "$call inline -"; } || echo "$call - -"
	done | awk 'NR == 1 { name = $1; a = $2; an = $3 } NR == 2 && !(a == "-" && $2 == "-") {
		printf "| `%s` | %s | %s | %s | %s |\n", name, a, an == "-" ? "" : strtonum_(an), $2,
			$3 == "-" ? "" : strtonum_($3) }
		function strtonum_(h,   i, v) {
			for (i = 1; i <= length(h); i++)
				v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1
			return v
		}'
done
