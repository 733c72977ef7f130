/* See intel_double.h. */
#include <stdlib.h>
#include "test/host/double/intel_double.h"

#define BIT(n)            ((uint64_t)1 << (n))
#define INTERRUPTS_AT_ONE 8 /* more interrupts in a row are a storm */
#define CODE_MASK         0xffffu

struct intel_double intel_double[DOUBLE_CPUS];
void (*intel_on_record)(uint8_t *record);
static uint64_t cycles_over; /* of the current tick */

/* The only PMU in place of the instruction set's backends.c. */
const struct frequency_ops *const frequency_backends[] = {NULL};
const struct pmu_ops *const pmu_backends[] = {&pmu_intel, NULL};

static struct intel_double *here(void)
{
    return &intel_double[host_cpu->index];
}

static void require(bool ok)
{
    if (!ok)
        abort();
}

static uint64_t ones(unsigned width)
{
    return width == 64 ? ~(uint64_t)0 : BIT(width) - 1;
}

static bool has_fixed(const struct intel_kind *k, unsigned f)
{
    return k->version >= 2 && f < INTEL_FIXED &&
           (f < k->fixed || (k->version >= 5 && (k->fixed_mask >> f & 1)));
}

static bool has_metrics(const struct intel_kind *k)
{
    return k->capabilities >> 15 & 1;
}

static unsigned format_of(const struct intel_kind *k)
{
    return k->no_pebs ? 0 : k->capabilities >> 8 & 15;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static bool counts(const struct intel_double *d, unsigned n)
{
    return (d->select[n] >> 22 & 1) && (d->kind.version < 2 || (d->global_control >> n & 1));
}

static bool fixed_counts(const struct intel_double *d, unsigned f)
{
    return (d->fixed_control >> 4 * f & 3) && (d->global_control >> (32 + f) & 1);
}

static uint64_t *u64(uint8_t *record, unsigned offset)
{
    return (uint64_t *)(void *)(record + offset);
}

/* Returns the groups of an adaptive record besides the basic one. */
static uint64_t groups_of(const struct intel_double *d, unsigned n)
{
    return d->select[n] >> 34 & 1 ? d->data_config & 1 : 0;
}

static unsigned record_size(const struct intel_double *d, unsigned n)
{
    static const unsigned sizes[] = {0, 0xb0, 0xc0, 0xc8};
    unsigned format = format_of(&d->kind);

    return format < 4 ? sizes[format] : groups_of(d, n) ? 64 : 32;
}

static void fill(const struct intel_double *d, uint8_t *r, unsigned n, const struct intel_load *l)
{
    unsigned format = format_of(&d->kind);

    if (format >= 4) { /* basic group; memory group, if enabled */
        *u64(r, 0) = (uint64_t)record_size(d, n) << 48 | groups_of(d, n);
        *u64(r, 8) = l->pc;
        *u64(r, 16) = BIT(n);
        *u64(r, 24) = host_ticks;
        if (!groups_of(d, n))
            return;
        *u64(r, 32) = l->address;
        *u64(r, 40) = l->source;
        *u64(r, 48) = l->latency;
        *u64(r, 56) = 0;
        return;
    }
    for (unsigned i = 0; i < 18; i++)
        *u64(r, 8 * i) = 0xdead0000 + i; /* flags, IP, registers */
    *u64(r, 0x08) = l->pc + 1;
    *u64(r, 0x90) = format == 3 ? BIT(n) : d->status | BIT(n);
    *u64(r, 0x98) = l->address;
    *u64(r, 0xa0) = l->source | 0x20; /* locked */
    *u64(r, 0xa8) = l->latency;
    if (format >= 2) {
        *u64(r, 0xb0) = l->pc;
        *u64(r, 0xb8) = 0;
    }
    if (format >= 3)
        *u64(r, 0xc0) = host_ticks;
}

static void record(struct intel_double *d, unsigned n, const struct intel_load *l)
{
    struct intel_ds *ds = (struct intel_ds *)(uintptr_t)d->ds_area;
    unsigned size = record_size(d, n);

    d->counter[n] = ds->reset[n];
    if (ds->index + size > ds->end) {
        d->dropped++;
        return;
    }
    uint8_t *at = (uint8_t *)(uintptr_t)ds->index;
    fill(d, at, n, l);
    d->recorded++;
    ds->index += size;
    if (intel_on_record)
        intel_on_record(at);
    if (ds->index >= ds->threshold) {
        d->status |= BIT(62);
        d->interrupt = true;
    }
}

static void advance(struct intel_double *d, unsigned n, uint64_t by, const struct intel_load *l)
{
    uint64_t before = d->counter[n];

    d->happened[n] += by;
    d->counter[n] = (before + by) & ones(d->kind.width);
    if (d->counter[n] >= before)
        return;
    if (l && (d->pebs_enable >> n & 1)) {
        record(d, n, l);
        return;
    }
    if (d->kind.version >= 2)
        d->status |= BIT(n);
    d->interrupt |= d->select[n] >> 20 & 1;
}

static void advance_fixed(struct intel_double *d, unsigned f, uint64_t by)
{
    uint64_t before = d->fixed[f];

    d->happened[INTEL_FIXED_AT(f)] += by;
    d->fixed[f] = (before + by) & ones(d->kind.fixed_width);
    if (d->fixed[f] >= before)
        return;
    d->status |= BIT(32 + f);
    d->interrupt |= d->fixed_control >> (4 * f + 3) & 1;
}

static void count(unsigned code, uint64_t n, bool user, const struct intel_load *l)
{
    struct intel_double *d = here();
    static const unsigned fixed_code[] = {CODE_INSTRUCTIONS, CODE_CYCLES, CODE_REFERENCE,
                                          CODE_SLOTS};

    if (code == CODE_CYCLES && d->kind.stuck)
        return;
    for (unsigned i = 0; i < d->kind.counters; i++)
        if (counts(d, i) && (d->select[i] & CODE_MASK) == code &&
            (d->select[i] >> (user ? 16 : 17) & 1))
            advance(d, i, n, l);
    for (unsigned f = 0; f < ARRAY_SIZE(fixed_code); f++)
        if (fixed_counts(d, f) && fixed_code[f] == code && (d->fixed_control >> (4 * f + user) & 1))
            advance_fixed(d, f, n);
}

void intel_count(uint64_t select, uint64_t n, bool user)
{
    count(select & CODE_MASK, n, user, NULL);
}

void intel_slots(const uint64_t kind[SLOT_KINDS], bool user)
{
    struct intel_double *d = here();
    uint64_t all = 0;
    bool counted = fixed_counts(d, 3) && (d->fixed_control >> (12 + user) & 1) &&
                   (d->global_control >> 48 & 1);

    for (unsigned i = 0; i < SLOT_KINDS; i++) {
        all += kind[i];
        d->slots[i] += counted ? kind[i] : 0;
    }
    count(CODE_SLOTS, all, user, NULL);
}

/* A precise event can be counted by several bits of its unit mask together. */
void intel_load(const struct intel_load *l)
{
    struct intel_double *d = here();
    bool user = !(l->pc >> 63);

    for (unsigned i = 0; i < d->kind.counters; i++) {
        unsigned code = d->select[i] & CODE_MASK;
        bool mode = d->select[i] >> (user ? 16 : 17) & 1;
        bool latency = (code == 0x01cd || code == 0x100b) && l->latency > d->load_latency &&
                       (d->kind.version >= 5 || (d->pebs_enable >> (32 + i) & 1));
        bool precise = (code & 0xff) == (l->event & 0xff) && (code & l->event & 0xff00);
        if (counts(d, i) && mode && (latency || precise))
            advance(d, i, 1, l);
    }
    double_deliver();
}

static void pass(uint64_t instructions, uint64_t cycles, bool user)
{
    intel_count(CODE_INSTRUCTIONS, instructions, user);
    intel_count(CODE_CYCLES, cycles, user);
    host_ticks += (cycles_over + cycles) / CYCLES_PER_TICK;
    cycles_over = (cycles_over + cycles) % CYCLES_PER_TICK;
}

void intel_execute(uint64_t instructions, uint64_t cycles, bool user)
{
    pass(instructions, cycles, user);
    double_deliver();
}

void double_deliver(void)
{
    struct intel_double *d = here();

    for (unsigned i = 0; double_interruptible() && d->interrupt && !d->masked; i++) {
        require(i < INTERRUPTS_AT_ONE);
        d->interrupt = false;
        d->masked = true;
        host_irqs_on = false;
        hpm_interrupt(NULL);
        host_irqs_on = true;
    }
}

/* ---- Registers ------------------------------------------------------------------------------- */

void x86_unmask_counters(void)
{
    here()->masked = false;
}

static void access_one(void)
{
    here()->accesses++;
    if (double_on_access)
        double_on_access();
    pass(1, hpm_state.ops ? ACCESS_CYCLES : PROBE_CYCLES, false);
}

struct x86_leaf x86_leaf(uint32_t leaf, uint32_t sub)
{
    const struct intel_kind *k = &here()->kind;
    struct x86_leaf out = {0, 0, 0, 0};

    require(leaf == 0 || leaf == 1 || leaf == 7 || leaf == 0xa);
    require(sub == 0);
    access_one();
    if (leaf == 0) {
        out.eax = 0x16;
        out.ebx = k->not_intel ? 0x68747541 : 0x756e6547;
    } else if (leaf == 1) {
        out.eax = (k->family ? 0xf00 | (k->family - 15) << 20 : 0x600) | (k->model & 15) << 4 |
                  (k->model >> 4) << 16 | 4;
        out.ebx = 8 << 8; /* lines of 64 bytes */
        out.ecx = 1u << 2 | (k->capabilities ? 1u << 15 : 0) | (k->hypervisor ? 1u << 31 : 0);
        out.edx = 1u << 21;
    } else if (leaf == 7) {
        out.ebx = k->rtm ? 1u << 11 : 0;
        out.edx = k->force_abort ? 1u << 13 : 0;
    } else {
        out.eax = k->version | k->counters << 8 | k->width << 16 | k->enumerated << 24;
        out.ebx = k->missing;
        out.ecx = k->version >= 5 ? k->fixed_mask : 0;
        out.edx = k->fixed | k->fixed_width << 5 | (uint32_t)k->no_any_thread << 15;
    }
    return out;
}

struct event_identity pmu_identity(void)
{
    return event_identity_x86(x86_leaf(0, 0).ebx, x86_leaf(1, 0).eax);
}

static uint64_t read_counter(struct intel_double *d, unsigned at)
{
    d->read_at[at] = d->accesses;
    d->seen[at] = d->happened[at];
    d->at_read[at] = d->seen[at] - d->set_back[at];
    return at >= INTEL_COUNTERS ? d->fixed[at - INTEL_COUNTERS] : d->counter[at];
}

/* Returns the shares of fixed counter 3's count, in 255ths. Part of reading that counter. */
static uint64_t read_metrics(struct intel_double *d)
{
    uint64_t all = 0, shares = 0;

    require(has_metrics(&d->kind));
    access_one();
    d->read_at[INTEL_FIXED_AT(3)] = d->accesses;
    for (unsigned i = 0; i < SLOT_KINDS; i++)
        all += d->slots[i];
    for (unsigned i = 0; i < SLOT_KINDS && all; i++)
        shares |= (510 * d->slots[i] / all + 1) / 2 << 8 * i;
    return shares;
}

uint64_t x86_read_counter(uint32_t counter)
{
    struct intel_double *d = here();
    unsigned n = counter & ~RDPMC_FIXED;

    if (counter == RDPMC_METRICS)
        return read_metrics(d);
    require(counter & RDPMC_FIXED ? has_fixed(&d->kind, n) : n < d->kind.counters);
    access_one();
    return read_counter(d, counter & RDPMC_FIXED ? INTEL_FIXED_AT(n) : n);
}

/* Writes a counter. While it counts the driver must have read it just before. */
static void write_counter(struct intel_double *d, unsigned at, uint64_t v)
{
    bool fixed = at >= INTEL_COUNTERS;
    bool live = fixed ? fixed_counts(d, at - INTEL_COUNTERS) : counts(d, at);

    require(!live || d->accesses == d->read_at[at] + 1);
    if (live)
        d->set_back[at] += d->happened[at] - d->seen[at];
    else if (!host_cpu->hpm)
        d->happened[at] = d->seen[at] = d->at_read[at] = d->set_back[at] = 0;
    if (fixed)
        d->fixed[at - INTEL_COUNTERS] = v;
    else
        d->counter[at] = v;
}

static uint64_t global_bits(const struct intel_double *d)
{
    uint64_t bits = ones(d->kind.counters);

    for (unsigned f = 0; f < INTEL_FIXED; f++)
        bits |= has_fixed(&d->kind, f) ? BIT(32 + f) : 0;
    return bits | (has_metrics(&d->kind) ? BIT(48) : 0);
}

static uint64_t clear_bits(const struct intel_double *d)
{
    return global_bits(d) | BIT(62) | BIT(63) |
           (d->kind.version >= 4 ? BIT(58) | BIT(59) | BIT(60) : 0);
}

static uint64_t select_bits(const struct intel_kind *k)
{
    bool any = k->version >= 3 && !k->no_any_thread;

    return 0xffdfffff | (any ? BIT(21) : 0) | (k->rtm ? BIT(32) | BIT(33) : 0) |
           (k->capabilities >> 14 & 1 ? BIT(34) : 0);
}

static uint64_t fixed_control_bits(const struct intel_kind *k)
{
    uint64_t bits = 0;

    for (unsigned f = 0; f < INTEL_FIXED; f++)
        bits |= has_fixed(k, f)
                    ? (uint64_t)(k->version >= 3 && !k->no_any_thread ? 15 : 11) << 4 * f
                    : 0;
    return bits;
}

static uint64_t pebs_bits(const struct intel_kind *k)
{
    return 0xf | (k->version < 5 ? (uint64_t)0xf << 32 : 0xf0);
}

/* Registers that are plain words of state. */
static uint64_t *plain(struct intel_double *d, uint32_t msr, uint64_t *bits)
{
    const struct intel_kind *k = &d->kind;
    bool known = k->model && !k->hypervisor;

    *bits = 0;
    switch (msr) {
    case MSR_FIXED_CTR_CTRL:
        require(k->version >= 2);
        *bits = fixed_control_bits(k);
        return &d->fixed_control;
    case MSR_GLOBAL_CTRL:
        require(k->version >= 2);
        *bits = global_bits(d);
        return &d->global_control;
    case MSR_DEBUGCTL:
        *bits = 0xffff;
        return &d->debug;
    case MSR_DS_AREA:
        *bits = ~(uint64_t)0;
        return &d->ds_area;
    case MSR_PEBS_ENABLE:
        require(format_of(k));
        *bits = pebs_bits(k);
        return &d->pebs_enable;
    case MSR_PEBS_DATA_CFG:
        require(k->capabilities >> 14 & 1);
        *bits = 0xff00000f;
        return &d->data_config;
    case MSR_PEBS_LD_LAT:
        require(format_of(k));
        *bits = 0xffff;
        return &d->load_latency;
    case MSR_OFFCORE_RSP_0:
    case MSR_OFFCORE_RSP_1:
        require(known);
        *bits = ones(38);
        return &d->offcore[msr - MSR_OFFCORE_RSP_0];
    case MSR_TSX_FORCE_ABORT:
        require(k->force_abort);
        *bits = 1;
        return &d->force_abort;
    case MSR_PEBS_FRONTEND:
        require(known);
        *bits = ones(24);
        return &d->frontend;
    default:
        return NULL;
    }
}

uint64_t x86_read(uint32_t msr)
{
    struct intel_double *d = here();
    uint64_t bits, *word = plain(d, msr, &bits);

    access_one();
    if (word)
        return *word;
    if (msr == MSR_PERF_CAPABILITIES) {
        require(d->kind.capabilities);
        return d->kind.capabilities;
    }
    if (msr == MSR_MISC_ENABLE)
        return BIT(0) | BIT(7) | (d->kind.no_pebs ? BIT(12) : 0);
    require(msr == MSR_GLOBAL_STATUS && d->kind.version >= 2);
    return d->status;
}

static void write_select(struct intel_double *d, unsigned n, uint64_t v)
{
    const struct intel_kind *k = &d->kind;

    require(n < k->counters && !(v & ~select_bits(k)) && !(v & BIT(19)));
    require(!counts(d, n) || !(v >> 22 & 1) || v == d->select[n]);
    d->select[n] = v;
}

static uint64_t sign_extended(uint64_t v, unsigned width)
{
    return (uint64_t)(int64_t)(int32_t)(uint32_t)v & ones(width);
}

void x86_write(uint32_t msr, uint64_t v)
{
    struct intel_double *d = here();
    const struct intel_kind *k = &d->kind;
    uint64_t bits, *word = plain(d, msr, &bits);

    access_one();
    if (word) {
        require(!(v & ~bits));
        *word = v;
    } else if (msr - MSR_PMC0 < k->counters) {
        write_counter(d, msr - MSR_PMC0, sign_extended(v, k->width));
    } else if (msr - MSR_FIXED_CTR0 < INTEL_FIXED) {
        require(has_fixed(k, msr - MSR_FIXED_CTR0) && v <= ones(k->fixed_width));
        write_counter(d, INTEL_FIXED_AT(msr - MSR_FIXED_CTR0), v);
        d->metrics_may_at = msr == MSR_FIXED_CTR0 + 3 ? d->accesses + 1 : 0;
    } else if (msr == MSR_PERF_METRICS) {
        require(has_metrics(k) && !v && d->accesses == d->metrics_may_at);
        memset(d->slots, 0, sizeof d->slots);
    } else if (msr - MSR_PERFEVTSEL0 < k->counters) {
        write_select(d, msr - MSR_PERFEVTSEL0, v);
    } else {
        require(msr == MSR_GLOBAL_CLEAR && k->version >= 2 && !(v & ~clear_bits(d)));
        d->status &= ~v;
    }
}

/* ---- Set-up ---- */

/* Firmware may leave harmful values: everything on, interrupts too, status bits set, freezing at
 * interrupts. */
void intel_machine(const struct intel_kind *kind)
{
    kernel_reset();
    memset(intel_double, 0, sizeof intel_double);
    double_on_access = NULL;
    intel_on_record = NULL;
    for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
        struct intel_double *d = &intel_double[i];
        d->kind = *kind;
        for (unsigned c = 0; c < kind->counters; c++) {
            d->select[c] = 0x5300c0;
            d->counter[c] = ones(kind->width) - 5 * c;
        }
        d->debug = 0x1801;
        if (kind->version < 2)
            continue;
        d->status = clear_bits(d) | BIT(61);
        d->fixed_control = fixed_control_bits(kind) & 0xbbb;
        d->global_control = global_bits(d);
        d->pebs_enable = format_of(kind) ? 1 : 0;
    }
}

/* ---- For the checks of every driver ---------------------------------------------------------- */

static void again(void)
{
    struct intel_kind kind = intel_double[0].kind;

    intel_machine(&kind);
}

/* Without fixed counters, cycles and instructions are on the last programmable ones. */
static struct truth truth(unsigned cpu)
{
    const struct intel_double *d = &intel_double[cpu];
    const struct intel_kind *k = &d->kind;
    bool fixed_cycles = has_fixed(k, FIXED_CYCLES);
    unsigned cycles = fixed_cycles ? INTEL_FIXED_AT(FIXED_CYCLES) : k->counters - 1;

    return (struct truth){.happened = d->happened,
                          .at_read = d->at_read,
                          .set_back = d->set_back[cycles],
                          .instructions = has_fixed(k, FIXED_INSTRUCTIONS)
                                              ? INTEL_FIXED_AT(FIXED_INSTRUCTIONS)
                                              : k->counters - (fixed_cycles ? 1 : 2),
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
    const struct intel_double *d = here();
    unsigned counter = index - 1, n = counter & ~RDPMC_FIXED;

    require(index && d->user_open);
    require(counter & RDPMC_FIXED ? has_fixed(&d->kind, n) : n < d->kind.counters);
    return counter & RDPMC_FIXED ? d->fixed[n] : d->counter[n];
}

static bool user_open(unsigned cpu)
{
    return intel_double[cpu].user_open;
}

const struct pmu_double pmu_double = {.access_cycles = ACCESS_CYCLES,
                                      .cycles = CODE_CYCLES,
                                      .instructions = CODE_INSTRUCTIONS,
                                      .count = intel_count,
                                      .execute = intel_execute,
                                      .again = again,
                                      .truth = truth,
                                      .user_read = user_read,
                                      .user_open = user_open};
