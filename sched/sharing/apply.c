/*
 * From clusters to CPUs: describes a process's threads to the pure placement policy (assign.c), and
 * carries out its decision.
 */
#include "kernel/trace/telemetry.h"
#include "kernel/mem/mem.h"
#include "sched/sharing/internal.h"

/* The shortest time over which a load is measured; a look that comes sooner keeps the load
 * before. */
#define MEASURE_NS (1 * NS_PER_MS)

struct work {
    unsigned threads;
    uint32_t *tid; /* in the order of the members, as thread[] */
    struct assign_thread *thread;
    struct cpuset *allowed;
    struct assign_cpu *cpu;
    uint64_t *weight; /* by cluster */
    void *memory;     /* of the policy */
    struct placement placement;
    struct assign_topology topology;
    struct assign_input input;
};

static void work_free(struct work *w)
{
    kfree(w->tid);
    kfree(w->thread);
    kfree(w->allowed);
    kfree(w->cpu);
    kfree(w->weight);
    kfree(w->memory);
    kfree(w);
}

static struct work *work_create(unsigned threads)
{
    const struct sched_topology *topo = sched_topology();
    size_t bytes = assign_bytes(threads, topo->cpus, topo->chips);
    struct work *w = kmalloc(sizeof(*w));

    if (!w || !bytes) {
        kfree(w);
        return NULL;
    }
    w->threads = threads;
    w->tid = kmalloc(threads * sizeof(*w->tid));
    w->thread = kmalloc(threads * sizeof(*w->thread));
    w->allowed = kmalloc(threads * sizeof(*w->allowed));
    w->cpu = kmalloc(topo->cpus * sizeof(*w->cpu));
    w->weight = kmalloc(threads * sizeof(*w->weight));
    w->memory = kmalloc(bytes);
    if (!w->tid || !w->thread || !w->allowed || !w->cpu || !w->weight || !w->memory ||
        assign_init(&w->placement, threads, topo->cpus, topo->chips, w->memory, bytes)) {
        work_free(w);
        return NULL;
    }
    return w;
}

/* Returns the thread's row in the shMaps, or -1. */
static int row_of(const struct detection *d, uint32_t tid)
{
    for (unsigned i = 0; d && i < d->threads; i++)
        if (d->tid[i] == tid)
            return (int)i;
    return -1;
}

static void describe_thread(struct work *w, unsigned at, const struct thread *t,
                            const struct detection *d)
{
    int row = row_of(d, t->tid), stated = __atomic_load_n(&t->group, __ATOMIC_RELAXED);
    struct cpuset online = {0};

    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        cpuset_add(&online, cpu);
    w->tid[at] = t->tid;
    w->allowed[at] = cpuset_and(&t->affinity, &online);
    w->thread[at] = (struct assign_thread){
        .cpu = t->cpu,
        .cluster = row < 0 ? ASSIGN_NONE : d->clustering.of[row],
        .last_cluster = t->sharing.cluster,
        .stated = stated,
        .silent = row < 0 || d->clustering.why[row] == CLUSTER_SILENT ||
                  d->clustering.why[row] == CLUSTER_GLOBAL,
        /* Groups are stated before the work begins, when no load is known yet. */
        .load = d || stated == ASSIGN_NONE ? MAX(t->sharing.load, 1u) : ASSIGN_LOAD_FULL,
        .allowed = w->allowed[at].bits,
    };
}

/* Numbers the stated groups densely, as the policy requires; applications choose any numbers.
 * Returns the number of groups. */
static unsigned number_groups(struct work *w)
{
    uint64_t *original = w->weight; /* free here: stated groups weigh by their size */
    unsigned groups = 0;

    for (unsigned i = 0; i < w->threads; i++) {
        struct assign_thread *t = &w->thread[i];
        unsigned before = 0;
        original[i] = (uint64_t)t->stated;
        while (before < i && original[before] != original[i])
            before++;
        if (t->stated != ASSIGN_NONE)
            t->stated = before < i ? w->thread[before].stated : (int)groups++;
    }
    return groups;
}

static void collect_threads(struct work *w, struct sharing_process *p, const struct detection *d)
{
    unsigned n = 0;
    bool irq = spin_lock(&sharing_lock);

    list_for_each (it, &p->members) {
        if (n == w->threads)
            break;
        describe_thread(w, n++, container_of(it, struct thread, sharing.link), d);
    }
    spin_unlock(&sharing_lock, irq);
    w->threads = n;
}

static void set_input(struct work *w, const struct detection *d)
{
    const struct sched_topology *topo = sched_topology();

    for (unsigned i = 0; i < topo->cpus; i++)
        w->cpu[i] = (struct assign_cpu){topo->of[i].chip, topo->of[i].core};
    w->topology = (struct assign_topology){topo->cpus, topo->chips, topo->cores, w->cpu};
    w->input = (struct assign_input){
        .topology = &w->topology,
        .thread = w->thread,
        .threads = w->threads,
        .clusters = d ? d->clustering.clusters : number_groups(w),
        .slack_permille = (unsigned)sched_slack_permille,
        .min_gain_permille = ASSIGN_MIN_GAIN_PERMILLE,
    };
    if (!d)
        return;
    for (unsigned c = 0; c < d->clustering.clusters; c++)
        w->weight[c] = d->clustering.group[c].weight;
    w->input.weight = w->weight;
}

/* Moves the threads. Since they were described, members may have left the list, and others have
 * joined at its end. */
static void move_threads(struct work *w, struct sharing_process *p, const struct detection *d,
                         struct sharing_placement *out)
{
    unsigned i = 0;
    bool irq = spin_lock(&sharing_lock);

    list_for_each (it, &p->members) {
        struct thread *t = container_of(it, struct thread, sharing.link);
        while (i < w->threads && w->tid[i] != t->tid)
            i++;
        if (i == w->threads)
            break;
        const struct assign_choice *choice = &w->placement.choice[i];
        int cluster = d ? w->thread[i].cluster : w->thread[i].stated;
        if (cluster != ASSIGN_NONE || !w->thread[i].silent)
            t->sharing.cluster = cluster == ASSIGN_NONE ? ASSIGN_NONE : p->cluster_base + cluster;
        t->sharing.chip = choice->chip;
        telemetry_sharing_placed(p->pid, t->tid, t->sharing.cluster, (int)choice->chip,
                                 w->thread[i].cpu, choice->cpu);
        sched_set_home(t, choice->chip);
        if (choice->cpu == w->thread[i].cpu || sched_migrate(t, choice->cpu))
            continue;
        out->moved++;
        out->crossed += w->cpu[choice->cpu].chip != w->cpu[w->thread[i].cpu].chip;
    }
    p->cluster_base += (int)w->input.clusters;
    spin_unlock(&sharing_lock, irq);
}

void sharing_measure_loads(struct sharing_process *p, uint64_t now_ns)
{
    uint64_t elapsed_ns = now_ns - p->measured_ns;

    if (elapsed_ns < MEASURE_NS)
        return;
    bool irq = spin_lock(&sharing_lock);
    list_for_each (it, &p->members) {
        struct thread *t = container_of(it, struct thread, sharing.link);
        uint64_t wanted_ns = sched_wanted_ns(t);
        uint64_t load = (wanted_ns - t->sharing.wanted_ns) * ASSIGN_LOAD_FULL / elapsed_ns;
        t->sharing.load = (uint32_t)MIN(load, (uint64_t)ASSIGN_LOAD_FULL);
        t->sharing.wanted_ns = wanted_ns;
    }
    spin_unlock(&sharing_lock, irq);
    p->measured_ns = now_ns;
}

int sharing_place(struct sharing_process *p, const struct detection *d,
                  struct sharing_placement *out)
{
    /* The detection may have more threads than the process by now, and its clusters need room. */
    unsigned room = MAX(MAX(sharing_crowd(p).threads, 1u), d ? d->threads : 0);
    struct work *w = work_create(MIN(room, (unsigned)ASSIGN_THREADS_MAX));

    if (!w)
        return -ENOMEM;
    sharing_measure_loads(p, arch_clock_ns());
    *out = (struct sharing_placement){.verdict = ASSIGN_NO_CLUSTERS};
    collect_threads(w, p, d);
    if (w->threads) {
        set_input(w, d);
        (d ? &assign_cluster : &assign_hand)->place(&w->placement, &w->input);
        out->verdict = w->placement.verdict;
        out->threads = w->threads;
        out->together_before = w->placement.together_before;
        out->together_after = w->placement.together_after;
        if (out->verdict == ASSIGN_MOVE || out->verdict == ASSIGN_RIGHT)
            move_threads(w, p, d, out);
    }
    work_free(w);
    return 0;
}
