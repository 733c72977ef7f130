/*
 * The sampling that all detections share: starts and stops it, keeps its period within the budget,
 * and records the samples in the shMaps of their processes. All state here belongs to the
 * detector's thread.
 */
#include "kernel/core/cpu.h"
#include "sched/sharing/internal.h"
#include "sched/sharing/policy/sampling_period.h"
#include "hpm/count.h"
#include "hpm/policy/sample.h"
#include "hpm/sampling.h"

#define BATCHES_MAX 64 /* batches recorded in one call; after it the period is looked at */

static struct hpm_access *records; /* NULL: none has been opened yet */
static bool on, with_kernel;
static struct sampling_period period;
static struct sharing_cost cost; /* since boot */

static uint64_t ns_of_ticks(uint64_t ticks)
{
    uint64_t hz = arch_ticks_hz();
    return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

static struct hpm_sample_account read_account(void)
{
    struct hpm_sample_account a = {0};

    if (records)
        hpm_access_account(records, &a);
    return a;
}

struct sharing_cost sharing_sampling_cost(void)
{
    struct hpm_sample_account a = read_account();

    cost.taking_ns = ns_of_ticks(a.cycles);
    cost.lost = a.lost_hardware + a.lost_buffer;
    return cost;
}

void sharing_sampling_add_clustering(uint64_t ns)
{
    cost.clustering_ns += ns;
}

static struct sampling_state state_at(uint64_t now_ns)
{
    struct hpm_sample_account a = read_account();

    cost.taking_ns = ns_of_ticks(a.cycles);
    uint64_t looking_ns = ns_of_ticks(a.looking);
    return (struct sampling_state){.now_ns = now_ns,
                                   .taken = a.taken,
                                   .accesses = a.accesses,
                                   .spent_ns = sharing_cost_sum(&cost) - looking_ns,
                                   .looking_ns = looking_ns,
                                   .cpus = cpu_count(),
                                   .budget_permille = (unsigned)sched_cost_permille,
                                   .period_min = hpm_caps()->sample_period_min};
}

uint32_t sharing_sampling_period(void)
{
    return period.period;
}

bool sharing_sampling_over_budget(uint64_t now_ns)
{
    struct sampling_state state = state_at(now_ns);

    return sampling_period_over_budget(&period, &state);
}

int sharing_sampling_open(void)
{
    records = NULL;
    return hpm_access_open("access", &records);
}

int sharing_sampling_start(uint64_t now_ns, uint64_t accesses_per_ms, bool kernel)
{
    struct sampling_state state = state_at(now_ns);

    if (on && with_kernel >= kernel)
        return 0;
    sharing_sampling_stop();
    sampling_period_begin(&period, &state, accesses_per_ms);
    if (sched_sample_period)
        period.period = (uint32_t)sched_sample_period;
    struct hpm_sampling config = {.sources = SOURCES_REMOTE_CACHE,
                                  .period = period.period,
                                  .jitter = period.period / 2,
                                  .user = true,
                                  .kernel = kernel};
    int err = records ? 0 : sharing_sampling_open();
    err = err ? err : hpm_access_start(records, &config);
    on = !err;
    with_kernel = kernel;
    return err;
}

void sharing_sampling_stop(void)
{
    if (on)
        hpm_access_stop(records);
    on = false;
}

bool sharing_sampling_is_on(void)
{
    return on;
}

/* If hpm refuses the new period, which it says on the console, sampling goes on with the old one:
 * each sample tells its own. */
void sharing_sampling_adapt(uint64_t now_ns, bool settling)
{
    struct sampling_state state = state_at(now_ns);

    if (!sched_sample_period && sampling_period_adapt(&period, &state, settling))
        hpm_access_adjust(records, period.period, period.period / 2);
}

/* The lock keeps the processes in the list. Their detections belong to this thread. */
void sharing_sampling_take(void)
{
    static struct hpm_sample batch[32];
    uint64_t begin_ns = arch_clock_ns();
    size_t n = records ? ARRAY_SIZE(batch) : 0;

    for (unsigned batches = 0; n == ARRAY_SIZE(batch) && batches < BATCHES_MAX; batches++) {
        n = hpm_access_take(records, batch, ARRAY_SIZE(batch));
        bool irq = spin_lock(&sharing_lock);
        for (size_t i = 0; i < n; i++) {
            struct sharing_process *p = sharing_find_locked(batch[i].pid);
            if (p && p->detection)
                detection_record(p->detection, &batch[i]);
        }
        spin_unlock(&sharing_lock, irq);
    }
    cost.recording_ns += arch_clock_ns() - begin_ns;
}
