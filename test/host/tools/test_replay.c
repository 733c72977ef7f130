/* vigil-replay: what each format is read as, how what is wrong is refused, and what comes out. */
#include "test/host/double/expect_panic.h"
#include "mm/track/page_trace.h"
#include "tools/replay/replay.h"

static struct page_trace t;
static char why[TRACE_WHY];

static int open_bytes(const void *data, size_t size, enum trace_format format)
{
    return trace_open(&t, data, size, format, TRACE_SPACES, why);
}

static int open_text(const char *text, enum trace_format format)
{
    return open_bytes(text, strlen(text), format);
}

static void assert_pages(const uint32_t *page, size_t n)
{
    assert_int_equal(t.length, n);
    assert_memory_equal(t.page, page, n * sizeof *page);
}

static void refused(const char *text, enum trace_format format, const char *line)
{
    assert_int_equal(open_text(text, format), -EINVAL);
    assert_string_equal(why, line);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void text_has_a_page_a_line_in_either_base(void **state)
{
    (void)state;
    const uint32_t page[] = {0, 1, 0, 2};

    assert_int_equal(
        open_text("17\n 0xfF \r\n# a comment\n\n17\n18446744073709551615", TRACE_GUESS), 0);
    assert_int_equal(t.format, TRACE_TEXT);
    assert_int_equal(t.pages, 3);
    assert_pages(page, 4);
    trace_close(&t);
}

static void stars_part_the_traces_of_lirs_authors(void **state)
{
    (void)state;
    const uint32_t page[] = {0, 1, 0};

    assert_int_equal(open_text("5\n*\n6\n5\n*\n", TRACE_GUESS), 0);
    assert_int_equal(t.format, TRACE_LIRS);
    assert_pages(page, 3);
    trace_close(&t);
    refused(
        "5\n*\n", TRACE_TEXT,
        "at byte 2: line 2: expected a page number, decimal or 0x and hexadecimal, found \"*\"");
}

static void a_star_far_behind_the_beginning_is_seen(void **state)
{
    enum { NUMBERS = 40000 };
    char *text = malloc(2 * NUMBERS + 16);
    size_t n = 0;

    (void)state;
    for (unsigned i = 0; i < NUMBERS; i++) {
        text[n++] = (char)('1' + i % 9);
        text[n++] = '\n';
    }
    strcpy(text + n, " *\n7\n");
    assert_int_equal(open_text(text, TRACE_GUESS), 0);
    assert_int_equal(t.format, TRACE_LIRS);
    assert_int_equal(t.accesses, NUMBERS + 1);
    trace_close(&t);
    free(text);
}

static void comments_may_be_in_any_language(void **state)
{
    (void)state;
    assert_int_equal(open_text("# \xc3\xa9t\xc3\xa9 * 1\n5\n#\xff\n6\n", TRACE_GUESS), 0);
    assert_int_equal(t.format, TRACE_TEXT);
    assert_int_equal(t.pages, 2);
    trace_close(&t);
    refused("5\n\xc3\n", TRACE_GUESS,
            "at byte 0: cannot tell the format: expected \"vpgtrace\", text or oracle records; say "
            "--format "
            "u32, u64 or oracle if it is one of them");
}

static void bad_text_is_refused_with_its_place(void **state)
{
    (void)state;
    refused("1\n2x\n", TRACE_TEXT,
            "at byte 3: line 2: expected one page number a line, found \"x\"");
    refused("1 2\n", TRACE_TEXT, "at byte 2: line 1: expected one page number a line, found \"2\"");
    refused(
        "-1\n", TRACE_TEXT,
        "at byte 0: line 1: expected a page number, decimal or 0x and hexadecimal, found \"-1\"");
    refused(
        "0x\n", TRACE_TEXT,
        "at byte 0: line 1: expected a page number, decimal or 0x and hexadecimal, found \"0x\"");
    refused("18446744073709551616", TRACE_TEXT,
            "at byte 0: line 1: expected a page number of at most 64 bits, found "
            "\"18446744073709551616\"");
    refused("# nothing\n", TRACE_TEXT, "at byte 10: expected accesses to pages, found none");
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void numbers_are_little_endian(void **state)
{
    (void)state;
    const uint8_t bytes[] = {1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0};
    const uint32_t small[] = {0, 1, 0, 1}, large[] = {0, 0};

    assert_int_equal(open_bytes(bytes, sizeof bytes, TRACE_U32), 0);
    assert_pages(small, 4);
    trace_close(&t);
    assert_int_equal(open_bytes(bytes, sizeof bytes, TRACE_U64), 0);
    assert_pages(large, 2);
    trace_close(&t);
    assert_int_equal(open_bytes(bytes, 10, TRACE_U32), -EINVAL);
    assert_string_equal(why, "at byte 8: expected a record of 4 bytes, found 2");
}

static void plain_numbers_are_not_guessed(void **state)
{
    (void)state;
    uint32_t number[48];

    for (unsigned i = 0; i < 48; i++)
        number[i] = i * 7 % 40;
    assert_int_equal(open_bytes(number, sizeof number, TRACE_GUESS), -EINVAL);
    assert_non_null(strstr(why, "at byte 0: cannot tell the format"));
}

/* ---- oracleGeneral --------------------------------------------------------------------------- */

static void oracle(uint8_t *p, uint32_t time, uint64_t id, int64_t next)
{
    uint32_t size = 4096;

    memcpy(p, &time, 4);
    memcpy(p + 4, &id, 8);
    memcpy(p + 12, &size, 4);
    memcpy(p + 16, &next, 8);
}

static void oracle_records_are_known_by_their_next_accesses(void **state)
{
    (void)state;
    uint8_t bytes[10 * 24];
    const uint32_t page[] = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4};

    for (unsigned i = 0; i < 10; i++)
        oracle(bytes + 24 * i, i / 2, 1000 + i % 5, i < 5 ? (int)i + 5 : -1);
    assert_int_equal(open_bytes(bytes, sizeof bytes, TRACE_GUESS), 0);
    assert_int_equal(t.format, TRACE_ORACLE);
    assert_pages(page, 10);
    trace_close(&t);
    oracle(bytes + 24 * 3, 0, 1003, 8);
    assert_int_equal(open_bytes(bytes, sizeof bytes, TRACE_ORACLE), -EINVAL);
    assert_string_equal(why, "at byte 72: expected a time of at least 1, found 0");
}

/* ---- Vigil's own ----------------------------------------------------------------------------- */

struct own {
    struct page_trace_header header;
    struct page_trace_record record[6];
};

static struct own own(void)
{
    return (struct own){
        .header = {PAGE_TRACE_MAGIC, PAGE_TRACE_VERSION, sizeof(struct page_trace_header),
                   sizeof(struct page_trace_record), 12, 2, 0, 1000000000},
        .record = {{.page = 5, .space = 1, .flags = PAGE_TRACE_FAULT | PAGE_TRACE_WRITE},
                   {.page = 5, .space = 2, .cpu = 1},
                   {.page = 6, .space = 1, .flags = PAGE_TRACE_PREFETCH},
                   {.page = 40, .flags = PAGE_TRACE_LOST},
                   {.page = 5, .space = 1, .flags = PAGE_TRACE_UNMAP},
                   {.page = 5, .space = 1}},
    };
}

static void pages_of_two_spaces_differ_and_an_unmapped_one_comes_back_as_another(void **state)
{
    (void)state;
    const struct own o = own();
    const uint32_t page[] = {0, 1, 2, 0, 3};
    const uint8_t event[] = {TRACE_ACCESS, TRACE_ACCESS, TRACE_PREFETCHED, TRACE_UNMAPPED,
                             TRACE_ACCESS};

    assert_int_equal(open_bytes(&o, sizeof o, TRACE_GUESS), 0);
    assert_int_equal(t.format, TRACE_VIGIL);
    assert_pages(page, 5);
    assert_memory_equal(t.event, event, 5);
    assert_int_equal(t.accesses, 3);
    assert_int_equal(t.lost, 40);
    trace_close(&t);
    assert_int_equal(trace_open(&t, (const uint8_t *)&o, sizeof o, TRACE_VIGIL, 2, why), 0);
    assert_int_equal(t.length, 1);
    trace_close(&t);
}

static void own_refused(const struct own *o, size_t size, const char *line)
{
    assert_int_equal(open_bytes(o, size, TRACE_VIGIL), -EINVAL);
    assert_string_equal(why, line);
}

static void a_bad_header_or_record_is_refused_by_its_field(void **state)
{
    (void)state;
    struct own o = own();

    own_refused(&o, 20, "at byte 20: expected a header of 32 bytes");
    own_refused(&o, sizeof o - 3, "at byte 152: expected a record of 24 bytes, found 21");
    o.header.magic++;
    own_refused(&o, sizeof o, "at byte 0: expected the bytes \"vpgtrace\"");
    o = own();
    o.header.version = 2;
    own_refused(&o, sizeof o, "at byte 8: expected version from 1 to 1, found 2");
    o = own();
    o.header.page_shift = 50;
    own_refused(&o, sizeof o, "at byte 14: expected page_shift from 12 to 30, found 50");
    o = own();
    o.record[1].cpu = 2;
    own_refused(&o, sizeof o, "at byte 76: expected a cpu below 2, found 2");
    o = own();
    o.record[0].flags = PAGE_TRACE_FAULT | PAGE_TRACE_UNMAP;
    own_refused(&o, sizeof o, "at byte 54: expected flags of one kind, found 0xa");
    o = own();
    o.record[2].page = UINT64_C(1) << 52;
    own_refused(&o, sizeof o,
                "at byte 80: expected a page number of 52 bits, found 0x10000000000000");
    o = own();
    o.record[5].space = PAGE_TRACE_SPACES_MAX;
    own_refused(&o, sizeof o, "at byte 168: expected a space below 1048576, found 1048576");
}

static void time_goes_on_on_each_cpu(void **state)
{
    (void)state;
    struct own o = own();

    o.record[0].time = 7;
    o.record[1].time = 3; /* of another CPU */
    o.record[2].time = 7;
    o.record[3].time = 8; /* what was lost, too */
    o.record[4].time = o.record[5].time = 8;
    assert_int_equal(open_bytes(&o, sizeof o, TRACE_VIGIL), 0);
    trace_close(&t);
    o.record[5].time = 7;
    own_refused(&o, sizeof o, "at byte 160: expected a time of at least 8 on CPU 0, found 7");
}

/* ---- Requests and results -------------------------------------------------------------------- */

static void sizes_are_numbers_or_percents_of_the_pages(void **state)
{
    (void)state;
    static struct replay_request q;
    const struct page_trace pages = {.pages = 500};
    const uint32_t size[] = {1, 50, 77}, even[] = {125, 250, 375, 500};

    assert_int_equal(replay_sizes(&q, "77,10%,1", 0, &pages, why), 0);
    assert_int_equal(q.sizes, 3);
    assert_memory_equal(q.frames, size, sizeof size);
    assert_int_equal(replay_sizes(&q, NULL, 4, &pages, why), 0);
    assert_memory_equal(q.frames, even, sizeof even);
    assert_int_equal(replay_sizes(&q, "5;6", 0, &pages, why), -EINVAL);
    assert_string_equal(why, "--frames: expected a comma, found \";6\"");
    assert_int_equal(replay_sizes(&q, "101%", 0, &pages, why), -EINVAL);
    assert_int_equal(replay_sizes(&q, "", 0, &pages, why), -EINVAL);
    assert_int_equal(replay_sizes(&q, "5,0", 0, &pages, why), -EINVAL);
    assert_string_equal(
        why,
        "--frames: expected a number of pages from 1 to 536870911, or 1% to 100%, found \"0\"");
}

static void policies_are_named_or_all(void **state)
{
    (void)state;
    static struct replay_request q;

    assert_int_equal(replay_policies(&q, "lirs,lru", why), 0);
    assert_int_equal(q.policies, 2);
    assert_ptr_equal(q.policy[0], &replace_lirs);
    assert_int_equal(replay_policies(&q, NULL, why), 0);
    assert_ptr_equal(q.policy[q.policies - 1], &replace_chooser);
    assert_int_equal(replay_policies(&q, "lru,", why), -EINVAL);
    assert_int_equal(replay_policies(&q, "lfu", why), -EINVAL);
    assert_string_equal(
        why, "--policy: expected one of lru clock mru lirs lirs-recent arc sieve s3fifo wtinylfu "
             "wtinylfu-margin gap region chooser, found \"lfu\"");
    assert_int_equal(
        replay_policies(&q, "lru,lru,lru,lru,lru,lru,lru,lru,lru,lru,lru,lru,lru,lru,lru,lru,lru",
                        why),
        -EINVAL);
    assert_string_equal(why, "--policy: expected 16 policies at most");
}

static void the_first_policy_is_one_that_the_chooser_has(void **state)
{
    (void)state;
    static struct replay_request q;

    assert_int_equal(replay_policies(&q, "lru", why), 0);
    assert_int_equal(replay_first(&q, why), 0);
    q.first = "lru";
    assert_int_equal(replay_first(&q, why), -EINVAL);
    assert_string_equal(why, "--first: expected chooser in --policy: no other has one");
    assert_int_equal(replay_policies(&q, "lru,chooser", why), 0);
    assert_int_equal(replay_first(&q, why), 0);
    q.first = "region";
    assert_int_equal(replay_first(&q, why), -EINVAL);
    assert_string_equal(
        why,
        "--first: expected one of lru wtinylfu-margin lirs-recent gap arc mru, found \"region\"");
}

static void what_a_trace_has_not_cannot_be_asked_of_it(void **state)
{
    (void)state;
    struct own o = own();
    static struct replay_request q;

    assert_int_equal(open_bytes(&o, sizeof o, TRACE_GUESS), 0);
    q.prefetch = true;
    assert_int_equal(replay_fits(&q, &t, 1, why), 0);
    trace_close(&t);
    assert_int_equal(open_text("1\n2\n", TRACE_GUESS), 0);
    assert_int_equal(replay_fits(&q, &t, TRACE_SPACES, why), -EINVAL);
    assert_string_equal(why, "--prefetch: expected a trace that says which pages were read ahead");
    q.prefetch = false;
    assert_int_equal(replay_fits(&q, &t, TRACE_SPACES, why), 0);
    assert_int_equal(replay_fits(&q, &t, 1, why), -EINVAL);
    assert_string_equal(why, "--space: expected a trace in format vigil, found text");
    trace_close(&t);
}

static void a_plot_is_refused_before_anything_is_drawn(void **state)
{
    (void)state;
    assert_int_equal(replay_plot_to("curve.pdf", why), -EINVAL);
    assert_string_equal(why,
                        "--plot: expected a name that ends in .svg or .png, found \"curve.pdf\"");
    assert_int_equal(replay_plot_to("/no/such/folder/curve.svg", why), -EINVAL);
    assert_string_equal(
        why, "--plot: cannot write \"/no/such/folder/curve.svg\": No such file or directory");
}

/* A loop of three pages in two frames: LRU always misses, OPT and MRU every second time, but for
 * first uses. */
static void misses_are_counted_for_each_policy_and_for_opt(void **state)
{
    (void)state;
    static struct replay_request q = {.seed = 1};
    static struct replay_result result;

    assert_int_equal(open_text("1\n2\n3\n1\n2\n3\n1\n2\n3\n1\n", TRACE_GUESS), 0);
    assert_int_equal(replay_policies(&q, "lru,mru", why), 0);
    assert_int_equal(replay_sizes(&q, "2,3", 0, &t, why), 0);
    assert_int_equal(replay_run(&q, &t, &result), 0);
    assert_int_equal(result.misses[0][0], 6);
    assert_int_equal(result.misses[0][1], 10);
    assert_int_equal(result.misses[0][2], 6);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(result.misses[1][i], 3);
    trace_close(&t);
}

/* The third event is a page read ahead: its use hits when prefetched pages are asked for. */
/* The page between all others is in the buffer and not in the log: LRU would have it go. */
static void behind_a_buffer_memory_asks_before_a_page_leaves(void **state)
{
    enum { FRAMES = 200, LOOP = 1000, LENGTH = 20000 };
    static char text[8 * LENGTH];
    size_t n = 0;

    (void)state;
    for (unsigned i = 0; i < LENGTH; i++)
        n += (size_t)sprintf(text + n, "%u\n", i % 2 ? 1 + i / 2 % LOOP : 0);
    assert_int_equal(open_text(text, TRACE_GUESS), 0);
    static struct replay_request q;
    static struct replay_result r;
    q = (struct replay_request){.seed = 1, .buffer = 128, .frames = {FRAMES}, .sizes = 1};
    assert_int_equal(replay_policies(&q, "lru", why), 0);
    assert_int_equal(replay_run(&q, &t, &r), 0);
    assert_int_equal(r.misses[0][1], 1 + LENGTH / 2);
    q.buffer = 100;
    assert_int_equal(replay_run(&q, &t, &r), -EINVAL);
    trace_close(&t);
}

static void prefetched_pages_count_when_asked_for(void **state)
{
    (void)state;
    struct own o = own();
    static struct replay_request q = {.seed = 1};
    static struct replay_result result;

    o.record[5].page = 6;
    assert_int_equal(open_bytes(&o, sizeof o, TRACE_GUESS), 0);
    assert_int_equal(replay_policies(&q, NULL, why), 0);
    assert_int_equal(replay_sizes(&q, "10", 0, &t, why), 0);
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        q.prefetch = ahead;
        assert_int_equal(replay_run(&q, &t, &result), 0);
        for (unsigned p = 0; p < q.policies; p++)
            assert_int_equal(result.misses[0][1 + p], ahead ? 2 : 3);
    }
    trace_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_a_page_a_line_in_either_base),
        cmocka_unit_test(stars_part_the_traces_of_lirs_authors),
        cmocka_unit_test(a_star_far_behind_the_beginning_is_seen),
        cmocka_unit_test(comments_may_be_in_any_language),
        cmocka_unit_test(bad_text_is_refused_with_its_place),
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(plain_numbers_are_not_guessed),
        cmocka_unit_test(oracle_records_are_known_by_their_next_accesses),
        cmocka_unit_test(pages_of_two_spaces_differ_and_an_unmapped_one_comes_back_as_another),
        cmocka_unit_test(a_bad_header_or_record_is_refused_by_its_field),
        cmocka_unit_test(time_goes_on_on_each_cpu),
        cmocka_unit_test(sizes_are_numbers_or_percents_of_the_pages),
        cmocka_unit_test(policies_are_named_or_all),
        cmocka_unit_test(the_first_policy_is_one_that_the_chooser_has),
        cmocka_unit_test(what_a_trace_has_not_cannot_be_asked_of_it),
        cmocka_unit_test(a_plot_is_refused_before_anything_is_drawn),
        cmocka_unit_test(misses_are_counted_for_each_policy_and_for_opt),
        cmocka_unit_test(behind_a_buffer_memory_asks_before_a_page_leaves),
        cmocka_unit_test(prefetched_pages_count_when_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
