/* The stall breakdown as a table ([A] 2.5): cycles by cause, with CPI = completion + sum of stalls,
 * and data-cache stalls by source. There "estimate" is latency x accesses, which counts each of
 * several overlapping misses in full; beside it stands the measurement of the hardware ([A] Table
 * 2.7). A row is printed only if the PMU counts its figures. */
#include "hpm/count.h"
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "hpm/policy/context.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

/* Masks of hpm_caps()->stall. */
#define CAUSES   ((1u << STALL_CAUSES) - 1)
#define PIPELINE (1u << STALL_FRONTEND | 1u << STALL_BACKEND)
/* Mask of hpm_caps()->served. */
#define BEYOND_L1 ((1u << SOURCE_COUNT) - 1 - (1u << SOURCE_L1))

static const char *const stall_names[STALL_COUNT] = {
    [STALL_ICACHE] = "instruction cache",
    [STALL_BRANCH] = "branch misprediction",
    [STALL_DCACHE] = "data cache",
    [STALL_TLB] = "address translation",
    [STALL_OTHER] = "other",
    [STALL_FRONTEND] = "front end",
    [STALL_BACKEND] = "back end",
};
static const char *const miss_names[MISS_COUNT] = {
    [MISS_BRANCH] = "mispredicted branches", [MISS_L1I] = "L1 instruction misses",
    [MISS_L1D] = "L1 data misses",           [MISS_L2] = "L2 data misses",
    [MISS_LAST_LEVEL] = "last-level misses", [MISS_ITLB] = "instruction TLB walks",
    [MISS_DTLB] = "data TLB walks",          [MISS_CHIP] = "to other chips",
};
static const char *const source_names[SOURCE_COUNT] = {
    [SOURCE_L1] = "L1",
    [SOURCE_LOCAL_L2] = "local L2",
    [SOURCE_LOCAL_L3] = "local L3",
    [SOURCE_REMOTE_L2] = "remote L2",
    [SOURCE_REMOTE_L3] = "remote L3",
    [SOURCE_LOCAL_MEMORY] = "local memory",
    [SOURCE_REMOTE_MEMORY] = "remote memory",
};

static uint32_t permille(uint64_t part, uint64_t all)
{
    return all ? (uint32_t)fixed_muldiv(part, 1000, all) : 0;
}

struct text {
    size_t length;
    char at[3072];
};

static void PRINTF(2, 3) text_add(struct text *t, const char *fmt, ...)
{
    va_list args;
    size_t room = sizeof t->at - t->length;

    va_start(args, fmt);
    t->length += MIN(kvsnprintf(t->at + t->length, room, fmt, args), room - 1);
    va_end(args);
}

/* A number with three decimals, such as cycles per instruction or millions. */
struct decimal {
    unsigned long long whole;
    unsigned thousandths;
};

static struct decimal decimal_of(uint64_t count, uint64_t all)
{
    uint64_t thousandths = all ? fixed_muldiv(count, 1000, all) : 0;

    return (struct decimal){thousandths / 1000, (unsigned)(thousandths % 1000)};
}

static void add_cause(struct text *t, const char *name, uint64_t cycles,
                      const struct hpm_breakdown *b)
{
    struct decimal mega = decimal_of(cycles, 1000000), cpi = decimal_of(cycles, b->instructions);
    uint32_t share = permille(cycles, b->cycles);

    text_add(t, "  %-22s %9llu.%03u M %4u.%u %%", name, mega.whole, mega.thousandths, share / 10,
             share % 10);
    if (b->instructions)
        text_add(t, " %4llu.%03u", cpi.whole, cpi.thousandths);
    text_add(t, "\n");
}

/* The cycles that are left are completion if all stalls are counted. */
static void add_causes(struct text *t, const struct hpm_breakdown *b, const struct hpm_caps *caps)
{
    bool all = (caps->stall & CAUSES) == CAUSES || (caps->stall & PIPELINE) == PIPELINE;
    uint64_t stalls = 0;

    for (unsigned i = 0; i < STALL_COUNT; i++)
        stalls += b->stall[i];
    text_add(t, "  cycles by cause               count  share%s\n",
             b->instructions ? "      CPI" : "");
    if (caps->stall)
        add_cause(t, all ? "completion" : "all else", stalls < b->cycles ? b->cycles - stalls : 0,
                  b);
    for (unsigned i = 0; i < STALL_COUNT; i++)
        if (caps->stall >> i & 1)
            add_cause(t, stall_names[i], b->stall[i], b);
    add_cause(t, "all", b->cycles, b);
}

static void add_misses(struct text *t, const struct hpm_breakdown *b, const struct hpm_caps *caps)
{
    text_add(t, "  misses                        count%s\n",
             b->instructions ? "  per 1000 instructions" : "");
    for (unsigned i = 0; i < MISS_COUNT; i++) {
        struct decimal each = decimal_of(b->missed[i] * 1000, b->instructions);
        if (!(caps->missed >> i & 1))
            continue;
        text_add(t, "  %-22s %12llu", miss_names[i], (unsigned long long)b->missed[i]);
        if (b->instructions)
            text_add(t, " %18llu.%03u", each.whole, each.thousandths);
        text_add(t, "\n");
    }
}

/* Prints the error only if the figures make up a thousandth of the cycles. */
static void add_error(struct text *t, uint64_t estimate, uint64_t measured, uint64_t cycles)
{
    uint64_t difference = estimate > measured ? estimate - measured : measured - estimate;

    if (MAX(estimate, measured) < cycles / 1000 || !measured) {
        text_add(t, "  %s\n", measured || !estimate ? "-" : "not seen");
        return;
    }
    uint32_t off = permille(difference, measured);
    if (off > 9999) {
        text_add(t, "  over 999 %%\n");
        return;
    }
    text_add(t, "  %c%u.%u %%\n", estimate < measured ? '-' : '+', off / 10, off % 10);
}

static void add_accesses(struct text *t, const char *name, uint64_t accesses, uint32_t latency,
                         uint64_t estimate)
{
    struct decimal e = decimal_of(estimate, 1000000);

    text_add(t, "  %-14s %12llu ", name, (unsigned long long)accesses);
    if (latency)
        text_add(t, "%7u", (unsigned)latency);
    else
        text_add(t, "%7s", "");
    text_add(t, " %7llu.%03u M", e.whole, e.thousandths);
}

static void add_measured(struct text *t, uint64_t estimate, uint64_t measured, uint64_t cycles)
{
    struct decimal m = decimal_of(measured, 1000000);

    text_add(t, " %7llu.%03u M", m.whole, m.thousandths);
    add_error(t, estimate, measured, cycles);
}

static void add_sources(struct text *t, const struct hpm_breakdown *b, const struct hpm_caps *caps)
{
    uint64_t estimates = 0, accesses = 0;

    text_add(t, "  data by source     accesses latency     estimate      measured  error\n");
    if (caps->served >> SOURCE_L1 & 1)
        text_add(t, "  %-14s %12llu\n", source_names[SOURCE_L1],
                 (unsigned long long)b->served[SOURCE_L1]);
    for (unsigned i = SOURCE_L1 + 1; i < SOURCE_COUNT; i++) {
        uint64_t estimate = b->served[i] * caps->latency[i];
        if (!((caps->served | caps->dcache) >> i & 1))
            continue;
        add_accesses(t, source_names[i], b->served[i], caps->latency[i], estimate);
        if (caps->dcache >> i & 1)
            add_measured(t, estimate, b->dcache[i], b->cycles);
        else
            text_add(t, "   not measured\n");
        estimates += estimate;
        accesses += b->served[i];
    }
    if (!(BEYOND_L1 & ~caps->served)) {
        add_accesses(t, "all but L1", accesses, 0, estimates);
        add_measured(t, estimates, b->stall[STALL_DCACHE], b->cycles);
    }
}

/* A PMU that knows the causes of stalls lacks nothing if it does not know the rest. */
void report_missing(char *buf, size_t size)
{
    const struct hpm_caps *caps = hpm_caps();
    bool causes = (caps->stall & CAUSES) == CAUSES;
    const struct {
        const char *name;
        bool missing;
    } figures[] = {
        {"instructions", !caps->instructions},
        {"stalls-by-cause", !causes},
        {"stalls-by-half", !causes && (caps->stall & PIPELINE) != PIPELINE},
        {caps->served ? "accesses-but-remote-caches" : "accesses-by-source",
         BEYOND_L1 & ~caps->served},
        {"misses", !causes && !caps->missed},
    };
    size_t n = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(figures) && n < size; i++)
        if (figures[i].missing)
            n += ksnprintf(buf + n, size - n, "%s%s", n ? "," : "", figures[i].name);
}

static void add_title(struct text *t, const char *title, const struct hpm_breakdown *b,
                      const struct hpm_caps *caps)
{
    uint32_t idle = permille(b->idle_cycles, b->cycles + b->idle_cycles);

    text_add(t, "hpm: %s: %llu%s cycles", title, (unsigned long long)b->cycles,
             !caps->kernel ? " user-mode"
             : !caps->user ? " kernel-mode"
                           : "");
    if (caps->instructions)
        text_add(t, ", %llu instructions", (unsigned long long)b->instructions);
    if (caps->user && caps->kernel)
        text_add(t, ", idle %u.%u %%", idle / 10, idle % 10);
    if (caps->stall | caps->dcache | caps->served | caps->missed)
        text_add(t, ", each figure seen for at least %u.%u %%", b->seen_permille / 10,
                 b->seen_permille % 10);
    text_add(t, "\n");
}

void hpm_breakdown_print(const char *title, const struct hpm_breakdown *b)
{
    const struct hpm_caps *caps = hpm_caps();
    struct text *t = caps->present ? kmalloc(sizeof *t) : NULL;
    char missing[160];

    if (!t) {
        kprintf("hpm: %s: no breakdown, %s\n", title,
                caps->present ? "out of memory"
                              : "this machine has no performance counters that are known");
        return;
    }
    add_title(t, title, b, caps);
    add_causes(t, b, caps);
    if (caps->dcache | caps->served)
        add_sources(t, b, caps);
    if (caps->missed)
        add_misses(t, b, caps);
    report_missing(missing, sizeof missing);
    if (missing[0])
        text_add(t, "  lacks: figures=%s: not counted by this PMU\n", missing);
    kprintf("%s", t->at);
    kfree(t);
}
