/* Boot arguments proc.*: what processes may see of each other, and whose they are. */
#include "kernel/fs/vnode.h"
#include "kernel/proc/internal.h"

enum { VISIBLE_ALL, VISIBLE_OWN };
static uint64_t proc_visible = VISIBLE_ALL;
static const char *const choices[] = {[VISIBLE_ALL] = "all", [VISIBLE_OWN] = "own", NULL};

const struct arg process_args[] = {
    {"proc.visible", ARG_CHOICE, &proc_visible, 0, 0, choices, ARG_BOOT,
     "whose counts, samples, places, threads and memory a process may read: everything, or its "
     "own and those of processes it has started"},
    {"proc.user", ARG_U64, &proc_user, 0, 65533, NULL, ARG_BOOT,
     "number of the user, and of its group, as which all programs run; whatever it is, the user "
     "may "
     "do everything"},
    {0},
};

bool visible_machine(void)
{
    return proc_visible == VISIBLE_ALL;
}

bool visible_process(const struct process *reader, const struct process *p)
{
    while (p && p != reader)
        p = p->parent;
    return p || proc_visible == VISIBLE_ALL;
}

struct process *visible_next(const struct process *reader, uint32_t pid)
{
    struct process *other;

    while ((other = process_after(pid)) && !visible_process(reader, other)) {
        pid = other->pid;
        process_put(other);
    }
    return other;
}

static bool has_thread(struct process *p, uint32_t tid)
{
    bool irq = spin_lock(&p->lock), has = uthread_find_locked(p, tid);

    spin_unlock(&p->lock, irq);
    return has;
}

struct process *visible_with_thread(struct process *reader, uint32_t tid)
{
    struct process *p = NULL;

    process_get(reader);
    if (has_thread(reader, tid))
        return reader;
    process_put(reader);
    for (uint32_t pid = 0; (p = visible_next(reader, pid)); process_put(p)) {
        if (has_thread(p, tid))
            return p;
        pid = p->pid;
    }
    return NULL;
}
