/* See call.h. */
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"

struct call {
    void (*fn)(void *arg);
    void *arg;
    bool done; /* atomic */
};

static struct call *waiting[CPU_MAX]; /* atomic; by index of the CPU that is to run it */

void call_ipi(void)
{
    struct call *c = __atomic_exchange_n(&waiting[this_cpu()->index], NULL, __ATOMIC_ACQ_REL);

    if (!c)
        return; /* the caller has withdrawn it */
    c->fn(c->arg);
    __atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
}

int call_cpu(struct cpu *cpu, void (*fn)(void *arg), void *arg, uint64_t wait_ns)
{
    struct call call = {fn, arg, false}, *none = NULL, *mine = &call;
    uint64_t since_ns = arch_clock_ns();

    ASSERT(arch_irq_enabled() && this_cpu()->spin_depth == 0);
    if (!__atomic_compare_exchange_n(&waiting[cpu->index], &none, &call, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return -EBUSY;
    arch_ipi_send(cpu, IPI_CALL);
    while (!__atomic_load_n(&call.done, __ATOMIC_ACQUIRE)) {
        arch_cpu_relax();
        /* A call that has begun is waited for: it uses this stack. */
        if (arch_clock_ns() - since_ns > wait_ns &&
            __atomic_compare_exchange_n(&waiting[cpu->index], &mine, NULL, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return -ETIMEDOUT;
        mine = &call;
    }
    return 0;
}
