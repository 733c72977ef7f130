/* Sums of samples, and names of places: what is looked up, what is remembered, and what is one
 * row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/places.h"
#include "apps/tools/measuring/shares.h"
#include "apps/libc/hpm.h"
#include "apps/libc/memory.h"

#define KERNEL 0xffffffff80200000u

/* ---- A machine: two programs with functions of 0x100 bytes, and a kernel --------------------- */

static unsigned asked;
static bool ended;              /* all processes have */
static const char *region_name; /* of the 0x10000 bytes of memory at 0x100000 */

static const char *program_of(uint32_t pid)
{
    return pid == 1 ? "first" : pid == 2 || pid == 3 ? "second" : NULL;
}

int application_threads(int pid, struct sys_thread_info *out, size_t room)
{
    const char *name = program_of((uint32_t)pid);

    if (!name || ended)
        return -ESRCH;
    if (room)
        snprintf(out->name, sizeof out->name, "%s", name);
    return 1;
}

/* From its middle on, each function contains inlined code of a header. */
static void put_code(uint64_t address, const char *region, struct sys_symbol *place)
{
    snprintf(place->region, sizeof place->region, "%s", region);
    snprintf(place->function, sizeof place->function, "function%u", (unsigned)(address >> 8 & 0xf));
    snprintf(place->file, sizeof place->file, address & 0x80 ? "inlined.h" : "file.c");
    place->function_offset = address & 0xff;
    place->line = (uint32_t)(address & 0xff) / 16 + 1;
}

int symbol_of(int pid, uint64_t address, struct sys_symbol *place)
{
    asked++;
    *place = (struct sys_symbol){0};
    if (ended || !(pid == 0 || program_of((uint32_t)pid)))
        return ESRCH;
    if (address >= KERNEL) {
        put_code(address, "kernel", place);
    } else if (address >= 0x100000 && address < 0x110000 && region_name) {
        snprintf(place->region, sizeof place->region, "%s", region_name);
        place->region_offset = address - 0x100000;
        place->region_bytes = 0x10000;
    } else if (address >= 0x400000 && address < 0x500000) {
        put_code(address, "code", place);
    }
    return 0;
}

/* Stands in for calloc(). */
static bool no_memory;
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
    return no_memory ? NULL : __real_calloc(n, size);
}

static int set_up(void **state)
{
    (void)state;
    no_memory = false;
    asked = 0;
    ended = false;
    region_name = "heap";
    return 0;
}

static struct sys_sample sample(uint32_t pid, uint64_t pc, uint32_t period)
{
    return (struct sys_sample){
        .pid = pid, .tid = 10 * pid, .pc = pc, .period = period, .source = SYS_SOURCE_NONE};
}

static void add(struct shares *s, uint32_t pid, uint64_t pc, uint32_t period)
{
    struct sys_sample one = sample(pid, pc, period);

    shares_add(s, &one);
}

/* Writes "samples weight name program file:number", row by row. */
static const char *rows_of(const struct shares *s)
{
    static char text[1024];
    size_t n, used = 0;
    const struct share **rows = shares_sorted(s, &n);

    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%u %u %s %s %s:%u\n",
                                 (unsigned)rows[i]->samples, (unsigned)rows[i]->weight,
                                 rows[i]->name ? rows[i]->name : "-", rows[i]->program,
                                 rows[i]->file ? rows[i]->file : "-", (unsigned)rows[i]->number);
    text[used] = '\0';
    free(rows);
    return text;
}

static void what_is_inlined_is_its_functions(void **state)
{
    struct shares s = {.by = SHARES_FUNCTION};

    (void)state;
    add(&s, 1, 0x400110, 5);
    add(&s, 1, 0x400190, 7);
    add(&s, 1, 0x400290, 100);
    assert_string_equal(rows_of(&s), "1 100 function2 first file.c:0\n"
                                     "2 12 function1 first file.c:0\n");
    assert_int_equal(s.samples, 3);
    assert_int_equal(s.weight, 112);
    shares_clear(&s);
    assert_string_equal(rows_of(&s), "");
}

static void lines_are_where_the_code_came_from(void **state)
{
    struct shares s = {.by = SHARES_LINE};

    (void)state;
    add(&s, 1, 0x400110, 5);
    add(&s, 1, 0x400114, 5);
    add(&s, 1, 0x400190, 7);
    assert_string_equal(rows_of(&s), "2 10 function1 first file.c:2\n"
                                     "1 7 function1 first inlined.h:10\n");
    shares_clear(&s);
}

static void processes_of_one_program_share_its_functions(void **state)
{
    struct shares functions = {.by = SHARES_FUNCTION}, processes = {.by = SHARES_PROCESS},
                  threads = {.by = SHARES_THREAD};

    (void)state;
    for (uint32_t pid = 1; pid <= 3; pid++) {
        add(&functions, pid, 0x400300, pid);
        add(&processes, pid, 0x400300, pid);
        add(&threads, pid, 0x400300, pid);
    }
    assert_string_equal(rows_of(&functions), "2 5 function3 second file.c:0\n"
                                             "1 1 function3 first file.c:0\n");
    assert_string_equal(rows_of(&processes), "1 3 - second -:0\n"
                                             "1 2 - second -:0\n"
                                             "1 1 - first -:0\n");
    assert_string_equal(rows_of(&threads), "1 3 - second -:30\n"
                                           "1 2 - second -:20\n"
                                           "1 1 - first -:10\n");
    shares_clear(&functions);
    shares_clear(&processes);
    shares_clear(&threads);
}

static void the_kernel_is_one_program_for_whomever_it_works(void **state)
{
    struct shares s = {.by = SHARES_FUNCTION};

    (void)state;
    for (uint32_t pid = 0; pid <= 3; pid++)
        add(&s, pid, KERNEL + 0x510, 1);
    assert_string_equal(rows_of(&s), "4 4 function5 kernel file.c:0\n");
    shares_clear(&s);
}

static void code_is_asked_about_once_and_known_when_its_process_has_ended(void **state)
{
    struct shares s = {.by = SHARES_FUNCTION};

    (void)state;
    add(&s, 2, 0x400610, 1);
    unsigned before = asked;
    ended = true;
    for (unsigned i = 0; i < 100; i++)
        add(&s, 2, 0x400610, 1);
    assert_int_equal(asked, before);
    assert_string_equal(rows_of(&s), "101 101 function6 second file.c:0\n");
    add(&s, 2, 0x400710, 1); /* too late: the process has ended */
    add(&s, 2, 0x400890, 1);
    assert_string_equal(rows_of(&s), "101 101 function6 second file.c:0\n"
                                     "2 2 ? second ?:0\n");
    shares_clear(&s);
}

static void who_ended_before_anybody_asked_has_no_name(void **state)
{
    (void)state;
    assert_string_equal(places_program(77), "?");
    places_name(78, "child");
    assert_string_equal(places_program(78), "child");
    assert_string_equal(places_program(0), "kernel");
}

static void accesses_are_to_the_region_of_their_data(void **state)
{
    struct shares s = {.by = SHARES_REGION};
    struct sys_sample access = sample(1, 0x400110, 3);

    (void)state;
    access.source = 3;
    access.data = 0x100800;
    shares_add(&s, &access);
    access.data = 0xffff800000001000;
    shares_add(&s, &access);
    access.data = 0x300000;
    shares_add(&s, &access);
    add(&s, 1, 0x400110, 10);
    assert_string_equal(rows_of(&s), "1 10 code first -:0\n"
                                     "1 3 ? first -:0\n"
                                     "1 3 heap first -:0\n"
                                     "1 3 kernel memory first -:0\n");
    shares_clear(&s);
}

static void regions_are_asked_about_once_a_turn(void **state)
{
    (void)state;
    places_turn();
    assert_string_equal(places_region(1, 0x100000), "heap");
    asked = 0;
    assert_string_equal(places_region(1, 0x10ffff), "heap");
    assert_int_equal(asked, 0);
    region_name = "stack"; /* another region lies there now */
    places_turn();
    assert_string_equal(places_region(1, 0x104000), "stack");
    places_turn();
    ended = true;
    assert_string_equal(places_region(1, 0x108000), "stack");
    assert_string_equal(places_region(1, 0x118000), "?");
    assert_string_equal(places_region(2, 0x108000), "?");
}

static void what_there_is_no_memory_for_is_counted_all_the_same(void **state)
{
    struct shares s = {.by = SHARES_FUNCTION};

    (void)state;
    add(&s, 1, 0x400910, 5);
    no_memory = true;
    for (unsigned i = 0; i < 100; i++)
        add(&s, 1, 0x400a00 + 0x100 * i, 1);
    no_memory = false;
    assert_int_equal(s.samples, 101);
    assert_int_equal(s.weight, 105);
    assert_int_equal(s.others.weight, 100);
    assert_string_equal(rows_of(&s), "100 100 (no memory) (no memory) (no memory):0\n"
                                     "1 5 function9 first file.c:0\n");
    shares_clear(&s);
    assert_string_equal(rows_of(&s), "");
}

static void many_keys_are_found_again(void **state)
{
    struct table t = {.bytes = sizeof(struct share)};
    enum { MANY = 10000 };
    size_t cursor = 0, n = 0;

    (void)state;
    for (unsigned i = 0; i < MANY; i++)
        ((struct share *)table_get(&t, &(struct table_key){{i, i % 7, 0}}))->weight = i + 1;
    assert_int_equal(t.count, MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(
            ((struct share *)table_get(&t, &(struct table_key){{i, i % 7, 0}}))->weight, i + 1);
    assert_int_equal(t.count, MANY);
    while (table_next(&t, &cursor))
        n++;
    assert_int_equal(n, MANY);
    table_clear(&t);
    assert_int_equal(((struct share *)table_get(&t, &(struct table_key){{5, 5, 0}}))->weight, 0);
    table_clear(&t);
}

/* Of 4,000 recordings of a function that has a quarter of the time, with samples of equal weights
 * and of unequal ones, some 95 % have the quarter within its limits. */
static void limits_of_a_share_hold_it(void **state)
{
    static const uint64_t weights[2][4] = {{100, 100, 100, 100}, {20, 50, 130, 200}};
    enum { RUNS = 4000, SAMPLES = 80 };
    uint64_t seed = 1;

    (void)state;
    for (unsigned w = 0; w < 2; w++) {
        unsigned held = 0;
        for (unsigned run = 0; run < RUNS; run++) {
            struct shares s = {0};
            uint64_t mine = 0;
            double low, high;
            for (unsigned i = 0; i < SAMPLES; i++) {
                seed = seed * 6364136223846793005 + 1442695040888963407;
                uint64_t weight = weights[w][seed >> 60 & 3];
                s.weight += weight;
                s.squares += (double)weight * (double)weight;
                mine += seed >> 40 & 3 ? 0 : weight;
            }
            assert_true(shares_interval(&s, mine, &low, &high) && low < high);
            assert_true(low >= 0 && high <= 100);
            held += low <= 25 && 25 <= high;
        }
        assert_in_range(held, RUNS * 93 / 100, RUNS * 97 / 100);
    }
}

static void limits_end_at_none_and_all(void **state)
{
    struct shares s = {.weight = 50, .squares = 50};
    double low, high;

    (void)state;
    assert_true(shares_interval(&s, 0, &low, &high));
    assert_true(low == 0 && high > 6 && high < 8);
    assert_true(shares_interval(&s, 50, &low, &high));
    assert_true(low > 92 && low < 94 && high == 100);
    s = (struct shares){0};
    assert_false(shares_interval(&s, 0, &low, &high));
}

static void figures_are_easy_to_read(void **state)
{
    char text[FIGURE_MAX];

    (void)state;
    assert_string_equal(figure_grouped(0, text), "0");
    assert_string_equal(figure_grouped(999, text), "999");
    assert_string_equal(figure_grouped(1234567, text), "1,234,567");
    assert_string_equal(figure_grouped(UINT64_MAX, text), "18,446,744,073,709,551,615");
    assert_string_equal(figure_time(999, text), "999 ns");
    assert_string_equal(figure_time(1500, text), "1.500 us");
    assert_string_equal(figure_time(2500000, text), "2.500 ms");
    assert_int_equal(figure_scaled(1ull << 60, 1ull << 40, 1ull << 41), 1ull << 61);
    assert_int_equal(figure_scaled(7, 0, 9), 7);
    assert_true(figure_percent(1, 0) == 0 && figure_percent(1, 4) == 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, set_up)
        TEST(what_is_inlined_is_its_functions),
        TEST(lines_are_where_the_code_came_from),
        TEST(processes_of_one_program_share_its_functions),
        TEST(the_kernel_is_one_program_for_whomever_it_works),
        TEST(code_is_asked_about_once_and_known_when_its_process_has_ended),
        TEST(who_ended_before_anybody_asked_has_no_name),
        TEST(accesses_are_to_the_region_of_their_data),
        TEST(regions_are_asked_about_once_a_turn),
        TEST(what_there_is_no_memory_for_is_counted_all_the_same),
        TEST(many_keys_are_found_again),
        TEST(limits_of_a_share_hold_it),
        TEST(limits_end_at_none_and_all),
        TEST(figures_are_easy_to_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
