/*
 * Epolls: files that wait for others, as epoll(7) says. An item, a file that an epoll waits for,
 * stands in the list of those that are ready from a change on until it was looked at and had
 * nothing; with EPOLLET until it was looked at. So a wait looks at files that may be ready alone,
 * and at those that nothing tells of, as the console.
 *
 * An epoll does not keep a file open: the last close takes its items away.
 */
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/file/poll.h"
#include "kernel/mem/mem.h"
#include <linux/eventpoll.h>
#include <linux/fcntl.h>

#define ITEMS_MAX 65536 /* of one epoll */
#define ALWAYS    (EPOLLERR | EPOLLHUP)
#define OPTIONS   (EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE | EPOLLWAKEUP)
/* What may be asked for with EPOLLEXCLUSIVE. */
#define EXCLUSIVE_MAX \
    (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)

/* poll_lock guards all but the vnode. */
struct epoll {
    struct vnode v;
    struct list items, ready;
    struct wait_queue waiters;
    struct poll_source source; /* tells that an item is ready */
    struct list telling;       /* in a list of epolls whose source is to tell */
    unsigned count, asked;     /* items; those that nothing tells of */
    unsigned holds, held;      /* epolls among its items; epolls that have it as an item */
};

struct epoll_item {
    struct epoll *epoll;
    struct file *file;        /* not referenced: in its list `watched` */
    uint32_t fd;              /* that it was added with */
    uint32_t events, options; /* no events: EPOLLONESHOT has told */
    uint64_t data;
    uint32_t told; /* of a file that nothing tells of, with EPOLLET: what it had last */
    unsigned refs; /* 1 while it is in the epoll, and 1 for each look at it */
    bool ready;    /* in a list of items to be looked at */
    struct list in_epoll, in_ready, in_file;
    struct poll_link link;
};

static const struct vnode_ops epoll_ops;

static struct epoll *epoll_of(struct vnode *v)
{
    return container_of(v, struct epoll, v);
}

static bool is_epoll(const struct file *f)
{
    return f->v->ops == &epoll_ops;
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void put_item_locked(struct epoll_item *i)
{
    if (--i->refs == 0)
        kfree(i);
}

static void add_ready_locked(struct epoll_item *i)
{
    if (!i->ready)
        list_push_back(&i->epoll->ready, &i->in_ready);
    i->ready = true;
}

bool epoll_shares(const struct epoll_item *i)
{
    return i->options & EPOLLEXCLUSIVE;
}

/* Returns the events of which the opening of an item's file hears. */
static uint32_t heard_by(const struct epoll_item *i)
{
    uint32_t access = i->file->flags & O_ACCMODE;

    if (!i->file->v->ops->two_ends)
        return ~0u;
    return access == O_RDONLY   ? ~(uint32_t)(EPOLLOUT | EPOLLWRNORM)
           : access == O_WRONLY ? ~(uint32_t)(EPOLLIN | EPOLLRDNORM)
                                : ~0u;
}

bool epoll_notice_locked(struct epoll_item *i, unsigned mask, struct list *told)
{
    struct epoll *e = i->epoll;

    if (!(i->events & mask & heard_by(i)))
        return false;
    add_ready_locked(i);
    bool woken = wait_wake(&e->waiters, 1);
    if (list_empty(&e->telling))
        list_push_back(told, &e->telling);
    return woken;
}

struct poll_source *epoll_source_of(struct list *told)
{
    return &container_of(told, struct epoll, telling)->source;
}

static struct epoll_item *find_locked(const struct epoll *e, struct file *f, uint32_t fd)
{
    list_for_each (it, &f->watched) {
        struct epoll_item *i = container_of(it, struct epoll_item, in_file);
        if (i->epoll == e && i->fd == fd)
            return i;
    }
    return NULL;
}

static void remove_locked(struct epoll_item *i)
{
    struct epoll *e = i->epoll;

    list_remove(&i->link.in_source);
    list_remove(&i->in_epoll);
    list_remove(&i->in_ready);
    list_remove(&i->in_file);
    i->events = 0;
    e->count--;
    e->asked -= i->file->v->ops->asked;
    if (is_epoll(i->file)) {
        e->holds--;
        epoll_of(i->file->v)->held--;
    }
    put_item_locked(i);
}

void epoll_forget(struct file *f)
{
    bool irq = spin_lock(&poll_lock);

    while (!list_empty(&f->watched))
        remove_locked(container_of(f->watched.next, struct epoll_item, in_file));
    spin_unlock(&poll_lock, irq);
}

/* ---- Looking at what may be ready ------------------------------------------------------------ */

/* Takes a reference, unless the file is being closed. poll_lock held. */
static bool get_file_locked(struct file *f)
{
    uint32_t refs = __atomic_load_n(&f->refs, __ATOMIC_RELAXED);

    while (refs)
        if (__atomic_compare_exchange_n(&f->refs, &refs, refs + 1, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

/* Polls the file of an item, of which the caller has a reference. poll_lock is held, and released
 * during the poll. */
static uint32_t look_locked(struct epoll_item *i, bool *irq)
{
    struct file *f = i->file;

    if (!get_file_locked(f))
        return 0;
    spin_unlock(&poll_lock, *irq);
    uint32_t mask = f->v->ops->poll(f->v, f->state);
    bool asked = f->v->ops->asked;
    file_put(f);
    *irq = spin_lock(&poll_lock);
    mask &= i->events;
    if (asked && i->options & EPOLLET) {
        uint32_t before = i->told;
        i->told = mask;
        mask &= ~before;
    }
    return mask;
}

/* Files that nothing tells of may be ready at any time. */
static void ask_locked(struct epoll *e)
{
    if (e->asked)
        list_for_each (it, &e->items) {
            struct epoll_item *i = container_of(it, struct epoll_item, in_epoll);
            if (i->events && i->file->v->ops->asked)
                add_ready_locked(i);
        }
}

/* Moves all of a list to the front of another. */
static void move_all(struct list *from, struct list *to)
{
    while (!list_empty(from)) {
        struct list *last = from->prev;
        list_remove(last);
        list_push_front(to, last);
    }
}

/* Reports an item that has something, and leaves it as its options say. */
static void report_locked(struct epoll_item *i, uint32_t mask, struct epoll_found *out)
{
    *out = (struct epoll_found){mask, i->data};
    if (i->options & EPOLLONESHOT)
        i->events = 0;
    else if (!(i->options & EPOLLET))
        add_ready_locked(i);
}

/* Takes what is ready, each item once. Returns how many. */
static unsigned collect(struct epoll *e, struct epoll_found *out, unsigned max)
{
    unsigned n = 0;
    struct list batch;
    bool irq = spin_lock(&poll_lock);

    ask_locked(e);
    list_init(&batch);
    move_all(&e->ready, &batch);
    while (n < max && !list_empty(&batch)) {
        struct epoll_item *i = container_of(list_pop_front(&batch), struct epoll_item, in_ready);
        i->ready = false;
        i->refs++;
        uint32_t mask = look_locked(i, &irq);
        if (mask && i->events)
            report_locked(i, mask, &out[n++]);
        put_item_locked(i);
    }
    move_all(&batch, &e->ready);
    if (!list_empty(&e->ready))
        wait_wake(&e->waiters, 1);
    spin_unlock(&poll_lock, irq);
    return n;
}

int64_t epoll_wait(struct file *f, struct epoll_found *out, unsigned max, uint64_t deadline_ns)
{
    struct epoll *e = epoll_of(f->v);

    for (;;) {
        unsigned n = collect(e, out, max);
        uint64_t now = arch_clock_ns();
        if (n || now >= deadline_ns)
            return n;
        int err = 0;
        bool irq = spin_lock(&poll_lock);
        if (list_empty(&e->ready))
            err = wait_sleep_interruptible(&e->waiters, &poll_lock, &irq,
                                           e->asked ? MIN(deadline_ns, now + POLL_LOOK_NS)
                                                    : deadline_ns);
        spin_unlock(&poll_lock, irq);
        if (err == -ERESTARTSYS)
            return -ERESTART_RESTARTBLOCK;
    }
}

/* An epoll is ready if one of its items is. */
static unsigned poll_epoll(struct vnode *v, UNUSED void *state)
{
    struct epoll *e = epoll_of(v);
    struct list batch;
    uint32_t mask = 0;
    bool irq = spin_lock(&poll_lock);

    ask_locked(e);
    list_init(&batch);
    move_all(&e->ready, &batch);
    while (!mask && !list_empty(&batch)) {
        struct epoll_item *i = container_of(list_pop_front(&batch), struct epoll_item, in_ready);
        i->ready = false;
        i->refs++;
        mask = look_locked(i, &irq);
        if (mask) {
            i->told = 0;
            add_ready_locked(i);
        }
        put_item_locked(i);
    }
    move_all(&batch, &e->ready);
    spin_unlock(&poll_lock, irq);
    return mask ? EPOLLIN | EPOLLRDNORM : 0;
}

/* ---- Changing what it waits for -------------------------------------------------------------- */

/* An epoll may have epolls that have none. */
static int check_locked(const struct epoll *e, struct file *f)
{
    if (e->count == ITEMS_MAX)
        return -ENOSPC;
    if (is_epoll(f) && (epoll_of(f->v)->holds || e->held))
        return -ELOOP;
    return 0;
}

static int add_locked(struct epoll *e, struct file *f, struct epoll_item *new)
{
    int err = find_locked(e, f, new->fd) ? -EEXIST : check_locked(e, f);

    if (err)
        return err;
    list_push_back(&e->items, &new->in_epoll);
    list_push_back(&f->watched, &new->in_file);
    poll_link_locked(&new->link, f->v);
    e->count++;
    e->asked += f->v->ops->asked;
    if (is_epoll(f)) {
        e->holds++;
        epoll_of(f->v)->held++;
    }
    return 0;
}

static struct epoll_item *make_item(struct epoll *e, struct file *f, uint32_t fd)
{
    struct epoll_item *i = kmalloc(sizeof(*i));

    if (!i)
        return NULL;
    *i = (struct epoll_item){.epoll = e, .file = f, .fd = fd, .refs = 1, .link = {.item = i}};
    list_init(&i->in_epoll);
    list_init(&i->in_ready);
    list_init(&i->in_file);
    list_init(&i->link.in_source);
    return i;
}

static void set_locked(struct epoll_item *i, uint32_t events, uint64_t data)
{
    i->events = (events & ~(uint32_t)OPTIONS) | ALWAYS;
    i->options = events & OPTIONS;
    i->data = data;
    i->told = 0;
}

/* Looks whether the item, which is new or wants something else, is ready now. Unlocks. */
static void look_first(struct epoll_item *i, bool irq)
{
    struct list told;

    list_init(&told);
    i->refs++;
    uint32_t mask = look_locked(i, &irq);
    i->told = 0;
    if (mask)
        epoll_notice_locked(i, mask, &told);
    bool tells = !list_empty(&told);
    list_remove(&i->epoll->telling);
    put_item_locked(i);
    spin_unlock(&poll_lock, irq);
    if (tells)
        poll_changed(&i->epoll->source, EPOLLIN | EPOLLRDNORM);
}

static int add_item(struct epoll *e, struct file *f, uint32_t fd, uint32_t events, uint64_t data)
{
    struct epoll_item *i = make_item(e, f, fd);

    if (!i)
        return -ENOMEM;
    set_locked(i, events, data);
    bool irq = spin_lock(&poll_lock);
    int err = add_locked(e, f, i);
    if (!err) {
        look_first(i, irq);
        return 0;
    }
    spin_unlock(&poll_lock, irq);
    kfree(i);
    return err;
}

static int change_item(struct epoll *e, struct file *f, uint32_t fd, uint32_t events, uint64_t data)
{
    bool irq = spin_lock(&poll_lock);
    struct epoll_item *i = find_locked(e, f, fd);

    if (!i || i->options & EPOLLEXCLUSIVE) {
        spin_unlock(&poll_lock, irq);
        return i ? -EINVAL : -ENOENT;
    }
    set_locked(i, events, data);
    look_first(i, irq);
    return 0;
}

static int remove_item(struct epoll *e, struct file *f, uint32_t fd)
{
    bool irq = spin_lock(&poll_lock);
    struct epoll_item *i = find_locked(e, f, fd);

    if (i)
        remove_locked(i);
    spin_unlock(&poll_lock, irq);
    return i ? 0 : -ENOENT;
}

int epoll_control(struct file *epoll, unsigned op, struct file *f, uint32_t fd, uint32_t events,
                  uint64_t data)
{
    if (!f->v->changes && !f->v->ops->asked)
        return -EPERM; /* it is always ready */
    if (!epoll_is(epoll) || f->v == epoll->v)
        return -EINVAL;
    if (op != EPOLL_CTL_DEL && events & EPOLLEXCLUSIVE &&
        (op == EPOLL_CTL_MOD || epoll_is(f) || events & ~(uint32_t)EXCLUSIVE_MAX))
        return -EINVAL;
    struct epoll *e = epoll_of(epoll->v);
    switch (op) {
    case EPOLL_CTL_ADD:
        return add_item(e, f, fd, events, data);
    case EPOLL_CTL_MOD:
        return change_item(e, f, fd, events, data);
    case EPOLL_CTL_DEL:
        return remove_item(e, f, fd);
    default:
        return -EINVAL;
    }
}

/* ---- The file -------------------------------------------------------------------------------- */

static size_t name_epoll(UNUSED struct vnode *v, char *to, size_t room)
{
    return MIN(ksnprintf(to, room, "anon_inode:[eventpoll]"), room);
}

static void release_epoll(struct vnode *v)
{
    struct epoll *e = epoll_of(v);
    bool irq = spin_lock(&poll_lock);

    while (!list_empty(&e->items))
        remove_locked(container_of(e->items.next, struct epoll_item, in_epoll));
    spin_unlock(&poll_lock, irq);
    kfree(e);
}

static const struct vnode_ops epoll_ops = {
    VNODE_OPS_NOWHERE,       .name = name_epoll,       .stat = vnode_stat,      .open = vnode_open,
    .close = vnode_close,    .read = vnode_no_read,    .write = vnode_no_write, .poll = poll_epoll,
    .ioctl = vnode_no_ioctl, .release = release_epoll,
};

bool epoll_is(const struct file *f)
{
    return is_epoll(f);
}

int epoll_make(struct file **out)
{
    struct epoll *e = kmalloc(sizeof(*e));

    if (!e)
        return -ENOMEM;
    e->v = (struct vnode){.ops = &epoll_ops, .refs = 1, .mode = 0600, .changes = &e->source};
    list_init(&e->items);
    list_init(&e->ready);
    list_init(&e->telling);
    wait_init(&e->waiters);
    poll_source_init(&e->source);
    int err = file_make(&e->v, O_RDWR, out);
    vnode_put(&e->v);
    return err;
}
