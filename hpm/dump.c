/* See dump.h. The producer is the CPU itself, interrupts off. */
#include "hpm/dump.h"
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"

#define DUMPS 64 /* that wait for the consumer */
_Static_assert(ARCH_REGISTERS <= HPM_DUMP_REGISTERS, "room for all registers");

struct dump_ring {
    uint32_t stack_bytes, stride;
    uint64_t made;  /* dumps ever; the producer's */
    uint64_t taken; /* the consumer's: dumps that may be overwritten */
    uint8_t *memory;
};

static struct hpm_dump *place(const struct dump_ring *r, uint64_t number)
{
    return (struct hpm_dump *)(r->memory + (number - 1) % DUMPS * r->stride);
}

int dumps_make(struct dump_ring **out, uint32_t stack_bytes)
{
    struct dump_ring *r = kmalloc(sizeof(*r));

    if (!r)
        return -ENOMEM;
    *r = (struct dump_ring){.stack_bytes = stack_bytes,
                            .stride = (uint32_t)sizeof(struct hpm_dump) + stack_bytes};
    r->memory = area_alloc((uint64_t)DUMPS * r->stride);
    *out = r;
    return r->memory ? 0 : -ENOMEM;
}

void dumps_free(struct dump_ring *r)
{
    if (!r)
        return;
    area_free(r->memory);
    kfree(r);
}

uint64_t dump_here(struct dump_ring *r, const struct arch_frame *frame)
{
    uint64_t sp = arch_frame_sp(frame), word;

    if (r->made - __atomic_load_n(&r->taken, __ATOMIC_ACQUIRE) == DUMPS)
        return 0;
    struct hpm_dump *d = place(r, r->made + 1);
    arch_frame_registers(frame, d->registers);
    d->register_count = ARCH_REGISTERS;
    d->bytes = 0;
    while (d->bytes < r->stack_bytes && !(sp % sizeof(word)) &&
           !arch_peek_user64(sp + d->bytes, &word)) {
        d->stack[d->bytes / sizeof(word)] = word;
        d->bytes += (uint32_t)sizeof(word);
    }
    return ++r->made;
}

const struct hpm_dump *dump_at(const struct dump_ring *r, uint64_t number)
{
    return place(r, number);
}

void dump_taken(struct dump_ring *r, uint64_t number)
{
    __atomic_store_n(&r->taken, number, __ATOMIC_RELEASE);
}
