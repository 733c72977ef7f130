/* See watch.h. */
#include "hpm/watch.h"

struct hpm_watch hpm_watches[HPM_WATCHES_MAX];
static uint32_t last_serial; /* callers of watch_open() are serialised */

struct hpm_watch *watch_open(uint32_t pid, bool family)
{
    struct hpm_watch *w = hpm_watches, *end = w + HPM_WATCHES_MAX;

    while (w < end && w->serial)
        w++;
    if (w == end)
        return NULL;
    w->pid = pid;
    w->family = family;
    last_serial = last_serial + 1 ?: 1;
    __atomic_store_n(&w->serial, last_serial, __ATOMIC_RELEASE);
    return w;
}

void watch_close(struct hpm_watch *w)
{
    if (w)
        __atomic_store_n(&w->serial, 0, __ATOMIC_RELEASE);
}

/* A watch may be closed, and its place used by another one, meanwhile: the thread then has a number
 * that no watch has. */
void hpm_watch_inherit(struct hpm_thread *t, const struct hpm_thread *parent)
{
    for (unsigned i = 0; i < HPM_WATCHES_MAX; i++) {
        const struct hpm_watch *w = &hpm_watches[i];
        uint32_t serial = __atomic_load_n(&w->serial, __ATOMIC_ACQUIRE);
        bool has = w->pid && w->family && (parent->pid == w->pid || parent->watched[i] == serial);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (serial && has && __atomic_load_n(&w->serial, __ATOMIC_RELAXED) == serial)
            t->watched[i] = serial;
    }
}
