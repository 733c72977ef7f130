/* See amd_double.h. */
#include <stdlib.h>
#include <string.h>
#include "test/host/double/amd_double.h"

#define SELECT_EVENT \
    ((uint64_t)0xffff | (uint64_t)15 << 32 | (uint64_t)0xff << 24 | BIT_OF(18) | BIT_OF(23))
#define SELECT_WRITABLE  (SELECT_EVENT | SELECT_USER | SELECT_KERNEL | SELECT_INT | SELECT_EN)
#define OP_CURRENT_OF(v) ((v) >> 32 & 0x7ffffff)
#define OP_MAX_OF(v)     (((v)&0xffff) << 4 | ((v)&0x7f00000))
#define OP_WRITABLE \
    ((uint64_t)0xffff | OP_EN | OP_COUNT_OPS | (uint64_t)0x7f << 20 | (uint64_t)0x7ffffff << 32)
#define ENTRY_OF_FIRMWARE 1
#define ALL_LEAVES        0x80000022

struct amd_double amd_double[DOUBLE_CPUS];
static uint64_t cycles_over; /* of the current tick */

/* The only PMU in place of the instruction set's backends.c. */
const struct frequency_ops *const frequency_backends[] = {NULL};
const struct pmu_ops *const pmu_backends[] = {&pmu_amd, NULL};

static struct amd_double *here(void)
{
    return &amd_double[host_cpu->index];
}

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* ---- Counting -------------------------------------------------------------------------------- */

static unsigned counters(const struct amd_double *d)
{
    return d->kind.v2 ? d->kind.v2 : AMD_COUNTERS;
}

static bool counts(const struct amd_double *d, unsigned n)
{
    return (d->select[n] & SELECT_EN) && (!d->kind.v2 || (d->global >> n & 1));
}

/* More floating-point operations in a cycle than one counter can add (PPR, PMCx003). */
static bool is_wide(uint64_t select)
{
    return (select & ((uint64_t)15 << 32 | 0xff)) == 0x03;
}

static bool is_merged(const struct amd_double *d, unsigned n)
{
    return n + 1 < counters(d) && (d->select[n + 1] & SELECT_EVENT) == EVENT_MERGE &&
           counts(d, n + 1);
}

/* Counts. The overflow flag is set whether an interrupt is enabled or not. */
static void advance(struct amd_double *d, unsigned n, uint64_t by)
{
    uint64_t after = d->counter[n] + by;

    d->happened[n] += by;
    d->counter[n] = AMD_COUNT(after);
    if (after == d->counter[n])
        return;
    if (is_wide(d->select[n]) && is_merged(d, n)) {
        uint64_t upper = d->counter[n + 1] + (after >> AMD_WIDTH);
        d->counter[n + 1] = upper & MERGED_NEGATIVE;
        if (upper == d->counter[n + 1])
            return;
    }
    if (d->kind.v2)
        d->status |= BIT_OF(n);
    if (d->select[n] & SELECT_INT)
        d->pending = true;
}

void amd_count(uint64_t event, uint64_t n, bool user)
{
    struct amd_double *d = here();

    for (unsigned i = 0; i < counters(d); i++)
        if (counts(d, i) && (d->select[i] & SELECT_EVENT) == event &&
            (d->select[i] & (user ? SELECT_USER : SELECT_KERNEL)))
            advance(d, i, is_wide(event) && !is_merged(d, i) ? n / 2 : n);
}

static void pass(uint64_t instructions, uint64_t cycles, bool user)
{
    amd_count(EVENT_RETIRED, instructions, user);
    if (!here()->kind.stuck)
        amd_count(EVENT_CYCLES, cycles, user);
    host_ticks += (cycles_over + cycles) / CYCLES_PER_TICK;
    cycles_over = (cycles_over + cycles) % CYCLES_PER_TICK;
}

void amd_execute(uint64_t instructions, uint64_t cycles, bool user)
{
    pass(instructions, cycles, user);
    double_deliver();
}

void double_deliver(void)
{
    struct amd_double *d = here();

    while (double_interruptible() && d->pending && !d->masked) {
        host_irqs_on = false;
        d->pending = false;
        d->masked = true;
        d->interrupts++;
        hpm_interrupt(NULL);
        host_irqs_on = true;
    }
}

/* ---- Sampling -------------------------------------------------------------------------------- */

static bool samples(const struct amd_double *d)
{
    return (d->op & OP_EN) && !(d->op & OP_VAL);
}

static void tag(struct amd_double *d, const struct amd_op *op)
{
    d->tagged++;
    if ((d->op & OP_L3_MISS_ONLY) && !op->l3_miss) {
        d->random = d->random * 6364136223846793005 + 1442695040888963407;
        d->current = d->random >> 57;
        d->left_out++;
        return;
    }
    d->recorded++;
    d->record = *op;
    d->op |= OP_VAL;
    d->pending |= d->routed[ENTRY_OF_FIRMWARE];
}

/* Runs the interval counter; the operation at MaxCnt is tagged. */
void amd_operate(uint64_t n, const struct amd_op *op)
{
    struct amd_double *d = here();

    while (n && samples(d)) {
        uint64_t step = MIN(n, OP_MAX_OF(d->op) - d->current);
        n -= step;
        d->current += step;
        if (d->current == OP_MAX_OF(d->op))
            tag(d, op);
        double_deliver();
    }
}

/* ---- Registers ------------------------------------------------------------------------------- */

static void access_one(void)
{
    here()->accesses++;
    if (double_on_access)
        double_on_access();
    pass(1, hpm_state.ops ? ACCESS_CYCLES : PROBE_CYCLES, false);
}

static uint32_t signature(const struct amd_kind *k)
{
    return (k->family - 15) << 20 | (k->model >> 4) << 16 | 15 << 8 | (k->model & 15) << 4;
}

struct x86_leaf x86_leaf(uint32_t leaf, uint32_t sub)
{
    const struct amd_kind *k = &here()->kind;
    uint32_t last = k->last ? k->last : ALL_LEAVES;

    require(!sub && (leaf <= 1 || (leaf >= LEAF_EXTENDED && leaf <= last)));
    access_one();
    switch (leaf) {
    case 0:
        return (struct x86_leaf){.eax = 1, .ebx = k->vendor ? k->vendor : AMD_VENDOR};
    case 1:
        return (struct x86_leaf){.eax = signature(k)};
    case LEAF_EXTENDED:
        return (struct x86_leaf){.eax = last};
    case LEAF_FEATURES:
        return (struct x86_leaf){.ecx =
                                     (k->ibs ? ECX_IBS : 0) | (k->no_extended ? 0 : ECX_PERF_CORE)};
    case LEAF_L1:
        return (struct x86_leaf){.ecx = 0x20080140};
    case LEAF_IBS:
        return (struct x86_leaf){.eax = k->ibs};
    case LEAF_PERFMON:
        return (struct x86_leaf){.eax = k->v2 ? EAX_PERFMON_V2 : 0, .ebx = 0x01040 << 4 | k->v2};
    }
    abort();
}

struct event_identity pmu_identity(void)
{
    return event_identity_x86(x86_leaf(0, 0).ebx, x86_leaf(1, 0).eax);
}

void x86_unmask_counters(void)
{
    here()->masked = false;
}

bool x86_route_extended(unsigned n)
{
    access_one();
    if (n >= ENTRIES)
        return false;
    here()->routed[n] = true;
    return true;
}

/* Returns whether `msr` is a counter's register of the row that begins at `first`; *n: which
 * counter. */
static bool is_counters(const struct amd_double *d, uint32_t msr, uint32_t first, unsigned *n)
{
    *n = (msr - first) / 2;
    return msr >= first && !((msr - first) % 2) && *n < counters(d);
}

static uint64_t read_counter(struct amd_double *d, unsigned n)
{
    d->read_at[n] = d->accesses;
    d->at_read[n] = d->happened[n] - d->set_back[n];
    return d->counter[n];
}

static uint64_t read_record(const struct amd_double *d, uint32_t msr)
{
    const struct amd_op *r = &d->record;

    require(d->kind.ibs && (d->op & OP_VAL));
    switch (msr) {
    case MSR_IBS_OP_RIP:
        require(!(r->data & DATA_RIP_INVALID));
        return r->rip;
    case MSR_IBS_OP_DATA:
        return r->data;
    case MSR_IBS_OP_DATA2:
        return r->data2;
    case MSR_IBS_OP_DATA3:
        return r->data3;
    case MSR_IBS_DC_LINAD:
        require(r->data3 & DATA3_LINEAR_VALID);
        return r->linear;
    case MSR_IBS_DC_PHYSAD:
        require(r->data3 & DATA3_PHYS_VALID);
        return r->physical;
    }
    abort();
}

uint64_t x86_read(uint32_t msr)
{
    struct amd_double *d = here();
    unsigned n;

    access_one();
    if (is_counters(d, msr, MSR_SELECT(0), &n))
        return d->select[n];
    if (is_counters(d, msr, MSR_COUNTER(0), &n))
        return read_counter(d, n);
    switch (msr) {
    case MSR_GLOBAL_STATUS:
        require(d->kind.v2);
        return d->status;
    case MSR_GLOBAL_CTL:
        require(d->kind.v2);
        return d->global;
    case MSR_IBS_OP_CTL:
        require(d->kind.ibs & IBS_OP);
        return d->op | OP_CURRENT(d->current);
    case MSR_IBS_CTL:
        require(d->kind.ibs);
        return d->kind.no_entry ? 0 : CTL_ENTRY_VALID | ENTRY_OF_FIRMWARE;
    }
    return read_record(d, msr);
}

/* Selects an event, which is allowed only while the counter is disabled, and not together with
 * enabling it. */
static void write_select(struct amd_double *d, unsigned n, uint64_t v)
{
    bool another = (v ^ d->select[n]) & SELECT_EVENT, runs = !d->kind.v2 || (d->global >> n & 1);

    require(!(v & ~SELECT_WRITABLE));
    require(!(another && runs && (v & SELECT_EN)));
    if (is_wide(v) && (v & SELECT_EN) && runs)
        require(is_merged(d, n));
    if ((v & SELECT_EVENT) == EVENT_MERGE)
        require((n & 1) && !(v & (SELECT_USER | SELECT_KERNEL | SELECT_INT)));
    if (n && is_wide(d->select[n - 1]) && counts(d, n - 1) &&
        (d->select[n] & SELECT_EVENT) == EVENT_MERGE)
        require(!another && (v & SELECT_EN));
    d->select[n] = v;
}

/* Writes a counter. While it counts this loses its increments since it was read, which must be just
 * before. */
static void write_counter(struct amd_double *d, unsigned n, uint64_t v)
{
    require(v == AMD_COUNT(v));
    if ((d->select[n] & SELECT_EVENT) == EVENT_MERGE)
        require(v <= MERGED_NEGATIVE);
    else
        require(!counts(d, n) || d->accesses == d->read_at[n] + 1);
    if (!counts(d, n) && !host_cpu->hpm)
        d->happened[n] = d->at_read[n] = 0;
    d->set_back[n] = d->happened[n] - d->at_read[n];
    d->counter[n] = v;
}

static void write_op(struct amd_double *d, uint64_t v)
{
    uint64_t max = OP_MAX_OF(v), current = OP_CURRENT_OF(v);
    uint64_t writable = OP_WRITABLE | (d->kind.ibs & IBS_L3_FILTER ? OP_L3_MISS_ONLY : 0);

    require((d->kind.ibs & IBS_OP) && !(v & ~writable));
    if (v & OP_EN)
        require(max >= OP_MAX_LEAST && current < max && (v & OP_COUNT_OPS));
    d->op = v & ~OP_CURRENT(0x7ffffff);
    d->current = current;
}

void x86_write(uint32_t msr, uint64_t v)
{
    struct amd_double *d = here();
    unsigned n;

    access_one();
    if (is_counters(d, msr, MSR_SELECT(0), &n)) {
        write_select(d, n, v);
        return;
    }
    if (is_counters(d, msr, MSR_COUNTER(0), &n)) {
        write_counter(d, n, v);
        return;
    }
    switch (msr) {
    case MSR_GLOBAL_CTL:
        require(d->kind.v2 && !(v >> counters(d)));
        d->global = v;
        return;
    case MSR_GLOBAL_CLEAR:
        require(d->kind.v2 && !((v & ~GLOBAL_FROZEN) >> counters(d)));
        d->status &= ~v;
        return;
    case MSR_IBS_FETCH_CTL:
        require(d->kind.ibs & IBS_FETCH);
        d->fetch = v;
        return;
    case MSR_IBS_OP_CTL:
        write_op(d, v);
        return;
    }
    abort();
}

/* ---- Set-up ---- */

/* The firmware has left everything on: counters that count and interrupt, flags, both halves of
 * sampling. */
void amd_machine(const struct amd_kind *kind)
{
    kernel_reset();
    memset(amd_double, 0, sizeof amd_double);
    double_on_access = NULL;
    for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
        struct amd_double *d = &amd_double[i];
        d->kind = *kind;
        d->random = i + 1;
        d->global = d->status = d->kind.v2 ? BIT_OF(counters(d)) - 1 : 0;
        for (unsigned c = 0; c < counters(d); c++) {
            d->select[c] = EVENT_CYCLES | SELECT_USER | SELECT_KERNEL | SELECT_INT | SELECT_EN;
            d->counter[c] = AMD_COUNT(0x7e7e7e7e7e7e7e7e);
        }
        if (kind->ibs) {
            d->fetch = BIT_OF(48);
            d->op = OP_EN | OP_COUNT_OPS | OP_VAL | 0x1000;
        }
    }
}

/* ---- For the checks of every driver ---------------------------------------------------------- */

static void again(void)
{
    struct amd_kind kind = amd_double[0].kind;

    amd_machine(&kind);
}

static struct truth truth(unsigned cpu)
{
    const struct amd_double *d = &amd_double[cpu];
    unsigned cycles = hpm_state.pmu.counters + 1;

    return (struct truth){.happened = d->happened,
                          .at_read = d->at_read,
                          .set_back = d->set_back[cycles],
                          .instructions = cycles - 1,
                          .cycles = cycles,
                          .accesses = d->accesses};
}

/* ---- User mode ------------------------------------------------------------------------------- */

void x86_open_counters(bool on)
{
    here()->user_open = on;
}

static uint64_t user_read(uint32_t index)
{
    const struct amd_double *d = here();

    require(index && d->user_open);
    return d->counter[index - 1];
}

static bool user_open(unsigned cpu)
{
    return amd_double[cpu].user_open;
}

const struct pmu_double pmu_double = {.access_cycles = ACCESS_CYCLES,
                                      .cycles = EVENT_CYCLES,
                                      .instructions = EVENT_RETIRED,
                                      .count = amd_count,
                                      .execute = amd_execute,
                                      .again = again,
                                      .truth = truth,
                                      .user_read = user_read,
                                      .user_open = user_open};
