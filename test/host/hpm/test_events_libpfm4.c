/* The event tables against libpfm4 itself: every event of every x86 PMU, with each part and each
 * two parts, must be encoded as by libpfm4, or be refused by both. (Arm's events are numbers
 * without parts: test_events_arm.c.) The library must be of the version of the tables. */
#include "test/host/double/expect_panic.h"
#include <perfmon/pfmlib.h>
#include "hpm/events/event.h"

/* Bits of a selector that are not part of the event: user, kernel, interrupt, enable; AMD's guest
 * and host. */
#define NO_EVENT (3ull << 16 | 1ull << 20 | 1ull << 22 | 3ull << 40)

/* If an event has more parts than this, which are alternatives, only neighbours are paired. */
#define MANY_PARTS 50u

static const struct pmu {
    const char *ours, *theirs;
    pfm_pmu_t number;
} pmus[] = {
    {"skylake", "skl", PFM_PMU_INTEL_SKL},
    {"skylake-sp", "skx", PFM_PMU_INTEL_SKX},
    {"cascadelake", "clx", PFM_PMU_INTEL_CLX},
    {"icelake", "icl", PFM_PMU_INTEL_ICL},
    {"icelake-sp", "icx", PFM_PMU_INTEL_ICX},
    {"sapphirerapids", "spr", PFM_PMU_INTEL_SPR},
    {"zen2", "amd64_fam17h_zen2", PFM_PMU_AMD64_FAM17H_ZEN2},
    {"zen3", "amd64_fam19h_zen3", PFM_PMU_AMD64_FAM19H_ZEN3},
    {"zen4", "amd64_fam19h_zen4", PFM_PMU_AMD64_FAM19H_ZEN4},
};

/*
 * Returns whether libpfm4 4.13 is wrong here, or means less than it says;
 * tools/events/intel_correct.c corrects it:
 * - TOPDOWN's parts have no event select.
 * - Three parts of Sapphire Rapids have a register's value for their mask, or a bit too many.
 * - MEM_LOAD_MISC_RETIRED of Ice Lake is another event.
 * - EXE takes its parts for a register that it does not have.
 * - MEM_TRANS_RETIRED loses the threshold when it supplies LOAD_LATENCY itself.
 * - The second off-core event of Sapphire Rapids becomes the first.
 * - L3_MISS of a machine with sockets leaves the other sockets' memory out.
 * - ANY_RESPONSE is added to a snoop that excludes it, and, as a bit of its own, to the default
 *   request.
 */
static bool is_corrected(const struct pmu *pmu, const char *event, const char *text)
{
    if (!strcmp(event, "TOPDOWN"))
        return !strstr(text, ":SLOTS") || strstr(text, "_SLOTS");
    if (!strcmp(event, "MEM_LOAD_MISC_RETIRED"))
        return !strncmp(pmu->theirs, "ic", 2);
    if (strstr(text, "UOPS_RETIRED:MS") || strstr(text, ":UNKNOWN_BRANCH_CYCLES") ||
        strstr(text, ":STORE_SAMPLE"))
        return !strcmp(pmu->theirs, "spr");
    if (!strcmp(event, "MEM_TRANS_RETIRED"))
        return !strchr(text, ':');
    if (!strcmp(event, "OFFCORE_RESPONSE_1"))
        return !strcmp(pmu->theirs, "spr");
    return !strcmp(event, "EXE");
}

static bool misses_sockets(const struct pmu *pmu, const char *event, const char *text)
{
    return strstr("skx clx", pmu->theirs) && strstr(event, "OFFCORE_RESPONSE") &&
           strstr(text, ":L3_MISS") && !strstr(text, ":L3_MISS_");
}

static bool lacks_supplier(const char *event, const char *text)
{
    return strstr(event, "OFFCORE_RESPONSE") && strstr(text, ":SNP_");
}

static bool adds_response(const struct pmu *pmu, uint64_t theirs, uint64_t ours)
{
    return !strcmp(pmu->theirs, "skl") && theirs == (ours | 1 << 16);
}

struct tally {
    unsigned encoded, refused, corrected;
};

static void compare(const struct event_pmu *found, const struct pmu *pmu, const char *event,
                    const char *parts, struct tally *tally)
{
    pfm_pmu_encode_arg_t arg = {.size = sizeof arg};
    char theirs[256], err[256];
    struct event out;

    snprintf(theirs, sizeof theirs, "%s::%s%s", pmu->theirs, event, parts);
    const char *ours = strstr(theirs, "::") + 2;
    int expected = pfm_get_os_event_encoding(theirs, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg);
    int r = event_parse(found, ours, &out, err, sizeof err);
    if (expected != PFM_SUCCESS) {
        if (!r)
            fail_msg("%s: %s is accepted, libpfm4 says %s", pmu->ours, ours,
                     pfm_strerror(expected));
        tally->refused++;
    } else if (is_corrected(pmu, event, ours) || misses_sockets(pmu, event, ours)) {
        tally->corrected++;
    } else if (r) {
        if (!lacks_supplier(event, ours))
            fail_msg("%s: %s is refused: %s", pmu->ours, ours, err);
        tally->corrected++;
    } else {
        uint64_t extra = arg.count > 1 ? arg.codes[1] : 0;
        if (out.exclusion == EVENT_TOPDOWN) { /* libpfm4 does not know it */
            out.exclusion = EVENT_SHARES_NOTHING;
            out.extra = 0;
        }
        if (out.config != (arg.codes[0] & ~NO_EVENT) ||
            (out.extra != extra && !adds_response(pmu, extra, out.extra)))
            fail_msg("%s: %s is %llx %llx, libpfm4 says %llx %llx", pmu->ours, ours,
                     (unsigned long long)out.config, (unsigned long long)out.extra,
                     (unsigned long long)(arg.codes[0] & ~NO_EVENT), (unsigned long long)extra);
        assert_int_equal(!!out.exclusion, arg.count > 1);
        assert_true(out.counters || out.fixed != EVENT_NO_FIXED);
        tally->encoded++;
    }
    free(arg.codes);
}

/* Second names of parts are compared alone: libpfm4 replaces them by what they stand for before it
 * looks for clashes. */
static unsigned parts_of(int event, const pfm_event_info_t *info, char names[][64], bool *second,
                         unsigned max)
{
    unsigned count = 0;

    for (int i = 0; i < info->nattrs; i++) {
        pfm_event_attr_info_t attr = {.size = sizeof attr};
        assert_int_equal(pfm_get_event_attr_info(event, i, PFM_OS_NONE, &attr), PFM_SUCCESS);
        if (attr.type != PFM_ATTR_UMASK)
            continue;
        assert_true(count < max);
        second[count] = attr.equiv;
        snprintf(names[count++], 64, "%s", attr.name);
    }
    return count;
}

static void compare_event(const struct event_pmu *found, const struct pmu *pmu, int event,
                          struct tally *tally)
{
    static char names[128][64];
    static bool second[128];
    pfm_event_info_t info = {.size = sizeof info};
    char parts[160];

    assert_int_equal(pfm_get_event_info(event, PFM_OS_NONE, &info), PFM_SUCCESS);
    unsigned count = parts_of(event, &info, names, second, ARRAY_SIZE(names));
    compare(found, pmu, info.name, "", tally);
    for (unsigned i = 0; i < count; i++) {
        snprintf(parts, sizeof parts, ":%s", names[i]);
        compare(found, pmu, info.name, parts, tally);
        unsigned last = MIN(count, i + (count > MANY_PARTS ? 3 : MANY_PARTS));
        for (unsigned k = i + 1; k < last && !second[i]; k++) {
            if (second[k])
                continue;
            snprintf(parts, sizeof parts, ":%s:%s", names[i], names[k]);
            compare(found, pmu, info.name, parts, tally);
        }
    }
}

static void every_event_is_encoded_as_libpfm4_does(void **state)
{
    (void)state;
    for (unsigned p = 0; p < ARRAY_SIZE(pmus); p++) {
        const struct event_pmu names = {.table = event_table_named(pmus[p].ours)};
        pfm_pmu_info_t info = {.size = sizeof info};
        struct tally tally = {0};
        unsigned events = 0, ours = 0;

        assert_non_null(names.table);
        assert_int_equal(pfm_get_pmu_info(pmus[p].number, &info), PFM_SUCCESS);
        for (int e = info.first_event; e != -1; e = pfm_get_event_next(e), events++)
            compare_event(&names, &pmus[p], e, &tally);
        while (event_name(names.table, ours))
            ours++;
        print_message("# %s: %u events: %u texts encoded alike, %u refused by both, %u corrected\n",
                      pmus[p].ours, events, tally.encoded, tally.refused, tally.corrected);
        assert_int_equal(ours,
                         /* PERF_METRICS */
                         events + !!strstr("icelake-sp sapphirerapids", pmus[p].ours));
        assert_true(tally.encoded > 100 && tally.corrected < tally.encoded / 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_is_encoded_as_libpfm4_does),
    };
    const char *tables = getenv("LIBPFM4_TABLES"),
               *library = getenv("LIBPFM4_LIBRARY"); /* set by the Makefile */

    if (tables && library && strcmp(tables, library)) {
        printf("1..0 # SKIP the tables are of libpfm4 '%s', the library is %s\n", tables, library);
        return 0;
    }
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    if (pfm_initialize() != PFM_SUCCESS)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pfm_terminate();
    return failed;
}
