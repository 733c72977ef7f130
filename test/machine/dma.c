/* The guest's memory, as the machine's own devices access it. */
#include "test/machine/engine.h"

bool dma_in_memory(paddr_t at, uint64_t bytes)
{
    for (paddr_t p = ALIGN_DOWN(at, PAGE_SIZE); p < at + bytes; p += PAGE_SIZE)
        if (qemu.is_io(p))
            return false;
    return at + bytes > at;
}

void dma_read(paddr_t at, void *to, uint64_t bytes)
{
    qemu.copy(at, to, bytes, false);
}

void dma_write(paddr_t at, const void *from, uint64_t bytes)
{
    qemu.copy(at, (void *)from, bytes, true);
    cache_discard(machine.cache, at, bytes);
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++)
        forget_hits(v);
}
