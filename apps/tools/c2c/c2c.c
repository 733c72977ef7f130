/*
 * Finds contended cache lines: samples a program's accesses that other chips' caches served, and
 * prints by line who uses which bytes from which chip, and whether they share bytes or only the
 * line:
 *
 *     c2c -- scoreboard ms=60
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "apps/common/args.h"
#include "apps/libc/hpm.h"
#include "apps/libc/state.h"
#include "apps/libc/allocation_log.h"
#include "apps/tools/c2c/c2c.h"
#include "apps/tools/measuring/allocations.h"
#include "apps/tools/measuring/images.h"
#include "apps/tools/measuring/places.h"
#include "apps/tools/measuring/program.h"

enum { CPUS_MAX = 256, CRITERIA = 3 };

static uint64_t period = 200, near = 2000, limit = 100, line_rows = 10, rows = 8, marks, sites;
static unsigned format;
static const char *out = "";
static const char *const format_choices[] = {"text", "csv", "json", NULL};
static const struct args_entry entries[] = {
    {"period", ARGS_NUMBER, &period, 1, 1 << 20, NULL,
     "accesses that other chips' caches served, from record to record"},
    {"near", ARGS_NUMBER, &near, 0, 1 << 20, NULL,
     "accesses that the own chip's L2 and L3 served, from record to record; 0: none"},
    {"lines", ARGS_NUMBER, &line_rows, 1, 1000000, NULL, "lines shown"},
    {"rows", ARGS_NUMBER, &rows, 1, 1000000, NULL, "rows of each line"},
    {"limit", ARGS_NUMBER, &limit, 1, 1000, NULL,
     "thousandths of the busy CPUs' time that sampling may cost"},
    {"format", ARGS_CHOICE, &format, 0, 0, format_choices, "text, or lines for programs"},
    {"marks", ARGS_NUMBER, &marks, 0, 1, NULL,
     "1: names the recording's beginning and end in the simulated machine's ground truth"},
    {"sites", ARGS_NUMBER, &sites, 0, 1 << 24, NULL,
     "allocations to be noted of a program that is started with libvigil-allocations.so"},
    PROGRAM_OUT(&out),
};
static const struct args_table table = {"c2c",
                                        "contended cache lines: c2c [...] -- program argument ...",
                                        entries, sizeof entries / sizeof entries[0]};

static struct recording recording;
static struct lines lines;
static struct sys_cpu cpu[CPUS_MAX];
static unsigned cpus, chips, chip_cpus, chip_cores;
static struct lines_sums near_reads[CRITERIA]; /* by criterion */

/* Code that processes have at the same address. */
struct code {
    struct table_key key; /* address, names of the function and the program */
    uint32_t pid;         /* of the first process that ran it */
};
static struct table codes = {.bytes = sizeof(struct code)};

/* Returns a process that has the same code at this address. */
static uint32_t code_of(uint32_t pid, uint64_t pc)
{
    const struct place *p = places_code(pid, pc);
    struct table_key key = {{pc, (uintptr_t)p->function, (uintptr_t)p->program, p->offset}};
    struct code *c = table_get(&codes, &key);

    if (c && !c->pid)
        c->pid = pid;
    return c ? c->pid : pid;
}

static void note_sample(const struct sys_sample *s)
{
    struct places_memory at = places_memory(s->pid, s->data); /* while the process lives */
    struct lines_access a = {
        .address = s->data,
        .space = at.space,
        .place = at.place,
        .pc = s->pc,
        .pid = s->pid,
        .tid = s->tid,
        .of = code_of(s->pid, s->pc),
        .period = s->period,
        .chip = s->cpu < cpus ? cpu[s->cpu].chip : 0,
        .bytes = s->bytes,
        .latency = s->latency,
        .kind = s->atomic  ? LINES_RMW
                : s->store ? LINES_WRITE
                           : LINES_READ,
        .near = s->criterion > 0,
        .modified = s->modified,
    };

    lines_add(&lines, &a);
    if (a.near && a.kind == LINES_READ && s->criterion < CRITERIA) {
        near_reads[s->criterion].accesses += s->period;
        near_reads[s->criterion].cycles += (uint64_t)s->period * s->latency;
    }
}

/* Reads which CPU is on which chip, and how long lines are. */
static void read_machine(void)
{
    int n = state_cpus(cpu, CPUS_MAX);

    if (n <= 0 || n > CPUS_MAX)
        args_refuse(&table, "program", args_reason(n), "the CPUs cannot be listed");
    cpus = (unsigned)n;
    for (unsigned i = 0; i < cpus; i++)
        chips = cpu[i].chip >= chips ? cpu[i].chip + 1u : chips;
    for (unsigned i = 0, cores = 0; i < cpus; i++)
        if (cpu[i].chip == cpu[0].chip) {
            chip_cpus++;
            chip_cores += cpu[i].core >= cores;
            cores = cpu[i].core >= cores ? cpu[i].core + 1u : cores;
        }
    unsigned bytes = cpu[0].line_bytes;
    if (bytes < LINES_BYTES_MIN || bytes > LINES_BYTES_MAX || bytes & (bytes - 1))
        args_refuse(&table, "program", "no-device",
                    "lines of %u bytes; c2c knows powers of two from %d to %d", bytes,
                    LINES_BYTES_MIN, LINES_BYTES_MAX);
    lines_begin(&lines, bytes);
}

static void open_or_exit(uint32_t pid)
{
    char criteria[128];
    struct recording_wanted wanted = RECORDING_WANTED;
    int n = snprintf(criteria, sizeof criteria, "access.remote@%" PRIu64, period);

    if (near)
        snprintf(criteria + n, sizeof criteria - (size_t)n,
                 ",access.l2@%" PRIu64 ",access.l3@%" PRIu64, near, near);
    wanted.criteria = criteria;
    wanted.limit = limit;
    recording_open_or_exit(&recording, &table, &wanted, pid);
}

static void record_program(struct program *p)
{
    bool more = true;

    if (marks)
        hpm_mark("recording");
    while (more) {
        more = program_sleep(p, recording_wait_ms(program_ms(p)));
        recording_take(&recording, false, note_sample);
    }
    samples_take(recording.session, NULL, 0); /* all that waits */
    if (marks)
        hpm_mark("recorded");
    recording_take(&recording, true, note_sample);
}

/* Returns what an access would take that the own chip serves: of contended lines, or of any as near
 * as possible; 0: unknown. */
static double near_cycles(const struct lines_found *found)
{
    double cycles = lines_near_cycles(found);

    for (unsigned i = 1; i < CRITERIA && cycles == 0; i++)
        if (near_reads[i].accesses)
            cycles = (double)near_reads[i].cycles / (double)near_reads[i].accesses;
    return cycles;
}

static void report(const struct program *p, const char *program)
{
    struct c2c_report r = {.program = program,
                           .pid = (uint32_t)p->pid,
                           .ms = program_ms(p),
                           .format = format,
                           .lines = (size_t)line_rows,
                           .rows = (size_t)rows,
                           .all = &lines,
                           .busy = recording_busy(&recording),
                           .cpus = cpus,
                           .chips = chips,
                           .chip_cpus = chip_cpus,
                           .chip_cores = chip_cores};
    struct sys_sample_account a;

    r.sites = sites && allocations_read();
    recording_account(&recording, 0, &r.account);
    for (unsigned i = 1; i < recording.criteria; i++) {
        recording_account(&recording, i, &a);
        r.lost_near += a.lost;
    }
    recording_cost(&recording, r.cost);
    r.cost_pct = recording_cost_pct(&recording);
    if (!lines_find(&lines, &r.found)) {
        printf("c2c: lines=unknown reason=memory: there is not enough for their tables\n");
        return;
    }
    r.near_cycles = near_cycles(&r.found);
    c2c_show(&r);
    lines_found_free(&r.found);
    allocations_end();
}

int main(int argc, char **argv)
{
    struct program p;
    int program = program_parse_or_exit(&table, argc, argv);

    if (program == argc)
        args_refuse(&table, "program", "missing", "no program behind '--'");
    uint32_t pid = (uint32_t)application_next_pid();
    places_name(pid, argv[program]);
    places_ask(images_find);
    images_read(argv[program]);
    open_or_exit(pid);
    read_machine();
    if (sites && !allocations_begin(sites))
        args_refuse(&table, "sites", args_reason(-errno), "%s cannot be made: %s", ALLOCATIONS_PATH,
                    strerror(errno));
    FILE *to = program_open_report_or_exit(&table, out);
    program_begin_or_exit(&p, &table, argv + program, argc - program);
    images_read_maps(pid);
    program_report_to(to);
    record_program(&p);
    int status = program_end(&p);
    report(&p, argv[program]);
    recording_close(&recording);
    lines_end(&lines);
    table_clear(&codes);
    return status;
}
