/*
 * Tests whether every store of a loop is sampled as often as its neighbours. Eight stores in turn
 * miss the first-level cache, all alike, so a profile with more samples of one than of another is
 * wrong ([S] 3.5, figure 3.10).
 *
 * The loop runs without a pause while the kernel collects the samples; then they are counted by
 * store.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/common/args.h"
#include "apps/libc/hpm.h"
#include "apps/workloads/stores/loop.h"

static const char *criteria = "l1d.miss:u@2000";
static uint64_t passes = 1600, kib = 1024, rate = 1000, limit = 1000;
static const struct args_entry entries[] = {
    {"criteria", ARGS_TEXT, &criteria, 1, 160, NULL, "what to sample by, one criterion"},
    {"passes", ARGS_NUMBER, &passes, 1, 1000000000, NULL, "over the data"},
    {"kib", ARGS_NUMBER, &kib, 1, 1 << 20, NULL,
     "data in KiB, more than the first-level cache holds"},
    {"rate", ARGS_NUMBER, &rate, 1, 1000000, NULL, "samples a second where no period is given"},
    {"limit", ARGS_NUMBER, &limit, 1, 1000, NULL, "thousandths of the time that sampling may cost"},
};
static const struct args_table table = {"stores", "samples the eight stores of a loop", entries,
                                        sizeof entries / sizeof entries[0]};

static uint64_t count[STORES], elsewhere;

/* A record names the store. An interrupt comes behind it; behind the last store it may come in
 * front of the first. */
static void note_sample(const struct sys_sample *s)
{
    unsigned i = 0;

    if (s->pc < store_sites[0] || s->pc > store_sites[STORES]) {
        elsewhere++;
        return;
    }
    if (s->source != SYS_SOURCE_NONE)
        while (s->pc >= store_sites[i + 1])
            i++;
    else
        while (i < STORES && s->pc > store_sites[i])
            i++;
    count[s->source != SYS_SOURCE_NONE ? i : (i + STORES - 1) % STORES]++;
}

static void collect_samples(int session)
{
    static struct sys_sample samples[512];
    int n;

    while ((n = samples_take(session, samples, sizeof samples / sizeof samples[0])) > 0)
        for (int i = 0; i < n; i++)
            note_sample(&samples[i]);
}

static void print_report(const struct sys_sample_account *a)
{
    uint64_t all = 0, most = 0, least = UINT64_MAX;
    char counts[STORES * 21] = "";
    size_t used = 0;

    for (unsigned i = 0; i < STORES; i++) {
        all += count[i];
        most = count[i] > most ? count[i] : most;
        least = count[i] < least ? count[i] : least;
        used += (size_t)snprintf(counts + used, sizeof counts - used, "%s%" PRIu64, i ? "," : "",
                                 count[i]);
    }
    printf("RESULT app=stores criterion=%s period=%" PRIu64 " samples=%" PRIu64
           " elsewhere=%" PRIu64 " lost=%" PRIu64 " throttled=%" PRIu64 " stood_for=%" PRIu64
           " stores=%" PRIu64 " by_store=%s most=%" PRIu64 " least=%" PRIu64 " check=%s\n",
           a->name, a->period, all, elsewhere, a->lost, a->throttled, a->stood_for,
           passes * (kib * 1024 / STORE_LINE), counts, most, least, all ? "ok" : "no_samples");
}

int main(int argc, char **argv)
{
    struct sys_sample_account account;
    char why[160];

    args_parse_or_exit(&table, argc, argv);
    char *data = aligned_alloc(4096, kib * 1024);
    if (!data)
        args_refuse(&table, "kib", "memory", "%" PRIu64 ": there is not enough memory", kib);
    store_loop(data, data + kib * 1024, 1); /* resident from now on */
    int session = samples_open(criteria, 0, (uint32_t)rate, (uint32_t)limit, why, sizeof why);
    if (session < 0)
        args_refuse(&table, "criteria", args_reason(session), "%s: %s", criteria,
                    why[0] ? why : strerror(-session));
    hpm_mark("start");
    store_loop(data, data + kib * 1024, passes);
    hpm_mark("end");
    collect_samples(session);
    samples_account(session, 0, &account);
    samples_close(session);
    print_report(&account);
    free(data);
    return 0;
}
