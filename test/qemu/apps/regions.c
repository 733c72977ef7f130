/*
 * Regions whose instructions are known: counted in user mode, two regions that differ by a loop
 * differ by its instructions.
 *
 *   regions NAMES      counts these, instructions first; what is checked is true where they are
 *   exact and in user mode
 *   regions none       what is said where regions cannot be counted
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include "apps/libc/hpm.h"
#include "test/qemu/apps/known_loop.h"
#include "test/qemu/apps/tap.h"

enum { INSTRUCTIONS, THREADS = 4, ROUNDS = 50 };

static struct hpm_region found;

static const struct hpm_region *region(const char *name)
{
    static struct hpm_region all[HPM_REGIONS];
    size_t n = hpm_regions_read(all, HPM_REGIONS);

    memset(&found, 0, sizeof found);
    for (size_t i = 0; i < n && i < HPM_REGIONS; i++)
        if (!strcmp(all[i].name, name))
            found = all[i];
    return &found;
}

static long long inclusive(const char *name)
{
    return (long long)region(name)->inclusive[INSTRUCTIONS];
}

static long long exclusive(const char *name)
{
    return (long long)region(name)->exclusive[INSTRUCTIONS];
}

/* What a loop in a region, between two loops of the region around it, has added to both. */
struct added {
    long long inner, outer, outer_alone;
};

static struct added nest(uint64_t around, uint64_t inside)
{
    struct added before = {inclusive("inner"), inclusive("outer"), exclusive("outer")};

    hpm_region_begin("outer");
    known_loop(around);
    hpm_region_begin("inner");
    known_loop(inside);
    hpm_region_end("inner");
    known_loop(around);
    hpm_region_end("outer");
    return (struct added){inclusive("inner") - before.inner, inclusive("outer") - before.outer,
                          exclusive("outer") - before.outer_alone};
}

static void counts_are_the_regions_own(void)
{
    struct added a, b;

    nest(1, 1); /* names are new once */
    a = nest(1000, 500);
    b = nest(3000, 100500);
    tap_check(b.inner - a.inner == 200000, "a region has the instructions of what is in it (%lld)",
              b.inner - a.inner);
    tap_check(b.outer_alone - a.outer_alone == 8000,
              "alone, those of the regions inside it are not in it (%lld)",
              b.outer_alone - a.outer_alone);
    tap_check(a.outer == a.outer_alone + a.inner && b.outer == b.outer_alone + b.inner,
              "with them, it is all of both");
    tap_check(a.outer > 5000 && a.outer < 6000, "what it takes to count is little (%lld)",
              a.outer - 5000);
    tap_check(exclusive("inner") == inclusive("inner") && region("inner")->calls == 3,
              "where nothing is inside both are the same");
}

static void inside_itself(uint64_t depth)
{
    hpm_region_begin("itself");
    known_loop(1000);
    if (depth)
        inside_itself(depth - 1);
    hpm_region_end("itself");
}

static void a_region_inside_itself_counts_once(void)
{
    inside_itself(4);
    tap_check(region("itself")->calls == 5 && inclusive("itself") == exclusive("itself") &&
                  inclusive("itself") > 10000 && inclusive("itself") < 20000,
              "a region inside itself counts once (%lld)", inclusive("itself"));
}

static void *work(void *name)
{
    for (int i = 0; i < ROUNDS; i++) {
        hpm_region_begin(name);
        known_loop(20000);
        hpm_region_end(name);
    }
    return NULL;
}

static void threads_share_a_table(void)
{
    pthread_t t[THREADS];

    work((void *)"alone");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, work, (void *)"together");
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    tap_check(region("together")->calls == THREADS * ROUNDS &&
                  inclusive("together") == THREADS * inclusive("alone"),
              "each of %d threads adds its own (%lld, %lld)", THREADS, inclusive("together"),
              inclusive("alone"));
}

static void what_does_not_fit_is_refused(void)
{
    char name[16], why[160];
    unsigned refused = 0;

    tap_check(hpm_region_end("outer") == -EINVAL, "the end of what was not begun");
    hpm_region_begin("one");
    tap_check(hpm_region_end("another") == -EINVAL && hpm_region_end("one") == 0,
              "the end of another");
    for (int i = 0; i < HPM_REGION_DEPTH + 2; i++)
        refused += hpm_region_begin("deep") == -ENOSPC;
    for (int i = 0; i < HPM_REGION_DEPTH; i++)
        refused += hpm_region_end("deep") != 0;
    tap_check(refused == 2 && region("deep")->calls == HPM_REGION_DEPTH,
              "more than 16 inside one another");
    refused = 0;
    size_t before = hpm_regions_read(&found, 1);
    for (int i = 0; i < HPM_REGIONS; i++) {
        snprintf(name, sizeof name, "number %d", i);
        refused += hpm_region_begin(name) ? 1 : hpm_region_end(name) != 0;
    }
    tap_check(refused == before && hpm_regions_read(&found, 1) == HPM_REGIONS,
              "more than 64 names");
    tap_check(hpm_regions_start("cycles", 0, why, sizeof why) == -EBUSY, "a second table");
}

static void what_cannot_be_counted_is_said(void)
{
    char why[160];

    tap_check(hpm_region_begin("early") == -ENODEV && hpm_region_end("early") == -ENODEV,
              "without a start nothing is counted");
    tap_check(hpm_regions_start("nosuch", 0, why, sizeof why) < 0 && why[0], "an unknown name: %s",
              why);
    int err = hpm_regions_start("cycles,ipc", 0, why, sizeof why);
    tap_check((err == -EINVAL && !strcmp(why, "'ipc' is a metric: regions sum up counts")) ||
                  err == -ENODEV,
              "a metric: %s", why);
    err = hpm_regions_start("cycles cycles cycles cycles cycles cycles cycles cycles cycles", 0,
                            why, sizeof why);
    tap_check((err == -ENOSPC && !strcmp(why, "regions have 8 counts at most")) || err == -ENODEV,
              "nine counts: %s", why);
}

int main(int argc, char **argv)
{
    char why[160];

    what_cannot_be_counted_is_said();
    if (argc < 2 || !strcmp(argv[1], "none"))
        return tap_done();
    if (!tap_check(!hpm_regions_start(argv[1], 1, why, sizeof why), "regions are counted"))
        return tap_done();
    counts_are_the_regions_own();
    a_region_inside_itself_counts_once();
    threads_share_a_table();
    what_does_not_fit_is_refused();
    return tap_done();
}
