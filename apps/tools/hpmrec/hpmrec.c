/*
 * Samples where a program or the whole machine spends its time, and prints a summary at the end,
 * like perf record and perf report:
 *
 *     hpmrec criteria=cycles,L1D_MISSES:u -- phases kind=sort
 *     hpmrec criteria=time@1ms by=thread ms=500
 *
 * Samples get their names as they are taken, every few milliseconds, while their processes live.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/common/args.h"
#include "apps/tools/measuring/chains.h"
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/images.h"
#include "apps/tools/measuring/places.h"
#include "apps/tools/measuring/program.h"
#include "apps/tools/measuring/recording.h"
#include "apps/tools/measuring/shares.h"
#include "apps/libc/hpm.h"
#include "apps/libc/state.h"

enum { CPUS_MAX = 256 };
enum { FORMAT_TEXT, FORMAT_SAMPLES, FORMAT_FOLDED, FORMAT_CSV, FORMAT_JSON };
enum { HEADS_TEXT, HEADS_CSV, HEADS_JSON };

static struct recording_wanted wanted = RECORDING_WANTED;
static uint64_t rows = 20, run_ms = 1000, all, marks;
static unsigned by, format, heads;
static const char *const format_choices[] = {"text", "samples", "folded", "csv", "json", NULL};
static const char *const heads_choices[] = {"text", "csv", "json", NULL};
static const char *out = "";
static const char *const chains_choices[] = {"no", "fp", "table", NULL};
static const struct args_entry entries[] = {
    RECORDING_ENTRIES(wanted),
    {"by", ARGS_CHOICE, &by, 0, 0, shares_by_choices, "what samples are added up by"},
    {"rows", ARGS_NUMBER, &rows, 1, 1000000, NULL, "of each table"},
    {"format", ARGS_CHOICE, &format, 0, 0, format_choices,
     "tables, every sample as a line, chains of calls, or tables as csv or json lines for "
     "programs"},
    {"heads", ARGS_CHOICE, &heads, 0, 0, heads_choices,
     "beside samples and chains of calls: as what it is said how they were recorded"},
    {"chains", ARGS_CHOICE, &wanted.chains, 0, 0, chains_choices,
     "chains of calls of samples, by frame pointers or by the programs' tables of frames"},
    {"all", ARGS_NUMBER, &all, 0, 1, NULL, "1: samples of all processes, not of the program only"},
    {"marks", ARGS_NUMBER, &marks, 0, 1, NULL,
     "1: names the recording's beginning and end in the simulated machine's ground truth"},
    {"ms", ARGS_NUMBER, &run_ms, 1, 3600000, NULL, "how long, where no program is given"},
    PROGRAM_OUT(&out),
};
static const struct args_table table = {
    "hpmrec", "samples where time goes: hpmrec criteria=NAMES [...] [-- program argument ...]",
    entries, sizeof entries / sizeof entries[0]};

static struct recording recording;
static struct sys_sample_account accounts[RECORDING_CRITERIA_MAX]; /* at the end */
static struct shares shares[RECORDING_CRITERIA_MAX];

/* ---- Every sample ---------------------------------------------------------------------------- */

/* A sample to be printed at the end, so that printing does not disturb the program. */
struct kept {
    struct sys_sample sample;
    const struct place *code;
    const char *program, *region; /* region: of the data */
};
static struct {
    struct kept *kept;
    size_t count, room;
    uint64_t left_out; /* samples left out for lack of memory */
} list;

static void keep_sample(const struct sys_sample *s)
{
    if (list.count == list.room) {
        size_t room = list.room ? 2 * list.room : 1024;
        struct kept *more = realloc(list.kept, room * sizeof *more);
        if (!more) {
            list.left_out++;
            return;
        }
        list.kept = more;
        list.room = room;
    }
    bool access = s->source != SYS_SOURCE_NONE;
    list.kept[list.count++] = (struct kept){*s, places_code(s->pid, s->pc), places_program(s->pid),
                                            access ? places_region(s->pid, s->data) : NULL};
}

/* Copies text with `_` in place of blanks. */
static const char *word(const char *text, char out[32])
{
    size_t n = 0;

    for (; text[n] && n < 31; n++)
        out[n] = text[n] == ' ' ? '_' : text[n];
    out[n] = '\0';
    return out;
}

static void print_access(const struct kept *k)
{
    static const char *const sources[] = {"l1",        "local_l2",     "local_l3",     "remote_l2",
                                          "remote_l3", "local_memory", "remote_memory"};
    char region[32];

    const char *what = k->sample.fetch ? "fetch" : k->sample.store ? "store" : "load";

    printf(" %" PRIx64 " %s %s %u %s %u %" PRIx64 " %s%s", k->sample.data, word(k->region, region),
           what, k->sample.latency, sources[k->sample.source], k->sample.walk, k->sample.data_phys,
           k->sample.modified ? "modified" : "-", k->sample.atomic ? ",atomic" : "");
}

/* Prints a line: SAMPLE ns cpu pid tid program criterion period mode pc function+offset file:line,
 * and for an access also: data region load|store|fetch latency source walk physical flags; where it
 * has a chain: chain=number. */
static void print_sample(const struct kept *k)
{
    const struct sys_sample *s = &k->sample;
    char program[32];

    printf("SAMPLE %" PRIu64 " %u %" PRIu32 " %" PRIu32 " %s %s %" PRIu32 " %s %" PRIx64
           " %s+0x%" PRIx64 " %s:%" PRIu32,
           s->time, s->cpu, s->pid, s->tid, word(k->program, program), accounts[s->criterion].name,
           s->period, s->user ? "user" : "kernel", s->pc, k->code->function, k->code->offset,
           k->code->file, k->code->line);
    if (s->source != SYS_SOURCE_NONE)
        print_access(k);
    if (s->chain)
        printf(" chain=%" PRIu32, s->chain);
    printf("\n");
}

/* Prints a line: REGION pid first-byte bytes name. */
static void print_region(uint32_t pid, uint64_t start, uint64_t bytes, const char *name)
{
    char text[32];

    printf("REGION %" PRIu32 " %" PRIx64 " %" PRIx64 " %s\n", pid, start, bytes, word(name, text));
}

/* Prints a line: CHIPS and the chip of each CPU. */
static void print_chips(void)
{
    static struct sys_cpu cpu[CPUS_MAX];
    int cpus = state_cpus(cpu, CPUS_MAX);

    if (cpus <= 0) /* they are not this program's to see */
        return;
    printf("CHIPS");
    for (int i = 0; i < cpus && i < CPUS_MAX; i++)
        printf(" %u", cpu[i].chip);
    printf("\n");
}

static void print_samples(void)
{
    if (format != FORMAT_SAMPLES)
        return;
    print_chips();
    places_regions(print_region);
    images_print_code();
    chains_print_addresses();
    for (size_t i = 0; i < list.count; i++)
        print_sample(&list.kept[i]);
    if (list.left_out)
        printf("hpmrec: left_out=%" PRIu64 " reason=memory: samples that are not shown\n",
               list.left_out);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void note_sample(const struct sys_sample *s)
{
    shares_add(&shares[s->criterion], s);
    if (format == FORMAT_SAMPLES)
        keep_sample(s);
    if (format == FORMAT_FOLDED || s->chain)
        chains_note(recording.session, s);
}

static struct recording_head head_of(const struct sys_sample_account *a)
{
    return (struct recording_head){"hpmrec", a->delivered + a->lost,
                                   a->taken ? a->stood_for / a->taken : a->period, a->estimate,
                                   "\n"};
}

static void print_head(unsigned criterion)
{
    struct sys_sample_account a = accounts[criterion];

    struct recording_head head = head_of(&a);
    struct shares_form form = recording_form(&a, (size_t)rows, "\n");
    if (heads == HEADS_TEXT)
        recording_print_head(&a, &head);
    if (format == FORMAT_TEXT && shares[criterion].samples)
        shares_print(&shares[criterion], &form);
    if (format == FORMAT_FOLDED || (format == FORMAT_SAMPLES && wanted.chains))
        chains_print_folded(criterion, a.name);
}

/* Writes the run and, with their tables or without, the criteria as records. */
static void record_all(const char *whose, double ms)
{
    struct recording_as as = {heads == HEADS_CSV ? RECORD_CSV : RECORD_JSON, "hpmrec", ms};

    record_begin(as.format, as.tool, "run");
    record_text("of", whose);
    record_real("ms", ms, 3);
    record_real("cost_pct", recording_cost_pct(&recording), 3);
    record_number_if("chains_cut", wanted.chains, accounts[0].chains_cut);
    record_number_if("chains_full", wanted.chains, accounts[0].chains_full);
    record_end();
    for (unsigned i = 0; i < recording.criteria; i++) {
        struct recording_head head = head_of(&accounts[i]);
        recording_record_head(&accounts[i], &head, &as);
        if (format != FORMAT_SAMPLES && format != FORMAT_FOLDED)
            recording_record_shares(&accounts[i], &shares[i], (size_t)rows, &as);
    }
}

static void print_run(const char *whose, double ms)
{
    char cost[FIGURE_MAX];

    recording_cost(&recording, cost);
    printf("hpmrec: of=%s ms=%.1f cost_pct=%s", whose, ms, cost);
    if (wanted.chains)
        printf(" chains_cut=%" PRIu64 " chains_full=%" PRIu64, accounts[0].chains_cut,
               accounts[0].chains_full);
    printf(": sampling's part of the busy time\n");
}

static void print_all(const struct program *p, const char *whose)
{
    double ms = program_ms(p);

    print_samples();
    if (heads != HEADS_TEXT)
        record_all(whose, ms);
    else
        print_run(whose, ms);
    for (unsigned i = 0; i < recording.criteria; i++)
        print_head(i);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Ends the recording for the tables: what comes later, printing among it, is not in them. */
static void end_record(void)
{
    samples_take(recording.session, NULL, 0); /* all that waits */
    if (marks)
        hpm_mark("recorded");
    size_t last = recording_collect(&recording, true);
    for (unsigned i = 0; i < recording.criteria; i++) /* of all that was taken, and of no more */
        recording_account(&recording, i, &accounts[i]);
    recording_note(last, note_sample);
}

static void record_program(struct program *p)
{
    bool more = true;

    while (more) {
        more = program_sleep(p, recording_wait_ms(program_ms(p))) &&
               (p->pid || program_ms(p) < (double)run_ms);
        recording_take(&recording, !more, note_sample);
    }
    end_record();
}

/* Makes `heads` the form of all that is no sample or chain of calls. */
static void choose_heads(void)
{
    bool beside = format == FORMAT_SAMPLES || format == FORMAT_FOLDED;

    if (heads != HEADS_TEXT && !beside)
        args_refuse(&table, "heads", "conflict",
                    "heads= is for format=samples and folded; format=csv and json have all alike");
    if (format == FORMAT_CSV)
        heads = HEADS_CSV;
    if (format == FORMAT_JSON)
        heads = HEADS_JSON;
}

int main(int argc, char **argv)
{
    struct program p;
    int program = program_parse_or_exit(&table, argc, argv);

    if (program == argc && !strcmp(argv[argc - 1], "--"))
        args_refuse(&table, "program", "missing", "no program behind '--'");
    choose_heads();
    uint32_t pid = program < argc ? (uint32_t)application_next_pid() : 0;
    if (pid)
        places_name(pid, argv[program]);
    places_ask(images_find);
    if (pid)
        images_read(argv[program]);
    recording_open_or_exit(&recording, &table, &wanted, all ? 0 : pid);
    if (marks)
        hpm_mark("recording");
    for (unsigned i = 0; i < recording.criteria; i++)
        shares[i].by = by;
    FILE *report = program_open_report_or_exit(&table, out);
    program_begin_or_exit(&p, &table, argv + program, argc - program);
    if (pid)
        images_read_maps(pid);
    program_report_to(report);
    record_program(&p);
    int status = program_end(&p);
    print_all(&p, pid && !all ? argv[program] : "machine");
    recording_close(&recording);
    return status;
}
