/* Makes perf events; see perf.h. */
#include "kernel/core/cpu.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/perf_internal.h"
#include "linux_abi.h"
#include <linux/fcntl.h>

struct list perf_events = {&perf_events, &perf_events};
static uint64_t last_id; /* atomic */

bool perf_is(const struct file *f)
{
    return f->v->ops == &perf_ops;
}

/* ---- What is counted ------------------------------------------------------------------------- */

/* Returns names for what a selector counts, up to NULL. one: room for a name that is none of
 * perf's. */
static const char *const *names_of_code(uint64_t code, const char *one[2], char text[PERF_NAME_MAX])
{
    one[1] = NULL;
    if (!hpm_codes_differ()) {
        perf_code_name(code, text);
        one[0] = text;
        return one;
    }
    one[0] = hpm_code_name(code);
    for (unsigned i = 0; !one[0] && perf_names(i); i++)
        for (const char *const *name = perf_names(i); *name; name++)
            if (hpm_code_is(*name, code))
                return perf_names(i);
    return one;
}

/* Finds the first name that the PMU has, and writes it with the event's modes. */
static int find_name(struct perf_event *e)
{
    const char *one[2];
    char text[PERF_NAME_MAX];

    if (e->found.is_software || e->found.is_access)
        return 0;
    const char *const *name =
        e->found.has_code ? names_of_code(e->found.code, one, text) : e->found.names;
    while (*name && hpm_event_check(*name))
        name++;
    if (!*name)
        return -ENOENT;
    if (!perf_name(&e->attr, *name, e->name))
        e->name[0] = '\0';
    return 0;
}

/* Finds what the samples of an event are. */
static int begin_sampling(struct perf_event *e)
{
    bool clock = perf_samples_time(e);
    char name[PERF_NAME_MAX];

    if (!e->attr.sample_period || (e->found.is_software && e->found.software == PERF_NOTHING))
        return 0;
    bool counted = !e->found.is_software && !e->found.is_access;
    if ((e->found.is_software && !clock) || (counted && e->attr.precise_ip) ||
        (e->attr.sample_type & ~(uint64_t)PERF_SAMPLED))
        return -EOPNOTSUPP;
    if (!perf_sampler_name(e, name))
        return 0;
    mutex_lock(&perf_rings);
    int err = perf_sampler_take(e, name);
    mutex_unlock(&perf_rings);
    return err;
}

/* A thread on one CPU only is not counted, as its counts are not kept apart by CPU; nor are
 * accesses that are sampled. */
static int check_apart(struct perf_event *e)
{
    e->apart = (e->scope.tid && e->scope.cpu != -1) || e->found.is_access;
    if (e->apart && !e->attr.sample_period &&
        !(e->found.is_software && e->found.software == PERF_NOTHING))
        return -EOPNOTSUPP;
    if (e->apart)
        e->name[0] = '\0';
    return 0;
}

static int find_event(struct perf_event *e)
{
    /* There are no breakpoints; Linux's first answer is for what is none. */
    if (e->attr.type == PERF_TYPE_BREAKPOINT)
        return e->attr.bp_type & ~7u || !e->attr.bp_type ? -EINVAL : -EOPNOTSUPP;
    static const struct perf_pmu pmu = {PERF_PMU_TYPE, PERF_LOADS, PERF_STORES, PERF_LATENCY_SHIFT};
    int err = perf_find(&e->attr, &pmu, &e->found);

    return err ?: find_name(e) ?: perf_attr_check_told(&e->attr);
}

/* ---- Whom it counts -------------------------------------------------------------------------- */

/* A thread that was found, whose process's lock is held. */
struct target {
    struct process *p; /* referenced */
    struct thread *t;
    bool irq;
};

static bool find_in(struct process *p, uint32_t tid, struct target *out)
{
    bool irq = spin_lock(&p->lock);
    struct thread *t = uthread_find_locked(p, tid);

    if (!t) {
        spin_unlock(&p->lock, irq);
        return false;
    }
    *out = (struct target){p, t, irq};
    return true;
}

/* Finds a thread that the caller may see. */
static bool find_target(struct process *own, uint32_t tid, struct target *out)
{
    struct process *p = NULL;

    process_get(own);
    if (find_in(own, tid, out))
        return true;
    process_put(own);
    for (uint32_t pid = 0; (p = visible_next(own, pid)); process_put(p)) {
        if (find_in(p, tid, out))
            return true;
        pid = p->pid;
    }
    return false;
}

static void let_target(struct target *t)
{
    spin_unlock(&t->p->lock, t->irq);
    process_put(t->p);
}

/* Returns the tid that is counted, 0: a CPU is, or an error. */
static int64_t tid_of(struct process *own, const struct perf_asked *asked)
{
    struct target target;

    if (asked->pid == -1)
        return 0;
    if (asked->pid < 0)
        return -ESRCH;
    uint32_t tid = asked->pid ? (uint32_t)asked->pid : thread_current()->tid;
    if (!find_target(own, tid, &target))
        return -ESRCH;
    let_target(&target);
    return tid;
}

static int attach(struct process *own, struct perf_event *e)
{
    struct target target;

    if (!e->scope.tid)
        return perf_attach(e, NULL);
    if (!find_target(own, e->scope.tid, &target))
        return -ESRCH;
    int err = perf_attach(e, target.t);
    let_target(&target);
    return err;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int check_scope(struct perf_scope scope, const struct perf_event_attr *a)
{
    if (scope.cpu == -1)
        return scope.tid ? 0 : -EINVAL;
    if (scope.cpu < 0 || (unsigned)scope.cpu >= cpu_count())
        return -EINVAL;
    if (scope.tid)
        return 0;
    return a->sigtrap ? -EINVAL : visible_machine() ? 0 : -EACCES;
}

/* Joins the leader's group, as far as its counters go. Gate entered. */
static int join(struct perf_event *e, struct perf_event *leader)
{
    if (leader->leader != leader ||
        perf_attr_check_member(&e->attr, e->scope, &leader->attr, leader->scope))
        return -EINVAL;
    if (leader->member_count == PERF_MEMBERS_MAX || !perf_fits(leader, e))
        return -EINVAL;
    perf_pause(leader);
    perf_unseat(leader);
    e->leader = leader;
    leader->member_count++;
    list_push_back(&leader->members, &e->in_members);
    return 0;
}

/* Returns whether its records tell of all threads of a CPU. */
static bool is_wide(const struct perf_event *e)
{
    return !e->scope.tid &&
           (e->attr.sample_period || e->attr.mmap || e->attr.mmap2 || e->attr.comm || e->attr.task);
}

static int enter(struct process *own, struct perf_event *e, struct perf_event *leader)
{
    mutex_lock(&perf_rings);
    gate_enter(&sessions_gate);
    int err = leader ? join(e, leader) : 0;
    if (!err) {
        list_push_back(&perf_events, &e->all);
        __atomic_fetch_add(&perf_wide, is_wide(e), __ATOMIC_RELAXED);
        err = attach(own, e);
        e->on = !err && !e->attr.disabled;
        e->on_ns = arch_clock_ns();
    }
    if (e->leader != e || !err)
        perf_resume(e->leader);
    gate_leave(&sessions_gate);
    mutex_unlock(&perf_rings);
    return err;
}

/* Makes an event that counts nothing yet. */
static struct perf_event *make_event(const struct perf_asked *asked, int64_t tid)
{
    struct perf_event *e = kmalloc(sizeof(*e));

    if (!e)
        return NULL;
    e->v = (struct vnode){.ops = &perf_ops, .refs = 1, .mode = 0600};
    e->attr = asked->attr;
    e->scope = (struct perf_scope){(uint32_t)tid, asked->cpu};
    e->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    e->owner = thread_current()->tid;
    e->leader = e;
    e->waits_exec = asked->attr.enable_on_exec && asked->attr.disabled;
    e->v.changes = &e->changes;
    poll_source_init(&e->changes);
    list_init(&e->all);
    list_init(&e->members);
    list_init(&e->nodes);
    e->wants_code = asked->attr.sample_period && asked->attr.sample_type & PERF_SAMPLE_CALLCHAIN &&
                    !asked->attr.exclude_callchain_user;
    if (e->wants_code)
        code_images_want();
    return e;
}

int perf_open(struct process *p, const struct perf_asked *asked, struct file **out)
{
    struct perf_event *leader = asked->leader ? perf_of(asked->leader->v) : NULL;
    int64_t tid = tid_of(p, asked);

    if (tid < 0)
        return (int)tid;
    if (leader && leader->attr.inherit != asked->attr.inherit)
        return -EINVAL;
    struct perf_event *e = make_event(asked, tid);
    if (!e)
        return -ENOMEM;
    int err = check_scope(e->scope, &e->attr) ?: find_event(e) ?: perf_attr_check_clock(&e->attr);
    if (!err)
        err = begin_sampling(e) ?: check_apart(e);
    if (!err)
        err = enter(p, e, leader);
    if (!err)
        err = file_make(&e->v, O_RDWR | asked->file_flags, out);
    vnode_put(&e->v);
    return err;
}

void perf_forget(struct perf_event *e)
{
    struct perf_event *leader = e->leader;

    mutex_lock(&perf_rings);
    gate_enter(&sessions_gate);
    perf_pause(leader);
    perf_unseat(leader);
    if (leader != e) {
        list_remove(&e->in_members);
        leader->member_count--;
        perf_resume(leader);
    }
    /* The members of a leader go on alone. */
    while (!list_empty(&e->members)) {
        struct perf_event *m =
            container_of(list_pop_front(&e->members), struct perf_event, in_members);
        m->leader = m;
        m->on = m->on && e->on;
        perf_resume(m);
    }
    if (!list_empty(&e->all))
        __atomic_fetch_sub(&perf_wide, is_wide(e), __ATOMIC_RELAXED);
    list_remove(&e->all);
    gate_leave(&sessions_gate);
    perf_hasten(e, true);
    perf_sampler_let(e);
    perf_ring_let(e);
    mutex_unlock(&perf_rings);
}
