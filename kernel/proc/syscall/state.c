/* System calls that show the machine's state: CPUs, threads, sharing, decisions. */
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include "hpm/count.h"

#define DECISIONS_MAX 64 /* that one call lists */

int64_t vigil_cpus(const struct call *c)
{
    const struct sched_topology *topo = sched_topology();
    struct hpm_breakdown *b = kmalloc(sizeof(*b)); /* too large for a stack */
    uint64_t room = c->a[1] / sizeof(struct sys_cpu);
    int err = b ? 0 : -ENOMEM;

    if (!err && !visible_machine())
        err = -EACCES;
    cpu_for_each (cpu) {
        if (err || cpu->index >= room)
            break;
        if (hpm_caps()->present)
            hpm_read_cpu(cpu, b);
        else
            b->cycles = b->idle_cycles = 0;
        struct sys_cpu out = {topo->of[cpu->index].chip,
                              topo->of[cpu->index].core,
                              topo->of[cpu->index].node,
                              (uint16_t)hpm_caps()->line_bytes,
                              b->cycles,
                              b->idle_cycles};
        if (arch_copy_to_user(c->a[0] + cpu->index * sizeof(out), &out, sizeof(out)))
            err = -EFAULT;
    }
    kfree(b);
    return err ? err : (int64_t)topo->cpus;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void put_state(const struct process *p, struct thread *t, struct sys_thread_state *out)
{
    struct sched_figures f;

    sched_figures(t, &f);
    *out = (struct sys_thread_state){
        .pid = p->pid,
        .tid = t->tid,
        .state = f.state == THREAD_RUNNING ? SYS_THREAD_RUNNING
                 : f.state == THREAD_READY ? SYS_THREAD_READY
                                           : SYS_THREAD_BLOCKED,
        .cpu = f.cpu,
        .home = f.home == CHIP_ANY ? SYS_NOWHERE : f.home,
        .cluster = f.cluster < 0 ? SYS_NOWHERE : (uint32_t)f.cluster,
        .group = f.group < 0 ? SYS_NOWHERE : (uint32_t)f.group,
        .run_ns = f.run_ns,
        .ready_ns = f.ready_ns,
        .migrations = f.migrations,
    };
    ksnprintf(out->name, sizeof(out->name), "%s", p->name);
}

/* Appends the threads of one process to n others, as far as there is room. Returns the new
 * number. */
static unsigned put_states(struct process *p, struct sys_thread_state *out, unsigned room,
                           unsigned n)
{
    bool irq = spin_lock(&p->lock);

    list_for_each (it, &p->threads) {
        if (n < room)
            put_state(p, container_of(it, struct thread, siblings), &out[n]);
        n++;
    }
    spin_unlock(&p->lock, irq);
    return n;
}

int64_t vigil_thread_states(const struct call *c)
{
    unsigned n = 0,
             room = (unsigned)MIN(c->a[2] / sizeof(struct sys_thread_state), (uint64_t)THREADS_MAX);
    struct process *other = !c->a[0]                ? visible_next(c->p, 0)
                            : c->a[0] <= UINT32_MAX ? process_to_read(c->p, (uint32_t)c->a[0])
                                                    : NULL;

    if (!other)
        return -ESRCH;
    struct sys_thread_state *states = kmalloc(MAX(room, 1u) * sizeof(*states));
    if (!states) {
        process_put(other);
        return -ENOMEM;
    }
    while (other) {
        uint32_t pid = other->pid;
        n = put_states(other, states, room, n);
        process_put(other);
        other = c->a[0] ? NULL : visible_next(c->p, pid);
    }
    int err = arch_copy_to_user(c->a[1], states, MIN(n, room) * sizeof(*states)) ? -EFAULT : 0;
    kfree(states);
    return err ? err : (int64_t)n;
}

/* ---- Sharing --------------------------------------------------------------------------------- */

static void convert_sharing(const struct sharing_seen *from, struct sys_sharing *to)
{
    const struct sharing_picture *p = &from->picture;

    to->time_ns = p->time_ns;
    to->samples = p->samples;
    to->detecting = from->detecting;
    to->threads = from->threads;
    to->clusters = p->clusters;
    to->remote_permille = from->remote_permille;
    to->lines = p->lines;
    to->global_lines = p->global_lines;
    to->line_bytes = from->line_bytes;
    to->rows = p->rows;
    to->columns = p->columns;
    to->detections = from->detections;
    to->migrations = from->migrations;
    to->taken_back = (uint32_t)from->taken_back;
    to->all_samples = from->samples;
    to->lost = from->lost;
    to->cost_ns = from->cost_ns;
    to->passed_ns = from->passed_ns;
    memcpy(to->line, p->line, sizeof(to->line));
    memcpy(to->tid, p->tid, sizeof(to->tid));
    memcpy(to->cluster, p->cluster, sizeof(to->cluster));
    memcpy(to->count, p->count, sizeof(to->count));
    for (unsigned i = 0; i < p->rows; i++)
        ksnprintf(to->why[i], sizeof(to->why[i]), "%s", sharing_why_name(p->why[i]));
}

int64_t vigil_sharing(const struct call *c)
{
    struct process *other =
        c->a[0] && c->a[0] <= UINT32_MAX ? process_to_read(c->p, (uint32_t)c->a[0]) : NULL;
    struct {
        struct sharing_seen seen;
        struct sys_sharing result;
    } * work;

    if (!other)
        return -ESRCH;
    process_put(other);
    work = kmalloc(sizeof(*work)); /* too large for a stack */
    if (!work)
        return -ENOMEM;
    int err = sharing_read((uint32_t)c->a[0], &work->seen);
    if (!err) {
        memset(&work->result, 0, sizeof(work->result));
        convert_sharing(&work->seen, &work->result);
        err = user_put_struct(c->a[1], c->a[2], &work->result, sizeof(work->result));
    }
    kfree(work);
    return err;
}

int64_t vigil_decisions(const struct call *c)
{
    struct sharing_decision d = {.number = c->a[0] - 1};
    uint64_t room = MIN(c->a[2] / sizeof(struct sys_decision), (uint64_t)DECISIONS_MAX), n;

    if (!visible_machine())
        return -EACCES;
    for (n = 0; n < room && sharing_decision_read(d.number + 1, &d); n++) {
        struct sys_decision out = {.number = d.number, .time_ns = d.time_ns, .pid = d.pid};
        memcpy(out.phase, d.phase, sizeof(out.phase));
        memcpy(out.reason, d.reason, sizeof(out.reason));
        memcpy(out.text, d.text, sizeof(out.text));
        if (arch_copy_to_user(c->a[1] + n * sizeof(out), &out, sizeof(out)))
            return -EFAULT;
    }
    return (int64_t)n;
}
