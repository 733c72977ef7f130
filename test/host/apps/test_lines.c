/* Contended lines: planted ones by name, random accesses against an oracle that knows each of them,
 * and too little memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "apps/common/prng.h"
#include "apps/tools/c2c/lines.h"

enum { LINE = 128, BASE = 0x10000, WAIT = 120, NEAR = 14 };

static long allocations_left = -1; /* of calloc; below 0: no end */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
    if (!allocations_left)
        return NULL;
    allocations_left -= allocations_left > 0;
    return __real_calloc(n, size);
}

static struct lines lines;
static struct lines_found found;

static int no_lines(void **state)
{
    (void)state;
    allocations_left = -1;
    lines_begin(&lines, LINE);
    return 0;
}

static int all_gone(void **state)
{
    (void)state;
    allocations_left = -1;
    lines_found_free(&found);
    lines_end(&lines);
    return 0;
}

/* Makes accesses of a thread on a chip to bytes of the first line, by an instruction of their
 * own. */
static void use(unsigned times, uint32_t tid, uint16_t chip, enum lines_kind kind, unsigned offset,
                uint16_t bytes)
{
    for (unsigned i = 0; i < times; i++)
        lines_add(&lines, &(struct lines_access){.address = BASE + offset,
                                                 .place = BASE + offset,
                                                 .pc = 0x400000 + tid * 0x100 + kind,
                                                 .tid = tid,
                                                 .period = 10,
                                                 .chip = chip,
                                                 .bytes = bytes,
                                                 .latency = WAIT,
                                                 .kind = kind});
}

static const struct lines_line *only_line(void)
{
    assert_true(lines_find(&lines, &found));
    assert_int_equal(found.count, 1);
    assert_int_equal(found.line[0].address, BASE);
    return &found.line[0];
}

/* ---- Planted --------------------------------------------------------------------------------- */

static void fields_of_different_sides_are_shared_falsely(void **state)
{
    (void)state;
    use(20, 1, 0, LINES_WRITE, 0, 8);
    use(20, 2, 1, LINES_READ, 8, 8);
    const struct lines_line *l = only_line();
    assert_int_equal(l->verdict, LINES_FALSE);
    assert_float_equal(l->met, 0, 0);
    assert_float_equal(l->crossed, 1, 0);
    assert_int_equal(l->store_cycles, 20 * 10 * WAIT);
    assert_float_equal(lines_padded(l).cycles, 20 * 10 * WAIT, 0);
    assert_float_equal(lines_padded(l).at_most, 40 * 10 * WAIT, 0);
}

static void a_byte_of_both_sides_is_shared_truly(void **state)
{
    (void)state;
    use(20, 1, 0, LINES_RMW, 0, 8);
    use(20, 2, 1, LINES_READ, 7, 1);
    const struct lines_line *l = only_line();
    assert_int_equal(l->verdict, LINES_TRUE);
    /* of the first side's accesses one byte of eight meets, twice 1/8 of 200 of 400 */
    assert_float_equal(l->met, 0.125, 1e-9);
    assert_float_equal(lines_padded(l).cycles, 0.875 * 40 * 10 * WAIT, 1e-6);
    assert_float_equal(lines_together(l, NEAR).cycles, 40 * 10 * (WAIT - NEAR), 1e-6);
    assert_float_equal(lines_together(l, WAIT + 1).at_most, 0, 0);
}

static void what_no_side_writes_is_unclear(void **state)
{
    (void)state;
    use(30, 1, 0, LINES_READ, 0, 8);
    use(30, 2, 1, LINES_READ, 0, 8);
    assert_int_equal(only_line()->verdict, LINES_UNCLEAR);
}

static void few_records_are_unclear(void **state)
{
    (void)state;
    use(10, 1, 0, LINES_WRITE, 0, 8);
    use(LINES_RECORDS_MIN - 11, 2, 1, LINES_WRITE, 8, 8);
    assert_int_equal(only_line()->verdict, LINES_UNCLEAR);
    lines_found_free(&found);
    use(1, 2, 1, LINES_WRITE, 8, 8);
    assert_int_equal(only_line()->verdict, LINES_FALSE);
}

/* Words at random, each of both sides: few records do not meet, and do not tell. */
static void what_is_hardly_known_is_unclear(void **state)
{
    (void)state;
    for (unsigned w = 0; w < 16; w++)
        use(2, 1 + w % 2, w % 2, LINES_WRITE, 8 * w, 8);
    const struct lines_line *l = only_line();
    assert_int_equal(l->verdict, LINES_UNCLEAR);
    assert_float_equal(l->crossed, 1, 0);
    assert_float_equal(l->dense, 0, 0);
    lines_found_free(&found);
    for (unsigned w = 0; w < 16; w++)
        use(2, 1 + w % 2, w % 2, LINES_WRITE, 8 * w, 8);
    assert_int_equal(only_line()->verdict, LINES_FALSE);
}

/* A thread that moves finds its own lines on the other chip. */
static void a_thread_does_not_share_with_itself(void **state)
{
    (void)state;
    use(30, 1, 0, LINES_WRITE, 0, 8);
    use(30, 1, 1, LINES_WRITE, 0, 8);
    assert_int_equal(only_line()->verdict, LINES_UNCLEAR);
}

static void threads_of_one_chip_do_not_make_it_true(void **state)
{
    (void)state;
    use(20, 1, 0, LINES_WRITE, 0, 8);
    use(20, 2, 0, LINES_WRITE, 0, 8);
    use(20, 3, 1, LINES_WRITE, 8, 8);
    assert_int_equal(only_line()->verdict, LINES_FALSE);
}

/* As when the main thread prints what others have counted. */
static void one_look_does_not_make_it_true(void **state)
{
    (void)state;
    use(100, 1, 0, LINES_WRITE, 0, 8);
    use(100, 2, 1, LINES_WRITE, 8, 8);
    use(1, 3, 1, LINES_READ, 0, 8);
    use(1, 3, 0, LINES_READ, 8, 8);
    const struct lines_line *l = only_line();
    assert_int_equal(l->verdict, LINES_FALSE);
    assert_float_equal(l->met, 4.0 / 202, 1e-9);
}

static void near_accesses_tell_bytes_and_no_cost(void **state)
{
    (void)state;
    struct lines_access near = {.address = BASE + 8,
                                .place = BASE + 8,
                                .tid = 3,
                                .period = 100,
                                .chip = 1,
                                .bytes = 8,
                                .latency = NEAR,
                                .kind = LINES_WRITE,
                                .near = true};
    lines_add(&lines, &near);
    assert_true(lines_find(&lines, &found));
    assert_int_equal(found.count, 0);
    lines_found_free(&found);
    use(30, 1, 0, LINES_READ, 8, 8);
    use(30, 2, 1, LINES_READ, 8, 8);
    const struct lines_line *l = only_line();
    assert_int_equal(l->remote.cycles, 60 * 10 * WAIT);
    assert_int_equal(l->near.cycles, 100 * NEAR);
    /* The third thread writes; the first is on another chip, the second is not. */
    assert_float_equal(l->crossed, 0, 0);
    assert_float_equal(lines_near_cycles(&found), 0, 0);
    lines_found_free(&found);
    for (unsigned i = 1; i < LINES_RECORDS_MIN; i++)
        lines_add(&lines, &near);
    only_line();
    assert_float_equal(lines_near_cycles(&found), NEAR, 0);
}

static void rows_join_threads_and_bytes(void **state)
{
    (void)state;
    uint32_t tid[4];
    struct lines_row *rows;
    struct lines_access a = {.address = BASE + 120,
                             .place = BASE + 120,
                             .pc = 5,
                             .tid = 9,
                             .period = 1,
                             .bytes = 16,
                             .latency = 7};
    lines_add(&lines, &a);
    a.tid = 8;
    a.bytes = 0;
    a.address = a.place = BASE;
    lines_add(&lines, &a);
    lines_add(&lines, &a);
    assert_int_equal(lines_rows(only_line(), &rows), 1);
    assert_int_equal(rows[0].remote.records, 3);
    assert_int_equal(rows[0].used[0], 1);
    assert_int_equal(rows[0].used[1], (uint64_t)0xff << 56);
    assert_int_equal(lines_threads(&rows[0], tid, 4), 2);
    assert_int_equal(tid[0], 8);
    assert_int_equal(tid[1], 9);
    assert_int_equal(lines_threads(&rows[0], tid, 1), 2);
    assert_int_equal(lines_users(&found.line[0]), 2);
    free(rows);
}

/* Makes accesses of a process, a thread of its own on a chip of its own, to a byte of memory. */
static void use_memory(uint32_t pid, uint64_t space, uint64_t address, uint64_t place, uint32_t of)
{
    for (unsigned i = 0; i < 30; i++)
        lines_add(&lines, &(struct lines_access){.address = address,
                                                 .space = space,
                                                 .place = place,
                                                 .pc = 0x400000,
                                                 .pid = pid,
                                                 .tid = pid,
                                                 .of = of,
                                                 .period = 10,
                                                 .chip = (uint16_t)pid,
                                                 .bytes = 8,
                                                 .latency = WAIT,
                                                 .kind = LINES_RMW});
}

static void processes_meet_in_shared_memory(void **state)
{
    enum { SHARED = 1000 };
    struct lines_row *rows;

    (void)state;
    use_memory(1, SHARED, BASE + 8, 0x5008, 1);
    use_memory(2, SHARED, 2 * BASE + 8, 0x5008, 1);
    const struct lines_line *l = only_line();
    assert_int_equal(l->verdict, LINES_TRUE);
    assert_int_equal(lines_processes(l), 2);
    assert_true((l->pid == 1 && l->address == BASE) || (l->pid == 2 && l->address == 2 * BASE));
    assert_int_equal(lines_rows(l, &rows), 2); /* one code on two chips */
    assert_true(rows[0].of == 1 && rows[1].of == 1);
    free(rows);
}

static void own_memory_of_processes_is_apart(void **state)
{
    (void)state;
    use_memory(1, 1, BASE, BASE, 1);
    use_memory(2, 2, BASE, BASE, 2);
    assert_true(lines_find(&lines, &found));
    assert_int_equal(found.count, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(found.line[i].verdict, LINES_UNCLEAR);
        assert_int_equal(found.line[i].address, BASE);
        assert_int_equal(lines_processes(&found.line[i]), 1);
    }
    assert_int_equal(found.line[0].pid + found.line[1].pid, 3);
}

static void code_of_programs_at_one_address_is_apart(void **state)
{
    struct lines_row *rows;

    (void)state;
    use_memory(1, 1, BASE, BASE, 1);
    for (unsigned i = 0; i < 30; i++)
        lines_add(&lines, &(struct lines_access){.address = BASE,
                                                 .space = 1,
                                                 .place = BASE,
                                                 .pc = 0x400000,
                                                 .pid = 2,
                                                 .tid = 2,
                                                 .of = 2,
                                                 .period = 10,
                                                 .chip = 1,
                                                 .latency = WAIT,
                                                 .kind = LINES_RMW});
    assert_int_equal(lines_rows(only_line(), &rows), 2);
    assert_true(rows[0].of != rows[1].of);
    free(rows);
}

/* ---- At random ------------------------------------------------------------------------------- */

enum { LINES = 6, TIDS = 5, CHIPS = 3, ACCESSES = 400 };

/* What the oracle knows: for each line, thread, chip and byte. LINE: the line as a whole. */
static struct known {
    double remote[TIDS][CHIPS];
    unsigned records;
    bool used[TIDS][CHIPS], wrote[TIDS][CHIPS];
} known[LINES][LINE + 1];
static struct lines_sums sums[LINES];

static void know(unsigned line, unsigned byte, const struct lines_access *a, double weight)
{
    struct known *k = &known[line][byte];

    k->records++;
    k->used[a->tid][a->chip] = true;
    k->wrote[a->tid][a->chip] |= a->kind != LINES_READ;
    k->remote[a->tid][a->chip] += a->near ? 0 : weight;
}

static bool meets(const struct known *k, unsigned t, unsigned c)
{
    for (unsigned u = 0; u < TIDS; u++)
        for (unsigned d = 0; d < CHIPS; d++)
            if (u != t && d != c && k->used[t][c] && k->used[u][d] &&
                (k->wrote[t][c] || k->wrote[u][d]))
                return true;
    return false;
}

static double crossing(const struct known *k)
{
    double thread[TIDS] = {0}, chip[CHIPS] = {0}, all = 0, largest = 0;

    for (unsigned t = 0; t < TIDS; t++)
        for (unsigned c = 0; c < CHIPS; c++)
            if (meets(k, t, c)) {
                thread[t] += k->remote[t][c];
                chip[c] += k->remote[t][c];
                all += k->remote[t][c];
            }
    for (unsigned t = 0; t < TIDS; t++)
        largest = fmax(largest, thread[t]);
    for (unsigned c = 0; c < CHIPS; c++)
        largest = fmax(largest, chip[c]);
    return fmin(all, 2 * (all - largest));
}

static struct lines_access any_access(struct prng *prng, unsigned *line)
{
    *line = prng_below(prng, LINES);
    /* Each line has its own mix: few bytes, or mostly a thread's own; few threads that write. */
    uint32_t tid = prng_below(prng, TIDS);
    bool own = *line % 2 && prng_below(prng, 30);
    unsigned offset = own ? tid * 24 + prng_below(prng, 8) : prng_below(prng, *line < 3 ? 4 : LINE);
    return (struct lines_access){
        .address = BASE + *line * LINE + offset,
        .space = 5 + *line % 2,
        .place = BASE + *line / 2 * LINE + offset,
        .pc = prng_below(prng, 3),
        .tid = tid,
        .period = 1 + prng_below(prng, 100),
        .chip = (uint16_t)(prng_below(prng, 4) ? tid % CHIPS : prng_below(prng, CHIPS)),
        .bytes = (uint16_t)(prng_below(prng, 5) * 4),
        .latency = (uint16_t)prng_below(prng, 300),
        .kind = tid < *line ? prng_below(prng, LINES_KINDS) : LINES_READ,
        .near = !prng_below(prng, 4),
        .modified = prng_below(prng, 2),
    };
}

static void note(const struct lines_access *a, unsigned line)
{
    unsigned offset = (unsigned)(a->address % LINE), bytes = a->bytes ? a->bytes : 1;

    bytes = offset + bytes > LINE ? LINE - offset : bytes;
    know(line, LINE, a, a->period);
    for (unsigned b = offset; b < offset + bytes; b++)
        know(line, b, a, (double)a->period / bytes);
    if (a->near)
        return;
    sums[line].records++;
    sums[line].accesses += a->period;
    sums[line].cycles += (uint64_t)a->period * a->latency;
    sums[line].modified += a->modified;
}

static void check_line(const struct lines_line *l)
{
    unsigned n = (unsigned)(l->address - BASE) / LINE;
    double all = (double)sums[n].accesses, crossed = crossing(&known[n][LINE]) / all, met = 0,
           dense = 0;

    assert_memory_equal(&l->remote, &sums[n], sizeof sums[n]);
    if (l->remote.records < LINES_RECORDS_MIN) {
        assert_int_equal(l->verdict, LINES_UNCLEAR);
        return;
    }
    for (unsigned b = 0; b < LINE; b++) {
        const struct known *k = &known[n][b];
        met += crossing(k) / all;
        for (unsigned i = 0; i < TIDS * CHIPS && k->records >= 4; i++)
            dense += k->remote[i / CHIPS][i % CHIPS] / all;
    }
    assert_float_equal(l->dense, dense, 1e-9);
    assert_float_equal(l->crossed, crossed, 1e-9);
    assert_float_equal(l->met, met, 1e-9);
    assert_true(met <= crossed + 1e-9 && crossed <= 1 + 1e-9);
    if (fabs(met - 0.1) < 1e-9 || fabs(crossed - 0.1) < 1e-9 || fabs(dense - 0.5) < 1e-9)
        return;
    enum lines_verdict wanted = met >= 0.1                       ? LINES_TRUE
                                : crossed >= 0.1 && dense >= 0.5 ? LINES_FALSE
                                                                 : LINES_UNCLEAR;
    assert_int_equal(l->verdict, wanted);
}

static void check_rows(const struct lines_line *l)
{
    struct lines_sums remote = {0};
    struct lines_row *rows;
    size_t n = lines_rows(l, &rows);

    for (size_t i = 0; i < n; i++) {
        remote.records += rows[i].remote.records;
        remote.accesses += rows[i].remote.accesses;
        remote.cycles += rows[i].remote.cycles;
        remote.modified += rows[i].remote.modified;
        for (size_t j = 0; j < i; j++)
            assert_false(rows[i].chip == rows[j].chip && rows[i].kind == rows[j].kind &&
                         rows[i].pc == rows[j].pc);
    }
    assert_memory_equal(&remote, &l->remote, sizeof remote);
    free(rows);
}

static void random_accesses_are_as_an_oracle_says(void **state)
{
    unsigned verdicts[3] = {0};

    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct prng prng = prng_seeded(seed, 0);
        unsigned line, accesses = prng_below(&prng, ACCESSES), lines_known = 0;
        memset(known, 0, sizeof known);
        memset(sums, 0, sizeof sums);
        lines_begin(&lines, LINE);
        for (unsigned i = 0; i < accesses; i++) {
            struct lines_access a = any_access(&prng, &line);
            lines_add(&lines, &a);
            note(&a, line);
        }
        for (unsigned i = 0; i < LINES; i++)
            lines_known += sums[i].records > 0;
        assert_true(lines_find(&lines, &found));
        assert_int_equal(found.count, lines_known);
        for (size_t i = 0; i < found.count; i++) {
            check_line(&found.line[i]);
            check_rows(&found.line[i]);
            verdicts[found.line[i].verdict]++;
            assert_true(!i || found.line[i - 1].remote.cycles >= found.line[i].remote.cycles);
        }
        lines_found_free(&found);
        lines_end(&lines);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_true(verdicts[i] > 50);
    lines_begin(&lines, LINE);
}

static void too_little_memory_is_told(void **state)
{
    (void)state;
    for (long enough = 0;; enough++) {
        lines_begin(&lines, LINE);
        allocations_left = enough;
        use(20, 1, 0, LINES_WRITE, 0, 8);
        use(20, 2, 1, LINES_WRITE, 8, 8);
        bool known_all = !lines.left_out, done = lines_find(&lines, &found);
        assert_int_equal(lines.remote.records + lines.left_out, 40);
        allocations_left = -1;
        lines_found_free(&found);
        lines_end(&lines);
        if (done && known_all)
            break;
        assert_true(enough < 100);
    }
    lines_begin(&lines, LINE);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, no_lines, all_gone)
    const struct CMUnitTest tests[] = {
        test(fields_of_different_sides_are_shared_falsely),
        test(a_byte_of_both_sides_is_shared_truly),
        test(what_no_side_writes_is_unclear),
        test(few_records_are_unclear),
        test(what_is_hardly_known_is_unclear),
        test(a_thread_does_not_share_with_itself),
        test(threads_of_one_chip_do_not_make_it_true),
        test(one_look_does_not_make_it_true),
        test(near_accesses_tell_bytes_and_no_cost),
        test(rows_join_threads_and_bytes),
        test(processes_meet_in_shared_memory),
        test(own_memory_of_processes_is_apart),
        test(code_of_programs_at_one_address_is_apart),
        test(random_accesses_are_as_an_oracle_says),
        test(too_little_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
