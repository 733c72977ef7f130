/* What several trackers do alike: nothing, mostly (struct tracker_ops). */
#include "mm/space.h"
#include "mm/track/internal.h"

int track_start_nothing(void)
{
    return 0;
}

void track_stop_nothing(void)
{
}

void track_watch_nothing(UNUSED struct space *s, UNUSED bool on)
{
}

void track_forget_nothing(UNUSED struct space *s, UNUSED vaddr_t va)
{
}

bool track_marked(struct space *s, vaddr_t va)
{
    bool irq = spin_lock(&s->lock);
    unsigned marks = arch_space_mark(&s->arch, va, ARCH_USED, 0);

    spin_unlock(&s->lock, irq);
    return marks & ARCH_USED;
}
