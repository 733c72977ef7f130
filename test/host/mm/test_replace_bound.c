/* The chooser: the work of one call when another expert takes over. Its sources are part of this
 * test, to count the pages that are not sorted yet. */
#include "test/host/double/expect_panic.h"
#include "mm/policy/replace/chooser.c"
#include "mm/policy/replace/chooser_work.c"

enum { PAGES = 4096, FRAMES = 2048, A_CALL = SORTED + 2 * LOOKS_MAX };

static uint32_t unsorted_pages(const struct chooser *s)
{
    return s->base.list[MEMBER + 2 - s->turn].size + s->base.list[STRAY + 2 - s->turn].size;
}

/* Accesses `node`. Returns the largest number of pages sorted by one of the calls. */
static uint32_t most_sorted(struct chooser *s, uint32_t node)
{
    uint32_t before = unsorted_pages(s), most = 0;

    if (!base_resident(s, node)) {
        uint32_t victim = chooser_victim(s, node);
        most = before - unsorted_pages(s);
        chooser_leave(s, victim);
        before = unsorted_pages(s);
        chooser_enter(s, node, 0);
    } else {
        chooser_touch(s, node);
    }
    return MAX(most, before - MIN(before, unsorted_pages(s)));
}

static struct chooser *start(const char *first)
{
    const struct replace_config config = {
        .nodes = PAGES, .frames = FRAMES, .seed = 1, .first = first};
    struct chooser *s = calloc(1, chooser_bytes(PAGES));

    assert_int_equal(chooser_init(s, &config), 0);
    for (uint32_t n = 0; n < FRAMES; n++)
        chooser_enter(s, n, 0);
    return s;
}

/* On a loop, LRU never hits, so another expert takes over. */
static void memory_is_sorted_a_few_pages_at_a_time(void **state)
{
    struct chooser *s = start("lru");
    uint32_t node = FRAMES, accesses = 0, at_most = 0;

    (void)state;
    for (; s->switches == 0 && node < 10 * PAGES; node++)
        most_sorted(s, node % PAGES);
    assert_int_equal(s->switches, 1);
    assert_in_range(unsorted_pages(s), FRAMES - A_CALL, FRAMES);
    assert_null(chooser_check(s));
    for (; unsorted_pages(s); node++, accesses++)
        at_most = MAX(at_most, most_sorted(s, node % PAGES));
    assert_in_range(at_most, 1, A_CALL);
    assert_in_range(accesses, FRAMES / A_CALL, FRAMES / SORTED);
    assert_null(chooser_check(s));
    free(s);
}

/* The current expert is asked only when memory is short, so its set may be larger than memory. */
static void the_set_of_the_former_expert_shrinks_a_few_pages_at_a_time(void **state)
{
    struct chooser *s = start("lru");
    uint32_t lru = s->current, before = s->size[lru];

    (void)state;
    chooser_resize(s, FRAMES / 2);
    assert_int_equal(s->size[lru], before);
    begin_take_over(s, (lru + 1) % EXPERTS);
    chooser_go_on(s);
    assert_in_range(before - s->size[lru], 1, SHRINK_MAX);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_sorted_a_few_pages_at_a_time),
        cmocka_unit_test(the_set_of_the_former_expert_shrinks_a_few_pages_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
