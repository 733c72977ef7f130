/* The chooser: limits on its loss against the best of its experts, its account of each expert's
 * misses, and the pages that stay when another expert takes over. */
#include <stdlib.h>
#include <unistd.h>
#include "test/host/double/expect_panic.h"
#include "test/host/double/random.h"
#include "test/host/double/replace_random.h"
#include "test/host/double/unseen.h"
#include "tools/replay/simulate.h"

static const char *const experts[] = {"lru", "wtinylfu-margin", "mru", "lirs-recent", "arc", "gap"};

/* LONG=1: on traces four times as large, in more sizes of memory, from more starts. */
static bool longer;

static uint32_t pages_of_a_trace(void)
{
    return longer ? 8192 : 2048;
}

static double rate(const struct replace_ops *ops, const struct access_trace *t, uint32_t frames,
                   const char *first)
{
    struct replace_config config = {.nodes = t->pages, .frames = frames, .seed = 1, .first = first};
    uint64_t misses, logged;

    assert_int_equal(simulate(ops, &config, t, &misses), 0);
    assert_int_equal(simulate_log(t, &logged), 0);
    return 100.0 - 100.0 * (double)misses / (double)logged;
}

/* Checks that the chooser's hits are at most `points` of the logged accesses below those of the
 * best expert, starting with each of `starts` experts from number `from` on. */
static void check_bound_behind_buffer(const struct access_trace *t, const char *name,
                                      unsigned percent, unsigned from, unsigned starts,
                                      double points)
{
    uint32_t frames = (uint32_t)((uint64_t)t->pages * percent / 100);
    double best = -100;

    for (unsigned e = 0; e < ARRAY_SIZE(experts); e++) {
        double single = rate(replace_find(experts[e]), t, frames, NULL);
        best = MAX(best, single);
    }
    for (unsigned e = from; e < from + starts; e++) {
        const char *first = experts[e % ARRAY_SIZE(experts)];
        double chosen = rate(&replace_chooser, t, frames, first);
        if (chosen < best - points)
            fail_msg("%s, %u pages, memory for %u %%, from %s: %.2f %% hits, the best has %.2f",
                     name, t->pages, percent, first, chosen, best);
    }
}

static void check_bound(const struct trace *t, const char *name, unsigned percent, unsigned from,
                        unsigned starts, double points)
{
    struct access_trace seen = {.page = t->page, .length = t->length, .pages = t->pages};

    check_bound_behind_buffer(&seen, name, percent, from, starts, points);
}

static void hits_are_at_most_two_points_below_the_best(void **state)
{
    uint32_t pages = pages_of_a_trace();

    (void)state;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
        struct trace t = trace_make(kind, pages, pages * 60, 1);
        if (longer || kind % 4 < 2)
            check_bound(&t, trace_names[kind], kind % 2 ? 20 : 70, kind, longer ? 2 : 1, 2);
        if (longer || kind % 4 >= 2)
            check_bound(&t, trace_names[kind], kind % 2 ? 80 : 40, kind + 2, 1, 2);
        trace_free(&t);
    }
}

/* Returns how many points the chooser is below the best expert, from the default start. */
static double points_below_best(const struct trace *t, unsigned percent)
{
    struct access_trace seen = {.page = t->page, .length = t->length, .pages = t->pages};
    uint32_t frames = t->pages * percent / 100;
    double best = -100;

    for (unsigned e = 0; e < ARRAY_SIZE(experts); e++) {
        double single = rate(replace_find(experts[e]), &seen, frames, NULL);
        best = MAX(best, single);
    }
    return best - rate(&replace_chooser, &seen, frames, NULL);
}

struct points {
    double worst, sum;
    unsigned cases;
};

static void add(struct points *p, const struct trace *t, unsigned percent)
{
    double points = points_below_best(t, percent);

    p->worst = MAX(p->worst, points);
    p->sum += points;
    p->cases++;
}

/* Runs traces that the chooser's constants were not chosen by, with `passes` accesses to a page. */
static struct points of_unseen(uint32_t pages, unsigned passes)
{
    struct points p = {0};

    for (unsigned kind = 0; kind < UNSEEN_KINDS; kind++) {
        struct trace t = unseen_make(kind, pages, (size_t)pages * passes, 1);
        for (unsigned percent = 35; percent <= 70; percent += longer ? 35 : 15)
            add(&p, &t, percent);
        trace_free(&t);
    }
    return p;
}

static void short_runs_lose_no_more_than_the_table_says(void **state)
{
    static const struct {
        unsigned passes;
        double worst, mean;
    } run[] = {{5, 17, 3}, {12, 8.5, 2}, {24, 6.5, 1.2}, {60, 3.5, 0.5}};

    (void)state;
    for (unsigned r = 0; r < ARRAY_SIZE(run) - !longer; r++) {
        struct points p = of_unseen(longer ? 1500 : 600, run[r].passes);
        if (p.worst > run[r].worst || p.sum / p.cases > run[r].mean)
            fail_msg("%u accesses a page: %.2f points at most, %.2f on average", run[r].passes,
                     p.worst, p.sum / p.cases);
    }
}

/* At each turn LRU hits for a while, and then no more: such a lead must not be followed. */
static void short_leads_of_lru_in_a_zigzag_are_not_followed(void **state)
{
    (void)state;
    for (unsigned passes = 5; passes <= 12; passes += 7) {
        struct trace t = trace_make(TRACE_ZIGZAG, 750, 750 * passes, 1);
        for (unsigned percent = 30; percent <= 70; percent += 20)
            if (points_below_best(&t, percent) > 1)
                fail_msg("%u passes, memory for %u %%: %.2f points", passes, percent,
                         points_below_best(&t, percent));
        trace_free(&t);
    }
}

static void immediate_reuse_does_not_mislead(void **state)
{
    (void)state;
    uint32_t pages = pages_of_a_trace();

    for (unsigned kind = TRACE_STENCIL; kind <= TRACE_AGAIN; kind++) {
        struct trace t = trace_make(kind, pages, pages * 60, 1);
        check_bound(&t, trace_names[kind], 5, 2, longer ? 3 : 2, 2);
        check_bound(&t, trace_names[kind], 13, 0, longer ? 2 : 1, 2);
        trace_free(&t);
    }
}

/* In memory of little more than the table, ARC either holds all of the table or never comes to,
 * depending on its past. */
static void a_table_about_as_large_as_memory_loses_two_points_at_most(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_JOIN, pages_of_a_trace(), pages_of_a_trace() * 60, 1);
    for (unsigned percent = 47; percent <= 51; percent += longer ? 1 : 2)
        check_bound(&t, trace_names[TRACE_JOIN], percent, percent, longer ? 2 : 1, 2);
    trace_free(&t);
}

static void with_few_pages_hits_are_at_most_five_points_below(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
        struct trace t = trace_make(kind, 1024, 1024 * 60, 2);
        for (unsigned percent = longer     ? 10
                                : kind % 2 ? 30
                                           : 70;
             percent <= 90; percent += longer ? 20 : 80)
            check_bound(&t, trace_names[kind], percent, kind + percent / 20, longer ? 2 : 1, 5);
        trace_free(&t);
    }
}

/* Phases about as long as the chooser takes to notice them. */
static void chasing_phases_costs_five_points_at_most(void **state)
{
    (void)state;
    uint32_t pages = pages_of_a_trace() / 2;
    const struct trace_part part[] = {{TRACE_LOOP, 0, pages}, {TRACE_DRIFT, 0, pages}};

    for (size_t phase = pages / 4; phase <= 16 * pages; phase *= 4) {
        struct trace t = trace_turns(part, 2, phase, pages, pages * 60, 1);
        check_bound(&t, "loop and drift", 50, 0, 1, 5);
        trace_free(&t);
    }
}

/* LRU, CLOCK and ARC never hit. */
static void a_loop_is_found_within_one_round_from_any_start(void **state)
{
    (void)state;
    enum { PAGES = 4096, FRAMES = 2048 };
    for (unsigned e = 0; e < ARRAY_SIZE(experts); e++) {
        struct replace_config config = {
            .nodes = PAGES, .frames = FRAMES, .seed = 1, .first = experts[e]};
        struct simulation s;
        assert_int_equal(simulation_start(&s, &replace_chooser, &config, 0), 0);
        for (uint32_t i = 0; i < 2 * PAGES; i++)
            simulation_access(&s, i % PAGES);
        uint64_t before = s.misses;
        for (uint32_t i = 0; i < 10 * PAGES; i++)
            simulation_access(&s, i % PAGES);
        assert_in_range(s.misses - before, 0, 10 * PAGES * 53 / 100);
        assert_null(replace_chooser.check(s.state));
        simulation_end(&s);
    }
}

static void state_may_grow_at_any_time(void **state)
{
    uint32_t nodes = longer ? 1500 : 300, most = longer ? 5000 : 900, frames = longer ? 300 : 60;

    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct replace_random r =
            replace_random_start(&replace_chooser, nodes, most, frames, experts[seed + 1], seed);
        for (unsigned step = 0; step < 3000 || (r.nodes < most && step < 20000); step++)
            replace_random_step(&r);
        assert_int_equal(r.nodes, most);
        replace_random_end(&r);
    }
}

/* Evicts a page. A victim in quarter `hot` of the pages is in use, and another one is asked for;
 * with 4..7 no page is in use. Returns the page evicted. */
static uint32_t make_room(const struct replace_ops *ops, void *state, uint32_t incoming,
                          uint64_t hot)
{
    uint32_t node = ops->victim(state, incoming);

    for (; (node * 2654435761u >> 16 & 3) == hot; hot = (hot + 1) & 7) {
        ops->touch(state, node);
        node = ops->victim(state, incoming);
    }
    ops->leave(state, node);
    return node;
}

/* With pages in the buffer, pages evicted in batches, and more resident pages than frames during
 * reads, of all of which the sets know nothing. */
static void the_current_expert_decides_as_it_does_alone(void **state)
{
    enum { PAGES = 1024, FRAMES = 512, BATCH = 8, ACCESSES = 40 * PAGES };
    (void)state;
    for (unsigned e = 0; e < ARRAY_SIZE(experts); e++) {
        const struct replace_config config = {
            .nodes = PAGES, .frames = FRAMES, .seed = 1, .first = experts[e]};
        const struct replace_ops *alone = replace_find(experts[e]);
        uint64_t *one = calloc(1, alone->bytes(PAGES)),
                 *both = calloc(1, replace_chooser.bytes(PAGES)), seed = e + 1;
        struct replace_report report = {.switches = 0};
        unsigned resident = 0, gone = 0;
        assert_int_equal(alone->init(one, &config), 0);
        assert_int_equal(replace_chooser.init(both, &config), 0);
        for (unsigned i = 0; i < ACCESSES && !report.switches; i++) {
            uint32_t page = (uint32_t)(test_random(&seed) % PAGES);
            bool here = alone->resident(one, page);
            assert_int_equal(replace_chooser.resident(both, page), here);
            for (unsigned n = resident == FRAMES + BATCH / 2 && !here ? BATCH : 0; n > 0;
                 n--, resident--, gone++) {
                uint32_t incoming = n == BATCH ? page : REPLACE_NONE;
                uint64_t hot = test_random(&seed) & 7;
                assert_int_equal(make_room(&replace_chooser, both, incoming, hot),
                                 make_room(alone, one, incoming, hot));
            }
            if (here) {
                alone->touch(one, page);
                replace_chooser.touch(both, page);
            } else {
                alone->enter(one, page, 0);
                replace_chooser.enter(both, page, 0);
                resident++;
            }
            replace_chooser.report(both, &report);
        }
        assert_null(replace_chooser.check(both));
        assert_in_range(gone, 2 * FRAMES, UINT32_MAX);
        free(one);
        free(both);
    }
}

/* The chooser counts each expert's misses as the expert alone would miss. Pages that are resident
 * only because of another expert count as misses. */
static void counted_misses_are_those_of_each_expert_alone(void **state)
{
    enum { PAGES = 2048, FRAMES = 1024 };
    const struct trace_part shapes[][2] = {
        {{TRACE_LOOP, PAGES / 3, PAGES / 3}, {TRACE_STENCIL, 0, PAGES}},
        {{TRACE_ZIPF, 0, PAGES}, {TRACE_ZIGZAG, 0, PAGES}},
        {{TRACE_DRIFT, 0, PAGES}, {TRACE_LOOP, 0, PAGES}},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
        struct trace t = trace_turns(shapes[i], 2, 3 * PAGES, PAGES, 60 * PAGES, 1);
        struct access_trace seen = {.page = t.page, .length = t.length, .pages = t.pages};
        struct replace_config config = {
            .nodes = PAGES, .frames = FRAMES, .seed = 1, .first = "lru"};
        struct replace_report report;
        struct simulation s;
        assert_int_equal(simulation_start(&s, &replace_chooser, &config, 0), 0);
        for (size_t a = 0; a < t.length; a++)
            simulation_access(&s, t.page[a]);
        replace_chooser.report(s.state, &report);
        assert_in_range(report.switches, 1, UINT32_MAX);
        for (unsigned e = 0; e < report.experts; e++) {
            uint64_t misses;
            assert_int_equal(
                simulate(replace_find(report.expert[e].policy), &config, &seen, &misses), 0);
            assert_int_equal(report.expert[e].misses, misses);
        }
        simulation_end(&s);
        trace_free(&t);
    }
}

/* Traces whose pages are used again soon, while they are in the page access buffer. These uses are
 * not logged. */
enum { BEHIND_PAGES = 2048, BEHIND_FRAMES = 1024, BEHIND_BUFFER = 128, BEHIND_WINDOW = 64 };

static struct trace trace_used_again_soon(enum trace_kind kind)
{
    struct trace once = trace_make(kind, BEHIND_PAGES, 30 * BEHIND_PAGES, 1);
    struct trace t = trace_again(&once, BEHIND_WINDOW, 1);

    trace_free(&once);
    return t;
}

/* Returns the largest allowed difference in percent. Uses of a page between two questions count as
 * one, which matters most to MRU and W-TinyLFU, as they evict pages just used. */
static unsigned largest_difference(const char *policy)
{
    static const struct {
        const char *policy;
        unsigned percent;
    } most[] = {{"lru", 1}, {"arc", 1},  {"lirs-recent", 3},
                {"gap", 6}, {"mru", 20}, {"wtinylfu-margin", 30}};

    for (unsigned i = 0; i < ARRAY_SIZE(most); i++)
        if (!strcmp(policy, most[i].policy))
            return most[i].percent;
    fail_msg("no limit is known for %s", policy);
    return 0;
}

static void check_near(const char *trace, const char *policy, uint64_t counted, uint64_t alone)
{
    uint64_t difference = counted > alone ? counted - alone : alone - counted;

    if (100 * difference > largest_difference(policy) * alone)
        fail_msg("%s: %s missed %llu times by the chooser's account, alone %llu", trace, policy,
                 (unsigned long long)counted, (unsigned long long)alone);
}

static void behind_a_buffer_counted_misses_are_near_those_alone(void **state)
{
    const enum trace_kind kinds[] = {TRACE_LOOP, TRACE_ZIPF, TRACE_PHASES, TRACE_BACK_FORTH};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct trace t = trace_used_again_soon(kinds[i]);
        struct access_trace seen = {t.page, t.length, t.pages, BEHIND_BUFFER};
        struct replace_config config = {.nodes = BEHIND_PAGES, .frames = BEHIND_FRAMES, .seed = 1};
        struct replace_report report;
        struct simulation s;
        assert_int_equal(simulation_start(&s, &replace_chooser, &config, BEHIND_BUFFER), 0);
        for (size_t a = 0; a < t.length; a++)
            simulation_access(&s, t.page[a]);
        replace_chooser.report(s.state, &report);
        assert_null(replace_chooser.check(s.state));
        for (unsigned e = 0; e < report.experts; e++) {
            uint64_t misses;
            assert_int_equal(
                simulate(replace_find(report.expert[e].policy), &config, &seen, &misses), 0);
            check_near(trace_names[kinds[i]], report.expert[e].policy, report.expert[e].misses,
                       misses);
        }
        simulation_end(&s);
        trace_free(&t);
    }
}

static void behind_a_buffer_hits_are_at_most_five_points_below(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind += longer ? 1 : 3) {
        struct trace t = trace_used_again_soon(kind);
        struct access_trace seen = {t.page, t.length, t.pages, BEHIND_BUFFER};
        check_bound_behind_buffer(&seen, trace_names[kind], kind % 2 ? 20 : 65, kind,
                                  longer ? 2 : 1, 5);
        trace_free(&t);
    }
}

/* Taken from one end only, each evicted page of a loop would be the next one used. */
static void pages_of_the_former_expert_leave_from_both_ends(void **state)
{
    enum { PAGES = 512, FRAMES = 256 };
    const struct replace_config config = {
        .nodes = PAGES, .frames = FRAMES, .seed = 1, .first = "lru"};
    struct replace_report report = {.switches = 0};
    struct simulation s;
    uint32_t i = 0, gone[4];

    (void)state;
    assert_int_equal(simulation_start(&s, &replace_chooser, &config, 0), 0);
    for (; !report.switches; i++) {
        simulation_access(&s, i % PAGES);
        replace_chooser.report(s.state, &report);
    }
    for (unsigned n = 0; n < ARRAY_SIZE(gone); n++) {
        gone[n] = replace_chooser.victim(s.state, REPLACE_NONE);
        replace_chooser.leave(s.state, gone[n]);
        gone[n] = (gone[n] + PAGES - i % PAGES) % PAGES; /* larger: used later */
    }
    assert_true(gone[0] < gone[2] && gone[2] < gone[3] && gone[3] < gone[1]);
    simulation_end(&s);
}

/* Without the prefetch every expert would have missed, so each counts a miss, though the page was
 * named as a victim before its use. */
static void the_first_use_of_a_prefetched_page_is_a_miss_of_all(void **state)
{
    const struct replace_config config = {.nodes = 64, .frames = 16, .seed = 1};
    uint64_t *memory = calloc(1, replace_chooser.bytes(64));
    struct replace_report report;

    (void)state;
    assert_int_equal(replace_chooser.init(memory, &config), 0);
    replace_chooser.enter_unused(memory, 5, 0);
    assert_int_equal(replace_chooser.victim(memory, REPLACE_NONE), 5);
    replace_chooser.touch(memory, 5);
    replace_chooser.report(memory, &report);
    for (unsigned e = 0; e < report.experts; e++)
        assert_int_equal(report.expert[e].misses, 1);
    assert_null(replace_chooser.check(memory));
    free(memory);
}

static void an_unknown_first_expert_is_refused(void **state)
{
    (void)state;
    uint64_t memory[4096];
    const struct replace_config none = {.nodes = 16, .frames = 4, .first = "fifo"},
                                itself = {.nodes = 16, .frames = 4, .first = "chooser"};

    assert_int_equal(replace_chooser.init(memory, &none), -EINVAL);
    assert_int_equal(replace_chooser.init(memory, &itself), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_are_at_most_two_points_below_the_best),
        cmocka_unit_test(short_runs_lose_no_more_than_the_table_says),
        cmocka_unit_test(short_leads_of_lru_in_a_zigzag_are_not_followed),
        cmocka_unit_test(immediate_reuse_does_not_mislead),
        cmocka_unit_test(a_table_about_as_large_as_memory_loses_two_points_at_most),
        cmocka_unit_test(with_few_pages_hits_are_at_most_five_points_below),
        cmocka_unit_test(chasing_phases_costs_five_points_at_most),
        cmocka_unit_test(a_loop_is_found_within_one_round_from_any_start),
        cmocka_unit_test(state_may_grow_at_any_time),
        cmocka_unit_test(the_current_expert_decides_as_it_does_alone),
        cmocka_unit_test(counted_misses_are_those_of_each_expert_alone),
        cmocka_unit_test(behind_a_buffer_counted_misses_are_near_those_alone),
        cmocka_unit_test(behind_a_buffer_hits_are_at_most_five_points_below),
        cmocka_unit_test(pages_of_the_former_expert_leave_from_both_ends),
        cmocka_unit_test(the_first_use_of_a_prefetched_page_is_a_miss_of_all),
        cmocka_unit_test(an_unknown_first_expert_is_refused),
    };
    longer = getenv("LONG") && atoi(getenv("LONG"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
