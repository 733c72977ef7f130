#!/bin/bash
# The checks of the docs see what is wrong; the commands of the first steps run. `make test-docs`
# runs those of all pages.
. "${0%/*}/../qemu/lib.sh"

tools/docs.py >"$console" 2>&1
result $? "pages are short, narrow and linked"

# A page below docs/ of a folder of its own, and what is said of it.
mkdir -p "$work/tree/docs" "$work/tree/test/docs"
cp -r tools "$work/tree/tools"
cp test/docs/commands.sh "$work/tree/test/docs"
echo '[page](docs/page.md)' >"$work/tree/README.md"
page() { # TEXT
	printf '%b\n' "$1" >"$work/tree/docs/page.md"
	(cd "$work/tree" && tools/docs.py) >"$console" 2>&1
}
page 'Fine.\n\n```sh skip: it takes a day\ndate\n```'
result $? "a page with nothing wrong passes"
wrong() { # TEXT REGEX WHAT
	r=0
	page "$1" && r=1
	grep -Eq -- "$2" "$console" || r=1
	result $r "$3"
}
wrong "$(printf '%101s' . | tr ' ' x)" 'docs/page.md:1: wider than 100 columns' \
	"a wide line is found"
wrong '[other](other.md)' 'no such file: other.md' "a link to nowhere is found"
wrong '```\nmake\n```' "block of kind ''" "a block that does not say what it is is found"
wrong '```sh later\nmake\n```' "expected 'skip: WHY'" "a mark without a reason is found"
wrong 'Do:\n\n    make' 'an indented block' "an indented block is found"
wrong "$(seq 300)" '300 lines' "a long page is found"
echo 'Nothing.' >"$work/tree/README.md"
wrong 'Fine.' 'README.md: its index lacks docs/page.md' "a page that the index lacks is found"

# Commands of a page: the first fails, the second does not run, the third has the output that is
# shown, the fourth has not, and the last never ends.
cat >"$work/tree/docs/page.md" <<'END'
```sh
false
```
```sh skip: never
false
```
```sh
echo took 12 ms, all in all
```
```text
took 3 ms, ... all
```
```sh
echo took 12 s
```
```text
took 3 ms
```
```sh
trap '' TERM; while :; do sleep 0.1; done
```
END
LIMIT=2 "$work/tree/test/docs/commands.sh" docs/page.md >"$console" 2>&1
says '^not ok 1 - docs/page.md:2 false$' "a command that fails is found"
says '^ok 2 # SKIP never: docs/page.md:5 false$' "one that is marked is left out"
says '^ok 4 - .* shows a line of the output$' "output is compared, but for numbers"
says '^not ok 6 - .* shows a line of the output$' "... and other output found"
says "^not ok 7 - docs/page.md:20 trap" "a command that does not end is killed"
says '^# commands.sh: no end within 2 s$' "... with a reason"

if once; then
	ONLY='=help$|-- hello' test/docs/commands.sh docs/use/start.md >"$console" 2>&1
	result $? "docs/use/start.md: a run and its help"
	says '^1\.\.' "... all of the page was read"
fi
done_testing
