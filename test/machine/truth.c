/*
 * Ground truth: the events that really happened, kept beside the guest's counters and written to a
 * text file at each mark and at exit. All figures are cumulative; the part between two marks is a
 * difference (tools/truth.sh).
 *
 *   mark LABEL time=CYCLES host_ms=N  begins a snapshot; LABEL "exit" is the last
 *   total EVENT=N ...                 all CPUs, both modes
 *   cpu I user|kernel EVENT=N ...     one line per CPU and mode; kernel lines have idle
 *   pstate I N N N N                  cycles of the clock that CPU I was in each P-state, if it was
 *                                     ever in another than 0
 *   path I KEY=N ...                  page-access tracker of CPU I, if it was ever used: the TLB
 *                                     misses it saw, by outcome
 *   access user|kernel S L W N        N data accesses of all CPUs that missed the L1D or the TLB,
 *                                     by source S, latency L and page walk W, both in cycles
 *   disk KEY=N ...                    the disk, if there is one: requests and pages done, requests
 *                                     refused, cycles in which its channel was busy, most requests
 *                                     in flight
 *   wire P KEY=N ...                  port P of the wire, if there is one: frames and bytes, frames
 *                                     missed, to other addresses, queues stopped, cycles that its
 *                                     frames took to leave
 *   tag T EVENT=N ...                 while the thread with that tag ran; 0: no tag was set, or
 *                                     idle
 *   shared A B N                      accesses by tag A that another chip's cache served, last
 *                                     written by tag B
 *   simulation KEY=N ...              turns, accesses QEMU could not locate, translations checked
 *                                     and wrong
 *   end LABEL
 *
 * Tags are arbitrary numbers. Each gets a slot when it is first seen, and the caches remember
 * slots. If there are too many, further ones share the last slot, shown as tag "other".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "test/machine/engine.h"

#define SLOTS      2048 /* slot 0 is CACHE_NO_WRITER, the last one is for tags that came too late */
#define SLOT_OTHER (SLOTS - 1)
#define HASH       8192

static const char *const names[MACHINE_EVENTS] = {
    [MACHINE_EVENT_CYCLES] = "cycles",
    [MACHINE_EVENT_INSTRUCTIONS] = "instructions",
    [MACHINE_EVENT_LOADS] = "loads",
    [MACHINE_EVENT_STORES] = "stores",
    [MACHINE_EVENT_L1D_MISSES] = "l1d_misses",
    [MACHINE_EVENT_L1I_MISSES] = "l1i_misses",
    [MACHINE_EVENT_MISPREDICTS] = "mispredicts",
    [MACHINE_EVENT_TLB_MISSES] = "tlb_misses",
    [MACHINE_EVENT_SERVED_LOCAL_L2] = "local_l2",
    [MACHINE_EVENT_SERVED_LOCAL_L3] = "local_l3",
    [MACHINE_EVENT_SERVED_REMOTE_L2] = "remote_l2",
    [MACHINE_EVENT_SERVED_REMOTE_L3] = "remote_l3",
    [MACHINE_EVENT_SERVED_LOCAL_MEMORY] = "local_memory",
    [MACHINE_EVENT_SERVED_REMOTE_MEMORY] = "remote_memory",
    [MACHINE_EVENT_COMPLETION] = "completion",
    [MACHINE_EVENT_STALL_ICACHE] = "stall_icache",
    [MACHINE_EVENT_STALL_BRANCH] = "stall_branch",
    [MACHINE_EVENT_STALL_DCACHE] = "stall_dcache",
    [MACHINE_EVENT_STALL_TLB] = "stall_tlb",
    [MACHINE_EVENT_STALL_OTHER] = "stall_other",
    [MACHINE_EVENT_DCACHE_LOCAL_L2] = "dcache_local_l2",
    [MACHINE_EVENT_DCACHE_LOCAL_L3] = "dcache_local_l3",
    [MACHINE_EVENT_DCACHE_REMOTE_L2] = "dcache_remote_l2",
    [MACHINE_EVENT_DCACHE_REMOTE_L3] = "dcache_remote_l3",
    [MACHINE_EVENT_DCACHE_LOCAL_MEMORY] = "dcache_local_memory",
    [MACHINE_EVENT_DCACHE_REMOTE_MEMORY] = "dcache_remote_memory",
    [MACHINE_EVENT_IDLE] = "idle",
    [MACHINE_EVENT_EXCEPTIONS] = "exceptions",
    [MACHINE_EVENT_BRANCHES] = "branches",
    [MACHINE_EVENT_L1D_LOAD_MISSES] = "l1d_load_misses",
    [MACHINE_EVENT_DTLB_LOAD_MISSES] = "dtlb_load_misses",
    [MACHINE_EVENT_DTLB_STORE_MISSES] = "dtlb_store_misses",
    [MACHINE_EVENT_ITLB_MISSES] = "itlb_misses",
    [MACHINE_EVENT_LLC_LOADS] = "llc_loads",
    [MACHINE_EVENT_LLC_LOAD_MISSES] = "llc_load_misses",
};

const char *truth_event_name(enum machine_event e)
{
    return names[e];
}

struct tag {
    uint32_t tag;
    struct counts counts; /* IDLE is kept here, too */
};

static FILE *file;
static struct timespec begin;
static struct tag *tags; /* by slot */
static uint32_t slots = 1;
static uint16_t hash[HASH]; /* slot; 0: free */
static uint32_t (*shared)[SLOTS];

static uint32_t slot_of(uint32_t tag)
{
    uint32_t at = tag * 0x9e3779b1u >> 19;

    for (; hash[at]; at = (at + 1) % HASH)
        if (tags[hash[at]].tag == tag)
            return hash[at];
    if (slots >= SLOT_OTHER)
        return SLOT_OTHER;
    hash[at] = (uint16_t)slots;
    tags[slots].tag = tag;
    return slots++;
}

static void add_counts(struct counts *sum, const struct counts *part)
{
    for (unsigned e = 0; e < MACHINE_EVENTS; e++)
        sum->n[e] += part->n[e];
}

/* Returns all events of the CPU, idle cycles included. */
static struct counts vcpu_total(const struct vcpu *v)
{
    struct counts sum = v->count[MODE_USER];
    add_counts(&sum, &v->count[MODE_KERNEL]);
    sum.n[MACHINE_EVENT_IDLE] = v->idle_cycles;
    return sum;
}

/* Credits the CPU's events since the last call to its tag. */
static void settle(struct vcpu *v)
{
    struct counts now = vcpu_total(v);
    struct counts *to = &tags[v->writer].counts;

    for (unsigned e = 0; e < MACHINE_EVENTS; e++)
        to->n[e] += now.n[e] - v->tagged.n[e];
    v->tagged = now;
}

void truth_tag(struct vcpu *v, uint32_t tag)
{
    settle(v);
    v->writer = slot_of(tag);
    forget_hits(v); /* lines written from now on get the new tag */
}

void truth_served(const struct vcpu *v, const struct cache_result *r)
{
    if (r->writer != CACHE_NO_WRITER)
        shared[v->writer][r->writer]++;
}

/* Accesses by mode, source, and whether there was a walk. The cost of each is fixed. */
static uint64_t accesses[MODES][MACHINE_SOURCES][2];

void truth_access(const struct access *a)
{
    accesses[a->flags & MACHINE_RECORD_USER ? MODE_USER : MODE_KERNEL][a->source][a->walk != 0]++;
}

static void print_accesses(void)
{
    static const char *const sources[MACHINE_SOURCES] = {
        "l1", "local_l2", "local_l3", "remote_l2", "remote_l3", "local_memory", "remote_memory"};
    const struct topology *t = machine.topology;

    for (unsigned mode = 0; mode < MODES; mode++)
        for (unsigned s = 0; s < MACHINE_SOURCES; s++)
            for (unsigned walked = 0; walked < 2; walked++)
                if (accesses[mode][s][walked])
                    fprintf(file, "access %s %s %u %u %llu\n",
                            mode == MODE_USER ? "user" : "kernel", sources[s], t->latency[s],
                            walked ? t->walk_cycles : 0,
                            (unsigned long long)accesses[mode][s][walked]);
}

static void print_counts(const struct counts *c)
{
    for (unsigned e = 1; e < MACHINE_EVENTS; e++)
        fprintf(file, " %s=%llu", names[e], (unsigned long long)event_count(c, e));
    fputc('\n', file);
}

static void print_tag(uint32_t slot)
{
    if (slot == SLOT_OTHER)
        fputs(" other", file);
    else
        fprintf(file, " %u", tags[slot].tag);
}

static void print_shared(uint32_t a, uint32_t b)
{
    if (!shared[a][b])
        return;
    fputs("shared", file);
    print_tag(a);
    print_tag(b);
    fprintf(file, " %u\n", shared[a][b]);
}

/* Returns the slot after `slot`; slots in use are 1 to slots - 1, and the last. */
static uint32_t next_slot(uint32_t slot)
{
    return slot + 1 < slots || slot >= SLOT_OTHER ? slot + 1 : SLOT_OTHER;
}

static void print_cpus(void)
{
    struct counts total = {0};

    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++) {
        struct counts sum = vcpu_total(v);
        settle(v);
        add_counts(&total, &sum);
    }
    fputs("total", file);
    print_counts(&total);
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++) {
        struct counts kernel = v->count[MODE_KERNEL];
        kernel.n[MACHINE_EVENT_IDLE] = v->idle_cycles;
        fprintf(file, "cpu %u user", v->index);
        print_counts(&v->count[MODE_USER]);
        fprintf(file, "cpu %u kernel", v->index);
        print_counts(&kernel);
    }
}

static void print_pstates(void)
{
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++) {
        if (!v->pstate && !v->pstate_since)
            continue;
        fprintf(file, "pstate %u", v->index);
        for (unsigned p = 0; p < MACHINE_PSTATES; p++) {
            uint64_t present = p == v->pstate ? v->now - v->pstate_since : 0;
            fprintf(file, " %llu",
                    (unsigned long long)((v->pstate_time[p] + present) >> CYCLE_SHIFT));
        }
        fputc('\n', file);
    }
}

static void print_paths(void)
{
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++) {
        const struct tracker *t = &v->tracker;
        if (!t->unit.walks)
            continue;
        fprintf(file,
                "path %u walks=%llu pab_hits=%llu filter_hits=%llu logged=%llu lost=%llu "
                "interrupts=%llu "
                "drains=%llu spills=%llu\n",
                v->index, (unsigned long long)t->unit.walks, (unsigned long long)t->unit.pab_hits,
                (unsigned long long)t->unit.filter_hits, (unsigned long long)t->logged,
                (unsigned long long)t->unit.lost, (unsigned long long)t->interrupts,
                (unsigned long long)t->drains, (unsigned long long)t->spills);
    }
}

static void print_disk(void)
{
    const struct disk *d = disk_state();

    if (!d->bytes)
        return;
    fprintf(file,
            "disk reads=%llu writes=%llu pages_read=%llu pages_written=%llu refused=%llu busy=%llu "
            "most=%u\n",
            (unsigned long long)d->reads, (unsigned long long)d->writes,
            (unsigned long long)d->pages_read, (unsigned long long)d->pages_written,
            (unsigned long long)d->refused, (unsigned long long)(d->busy >> CYCLE_SHIFT),
            d->most_in_flight);
}

static void print_wire(void)
{
    const volatile struct machine_wire *p;

    for (unsigned port = 0; (p = wire_port(port)); port++)
        fprintf(file,
                "wire %u sent=%llu sent_bytes=%llu received=%llu received_bytes=%llu missed=%llu "
                "foreign=%llu wrong=%llu busy=%llu\n",
                port, (unsigned long long)p->sent, (unsigned long long)p->sent_bytes,
                (unsigned long long)p->received, (unsigned long long)p->received_bytes,
                (unsigned long long)p->missed, (unsigned long long)p->foreign,
                (unsigned long long)p->wrong, (unsigned long long)wire_busy(port));
}

static void print_simulation(void)
{
    uint64_t turns = 0, unknown = 0, checked = 0, mismatches = 0;

    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++) {
        turns += v->turns;
        unknown += v->unknown;
        checked += v->checked;
        mismatches += v->mismatches;
    }
    fprintf(file, "simulation turns=%llu unknown=%llu checked=%llu mismatches=%llu\n",
            (unsigned long long)turns, (unsigned long long)unknown, (unsigned long long)checked,
            (unsigned long long)mismatches);
}

static uint64_t latest_time(void)
{
    uint64_t latest = machine.time;
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++)
        latest = MAX(latest, v->now);
    return latest >> CYCLE_SHIFT;
}

static long host_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
}

void truth_mark(const char *label)
{
    if (!file)
        return;
    if (!label[0])
        label = "-";
    fprintf(file, "mark %s time=%llu host_ms=%ld\n", label, (unsigned long long)latest_time(),
            host_ms());
    print_cpus();
    print_accesses();
    print_pstates();
    print_paths();
    print_disk();
    print_wire();
    for (uint32_t slot = 1; slot < SLOTS; slot = next_slot(slot)) {
        if (!event_count(&tags[slot].counts, MACHINE_EVENT_CYCLES) &&
            !tags[slot].counts.n[MACHINE_EVENT_IDLE])
            continue;
        fputs("tag", file);
        print_tag(slot);
        print_counts(&tags[slot].counts);
    }
    for (uint32_t a = 1; a < SLOTS; a = next_slot(a))
        for (uint32_t b = 1; b < SLOTS; b = next_slot(b))
            print_shared(a, b);
    print_simulation();
    fprintf(file, "end %s\n", label);
    fflush(file);
}

void truth_init(const char *name)
{
    clock_gettime(CLOCK_MONOTONIC, &begin);
    tags = calloc(SLOTS, sizeof(*tags));
    shared = calloc(SLOTS, sizeof(*shared)); /* pages are touched only where there is sharing */
    if (!tags || !shared)
        machine_error("out of memory");
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++)
        v->writer = slot_of(0);
    if (name && !(file = fopen(name, "w")))
        machine_error("truth=%s: %s", name, strerror(errno));
}
