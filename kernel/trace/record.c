/* See telemetry.h. Records into each CPU's packets; the boot arguments. */
#include "kernel/trace/record.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

#define KB_DEFAULT 256
#define KB_MIN     (RING_PACKETS_MIN * RING_PACKET_BYTES / KIB)

uint64_t telemetry_on, telemetry_ms = 10;
uint64_t trace_counts, trace_frequency, trace_every = 1, trace_cycles;
static uint64_t telemetry_wanted, telemetry_kb = KB_DEFAULT;
static struct ring *rings[CPU_MAX];
static unsigned ring_count;
static uint8_t uuid[CTF_UUID_BYTES];

static const char *const what_choices[] = {"sched",  "sharing", "counters", "samples", "marks",
                                           "memory", "quanta",  "lines",    "values",  NULL};
static const char *const counts_choices[] = {"none", "topdown", NULL};
const struct arg telemetry_args[] = {
    {.name = "telemetry",
     .type = ARG_SET,
     .value = &telemetry_wanted,
     .choices = what_choices,
     .help = "record this and write it to the port vigil.telemetry"},
    {.name = "telemetry.kb",
     .type = ARG_U64,
     .value = &telemetry_kb,
     .min = KB_MIN,
     .max = RING_PACKETS_MAX * RING_PACKET_BYTES / KIB,
     .help = "memory of each CPU for what is not yet written, KB; made a power of two"},
    {.name = "telemetry.ms",
     .type = ARG_U64,
     .value = &telemetry_ms,
     .min = 1,
     .max = 3600000,
     .help = "interval at which counters and use of memory are recorded, milliseconds"},
    {.name = "trace.counts",
     .type = ARG_CHOICE,
     .value = &trace_counts,
     .choices = counts_choices,
     .help = "what telemetry=quanta has beside cycles and instructions: where cycles went, counted "
             "all the time; the breakdown, and with it policy cluster, pauses"},
    {.name = "trace.frequency",
     .type = ARG_BOOL,
     .value = &trace_frequency,
     .help = "telemetry=quanta also counts time by the CPU's reference, of which and cycles the "
             "frequency follows; and tells its changes"},
    {.name = "trace.every",
     .type = ARG_U64,
     .value = &trace_every,
     .min = 1,
     .max = 1000000,
     .help = "quanta of a thread that are recorded as one"},
    {.name = "trace.cycles",
     .type = ARG_U64,
     .value = &trace_cycles,
     .max = 1000000000000,
     .help = "cycles after which a thread's quanta are recorded as one; 0: by trace.every"},
    {.name = NULL},
};

unsigned record_cpus(void)
{
    return ring_count;
}

struct ring *record_ring(unsigned cpu)
{
    return rings[cpu];
}

const uint8_t *record_uuid(void)
{
    return uuid;
}

bool telemetry_asked(uint64_t what)
{
    return (telemetry_wanted & what) != 0;
}

bool telemetry_put(enum trace_event id, const uint64_t *values)
{
    bool irq = arch_irq_save();
    bool room = ring_put(rings[this_cpu()->index], id, arch_clock_ns(), values);

    arch_irq_restore(irq);
    return room;
}

void *telemetry_place(enum trace_event id, uint32_t bytes, uint64_t now_ns)
{
    return ring_place(rings[this_cpu()->index], id, now_ns, bytes);
}

static void *alloc_bytes(uint64_t bytes)
{
    unsigned order = 0;
    paddr_t pa;

    while (PAGE_SIZE << order < bytes)
        order++;
    return frame_alloc(order, &pa) ? NULL : phys_to_virt(pa);
}

/* Makes a UUID (version 4 in form, RFC 4122). Traces need to differ only by the time they began. */
static void make_uuid(void)
{
    uint64_t x = arch_ticks() | 1;

    for (unsigned i = 0; i < CTF_UUID_BYTES; i++) {
        x = x * 6364136223846793005 + 1442695040888963407;
        uuid[i] = (uint8_t)(x >> 56);
    }
    uuid[6] = (uint8_t)(0x40 | (uuid[6] & 0x0f));
    uuid[8] = (uint8_t)(0x80 | (uuid[8] & 0x3f));
}

/* Limits the memory of all CPUs together to a 32nd of all memory. */
static void limit_memory(unsigned cpu_number)
{
    struct frame_stats frames;

    frame_stats(&frames);
    uint64_t most = MAX(frames.total_pages * PAGE_SIZE / 32 / cpu_number / KIB, (uint64_t)KB_MIN);
    if (telemetry_kb <= most)
        return;
    kprintf(
        "telemetry.kb=%llu: limited to %llu: the %u CPUs' together take a 32nd of memory at most\n",
        (unsigned long long)telemetry_kb, (unsigned long long)most, cpu_number);
    telemetry_kb = most;
}

void telemetry_init(unsigned cpu_number)
{
    if (!telemetry_wanted)
        return;
    limit_memory(cpu_number);
    uint32_t packets = 1u << log2_floor(telemetry_kb * KIB / RING_PACKET_BYTES);
    make_uuid();
    for (unsigned i = 0; i < cpu_number; i++) {
        void *memory = alloc_bytes((uint64_t)packets * RING_PACKET_BYTES);
        rings[i] = alloc_bytes(sizeof(*rings[i]));
        if (!memory || !rings[i]) {
            kprintf("telemetry: no memory for %u CPUs: lower telemetry.kb; nothing is recorded\n",
                    cpu_number);
            return;
        }
        ring_init(rings[i], memory, packets, trace_events, uuid, i, arch_clock_ns());
    }
    ring_count = cpu_number;
    __atomic_store_n(&telemetry_on, telemetry_wanted, __ATOMIC_RELEASE);
}
