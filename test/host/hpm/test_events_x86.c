/* Names of events on x86: which are accepted and as what, which are refused with which words, and
 * which processor has which table. */
#include "test/host/double/event_names.h"
#include "hpm/events/generic.h"
#include "hpm/events/lookup.h"
#include "kernel/dev/model/machine.h"
#include "test/machine/pmu_masks.h"

#define INTEL 0x756e6547
#define AMD   0x68747541
#define BOTH  (EVENT_USER | EVENT_KERNEL)

static void assert_refused(const char *pmu, const char *text, int error, const char *message)
{
    memset(&event, 0x5a, sizeof event);
    assert_int_equal(parse(pmu, text), error);
    assert_string_equal(err, message);
    assert_int_equal(event.counters, 0x5a5a5a5a); /* nothing was written */
}

static void a_part_goes_into_the_selector(void **state)
{
    (void)state;
    expect_event("skylake", "L2_RQSTS:MISS", 0x3f24);
    assert_int_equal(event.extra, 0);
    assert_int_equal(event.counters, 0xff);
    assert_int_equal(event.fixed, EVENT_NO_FIXED);
    assert_int_equal(event.exclusion, EVENT_SHARES_NOTHING);
    assert_int_equal(event.modes, BOTH);
    assert_false(event.precise);
}

static void the_case_of_vendors_names_does_not_matter(void **state)
{
    (void)state;
    expect_event("skylake", "l2_rqsts:Miss:K", 0x3f24);
    assert_int_equal(event.modes, EVENT_KERNEL);
}

static void modes_stand_anywhere_behind_the_name(void **state)
{
    (void)state;
    assert_int_equal(parse("skylake", "cycles"), 0);
    assert_int_equal(event.modes, BOTH);
    assert_int_equal(parse("skylake", "cycles:u"), 0);
    assert_int_equal(event.modes, EVENT_USER);
    assert_int_equal(parse("skylake", "cycles:uk"), 0);
    assert_int_equal(event.modes, BOTH);
    assert_int_equal(parse("skylake", "cycles:k:u"), 0);
    assert_int_equal(event.modes, BOTH);
    assert_int_equal(parse("skylake", "L2_RQSTS:u:MISS"), 0);
    assert_int_equal(event.modes, EVENT_USER);
    assert_int_equal(parse("skylake", "rc4:k"), 0);
    assert_int_equal(event.modes, EVENT_KERNEL);
    assert_refused("skylake", "cycles:u:u", -EINVAL, "mode 'u' is given twice");
    assert_refused("skylake", "cycles:kk", -EINVAL, "mode 'k' is given twice");
}

/* Counter mask (bits 24 to 31), inversion (23) and edge (18) belong to parts. */
static void parts_bring_their_modifiers(void **state)
{
    (void)state;
    expect_event("skylake", "UOPS_RETIRED:STALL_CYCLES", 0x018001c2);
    expect_event("skylake", "IDQ:MS_SWITCHES", 0x01043079);
}

static void counters_that_cannot_are_left_out(void **state)
{
    (void)state;
    assert_int_equal(parse("skylake", "MEM_TRANS_RETIRED:LOAD_LATENCY"), 0);
    assert_int_equal(event.counters, 0x8);
    assert_int_equal(event.exclusion, EVENT_LATENCY);
    assert_int_equal(event.extra, 3);
    assert_true(event.precise);
    assert_int_equal(parse("sapphirerapids", "TOPDOWN:BAD_SPEC_SLOTS"), 0);
    assert_int_equal(event.counters, 0x1);
    assert_int_equal(event.config, 0x04a4);
    assert_int_equal(parse("icelake", "TOPDOWN:SLOTS"), 0);
    assert_int_equal(event.counters, 0);
    assert_int_equal(event.fixed, 3);
    assert_int_equal(parse("icelake", "INST_RETIRED:PREC_DIST"), 0);
    assert_int_equal(event.fixed, 0);
}

/* Counter, fixed counter, and, if Intel's list says so, the front end's register of parts that
 * libpfm4 4.13 has wrong. */
static void parts_that_libpfm4_has_wrong_are_right(void **state)
{
    static const struct {
        const char *pmu, *text;
        uint64_t config, extra;
        uint32_t counters;
        unsigned fixed;
    } right[] = {
        {"icelake", "CPU_CLK_UNHALTED:REF_XCLK", 0x13c, 0, 0xff, EVENT_NO_FIXED},
        {"icelake", "CPU_CLK_UNHALTED:DISTRIBUTED", 0x2ec, 0, 0xff, EVENT_NO_FIXED},
        {"icelake", "CPU_CLK_UNHALTED:THREAD_P", 0x3c, 0, 0xff, 1},
        {"icelake", "CPU_CLK_UNHALTED:REF_TSC", 0x300, 0, 0, 2},
        {"icelake", "MEM_LOAD_MISC_RETIRED:UC", 0x4d4, 0, 0xf, EVENT_NO_FIXED},
        {"sapphirerapids", "CPU_CLK_UNHALTED:THREAD", 0x200, 0, 0, 1},
        {"sapphirerapids", "CPU_CLK_UNHALTED:REF_TSC", 0x300, 0, 0, 2},
        {"sapphirerapids", "CPU_CLK_UNHALTED:C01", 0x10ec, 0, 0xff, EVENT_NO_FIXED},
        {"sapphirerapids", "INST_RETIRED:ANY_P", 0xc0, 0, 0xff, 0},
        {"sapphirerapids", "INST_RETIRED:NOP", 0x2c0, 0, 0xff, EVENT_NO_FIXED},
        {"sapphirerapids", "UOPS_RETIRED:MS", 0x4c2, 0x8, 0xff, EVENT_NO_FIXED},
        {"sapphirerapids", "INT_MISC:UNKNOWN_BRANCH_CYCLES", 0x40ad, 0x7, 0xff, EVENT_NO_FIXED},
        {"sapphirerapids", "MEM_TRANS_RETIRED:STORE_SAMPLE", 0x2cd, 0, 0x1, EVENT_NO_FIXED},
        {"sapphirerapids", "MEM_TRANS_RETIRED:LOAD_LATENCY", 0x1cd, 0x3, 0xfe, EVENT_NO_FIXED},
        {"intel-architectural", "UNHALTED_REFERENCE_CYCLES", 0x300, 0, 0, 2},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(right); i++) {
        expect_event(right[i].pmu, right[i].text, right[i].config);
        assert_int_equal(event.extra, right[i].extra);
        assert_int_equal(event.counters, right[i].counters);
        assert_int_equal(event.fixed, right[i].fixed);
    }
    assert_int_equal(parse("sapphirerapids", "UOPS_RETIRED:MS"), 0);
    assert_int_equal(event.exclusion, EVENT_FRONTEND);
}

/* Selects from..to (with a mask of parts, or whole selectors of 16 bits) that only these counters
 * can count: the column "Counter" of Intel's event lists, as summarized in Linux. The first row
 * that fits is used. */
struct restriction {
    const char *pmu;
    unsigned from, to;
    bool part;
    uint32_t counters;
};
static const struct restriction restrictions[] = {
    {"skylake", 0xc6, 0xc6, false, 0x0f},         {"skylake", 0xcd, 0xcd, false, 0x0f},
    {"skylake", 0xd0, 0xd2, false, 0x0f},         {"icelake", 0x03, 0x0a, false, 0x0f},
    {"icelake", 0x1f, 0x28, false, 0x0f},         {"icelake", 0x32, 0x32, false, 0x0f},
    {"icelake", 0x48, 0x56, false, 0x0f},         {"icelake", 0x60, 0x8b, false, 0x0f},
    {"icelake", 0x4a3, 0x4a3, true, 0xff},        {"icelake", 0x10a3, 0x10a3, true, 0xff},
    {"icelake", 0x14a3, 0x14a3, true, 0xff},      {"icelake", 0xa3, 0xa3, false, 0x0f},
    {"icelake", 0xa8, 0xb0, false, 0x0f},         {"icelake", 0xb7, 0xbd, false, 0x0f},
    {"icelake", 0xd0, 0xe6, false, 0x0f},         {"icelake", 0xef, 0xf4, false, 0x0f},
    {"sapphirerapids", 0x2e, 0x2e, false, 0xff},  {"sapphirerapids", 0x3c, 0x3c, false, 0xff},
    {"sapphirerapids", 0x01, 0x8f, false, 0x0f},  {"sapphirerapids", 0x1a3, 0x1a3, true, 0x0f},
    {"sapphirerapids", 0x2a3, 0x2a3, true, 0x0f}, {"sapphirerapids", 0x8a3, 0x8a3, true, 0x0f},
    {"sapphirerapids", 0x4a4, 0x4a4, true, 0x01}, {"sapphirerapids", 0x8a4, 0x8a4, true, 0x01},
    {"sapphirerapids", 0x1cd, 0x1cd, true, 0xfe}, {"sapphirerapids", 0x2cd, 0x2cd, true, 0x01},
    {"sapphirerapids", 0xce, 0xce, false, 0x01},  {"sapphirerapids", 0xd0, 0xdf, false, 0x0f},
};

static uint32_t allowed(const char *pmu, uint64_t config)
{
    for (const struct restriction *r = restrictions; r < restrictions + ARRAY_SIZE(restrictions);
         r++) {
        unsigned bits = config & (r->part ? 0xffff : 0xff);
        if (!strncmp(pmu, r->pmu, strlen(r->pmu)) && bits >= r->from && bits <= r->to)
            return r->counters;
    }
    return 0xff;
}

static void check_counters(const struct event_table *t, const struct event_entry *e,
                           const struct event_unit *u)
{
    const struct event_limit *l = unit_limit(t, e, u);
    uint64_t config = u ? unit_config(entry_config(e), u) : entry_config(e);

    if (l->counters & ~allowed(t->name, config))
        fail_msg("%s: %s:%s, %llx: counters %x", t->name, entry_name(t, e),
                 u ? unit_name(t, u) : "", (unsigned long long)config, l->counters);
}

static void no_counter_is_promised_that_cannot(void **state)
{
    static const char *const pmus[] = {"skylake", "skylake-sp", "cascadelake",
                                       "icelake", "icelake-sp", "sapphirerapids"};

    (void)state;
    for (unsigned p = 0; p < ARRAY_SIZE(pmus); p++) {
        const struct event_table *t = event_table_named(pmus[p]);
        for (unsigned i = 0; i < t->entry_count; i++) {
            const struct event_entry *e = &t->entries[i];
            if (!entry_is_here(t, e))
                continue;
            if (!e->units)
                check_counters(t, e, NULL);
            event_each_unit (u, t, e)
                check_counters(t, e, u);
        }
    }
}

static void fields_of_perf_metrics_are_fixed_counters_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(parse("icelake", "PERF_METRICS:BACKEND_BOUND"), 0);
    assert_int_equal(event.fixed, 19);
    assert_int_equal(event.counters, 0);
    assert_int_equal(parse("sapphirerapids", "PERF_METRICS:MEMORY_BOUND"), 0);
    assert_int_equal(event.fixed, 23);
    assert_int_equal(event.exclusion, EVENT_TOPDOWN);
    assert_int_equal(parse("sapphirerapids", "TOPDOWN:SLOTS:u"), 0);
    assert_int_equal(event.exclusion, EVENT_TOPDOWN); /* in one group only in the same modes */
    assert_int_equal(event.extra, EVENT_USER);
    assert_int_equal(parse("icelake", "PERF_METRICS:MEMORY_BOUND"), -ENOENT);
    assert_int_equal(parse("skylake", "PERF_METRICS:RETIRING"), -ENOENT);
}

static void parts_of_several_groups_are_put_together(void **state)
{
    (void)state;
    expect_event("skylake-sp", "OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:L3_HIT:SNP_HITM", 0x1b7);
    assert_int_equal(event.extra, 3ull | 0xfull << 18 | 1ull << 36);
    assert_int_equal(event.exclusion, EVENT_OFFCORE_0);
    expect_event("skylake-sp", "OFFCORE_RESPONSE_1:DMND_DATA_RD", 0x1bb); /* and ANY_RESPONSE */
    assert_int_equal(event.extra, 1 | 1 << 16);
    assert_int_equal(event.exclusion, EVENT_OFFCORE_1);
    /* and SNP_ANY */
    assert_int_equal(parse("skylake-sp", "OFFCORE_RESPONSE_0:DMND_RFO:L3_MISS"), 0);
    assert_int_equal(event.extra, 2ull | 0xfull << 26 | 0x7full << 31);
    expect_event("sapphirerapids", "OFFCORE_RESPONSE_1:DEMAND_DATA_RD_DRAM", 0x12b);
    assert_int_equal(event.exclusion, EVENT_OFFCORE_1);
}

static void parts_that_do_not_go_together_are_named(void **state)
{
    (void)state;
    assert_refused("skylake", "L2_RQSTS:MISS:REFERENCES", -EINVAL,
                   "'MISS' and 'REFERENCES' do not go together");
    assert_refused("skylake", "OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE:SNP_HITM", -EINVAL,
                   "'ANY_RESPONSE' and 'SNP_HITM' do not go together");
    assert_int_equal(parse("skylake", "OFFCORE_RESPONSE_0:DMND_RFO:SNP_HITM"), -EINVAL);
    assert_non_null(
        strstr(err, "OFFCORE_RESPONSE_0 needs one of its parts: ANY_RESPONSE SUPPLIER_NONE"));
    expect_event("skylake", "L2_RQSTS:MISS:miss", 0x3f24);
}

/* A table of one event: part A on counters 0 and 1 or fixed counter 2, B on 1 and 2 or the same, C
 * on 3, ANY on all. */
static void parts_are_counted_where_all_of_them_can_be(void **state)
{
    static const char names[] = "EVENT\0A\0B\0C\0ANY";
    static const struct event_limit limits[] = {
        {0xf, EVENT_NO_FIXED, 0}, {0x3, 2, 0}, {0x6, 2, EVENT_FRONTEND}, {0x8, EVENT_NO_FIXED, 0}};
    static const struct event_unit units[] = {
        {0x100, 6, UNIT_NO_EXTRA, 1, 1, UNIT_PRECISE, 0},
        {0x200, 8, 0, 2, 1, UNIT_PRECISE, 0},
        {0x400, 10, 1, 3, 1, 0, 0},
        {0x800, 12, UNIT_NO_EXTRA, UNIT_LIMIT_OF_ENTRY, 1, 0, 0},
    };
    static const struct event_entry entry = {0x42, 0, 0, 4, 0, 1, 0x10};
    static const uint64_t extras[] = {0x5, 0x12};
    const struct event_table t = {.name = "test",
                                  .variant = 1,
                                  .entry_count = 1,
                                  .entries = &entry,
                                  .units = units,
                                  .limits = limits,
                                  .extras = extras,
                                  .names = names};
    const struct event_pmu pmu = {.table = &t};

    (void)state;
    assert_int_equal(event_parse(&pmu, "EVENT:A:B", &event, err, sizeof err), 0);
    assert_int_equal(event.config, 0x342);
    assert_int_equal(event.counters, 0x2);
    assert_int_equal(event.fixed, 2);
    assert_int_equal(event.exclusion, EVENT_FRONTEND);
    assert_int_equal(event.extra, 0x5);
    assert_true(event.precise);
    assert_int_equal(event_parse(&pmu, "EVENT:ANY:A", &event, err, sizeof err), 0);
    assert_int_equal(event.counters, 0x3);
    assert_int_equal(event.fixed, EVENT_NO_FIXED);
    assert_false(event.precise);
    assert_int_equal(event_parse(&pmu, "EVENT:A:C", &event, err, sizeof err), -EINVAL);
    assert_string_equal(err, "no counter counts all these parts of EVENT");
}

static void an_event_that_needs_a_part_says_which(void **state)
{
    (void)state;
    assert_refused(
        "icelake", "TOPDOWN", -EINVAL,
        "TOPDOWN needs one of its parts: BR_MISPREDICT_SLOTS BACKEND_BOUND_SLOTS SLOTS_P SLOTS");
}

static void events_of_the_other_variants_of_a_family_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(parse("cascadelake", "MEM_LOAD_L3_MISS_RETIRED:REMOTE_PMM"), 0);
    assert_int_equal(parse("skylake-sp", "MEM_LOAD_L3_MISS_RETIRED:REMOTE_PMM"), -ENOENT);
}

static void the_upper_bits_of_amds_select_are_bits_32_to_35(void **state)
{
    (void)state;
    expect_event("zen4", "DISPATCH_STALLS_1:BE_STALLS", 1ull << 32 | 0x1ea0);
    assert_int_equal(event.counters, 0x3f);
    assert_int_equal(parse("zen3", "RETIRED_SSE_AVX_FLOPS:ANY"), 0);
    assert_true(event.wide);
    assert_int_equal(event.counters, 0x15);
}

static void unknown_names_are_refused_with_the_nearest(void **state)
{
    (void)state;
    assert_refused("skylake", "l1d.mis", -ENOENT,
                   "'l1d.mis' is no event of skylake; nearest: l1d.miss");
    assert_refused("skylake", "L2_RQST:MISS", -ENOENT,
                   "'L2_RQST' is no event of skylake; nearest: L2_RQSTS");
    assert_refused("skylake", "l2_rqsts:mist", -ENOENT,
                   "'mist' is no part of L2_RQSTS; nearest: MISS");
    assert_refused("skylake", "brnch.mis", -ENOENT,
                   "'brnch.mis' is no event of skylake; nearest: branch.miss");
    assert_refused("skylake", "xyzzy.plugh", -ENOENT, "'xyzzy.plugh' is no event of skylake");
    assert_refused("skylake", "UNHALTED_CORE_CYCLES:MISS", -ENOENT,
                   "'MISS' stands behind an event that has no parts, UNHALTED_CORE_CYCLES");
    assert_refused("skylake", "cycles:MISS", -EINVAL,
                   "'MISS' is neither u nor k; there are no parts of cycles");
}

static void malformed_texts_are_refused(void **state)
{
    char text[2 * EVENT_TEXT_MAX];

    (void)state;
    assert_refused("skylake", "", -EINVAL, "an event's name is missing in ''");
    assert_refused("skylake", ":u", -EINVAL, "an event's name is missing in ':u'");
    assert_refused("skylake", "cycles:", -EINVAL, "nothing stands behind a ':' of 'cycles:'");
    assert_refused("skylake", "L2_RQSTS::MISS", -EINVAL,
                   "nothing stands behind a ':' of 'L2_RQSTS::MISS'");
    memset(text, 'a', sizeof text);
    text[EVENT_TEXT_MAX] = 0;
    assert_int_equal(parse("skylake", text), -EINVAL);
    assert_non_null(strstr(err, "longer than any event's name: 'aaaa"));
    text[EVENT_TEXT_MAX - 1] = 0;
    assert_int_equal(parse("skylake", text), -ENOENT);
    assert_int_equal(parse("skylake", "L2_RQSTS:a:b:c:d:e:f:g:h:i:j:l:m:n:o:p:q"), -EINVAL);
    assert_string_equal(err, "'q' is one part too many");
}

static void a_short_buffer_for_messages_is_not_overrun(void **state)
{
    const struct event_pmu skylake = {.table = event_table_named("skylake")};
    char small[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    (void)state;
    assert_int_equal(event_parse(&skylake, "nonsense", &event, small, 5), -ENOENT);
    assert_string_equal(small, "'non");
    assert_int_equal(small[5], 1);
}

static void bits_are_taken_as_they_are(void **state)
{
    (void)state;
    expect_event("skylake", "r3f24", 0x3f24);
    assert_int_equal(event.counters, 0xff);
    assert_int_equal(parse("skylake", "R1004302"), 0); /* not in the table: every counter */
    assert_int_equal(event.counters, 0xff);
    assert_int_equal(parse("skylake", "r8d1"), 0); /* MEM_LOAD_RETIRED: on four of them */
    assert_int_equal(event.counters, 0xf);
    assert_int_equal(parse("skylake", "rffd1"), 0); /* an unknown part of it: the same four */
    assert_int_equal(event.counters, 0xf);
    assert_int_equal(parse("skylake", "rc0"), 0);
    assert_int_equal(event.fixed, 0);
    expect_event("zen4", "r100001ea0", 1ull << 32 | 0x1ea0);
    assert_int_equal(parse("zen3", "rff03"), 0); /* as RETIRED_SSE_AVX_FLOPS */
    assert_true(event.wide);
    assert_int_equal(event.counters, 0x15);
}

static void bits_that_select_nothing_are_refused(void **state)
{
    (void)state;
    assert_refused("skylake", "r4300c0", -EINVAL,
                   "'r4300c0' has bits that do not select an event: 0x430000");
    assert_refused("skylake", "r1000000c0", -EINVAL,
                   "'r1000000c0' has bits that do not select an event: 0x100000000"); /* IN_TX */
    assert_refused("zen2", "r1000c0", -EINVAL,
                   "'r1000c0' has bits that do not select an event: 0x100000");
}

static void a_select_that_needs_a_register_must_be_named(void **state)
{
    (void)state;
    assert_refused("skylake", "r1b7", -EINVAL,
                   "'r1b7' needs a second register's value too: name it, as OFFCORE_RESPONSE_0");
    assert_refused(
        "skylake", "r10401b7", -EINVAL,
        "'r10401b7' needs a second register's value too: name it, as OFFCORE_RESPONSE_0");
    assert_refused("sapphirerapids", "r4c2", -EINVAL,
                   "'r4c2' needs a second register's value too: name it, as UOPS_RETIRED");
    assert_refused("skylake", "r11111111111111111", -EINVAL,
                   "'r11111111111111111' has more than 64 bits");
    assert_refused("skylake", "rc4:MISS", -EINVAL,
                   "'MISS' stands behind bits, which have no parts");
    assert_int_equal(parse("skylake", "r"), -ENOENT);
    assert_int_equal(parse("skylake", "r12g"), -ENOENT);
}

static void generic_names_lead_to_the_pmus_own_events(void **state)
{
    static const struct {
        const char *pmu, *name;
        uint64_t config;
    } expected[] = {
        {"skylake", "llc.miss", 0x412e},
        {"skylake", "branch.miss", 0xc5},
        {"icelake", "l2.miss", 0x2724},
        {"zen2", "instructions", 0xc0},
        {"zen4", "tlb.miss", 0xf045},
        {"zen3", "mem.remote_cache", 0x1443},
        {"skylake-sp", "mem.remote", 0x02d3},
        {"model", "mem.remote_cache", MACHINE_EVENT_SERVED_REMOTE_L2},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(expected); i++) {
        expect_event(expected[i].pmu, expected[i].name, expected[i].config);
    }
}

static void what_a_pmu_has_not_is_not_available(void **state)
{
    const struct event_pmu zen2 = {.table = event_table_named("zen2")};
    const char *text;

    (void)state;
    assert_refused("zen2", "llc.miss", -ENOTSUP, "'llc.miss' is not available on zen2");
    assert_refused("intel-architectural", "stall.mem:u", -ENOTSUP,
                   "'stall.mem' is not available on intel-architectural");
    assert_int_equal(event_of_generic(&zen2, "llc.miss", &text), 0);
    assert_int_equal(event_of_generic(&zen2, "no.such.name", &text), 0);
    assert_int_equal(event_of_generic(&zen2, "cycles", &text), strlen("CYCLES_NOT_IN_HALT"));
    assert_string_equal(text, "CYCLES_NOT_IN_HALT");
}

/* A name in a map that its table does not have would become "not available" silently. */
static void every_event_in_the_maps_exists(void **state)
{
    static const char *const pmus[] = {
        "skylake",    "skylake-sp",     "cascadelake",         "icelake",
        "icelake-sp", "sapphirerapids", "intel-architectural", "zen2",
        "zen3",       "zen4",           "amd-common",          "model"};

    (void)state;
    for (unsigned p = 0; p < ARRAY_SIZE(pmus); p++) {
        const struct event_pmu names = {.table = event_table_named(pmus[p])};
        const struct event_generic_map *m = event_generic_maps;
        assert_non_null(names.table);
        while (strcmp(m->table, pmus[p]))
            m++;
        for (unsigned g = 0; g < GENERIC_COUNT; g++) {
            const char *text;
            size_t n = event_of_generic(&names, event_generics[g].name, &text);
            if (n != (m->events[g] ? strlen(m->events[g]) : 0))
                fail_msg("%s: %s is mapped to %s, which it has not", pmus[p],
                         event_generics[g].name, m->events[g]);
            if (n)
                assert_int_equal(parse(pmus[p], event_generics[g].name), 0);
        }
        assert_int_equal(parse(pmus[p], "cycles"), 0);
        assert_int_equal(parse(pmus[p], "instructions"), 0);
    }
}

static void generic_names_are_described_once_each(void **state)
{
    (void)state;
    for (unsigned i = 0; i < GENERIC_COUNT; i++) {
        assert_true(strlen(event_generics[i].about) > 5);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(event_generics[i].name, event_generics[k].name);
    }
    assert_null(event_generics[GENERIC_COUNT].name);
}

static const char *table_of(uint32_t vendor, uint32_t leaf1_eax)
{
    return table_name_for(event_identity_x86(vendor, leaf1_eax));
}

/* CPUID values as processors report them. */
static void processors_have_their_tables(void **state)
{
    (void)state;
    assert_string_equal(table_of(INTEL, 0x506e3), "skylake");    /* Core i7-6700 */
    assert_string_equal(table_of(INTEL, 0x906ea), "skylake");    /* Core i7-8700 */
    assert_string_equal(table_of(INTEL, 0x50654), "skylake-sp"); /* Xeon Gold 6148 */
    assert_string_equal(table_of(INTEL, 0x50655), "cascadelake");
    assert_string_equal(table_of(INTEL, 0x50657), "cascadelake");         /* Xeon Gold 6248 */
    assert_string_equal(table_of(INTEL, 0x706e5), "icelake");             /* Core i7-1065G7 */
    assert_string_equal(table_of(INTEL, 0x606a6), "icelake-sp");          /* Xeon Platinum 8380 */
    assert_string_equal(table_of(INTEL, 0x806f8), "sapphirerapids");      /* Xeon Platinum 8480+ */
    assert_string_equal(table_of(INTEL, 0xc06f2), "sapphirerapids");      /* Xeon Platinum 8580 */
    assert_string_equal(table_of(INTEL, 0x306c3), "intel-architectural"); /* Core i7-4770 */
    assert_string_equal(table_of(INTEL, 0x00f43), "none");                /* Pentium 4 */
    assert_string_equal(table_of(AMD, 0x830f10), "zen2");                 /* EPYC 7742 */
    assert_string_equal(table_of(AMD, 0x870f10), "zen2");                 /* Ryzen 7 3700X */
    assert_string_equal(table_of(AMD, 0xa00f11), "zen3");                 /* EPYC 7763 */
    assert_string_equal(table_of(AMD, 0xa20f10), "zen3");                 /* Ryzen 9 5950X */
    assert_string_equal(table_of(AMD, 0xa10f11), "zen4");                 /* EPYC 9654 */
    assert_string_equal(table_of(AMD, 0xa60f12), "zen4");                 /* Ryzen 9 7950X */
    assert_string_equal(table_of(AMD, 0x800f12), "amd-common");           /* EPYC 7601, Zen */
    assert_string_equal(table_of(0x746e6543, 0x006f1), "none");           /* "Cent" */
    assert_null(event_table_named("skylak"));
}

/* The machine's registers and the table of its events agree on every event. */
static void the_simulated_machines_table_is_the_machines(void **state)
{
    const struct event_table *t = event_table_named("model");
    unsigned seen = 0;

    (void)state;
    for (unsigned i = 0; i < t->entry_count; i++) {
        const struct event_entry *e = &t->entries[i];
        for (unsigned u = 0; u < MAX(e->units, (uint8_t)1); u++) {
            char text[64] = "";
            strcat(text, entry_name(t, e));
            if (e->units)
                strcat(strcat(text, ":"), unit_name(t, &t->units[e->unit + u]));
            assert_int_equal(parse("model", text), 0);
            assert_in_range(event.config, 1, MACHINE_EVENTS - 1);
            uint8_t mask = pmu_counter_mask[event.config];
            assert_int_equal(event.counters, mask & 0xf);
            assert_int_equal(event.fixed,
                             mask >> 4 ? 4 + __builtin_ctz(mask >> 4) : EVENT_NO_FIXED);
            seen++;
        }
    }
    assert_int_equal(seen, MACHINE_EVENTS - 1);
}

static void names_of_a_table_can_be_listed(void **state)
{
    const struct event_table *t = event_table_named("skylake-sp");
    unsigned n = 0;

    (void)state;
    for (; event_name(t, n); n++)
        assert_true(strlen(event_name(t, n)) > 1);
    assert_in_range(n, 60, 200);
    assert_null(event_name(t, n + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_goes_into_the_selector),
        cmocka_unit_test(the_case_of_vendors_names_does_not_matter),
        cmocka_unit_test(modes_stand_anywhere_behind_the_name),
        cmocka_unit_test(parts_bring_their_modifiers),
        cmocka_unit_test(counters_that_cannot_are_left_out),
        cmocka_unit_test(parts_that_libpfm4_has_wrong_are_right),
        cmocka_unit_test(no_counter_is_promised_that_cannot),
        cmocka_unit_test(fields_of_perf_metrics_are_fixed_counters_of_their_own),
        cmocka_unit_test(parts_of_several_groups_are_put_together),
        cmocka_unit_test(parts_that_do_not_go_together_are_named),
        cmocka_unit_test(parts_are_counted_where_all_of_them_can_be),
        cmocka_unit_test(an_event_that_needs_a_part_says_which),
        cmocka_unit_test(events_of_the_other_variants_of_a_family_are_unknown),
        cmocka_unit_test(the_upper_bits_of_amds_select_are_bits_32_to_35),
        cmocka_unit_test(unknown_names_are_refused_with_the_nearest),
        cmocka_unit_test(malformed_texts_are_refused),
        cmocka_unit_test(a_short_buffer_for_messages_is_not_overrun),
        cmocka_unit_test(bits_are_taken_as_they_are),
        cmocka_unit_test(bits_that_select_nothing_are_refused),
        cmocka_unit_test(a_select_that_needs_a_register_must_be_named),
        cmocka_unit_test(generic_names_lead_to_the_pmus_own_events),
        cmocka_unit_test(what_a_pmu_has_not_is_not_available),
        cmocka_unit_test(every_event_in_the_maps_exists),
        cmocka_unit_test(generic_names_are_described_once_each),
        cmocka_unit_test(processors_have_their_tables),
        cmocka_unit_test(the_simulated_machines_table_is_the_machines),
        cmocka_unit_test(names_of_a_table_can_be_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
