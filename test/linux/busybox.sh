# Applets of busybox, each with what it prints. Prints TAP. Run by busybox's own shell, with the path
# of busybox as argument; the same under Linux.
b=$1
count=0 failed=0
cd "$(mktemp -d)" || exit 1
try() { # EXPECTED COMMAND: what the command prints, its lines joined by blanks
	got=$(eval "$2" 2>&1 | $b tr '\n' ' ' | $b sed 's/ *$//')
	count=$((count + 1))
	if [ "$got" = "$1" ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		echo "# $got"
		failed=1
	fi
}
try "a b" '$b echo a b'
try "3 2 1" '$b seq 3 -1 1'
try "one two" '$b printf "%s\n" one two | $b tee file; :'
try "one two" '$b cat file'
try "two one" '$b tac file'
try "2 file" '$b wc -l file'
try "one" '$b head -n 1 file'
try "two" '$b tail -n 1 file'
try "eno owt" '$b rev file'
try "1 2 10" '$b printf "10\n2\n1\n" | $b sort -n'
try "2 a 1 b" '$b printf "a\na\nb\n" | $b uniq -c | $b awk "{print \$1, \$2}"'
try "b" '$b echo a:b:c | $b cut -d: -f2'
try "ABC" '$b echo abc | $b tr a-z A-Z'
try "5" '$b expr 2 + 3'
try "two" '$b grep -n two file | $b cut -d: -f2'
try "1:one" '$b grep -n one file'
try "x-two" '$b sed -n "s/^t/x-t/p" file'
try "6" '$b awk "BEGIN { print 2 * 3 }"'
try "8" '$b echo "2 ^ 3" | $b bc'
try "base" '$b basename /some/base.c .c'
try "/some" '$b dirname /some/base.c'
try "d" '$b mkdir d && $b ls -d d'
try "d/e/f" '$b mkdir -p d/e/f && $b find d -name f'
try "" '$b rmdir d/e/f && $b ls d/e'
try "same" '$b cp file copy && $b cmp file copy && $b echo same'
try "moved" '$b mv copy moved && $b ls moved'
try "2" '$b ln moved hard && $b stat -c %h hard'
try "moved" '$b ln -s moved soft && $b readlink soft'
try "644" '$b chmod 644 moved && $b stat -c %a moved'
try "10" '$b dd if=/dev/zero of=zeros bs=5 count=2 2>/dev/null; $b stat -c %s zeros'
try "3" '$b truncate -s 3 zeros && $b stat -c %s zeros'
try "d41d8cd98f00b204e9800998ecf8427e  -" '$b md5sum </dev/null'
try "da39a3ee5e6b4b0d3255bfef95601890afd80709  -" '$b sha1sum </dev/null'
try "aGkK" '$b echo hi | $b base64'
try "hi" '$b echo aGkK | $b base64 -d'
try "0000000 h i \n 0000003" '$b echo hi | $b od -c | $b tr -s " "'
try "68690a" '$b echo hi | $b xxd -p'
try "one two" '$b gzip -c file | $b gunzip -c'
try "one two" '$b bzip2 -c file | $b bunzip2 -c'
try "file moved" '$b tar cf t.tar file moved && $b tar tf t.tar'
try "one two" '$b mkdir out && $b tar xf t.tar -C out && $b cat out/file'
try "file" '$b echo file | $b cpio -o -H newc 2>/dev/null | $b cpio -t 2>/dev/null'
try "+three" '$b cp file file3; $b echo three >>file3; $b diff -u file file3 | $b grep "^+t"'
try "one two three" '$b diff -u file file3 >p; $b cp file f4; $b patch f4 p >/dev/null; $b cat f4'
try "a b c" '$b echo c b a | $b xargs -n 1 | $b sort'
try "1" '$b test -d out && $b echo 1'
try "aligned" '$b echo aligned | $b fold -w 20'
try "a       b" '$b printf "a\tb\n" | $b expand'
try "1 one" '$b echo 1 | $b paste -d " " - file | $b head -n 1'
try "root" '$b whoami'
try "uid=0(root) gid=0(root)" '$b id | $b cut -d " " -f 1,2'
try "Linux" '$b uname -s'
try "yes yes" '$b yes yes | $b head -n 2'
try "143" '$b sh -c "$b sleep 100 & $b kill \$!; wait \$!; $b echo \$?" 2>/dev/null'
try "143" '$b sh -c "$b timeout 1 $b sleep 10; $b echo \$?" 2>/dev/null'
try "0" '$b pidof no-such-program | $b wc -l'
try "busybox" '$b ps -o comm | $b grep -m 1 busybox'
try "A=1" '$b env -i A=1 $b env'
try "2001-09-09" '$b date -u -d @1000000000 +%F'
try "in sub 3" '$b sh -c "echo in sub; exit 3"; $b echo $?'
try "d file" '$b rm -rf out moved hard soft; $b ls -d d file'
echo "1..$count"
exit $failed
