/* Sockets of all families: making, opening, waiting; see socket.h. */
#include "kernel/net/socket/socket.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include <linux/fcntl.h>

#define NEVER UINT64_MAX

static const struct vnode_ops socket_vnode_ops;
/* All sockets, in the list of the CPU that has made them: CPUs do not wait for each other. */
static struct made {
    struct spinlock lock;
    struct list sockets; /* [lock] oldest first: in_made; zeros before the first */
    uint64_t last;       /* [lock] number of a socket */
} ALIGNED(CACHE_LINE) made[CPU_MAX] = {
    [0 ... CPU_MAX - 1] = {.lock = SPINLOCK(LOCK_SOCKETS, "sockets")}};

static struct socket *socket_at(struct vnode *v)
{
    return container_of(v, struct socket, v);
}

/* ---- Making and ending ----------------------------------------------------------------------- */

static const struct socket_family *find_family(int domain)
{
    for (const struct socket_family *const *f = socket_families; *f; f++)
        if ((*f)->domain == domain)
            return *f;
    return NULL;
}

static void init_socket(struct socket *s, const struct socket_family *family, int type,
                        int protocol, struct memory_account *account)
{
    s->v = (struct vnode){
        .ops = &socket_vnode_ops, .changes = &s->changes, .refs = 1, .mode = S_IFSOCK | 0777};
    s->family = family;
    s->type = type;
    s->protocol = protocol;
    s->account = memory_account_get(account);
    spin_init(&s->lock, LOCK_SOCKET, "socket");
    wait_init(&s->waiting);
    poll_source_init(&s->changes);
    socket_init_options(&s->options);
    s->peer = (struct socket_credentials){0, (uint32_t)-1, (uint32_t)-1};
}

static void free_socket(struct socket *s)
{
    memory_uncharge(s->account, s->family->bytes);
    memory_account_put(s->account);
    kfree(s);
}

/* Puts a socket into a list, which gives it its number. */
static void list_socket(struct socket *s)
{
    unsigned cpu = arch_this_cpu()->index; /* or it was a moment ago */
    struct made *m = &made[cpu];
    bool irq = spin_lock(&m->lock);

    if (!m->sockets.next)
        list_init(&m->sockets);
    list_push_back(&m->sockets, &s->in_made);
    s->made_on = (uint16_t)cpu;
    s->v.id = ++m->last * CPU_MAX + cpu;
    spin_unlock(&m->lock, irq);
}

static void unlist_socket(struct socket *s)
{
    struct made *m = &made[s->made_on];
    bool irq = spin_lock(&m->lock);

    list_remove(&s->in_made);
    spin_unlock(&m->lock, irq);
}

/* References a listed socket, unless its last reference is gone. */
static bool get_listed(struct socket *s)
{
    uint32_t refs = __atomic_load_n(&s->v.refs, __ATOMIC_RELAXED);

    while (refs && !__atomic_compare_exchange_n(&s->v.refs, &refs, refs + 1, true, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED))
        continue;
    return refs;
}

/* Returns the first socket of a list behind s, of NULL of all of it, with a reference, or NULL. */
static struct socket *next_made(struct made *m, const struct socket *s)
{
    bool irq = spin_lock(&m->lock);
    struct list *l = s ? s->in_made.next : m->sockets.next;

    while (l && l != &m->sockets && !get_listed(container_of(l, struct socket, in_made)))
        l = l->next;
    struct socket *found = l && l != &m->sockets ? container_of(l, struct socket, in_made) : NULL;
    spin_unlock(&m->lock, irq);
    return found;
}

struct socket *socket_next(struct socket *s)
{
    unsigned cpu = s ? s->made_on : 0;
    struct socket *next = next_made(&made[cpu], s);

    while (!next && ++cpu < CPU_MAX)
        next = next_made(&made[cpu], NULL);
    socket_put(s);
    return next;
}

static int make_of(const struct socket_family *family, int type, int protocol,
                   struct memory_account *account, const struct socket_caller *by,
                   struct socket **out)
{
    if (memory_charge(account, family->bytes))
        return -ENOBUFS;
    struct socket *s = kmalloc(family->bytes);
    if (!s) {
        memory_uncharge(account, family->bytes);
        return -ENOMEM;
    }
    init_socket(s, family, type, protocol, account);
    int err = family->create(s, by);
    if (err) {
        free_socket(s);
        return err;
    }
    list_socket(s);
    *out = s;
    return 0;
}

int socket_make(int domain, int type, int protocol, const struct socket_caller *by,
                struct socket **out)
{
    if (domain < 0 || domain >= AF_MAX)
        return -EAFNOSUPPORT;
    if (type < 0 || type >= SOCK_TYPES)
        return -EINVAL;
    const struct socket_family *family = find_family(domain);
    return family ? make_of(family, type, protocol, by->account, by, out) : -EAFNOSUPPORT;
}

int socket_make_like(const struct socket *like, const struct socket_caller *by, struct socket **out)
{
    int err = make_of(like->family, like->type, like->protocol, like->account, by, out);

    if (!err)
        (*out)->options = like->options;
    return err;
}

void socket_drop(struct socket *s)
{
    s->ops->close(s);
    socket_put(s);
}

int socket_open(struct socket *s, uint32_t flags, struct file **out)
{
    int err = file_make(&s->v, O_RDWR | (flags & O_NONBLOCK), out);

    if (err)
        socket_drop(s);
    else
        socket_put(s);
    return err;
}

struct socket *socket_of(const struct file *f)
{
    return f->v->ops == &socket_vnode_ops ? socket_at(f->v) : NULL;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

void socket_changed(struct socket *s, unsigned mask)
{
    wait_wake(&s->waiting, ~0u);
    poll_changed(&s->changes, mask);
}

static uint64_t begin_wait(struct socket *s, const uint64_t *longest_ns, bool nonblock)
{
    if (nonblock)
        return 0;
    bool irq = spin_lock(&s->lock);
    uint64_t ns = *longest_ns, deadline_ns;
    spin_unlock(&s->lock, irq);
    return ns == NEVER || __builtin_add_overflow(arch_clock_ns(), ns, &deadline_ns) ? NEVER
                                                                                    : deadline_ns;
}

uint64_t socket_receive_deadline(struct socket *s, bool nonblock)
{
    return begin_wait(s, &s->options.receive_ns, nonblock);
}

uint64_t socket_send_deadline(struct socket *s, bool nonblock)
{
    return begin_wait(s, &s->options.send_ns, nonblock);
}

int socket_wait_in(struct wait_queue *q, struct socket *s, bool *irq, uint64_t deadline_ns)
{
    if (!deadline_ns)
        return -EAGAIN;
    int err = wait_sleep_interruptible(q, &s->lock, irq, deadline_ns);
    return err == -ETIMEDOUT ? -EAGAIN : err == -ERESTARTSYS && deadline_ns != NEVER ? -EINTR : err;
}

int socket_wait(struct socket *s, bool *irq, uint64_t deadline_ns)
{
    return socket_wait_in(&s->waiting, s, irq, deadline_ns);
}

int socket_error(struct socket *s)
{
    int err = s->error;

    s->error = 0;
    return err;
}

/* ---- The vnode ------------------------------------------------------------------------------- */

static void close_socket(struct vnode *v, UNUSED void *state)
{
    struct socket *s = socket_at(v);

    s->ops->close(s);
}

static void release_socket(struct vnode *v)
{
    struct socket *s = socket_at(v);

    unlist_socket(s);
    s->ops->release(s);
    free_socket(s);
}

static unsigned poll_socket(struct vnode *v, UNUSED void *state)
{
    struct socket *s = socket_at(v);

    return s->ops->poll(s);
}

static int64_t ioctl_socket(struct vnode *v, UNUSED void *state, uint32_t request, uint64_t arg)
{
    struct socket *s = socket_at(v);

    int64_t result = s->ops->ioctl(s, request, arg);

    return result == -ENOTTY ? socket_interface_ioctl(s, request, arg) : result;
}

static size_t name_socket(struct vnode *v, char *to, size_t room)
{
    return MIN(ksnprintf(to, room, "socket:[%llu]", (unsigned long long)v->id), room);
}

/* Reads and writes are messages: socket calls, which know who makes them. */
static const struct vnode_ops socket_vnode_ops = {
    VNODE_OPS_NOWHERE,     .name = name_socket,       .stat = vnode_stat,      .open = vnode_open,
    .close = close_socket, .read = vnode_no_read,     .write = vnode_no_write, .poll = poll_socket,
    .ioctl = ioctl_socket, .release = release_socket,
};

/* ---- What a family lacks --------------------------------------------------------------------- */

int socket_no_pair(UNUSED struct socket *a, UNUSED struct socket *b,
                   UNUSED const struct socket_caller *by)
{
    return -EOPNOTSUPP;
}

int socket_no_listen(UNUSED struct socket *s, UNUSED unsigned backlog,
                     UNUSED const struct socket_caller *by)
{
    return -EOPNOTSUPP;
}

int socket_no_accept(UNUSED struct socket *s, UNUSED bool nonblock,
                     UNUSED const struct socket_caller *by, UNUSED struct socket **out)
{
    return -EOPNOTSUPP;
}

int socket_no_get_option(UNUSED struct socket *s, UNUSED int level, UNUSED int name,
                         UNUSED void *out, UNUSED unsigned *bytes)
{
    return -EOPNOTSUPP;
}

int socket_no_set_option(UNUSED struct socket *s, UNUSED int level, UNUSED int name,
                         UNUSED const void *value, UNUSED unsigned bytes)
{
    return -EOPNOTSUPP;
}

void socket_no_option_set(UNUSED struct socket *s, UNUSED int name)
{
}

void socket_no_linger(UNUSED struct socket *s)
{
}

int64_t socket_no_ioctl(UNUSED struct socket *s, UNUSED uint32_t request, UNUSED vaddr_t arg)
{
    return -ENOTTY;
}
