/*
 * The page logs of the CPUs, and the threads that made the accesses in them.
 *
 * Invariants:
 * - A CPU's log, except the consumer's side, and its unit are accessed by that CPU only, interrupts
 *   off.
 * - When a thread leaves a CPU, its batch has ended before any other CPU can run the thread.
 * - While a thread with a space runs, the unit tracks that space if it is watched, else none.
 */
#include "hpm/path/path.h"
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

/* 64 KB for the ring: its header, and the largest power of two of entries that fits. */
#define LOG_ORDER  4
#define LOG_SIZE   4096
#define DRAIN_ROOM (2 * 128) /* more than the largest unit's log holds */
#define NOTES_MAX  32        /* notes of software in a batch */
#define CALL_NS    (10 * NS_PER_S)

/* The page-access trackers this kernel knows, in probe order. */
static const struct path_ops *const backends[] = {&path_model, NULL};

_Static_assert(sizeof(struct page_ring) + LOG_SIZE * sizeof(uint64_t) <= PAGE_SIZE << LOG_ORDER,
               "a ring's memory");

struct path_cpu {
    uint32_t tid; /* of the running thread */
    /* Its space; and the space that the unit tracks: of this thread or the last one, or 0. */
    uint16_t space, tracked;
    bool started; /* its unit runs */
    /* Atomic, written by the CPU: the unit waits for room to drain into, and does not interrupt. */
    bool stuck;
    bool stale;       /* the unit held entries of another thread when this one's batch began */
    uint8_t shift;    /* of the unit's sampling */
    uint16_t foreign; /* space of the open batch if it is not the running thread's */
    uint64_t interrupts, ticks;
    uint64_t ran, since; /* ticks in which threads of tracked spaces ran, up to `since` */
    struct page_log log;
};

static struct {
    const struct path_ops *ops; /* NULL: there is no hardware */
    bool probed, on;            /* of the hardware */
    struct path_caps caps;
    unsigned shift;                     /* atomic: sampling that the units are to follow */
    uint64_t watched[PAGE_SPACES / 64]; /* atomic words */
    struct page_log *log[CPU_MAX];
    unsigned count;
} path;

static struct path_cpu *path_here(void)
{
    return this_cpu()->pages;
}

static bool is_watched(uint16_t space)
{
    return space && __atomic_load_n(&path.watched[space / 64], __ATOMIC_RELAXED) >> space % 64 & 1;
}

/* ---- On the CPU concerned, interrupts off ---------------------------------------------------- */

/* Ends the thread's batch. A batch that may contain entries of another thread, because there was no
 * room to drain them, is lost. */
static void end_batch(struct path_cpu *c, uint64_t now)
{
    if (c->tracked) {
        bool stuck = !page_log_has_room(&c->log, DRAIN_ROOM);
        if (stuck != c->stuck)
            __atomic_store_n(&c->stuck, stuck, __ATOMIC_SEQ_CST);
        if (!stuck)
            path.ops->drain();
    }
    if (c->stale)
        page_log_drop_batch(&c->log);
    c->stale &= c->stuck;
    page_log_end_batch(&c->log, c->foreign ? 0 : c->tid, c->foreign ? c->foreign : c->space, now);
    c->foreign = 0;
    if (c->tracked && c->space)
        c->ran += now - c->since;
    c->since = now;
}

static void track_running(struct path_cpu *c)
{
    uint16_t wanted =
        /* the kernel accesses no space but the running thread's */
        c->space ? c->space : c->tracked;

    if (!c->started || !is_watched(wanted))
        wanted = 0;
    if (c->started && c->shift != __atomic_load_n(&path.shift, __ATOMIC_RELAXED)) {
        c->shift = (uint8_t)path.shift;
        path.ops->sample(c->shift);
    }
    if (wanted == c->tracked)
        return;
    path.ops->enter(wanted);
    c->tracked = wanted;
}

void path_switch(uint32_t tid, uint16_t space)
{
    struct path_cpu *c = path_here();

    if (!c || !(c->space | c->foreign | space))
        return;
    uint64_t now = arch_ticks_near();
    if (c->space || c->foreign)
        end_batch(c, now);
    c->stale = c->stuck;
    c->tid = tid;
    c->space = space;
    c->since = now;
    if (space)
        track_running(c);
    c->ticks += arch_ticks_near() - now;
}

void path_interrupt(void)
{
    struct path_cpu *c = path_here();
    uint64_t now = arch_ticks_near();

    if (!c)
        return;
    c->interrupts++;
    end_batch(c, now);
    track_running(c);
    c->ticks += arch_ticks_near() - now;
}

void path_flush(void)
{
    bool irq = arch_irq_save();
    struct path_cpu *c = path_here();

    if (c && (c->space || c->foreign))
        end_batch(c, arch_ticks_near());
    arch_irq_restore(irq);
}

bool path_note(uint16_t space, vaddr_t va, bool write)
{
    bool irq = arch_irq_save();
    struct path_cpu *c = path_here();
    bool room = c && space && page_log_has_room(&c->log, DRAIN_ROOM);

    if (room) {
        uint16_t foreign = space == c->space ? 0 : space;
        if (foreign != c->foreign || c->log.ring->head - c->log.begun >= NOTES_MAX)
            end_batch(c, arch_ticks_near());
        c->foreign = foreign;
        page_log_append(&c->log, (uint64_t)space << PAGE_ENTRY_SPACE_SHIFT | va >> PAGE_SHIFT |
                                     (write ? PAGE_ENTRY_WRITE : 0));
    } else if (c) {
        c->log.lost++;
    }
    arch_irq_restore(irq);
    return room;
}

uint64_t path_waiting(void)
{
    const struct path_cpu *c = path_here();

    return c ? page_log_waiting(&c->log) : 0;
}

/* ---- Everywhere ------------------------------------------------------------------------------ */

static void on_cpu(struct cpu *cpu, void (*fn)(void *), void *arg)
{
    int err;
    bool irq = arch_irq_save();
    bool here = cpu == this_cpu();

    if (here)
        fn(arg);
    arch_irq_restore(irq);
    while (!here && (err = call_cpu(cpu, fn, arg, CALL_NS))) {
        if (err != -EBUSY)
            panic("path: CPU %u does not answer", cpu->index);
        arch_cpu_relax();
    }
}

static void on_every_cpu(void (*fn)(void *), void *arg)
{
    cpu_for_each (cpu)
        on_cpu(cpu, fn, arg);
}

static void follow_watched(UNUSED void *unused)
{
    struct path_cpu *c = path_here();

    if (!c->started)
        return;
    end_batch(c, arch_ticks_near());
    track_running(c);
}

void path_resume(void)
{
    cpu_for_each (cpu)
        if (cpu->pages && __atomic_load_n(&cpu->pages->stuck, __ATOMIC_SEQ_CST))
            on_cpu(cpu, follow_watched, NULL);
}

void path_watch(uint16_t space, bool on)
{
    uint64_t bit = (uint64_t)1 << space % 64, *word = &path.watched[space / 64];

    ASSERT(space && space < PAGE_SPACES);
    uint64_t before = on ? __atomic_fetch_or(word, bit, __ATOMIC_RELAXED)
                         : __atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
    if (path.on && !(before & bit) == on)
        on_every_cpu(follow_watched, NULL);
}

unsigned path_sample_shift(void)
{
    return __atomic_load_n(&path.shift, __ATOMIC_RELAXED);
}

unsigned path_sample_max(void)
{
    return path.caps.sample_shift_max;
}

bool path_sampled(uint64_t page, unsigned shift)
{
    return !((page * 2654435769u & UINT32_MAX) << shift >> 32);
}

/* ---- Set-up ---- */

static struct path_cpu *make_log_cpu(const struct cpu *cpu)
{
    struct path_cpu *c = kmalloc(sizeof(*c));
    paddr_t memory;

    if (!c || frame_alloc(LOG_ORDER, &memory)) {
        kfree(c);
        return NULL;
    }
    page_log_init(&c->log, (uint16_t)cpu->index, phys_to_virt(memory), LOG_SIZE);
    path.log[cpu->index] = &c->log;
    return c;
}

int path_logs_init(void)
{
    cpu_for_each (cpu) {
        struct path_cpu *c = make_log_cpu(cpu);
        if (!c)
            return -ENOMEM;
        path.count = cpu->index + 1;
        __atomic_store_n(&cpu->pages, c, __ATOMIC_RELEASE);
    }
    return 0;
}

const struct path_ops *path_hardware(struct path_caps *caps)
{
    for (const struct path_ops *const *ops = backends; !path.probed && !path.ops && *ops; ops++)
        if (!(*ops)->probe(&path.caps))
            path.ops = *ops;
    path.probed = true;
    *caps = path.caps;
    return path.ops;
}

struct start {
    const struct path_config *config;
    bool silent; /* a unit cannot interrupt */
    int err;
};

static void start_here(void *arg)
{
    struct path_cpu *c = path_here();
    struct start *s = arg;
    bool interrupts;
    int err = path.ops->cpu_init(this_cpu(), c->log.ring, c->log.size, &interrupts);

    if (err) {
        s->err = err;
        return;
    }
    s->silent |= !interrupts;
    path.ops->start(s->config);
    c->started = true;
    c->shift = 0;
    track_running(c);
}

static void stop_here(UNUSED void *unused)
{
    struct path_cpu *c = path_here();

    if (!c->started)
        return;
    end_batch(c, arch_ticks_near());
    c->log.lost += path.ops->stop();
    c->started = c->stuck = c->stale = false;
    c->tracked = 0;
}

void path_sample(unsigned shift)
{
    unsigned now = MIN(shift, path.caps.sample_shift_max),
             before = __atomic_exchange_n(&path.shift, now, __ATOMIC_RELAXED);

    /* A CPU that logs few pages may neither be interrupted nor switch for ever. */
    if (path.on && now < before)
        on_every_cpu(follow_watched, NULL);
}

int path_hardware_start(const struct path_config *c)
{
    struct start s = {.config = c};

    ASSERT(path.ops && path.count == cpu_count() && DRAIN_ROOM >= path.caps.log_entries);
    on_every_cpu(start_here, &s);
    path.on = true;
    if (s.err)
        path_hardware_stop();
    else if (s.silent)
        kprintf("path: event=no-interrupts: the page-access trackers cannot interrupt here: logs "
                "may overflow between "
                "switches\n");
    return s.err;
}

void path_hardware_stop(void)
{
    path.on = false;
    on_every_cpu(stop_here, NULL);
}

struct page_log *const *path_logs(unsigned *count)
{
    *count = path.count;
    return path.log;
}

void path_account(struct path_account *out)
{
    *out = (struct path_account){0};
    for (unsigned i = 0; i < path.count; i++) {
        const struct path_cpu *c = cpus[i].pages;
        out->entries += __atomic_load_n(&c->log.ring->head, __ATOMIC_RELAXED);
        out->lost += __atomic_load_n(&c->log.lost, __ATOMIC_RELAXED) +
                     __atomic_load_n(&c->log.ring->lost, __ATOMIC_RELAXED);
        out->interrupts += __atomic_load_n(&c->interrupts, __ATOMIC_RELAXED);
        out->ticks += __atomic_load_n(&c->ticks, __ATOMIC_RELAXED);
        out->ran += __atomic_load_n(&c->ran, __ATOMIC_RELAXED);
    }
}
