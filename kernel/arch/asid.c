/* See asid.h. */
#include "kernel/arch/asid.h"

#define GENERATION ((uint64_t)1 << ASID_BITS_MAX)

static bool is_taken(const struct asids *a, uint32_t asid)
{
    return a->taken[asid / 64] >> asid % 64 & 1;
}

static void take_asid(struct asids *a, uint32_t asid)
{
    a->taken[asid / 64] |= (uint64_t)1 << asid % 64;
}

void asid_init(struct asids *a, uint32_t count, unsigned cpus)
{
    ASSERT(count >= ASID_COUNT_MIN && count <= ASID_COUNT_MAX && cpus <= ASID_CPUS_MAX);
    memset(a, 0, sizeof(*a));
    a->count = count;
    a->cpus = cpus;
    a->generation = GENERATION;
    a->next = 1;
    take_asid(a, 0);
}

/* Begins a generation. A CPU that has used no other space since the previous one has its tag in
 * `reserved` only. */
static void begin_generation(struct asids *a)
{
    __atomic_store_n(&a->generation, a->generation + GENERATION, __ATOMIC_SEQ_CST);
    memset(a->taken, 0, sizeof(a->taken));
    take_asid(a, 0);
    for (struct asid_cpu *c = a->cpu; c < a->cpu + a->cpus; c++) {
        uint64_t used = __atomic_exchange_n(&c->active, 0, __ATOMIC_SEQ_CST);
        if (used)
            c->reserved = used;
        take_asid(a, asid_of(c->reserved));
        c->stale = true;
    }
    a->next = 1;
}

/* Keeps the identifier of a space that CPUs used when this generation began, since they still use
 * it. Returns whether there is such a CPU. */
static bool keep_asid(struct asids *a, uint64_t tag, uint64_t kept)
{
    bool used = false;

    for (struct asid_cpu *c = a->cpu; tag && c < a->cpu + a->cpus; c++) {
        if (c->reserved != tag)
            continue;
        c->reserved = kept;
        used = true;
    }
    return used;
}

static uint32_t find_free(struct asids *a)
{
    while (a->next < a->count && is_taken(a, a->next))
        a->next++;
    return a->next;
}

static uint64_t new_tag(struct asids *a, uint64_t tag)
{
    uint64_t kept = a->generation | asid_of(tag);

    if (keep_asid(a, tag, kept))
        return kept;
    if (find_free(a) == a->count) {
        begin_generation(a);
        find_free(a);
        ASSERT(a->next < a->count);
    }
    take_asid(a, a->next);
    return a->generation | a->next;
}

bool asid_assign(struct asids *a, unsigned cpu, uint64_t *tag)
{
    struct asid_cpu *c = &a->cpu[cpu];

    if (!asid_current(a, *tag))
        __atomic_store_n(tag, new_tag(a, *tag), __ATOMIC_RELAXED);
    bool stale = c->stale;
    c->stale = false;
    __atomic_store_n(&c->active, *tag, __ATOMIC_RELEASE);
    return stale;
}

const char *asid_check(const struct asids *a)
{
    if (!is_taken(a, 0))
        return "identifier 0 can be given away";
    for (uint32_t asid = 1; asid < a->next && asid < a->count; asid++) {
        if (!is_taken(a, asid))
            return "an identifier that is passed over is free";
    }
    for (unsigned i = 0; i < a->cpus; i++) {
        const struct asid_cpu *c = &a->cpu[i];
        if (!is_taken(a, asid_of(c->active)) || !is_taken(a, asid_of(c->reserved)))
            return "an identifier that a CPU uses is free";
        if (c->active && !asid_current(a, c->active))
            return "a CPU is said to use a tag of an earlier generation";
    }
    return NULL;
}
