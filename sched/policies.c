/* The table of scheduling policies, and the boot arguments of the scheduler. */
#include "kernel/core/cmdline.h"
#include "sched/cpuset.h"
#include "sched/runqueue.h"

/* Places thread number i of a process, in order of creation, on the i-th CPU it may use. */
static unsigned place_in_turn(struct thread *t)
{
    static uint32_t turn, turn_pid;
    static struct spinlock lock = SPINLOCK(LOCK_THREAD, "round robin");
    bool irq = spin_lock(&lock);

    if (turn_pid != t->hpm.pid) {
        turn_pid = t->hpm.pid;
        turn = 0;
    }
    unsigned n = cpu_count(), cpu = turn++ % n;
    while (!cpuset_has(&t->affinity, cpu))
        cpu = (cpu + 1) % n;
    spin_unlock(&lock, irq);
    return cpu;
}

static const struct sched_policy policy_default = {
    .name = "default",
    .help = "load balancing along the topology, no knowledge of sharing",
    .place_new = balance_cpu_for_new,
    .fixed = false,
    .sharing = SHARING_NONE,
};

static const struct sched_policy policy_roundrobin = {
    .name = "roundrobin",
    .help = "thread i of a process stays on CPU i modulo their number",
    .place_new = place_in_turn,
    .fixed = true,
    .sharing = SHARING_NONE,
};

static const struct sched_policy policy_hand = {
    .name = "hand",
    .help = "groups as the application states them share a chip",
    .place_new = balance_cpu_for_new,
    .fixed = false,
    .sharing = SHARING_STATED,
};

static const struct sched_policy policy_cluster = {
    .name = "cluster",
    .help = "threads that the hardware sees sharing data share a chip",
    .place_new = balance_cpu_for_new,
    .fixed = false,
    .sharing = SHARING_DETECTED,
};

const struct sched_policy *const sched_policies[] = {&policy_default, &policy_roundrobin,
                                                     &policy_hand, &policy_cluster, NULL};
static uint64_t sched_policy;

uint64_t sched_slice_us = 3000;
uint64_t sched_hot_us = 500;
uint64_t sched_starve_ms = 50;

uint64_t sched_slice_ns(void)
{
    return sched_slice_us * NS_PER_US;
}

const struct arg sched_args[] = {
    {"sched.policy", ARG_TABLE, &sched_policy, 0, 0, sched_policies, ARG_GROUP,
     "where threads are placed"},
    {"sched.slice_us", ARG_U64, &sched_slice_us, 100, 1000000, NULL, ARG_LIVE,
     "time slice, microseconds"},
    {"sched.hot_us", ARG_U64, &sched_hot_us, 0, 100000, NULL, ARG_LIVE,
     "a thread that stopped less long ago keeps its cache: not pulled off its chip, microseconds"},
    {"sched.starve_ms", ARG_U64, &sched_starve_ms, 1, 10000, NULL, ARG_LIVE,
     "a priority that has waited as long for higher ones gets a slice on that CPU, milliseconds"},
    {0},
};

const struct sched_policy *sched_policy_now(void)
{
    return sched_policies[sched_policy];
}

const char *sched_policy_name(const struct sched_policy *p)
{
    return p->name;
}

const char *sched_policy_help(const struct sched_policy *p)
{
    return p->help;
}
