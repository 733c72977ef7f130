/* See msi.h. */
#include "kernel/arch/msi.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/core/printf.h"

/* guards ops, count and messages */
static struct spinlock lock = SPINLOCK(LOCK_MSI, "message interrupts");
static const struct msi_ops *ops;
static unsigned count;
static struct message {
    bool used;
    struct cpu *target;
    struct arch_msi message;
    /* Read without the lock when the message arrives; written before. */
    void (*handler)(void *arg);
    void *arg;
} messages[ARCH_MSI_MAX];

void msi_init(const struct msi_ops *with, unsigned n)
{
    ops = with;
    count = with ? MIN(n, (unsigned)ARCH_MSI_MAX) : 0;
    if (count)
        kprintf("msi: event=ready by=%s messages=%u\n", ops->name, count);
    else
        kprintf("msi: event=none: devices cannot send interrupts here\n");
}

void msi_arrived(unsigned n)
{
    const struct message *m = &messages[n];

    if (n < count && __atomic_load_n(&m->used, __ATOMIC_ACQUIRE))
        m->handler(m->arg);
}

static int alloc_locked(uint32_t requester, struct cpu *target, void (*handler)(void *arg),
                        void *arg, unsigned *id)
{
    unsigned n = 0;

    while (n < count && messages[n].used)
        n++;
    if (n == count)
        return count ? -ENOSPC : -ENODEV;
    struct message *m = &messages[n];
    m->handler = handler;
    m->arg = arg;
    m->target = target;
    int err = ops->bind(n, requester, target, &m->message);
    __atomic_store_n(&m->used, !err, __ATOMIC_RELEASE);
    *id = n;
    return err;
}

int arch_msi_alloc(uint32_t requester, struct cpu *target, void (*handler)(void *arg), void *arg,
                   unsigned *id)
{
    bool irq = spin_lock(&lock);
    int err = alloc_locked(requester, target, handler, arg, id);

    spin_unlock(&lock, irq);
    return err;
}

/* Returns an allocated message. */
static struct message *get_locked(unsigned id)
{
    ASSERT(id < count && messages[id].used);
    return &messages[id];
}

void arch_msi_message(unsigned id, struct arch_msi *out)
{
    bool irq = spin_lock(&lock);

    *out = get_locked(id)->message;
    spin_unlock(&lock, irq);
}

int arch_msi_move(unsigned id, struct cpu *target)
{
    bool irq = spin_lock(&lock);
    struct message *m = get_locked(id);
    int err = ops->move(id, m->target, target, &m->message);

    if (!err)
        m->target = target;
    spin_unlock(&lock, irq);
    return err;
}

void arch_msi_raise_for_test(unsigned id)
{
    bool irq = spin_lock(&lock);

    ops->raise(id, get_locked(id)->target);
    spin_unlock(&lock, irq);
}

void arch_msi_free(unsigned id)
{
    bool irq = spin_lock(&lock);
    struct message *m = get_locked(id);

    __atomic_store_n(&m->used, false, __ATOMIC_RELEASE);
    ops->unbind(id, m->target);
    spin_unlock(&lock, irq);
}
