/* Monitoring from inside: samples belong to the threads that made the accesses, and each lost one
 * is counted. */
#include "hpm/sampling.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "test/qemu/kernel/hpm_work.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

static struct hpm_sample samples[512];
static struct hpm_access *records; /* of the present test */
static bool go;
static const struct hpm_sampling kernel_remote = {
    .sources = SOURCES_REMOTE_CACHE, .period = 5, .jitter = 3, .kernel = true};

static void no_samples_are_left(void)
{
    struct hpm_sample_account a;

    hpm_access_stop(records);
    nap(10 * NS_PER_MS); /* by now the other CPUs follow */
    while (hpm_access_take(records, samples, ARRAY_SIZE(samples)))
        ;
    hpm_access_account(records, &a);
    CHECK(a.taken == a.delivered + a.lost_hardware + a.lost_buffer);
    hpm_access_close(records);
}

static bool in_line(const struct line *line, const struct hpm_sample *s)
{
    return s->data - (vaddr_t)line < sizeof *line;
}

static bool all_ended(const struct worker *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!is_dead(w[i].thread))
            return false;
    return true;
}

void samples_of_a_shared_line_belong_to_the_two_that_share_it(void)
{
    static struct line line;
    static struct worker pair[2];
    struct hpm_sample_account before, after;
    uint64_t in = 0, of[2] = {0}, wrong = 0;
    unsigned at[2] = {1, far_cpu()};

    CHECK(hpm_access_open("test", &records) == 0);
    hpm_access_account(records, &before);
    CHECK(hpm_access_start(records, &kernel_remote) == 0);
    nap(10 * NS_PER_MS);
    rounds_wanted = 20000;
    play(pair, &line, at[0], at[1]);
    for (bool more = true; more;) {
        more = !all_ended(pair, 2);
        nap(more ? NS_PER_MS / 4 : 10 * NS_PER_MS);
        for (size_t n; (n = hpm_access_take(records, samples, ARRAY_SIZE(samples)));)
            for (size_t i = 0; i < n; i++) {
                if (!in_line(&line, &samples[i]))
                    continue;
                in++;
                unsigned of_second = samples[i].tid == pair[1].thread->tid;
                of[of_second]++;
                wrong += samples[i].tid != pair[of_second].thread->tid ||
                         samples[i].cpu != at[of_second] || samples[i].user ||
                         !(SOURCES_REMOTE_CACHE >> samples[i].source & 1);
            }
    }
    hpm_access_account(records, &after);
    for (unsigned i = 0; i < 2; i++) {
        finish(&pair[i]);
        /* In each round the line crosses once to be read and once to be written. It may be read
         * once more before the partner's store, which waits in its store buffer, takes it away. */
        uint64_t expected = 2 * rounds_wanted / kernel_remote.period;
        CHECK(of[i] > expected - expected / 20 && of[i] < 3 * expected / 2 + expected / 20);
        drop(&pair[i]);
    }
    kprintf("# %llu samples of the line, %llu wrong, %llu others, %llu+%llu lost, %llu cycles\n",
            (unsigned long long)in, (unsigned long long)wrong,
            (unsigned long long)(after.taken - before.taken - in),
            (unsigned long long)(after.lost_hardware - before.lost_hardware),
            (unsigned long long)(after.lost_buffer - before.lost_buffer),
            (unsigned long long)(after.cycles - before.cycles));
    CHECK(wrong == 0);
    /* This thread may take samples too late now and then; the lost ones are counted, and few. */
    CHECK((after.lost_hardware + after.lost_buffer - before.lost_hardware - before.lost_buffer) *
              20 <
          in);
    no_samples_are_left();
}

/* Writes its line and yields: the CPU switches all the time. */
static void write_and_yield(void *arg)
{
    struct worker *w = arg;

    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        sched_yield();
    for (; w->steps < rounds_wanted; w->steps++) {
        __atomic_fetch_add(&w->line->word[0], 1, __ATOMIC_RELAXED);
        sched_yield();
    }
}

/* Four pairs, one member of each on either of two CPUs, so that each CPU switches between four
 * threads. */
void attribution_is_exact_at_switches(void)
{
    enum { PAIRS = 4 };
    static struct line line[PAIRS];
    static struct worker w[2 * PAIRS];
    unsigned at[2] = {1, far_cpu()};
    uint64_t in = 0, wrong = 0;

    struct hpm_sampling all = kernel_remote;
    all.period = 1;
    all.jitter = 0;
    CHECK(hpm_access_open("test", &records) == 0);
    CHECK(hpm_access_start(records, &all) == 0);
    nap(10 * NS_PER_MS);
    rounds_wanted = 2000;
    go = false;
    for (unsigned i = 0; i < 2 * PAIRS; i++) {
        struct cpuset cpu = cpuset_one(at[i & 1]);
        w[i] = (struct worker){.line = &line[i / 2]};
        start_on(&w[i], write_and_yield, &cpu);
    }
    __atomic_store_n(&go, true, __ATOMIC_RELEASE);
    for (bool more = true; more;) {
        more = !all_ended(w, 2 * PAIRS);
        nap(more ? NS_PER_MS : 10 * NS_PER_MS);
        for (size_t n; (n = hpm_access_take(records, samples, ARRAY_SIZE(samples)));)
            for (size_t i = 0; i < n; i++)
                for (unsigned p = 0; p < PAIRS; p++)
                    if (in_line(&line[p], &samples[i])) {
                        in++;
                        wrong += samples[i].tid != w[2 * p].thread->tid &&
                                 samples[i].tid != w[2 * p + 1].thread->tid;
                        wrong += samples[i].cpu != at[samples[i].tid == w[2 * p + 1].thread->tid];
                    }
    }
    kprintf("# %llu samples of the lines, %llu wrong\n", (unsigned long long)in,
            (unsigned long long)wrong);
    CHECK(in > rounds_wanted);
    CHECK(wrong == 0);
    for (unsigned i = 0; i < 2 * PAIRS; i++) {
        finish(&w[i]);
        drop(&w[i]);
    }
    no_samples_are_left();
}

/* No sample is taken: buffers fill up, and the rest is counted as lost. */
void samples_that_are_not_taken_are_counted_as_lost(void)
{
    static struct line line;
    struct hpm_sampling all = kernel_remote;
    struct hpm_sample_account before, after;
    static struct worker pair[2];

    all.period = 1;
    all.jitter = 0;
    CHECK(hpm_access_open("test", &records) == 0);
    hpm_access_account(records, &before);
    CHECK(hpm_access_start(records, &all) == 0);
    rounds_wanted = 10000;
    play(pair, &line, 1, far_cpu());
    for (unsigned i = 0; i < 2; i++)
        finish(&pair[i]);
    hpm_access_account(records, &after);
    CHECK(after.lost_buffer > before.lost_buffer);
    size_t n;
    uint64_t last[CPU_MAX] = {0};
    while ((n = hpm_access_take(records, samples, ARRAY_SIZE(samples))))
        for (size_t i = 0; i < n; i++) {
            CHECK(samples[i].time >= last[samples[i].cpu]);
            last[samples[i].cpu] = samples[i].time;
        }
    no_samples_are_left();
    for (unsigned i = 0; i < 2; i++)
        drop(&pair[i]);
}
