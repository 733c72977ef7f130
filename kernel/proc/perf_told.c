/* Records of what threads do, in the buffers of perf events that count them: code that is mapped,
 * other programs, new threads, ends. */
#include "kernel/core/cpu.h"
#include "kernel/proc/perf_internal.h"
#include <asm/mman.h>

static uint8_t record[PERF_RECORD_BYTES]; /* perf_rings */

/* Makes a record, and returns its length; 0: the event does not want it. */
typedef size_t make_record(struct perf_event *e, const struct perf_ident *i, const void *arg);

/* Writes a record of the caller to the events that tell of it and want it. */
static void tell(const struct thread *t, make_record *make, const void *arg)
{
    perf_take_records();
    mutex_lock(&perf_rings);
    /* Samples that were taken before come before it. */
    unsigned cpu = this_cpu()->index;
    uint64_t now_ns = arch_clock_ns();
    perf_pump_until(now_ns);
    list_for_each (it, &perf_events) {
        struct perf_event *e = container_of(it, struct perf_event, all);
        if (!perf_tells_of(e, t->tid, cpu))
            continue;
        const struct perf_ident i = {t->process->pid, t->tid, cpu, now_ns, e->id};
        size_t n = make(e, &i, arg);
        if (n)
            perf_ring_write(e, &i, record, n);
    }
    perf_tell_readers();
    mutex_unlock(&perf_rings);
}

static size_t make_name(struct perf_event *e, const struct perf_ident *i, const void *arg)
{
    return e->attr.comm ? perf_put_name(&e->attr, i, arg, true, record) : 0;
}

static size_t make_mapping(struct perf_event *e, const struct perf_ident *i, const void *arg)
{
    const struct perf_mapped *m = arg;
    bool wanted = m->prot & PROT_EXEC ? e->attr.mmap || e->attr.mmap2 : e->attr.mmap_data;

    return wanted ? perf_put_mapping(&e->attr, i, m, record) : 0;
}

/* A thread that begins or ends, and its parent. */
struct task {
    const struct thread *child, *parent;
    bool ends;
};

static size_t make_task(struct perf_event *e, const struct perf_ident *i, const void *arg)
{
    const struct task *task = arg;
    struct perf_ident child = *i;

    if (!e->attr.task)
        return 0;
    child.pid = task->child->process->pid;
    child.tid = task->child->tid;
    return perf_put_task(&e->attr, &child, task->parent->process->pid, task->parent->tid,
                         task->ends, record);
}

/* Returns whether a buffer may want records of what the thread does. */
static bool is_told(const struct thread *t)
{
    bool told = false;

    if (__atomic_load_n(&perf_wide, __ATOMIC_RELAXED))
        return true;
    if (!__atomic_load_n(&t->perf, __ATOMIC_RELAXED))
        return false;
    bool irq = spin_lock(&perf_lock);
    for (const struct perf_node *n = t->perf; n && !told; n = n->next)
        told = n->event->ring != NULL || n->event->sampler != NULL;
    spin_unlock(&perf_lock, irq);
    return told;
}

void perf_told_begin(const struct thread *parent, const struct thread *child)
{
    const struct task task = {child, parent, false};

    if (parent->process && is_told(parent))
        tell(parent, make_task, &task);
}

void perf_told_end(const struct thread *self)
{
    const struct task task = {self, self, true};

    if (!is_told(self))
        return;
    perf_pump();
    tell(self, make_task, &task);
}

/* Finds the region that ends above `from`, and tells of it if it has code or a file's contents. */
static bool tell_region(const struct thread *self, vaddr_t from, struct region_stats *r)
{
    if (!space_next_region(self->process->space, from, r))
        return false;
    struct object *o = space_object_of(self->process->space, r->start);
    const struct object_name *name = o ? object_name(o) : NULL;
    const struct perf_mapped m = {.start = r->start,
                                  .bytes = r->end - r->start,
                                  .offset = name ? r->offset : 0,
                                  .file = name ? name->id : 0,
                                  .prot = (r->prot & PROT_R ? PROT_READ : 0) |
                                          (r->prot & PROT_W ? PROT_WRITE : 0) |
                                          (r->prot & PROT_X ? PROT_EXEC : 0),
                                  .flags = 2, /* MAP_PRIVATE */
                                  .name = name ? name->path : "//anon"};
    if (o || r->prot & PROT_X)
        tell(self, make_mapping, &m);
    object_put(o);
    return true;
}

void perf_told_mapping(const struct thread *self, vaddr_t va)
{
    struct region_stats r;

    if (is_told(self))
        tell_region(self, va, &r);
}

void perf_told_exec(const struct thread *self)
{
    struct region_stats r = {0};

    if (!is_told(self))
        return;
    tell(self, make_name, self->process->name);
    while (tell_region(self, r.end, &r))
        ;
}
