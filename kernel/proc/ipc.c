/* See ipc.h. */
#include "kernel/proc/ipc.h"
#include "kernel/core/wall_clock.h"
#include "kernel/fs/vnode.h"
#include "kernel/lib/errno.h"
#include <linux/ipc.h>

struct ipc *ipc_at(const struct ipc_table *t, uint64_t place)
{
    return (struct ipc *)((char *)t->entries + place * t->entry_size);
}

struct ipc *ipc_of(const struct ipc_table *t, uint64_t id)
{
    struct ipc *e = ipc_at(t, (uint32_t)id % IPC_ENTRIES);

    return e->used && e->id == (int)id ? e : NULL;
}

int ipc_find(const struct ipc_table *t, uint32_t key, uint32_t flags, struct ipc **out)
{
    if (key == IPC_PRIVATE)
        return 1;
    for (unsigned i = 0; i < IPC_ENTRIES; i++) {
        struct ipc *e = ipc_at(t, i);
        if (!e->used || e->key != key)
            continue;
        *out = e;
        return (flags & IPC_CREAT) && (flags & IPC_EXCL) ? -EEXIST : 0;
    }
    return flags & IPC_CREAT ? 1 : -ENOENT;
}

struct ipc *ipc_enter(struct ipc_table *t, uint32_t key, uint32_t flags)
{
    uint32_t user = (uint32_t)proc_user;
    unsigned place = 0;

    while (place < IPC_ENTRIES && ipc_at(t, place)->used)
        place++;
    if (place == IPC_ENTRIES)
        return NULL;
    struct ipc *e = ipc_at(t, place);
    t->generation = (t->generation + IPC_ENTRIES) & INT32_MAX;
    *e = (struct ipc){.used = true,
                      .id = (int)place + t->generation,
                      .key = key,
                      .mode = flags & 0777,
                      .uid = user,
                      .gid = user,
                      .maker_uid = user,
                      .maker_gid = user,
                      .changed = ipc_now()};
    return e;
}

int ipc_count(const struct ipc_table *t, unsigned *used)
{
    int last = 0;

    *used = 0;
    for (unsigned i = 0; i < IPC_ENTRIES; i++)
        if (ipc_at(t, i)->used) {
            ++*used;
            last = (int)i;
        }
    return last;
}

int64_t ipc_now(void)
{
    return (int64_t)(wall_clock_ns() / NS_PER_S);
}
