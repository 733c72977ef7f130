/* See armv8_double.h. */
#include <stdlib.h>
#include "test/host/double/armv8_double.h"

#define BIT(n)            ((uint64_t)1 << (n))
#define CR_READABLE       (CR_E | CR_LC | CR_LP)
#define CR_WRITABLE       (CR_READABLE | CR_P | CR_C | BIT(3) | BIT(4) | BIT(5))
#define TYPE_NSK          BIT(29)
#define TYPE_NSU          BIT(28)
#define TYPE_FILTERS      (BIT(31) | BIT(30) | TYPE_NSK | TYPE_NSU | BIT(27) | BIT(26))
#define PMUVER_V3P1       4
#define INTERRUPTS_AT_ONE 8 /* more interrupts in a row are a storm */

struct armv8_double armv8_double[DOUBLE_CPUS];
static uint64_t cycles_over; /* of the current tick */

/* The only PMU in place of the instruction set's backends.c. */
const struct frequency_ops *const frequency_backends[] = {NULL};
const struct pmu_ops *const pmu_backends[] = {&pmu_armv8, NULL};

static struct armv8_double *here(void)
{
    return &armv8_double[host_cpu->index];
}

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Returns whether the filter lets the mode pass, in non-secure state of a CPU with EL3: EL1 counts
 * if P equals NSK, EL0 if U equals NSU. */
static bool passes(uint64_t filter, bool user)
{
    return user ? !(filter & TYPE_NOT_EL0) == !(filter & TYPE_NSU)
                : !(filter & TYPE_NOT_EL1) == !(filter & TYPE_NSK);
}

static void advance(struct armv8_double *d, unsigned n, uint64_t by, bool wide)
{
    uint64_t before = d->counter[n], after = before + by;

    d->happened[n] += by;
    d->counter[n] = wide ? after : (uint32_t)after;
    if (wide ? after < before : after >> 32)
        d->flags |= BIT(n);
}

void armv8_count(uint64_t code, uint64_t n, bool user)
{
    struct armv8_double *d = here();
    const struct armv8_control *c = &d->now;

    if (!(c->control & CR_E))
        return;
    for (unsigned i = 0; i < d->kind.counters; i++)
        if ((c->enabled >> i & 1) && (c->type[i] & 0xffff) == code && passes(c->type[i], user))
            advance(d, i, n, c->control & CR_LP);
    if (code == CODE_CYCLES && (c->enabled >> ARMV8_CYCLES & 1) && passes(c->filter, user) &&
        !d->kind.stuck)
        advance(d, ARMV8_CYCLES, n, c->control & CR_LC);
}

static void pass(uint64_t instructions, uint64_t cycles, bool user)
{
    armv8_count(CODE_INSTRUCTIONS, instructions, user);
    armv8_count(CODE_CYCLES, cycles, user);
    host_ticks += (cycles_over + cycles) / CYCLES_PER_TICK;
    cycles_over = (cycles_over + cycles) % CYCLES_PER_TICK;
}

void armv8_execute(uint64_t instructions, uint64_t cycles, bool user)
{
    armv8_sync(); /* code is reached by an exception return */
    pass(instructions, cycles, user);
    double_deliver();
}

static bool is_due(const struct armv8_double *d)
{
    return (d->now.control & CR_E) && (d->flags & d->now.interrupts);
}

void double_deliver(void)
{
    struct armv8_double *d = here();

    for (unsigned i = 0; double_interruptible() && (is_due(d) || spe_due()); i++) {
        require(i < INTERRUPTS_AT_ONE);
        host_irqs_on = false;
        armv8_sync();
        hpm_interrupt(NULL);
        armv8_sync();
        host_irqs_on = true;
    }
}

/* ---- Registers ------------------------------------------------------------------------------- */

void armv8_access(void)
{
    here()->accesses++;
    spe_operate_own();
    if (double_on_access)
        double_on_access();
    pass(1, hpm_state.ops ? ACCESS_CYCLES : PROBE_CYCLES, false);
}

static uint64_t there_are(const struct armv8_double *d)
{
    return (BIT(d->kind.counters) - 1) | SET_CYCLES;
}

static uint64_t has_lp(const struct armv8_double *d)
{
    return d->kind.version >= PMUVER_V3P5 && !d->kind.no_lp ? CR_LP : 0;
}

static uint64_t read_counter(struct armv8_double *d, unsigned at)
{
    d->read_at[at] = d->accesses;
    d->seen[at] = d->happened[at];
    d->at_read[at] = d->seen[at] - d->set_back[at];
    return d->counter[at];
}

static void write_counter(struct armv8_double *d, unsigned at, uint64_t v)
{
    d->set_back[at] += d->happened[at] - d->seen[at];
    d->counter[at] = v;
}

uint64_t armv8_read(enum armv8_reg reg)
{
    struct armv8_double *d = here();

    armv8_access();
    switch (reg) {
    case ARMV8_MIDR:
        return d->kind.midr;
    case ARMV8_DFR0:
        return 0x10305006 | (uint64_t)d->kind.version << 8 | (uint64_t)d->kind.spe.version << 32;
    case ARMV8_CTR:
        return 0x8444c004;
    case ARMV8_CR:
        return (d->written.control & CR_READABLE) | d->kind.counters << 11 | 0x41000000;
    case ARMV8_CEID0:
        return d->kind.ceid0;
    case ARMV8_CEID1:
        return d->kind.ceid1;
    case ARMV8_CNTENSET:
    case ARMV8_CNTENCLR:
        return d->written.enabled;
    case ARMV8_INTENSET:
    case ARMV8_INTENCLR:
        return d->written.interrupts;
    case ARMV8_OVSCLR:
        return d->flags;
    case ARMV8_CCNTR:
        return read_counter(d, ARMV8_CYCLES);
    case ARMV8_CCFILTR:
        return d->written.filter;
    case ARMV8_USERENR:
        return d->user;
    }
    abort();
}

struct event_identity pmu_identity(void)
{
    return event_identity_arm((uint32_t)armv8_read(ARMV8_MIDR));
}

static void write_control(struct armv8_double *d, uint64_t v)
{
    require(!(v & ~CR_WRITABLE) && (d->kind.version >= PMUVER_V3P5 || !(v & CR_LP)));
    if (v & ~d->written.control & CR_E) {
        memset(d->happened, 0, sizeof d->happened);
        memset(d->seen, 0, sizeof d->seen);
        memset(d->at_read, 0, sizeof d->at_read);
        memset(d->set_back, 0, sizeof d->set_back);
    }
    d->written.control = v & CR_READABLE & (~CR_LP | has_lp(d));
    if (v & CR_P)
        memset(d->counter, 0, ARMV8_COUNTERS * sizeof d->counter[0]);
    if (v & CR_C)
        d->counter[ARMV8_CYCLES] = 0;
}

void armv8_write(enum armv8_reg reg, uint64_t v)
{
    struct armv8_double *d = here();

    armv8_access();
    switch (reg) {
    case ARMV8_CR:
        write_control(d, v);
        return;
    case ARMV8_CNTENSET:
        d->written.enabled |= v & there_are(d);
        return;
    case ARMV8_CNTENCLR:
        d->written.enabled &= ~v;
        return;
    case ARMV8_INTENSET:
        d->written.interrupts |= v & there_are(d);
        return;
    case ARMV8_INTENCLR:
        d->written.interrupts &= ~v;
        return;
    case ARMV8_OVSCLR:
        d->flags &= ~v;
        return;
    case ARMV8_CCNTR:
        write_counter(d, ARMV8_CYCLES, v);
        return;
    case ARMV8_CCFILTR:
        require(!(v & ~TYPE_FILTERS));
        d->written.filter = v;
        return;
    case ARMV8_USERENR:
        require(!(v & ~(USERENR_CR | USERENR_ER)));
        d->user = v;
        return;
    case ARMV8_MIDR:
    case ARMV8_DFR0:
    case ARMV8_CTR:
    case ARMV8_CEID0:
    case ARMV8_CEID1:
        break;
    }
    abort();
}

uint64_t armv8_read_counter(unsigned n)
{
    struct armv8_double *d = here();

    require(n < d->kind.counters && n < ARMV8_EVENT_COUNTERS);
    armv8_access();
    return read_counter(d, n);
}

static bool counts(const struct armv8_control *c, unsigned n)
{
    return (c->control & CR_E) && (c->enabled >> n & 1);
}

void armv8_write_counter(unsigned n, uint64_t v)
{
    struct armv8_double *d = here();

    require(n < d->kind.counters && n < ARMV8_EVENT_COUNTERS && (has_lp(d) || v <= UINT32_MAX));
    armv8_access();
    /* the driver may read its flag in between */
    require(!counts(&d->now, n) || d->accesses <= d->read_at[n] + 2);
    write_counter(d, n, v);
}

void armv8_write_type(unsigned n, uint64_t v)
{
    struct armv8_double *d = here();
    uint64_t events = d->kind.version >= PMUVER_V3P1 ? 0xffff : 0x3ff;

    require(n < d->kind.counters && n < ARMV8_EVENT_COUNTERS && !counts(&d->now, n));
    require(!(v & ~(TYPE_FILTERS | events)));
    armv8_access();
    d->written.type[n] = v;
}

void armv8_sync(void)
{
    here()->now = here()->written;
    spe_context();
}

/* ---- Set-up ---- */

/* Registers with unknown reset values get harmful ones: interrupts on, flags set, junk in
 * counters. */
void armv8_machine(const struct armv8_kind *kind)
{
    kernel_reset();
    memset(armv8_double, 0, sizeof armv8_double);
    double_on_access = NULL;
    for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
        struct armv8_double *d = &armv8_double[i];
        d->kind = *kind;
        d->flags = d->written.interrupts = d->written.enabled = there_are(d);
        d->written.filter = TYPE_FILTERS;
        memset(d->written.type, 0x3f, sizeof d->written.type);
        memset(d->counter, 0x7e, sizeof d->counter);
        for (unsigned c = 0; c < ARMV8_COUNTERS; c++)
            d->counter[c] = (uint32_t)d->counter[c];
        d->now = d->written;
        spe_machine(i, &kind->spe);
    }
}

/* ---- For the checks of every driver ---------------------------------------------------------- */

static void again(void)
{
    struct armv8_kind kind = armv8_double[0].kind;

    armv8_machine(&kind);
}

static struct truth truth(unsigned cpu)
{
    const struct armv8_double *d = &armv8_double[cpu];

    return (struct truth){.happened = d->happened,
                          .at_read = d->at_read,
                          .set_back = d->set_back[ARMV8_CYCLES],
                          .instructions = hpm_state.pmu.counters,
                          .cycles = ARMV8_CYCLES,
                          .accesses = d->accesses};
}

/* ---- User mode ------------------------------------------------------------------------------- */

static uint64_t user_read(uint32_t index)
{
    const struct armv8_double *d = here();

    if (index == USER_CYCLES) {
        require(d->user & USERENR_CR);
        return d->counter[ARMV8_CYCLES];
    }
    require(index && index <= d->kind.counters && (d->user & USERENR_ER));
    return d->counter[index - 1];
}

static bool user_open(unsigned cpu)
{
    return armv8_double[cpu].user & USERENR_ER;
}

const struct pmu_double pmu_double = {.access_cycles = ACCESS_CYCLES,
                                      .cycles = CODE_CYCLES,
                                      .instructions = CODE_INSTRUCTIONS,
                                      .count = armv8_count,
                                      .execute = armv8_execute,
                                      .again = again,
                                      .truth = truth,
                                      .user_read = user_read,
                                      .user_open = user_open};
