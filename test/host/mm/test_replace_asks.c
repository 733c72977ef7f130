/* The chooser behind a page access buffer: its questions, and the experts that get the answers. */
#include <stdlib.h>
#include <unistd.h>
#include "mm/policy/replace/chooser.h"
#include "test/host/double/expect_panic.h"

/* Answers for the page access buffer; each test sets it. */
static enum page_buffered (*buffer)(uint32_t node);

/* Answers all questions. Returns whether there was one. */
static bool answer(void *memory)
{
    bool asked = false;
    uint32_t node;

    while ((node = replace_chooser.asks(memory)) != REPLACE_NONE) {
        replace_chooser.tell(memory, node, buffer(node));
        asked = true;
    }
    return asked;
}

static void touch(void *memory, uint32_t node)
{
    replace_chooser.touch(memory, node);
    answer(memory);
}

static void enter(void *memory, uint32_t node)
{
    replace_chooser.enter(memory, node, 0);
    answer(memory);
}

static uint32_t victim(void *memory, uint32_t incoming)
{
    uint32_t node;

    do
        node = replace_chooser.victim(memory, incoming);
    while (answer(memory));
    return node;
}

static enum page_buffered keeps_five(uint32_t node)
{
    return node == 5 ? BUFFER_KEPT : BUFFER_NOT_KEPT;
}

/* A prefetched page that the buffer keeps: LRU learns of its use when it names the page as victim,
 * and names the next one instead. */
static void lru_learns_of_a_use_in_the_buffer_when_it_names_the_page(void **state)
{
    enum { FRAMES = 256, KEPT = 5 };
    const struct replace_config config = {
        .nodes = 2 * FRAMES, .frames = FRAMES, .seed = 1, .first = "lirs-recent", .answers = true};
    uint64_t *memory = calloc(1, replace_chooser.bytes(2 * FRAMES));
    struct replace_report report;

    (void)state;
    buffer = keeps_five;
    assert_int_equal(replace_chooser.init(memory, &config), 0);
    for (uint32_t n = KEPT; n < KEPT + FRAMES; n++)
        enter(memory, n);
    replace_chooser.leave(memory, KEPT);
    replace_chooser.enter_unused(memory, KEPT, 0);
    touch(memory, KEPT);
    for (uint32_t n = KEPT + 1; n < KEPT + FRAMES; n++)
        touch(memory, n);
    replace_chooser.leave(memory, KEPT + 2);
    enter(memory, KEPT + FRAMES);
    touch(memory, KEPT + 1);
    replace_chooser.report(memory, &report);
    assert_string_equal(report.expert[0].policy, "lru");
    assert_int_equal(report.expert[0].misses, FRAMES + 2); /* KEPT + 1 is missed again */
    assert_null(replace_chooser.check(memory));
    free(memory);
}

/* ARC's victim is in the page access buffer, so it is in use: it stays in ARC's set and in memory,
 * and another page is evicted. */
static void a_victim_of_arc_in_the_buffer_stays(void **state)
{
    enum { PAGES = 64, FRAMES = 16 };
    const struct replace_config config = {
        .nodes = PAGES, .frames = FRAMES, .seed = 1, .first = "arc"};
    uint64_t *memory = calloc(1, replace_chooser.bytes(PAGES));

    (void)state;
    alarm(60); /* ARC would name the page for ever if it were not told */
    assert_int_equal(replace_chooser.init(memory, &config), 0);
    for (uint32_t n = 0; n < FRAMES; n++)
        replace_chooser.enter(memory, n, 0);
    uint32_t hot = replace_chooser.victim(memory, FRAMES);
    assert_int_equal(hot, 0);
    replace_chooser.touch(memory, hot);
    for (uint32_t n = FRAMES; n < 2 * FRAMES - 1; n++) {
        uint32_t node = replace_chooser.victim(memory, n);
        assert_int_equal(node, n - FRAMES + 1);
        replace_chooser.leave(memory, node);
        replace_chooser.enter(memory, n, 0);
        assert_null(replace_chooser.check(memory));
    }
    alarm(0);
    free(memory);
}

/* Pages in the page access buffer. Their uses are not logged; the buffer reports each use once. */
enum { BUFFERED = 32 };
static bool used_there[BUFFERED];

static enum page_buffered tell_once(uint32_t node)
{
    if (node >= BUFFERED)
        return BUFFER_NOT_KEPT;
    enum page_buffered is = used_there[node] ? BUFFER_USED : BUFFER_KEPT;
    used_there[node] = false;
    return is;
}

/* Uses a page, in memory of `frames` frames, `*resident` of them taken. */
static void use(void *memory, uint32_t page, uint32_t frames, uint32_t *resident)
{
    if (replace_chooser.resident(memory, page)) {
        if (page < BUFFERED)
            used_there[page] = true;
        else
            touch(memory, page);
        return;
    }
    while (*resident == frames) {
        uint32_t node = victim(memory, page);
        if (tell_once(node) == BUFFER_USED) {
            touch(memory, node);
            continue;
        }
        replace_chooser.leave(memory, node);
        --*resident;
    }
    enter(memory, page);
    ++*resident;
    assert_null(replace_chooser.check(memory));
}

/* Buffered pages take room in each expert's set, as in memory, though no use of them is logged. */
static void every_set_keeps_pages_used_in_the_buffer(void **state)
{
    enum { FRAMES = 64, LOOP = 48, ROUNDS = 20, PAGES = BUFFERED + LOOP };
    const struct replace_config config = {
        .nodes = PAGES, .frames = FRAMES, .seed = 1, .first = "mru", .answers = true};
    uint64_t *memory = calloc(1, replace_chooser.bytes(PAGES));
    struct replace_report report;
    uint32_t resident = 0;

    (void)state;
    buffer = tell_once;
    assert_int_equal(replace_chooser.init(memory, &config), 0);
    for (uint32_t i = 0; i < LOOP * ROUNDS; i++) {
        use(memory, i % BUFFERED, FRAMES, &resident);
        use(memory, BUFFERED + i % LOOP, FRAMES, &resident);
    }
    replace_chooser.report(memory, &report);
    for (unsigned e = 0; e < report.experts; e++) {
        const char *policy = report.expert[e].policy;
        uint64_t misses = report.expert[e].misses;
        if (!strcmp(policy, "lru"))
            assert_int_equal(misses, BUFFERED + LOOP * ROUNDS);
        if (!strcmp(policy, "mru")) /* a third of the loop or more misses in each round */
            assert_in_range(misses, LOOP * ROUNDS / 3, LOOP * ROUNDS / 2);
    }
    free(memory);
}

/* The buffer reports a use once, when LRU asks about the page. ARC asks later, and must learn of
 * the use, too. */
static void all_experts_learn_of_a_use_reported_once(void **state)
{
    enum { FRAMES = 4 };

    for (unsigned first = 0; first < 2; first++) {
        const char *names[] = {"mru", "arc"};
        const struct replace_config config = {
            .nodes = 8, .frames = FRAMES, .seed = 1, .first = names[first], .answers = true};
        uint64_t *memory = calloc(1, replace_chooser.bytes(8));
        struct replace_report report;
        (void)state;
        buffer = tell_once;
        assert_int_equal(replace_chooser.init(memory, &config), 0);
        for (uint32_t n = 0; n < FRAMES; n++)
            enter(memory, n);
        replace_chooser.leave(memory, FRAMES - 1);
        used_there[0] = true;
        enter(memory, FRAMES);
        assert_false(used_there[0]);
        assert_int_not_equal(victim(memory, REPLACE_NONE), 0);
        touch(memory, 0);
        replace_chooser.report(memory, &report);
        for (unsigned e = 0; e < report.experts; e++)
            assert_int_equal(report.expert[e].misses, FRAMES + 1);
        free(memory);
    }
}

static unsigned asked;

static enum page_buffered count_asked(uint32_t node)
{
    (void)node;
    asked++;
    return BUFFER_NOT_KEPT;
}

/* The chooser asks about each page that leaves a set, which counts them. */
static void sets_shrink_by_a_few_pages_a_call(void **state)
{
    enum { PAGES = 4096, FRAMES = 2048, FEW = 16 };
    const struct replace_config config = {
        .nodes = PAGES, .frames = FRAMES, .seed = 1, .answers = true};
    uint64_t *memory = calloc(1, replace_chooser.bytes(PAGES));
    unsigned most = 0;

    (void)state;
    buffer = count_asked;
    assert_int_equal(replace_chooser.init(memory, &config), 0);
    for (uint32_t n = 0; n < FRAMES; n++)
        enter(memory, n);
    asked = 0;
    replace_chooser.resize(memory, FEW);
    answer(memory);
    assert_in_range(asked, 1, EXPERTS * 32);
    assert_null(replace_chooser.check(memory));
    for (uint32_t n = FRAMES; n < PAGES; n++) {
        asked = 0;
        replace_chooser.leave(memory, victim(memory, n));
        enter(memory, n);
        most = MAX(most, asked);
    }
    assert_in_range(most, 1, EXPERTS * 32 + 1);
    assert_null(replace_chooser.check(memory));
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_learns_of_a_use_in_the_buffer_when_it_names_the_page),
        cmocka_unit_test(a_victim_of_arc_in_the_buffer_stays),
        cmocka_unit_test(every_set_keeps_pages_used_in_the_buffer),
        cmocka_unit_test(all_experts_learn_of_a_use_reported_once),
        cmocka_unit_test(sets_shrink_by_a_few_pages_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
