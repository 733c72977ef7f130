# SQLite's own quick tests, of some files, in a folder: how many cases, and which failed. Vigil has
# one user, to whom no file is refused: the cases that want that, REFUSED, are counted apart.
#   quick.sh FOLDER PATTERN...
set -u
[ "$(id -u)" != 0 ] || exec setpriv --reuid=33 --regid=33 --clear-groups bash "$0" "$@" # under Linux
REFUSED='wal2-13\.|temptable-6\.'
cd "$1" || exit
shift
set -f
set -- $(printf '%s.test ' "$@")
/sqlite/testfixture /sqlite/test/permutations.test quick "$@" >/tmp/said 2>&1
sed -n 's/^!Failures on these tests: //p' /tmp/said | tr ' ' '\n' | grep . >/tmp/failed
tests=$(sed -n 's/^[0-9]* errors out of \([0-9]*\) tests.*/\1/p' /tmp/said)
echo "errors=$(grep -c -v -E "^($REFUSED)" /tmp/failed) refused=$(grep -c -E "^($REFUSED)" /tmp/failed) tests=$tests"
grep -v -E "^($REFUSED)" /tmp/failed | head -n 20
[ -n "$tests" ] || tail -n 5 /tmp/said
