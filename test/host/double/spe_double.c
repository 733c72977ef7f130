/* See spe_double.h. */
#include <stdlib.h>
#include <string.h>
#include "hpm/pmu/arm/spe_packets.h"
#include "test/host/double/armv8_double.h"
#include "test/host/double/random.h"

#define BIT(n)         ((uint64_t)1 << (n))
#define CR_WRITABLE    (CR_E0SPE | CR_E1SPE | BIT(3) | CR_PA | CR_TS)
#define CR_ON          (CR_E0SPE | CR_E1SPE)
#define FCR_WRITABLE   (FCR_FE | FCR_FT | BIT(2) | BIT(16) | FCR_LD | FCR_ST)
#define EVFR_V1P0      (BIT(1) | BIT(3) | BIT(5) | BIT(7) | (uint64_t)0xffff0000ff00f000)
#define EVFR_V1P4      (BIT(8) | BIT(9) | BIT(10))
#define VERSION_V1P4   5
#define RECORD_MAX(k)  ((size_t)1 << (k)->max)
#define RECORD_UNIT(k) ((size_t)1 << (k)->align)

struct spe_double spe_double[DOUBLE_CPUS];

static struct spe_double *here(void)
{
    return &spe_double[host_cpu->index];
}

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* ---- Records --------------------------------------------------------------------------------- */

static size_t put(uint8_t *to, uint8_t header, uint64_t payload, unsigned n)
{
    to[0] = header;
    for (unsigned i = 0; i < n; i++)
        to[1 + i] = (uint8_t)(payload >> 8 * i);
    return 1 + n;
}

/* Writes the record of an operation. Returns its length. */
static size_t format(const struct spe_double *d, const struct spe_op *op, uint64_t time,
                     uint8_t *to)
{
    uint64_t place = BIT(63) | (uint64_t)op->level << 61;
    bool access = op->load || op->store;
    size_t n = 0;

    if (op->bare) {
        memset(to, 0, RECORD_MAX(&d->kind));
        to[0] = 0x01;
        return MAX(RECORD_UNIT(&d->kind), (size_t)1);
    }
    n += put(to + n, access ? 0x49 : 0x4a, op->store, 1);
    if (access && !op->placeless)
        n += put(to + n, 0xb2, (op->data & (BIT(56) - 1)) | BIT(57), 8); /* with a tag */
    if (access && (d->now.cr & CR_PA))
        n += put(to + n, 0xb3, op->phys | BIT(63), 8);
    if (op->coded)
        n += put(to + n, 0x43, op->code, 1);
    if (op->broken)
        to[n++] = op->broken;
    n += put(to + n, 0x52, op->events, 2);
    n += put(to + n, 0xb0, (op->pc & (BIT(56) - 1)) | place, 8);
    n += put(to + n, 0x98, op->latency, 2);
    n += put(to + n, 0x99, op->latency / 2, 2);
    if (op->translation)
        n += put(to + n, 0x9a, op->translation, 2);
    n += d->now.cr & CR_TS ? put(to + n, 0x71, time, 8) : put(to + n, 0x01, 0, 0);
    while (n % RECORD_UNIT(&d->kind))
        to[n++] = 0;
    require(n <= RECORD_MAX(&d->kind));
    return n;
}

static void stop(struct spe_double *d, uint64_t status)
{
    d->sr |= status | SR_S;
    d->stops++;
}

static void store(struct spe_double *d, const struct spe_op *op, uint64_t time)
{
    uint64_t limit = d->now.limitr & ~(uint64_t)(LIMITR_UNIT - 1);
    uint8_t record[SPE_RECORD_MAX];
    size_t n = format(d, op, time, record), room = limit - d->ptr;

    if (d->sr & SR_S)
        return; /* it was on its way when an earlier one stopped the buffer, and is lost with it */
    if (d->fault) {
        stop(d, d->fault);
        d->fault = 0;
        return;
    }
    memcpy((void *)(uintptr_t)d->ptr, record, MIN(n, room));
    d->ptr += MIN(n, room);
    if (n > room) {
        stop(d, SR_DL | MSS_FULL);
        return;
    }
    d->recorded++;
    room -= n;
    if (room < (d->kind.cuts ? 1 : RECORD_MAX(&d->kind)))
        stop(d, MSS_FULL);
}

static void let_go(struct spe_double *d)
{
    for (unsigned i = 0; i < d->held; i++)
        store(d, &d->held_op[i], d->held_time[i]);
    d->held = 0;
}

/* ---- Sampling -------------------------------------------------------------------------------- */

static bool samples(const struct spe_double *d, unsigned level)
{
    return (d->now.cr & (level ? CR_E1SPE : CR_E0SPE)) && (d->now.limitr & LIMITR_E) &&
           !(d->sr & SR_S);
}

static void load(struct spe_double *d)
{
    bool jitter = d->now.irr & IRR_RND;

    require(d->now.irr & IRR_INTERVAL);
    d->count = d->now.irr & IRR_INTERVAL;
    if (jitter && !(d->kind.features & IDR_ERND))
        d->count += test_random(&d->random) % 256;
    d->interval = d->count;
}

static bool passes(const struct spe_double *d, const struct spe_op *op)
{
    const struct spe_control *c = &d->now;
    uint64_t wanted = c->evfr & (EVFR_V1P0 | (d->kind.version >= VERSION_V1P4 ? EVFR_V1P4 : 0));

    if ((c->fcr & FCR_FE) && (op->events & wanted) != wanted)
        return false;
    return !(c->fcr & FCR_FT) || (op->load && (c->fcr & FCR_LD)) ||
           (op->store && (c->fcr & FCR_ST));
}

static void tag(struct spe_double *d, const struct spe_op *op)
{
    if (d->collide) {
        d->collide--;
        d->collisions += !(d->sr & SR_COLL);
        d->sr |= SR_COLL;
        return;
    }
    d->taken++;
    if (!passes(d, op)) {
        d->left_out++;
        return;
    }
    if (d->held == SPE_HELD)
        let_go(d);
    if (d->sr & SR_S)
        return;
    d->held_time[d->held] = host_ticks;
    d->held_op[d->held++] = *op;
}

/* Executes n operations. The interval goes on while a random delay runs out, if the two are
 * separate. */
static void step(struct spe_double *d, uint64_t n, const struct spe_op *op)
{
    d->operations += n;
    d->count -= n;
    if (d->delay) {
        d->delay -= n;
        if (!d->delay)
            tag(d, op);
    }
    if (d->count)
        return;
    if ((d->now.irr & IRR_RND) && (d->kind.features & IDR_ERND))
        d->delay = test_random(&d->random) % 256;
    if (!d->delay)
        tag(d, op);
    load(d);
}

void spe_operate(uint64_t n, const struct spe_op *op)
{
    struct spe_double *d = here();

    armv8_sync(); /* code is reached by an exception return */
    while (n && samples(d, op->level)) {
        if (!d->count)
            load(d);
        uint64_t now = MIN(n, d->delay ? MIN(d->count, d->delay) : d->count);
        step(d, now, op);
        n -= now;
        double_deliver();
    }
    double_deliver();
}

void spe_operate_own(void)
{
    static const struct spe_op own = {.load = true,
                                      .level = 1,
                                      .coded = true,
                                      .code = 0xd,
                                      .events =
                                          SPE_EVENT_RETIRED | SPE_EVENT_L1_MISS | SPE_EVENT_REMOTE,
                                      .pc = 0xffffffff80001000,
                                      .data = SPE_OWN_DATA};
    struct spe_double *d = here();

    if (!samples(d, own.level))
        return;
    if (!d->count)
        load(d);
    step(d, 1, &own);
}

bool spe_due(void)
{
    const struct spe_double *d = here();

    return d->kind.version && !d->kind.foreign && (d->sr & SR_S);
}

/* ---- Registers ------------------------------------------------------------------------------- */

static struct spe_double *ours(void)
{
    struct spe_double *d = here();

    require(d->kind.version && !d->kind.foreign);
    return d;
}

uint64_t spe_read(enum spe_reg reg)
{
    const struct spe_kind *k = &here()->kind;

    armv8_access();
    switch (reg) {
    case SPE_BIDR:
        require(k->version);
        return k->align | (k->foreign ? BIDR_P : 0);
    case SPE_IDR:
        ours();
        return k->features | k->interval << 8 | k->max << 12 | 2 << 16 | (uint64_t)k->format << 20;
    case SPE_PTR:
        return ours()->ptr_seen;
    case SPE_SR:
        return ours()->sr_seen;
    default:
        abort();
    }
}

static void write_cr(struct spe_double *d, uint64_t v)
{
    const struct spe_control *now = &d->now, *written = &d->written;

    require(!(v & ~CR_WRITABLE));
    if (v & CR_ON) /* everything else must be in effect by then */
        require(now->irr == written->irr && now->fcr == written->fcr &&
                now->evfr == written->evfr && now->latfr == written->latfr &&
                now->limitr == written->limitr);
    d->written.cr = v;
}

static void write_limitr(struct spe_double *d, uint64_t v)
{
    require(!(v & (LIMITR_UNIT - 1) & ~LIMITR_E) && !(d->now.cr & CR_ON));
    if (v & LIMITR_E)
        require(d->ptr % RECORD_UNIT(&d->kind) == 0 &&
                d->ptr + RECORD_MAX(&d->kind) <= (v & ~LIMITR_E));
    else
        require(!d->held); /* it is undefined where they would go */
    d->written.limitr = v;
}

static bool is_still(const struct spe_double *d)
{
    return !(d->now.cr & CR_ON);
}

void spe_write(enum spe_reg reg, uint64_t v)
{
    struct spe_double *d = ours();

    armv8_access();
    require(reg == SPE_CR || is_still(d));
    switch (reg) {
    case SPE_CR:
        write_cr(d, v);
        return;
    case SPE_ICR:
        require(!v);
        d->count = d->delay = 0;
        return;
    case SPE_IRR:
        require(!(v & ~(IRR_INTERVAL | IRR_RND)) && (v & IRR_INTERVAL));
        d->written.irr = v;
        return;
    case SPE_FCR:
        require(!(v & ~FCR_WRITABLE));
        require(!(v & FCR_FE) || (d->kind.features & IDR_FE));
        require(!(v & FCR_FT) || ((d->kind.features & IDR_FT) && (v & (FCR_LD | FCR_ST))));
        d->written.fcr = v;
        return;
    case SPE_EVFR:
        require(v & EVFR_V1P0);
        d->written.evfr = v;
        return;
    case SPE_LATFR:
        d->written.latfr = v;
        return;
    case SPE_LIMITR:
        write_limitr(d, v);
        return;
    case SPE_PTR:
        require(!(d->now.limitr & LIMITR_E) && !d->held);
        d->ptr = d->ptr_seen = v;
        return;
    case SPE_SR:
        require(!(d->now.limitr & LIMITR_E) && !d->held);
        d->sr = d->sr_seen = v;
        return;
    default:
        abort();
    }
}

void spe_context(void)
{
    struct spe_double *d = here();

    d->now = d->written;
    d->ptr_seen = d->ptr;
    d->sr_seen = d->sr;
}

void spe_sync(void)
{
    armv8_sync();
}

void spe_drain_sync(void)
{
    let_go(ours());
}

/* ---- Set-up ---- */

/* What is unknown after a reset, and need not be set by start code, is junk. */
void spe_machine(unsigned cpu, const struct spe_kind *kind)
{
    struct spe_double *d = &spe_double[cpu];

    *d = (struct spe_double){.kind = *kind, .random = cpu + 1, .ptr = 0x7777, .count = 99};
    d->written =
        (struct spe_control){.irr = 0x100, .fcr = FCR_WRITABLE, .evfr = BIT(5), .latfr = 9};
    d->ptr_seen = d->ptr;
    d->now = d->written;
}
