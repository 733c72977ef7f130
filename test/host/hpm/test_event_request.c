/* Requests by name: wishes and their events, how they are packed, and the words if they cannot
 * be. */
#include "test/host/double/expect_panic.h"
#include "hpm/events/request.h"
#include "hpm/events/table.h"
#include <string.h>

static struct event_request request;
static struct group_plan plan;
static struct group_work work;
static char err[256];

static void start(const char *pmu, unsigned counters, uint32_t fixed)
{
    const struct event_pmu names = {
        .table = event_table_named(pmu), .counters = counters, .fixed = fixed};

    assert_non_null(names.table);
    event_request_init(&request, &names);
}

static int add(const char *text)
{
    return event_request_add(&request, text, err, sizeof err);
}

static void want(const char *text)
{
    if (add(text) < 0)
        fail_msg("%s: %s", text, err);
}

static int pack(unsigned groups_max)
{
    return event_request_pack(&request, groups_max, &plan, &work, err, sizeof err);
}

static void assert_packs_into(unsigned groups)
{
    if (pack(0))
        fail_msg("%s", err);
    assert_int_equal(plan.groups, groups);
    assert_string_equal(err, "");
}

static bool is_in_group(unsigned group, unsigned event)
{
    for (unsigned p = 0; p < GROUP_COUNTERS_ALL; p++)
        if (plan.event[group][p] == event)
            return true;
    return false;
}

static bool share_a_group(uint64_t events)
{
    for (unsigned g = 0; g < plan.groups; g++) {
        uint64_t missing = events;
        for (unsigned e = 0; e < request.events; e++)
            if (is_in_group(g, e))
                missing &= ~((uint64_t)1 << e);
        if (!missing)
            return true;
    }
    return false;
}

/* ---- Wishes ---------------------------------------------------------------------------------- */

static void an_event_wanted_twice_is_counted_once(void **state)
{
    (void)state;
    start("skylake", 4, 7);
    assert_int_equal(add("L2_RQSTS:MISS"), 0);
    assert_int_equal(add("l2.mpki"), 1);
    assert_int_equal(add("l2.miss:u"), 2); /* in other modes it is another event */
    assert_int_equal(add("ipc"), 3);
    assert_int_equal(request.wishes, 4);
    assert_int_equal(request.events, 4);
    assert_null(request.wish[0].metric);
    assert_int_equal(request.wish[0].events, 1 << 0);
    assert_int_equal(request.wish[1].events, 1 << 0 | 1 << 1);
    assert_int_equal(request.wish[2].events, 1 << 2);
    assert_int_equal(request.wish[3].events, 1 << 1 | 1 << 3);
    assert_string_equal(request.wish[3].metric->name, "ipc");
    assert_int_equal(request.event[0].config, 0x3f24);
}

static void modes_behind_a_metric_are_those_of_its_events(void **state)
{
    (void)state;
    start("icelake", 8, 0xff000f);
    want("topdown.retiring:u");
    assert_int_equal(request.events, 2);
    for (unsigned e = 0; e < 2; e++) {
        assert_int_equal(request.event[e].modes, EVENT_USER);
        assert_int_equal(request.event[e].extra, EVENT_USER);
    }
    assert_string_equal(request.wish[0].text, "topdown.retiring:u");
    assert_int_equal(add("ipc:MISS"), -ENOENT);
}

static void what_is_refused_changes_nothing(void **state)
{
    (void)state;
    start("zen2", 6, 0);
    want("ipc");
    assert_int_equal(add("l1d.mis"), -ENOENT);
    assert_string_equal(err, "'l1d.mis' is no event of zen2");
    assert_int_equal(add("llc.mpki"), -ENOTSUP);
    assert_string_equal(err,
                        "llc.mpki is not available on zen2: 'llc.miss' is not available on zen2");
    assert_int_equal(add(""), -EINVAL);
    assert_int_equal(add("cycles:"), -EINVAL);
    assert_int_equal(request.wishes, 1);
    assert_int_equal(request.events, 2);
    assert_packs_into(1);
}

static void there_is_room_for_so_many(void **state)
{
    char text[16];

    (void)state;
    start("skylake", 4, 7);
    for (unsigned i = 0; i < EVENT_WISHES_MAX; i++) {
        snprintf(text, sizeof text, "r%02x02", i);
        want(text);
    }
    assert_int_equal(add("cycles"), -ENOSPC);
    assert_string_equal(err, "too many events and metrics");
    assert_int_equal(request.events, EVENT_WISHES_MAX);

    start("skylake", 4, 7);
    for (unsigned i = 0; i < GROUP_EVENTS_MAX - 1; i++)
        request.event[i] = (struct event){.config = i + 1, .counters = 1};
    request.events = GROUP_EVENTS_MAX - 1;
    assert_int_equal(add("ipc"), -ENOSPC);
    assert_string_equal(err, "too many different events");
    assert_int_equal(request.events, GROUP_EVENTS_MAX - 1);
    assert_int_equal(request.wishes, 0);
    assert_int_equal(add("cycles"), 0);
    assert_int_equal(request.events, GROUP_EVENTS_MAX);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static void a_metrics_events_share_a_group(void **state)
{
    (void)state;
    start("skylake-sp", 4, 7);
    want("ipc");
    want("remote_pct");
    want("topdown.backend");
    want("l2.miss_pct");
    want("stall.mem_pct");
    assert_packs_into(3);
    for (unsigned w = 0; w < request.wishes; w++)
        assert_true(share_a_group(request.wish[w].events));
}

static void fixed_counters_leave_the_others_free(void **state)
{
    (void)state;
    start("skylake", 2, 7);
    want("cycles");
    want("instructions");
    want("cycles.ref");
    want("l1d.miss");
    want("l2.miss");
    assert_packs_into(1);
    start("skylake", 2, 0);
    want("cycles");
    want("instructions");
    want("l1d.miss");
    want("l2.miss");
    assert_packs_into(2);
}

static void one_register_serves_one_value_at_a_time(void **state)
{
    (void)state;
    start("skylake", 4, 7);
    want("OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE");
    want("OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE");
    assert_packs_into(2);
    start("skylake", 4, 7);
    want("OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE:u");
    want("OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE:k");
    want("OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE");
    assert_packs_into(1);
    start("icelake", 8, 0xff000f);
    want("PERF_METRICS:RETIRING:u");
    want("PERF_METRICS:BACKEND_BOUND:u");
    assert_packs_into(1);
    want("PERF_METRICS:FRONTEND_BOUND:k"); /* fixed counter 3 has one filter of modes */
    assert_packs_into(2);
}

static void a_wide_event_has_two_counters(void **state)
{
    (void)state;
    start("zen3", 6, 0);
    want("cycles");
    want("instructions");
    want("branch");
    want("branch.miss");
    want("ops");
    assert_packs_into(1);
    want("RETIRED_SSE_AVX_FLOPS:ANY");
    assert_packs_into(2); /* four and the pair */
    for (unsigned g = 0; g < plan.groups; g++) {
        assert_int_equal(plan.event[g][5], GROUP_NIL);
        for (unsigned c = 0; c < 4; c++)
            assert_int_not_equal(plan.event[g][c], 5);
    }
    start("zen3", 1, 0);
    want("RETIRED_SSE_AVX_FLOPS:ANY");
    assert_int_equal(pack(0), -EINVAL);
    assert_string_equal(err, "RETIRED_SSE_AVX_FLOPS:ANY: no counter of this CPU can count it");
}

static void a_pinned_event_is_in_every_group(void **state)
{
    (void)state;
    start("model", 4, 0x30);
    request.pinned = 1;
    want("SERVED:REMOTE_L2");
    want("SERVED:LOCAL_L2");
    want("SERVED:REMOTE_MEMORY");
    want("SERVED:LOCAL_MEMORY");
    want("LOADS");
    want("STORES");
    assert_int_equal(pack(0), 0);
    assert_true(plan.groups > 1);
    for (unsigned g = 0; g < plan.groups; g++)
        assert_true(is_in_group(g, 0));
}

static void what_cannot_be_counted_is_said_by_name(void **state)
{
    (void)state;
    start("skylake", 4, 0);
    want("cycles.ref");
    assert_int_equal(pack(0), -EINVAL);
    assert_string_equal(err, "cycles.ref: no counter of this CPU can count it");

    start("skylake", 2, 7);
    want("topdown.bad_speculation");
    assert_int_equal(pack(0), -ENOSPC);
    assert_string_equal(
        err, "topdown.bad_speculation: there are fewer counters than it takes at the same time");

    start("skylake", 4, 0);
    want("ipc");
    request.pinned = 3;
    want("l1d.miss");
    want("l2.miss");
    want("l2.access");
    assert_packs_into(2);
    assert_int_equal(pack(1), -ENOSPC);
    assert_string_equal(err, "too many events to take turns");

    start("skylake", 4, 7);
    want("OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE");
    want("OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE");
    request.pinned = 1;
    assert_int_equal(pack(0), -EINVAL);
    assert_string_equal(err,
                        "OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE and "
                        "OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE: they cannot be counted at "
                        "the same time");

    start("skylake", 4, 1);
    want("instructions");
    want("topdown.frontend");
    request.event[2].counters = 0; /* cycles, without a fixed counter */
    assert_int_equal(pack(0), -EINVAL);
    assert_string_equal(err, "cycles of topdown.frontend: no counter of this CPU can count it");

    start("skylake", 0, 0);
    want("cycles");
    assert_int_equal(pack(0), -EINVAL);
    assert_string_equal(err, "there is no counter, or an event is pinned that there is not");
}

static void no_more_counters_are_used_than_packing_has(void **state)
{
    (void)state;
    start("skylake", 31, 7);
    want("l1d.miss");
    assert_packs_into(1);
}

/* ---- Every metric ---------------------------------------------------------------------------- */

static unsigned counters_of(const char *pmu)
{
    return !strncmp(pmu, "zen", 3) ? 6 : strstr(pmu, "icelake") || strstr(pmu, "rapids") ? 8 : 4;
}

/* On each PMU, with the counters it has while both threads of a core run. Prints the number of
 * metrics. */
static void every_metric_fits_into_one_group(void **state)
{
    (void)state;
    for (const struct event_table *const *t = event_tables; *t; t++) {
        unsigned found = 0;
        for (const struct metric *m = metrics; m->name; m++) {
            start((*t)->name, counters_of((*t)->name), UINT32_MAX);
            if (add(m->name) < 0 || request.wish[0].metric != m)
                continue;
            if (pack(0) || plan.groups != 1)
                fail_msg("%s: %s does not fit into one group: %s", (*t)->name, m->name, err);
            found++;
        }
        print_message("# %s: %u metrics\n", (*t)->name, found);
        assert_true(found >= 2); /* at least ipc and cpi */
    }
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static int read_text(const char *text)
{
    start("model", 4, 0);
    return event_request_read(&request, text, err, sizeof err);
}

static void a_text_has_weights_pins_braces_and_a_round(void **state)
{
    uint64_t set[EVENT_WISHES_MAX];
    uint8_t wish[EVENT_WISHES_MAX];

    (void)state;
    assert_int_equal(
        read_text("LOADS*4, STORES! {LOADS,ipc,MISPREDICTS}*2,round=500,TLB_MISSES!*8"), 0);
    assert_int_equal(request.wishes, 6);
    assert_int_equal(request.events, 7);
    assert_int_equal(request.round, 500);
    assert_string_equal(request.wish[0].text, "LOADS");
    assert_string_equal(request.wish[5].text, "TLB_MISSES");
    for (unsigned w = 0; w < 6; w++)
        assert_int_equal(request.wish[w].tie, w >= 2 && w <= 4);
    assert_int_equal(request.weight[0], 4);
    assert_int_equal(request.weight[1], 0);
    for (unsigned e = 2; e < 6; e++)
        assert_int_equal(request.weight[e], 2);
    assert_int_equal(request.weight[6], 8);
    assert_int_equal(request.pinned, 1 << 1 | 1 << 6);
    assert_int_equal(event_request_tied(&request, 0), 0x3c);
    assert_int_equal(event_request_sets(&request, set, wish), 1);
    assert_int_equal(set[0], 0x3c);
    assert_int_equal(wish[0], 2);
}

static void weights_may_be_automatic(void **state)
{
    (void)state;
    assert_int_equal(read_text("LOADS*auto STORES {MISPREDICTS TLB_MISSES}*auto!,L1D_MISSES*2"), 0);
    assert_int_equal(request.automatic, 0xd);
    assert_int_equal(request.pinned, 0xc);
    assert_int_equal(request.weight[0], 0);
}

/* Pinned events are counted all the time, so they are the same in braces as outside. */
static void what_is_pinned_in_braces_is_not_tied(void **state)
{
    uint64_t set[EVENT_WISHES_MAX];
    uint8_t wish[EVENT_WISHES_MAX];

    (void)state;
    assert_int_equal(read_text("{LOADS STORES}!,{MISPREDICTS,TLB_MISSES},{LOADS}"), 0);
    assert_int_equal(request.pinned, 3);
    assert_int_equal(event_request_tied(&request, 0), 0x1c);
    assert_int_equal(event_request_sets(&request, set, wish), 2);
    assert_int_equal(set[0], 0xc);
    assert_int_equal(set[1], 0x10);
    assert_int_equal(request.events, 5);
}

static void malformed_texts_are_refused_with_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"LOADS*0", "'LOADS*0': behind '*' there must be a weight from 1 to 8, or auto"},
        {"cycles,LOADS*9", "'LOADS*9': behind '*' there must be a weight from 1 to 8, or auto"},
        {"LOADS*", "'LOADS*': behind '*' there must be a weight from 1 to 8, or auto"},
        {"LOADS*99999999999999999999999999", "must be a weight from 1 to 8"},
        {"LOADS*4x", "'LOADS*4x': behind a name there may be '*' with a weight, and '!'"},
        {"LOADS*4*2", "may be '*' with a weight, and '!'"},
        {"LOADS*aut", "'LOADS*aut': behind '*' there must be a weight from 1 to 8, or auto"},
        {"LOADS*auto*2", "may be '*' with a weight, and '!'"},
        {"LOADS*2*auto", "may be '*' with a weight, and '!'"},
        {"LOADS*automatic", "may be '*' with a weight, and '!'"},
        {"LOADS!!", "may be '*' with a weight, and '!'"},
        {"{LOADS*2,STORES}", "'LOADS*2': weights and '!' stand behind the braces"},
        {"{LOADS,STORES!}", "'STORES!': weights and '!' stand behind the braces"},
        {"{LOADS,{STORES}}", "braces cannot be inside braces"},
        {"{LOADS", "a '{' without a '}'"},
        {"LOADS}", "a '}' without a '{'"},
        {"LOADS,{}", "nothing between the braces"},
        {"{LOADS}9", "'9': behind a name there may be"},
        {"LOADS,round=", "'round=': a round is a length from 1 to 68719476736"},
        {"LOADS,round=0", "'round=0': a round is"},
        {"LOADS,round=68719476737", "a round is a length"},
        {"LOADS,round=5k", "'round=5k': a round is"},
        {"round=5", "no event or metric is named"},
        {"", "no event or metric is named"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(read_text(cases[i].text), -EINVAL);
        if (!strstr(err, cases[i].why))
            fail_msg("%s: said '%s'", cases[i].text, err);
    }
    assert_int_equal(read_text("LOADS*3,LOADZ*3"), -ENOENT);
    assert_int_equal(read_text("LOADS,round=68719476736"), 0);
}

/* ---- Figures --------------------------------------------------------------------------------- */

static void a_metric_finds_its_counts_among_all(void **state)
{
    (void)state;
    start("skylake", 4, 7);
    want("l1d.miss");
    want("ipc");
    want("cpi");
    assert_int_equal(request.events, 3); /* l1d.miss, instructions, cycles */
    const uint64_t count[] = {77, 3000, 1500};
    struct metric_value v = event_request_value(&request, 1, count, 7);
    assert_int_equal(v.trouble, METRIC_FINE);
    assert_int_equal(v.millionths, 2 * METRIC_ONE);
    v = event_request_value(&request, 2, count, 7);
    assert_int_equal(v.millionths, METRIC_ONE / 2);
    v = event_request_value(&request, 1, count, 3);
    assert_int_equal(v.trouble, METRIC_EVENT_MISSING);
    EXPECT_PANIC(event_request_value(&request, 0, count, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_wanted_twice_is_counted_once),
        cmocka_unit_test(modes_behind_a_metric_are_those_of_its_events),
        cmocka_unit_test(what_is_refused_changes_nothing),
        cmocka_unit_test(there_is_room_for_so_many),
        cmocka_unit_test(a_metrics_events_share_a_group),
        cmocka_unit_test(fixed_counters_leave_the_others_free),
        cmocka_unit_test(one_register_serves_one_value_at_a_time),
        cmocka_unit_test(a_wide_event_has_two_counters),
        cmocka_unit_test(a_pinned_event_is_in_every_group),
        cmocka_unit_test(what_cannot_be_counted_is_said_by_name),
        cmocka_unit_test(no_more_counters_are_used_than_packing_has),
        cmocka_unit_test(every_metric_fits_into_one_group),
        cmocka_unit_test(a_text_has_weights_pins_braces_and_a_round),
        cmocka_unit_test(weights_may_be_automatic),
        cmocka_unit_test(what_is_pinned_in_braces_is_not_tied),
        cmocka_unit_test(malformed_texts_are_refused_with_what_is_wrong),
        cmocka_unit_test(a_metric_finds_its_counts_among_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
