#!/bin/sh
# ./vigil: what it refuses, and runs of bundled programs in Vigil: output to the byte, statuses,
# ends. Unmodified programs on both kernels, on Linux if that has been fetched (tools/linux-guest.sh).
. "${0%/*}/../qemu/lib.sh"

vigil() { # WORDS... ; leaves output in $console, standard error in $work/stderr
	booted=" ./vigil $*"
	status=0
	./vigil "$@" <"${input:-/dev/null}" >"$console" 2>"$work/stderr" || status=$?
}
refused() { # REGEX WHAT WORDS...
	regex=$1 what=$2
	shift 2
	vigil "$@"
	mv "$work/stderr" "$console"
	: >"$work/stderr"
	r=0
	[ $status -eq 125 ] && [ "$(wc -l <"$console")" -eq 1 ] || r=1
	result $r "$what: one line, and status 125"
	says "^vigil: $regex" "... which says what is wrong"
}
gone() { # WHAT: no process has this test's folder among its words
	sleep 0.2
	r=0
	! grep -aqs "$work" /proc/[0-9]*/cmdline 2>/dev/null || r=1
	result $r "$1"
}

refused "unknown command 'walk'" "another command than run" walk
refused "no program is named" "no program" run
refused "unknown option '--fast'" "an option that there is not" run --fast -- x
refused "--share /no/folder:rw: /no/folder: no such folder" "--share" run --share /no/folder:rw -- x
refused "no program is called 'no-such-program'" "a name that no program has" run -- no-such-program
refused '/no/program: no such file$' "a path that leads to nothing" run -- /no/program
refused '/tmp: is a folder, expected a file$' "a folder" run -- /tmp
echo text >"$work/text"
refused ".*/text: is neither an ELF file nor a script \\(it begins with 74 65 78 74" "a text" run -- "$work/text"
head -c 60 "$kernel" >"$work/short"
[ "$arch" = x86_64 ] && refused ".*/short: has 60 bytes, and an ELF header has 64" "a file cut short" run -- "$work/short"
refused "--root /no/folder: no such folder" "a root that is not there" run --root /no/folder -- sh
refused "--file /no/file: no such file" "a file that is not there" run --file /no/file -- sh
refused ".*no machine is called 'abacus'" "a machine that there is not" run --machine abacus -- sh
refused "--mem 32M: the files alone take" "memory that the files fill" run --mem 32M -- hello
long=$(head -c 5000 /dev/zero | tr '\0' x)
refused "boot arguments and the command have 5[0-9]* characters; Vigil takes 4095" "boot arguments that are too long" run --kernel-args "$long" -- hello
# shellcheck disable=SC2046
refused "the program's words and environment take [0-9]* bytes, with 8 for each; Vigil takes 130048" "more words than a program can be given" run -- hello $(seq 12000)
refused "argument=mem.policy reason=value: 'best' is not accepted" "a policy that there is not" run --arch "$arch" --machine qemu --policy mem=best -- hello
vigil help run
status_is 0 "help"
says '^  --deb PKG ' "... names the options"

plain="--arch $arch --machine qemu --smp 2"
# shellcheck disable=SC2086
{
	vigil run $plain --out "$work/out" -- hello status=7 'one  two' "it's"
	status_is 7 "a program's exit status is the run's"
	says "^hello: .* arguments=3: Hello! \\[status=7\\] \\[one  two\\] \\[it's\\]$" "... and its output standard output"
	r=0; [ "$(wc -l <"$console")" -eq 1 ] && [ ! -s "$work/stderr" ] || r=1
	result $r "... alone"
	r=0; grep -q '^exit: app=hello status=7' "$work/out/console.txt" || r=1
	result $r "... while the kernel's lines are in a file"
	line=$(grep -c '' "$work/out/console.txt")
	r=0; tar -tf "$work/out/vigil.tar" >"$work/list" && grep -qx etc/environment "$work/list" && [ "$line" -gt 5 ] || r=1
	result $r "... beside the archive"
	vigil run $plain -- hello "$long" 'one  two' "it's" ''
	says "^hello: .* arguments=4: Hello! \\[$long\\] \\[one  two\\] \\[it's\\] \\[\\]\$" "words of thousands of characters"
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	( # the page's figures, once the program is in them
		until [ -e "$work/ended" ]; do
			curl -s -m 2 "http://127.0.0.1:$port/api/state" >"$work/state"
			! grep -q '"name":"scoreboard"' "$work/state" || break
			sleep 0.1
		done ) &
	asks=$!
	vigil run $plain --web "$port" -- scoreboard ms=3000
	: >"$work/ended"
	wait $asks
	status_is 0 "--web: a program with watchd beside it"
	r=0; grep -q '"name":"scoreboard"' "$work/state" || r=1
	result $r "... which shows it at the port"
	r=0; grep -qx "vigil: the page is at http://127.0.0.1:$port/ and its token, for knobs, is [0-9a-f]*" "$work/stderr" || r=1
	result $r "... that standard error names"
	vigil run $plain --web "$port" -- hello status=7
	status_is 7 "... and the status is the program's"
	boot -- -- @/.vigil/words
	says '^run: event=refused words=/.vigil/words: there is no such file' "words of a file that is not there"
	vigil run $plain --timeout 5 -- scoreboard ms=600000
	status_is 124 "a program that does not end is ended after --timeout"
	gone "... and QEMU with it"
	./vigil run $plain --out "$work/interrupted" -- scoreboard ms=600000 </dev/null >"$console" 2>"$work/stderr" &
	pid=$!
	for i in $(seq 300); do grep -qs '^run: ' "$work/interrupted/console.txt" && break; sleep 0.1; done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	status_is 130 "an interrupt ends the run"
	gone "... and QEMU with it"
	vigil run --arch "$arch" --machine openpower720 --report -- hello
	status_is 0 "on the simulated machine"
	r=0; grep -Eq '^vigil: [0-9.]+ ms, [0-9,]+ cycles' "$work/stderr" || r=1
	: >"$work/stderr"
	result $r "... its report says what the hardware saw"
}
cat >"$work/twin.c" <<-'C'
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	int main(int argc, char **argv)
	{
		char line[100];
		int bytes = 0;
		FILE *f = argc > 2 ? fopen(argv[2], "r") : stdin;
		while (f && fgets(line, sizeof line, f))
			bytes += (int)strlen(line);
		printf("%d %s %s %d", argc, argv[1], getenv("TWIN"), bytes);
		putchar(0), putchar(16), fflush(stdout);
		fprintf(stderr, "no%cP", 16);
		if (argc > 3)
			*(volatile int *)8 = 0;
		return 200;
	}
C
# Libraries for the other instruction set are not on this machine.
cc=gcc programs="twin alone"
[ "$arch" = x86_64 ] || cc=$arch-linux-gnu-gcc programs=alone
for program in $programs; do
	$cc $([ $program = twin ] || echo -static) -o "$work/$program" "$work/twin.c"
done
cat >"$work/many.c" <<-'C'
	#include <stdio.h>
	#include <string.h>
	/* The number of words, their bytes, and the last. */
	int main(int argc, char **argv)
	{
		unsigned long bytes = 0;
		for (int i = 1; i < argc; i++)
			bytes += strlen(argv[i]);
		printf("%d %lu %s\n", argc, bytes, argv[argc - 1]);
		return 0;
	}
C
$cc -static -o "$work/many" "$work/many.c"
printf 'a\nbc\n' >"$work/input"
mkdir "$work/here"
printf 'abcdef\n' >"$work/here/file"
input=$work/input
cat >"$work/reader.c" <<-'C'
	#include <stdio.h>
	#include <sys/stat.h>
	#include <unistd.h>
	/* What standard input is, its bytes and their sum; a file beside the program, written and read. */
	int main(void)
	{
		struct stat s;
		unsigned long bytes = 0, sum = 0, again = 0;
		FILE *f = fopen("made", "w+");
		fstat(0, &s);
		for (int c; (c = getchar()) != EOF; bytes++) {
			sum = sum * 31 + (unsigned)c;
			if (f)
				putc(c, f);
		}
		if (f)
			for (rewind(f); getc(f) != EOF; again++)
				;
		printf("%o %ld %lu %lx %lu\n", s.st_mode & S_IFMT, (long)lseek(0, 0, SEEK_END), bytes, sum, again);
		return 0;
	}
C
gcc -o "$work/reader" "$work/reader.c"
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "%c%d", i % 256, i }' >"$work/bytes"
(cd "$work/here" && ../reader <../bytes >"$work/expected" && rm made)
twins() { # KERNEL
	input=$work/bytes vigil run --kernel $1 --machine qemu -- "$work/reader"
	status_is 0 "$1: a file as standard input"
	r=0; cmp -s "$work/expected" "$console" || r=1
	result $r "... is the program's, of any size and any bytes, and so is what it writes where it is"
	input=/dev/null vigil run --kernel $1 --machine qemu -- "$work/reader"
	says "^20000 0 0 0 0\$" "... and so is /dev/null"
	printf 'abc\n' | (input=/dev/stdin vigil run --kernel $1 --machine qemu -- "$work/reader")
	says "^[12]0000 -1 4 [0-9a-f]* 4\$" "... or a pipe"
	for program in $programs; do
		vigil run --kernel $1 --machine qemu --env TWIN=both -- "$work/$program" 'a  b'
		status_is 200 "$1, $program: a status beyond 127"
		r=0; printf '2 a  b both 5\0\20' | cmp -s - "$console" || r=1
		result $r "... output to the byte, of input, arguments, environment"
		r=0; printf 'no\20P' | cmp -s - "$work/stderr" || r=1
		result $r "... and standard error by itself"
	done
	# shellcheck disable=SC2046
	vigil run --kernel $1 --machine qemu -- "$work/many" $(seq 9000)
	says '^9001 34893 9000$' "$1: thousands of words"
	top=$PWD
	status=0
	(cd "$work/here" && "$top/vigil" run --kernel $1 --machine qemu -- ../alone x file) <"$input" >"$console" 2>"$work/stderr" || status=$?
	status_is 200 "$1: a file in the working directory, named as an argument"
	r=0; printf '3 x (null) 7\0\20' | cmp -s - "$console" || r=1
	result $r "... is read"
	vigil run --kernel $1 --machine qemu -- "$work/alone" a b c
	status_is 139 "$1: a signal's number and 128"
	printf '#!%s script\n' "$work/alone" >"$work/script"
	chmod +x "$work/script"
	vigil run --kernel $1 --machine qemu -- "$work/script"
	status_is 200 "$1: a script"
	r=0; printf '3 script (null) %d\0\20' "$(stat -c %s "$work/script")" | cmp -s - "$console" || r=1
	result $r "... by its interpreter"
}
twins vigil
fetched=build/linux
[ "$arch" = x86_64 ] || fetched=build/linux-$arch
[ ! -f $fetched/package ] || twins linux
done_testing
