/* All instances of lwIP: how many, whose, and the memory of all; see instance.h. */
#include "kernel/net/lwip/instance.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"
#include "kernel/mem/mem.h"
#include "sched/cpuset.h"
#include "sched/sched.h"

#define DEFAULT_PART 8 /* an eighth of memory */

uint64_t net_instances, net_memory;
static struct mutex starting = MUTEX(starting, "start of the network");
static bool started;            /* [starting] */
static uint8_t of_cpu[CPU_MAX]; /* which instance CPUs use; fixed when started */
static uint64_t memory_granted; /* atomic */
static uint64_t memory_limit;   /* atomic; 0: not computed yet */

/* stream.c defines it in each copy. */
extern const struct net_instance net_here, n1_net_here, n2_net_here, n3_net_here, n4_net_here,
    n5_net_here, n6_net_here, n7_net_here;
static const struct net_instance *const instances[NET_INSTANCES_MAX] = {
    &net_here,    &n1_net_here, &n2_net_here, &n3_net_here,
    &n4_net_here, &n5_net_here, &n6_net_here, &n7_net_here,
};

unsigned net_instance_count(void)
{
    unsigned chips = sched_topology()->chips;

    return net_instances ? (unsigned)net_instances : MIN(chips, (unsigned)NET_INSTANCES_MAX);
}

const struct net_instance *net_instance(unsigned index)
{
    return instances[index];
}

unsigned net_instance_here(void)
{
    return of_cpu[arch_this_cpu()->index];
}

/* ---- Starting -------------------------------------------------------------------------------- */

/* Divides CPUs among instances: by chips, or in turn where instances outnumber chips. */
static void assign_cpus(unsigned count)
{
    const struct sched_topology *topology = sched_topology();

    for (unsigned cpu = 0; cpu < topology->cpus; cpu++)
        of_cpu[cpu] =
            (uint8_t)(topology->chips < count ? cpu * count / topology->cpus
                                              : topology->of[cpu].chip * count / topology->chips);
}

/* Returns the CPUs that use an instance. There may be none. */
static struct cpuset cpus_of(unsigned index)
{
    struct cpuset cpus = {{0}};

    for (unsigned cpu = 0; cpu < sched_topology()->cpus; cpu++)
        if (of_cpu[cpu] == index)
            cpuset_add(&cpus, cpu);
    return cpus;
}

static int start_all(void)
{
    unsigned count = net_instance_count();
    int err = 0;

    assign_cpus(count);
    for (unsigned i = 0; i < count && !err; i++) {
        struct cpuset cpus = cpus_of(i);
        err = instances[i]->start(i, count, cpuset_empty(&cpus) ? NULL : &cpus);
    }
    return err;
}

int net_start(void)
{
    int err = 0;

    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        return 0;
    mutex_lock(&starting);
    if (!started)
        err = start_all();
    if (!err)
        __atomic_store_n(&started, true, __ATOMIC_RELEASE);
    mutex_unlock(&starting);
    return err;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

uint64_t net_memory_limit(void)
{
    uint64_t limit = __atomic_load_n(&memory_limit, __ATOMIC_RELAXED);
    struct frame_stats frames;

    if (!limit) {
        frame_stats(&frames);
        limit = net_memory ? net_memory : frames.total_pages * PAGE_SIZE / DEFAULT_PART;
        __atomic_store_n(&memory_limit, limit, __ATOMIC_RELAXED);
    }
    return limit;
}

uint64_t net_memory_used(void)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < net_instance_count(); i++)
        bytes += instances[i]->memory();
    return bytes;
}

uint64_t net_memory_refused(void)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < net_instance_count(); i++)
        n += instances[i]->refused();
    return n;
}

bool net_memory_grant(uint64_t bytes)
{
    uint64_t had = __atomic_fetch_add(&memory_granted, bytes, __ATOMIC_RELAXED);
    bool fits = bytes <= net_memory_limit() && had <= net_memory_limit() - bytes;

    if (!fits)
        net_memory_return(bytes);
    return fits;
}

void net_memory_return(uint64_t bytes)
{
    __atomic_fetch_sub(&memory_granted, bytes, __ATOMIC_RELAXED);
}

uint64_t net_memory_granted(void)
{
    return __atomic_load_n(&memory_granted, __ATOMIC_RELAXED);
}

/* ---- What all have --------------------------------------------------------------------------- */

unsigned net_ends(struct net_end *out, unsigned room)
{
    unsigned n = 0;

    for (unsigned i = 0; i < net_instance_count(); i++)
        n += instances[i]->ends(n < room ? out + n : NULL, n < room ? room - n : 0);
    return n;
}

bool net_figure(unsigned index, struct net_figure *out)
{
    struct net_figure more;
    bool found = instances[0]->figure(index, out);

    for (unsigned i = 1; found && i < net_instance_count(); i++) {
        instances[i]->figure(index, &more);
        out->n += more.n;
    }
    return found;
}

void net_loopback(struct net_interface *out)
{
    for (unsigned i = 0; i < net_instance_count(); i++)
        instances[i]->loopback(out);
}
