/* See path_kernel.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "test/host/double/path_kernel.h"
#include "test/host/double/said.h"
#include "kernel/core/call.h"
#include "kernel/mem/mem.h"

enum { FRAMES = 256, HEAP = 4096 };

struct cpu cpus[CPU_MAX], *host_cpu = cpus;
bool host_irqs_on = true, path_calls_dead;
uint64_t host_ticks = 1;
unsigned path_calls_busy, path_frames, path_frames_max = FRAMES, path_heap;
static void *frame[FRAMES], *heap[HEAP];

void host_interrupt(void)
{
    path_double_deliver();
}

unsigned cpu_count(void)
{
    return PATH_DOUBLE_CPUS;
}

int call_cpu(struct cpu *cpu, void (*fn)(void *arg), void *arg, uint64_t wait_ns)
{
    struct cpu *caller = host_cpu;
    bool irqs_on = host_irqs_on;

    (void)wait_ns;
    assert(!host_cpu->spin_depth && irqs_on);
    if (path_calls_dead)
        return -ETIMEDOUT;
    if (path_calls_busy && path_calls_busy--)
        return -EBUSY;
    host_cpu = cpu;
    host_irqs_on = false;
    fn(arg);
    host_irqs_on = true;
    host_interrupt();
    host_cpu = caller;
    return 0;
}

int frame_alloc(unsigned order, paddr_t *out)
{
    if (path_frames >= path_frames_max)
        return -ENOMEM;
    void *p = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);
    memset(p, 0xa5, PAGE_SIZE << order);
    frame[path_frames++] = p;
    *out = virt_to_phys(p);
    return 0;
}

void *kmalloc(size_t size)
{
    assert(path_heap < HEAP);
    /* The kernel's heap aligns for any object. */
    void *p = aligned_alloc(CACHE_LINE, ALIGN_UP(size, (size_t)CACHE_LINE));
    memset(p, 0, size);
    return heap[path_heap++] = p;
}

void kfree(void *p)
{
    unsigned i = 0;

    if (!p)
        return;
    while (i < path_heap && heap[i] != p)
        i++;
    assert(i < path_heap);
    heap[i] = heap[--path_heap];
    free(p);
}

void path_on(unsigned cpu)
{
    host_cpu = &cpus[cpu];
}

void path_kernel_boot(void)
{
    path_double_boot();
    memset(cpus, 0, sizeof cpus);
    for (unsigned i = 0; i < PATH_DOUBLE_CPUS; i++)
        cpus[i].index = i;
    host_irqs_on = true;
    path_on(0);
    said[0] = '\0';
}

void path_kernel_end(void)
{
    while (path_frames)
        free(frame[--path_frames]);
    while (path_heap)
        free(heap[--path_heap]);
}
