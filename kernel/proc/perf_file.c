/* Files of perf events: read(2), ioctl(2), poll(2), close(2). */
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/perf_internal.h"
#include <linux/poll.h>

/* ---- Reading --------------------------------------------------------------------------------- */

static void show(struct perf_event *e, struct perf_shown *out)
{
    perf_read_event(e, &out->count);
    out->id = e->id;
    out->lost = e->lost;
}

/* Reads the event, or all of its group. `shown` has room for that. */
static size_t show_all(struct perf_event *e, struct perf_shown *shown)
{
    size_t n = 0;

    if (!(e->attr.read_format & PERF_FORMAT_GROUP)) {
        show(e, shown);
        return 1;
    }
    show(e->leader, &shown[n++]);
    list_for_each (it, &e->leader->members)
        show(container_of(it, struct perf_event, in_members), &shown[n++]);
    return n;
}

static size_t shown_count(const struct perf_event *e)
{
    return e->attr.read_format & PERF_FORMAT_GROUP ? 1 + e->leader->member_count : 1;
}

/* Gate entered. */
static int64_t read_entered(struct perf_event *e, void *to, size_t room)
{
    size_t n = shown_count(e), bytes = perf_read_words(e->attr.read_format, n) * sizeof(uint64_t);

    if (e->leader->failed)
        return 0;
    if (room < bytes)
        return -ENOSPC;
    struct perf_shown *shown = kmalloc(n * sizeof(*shown));
    if (!shown)
        return -ENOMEM;
    perf_update(e->leader);
    perf_read_put(e->attr.read_format, shown, show_all(e, shown), to);
    kfree(shown);
    return (int64_t)bytes;
}

static int64_t read_perf(struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                         UNUSED uint64_t at, void *to, size_t n)
{
    gate_enter(&sessions_gate);
    int64_t read = read_entered(perf_of(v), to, n);
    gate_leave(&sessions_gate);
    return read;
}

/* ---- ioctl ----------------------------------------------------------------------------------- */

static void enable(struct perf_event *e, bool on)
{
    bool irq = spin_lock(&perf_lock);

    e->waits_exec = false;
    spin_unlock(&perf_lock, irq);
    e->on_ns = on && !e->on ? arch_clock_ns() : e->on_ns;
    e->on = on;
    if (e->leader == e && on && e->failed)
        perf_unseat(e);
}

static void reset(struct perf_event *e, UNUSED bool on)
{
    bool irq = spin_lock(&perf_lock);

    perf_count_reset(&e->sum);
    spin_unlock(&perf_lock, irq);
}

static void change_all(struct perf_event *e, bool group, void (*change)(struct perf_event *, bool),
                       bool on)
{
    if (e->sampler)
        perf_pump();
    gate_enter(&sessions_gate);
    struct perf_event *leader = e->leader;
    perf_pause(leader);
    change(group ? leader : e, on);
    if (group)
        list_for_each (it, &leader->members)
            change(container_of(it, struct perf_event, in_members), on);
    perf_resume(leader);
    gate_leave(&sessions_gate);
}

/* Changes the period or the frequency of samples. */
static int64_t set_period(struct perf_event *e, uint64_t from)
{
    uint64_t period;

    if (arch_copy_from_user(&period, from, sizeof(period)))
        return -EFAULT;
    if (!e->attr.sample_period || !period ||
        (e->attr.freq ? period > PERF_FREQUENCY_MAX : period >> 63))
        return -EINVAL;
    perf_pump();
    mutex_lock(&perf_rings);
    int err = perf_sampler_change(e, period);
    mutex_unlock(&perf_rings);
    return err;
}

/* Enables an event until it has had this number of samples more. */
static int64_t refresh(struct perf_event *e, uint64_t samples)
{
    if (e->attr.inherit || !e->attr.sample_period)
        return -EINVAL;
    mutex_lock(&perf_rings);
    e->left += samples;
    perf_hasten(e, false);
    mutex_unlock(&perf_rings);
    change_all(e, false, enable, true);
    return 0;
}

static int64_t pause_output(struct perf_event *e, bool on)
{
    mutex_lock(&perf_rings);
    int err = perf_ring_pause(e, on);
    mutex_unlock(&perf_rings);
    return err;
}

/* -1: to no buffer. */
static int64_t set_output(struct perf_event *e, int32_t fd)
{
    struct file *f = fd == -1 ? NULL : files_find(thread_current()->process->files, (uint32_t)fd);

    if (fd != -1 && (!f || !perf_is(f))) {
        file_put(f);
        return -EBADF;
    }
    mutex_lock(&perf_rings);
    int err = perf_ring_share(e, f ? perf_of(f->v) : NULL);
    mutex_unlock(&perf_rings);
    file_put(f);
    return err;
}

static int64_t ioctl_perf(struct vnode *v, UNUSED void *state, uint32_t request, uint64_t arg)
{
    struct perf_event *e = perf_of(v);
    bool group = arg & PERF_IOC_FLAG_GROUP;

    switch (request) {
    case PERF_EVENT_IOC_ENABLE:
        change_all(e, group, enable, true);
        return 0;
    case PERF_EVENT_IOC_DISABLE:
        change_all(e, group, enable, false);
        return 0;
    case PERF_EVENT_IOC_RESET:
        change_all(e, group, reset, false);
        return 0;
    case PERF_EVENT_IOC_ID:
        return arch_copy_to_user(arg, &e->id, sizeof(e->id)) ? -EFAULT : 0;
    case PERF_EVENT_IOC_PERIOD:
        return set_period(e, arg);
    case PERF_EVENT_IOC_REFRESH:
        return refresh(e, arg);
    case PERF_EVENT_IOC_PAUSE_OUTPUT:
        return pause_output(e, arg);
    case PERF_EVENT_IOC_SET_OUTPUT:
        return set_output(e, (int32_t)arg);
    case PERF_EVENT_IOC_SET_FILTER:
    case PERF_EVENT_IOC_SET_BPF:
    case PERF_EVENT_IOC_QUERY_BPF:
        return -EINVAL;
    case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
        return -EOPNOTSUPP;
    default:
        return -ENOTTY;
    }
}

/* ---- The rest -------------------------------------------------------------------------------- */

static bool has_ended(struct perf_event *e)
{
    bool irq = spin_lock(&perf_lock), ended = e->had_threads && list_empty(&e->nodes);

    spin_unlock(&perf_lock, irq);
    return ended;
}

/* Without a buffer of records there is nothing to wait for, as on Linux. */
static unsigned poll_perf(struct vnode *v, UNUSED void *state)
{
    struct perf_event *e = perf_of(v);
    bool ended = has_ended(e);

    mutex_lock(&perf_rings);
    unsigned found = !e->ring ? POLLHUP : perf_ring_take_news(e) ? PERF_READY : 0;
    mutex_unlock(&perf_rings);
    return found | (ended ? POLLHUP : 0);
}

static size_t name_perf(UNUSED struct vnode *v, char *to, size_t room)
{
    return MIN(ksnprintf(to, room, "anon_inode:[perf_event]"), room);
}

static void release_perf(struct vnode *v)
{
    struct perf_event *e = perf_of(v);

    perf_forget(e);
    perf_detach(e);
    if (e->wants_code)
        code_images_let();
    kfree(e);
}

const struct vnode_ops perf_ops = {
    VNODE_OPS_NOWHERE,    .name = name_perf,       .stat = vnode_stat,      .open = vnode_open,
    .close = vnode_close, .read = read_perf,       .write = vnode_no_write, .poll = poll_perf,
    .ioctl = ioctl_perf,  .release = release_perf,
};
