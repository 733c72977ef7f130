#!/bin/sh
# hpmrec and hpmtop: what they say of programs of which it is known, accounts that add up, what is
# refused, and on what they run.
. "${0%/*}/lib.sh"

# Boots; sections are those of this boot.
start() {
	boot "$@"
	cp "$console" "$work/whole"
}
# section N: what the Nth program printed becomes the console; of programs side by side all is with
# the last.
section() {
	awk -v n="$1" '/^run: / { k++ } k == n' "$work/whole" >"$console"
}
# share ROW CRITERION: percent of the row's name in the section's table of that criterion, of those
# of three_parts and one_part
share() {
	case $2 in time*) unit=ns ;; *) unit=count ;; esac
	{ cell "hpmrec criterion=$2" "function=three_parts|one_part" $unit
	cell "hpmrec criterion=$2" "function=$1" $unit | sed 's/^/is /'; } |
		awk '/^is / { is += $2; next } { all += $1 } END { printf "%.1f", all ? is * 100 / all : 0 }'
}
# head_of CRITERION KEY: of the section's line about a criterion
head_of() {
	lines "hpmrec criterion=$1" "$2" | head -n 1
}
# Samples of all rows of a criterion.
rows_of() {
	cell "hpmrec criterion=$1" "" samples | awk '{ n += $1 } END { print n + 0 }'
}
ms_of() { # PROGRAM
	lines "hpmrec of=$1" ms
}
adds_up() { # CRITERION
	taken=$(head_of "$1" samples)
	within "$(($(rows_of "$1") + $(head_of "$1" lost)))" "$taken" "$taken" \
		"$1: the rows and what was lost are what was taken"
}

# What is known of `ratio`: a quarter of its cycles, instructions and time are in one_part, give or
# take three standard deviations and a point.
#   quarters WHAT CRITERIA  of the section
quarters() {
	for criterion in $2; do
		off=$(awk -v n="$(head_of "$criterion" samples)" \
			'BEGIN { printf "%.1f", n ? 1 + 3 * sqrt(1875 / n) : 0 }')
		within "$(share one_part "$criterion")" "$(awk "BEGIN { print 25 - $off }")" \
			"$(awk "BEGIN { print 25 + $off }")" "$1: by $criterion a quarter is one_part's"
		adds_up "$criterion"
	done
}

all="limit=1000 rows=1000"
start machine=openpower720 timeout=300 -- -- hpmrec criteria=cycles@20k $all -- ratio 20000 ';' \
	hpmrec criteria=time@50us $all -- ratio 20000 ';' \
	hpmrec criteria=instructions@50k,cycles:u@60k,time@100us,entries:u $all -- ratio 80000 ';' \
	hpmrec criteria=entries:u@1 $all -- ratio calls 300 ';' \
	hpmrec criteria=cycles@20k by=thread $all -- ratio 8000 4 ';' \
	hpmrec criteria=access.any:u@20 by=region $all -- ratio pages 500 ';' \
	hpmrec rate=4000 $all -- ratio 50000 ';' hpmrec criteria=cycles@10k $all -- ratio 300 ';' \
	hpmrec criteria=time@50us,cycles@50k $all -- ratio bursts 100
status_is 0 "a program of which it is known"
section 1
quarters "alone" cycles
within "$(head_of cycles mean)" 19500 21500 "a period that was asked for is the samples'"
section 2
quarters "alone" time
ms=$(ms_of ratio)
within "$(head_of time stand_for)" \
	"$(awk "BEGIN { print $ms * 950000 }")" "$(awk "BEGIN { print $ms * 1000000 }")" \
	"samples of time stand for the time that it took"
section 3
quarters "several at a time" "instructions cycles:u time"
adds_up entries:u
line "hpmrec criterion=instructions seen_pct=0..99.9" "... of which some take turns, and it is said"
# 643 million within 15 of 100; a fifteenth of them is seen.
within "$(head_of instructions stand_for)" 546000000 739000000 \
	"... and what they stand for is what there was, seen or not"
section 4
adds_up entries:u
within "$(cell "hpmrec criterion=entries:u" function=three_calls samples)" 900 902 \
	"every system call of one function is seen"
within "$(cell "hpmrec criterion=entries:u" function=one_call samples)" 300 300 "... and of another"
section 5
adds_up cycles
r=0
[ "$(cell hpmrec "program=ratio share=20..30" thread | wc -l)" -eq 4 ] || r=1
result $r "four threads have a quarter each"
section 6
has_cell hpmrec "region=touched program=ratio" share=90..100 \
	"accesses are to the region that they are to"
adds_up access.any:u
section 7
ms=$(ms_of ratio)
within "$(head_of cycles samples)" \
	"$(awk "BEGIN { print $ms * 3.2 }")" "$(awk "BEGIN { print $ms * 4.8 }")" \
	"an adapted period brings the rate asked for"
line "hpmrec criterion=cycles adapted=yes" "... and it is said that it is adapted"
section 8
has_cell hpmrec "function=three_parts program=ratio" "file=test/qemu/apps/$arch/ratio_loop[.]S" \
	"a program that ends before its first samples are taken has its names"
cell hpmrec "" function >"$work/names"
cell hpmrec "" program >>"$work/names"
r=0; [ -s "$work/names" ] && ! grep -qx '?' "$work/names" || r=1
result $r "... all of them: $(sort "$work/names" | uniq -c | tr -s ' \n' ' ')"
section 9
quarters "in bursts" "time cycles"
within "$(head_of time mean)" 48000 60000 "samples of time come as soon as a CPU is busy"
ns=$(head_of time stand_for)
within "$(head_of cycles stand_for)" "$((ns * 95 / 100))" "$((ns * 105 / 100))" \
	"... and stand for as much as those of cycles"

start machine=openpower720 timeout=300 -- -- hpmrec criteria=cycles,access.any by=process all=1 -- \
	ratio 20000 '&' scoreboard ms=40 ';' \
	hpmrec ms=20 criteria=time@100us by=line $all '&' ratio 40000 ';' hpmrec \
	criteria=cycles@50k,access.any@100 format=samples -- scoreboard ms=5 ';' \
	hpmrec criteria=L1D_MISSES@1 -- scoreboard ms=30 ';' hpmrec criteria=instructions@100 limit=1000 \
	-- ratio 20000 ';' \
	hpmrec criteria=cycles@1k limit=5 rows=1 -- ratio 40000 ';' hpmrec -- hello status=3
status_is 3 "all and none, every sample, storms; the exit status is the program's"
section 2
for program in ratio scoreboard; do
	has_cell hpmrec "program=$program" share=0.. "samples of all processes: $program"
done
section 4
has_cell hpmrec "line=test/qemu/apps/$arch/ratio_loop[.]S:[0-9]+ program=ratio" \
	function=three_parts \
	"without a program, by line"
within "$(ms_of machine)" 20 45 "... for as long as asked for"
adds_up time
section 5
for criterion in cycles access.any; do
	sample="^SAMPLE [0-9]* [0-9]* [0-9]* [0-9]* scoreboard $criterion "
	taken=$(head_of $criterion samples)
	within "$(grep -c "$sample" "$console")" "$taken" "$taken" "every sample of $criterion is a line"
done
r=0
awk '/^SAMPLE/ {
		n++
		if (NF != 12 && NF != 20) bad = 1
		if ($7 == "cycles" && ($8 < 40000 || NF != 12)) bad = 1
		if (!first || $2 < first) first = $2
		if ($2 > last) last = $2
	}
	END { exit bad || !n || last - first > 40000000 }' "$console" || r=1
result $r "... of the fields that it has, and of one time"
section 6
line "hpm event=storm criterion=L1D_MISSES" "a storm is said"
line "hpmrec criterion=L1D_MISSES lengthened=storms storms=1.." "... and in the account"
section 7
line "hpmrec criterion=instructions storms=1.." "a storm of another kind"
section 8
line "rest rows=1.. share_pct=0.." "what is in rows that are not shown is summed up"
line "hpmrec criterion=cycles lengthened=cost|storms" \
	"a limit of five thousandths lengthens periods"
within "$(lines hpmrec cost_pct)" 0.01 2 "... and is kept but for what it took to find out"

start machine=openpower720 timeout=300 -- -- hpmtop plain=1 times=2 interval=20 rows=3 -- ratio \
	30000 2 ';' hpmtop interval=20 rate=5000 -- ratio 40000 ';' \
	hpmtop plain=1 times=1 interval=30 criteria=L1D_MISSES,time metrics=cpi,DCACHE:REMOTE_L2 -- \
	scoreboard ms=1000
status_is 0 "hpmtop"
section 1
within "$(lines "hpmtop ms=0.. busy_cpus=0.. cpus=8 cost_pct=0.." ms | wc -l)" 2 2 \
	"as many pictures as asked for"
has_cell "hpmtop criterion=cycles" \
	"function=three_parts program=ratio share=0.. samples=1.. count=1.." \
	"file=test/qemu/apps/$arch/ratio_loop[.]S" "functions"
has_cell "hpmtop threads=1.." \
	"share=0.. samples=1.. ipc=.* l1d.mpki=.* thread=1.. process=1.. program=.*" \
	CPU=0.. "threads, with their metrics"
r=0
[ "$(cell "hpmtop threads=1.." "program=ratio CPU=60..115 ipc=0.2.." thread | wc -l)" -ge 2 ] || r=1
result $r "... which have a CPU each, and instructions"
r=0; ! grep -q "$(printf '\033')" "$console" || r=1
result $r "plain=1: no escape sequences"
section 2
within "$(grep -c "^$(printf '\033')\[[HJ].*hpmtop: " "$console")" 4 8 \
	"until the program ends, each picture over the last"
says "one_part" "... the last one with what came last"
section 3
line "hpmtop criterion=L1D_MISSES samples=0.. mean=1.. adapted=yes" "by what is asked for"
line "hpmtop criterion=time samples=0.. mean=1000..999999999 adapted=yes" "... by several criteria"
threads="thread=1.. process=1.. samples=1.. cpi=.* DCACHE:REMOTE_L2=.*"
has_cell "hpmtop threads=1.." "$threads" share=0.. "... with metrics that are asked for"
r=0; [ -z "$(cell "hpmtop threads=1.." "" CPU)" ] || r=1
result $r "... and no share of CPUs where it is not known"

start machine=openpower720 timeout=300 -- -- hpmrec criteria=LOADS@1M,L1D_MISSES@1 -- scoreboard \
	ms=30
line "hpm event=storm criterion=L1D_MISSES" "a storm has the name of what brought it"
no_line "hpmrec lengthened=cost" \
	"... and periods that are longer after it are not said to be so for their cost"
boot timeout=120 -- hpm.pmu=none -- "hpmrec -- hello ; hpmtop plain=1 times=1 interval=10" \
	"; hpmrec criteria=L1D_MISSES -- hello ; hpmstat list"
line "hpmrec criterion=time instead_of=cycles reason=no-device" \
	"without counters hpmrec samples by time and says so"
line "hpmrec criterion=time samples=0.." "... and does"
line "hpmtop criterion=time instead_of=cycles reason=no-device" "... as does hpmtop"
line "hpmrec argument=criteria reason=no-device" "... but not where an event is asked for"
line "hpmstat argument=list reason=no-device" "hpmstat list: nothing"
for sparing in "" hpm.breakdown=off; do
	boot machine=openpower720 timeout=300 -- $sparing -- samplers
	status_is 0 "sessions of samples and processes $sparing"
	guest_tap
done

# Each line of standard input is a program and, behind a bar, the keys with which it refuses.
refusals() {
	cat >"$work/refused"
	once || return 0
	boot machine=openpower720 timeout=300 -- -- \
		"$(sed 's/|.*//' "$work/refused" | paste -sd ';' | sed 's/;/ ; /g')"
	while IFS='|' read -r command keys; do
		line "${command%% *} $keys" "refused: $command ($keys)"
	done <"$work/refused"
	r=0
	[ "$(lines "exit app=hpm(rec|top) status=2" | wc -l)" -eq "$(wc -l <"$work/refused")" ] || r=1
	result $r "each is an error exit"
}
refusals <<'END'
hpmrec criteria=l1d.mis -- hello|argument=criteria reason=unknown
hpmrec criteria=cycles@0 -- hello|argument=criteria reason=value
hpmrec criteria=cycles@99G -- hello|argument=criteria reason=value
hpmrec criteria=time@1 -- hello|argument=criteria reason=value
hpmrec criteria=entries:k@1 -- hello|argument=criteria reason=value
hpmrec criteria=time@1us -- hello|argument=criteria reason=value
hpmrec criteria=access.l1 -- hello|argument=criteria reason=unsupported
hpmrec criteria=access.remote@9,access.remote@8 -- hello|argument=criteria reason=value
hpmrec criteria=cycles,cycles -- hello|argument=criteria reason=value
hpmrec criteria=, -- hello|argument=criteria reason=value
hpmrec rate=0 -- hello|argument=rate reason=range
hpmrec limit=1001 -- hello|argument=limit reason=range
END
refusals <<'END'
hpmrec by=colour -- hello|argument=by reason=value
hpmrec format=xml -- hello|argument=format reason=value
hpmrec heads=csv -- hello|argument=heads reason=conflict
hpmrec heads=xml format=samples -- hello|argument=heads reason=value
hpmrec speed=1 -- hello|argument=speed reason=unknown
hpmrec --|argument=program reason=missing
hpmrec -- nosuch|argument=program reason=unknown
hpmtop criteria=nosuch times=1|argument=criteria reason=unknown
hpmtop metrics=nosuch times=1|argument=metrics reason=unknown
hpmtop metrics=cycles,instructions,ipc,cpi,LOADS times=1|argument=metrics reason=many
hpmtop interval=20|argument=times reason=missing
hpmtop format=xml times=1|argument=format reason=value
END

start machine=openpower720 timeout=300 -- -- hpmrec criteria=access.any@100 ms=60 '&' hpmrec \
	'criteria=access.any>=100@30,access.walk@10' ms=20 '&' hpmrec criteria=cycles ms=20
line "hpmrec criterion=access.any samples=10.." "accesses are recorded for several at a time"
line "hpmrec criterion=access.any>=100 samples=5.." "... by their latency"
line "hpmrec criterion=access.walk samples=5.." "... by their page walks"
line "hpmrec criterion=cycles samples=0.." "... and everything else for others beside"

start machine=openpower720 mem=64M timeout=300 -- hpm.samples=65536 hpm.records=65536 -- hpmrec \
	criteria=cycles -- hello
status_is 0 "more samples than there is memory for"
for name in samples records; do
	line "hpm event=limited argument=hpm.$name value=65536" "... are limited: hpm.$name"
done

start machine=openpower720 smp=1 timeout=300 -- -- hpmrec criteria=cycles@20k,time@100us $all -- \
	ratio 20000 ';' hpmtop plain=1 times=1 interval=20 -- ratio 20000
status_is 0 "one CPU"
section 1
quarters "one CPU" "cycles time"

# Time is the host's, but on AArch64, where instructions can stand for it: on x86-64 QEMU cannot.
own_time= && [ "$arch" != aarch64 ] || own_time=icount=0
# shellcheck disable=SC2086
start smp=2 $no_pmu $own_time timeout=120 -- -- hpmrec criteria=time@100us $all -- ratio 40000 ';' \
	hpmrec criteria=entries:u@1 $all -- ratio calls 300 ';' \
	hpmtop plain=1 times=1 interval=50 criteria=time,entries '&' ratio 20000 ';' samplers
status_is 0 "without counters"
section 1
adds_up time
within "$(head_of time samples)" 20 1000000 "... time is sampled"
within "$(share one_part time)" 1 50 "... most of it in the function that most of it is spent in"
ms=$(ms_of ratio)
# Each sample stands for the time since the one before. The first ones reach back before the program
# began: by however long the host kept a CPU from running then.
within "$(head_of time stand_for)" 1 "$(awk "BEGIN { print ($ms * 1.05 + 20) * 1000000 }")" \
	"... no more of it than there was"
line "hpmrec of=ratio cost_pct=0.." "... and it is known what it cost"
section 2
adds_up entries:u
# By the host's time an interrupt may come in either function, which is an entry, too.
within "$(cell "hpmrec criterion=entries:u" function=three_calls samples)" 900 902 \
	"... every system call of one function is seen"
within "$(cell "hpmrec criterion=entries:u" function=one_call samples)" 300 302 "... and of another"
section 4
within "$(lines "hpmtop cpus=2 cost_pct=0.." busy_cpus)" 0.01 2 "... hpmtop shows how busy CPUs are"
has_cell "hpmtop threads=1.." "CPU=0.. share=0.. samples=1.. thread=1.. process=1.." program=.* \
	"... and threads, without counts"
r=0; [ -z "$(cell "hpmtop threads=1.." "" ipc)" ] || r=1
result $r "... that there are none of"
section 5
guest_tap

# shellcheck disable=SC2086
boot smp=1 $no_pmu timeout=60 -- -- hpmrec criteria=cycles -- hello ';' hpmrec \
	criteria=time,access.any -- hello ';' hpmtop criteria=cycles times=1
r=0; [ "$(lines "hpmrec argument=criteria reason=no-device" | wc -l)" -eq 2 ] || r=1
result $r "what needs counters is refused, records of accesses, too"
line "hpmtop argument=criteria reason=no-device" "... and by hpmtop"

# With -icount QEMU looks whether an event counter has overflown a cycle too early, and then not
# before something else interrupts: here time does in between, or samples of cycles would come many
# at a moment.
if [ "$arch" = aarch64 ]; then
	for model in cpu=cortex-a72 cpu=max; do
		start smp=1 icount=0 $model timeout=300 -- -- hpmrec criteria=cycles@20k,time@10us $all -- ratio \
			20000
		status_is 0 "$model"
		section 1
		quarters "$model" "cycles time"
	done
fi
done_testing
