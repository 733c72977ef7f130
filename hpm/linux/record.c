/* See record.h. */
#include "hpm/linux/record.h"
#include <asm/mman.h>

/* The data source of what is no access. */
#define NO_SOURCE                                                                              \
    (PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(LOCK, NA) | \
     PERF_MEM_S(TLB, NA))

struct writer {
    uint8_t *at;
};

static void put(struct writer *w, const void *from, size_t n)
{
    memcpy(w->at, from, n);
    w->at += n;
}

static void put32(struct writer *w, uint32_t v)
{
    put(w, &v, sizeof v);
}

static void put64(struct writer *w, uint64_t v)
{
    put(w, &v, sizeof v);
}

static struct writer begin(void *out)
{
    return (struct writer){(uint8_t *)out + sizeof(struct perf_event_header)};
}

static size_t end(const struct writer *w, void *out, uint32_t type, unsigned misc)
{
    size_t n = (size_t)(w->at - (uint8_t *)out);
    struct perf_event_header h = {type, (uint16_t)misc, (uint16_t)n};

    memcpy(out, &h, sizeof h);
    return n;
}

/* Writes who and when behind a record that is no sample. */
static void put_trailer(struct writer *w, const struct perf_event_attr *a,
                        const struct perf_ident *i)
{
    if (!a->sample_id_all)
        return;
    if (a->sample_type & PERF_SAMPLE_TID) {
        put32(w, i->pid);
        put32(w, i->tid);
    }
    if (a->sample_type & PERF_SAMPLE_TIME)
        put64(w, i->time);
    if (a->sample_type & PERF_SAMPLE_ID)
        put64(w, i->id);
    if (a->sample_type & PERF_SAMPLE_STREAM_ID)
        put64(w, i->id);
    if (a->sample_type & PERF_SAMPLE_CPU)
        put64(w, i->cpu);
    if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
        put64(w, i->id);
}

/* Writes a text with its NUL, and zeros up to a whole word. */
static void put_text(struct writer *w, const char *text)
{
    size_t n = 0;

    while (text[n] && n < PERF_NAME_BYTES - 8)
        n++;
    put(w, text, n);
    for (size_t zeros = 8 - n % 8; zeros; zeros--)
        put(w, "", 1);
}

/* A chain has a mark in front of the addresses of each mode. */
static void put_chain(struct writer *w, const struct perf_event_attr *a, const struct perf_taken *s)
{
    uint64_t n = 0;
    uint8_t *count = w->at;
    bool user = false;

    put64(w, 0);
    for (unsigned i = 0; i <= MIN(s->chain_length, (unsigned)PERF_CHAIN_MAX); i++) {
        uint64_t at = i ? s->chain[i - 1] : s->ip;
        bool is_user = i ? at < s->user_end : s->user;
        if (is_user ? a->exclude_callchain_user : a->exclude_callchain_kernel)
            continue;
        if (!n || is_user != user) {
            put64(w, is_user ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL);
            n++;
        }
        user = is_user;
        put64(w, at);
        n++;
    }
    memcpy(count, &n, sizeof n);
}

static void put_registers(struct writer *w, const struct perf_event_attr *a,
                          const struct perf_taken *s)
{
    put64(w, s->registers ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
    for (uint64_t left = s->registers ? a->sample_regs_user : 0; left; left &= left - 1) {
        unsigned n = (unsigned)__builtin_ctzll(left);
        put64(w, n < s->register_count ? s->registers[n] : 0);
    }
}

/* A part of the stack: its size, its bytes, and how many of these are the stack's. */
static void put_stack(struct writer *w, const struct perf_event_attr *a, const struct perf_taken *s)
{
    uint64_t n = s->registers ? MIN(s->stack_bytes, a->sample_stack_user) : 0;

    n = MIN(n, (uint64_t)PERF_STACK_BYTES) & ~(uint64_t)7;
    put64(w, n);
    if (!n)
        return;
    put(w, s->stack, n);
    put64(w, n);
}

/* By level: the bits of the level and its number. perf counts what is flagged as remote as remote
 * memory, so remote caches are not. */
#define LEVEL(level, number) (PERF_MEM_S(LVL, level) | PERF_MEM_S(LVLNUM, number))
static const uint64_t levels[] = {
    [PERF_LEVEL_L1] = LEVEL(L1, L1),
    [PERF_LEVEL_L2] = LEVEL(L2, L2),
    [PERF_LEVEL_L3] = LEVEL(L3, L3),
    [PERF_LEVEL_OTHER_CACHE] = LEVEL(REM_CCE1, ANY_CACHE),
    [PERF_LEVEL_RAM] = LEVEL(LOC_RAM, RAM),
    [PERF_LEVEL_OTHER_RAM] = LEVEL(REM_RAM1, RAM) | PERF_MEM_S(REMOTE, REMOTE),
};

uint64_t perf_data_source(const struct perf_access *a)
{
    uint64_t source = a->store ? PERF_MEM_S(OP, STORE) : PERF_MEM_S(OP, LOAD);

    if (a->store && a->level != PERF_LEVEL_L1)
        source |= PERF_MEM_S(LVL, MISS) | LEVEL(L1, L1);
    else
        source |= PERF_MEM_S(LVL, HIT) | levels[a->level];
    if (a->level != PERF_LEVEL_OTHER_CACHE)
        source |= PERF_MEM_S(SNOOP, NONE);
    else
        source |= a->modified ? PERF_MEM_S(SNOOP, HITM) : PERF_MEM_S(SNOOP, HIT);
    source |= PERF_MEM_S(TLB, HIT) |
              (a->walked ? PERF_MEM_S(TLB, WK) : PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, L2));
    return source | (a->locked ? PERF_MEM_S(LOCK, LOCKED) : PERF_MEM_S(LOCK, NA));
}

size_t perf_put_sample(const struct perf_event_attr *a, const struct perf_ident *i,
                       const struct perf_taken *s, void *out)
{
    struct writer w = begin(out);

    if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
        put64(&w, i->id);
    if (a->sample_type & PERF_SAMPLE_IP)
        put64(&w, s->ip);
    if (a->sample_type & PERF_SAMPLE_TID) {
        put32(&w, i->pid);
        put32(&w, i->tid);
    }
    if (a->sample_type & PERF_SAMPLE_TIME)
        put64(&w, i->time);
    if (a->sample_type & PERF_SAMPLE_ADDR)
        put64(&w, s->access ? s->access->data : 0);
    if (a->sample_type & PERF_SAMPLE_ID)
        put64(&w, i->id);
    if (a->sample_type & PERF_SAMPLE_STREAM_ID)
        put64(&w, i->id);
    if (a->sample_type & PERF_SAMPLE_CPU)
        put64(&w, i->cpu);
    if (a->sample_type & PERF_SAMPLE_PERIOD)
        put64(&w, s->period);
    if (a->sample_type & PERF_SAMPLE_CALLCHAIN)
        put_chain(&w, a, s);
    if (a->sample_type & PERF_SAMPLE_REGS_USER)
        put_registers(&w, a, s);
    if (a->sample_type & PERF_SAMPLE_STACK_USER)
        put_stack(&w, a, s);
    /* Of a weight in parts the latency is the lowest word. */
    if (a->sample_type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
        put64(&w, s->access ? s->access->latency : 0);
    if (a->sample_type & PERF_SAMPLE_DATA_SRC)
        put64(&w, s->access ? perf_data_source(s->access) : NO_SOURCE);
    if (a->sample_type & PERF_SAMPLE_PHYS_ADDR)
        put64(&w, s->access ? s->access->physical : 0);
    return end(&w, out, PERF_RECORD_SAMPLE,
               s->user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
}

size_t perf_put_mapping(const struct perf_event_attr *a, const struct perf_ident *i,
                        const struct perf_mapped *m, void *out)
{
    struct writer w = begin(out);

    put32(&w, i->pid);
    put32(&w, i->tid);
    put64(&w, m->start);
    put64(&w, m->bytes);
    put64(&w, m->offset);
    if (a->mmap2) {
        put64(&w, 0); /* device */
        put64(&w, m->file);
        put64(&w, 0); /* generation */
        put32(&w, m->prot);
        put32(&w, m->flags);
    }
    put_text(&w, m->name);
    put_trailer(&w, a, i);
    return end(&w, out, a->mmap2 ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP,
               PERF_RECORD_MISC_USER | (m->prot & PROT_EXEC ? 0 : PERF_RECORD_MISC_MMAP_DATA));
}

size_t perf_put_name(const struct perf_event_attr *a, const struct perf_ident *i, const char *name,
                     bool at_exec, void *out)
{
    struct writer w = begin(out);

    put32(&w, i->pid);
    put32(&w, i->tid);
    put_text(&w, name);
    put_trailer(&w, a, i);
    return end(&w, out, PERF_RECORD_COMM, at_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
}

size_t perf_put_task(const struct perf_event_attr *a, const struct perf_ident *i, uint32_t ppid,
                     uint32_t ptid, bool ends, void *out)
{
    struct writer w = begin(out);

    put32(&w, i->pid);
    put32(&w, ppid);
    put32(&w, i->tid);
    put32(&w, ptid);
    put64(&w, i->time);
    put_trailer(&w, a, i);
    return end(&w, out, ends ? PERF_RECORD_EXIT : PERF_RECORD_FORK, 0);
}

size_t perf_put_lost(const struct perf_event_attr *a, const struct perf_ident *i, uint64_t lost,
                     void *out)
{
    struct writer w = begin(out);

    put64(&w, i->id);
    put64(&w, lost);
    put_trailer(&w, a, i);
    return end(&w, out, PERF_RECORD_LOST, 0);
}

size_t perf_put_throttle(const struct perf_event_attr *a, const struct perf_ident *i, bool on,
                         void *out)
{
    struct writer w = begin(out);

    put64(&w, i->time);
    put64(&w, i->id);
    put64(&w, i->id);
    put_trailer(&w, a, i);
    return end(&w, out, on ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, 0);
}
