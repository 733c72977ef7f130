/* Prints what c2c has found, as text or as records. See c2c.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/c2c/c2c.h"
#include "apps/tools/measuring/allocations.h"
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/places.h"
#include "apps/tools/measuring/record.h"

enum { THREADS_SHOWN = 8, TEXT_MAX = 256, WORST = 2, OBJECTS_SHOWN = 8 };

static const char *const verdicts[] = {"unclear", "FALSE", "TRUE"};
static const char *const kinds[] = {"read", "write", "rmw"};

static double part(uint64_t n, uint64_t all)
{
    return figure_percent(n, all);
}

static uint64_t mean(const struct lines_sums *s)
{
    return s->accesses ? (s->cycles + s->accesses / 2) / s->accesses : 0;
}

/* Writes "variable+0x10", or "region" where no variable is known. */
static const char *what_is_at(uint32_t pid, uint64_t address, char out[TEXT_MAX])
{
    const struct place *p = places_code(pid, address);
    const char *region = places_region(pid, address);

    if (p->function[0] != '?')
        snprintf(out, TEXT_MAX, "%s+0x%" PRIx64, p->function, p->offset);
    else
        snprintf(out, TEXT_MAX, "[%s]", region);
    return out;
}

/* Writes the name of the line's beginning, or of the first byte that its costliest row uses, if
 * that is of another variable. */
static const char *what_is_in(const struct lines_line *line, char out[TEXT_MAX])
{
    struct lines_row *rows;
    size_t n = lines_rows(line, &rows);
    uint64_t address = line->address;
    unsigned byte = 0;

    while (n && byte < LINES_BYTES_MAX - 1 && !(rows[0].used[byte / 64] >> byte % 64 & 1))
        byte++;
    const struct place *used = places_code(line->pid, address + byte);
    if (used->function[0] != '?' &&
        strcmp(used->function, places_code(line->pid, address)->function) != 0)
        address += byte;
    free(rows);
    return what_is_at(line->pid, address, out);
}

/* Adds text to a line of TEXT_MAX; what does not fit is left out. */
static void add(char *out, const char *format, uint64_t a, uint64_t b)
{
    size_t n = strlen(out);

    snprintf(out + n, TEXT_MAX - n, format, (unsigned)a, (unsigned)b);
}

/* Writes "+0..+7 +32..+39". */
static const char *bytes_of(const struct lines_row *row, char out[TEXT_MAX])
{
    unsigned end = 0;

    out[0] = '\0';
    for (unsigned b = 0; b < LINES_BYTES_MAX; b = end + 1) {
        for (end = b; end < LINES_BYTES_MAX && row->used[end / 64] >> end % 64 & 1;)
            end++;
        if (end > b)
            add(out, out[0] ? " +%u..+%u" : "+%u..+%u", b, end - 1);
    }
    return out;
}

/* Writes "t3 t5". */
static const char *threads_of(const struct lines_row *row, char out[TEXT_MAX])
{
    uint32_t tid[THREADS_SHOWN];
    size_t n = lines_threads(row, tid, THREADS_SHOWN);

    out[0] = '\0';
    for (size_t i = 0; i < n && i < THREADS_SHOWN; i++)
        add(out, out[0] ? " t%u" : "t%u", tid[i], 0);
    if (n > THREADS_SHOWN)
        add(out, " and %u more", n - THREADS_SHOWN, 0);
    return out;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* ---- Savings --------------------------------------------------------------------------------- */

struct advice {
    const char *what; /* NULL: none */
    struct lines_saving saving;
};

static struct advice advise(const struct c2c_report *r, const struct lines_line *line)
{
    if (line->verdict == LINES_FALSE)
        return (struct advice){"padding", lines_padded(line)};
    if (line->verdict == LINES_TRUE)
        return (struct advice){"placement", lines_together(line, r->near_cycles)};
    return (struct advice){0};
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* Writes "function file:line", "function+0x10" where no file is known, or "0x401234 [region]" where
 * no function is. */
static const char *code_at(uint32_t pid, uint64_t pc, char out[TEXT_MAX])
{
    const struct place *p = places_code(pid, pc);

    if (p->function[0] != '?' && p->file[0] != '?')
        snprintf(out, TEXT_MAX, "%s %s:%" PRIu32, p->function, base_name(p->file), p->line);
    else if (p->function[0] != '?')
        snprintf(out, TEXT_MAX, "%s+0x%" PRIx64, p->function, p->offset);
    else
        snprintf(out, TEXT_MAX, "0x%" PRIx64 " [%s]", pc, p->region ? p->region : "?");
    return out;
}

static void print_row(const struct lines_row *row)
{
    const struct lines_sums *s = row->remote.records ? &row->remote : &row->near;
    char threads[TEXT_MAX], code[TEXT_MAX], bytes[TEXT_MAX];

    printf("  chip %u %-14s %-5s %s  %s  records=%" PRIu64 " cycles=%" PRIu64, row->chip,
           threads_of(row, threads), kinds[row->kind], code_at(row->of, row->pc, code),
           bytes_of(row, bytes), s->records, mean(s));
    if (row->remote.records)
        printf(" modified_pct=%.0f near=%" PRIu64 "\n", part(s->modified, s->records),
               row->near.records);
    else
        printf(" by own chip\n");
}

/* Finds what was allocated in the line: by its process, or before that was forked by the first.
 * Returns how many there are, OBJECTS_SHOWN at most; *pid is the process that has allocated. */
static size_t objects_in(const struct c2c_report *r, const struct lines_line *line,
                         struct allocation out[OBJECTS_SHOWN], uint32_t *pid)
{
    uint64_t end = line->address + r->all->line_bytes;
    size_t n = 0;

    *pid = line->pid;
    if (r->sites)
        n = allocations_in(*pid, line->address, end, out, OBJECTS_SHOWN);
    if (r->sites && !n)
        n = allocations_in(*pid = r->pid, line->address, end, out, OBJECTS_SHOWN);
    return n;
}

/* Prints what was allocated in the line, and where. */
static void print_objects(const struct c2c_report *r, const struct lines_line *line)
{
    struct allocation a[OBJECTS_SHOWN];
    uint32_t pid;
    size_t n = objects_in(r, line, a, &pid);
    char code[TEXT_MAX];

    for (size_t i = 0; i < n; i++)
        printf("  at %+" PRId64 "  %" PRIu64 " bytes allocated by %s\n",
               (int64_t)(a[i].start - line->address), a[i].bytes,
               code_at(pid, a[i].site - 1, code));
}

static void print_line(const struct c2c_report *r, const struct lines_line *line)
{
    struct lines_row *rows;
    size_t n = lines_rows(line, &rows), processes = lines_processes(line);
    char accesses[FIGURE_MAX], cycles[FIGURE_MAX], where[TEXT_MAX];

    printf("line 0x%" PRIx64 "  %s  %s sharing  %s accesses  %s cycles  share_pct=%.1f "
           "records=%" PRIu64 " met_pct=%.1f stores_pct=%.1f",
           line->address, what_is_in(line, where), verdicts[line->verdict],
           figure_grouped(line->remote.accesses, accesses),
           figure_grouped(line->remote.cycles, cycles),
           part(line->remote.cycles, r->all->remote.cycles), line->remote.records, 100 * line->met,
           part(line->store_cycles, line->remote.cycles));
    if (processes > 1)
        printf(" processes=%zu", processes);
    printf("\n");
    print_objects(r, line);
    for (size_t i = 0; i < n && i < r->rows; i++)
        print_row(&rows[i]);
    if (n > r->rows)
        printf("  rest: rows=%zu\n", n - r->rows);
    free(rows);
}

static void print_advice(const struct c2c_report *r)
{
    char low[FIGURE_MAX], high[FIGURE_MAX];

    for (size_t i = 0; i < WORST && i < r->found.count; i++) {
        const struct lines_line *line = &r->found.line[i];
        struct advice a = advise(r, line);
        if (!a.what)
            continue;
        printf("c2c: line=0x%" PRIx64 " %s_saves=%.0f at_most=%.0f", line->address, a.what,
               a.saving.cycles, a.saving.at_most);
        if (line->verdict == LINES_TRUE)
            printf(" threads=%zu chip_cpus=%u chip_cores=%u", lines_users(line), r->chip_cpus,
                   r->chip_cores);
        printf(": %s, %s cycles, or %s if stores are waited for\n",
               line->verdict == LINES_FALSE ? "each side with lines of its own"
                                            : "its threads on one chip",
               figure_grouped((uint64_t)a.saving.cycles, low),
               figure_grouped((uint64_t)a.saving.at_most, high));
    }
}

static void print_text(const struct c2c_report *r)
{
    const struct lines_sums *s = &r->all->remote;
    char records[FIGURE_MAX], accesses[FIGURE_MAX], cycles[FIGURE_MAX];
    char near[FIGURE_MAX] = "unknown";
    size_t shown = r->found.count < r->lines ? r->found.count : r->lines;

    if (r->near_cycles > 0)
        snprintf(near, sizeof near, "%.1f", r->near_cycles);

    printf("c2c: of=%s ms=%.1f records=%" PRIu64 " accesses=%" PRIu64 " cycles=%" PRIu64
           " busy_pct=%.1f: %s records stand for %s accesses, %s cycles of latency\n",
           r->program, r->ms, s->records, s->accesses, s->cycles, part(s->cycles, r->busy),
           figure_grouped(s->records, records), figure_grouped(s->accesses, accesses),
           figure_grouped(s->cycles, cycles));
    for (size_t i = 0; i < shown; i++)
        print_line(r, &r->found.line[i]);
    print_advice(r);
    if (r->sites)
        printf("c2c: allocations=%" PRIu64 " not_noted=%" PRIu64 "\n", allocations_count(),
               allocations_left_out());
    printf("c2c: lines=%zu shown=%zu lost=%" PRIu64 " lost_near=%" PRIu64 " left_out=%" PRIu64
           " mean=%" PRIu64 " cost_pct=%s line_bytes=%u cpus=%u chips=%u near_cycles=%s\n",
           r->found.count, shown, r->account.lost, r->lost_near, r->all->left_out,
           s->records ? s->accesses / s->records : 0, r->cost, r->all->line_bytes, r->cpus,
           r->chips, near);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void record_sums(const struct lines_sums *s)
{
    record_number("records", s->records);
    record_number("accesses", s->accesses);
    record_number("cycles", s->cycles);
    record_number("modified", s->modified);
}

static void record_address(const char *column, uint64_t address)
{
    char text[24];

    snprintf(text, sizeof text, "0x%" PRIx64, address);
    record_text(column, text);
}

static void record_row(enum record_format f, const struct lines_line *line,
                       const struct lines_row *row)
{
    const struct place *p = places_code(row->of, row->pc);
    char text[TEXT_MAX];

    record_begin(f, "c2c", "row");
    record_address("line", line->address);
    record_number("chip", row->chip);
    record_text("threads", threads_of(row, text));
    record_text("kind", kinds[row->kind]);
    record_address("pc", row->pc);
    record_text_if("function", p->function);
    record_text_if("file", p->file);
    record_number_if("source_line", p->line != 0, p->line);
    record_text("bytes", bytes_of(row, text));
    record_sums(&row->remote);
    record_number("near_records", row->near.records);
    record_number_if("near_cycles", row->near.accesses != 0, mean(&row->near));
    record_end();
}

static void record_objects(const struct c2c_report *r, enum record_format f,
                           const struct lines_line *line)
{
    struct allocation a[OBJECTS_SHOWN];
    uint32_t pid;
    size_t n = objects_in(r, line, a, &pid);

    for (size_t i = 0; i < n; i++) {
        const struct place *p = places_code(pid, a[i].site - 1);
        record_begin(f, "c2c", "object");
        record_address("line", line->address);
        record_address("start", a[i].start);
        record_number("bytes", a[i].bytes);
        record_address("site", a[i].site);
        record_text_if("function", p->function);
        record_text_if("file", p->file);
        record_number_if("source_line", p->line != 0, p->line);
        record_end();
    }
}

static void record_line(const struct c2c_report *r, enum record_format f,
                        const struct lines_line *line)
{
    struct advice a = advise(r, line);
    struct lines_row *rows;
    size_t n = lines_rows(line, &rows);
    char where[TEXT_MAX];

    record_begin(f, "c2c", "line");
    record_address("line", line->address);
    record_text("what", what_is_in(line, where));
    record_text("sharing", verdicts[line->verdict]);
    record_sums(&line->remote);
    record_number("store_cycles", line->store_cycles);
    record_real("met", line->met, 4);
    record_real("crossed", line->crossed, 4);
    record_number("threads", lines_users(line));
    record_text_if("change", a.what);
    record_real_if("saves", a.what, a.saving.cycles, 0);
    record_real_if("saves_at_most", a.what, a.saving.at_most, 0);
    record_real("dense", line->dense, 4);
    record_number("processes", lines_processes(line));
    record_end();
    record_objects(r, f, line);
    for (size_t i = 0; i < n && i < r->rows; i++)
        record_row(f, line, &rows[i]);
    free(rows);
}

static void print_records(const struct c2c_report *r, enum record_format f)
{
    record_begin(f, "c2c", "run");
    record_text("program", r->program);
    record_real("ms", r->ms, 3);
    record_sums(&r->all->remote);
    record_number("lost", r->account.lost);
    record_number("lost_near", r->lost_near);
    record_number("left_out", r->all->left_out);
    record_number_if("busy_cycles", r->busy != 0, r->busy);
    record_real("cost_pct", r->cost_pct, 3);
    record_number("line_bytes", r->all->line_bytes);
    record_number("cpus", r->cpus);
    record_number("chips", r->chips);
    record_number("chip_cpus", r->chip_cpus);
    record_number("chip_cores", r->chip_cores);
    record_real_if("near_cycles", r->near_cycles > 0, r->near_cycles, 1);
    record_number("lines", r->found.count);
    record_end();
    for (size_t i = 0; i < r->found.count && i < r->lines; i++)
        record_line(r, f, &r->found.line[i]);
}

void c2c_show(const struct c2c_report *r)
{
    if (r->format == FORMAT_TEXT)
        print_text(r);
    else
        print_records(r, r->format == FORMAT_CSV ? RECORD_CSV : RECORD_JSON);
}
