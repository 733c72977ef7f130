/*
 * The stall breakdown as a table ([A] 2.5): cycles by cause, CPI = completion + sum of stalls, and the
 * data-cache part by source, where "estimate" is latency x accesses, which counts overlapping misses once
 * each, beside what the hardware measured ([A] Table 2.7).
 */
#include "hpm/hpm.h"
#include "hpm/context.h"
#include "kernel/printf.h"

static const char *const stall_names[STALL_COUNT] = {
    [STALL_ICACHE] = "instruction cache",
    [STALL_BRANCH] = "branch misprediction",
    [STALL_DCACHE] = "data cache",
    [STALL_TLB] = "address translation",
    [STALL_OTHER] = "other",
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
    return all ? (uint32_t)context_scale(part, 1000, all) : 0;
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

/* value / 1000 with three decimals, e.g. cycles per instruction or millions. */
struct decimal {
    unsigned long long whole;
    unsigned thousandths;
};

static struct decimal decimal_of(uint64_t count, uint64_t all)
{
    uint64_t thousandths = all ? context_scale(count, 1000, all) : 0;

    return (struct decimal){thousandths / 1000, (unsigned)(thousandths % 1000)};
}

static void add_cause(struct text *t, const char *name, uint64_t cycles, const struct hpm_breakdown *b)
{
    struct decimal mega = decimal_of(cycles, 1000000), cpi = decimal_of(cycles, b->instructions);
    uint32_t share = permille(cycles, b->cycles);

    text_add(t, "  %-22s %9llu.%03u M %4u.%u %% %4llu.%03u\n", name, mega.whole, mega.thousandths, share / 10,
             share % 10, cpi.whole, cpi.thousandths);
}

/* An error is worth printing where the figures make up a thousandth of the cycles. */
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

static void add_source(struct text *t, const char *name, uint64_t accesses, uint32_t latency,
                       uint64_t estimate, uint64_t measured, uint64_t cycles)
{
    struct decimal e = decimal_of(estimate, 1000000), m = decimal_of(measured, 1000000);

    text_add(t, "  %-14s %12llu ", name, (unsigned long long)accesses);
    if (latency)
        text_add(t, "%7u", (unsigned)latency);
    else
        text_add(t, "%7s", "");
    text_add(t, " %7llu.%03u M %7llu.%03u M", e.whole, e.thousandths, m.whole, m.thousandths);
    add_error(t, estimate, measured, cycles);
}

static void add_sources(struct text *t, const struct hpm_breakdown *b, const struct hpm_caps *caps)
{
    uint64_t estimates = 0, accesses = 0;

    text_add(t, "  data by source     accesses latency     estimate      measured  error\n");
    text_add(t, "  %-14s %12llu\n", source_names[SOURCE_L1], (unsigned long long)b->served[SOURCE_L1]);
    for (unsigned i = SOURCE_L1 + 1; i < SOURCE_COUNT; i++) {
        uint64_t estimate = b->served[i] * caps->latency[i];
        add_source(t, source_names[i], b->served[i], caps->latency[i], estimate, b->dcache[i], b->cycles);
        estimates += estimate;
        accesses += b->served[i];
    }
    add_source(t, "all but L1", accesses, 0, estimates, b->stall[STALL_DCACHE], b->cycles);
}

void hpm_breakdown_print(const char *title, const struct hpm_breakdown *b)
{
    const struct hpm_caps *caps = hpm_caps();
    struct text t = {0};
    uint64_t stalls = 0;
    uint32_t idle = permille(b->idle_cycles, b->cycles + b->idle_cycles);

    if (!caps->present) {
        kprintf("hpm: %s: no breakdown, this machine has no performance counters that are known\n", title);
        return;
    }
    for (unsigned i = 0; i < STALL_COUNT; i++)
        stalls += b->stall[i];
    text_add(
        &t,
        "hpm: %s: %llu cycles, %llu instructions, idle %u.%u %%, each figure seen for at least %u.%u %%\n",
        title, (unsigned long long)b->cycles, (unsigned long long)b->instructions, idle / 10, idle % 10,
        b->seen_permille / 10, b->seen_permille % 10);
    text_add(&t, "  cycles by cause               count  share      CPI\n");
    add_cause(&t, "completion", stalls < b->cycles ? b->cycles - stalls : 0, b);
    for (unsigned i = 0; i < STALL_COUNT; i++)
        add_cause(&t, stall_names[i], b->stall[i], b);
    add_cause(&t, "all", b->cycles, b);
    add_sources(&t, b, caps);
    kwrite(t.at, t.length);
}
