/* Regions (hpm.h): for each thread a stack of the regions that it is in, and for the process a
 * table of their sums. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/hpm.h"

#define NONE HPM_REGIONS

/*
 * Figures of one event, since the session was opened or between two readings: the events counted,
 * in `seen` out of `length`, and the thread's estimated count. A region is scaled by the time
 * counted in all of its calls together: in a short call an event that takes turns is counted always
 * or never, while the thread's estimate depends on what the thread did elsewhere.
 */
struct tally {
    uint64_t counted, seen, length, count;
};
struct region {
    char name[HPM_REGION_NAME];
    uint64_t calls;
    struct tally inclusive[HPM_REGION_COUNTS], exclusive[HPM_REGION_COUNTS];
};

static struct {
    pthread_mutex_t lock;
    int session; /* 0: not started */
    unsigned counts;
    struct {
        char name[160];
        int exact;
    } count[HPM_REGION_COUNTS];
    struct region region[HPM_REGIONS]; /* lock */
    unsigned regions;                  /* lock */
    unsigned refused;                  /* lock */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A region that the thread is in. */
struct frame {
    unsigned region;
    struct tally began[HPM_REGION_COUNTS];  /* the thread's figures at its begin */
    struct tally inside[HPM_REGION_COUNTS]; /* figures of regions that ended inside it */
};
static _Thread_local struct {
    struct frame frame[HPM_REGION_DEPTH];
    unsigned depth;
} stack;

/* ---- Counting -------------------------------------------------------------------------------- */

/* Reads the caller's counts. Returns their number or -Exxx. */
static int read_values(int session, struct sys_hpm_value v[HPM_REGION_COUNTS])
{
    const struct sys_hpm_read own = {.session = (uint32_t)session, .scope = SYS_SCOPE_THREAD};

    return hpm_values(&own, v, HPM_REGION_COUNTS);
}

static int read_counts(struct tally out[HPM_REGION_COUNTS])
{
    struct sys_hpm_value v[HPM_REGION_COUNTS];
    int n = read_values(table.session, v);

    for (int i = 0; i < n; i++)
        out[i] = (struct tally){v[i].counted, v[i].seen, v[i].length, v[i].count};
    return n < 0 ? n : 0;
}

static uint64_t minus(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* Subtracts, but not below 0: estimates may fall a little. */
static struct tally tally_since(const struct tally *now, const struct tally *before)
{
    return (struct tally){minus(now->counted, before->counted), minus(now->seen, before->seen),
                          minus(now->length, before->length), minus(now->count, before->count)};
}

static void add_tally(struct tally *sum, const struct tally *part)
{
    sum->counted += part->counted;
    sum->seen += part->seen;
    sum->length += part->length;
    sum->count += part->count;
}

/* Returns the estimated count: scaled by the time counted, or the thread's estimate if never
 * counted. */
static uint64_t scaled_count(const struct tally *t)
{
    if (t->seen >= t->length)
        return t->counted;
    return t->seen ? (uint64_t)((unsigned __int128)t->counted * t->length / t->seen) : t->count;
}

static int check_counts(const struct sys_hpm_value *v, int n, char *why, size_t size)
{
    if (n > HPM_REGION_COUNTS) {
        snprintf(why, size, "regions have %d counts at most", HPM_REGION_COUNTS);
        return -ENOSPC;
    }
    for (int i = 0; i < n; i++) {
        if (v[i].kind == SYS_VALUE_COUNT)
            continue;
        snprintf(why, size, "'%s' is a metric: regions sum up counts", v[i].name);
        return -EINVAL;
    }
    return n < 0 ? n : 0;
}

int hpm_regions_start(const char *names, int at_exit, char *why, size_t size)
{
    struct sys_hpm_value v[HPM_REGION_COUNTS];

    if (table.session) {
        snprintf(why, size, "regions are counted already");
        return -EBUSY;
    }
    int session = hpm_open(names, why, size);
    if (session < 0)
        return session;
    int n = read_values(session, v), err = check_counts(v, n, why, size);
    if (err) {
        hpm_close(session);
        return err;
    }
    for (int i = 0; i < n; i++) {
        memcpy(table.count[i].name, v[i].name, sizeof v[i].name);
        table.count[i].exact = v[i].sure == SYS_SURE_EXACT;
    }
    table.counts = (unsigned)n;
    __atomic_store_n(&table.session, session, __ATOMIC_RELEASE);
    if (at_exit)
        atexit(hpm_regions_print);
    return 0;
}

/* ---- Regions --------------------------------------------------------------------------------- */

/* Returns the region's index in the table, or NONE. table.lock held. */
static unsigned find_locked(const char *name)
{
    unsigned i = 0;

    while (i < table.regions && strncmp(table.region[i].name, name, HPM_REGION_NAME - 1))
        i++;
    if (i < table.regions || i == HPM_REGIONS)
        return i;
    snprintf(table.region[i].name, HPM_REGION_NAME, "%s", name);
    return table.regions++;
}

static int count_refused(int err)
{
    pthread_mutex_lock(&table.lock);
    table.refused++;
    pthread_mutex_unlock(&table.lock);
    return err;
}

int hpm_region_begin(const char *name)
{
    if (!__atomic_load_n(&table.session, __ATOMIC_ACQUIRE))
        return -ENODEV;
    if (stack.depth == HPM_REGION_DEPTH)
        return count_refused(-ENOSPC);
    struct frame *f = &stack.frame[stack.depth];
    *f = (struct frame){0};
    pthread_mutex_lock(&table.lock);
    f->region = find_locked(name);
    pthread_mutex_unlock(&table.lock);
    if (f->region == NONE)
        return count_refused(-ENOSPC);
    stack.depth++;
    /* Last, so that the work above is not part of the region. */
    int err = read_counts(f->began);
    if (!err)
        return 0;
    stack.depth--;
    return count_refused(err);
}

/* Returns whether the region of the top frame is in a lower frame as well, which will count it. */
static int is_inside_itself(void)
{
    for (unsigned d = 0; d + 1 < stack.depth; d++)
        if (stack.frame[d].region == stack.frame[stack.depth - 1].region)
            return 1;
    return 0;
}

static void add_to_region(const struct frame *f, const struct tally *now, int counts_inclusive)
{
    struct region *r = &table.region[f->region];

    pthread_mutex_lock(&table.lock);
    r->calls++;
    for (unsigned i = 0; i < table.counts; i++) {
        struct tally inclusive = tally_since(&now[i], &f->began[i]),
                     exclusive = tally_since(&inclusive, &f->inside[i]);
        if (counts_inclusive)
            add_tally(&r->inclusive[i], &inclusive);
        add_tally(&r->exclusive[i], &exclusive);
    }
    pthread_mutex_unlock(&table.lock);
}

int hpm_region_end(const char *name)
{
    struct tally now[HPM_REGION_COUNTS];

    if (!__atomic_load_n(&table.session, __ATOMIC_ACQUIRE))
        return -ENODEV;
    int err = read_counts(now); /* first, so that the work below is not part of the region */
    struct frame *f = stack.depth ? &stack.frame[stack.depth - 1] : NULL;
    if (err || !f || strncmp(table.region[f->region].name, name, HPM_REGION_NAME - 1))
        return count_refused(err ? err : -EINVAL);
    add_to_region(f, now, !is_inside_itself());
    stack.depth--;
    for (unsigned i = 0; stack.depth && i < table.counts; i++) {
        struct tally inside = tally_since(&now[i], &f->began[i]);
        add_tally(&f[-1].inside[i], &inside);
    }
    return 0;
}

/* ---- What they come to ----------------------------------------------------------------------- */

static void settle(const struct region *from, struct hpm_region *to)
{
    memcpy(to->name, from->name, sizeof to->name);
    to->calls = from->calls;
    for (unsigned i = 0; i < HPM_REGION_COUNTS; i++) {
        to->inclusive[i] = scaled_count(&from->inclusive[i]);
        to->exclusive[i] = scaled_count(&from->exclusive[i]);
    }
}

size_t hpm_regions_read(struct hpm_region *out, size_t room)
{
    pthread_mutex_lock(&table.lock);
    size_t n = table.regions;
    for (size_t i = 0; i < n && i < room; i++)
        settle(&table.region[i], &out[i]);
    pthread_mutex_unlock(&table.lock);
    return n;
}

/* Prints each region's counts, with the regions inside it and without; ~ marks estimates, of events
 * that took turns. */
void hpm_regions_print(void)
{
    pthread_mutex_lock(&table.lock);
    printf("regions: count=%u refused=%u: begins and ends that were refused\n  %-31s  %10s",
           table.regions, table.refused, "region", "calls");
    for (unsigned i = 0; i < table.counts; i++)
        printf("  %15s%s  %16s", table.count[i].name, table.count[i].exact ? " " : "~", "alone");
    printf("\n");
    for (unsigned r = 0; r < table.regions; r++) {
        struct hpm_region at;
        settle(&table.region[r], &at);
        printf("  %-31s  %10" PRIu64, at.name, at.calls);
        for (unsigned i = 0; i < table.counts; i++)
            printf("  %16" PRIu64 "  %16" PRIu64, at.inclusive[i], at.exclusive[i]);
        printf("\n");
    }
    pthread_mutex_unlock(&table.lock);
}
