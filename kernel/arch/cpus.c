/* The table of CPUs, and the order in which they start. See cpus.h. */
#include "kernel/arch/cpus.h"
#include "kernel/arch/clock.h"
#include "kernel/arch/sync.h"
#include "kernel/core/printf.h"

#define BLOCK_MAX ((uint64_t)1 << 40) /* one block of each node together must fit 64 bits */

static unsigned arrived; /* index of the last CPU that has arrived */
static struct numa numa;

struct numa *cpus_numa(void)
{
    return &numa;
}

const struct numa *arch_numa(void)
{
    return &numa;
}

void cpus_begin(struct cpus_list *list, struct cpu *cpus, unsigned max, uint64_t boot_hwid)
{
    *list = (struct cpus_list){.cpus = cpus, .count = 1, .max = max};
    cpus[0].hwid = boot_hwid;
}

static bool known(const struct cpus_list *list, uint64_t hwid)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->cpus[i].hwid == hwid)
            return true;
    }
    return false;
}

void cpus_add(struct cpus_list *list, uint64_t hwid)
{
    struct cpu *cpus = list->cpus;

    if (known(list, hwid))
        return;
    if (list->count == list->max) {
        list->ignored++;
        return;
    }
    unsigned at = list->count++;
    for (; at > 1 && cpus[at - 1].hwid > hwid; at--)
        cpus[at].hwid = cpus[at - 1].hwid;
    cpus[at].hwid = hwid;
}

unsigned cpus_end(struct cpus_list *list)
{
    if (list->ignored)
        kprintf("cpus: event=ignored count=%u: those beyond the first %u are left alone\n",
                list->ignored, list->max);
    for (unsigned i = 0; i < list->count; i++)
        list->cpus[i].index = i;
    return list->count;
}

/* Takes positions from the simulated machine's description. Its CPUs are in the order of cpus[]. */
bool cpus_place_by_shape(struct cpus_list *list, const struct arch_shape *shape)
{
    if (!shape)
        return false;
    if (list->count > shape->cpus) {
        kprintf("cpus: %u CPUs, but the simulated machine has %u: places are the processor's\n",
                list->count, shape->cpus);
        return false;
    }
    unsigned chips = shape->chips;
    uint64_t block_bytes = shape->home_block_bytes;
    if (!chips || chips > NUMA_NODES_MAX || !block_bytes || block_bytes > BLOCK_MAX) {
        kprintf("cpus: the simulated machine has %u chips, memory in blocks of %llu bytes: places "
                "are the "
                "processor's\n",
                chips, (unsigned long long)block_bytes);
        return false;
    }
    for (unsigned i = 0; i < list->count; i++)
        list->cpus[i].place = shape->place[i];
    numa_in_turn(&numa, "simulated-machine", chips, block_bytes);
    return true;
}

void cpus_place_by_ids(struct cpus_list *list, struct topology_bits bits, const uint64_t *ids)
{
    struct topology_place places[CPU_MAX];

    topology_place_all(bits, ids, list->count, places);
    for (unsigned i = 0; i < list->count; i++)
        list->cpus[i].place = (struct cpu_place){
            .chip = places[i].chip, .core = places[i].core, .thread = places[i].thread};
}

void cpus_place_by_nodes(struct cpus_list *list, int err)
{
    unsigned unnamed = 0;

    if (err && err != -ENOENT)
        kprintf("nodes: event=refused: what firmware says of them is %s: all is one node\n",
                err == -ENOSPC ? "more than the table holds" : "broken or contradicts itself");
    if (numa.distances == -EINVAL)
        kprintf("nodes: event=refused-distances: the distances in ACPI's SLIT are wrong\n");
    for (unsigned i = 0; i < list->count; i++) {
        int node = numa_node_of_cpu(&numa, list->cpus[i].hwid);
        list->cpus[i].place.node = node < 0 ? 0 : (uint16_t)node;
        unnamed += node < 0;
    }
    if (numa.source && unnamed)
        kprintf("nodes: event=unnamed by=%s cpus=%u: CPUs without a node are of node 0\n",
                numa.source, unnamed);
}

/* ---- Clocks: requests to a CPU that has arrived, and its answers ----------------------------- */

#define SYNC_ROUNDS      16
#define SYNC_CORRECTIONS 3
#define SYNC_WAIT_NS     (5 * NS_PER_S)

enum request { SAY_TIME, CORRECT_CLOCK, GO_ON, STOP };
static struct {
    uint32_t asked, answered; /* atomic: numbers of requests, increasing from CPU to CPU */
    uint32_t first;           /* first request to the CPU that is being started */
    enum request request;
    int64_t ticks; /* CORRECT_CLOCK: to add; SAY_TIME: the answer */
    bool done;     /* CORRECT_CLOCK: whether it was possible */
} talk ALIGNED(CACHE_LINE);

/* A CPU did not answer in time and may still start: no other CPU may get its stack. */
static bool lost;

/* Of all CPUs that started. */
static struct {
    unsigned corrected, refused;
    uint64_t worst, left; /* ticks: the largest difference found, and the largest that may remain */
} clocks;

static bool ask_peer(enum request request)
{
    uint32_t number = talk.asked + 1;
    uint64_t since_ns = arch_clock_ns();

    talk.request = request;
    __atomic_store_n(&talk.asked, number, __ATOMIC_RELEASE);
    while (__atomic_load_n(&talk.answered, __ATOMIC_ACQUIRE) != number) {
        arch_cpu_relax();
        if (arch_clock_ns() - since_ns > SYNC_WAIT_NS)
            return false;
    }
    return true;
}

/* Answers requests on the other CPU, until it is told to continue or to stop. */
static enum request answer(void)
{
    for (uint32_t number = talk.first;; number++) {
        while (__atomic_load_n(&talk.asked, __ATOMIC_ACQUIRE) != number)
            arch_cpu_relax();
        enum request request = talk.request;
        if (request == SAY_TIME)
            talk.ticks = (int64_t)arch_ticks();
        else if (request == CORRECT_CLOCK)
            talk.done = clock_correct(talk.ticks);
        __atomic_store_n(&talk.answered, number, __ATOMIC_RELEASE);
        if (request == GO_ON || request == STOP)
            return request;
    }
}

static bool compare(struct sync_bounds *out)
{
    struct sync_round rounds[SYNC_ROUNDS];

    for (unsigned i = 0; i < SYNC_ROUNDS; i++) {
        rounds[i].asked = arch_ticks();
        if (!ask_peer(SAY_TIME))
            return false;
        rounds[i].answered = (uint64_t)talk.ticks;
        rounds[i].heard = arch_ticks();
    }
    *out = sync_bounds(rounds, SYNC_ROUNDS);
    return true;
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

static bool correct(struct sync_bounds b)
{
    talk.ticks = sync_correction(b);
    clocks.worst = MAX(clocks.worst, magnitude(talk.ticks));
    return ask_peer(CORRECT_CLOCK) && talk.done;
}

/* Makes the CPU's clock agree with the boot CPU's. Returns false if that fails: the CPU is not
 * used, because events on both could not be ordered. */
static bool agree(const struct cpu *cpu)
{
    struct sync_bounds b;
    unsigned corrections = 0;
    bool heard;

    while ((heard = compare(&b)) && !sync_agrees(b) && corrections < SYNC_CORRECTIONS && correct(b))
        corrections++;
    lost = lost || !heard;
    if (!heard || !sync_agrees(b)) {
        clocks.refused++;
        kprintf("cpus: CPU %u's clock %s: the CPU is left alone\n", cpu->index,
                heard ? "does not agree with the boot CPU's" : "cannot be asked");
        ask_peer(STOP);
        return false;
    }
    clocks.corrected += corrections != 0;
    clocks.left = MAX(clocks.left, MAX(magnitude(b.low), magnitude(b.high)));
    return ask_peer(GO_ON);
}

uint64_t arch_clocks_differ(void)
{
    return clocks.left;
}

bool cpus_clocks_quirk(char *text, size_t size)
{
    ksnprintf(
        text, size,
        " count=%u worst_ticks=%llu corrected=%u ignored=%u: counters of CPUs did not agree with "
        "the boot CPU's",
        clocks.corrected + clocks.refused, (unsigned long long)clocks.worst, clocks.corrected,
        clocks.refused);
    return clocks.corrected + clocks.refused;
}

uint64_t cpus_late;
static uint32_t begun; /* index of the CPU that was told last to start */

/* Makes the CPU of cpus.late start late, for tests: x86-64's INIT and cpus_lost() must prevent
 * that. */
static void be_late(const struct cpu *cpu)
{
    static bool was;
    uint32_t before = __atomic_load_n(&begun, __ATOMIC_RELAXED);

    if (cpu->index != cpus_late || __atomic_exchange_n(&was, true, __ATOMIC_RELAXED))
        return;
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) == before)
        arch_cpu_relax();
    panic("cpus: CPU %u has come late, to the stack of the one that was started in its place",
          cpu->index);
}

void cpus_arrive(struct cpu *cpu)
{
    be_late(cpu);
    __atomic_store_n(&arrived, cpu->index, __ATOMIC_RELEASE);
    if (answer() == STOP)
        arch_stop();
    kernel_secondary_main(cpu);
}

void cpus_lost(void)
{
    lost = true;
}

bool cpus_wait_for(const struct cpu *cpu, uint64_t ns)
{
    uint64_t since_ns = arch_clock_ns();

    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) != cpu->index) {
        if (arch_clock_ns() - since_ns > ns)
            return false;
        arch_cpu_relax();
    }
    return true;
}

unsigned arch_cpus_start(struct cpu *cpus, unsigned n)
{
    unsigned run = 1, i;

    if (n == 1 || !smp_prepare(cpus, n))
        return run;
    /* If a CPU fails, the next one takes its index, so indexes stay dense. */
    for (i = 1; i < n && !lost; i++) {
        cpus[run].hwid = cpus[i].hwid;
        cpus[run].place = cpus[i].place;
        talk.first = talk.asked + 1;
        __atomic_store_n(&arrived, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&begun, i, __ATOMIC_RELEASE);
        run += smp_start_one(&cpus[run]) && agree(&cpus[run]);
    }
    if (i < n)
        kprintf(
            "cpus: event=not-started count=%u: a CPU may still start late, so those behind it are "
            "left alone\n",
            n - i);
    return run;
}
