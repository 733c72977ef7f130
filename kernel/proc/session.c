/* See session.h. */
#include "kernel/proc/session.h"
#include "kernel/core/printf.h"
#include "kernel/proc/internal.h"

struct gate sessions_gate = GATE(sessions_gate, GATE_SESSIONS, "sessions");

struct session *session_at(const struct session_table *t, unsigned index)
{
    return (struct session *)((char *)t->first + index * t->bytes);
}

struct session *session_find(const struct session_table *t, const struct process *owner,
                             uint32_t number)
{
    struct session *s = number && number <= t->count ? session_at(t, number - 1) : NULL;

    return s && s->pid == owner->pid ? s : NULL;
}

struct session *session_find_free(const struct session_table *t, const struct process *owner,
                                  char *why, size_t size)
{
    struct session *free = NULL;
    unsigned own = 0, family = 0;

    for (unsigned i = t->count; i-- > 0;) {
        struct session *s = session_at(t, i);
        own += s->pid == owner->pid;
        family += s->family == owner->family;
        if (!s->pid)
            free = s;
    }
    if (own == t->process_max)
        ksnprintf(why, size, "this process has %u %s open, as many as one process may have", own,
                  t->what);
    else if (family >= t->family_max)
        ksnprintf(why, size,
                  "this application and those that it has started have %u %s open, as many as they "
                  "may have",
                  family, t->what);
    else if (!free)
        ksnprintf(why, size, "all %u %s are open: other applications have them", t->count, t->what);
    return own == t->process_max || family >= t->family_max ? NULL : free;
}

int session_own(struct session_table *t, struct session *s, const struct process *owner)
{
    s->pid = owner->pid;
    s->family = owner->family;
    s->serial = ++t->last_serial;
    return (int)((size_t)((char *)s - (char *)t->first) / t->bytes) + 1;
}

struct session_position session_position(const struct session *s)
{
    return (struct session_position){s->serial, s->delivered};
}

struct session *session_find_at(const struct session_table *t, const struct process *owner,
                                uint32_t number, const struct session_position *at)
{
    struct session *s = session_find(t, owner, number);

    return s && s->serial == at->serial && s->delivered == at->delivered ? s : NULL;
}

int session_may_watch(struct process *owner, uint32_t pid, char *why, size_t size)
{
    if (!pid && !visible_machine()) {
        ksnprintf(why, size,
                  "proc.visible=own: name a process, this one or one that it has started");
        return -EACCES;
    }
    if (!pid || children_will_be(owner, pid))
        return 0;
    struct process *other = process_find(pid);
    bool is = other && visible_process(owner, other);
    if (other)
        process_put(other);
    if (!is)
        ksnprintf(why, size, "there is no process %u", (unsigned)pid);
    return is ? 0 : -ESRCH;
}
