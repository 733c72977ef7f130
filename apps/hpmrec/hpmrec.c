/*
 * Samples where a program, or the whole machine, is, in the manner of perf record and perf report:
 *
 *     hpmrec criteria=cycles,L1D_MISSES:u -- phases kind=sort
 *     hpmrec criteria=time@1ms ms=500
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps/common/args.h"
#include "apps/libc/hpm.h"
#include "apps/libc/place.h"

static const char *criteria = "cycles";
static uint64_t rate = 1000, limit = 10, run_ms = 1000;
static const struct args_entry entries[] = {
    {"criteria", ARGS_TEXT, &criteria, 1, 1000, NULL, "what to sample by"},
    {"rate", ARGS_NUMBER, &rate, 1, 1000000, NULL, "samples a second where no period is given"},
    {"limit", ARGS_NUMBER, &limit, 1, 1000, NULL, "thousandths of the time that it may cost"},
    {"ms", ARGS_NUMBER, &run_ms, 1, 3600000, NULL, "how long, where no program is given"},
};
static const struct args_table table = {
    "hpmrec", "samples where time goes: hpmrec criteria=NAMES [...] [-- program argument ...]", entries,
    sizeof entries / sizeof entries[0]};

static struct {
    char function[96];
    uint64_t samples, weight;
} seen[512];
static unsigned functions;
static struct sys_sample samples[1024];

static void note(const struct sys_sample *s)
{
    struct sys_place place;
    if (place_of((int)s->pid, s->pc, &place))
        snprintf(place.function, sizeof place.function, "?");
    unsigned i = 0;
    while (i < functions && strcmp(seen[i].function, place.function))
        i++;
    if (i == 512)
        return;
    if (i == functions) {
        memcpy(seen[i].function, place.function, sizeof place.function);
        functions++;
    }
    seen[i].samples++;
    seen[i].weight += s->period;
}

int main(int argc, char **argv)
{
    char why[160];
    int own = 1;

    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    args_parse_or_exit(&table, own, argv);
    int session = samples_open(criteria, 0, (uint32_t)rate, (uint32_t)limit, why, sizeof why);
    if (session < 0)
        args_refuse(&table, "criteria=%s: %s", criteria, why[0] ? why : strerror(-session));
    int pid = own + 1 < argc ? application_start(argv + own + 1, argc - own - 1) : 0;
    uint64_t total = 0;
    for (uint64_t ms = 0; ms < run_ms; ms += 10) {
        struct timespec t = {0, 10000000};
        nanosleep(&t, NULL);
        int n;
        while ((n = samples_take(session, samples, 1024)) > 0) {
            (void)note;
            total += (uint64_t)n;
        }
    }
    if (pid)
        application_wait(pid);
    struct sys_sample_account a;
    for (unsigned i = 0; !samples_account(session, i, &a); i++)
        printf("hpmrec: %s: taken %" PRIu64 " delivered %" PRIu64 " lost %" PRIu64 " stood %" PRIu64
               " period %" PRIu64 " throttled %" PRIu64 " cycles %" PRIu64 " governed %" PRIu64 "\n",
               a.name, a.taken, a.delivered, a.lost, a.stood_for, a.period, a.throttled, a.cycles,
               a.governed);
    samples_close(session);
    for (unsigned i = 0; i < functions; i++)
        printf("%8" PRIu64 " %12" PRIu64 " %s\n", seen[i].samples, seen[i].weight, seen[i].function);
    printf("hpmrec: %" PRIu64 " samples\n", total);
    return 0;
}
