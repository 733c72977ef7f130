/* See lines.h. */
#include "apps/tools/c2c/lines.h"
#include <stdlib.h>
#include <string.h>

void lines_begin(struct lines *l, unsigned line_bytes)
{
    *l = (struct lines){.line_bytes = line_bytes, .cells = {.bytes = sizeof(struct lines_cell)}};
}

void lines_end(struct lines *l)
{
    table_clear(&l->cells);
}

static void add_sums(struct lines_sums *to, const struct lines_sums *more)
{
    to->records += more->records;
    to->accesses += more->accesses;
    to->cycles += more->cycles;
    to->modified += more->modified;
}

void lines_add(struct lines *l, const struct lines_access *a)
{
    unsigned offset = (unsigned)(a->address & (l->line_bytes - 1)), left = l->line_bytes - offset;
    unsigned bytes = !a->bytes ? 1 : a->bytes < left ? a->bytes : left;
    uint64_t line = a->place & ~(uint64_t)(l->line_bytes - 1);
    struct table_key key = {
        {line | a->kind, a->pc,
         (uint64_t)a->tid << 32 | (uint64_t)(a->chip & 0xfff) << 20 | offset << 10 | bytes,
         a->space << 24 | (a->of & 0xffffff)}};
    struct lines_cell *cell = table_get(&l->cells, &key);

    if (!cell) {
        l->left_out++;
        return;
    }
    cell->space = a->space;
    cell->line = line;
    cell->address = a->address - offset;
    cell->pc = a->pc;
    cell->pid = a->pid;
    cell->tid = a->tid;
    cell->of = a->of;
    cell->chip = a->chip & 0xfff;
    cell->offset = (uint16_t)offset;
    cell->bytes = (uint16_t)bytes;
    cell->kind = (uint8_t)a->kind;
    struct lines_sums one = {1, a->period, (uint64_t)a->period * a->latency, a->modified};
    add_sums(a->near ? &cell->near : &cell->remote, &one);
    add_sums(a->near ? &l->near : &l->remote, &one);
}

/* ---- Which bytes meet ------------------------------------------------------------------------ */

/* What a side does with a byte, or with the line. */
struct side {
    uint32_t tid;
    uint16_t chip;
    bool used, wrote; /* near accesses count */
    double remote;    /* accesses */
};

static bool crosses(const struct side *a, const struct side *b)
{
    return a->tid != b->tid && a->chip != b->chip && a->used && b->used && (a->wrote || b->wrote);
}

/* Returns the accesses of the sides that cross others, of one thread or of one chip. */
static double sum_alike(const struct side *side, size_t sides, const bool *crossing,
                        const struct side *like, bool by_chip)
{
    double sum = 0;

    for (size_t i = 0; i < sides; i++)
        if (crossing[i] && (by_chip ? side[i].chip == like->chip : side[i].tid == like->tid))
            sum += side[i].remote;
    return sum;
}

/* Returns how many remote accesses come from sides crossing each other. A line goes to and fro
 * between two sides, so the larger one counts for no more than the rest: one look by a thread does
 * not make all that another one does shared. */
static double sum_crossing(const struct side *side, size_t sides, bool *crossing)
{
    double all = 0, largest = 0;

    for (size_t i = 0; i < sides; i++) {
        crossing[i] = false;
        for (size_t j = 0; j < sides && !crossing[i]; j++)
            crossing[i] = crosses(&side[i], &side[j]);
        all += crossing[i] ? side[i].remote : 0;
    }
    for (size_t i = 0; i < sides; i++)
        for (unsigned by_chip = 0; crossing[i] && by_chip < 2; by_chip++) {
            double sum = sum_alike(side, sides, crossing, &side[i], by_chip);
            largest = sum > largest ? sum : largest;
        }
    return 2 * (all - largest) < all ? 2 * (all - largest) : all;
}

static void clear_sides(struct side *side, size_t sides)
{
    for (size_t i = 0; i < sides; i++) {
        side[i].used = side[i].wrote = false;
        side[i].remote = 0;
    }
}

static void use_side(struct side *s, const struct lines_cell *c, double parts)
{
    s->used = true;
    s->wrote |= c->kind != LINES_READ;
    s->remote += (double)c->remote.accesses / parts;
}

/* Names the sides of a line, and each cell's side. Returns their number. */
static size_t name_sides(const struct lines_line *line, struct side *side, size_t *of)
{
    size_t sides = 0;

    for (size_t i = 0; i < line->count; i++) {
        const struct lines_cell *c = line->cells[i];
        size_t n = 0;
        while (n < sides && (side[n].tid != c->tid || side[n].chip != c->chip))
            n++;
        if (n == sides)
            side[sides++] = (struct side){.tid = c->tid, .chip = c->chip};
        of[i] = n;
    }
    return sides;
}

/* Finds line->met and line->dense. all: its remote accesses, not 0. */
static void look_at_bytes(struct lines_line *line, struct side *side, size_t sides,
                          const size_t *of, bool *crossing, double all)
{
    for (unsigned byte = 0; byte < LINES_BYTES_MAX; byte++) {
        uint64_t records = 0;
        double used = 0;
        clear_sides(side, sides);
        for (size_t i = 0; i < line->count; i++) {
            const struct lines_cell *c = line->cells[i];
            if (byte < c->offset || byte >= c->offset + c->bytes)
                continue;
            records += c->remote.records + c->near.records;
            used += (double)c->remote.accesses / c->bytes;
            use_side(&side[of[i]], c, c->bytes);
        }
        line->dense += records >= LINES_BYTE_RECORDS ? used / all : 0;
        if (records)
            line->met += sum_crossing(side, sides, crossing) / all;
    }
}

static enum lines_verdict verdict_of(const struct lines_line *line)
{
    if (line->met >= LINES_PART_MIN)
        return LINES_TRUE;
    bool known = line->crossed >= LINES_PART_MIN && line->dense >= LINES_DENSE_MIN;
    return known ? LINES_FALSE : LINES_UNCLEAR;
}

static bool judge(struct lines_line *line)
{
    double all = (double)line->remote.accesses;

    if (line->remote.records < LINES_RECORDS_MIN || all <= 0)
        return true;
    struct side *side = calloc(line->count, sizeof *side);
    size_t *of = calloc(line->count, sizeof *of);
    bool *crossing = calloc(line->count, sizeof *crossing);
    bool enough = side && of && crossing;
    if (enough) {
        size_t sides = name_sides(line, side, of);
        for (size_t i = 0; i < line->count; i++)
            use_side(&side[of[i]], line->cells[i], 1);
        line->crossed = sum_crossing(side, sides, crossing) / all;
        look_at_bytes(line, side, sides, of, crossing, all);
        line->verdict = verdict_of(line);
    }
    free(side);
    free(of);
    free(crossing);
    return enough;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_place(const void *x, const void *y)
{
    const struct lines_cell *a = *(const struct lines_cell *const *)x,
                            *b = *(const struct lines_cell *const *)y;
    int order[] = {
        compare(a->space, b->space), compare(a->line, b->line),     compare(a->chip, b->chip),
        compare(a->kind, b->kind),   compare(a->pc, b->pc),         compare(a->of, b->of),
        compare(a->tid, b->tid),     compare(a->offset, b->offset), compare(a->bytes, b->bytes)};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i])
            return order[i];
    return 0;
}

static int by_cost(const void *x, const void *y)
{
    const struct lines_line *a = x, *b = y;
    int order = compare(b->remote.cycles, a->remote.cycles);

    order = order ? order : compare(b->remote.accesses, a->remote.accesses);
    return order ? order : compare(a->address, b->address);
}

/* Leaves out the lines of which no remote access was recorded. */
static void keep_remote(struct lines_found *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->count; i++)
        if (f->line[i].remote.records)
            f->line[kept++] = f->line[i];
    f->count = kept;
}

/* Begins a line at each cell whose predecessor is of another one. */
static void part_lines(struct lines_found *f, size_t cells)
{
    struct lines_line *line = f->line - 1;

    for (size_t i = 0; i < cells; i++) {
        struct lines_cell *c = f->cells[i];
        if (!i || f->cells[i - 1]->line != c->line || f->cells[i - 1]->space != c->space)
            *++line =
                (struct lines_line){.address = c->address, .pid = c->pid, .cells = &f->cells[i]};
        line->count++;
        add_sums(&line->remote, &c->remote);
        add_sums(&line->near, &c->near);
        line->store_cycles += c->kind == LINES_WRITE ? c->remote.cycles : 0;
    }
    f->count = (size_t)(line + 1 - f->line);
}

bool lines_find(const struct lines *l, struct lines_found *out)
{
    size_t cells = 0, cursor = 0;
    struct lines_cell *c;

    *out = (struct lines_found){.line = calloc(l->cells.count + 1, sizeof *out->line),
                                .cells = calloc(l->cells.count + 1, sizeof *out->cells)};
    bool enough = out->line && out->cells;
    while (enough && (c = table_next(&l->cells, &cursor)))
        out->cells[cells++] = c;
    if (enough) {
        qsort(out->cells, cells, sizeof *out->cells, by_place);
        part_lines(out, cells);
        keep_remote(out);
        for (size_t i = 0; i < out->count && enough; i++)
            enough = judge(&out->line[i]);
        qsort(out->line, out->count, sizeof *out->line, by_cost);
    }
    if (!enough)
        lines_found_free(out);
    return enough;
}

void lines_found_free(struct lines_found *f)
{
    free(f->line);
    free(f->cells);
    *f = (struct lines_found){0};
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int by_row_cost(const void *x, const void *y)
{
    const struct lines_row *a = x, *b = y;
    int order = compare(b->remote.cycles, a->remote.cycles);

    order = order ? order : compare(b->near.accesses, a->near.accesses);
    order = order ? order : compare(a->chip, b->chip);
    order = order ? order : compare(a->pc, b->pc);
    order = order ? order : compare(a->of, b->of);
    return order ? order : compare(a->kind, b->kind);
}

static bool same_row(const struct lines_cell *a, const struct lines_cell *b)
{
    return a->chip == b->chip && a->kind == b->kind && a->pc == b->pc && a->of == b->of;
}

size_t lines_rows(const struct lines_line *line, struct lines_row **rows)
{
    struct lines_row *r = calloc(line->count + 1, sizeof *r);
    size_t count = 0;

    *rows = r;
    for (size_t i = 0; r && i < line->count; i++) {
        const struct lines_cell *c = line->cells[i];
        if (!i || !same_row(c, line->cells[i - 1]))
            r[count++] =
                (struct lines_row){.chip = c->chip,
                                   .kind = c->kind,
                                   .pc = c->pc,
                                   .of = c->of,
                                   .cells = (const struct lines_cell *const *)&line->cells[i]};
        struct lines_row *row = &r[count - 1];
        row->count++;
        add_sums(&row->remote, &c->remote);
        add_sums(&row->near, &c->near);
        for (unsigned byte = c->offset; byte < (unsigned)c->offset + c->bytes; byte++)
            row->used[byte / 64] |= (uint64_t)1 << byte % 64;
    }
    if (r)
        qsort(r, count, sizeof *r, by_row_cost);
    return count;
}

/* Cells of a row are sorted by thread. */
size_t lines_threads(const struct lines_row *row, uint32_t *tid, size_t room)
{
    size_t count = 0;

    for (size_t i = 0; i < row->count; i++) {
        if (i && row->cells[i]->tid == row->cells[i - 1]->tid)
            continue;
        if (count < room)
            tid[count] = row->cells[i]->tid;
        count++;
    }
    return count;
}

double lines_near_cycles(const struct lines_found *f)
{
    struct lines_sums near = {0};

    for (size_t i = 0; i < f->count; i++)
        if (f->line[i].remote.records >= LINES_RECORDS_MIN)
            add_sums(&near, &f->line[i].near);
    bool enough = near.records >= LINES_RECORDS_MIN && near.accesses;
    return enough ? (double)near.cycles / (double)near.accesses : 0;
}

size_t lines_users(const struct lines_line *line)
{
    size_t users = 0;

    for (size_t i = 0; i < line->count; i++) {
        size_t j = 0;
        while (line->cells[j]->tid != line->cells[i]->tid)
            j++;
        users += j == i;
    }
    return users;
}

size_t lines_processes(const struct lines_line *line)
{
    size_t processes = 0;

    for (size_t i = 0; i < line->count; i++) {
        size_t j = 0;
        while (line->cells[j]->pid != line->cells[i]->pid)
            j++;
        processes += j == i;
    }
    return processes;
}

/* ---- Savings --------------------------------------------------------------------------------- */

static void add_saving(struct lines_saving *s, const struct lines_cell *c, double cycles)
{
    s->at_most += cycles;
    s->cycles += c->kind == LINES_WRITE ? 0 : cycles;
}

struct lines_saving lines_padded(const struct lines_line *line)
{
    struct lines_saving s = {0, 0};

    for (size_t i = 0; i < line->count; i++) {
        const struct lines_cell *c = line->cells[i];
        add_saving(&s, c, (double)(c->remote.cycles + c->near.cycles) * (1 - line->met));
    }
    return s;
}

struct lines_saving lines_together(const struct lines_line *line, double near)
{
    struct lines_saving s = {0, 0};

    for (size_t i = 0; i < line->count; i++) {
        const struct lines_cell *c = line->cells[i];
        double saved = (double)c->remote.cycles - near * (double)c->remote.accesses;
        add_saving(&s, c, saved > 0 ? saved : 0);
    }
    return s;
}
