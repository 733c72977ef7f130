#!/bin/sh
# How tests read lines with keys, and tables behind them: line, no_line, lines, cell and has_cell
# of test/qemu/lib.sh. Nothing is booted.
. "${0%/*}/../qemu/lib.sh"
cat >"$console" <<'END'
process: event=ended reason=memory limit=mem.process,mem.user pid=7 app=oom: out of memory, swap=full
sharing: account pid=2 overhead_pct=0.125 wrong=0
RESULT app=lu n=64 ns=12000 sum=057bb199a1c10726 check=ok
virtio: event=refused at=00:03.0: it does not reset
exit: app=hello status=0 ms=3
exit: app=hello status=7 ms=-1
END

is() { # EXPECTED LINE [KEY]
	r=0
	[ "$(lines "$2" ${3:+"$3"} | paste -sd ' ')" = "$1" ] || r=1
	result $r "$2${3:+, $3}: ${1:-nothing}"
}
is 7 "process event=ended" pid
is 7 "process app=oom reason=memory event=ended" pid
is "" "process swap=full" pid # a sentence has no keys
is "" "process reason=mem" pid # a value is compared as a whole
is 7 "process reason=mem.*|io" pid
is mem.process,mem.user "process pid=7" limit
is "" "proc event=ended" pid
is 2 "sharing wrong=0" pid # words without '=' are passed over
is 2 "sharing overhead_pct=0.1..0.2" pid
is "" "sharing overhead_pct=0.2.." pid
is lu "RESULT ns=10000..99999 sum=057bb199a1c10726 check=ok" app
is "" "RESULT sum=0..1" app # no number
is 00:03.0 "virtio event=refused" at
is "0 7" "exit app=hello" status
is 0 "exit ms=0.." status
is 7 "exit ms=..0" status
is "" "exit app=hello none=.*" status
line "exit status=7" "a line that is there"
no_line "exit status=8" "a line that is not there"
(line "exit status=8" "a line that is not there" >"$work/said" 2>&1) || :
r=0; grep -q '^not ok' "$work/said" && grep -q 'missing: exit status=8$' "$work/said" || r=1
result $r "a missing line fails, and is named"
(no_line "exit status=7" "a line that is there" >"$work/said" 2>&1) || :
r=0; grep -q '^not ok' "$work/said" || r=1
result $r "a line that must not be there fails"

cat >"$console" <<'END'
hpmrec: criterion=cycles samples=3 lost=0: one in 20,000
    share   samples               count  function                      program
   91.2 %       154         153,403,978  main                          lu
    3.0 %         5           4,998,745  memset                        kernel
  rest: rows=2 share_pct=5.8
    ended          here
hpmrec: criterion=time samples=1: one every 1.000 ms
    share   samples                  ns  function                      program
  100.0 %         1               1,000  main                          lu
hpmstat: of=lu ms=1.0
               value  name                      interval           seen
               0.758  ipc                       -               100.0 %  instructions per cycle
                  12  data cache                +- 1.2 %         33.1 %
regions: count=1
  region   calls  cycles  alone  instructions~  alone
  inner        3      10      4              8      2
RESULT app=lu
END
has() { # EXPECTED TABLE ROW COLUMN
	r=0
	[ "$(cell "$2" "$3" "$4" | paste -sd ' ')" = "$1" ] || r=1
	result $r "$2, ${3:-all rows}, $4: ${1:-nothing}"
}
has 153403978 "hpmrec criterion=cycles" function=main count
has "91.2 3.0" "hpmrec criterion=cycles" "" share
has "91.2 100.0" hpmrec function=main share # of both tables
has memset "hpmrec criterion=cycles" "samples=1..10 program=kernel" function
has "" "hpmrec criterion=cycles" function=mem function # a value is compared as a whole
has "" "hpmrec criterion=cycles" "" ended # a line with a subject ends a table
has "" "hpmrec criterion=time" "" count # there is no such column
has "" "hpmrec criterion=bytes" "" share # ... or table
has 33.1 "hpmstat of=lu" name=data_cache seen
has +-_1.2 "hpmstat of=lu" "seen=..50" interval
has 4 "regions count=1" "" alone
has 2 "regions count=1" region=inner alone_2
has_cell "hpmrec criterion=time" program=lu ns=1000 "a cell that is there"
(has_cell "hpmrec criterion=time" program=lu ns=999 "another value" >"$work/said" 2>&1) || :
r=0; grep -q '^not ok' "$work/said" || r=1
result $r "a cell with another value fails"
(has_cell "hpmrec criterion=time" program=cg ns=1000 "no such row" >"$work/said" 2>&1) || :
r=0; grep -q '^not ok' "$work/said" || r=1
result $r "a row that is not there fails"
done_testing
