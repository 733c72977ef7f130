/*
 * Pseudo-terminals: opening /dev/ptmx makes a terminal, /dev/pts/N, whose other end the opening is.
 * A program that has that master types by writing, and reads what the terminal shows.
 *
 * A master whose terminal was open and is closed by all reads an error (EIO) once it has read all
 * text, until it is opened again. A terminal whose master is closed is gone: it has hung up.
 */
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/file/terminal.h"
#include "kernel/fs/fs.h"
#include "kernel/fs/tree.h"
#include "kernel/mem/mem.h"
#include <asm/signal.h>
#include <linux/fcntl.h>
#include <linux/magic.h>
#include <linux/major.h>
#include <linux/poll.h>

#define PTYS_MAX  1024
#define PTY_GROUP 5 /* Debian's group tty */
#define PTY_MODE  (S_IFCHR | 0620)
#define ROOT_ID   1
#define FIRST_ID  3 /* as on Linux: of /dev/pts/0 */

struct pty {
    struct terminal t;
    struct vnode slave, master; /* its vnodes: /dev/pts/N, and what opening /dev/ptmx opens */
    uint32_t number;            /* [-] N */
    struct list in_ptys;        /* ptys_lock */
    bool locked;                /* [lock of t] it cannot be opened: TIOCSPTLCK */
    unsigned masters, slaves;   /* [lock of t] openings */
    bool left;                  /* [lock of t] it was open, and is not any more */
};

static struct spinlock ptys_lock = SPINLOCK(LOCK_FILE, "pseudo-terminals");
static struct list ptys = {&ptys, &ptys}; /* ptys_lock; ascending by number */
static unsigned count;                    /* ptys_lock */

static const struct vnode_ops slave_ops, master_ops, alias_ops;
static struct vnode root;    /* /dev/pts */
static struct vnode *device; /* /dev/ptmx; fixed after pty_start() */

static struct pty *pty_of(struct terminal *t)
{
    return container_of(t, struct pty, t);
}

/* Of a vnode that is its slave, or opened in the place of /dev/tty; of a master. */
static struct pty *of_slave(struct vnode *v)
{
    return v->ops == &alias_ops ? pty_of(container_of(v, struct terminal, alias))
                                : container_of(v, struct pty, slave);
}

static struct pty *of_master(struct vnode *v)
{
    return container_of(v, struct pty, master);
}

/* ---- The terminal ---------------------------------------------------------------------------- */

static void nothing(UNUSED struct terminal *t)
{
}

/* Those that have the master were told when the text was put. */
static void show(UNUSED struct terminal *t, UNUSED enum console_writer writer)
{
}

static void release(struct terminal *t)
{
    kfree(pty_of(t));
}

static const struct terminal_end end = {
    .look = nothing, .show = show, .forget = nothing, .release = release};

static int open_slave(struct vnode *v, unsigned flags, UNUSED void **state)
{
    struct pty *p = of_slave(v);
    bool irq = spin_lock(&p->t.lock);
    bool refused = terminal_has_hung_up(&p->t) || p->locked;

    if (!refused) {
        p->slaves++;
        p->left = false;
    }
    spin_unlock(&p->t.lock, irq);
    if (refused)
        return -EIO;
    if (!(flags & VNODE_NO_CONTROL) && (flags & VNODE_READ) && v->ops == &slave_ops)
        terminal_jobs->opened(&p->t);
    return 0;
}

static void close_slave(struct vnode *v, UNUSED void *state)
{
    struct pty *p = of_slave(v);
    bool irq = spin_lock(&p->t.lock);

    p->left = --p->slaves == 0;
    if (p->left)
        terminal_changed_locked(&p->t, 0, POLLHUP);
    spin_unlock(&p->t.lock, irq);
}

static int64_t read_slave(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                          void *to, size_t n)
{
    return terminal_read(&of_slave(v)->t, flags, to, n);
}

static int64_t write_slave(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                           const void *from, size_t n)
{
    return terminal_write(&of_slave(v)->t, CONSOLE_PROGRAM, flags, from, n);
}

static unsigned poll_slave(struct vnode *v, UNUSED void *state)
{
    return terminal_poll(&of_slave(v)->t);
}

static int64_t ioctl_slave(struct vnode *v, UNUSED void *state, uint32_t request, uint64_t arg)
{
    return terminal_ioctl(&of_slave(v)->t, false, request, arg);
}

static struct vnode *parent_of_slave(UNUSED struct vnode *v)
{
    return vnode_get(&root);
}

static size_t name_slave(struct vnode *v, char *to, size_t room)
{
    return MIN(ksnprintf(to, room, "%u", of_slave(v)->number), room);
}

static int change_slave(struct vnode *v, uint32_t mode)
{
    v->mode = S_IFCHR | (mode & 07777);
    return 0;
}

static int give_slave(struct vnode *v, uint32_t uid, uint32_t gid)
{
    if (uid != UINT32_MAX)
        v->uid = uid;
    if (gid != UINT32_MAX)
        v->gid = gid;
    return 0;
}

static void release_slave(struct vnode *v)
{
    terminal_put(&of_slave(v)->t);
}

/* Of /dev/pts/N, and of what opening /dev/tty opens. */
#define SLAVE_OPS                                                                       \
    .stream = true, .lookup = vnode_no_lookup, .list = vnode_no_list,                   \
    .readlink = vnode_no_readlink, .follow = vnode_no_follow, .stat = vnode_stat,       \
    .open = open_slave, .close = close_slave, .read = read_slave, .write = write_slave, \
    .poll = poll_slave, .ioctl = ioctl_slave, .set_size = vnode_no_resize
static const struct vnode_ops slave_ops = {
    SLAVE_OPS,          VNODE_OPS_FIXED_BUT_ATTRIBUTES, .change = change_slave,
    .give = give_slave, .stamp = vnode_no_stamp,        .parent = parent_of_slave,
    .name = name_slave, .release = release_slave,
};
static const struct vnode_ops alias_ops = {
    SLAVE_OPS,
    VNODE_OPS_FIXED,
    .parent = terminal_alias_parent,
    .name = terminal_alias_name,
    .release = terminal_alias_release,
};

/* ---- The master ------------------------------------------------------------------------------ */

static int open_master(struct vnode *v, UNUSED unsigned flags, UNUSED void **state)
{
    struct pty *p = of_master(v);
    bool irq = spin_lock(&p->t.lock);
    bool gone = terminal_has_hung_up(&p->t);

    p->masters += !gone;
    spin_unlock(&p->t.lock, irq);
    return gone ? -EIO : 0;
}

/* Takes it out of /dev/pts. */
static void forget_pty(struct pty *p)
{
    bool irq = spin_lock(&ptys_lock);

    list_remove(&p->in_ptys);
    count--;
    spin_unlock(&ptys_lock, irq);
}

static void close_master(struct vnode *v, UNUSED void *state)
{
    struct pty *p = of_master(v);
    bool irq = spin_lock(&p->t.lock), last = --p->masters == 0;

    spin_unlock(&p->t.lock, irq);
    if (last)
        terminal_hang_up(&p->t);
}

static int64_t read_master(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                           void *to, size_t n)
{
    struct pty *p = of_master(v);
    int64_t result = 0;
    bool irq = spin_lock(&p->t.lock);

    while (n && !result) {
        result = (int64_t)discipline_show(&p->t.line, to, n);
        if (result)
            terminal_changed_locked(&p->t, POLLOUT | POLLWRNORM, 0);
        else if (p->left)
            result = -EIO;
        else if (flags & VNODE_NONBLOCK)
            result = -EAGAIN;
        else
            result = wait_sleep_interruptible(&p->t.waiting, &p->t.lock, &irq, UINT64_MAX);
    }
    spin_unlock(&p->t.lock, irq);
    return result;
}

/* Sleeps until there may be room for what is typed. */
static int wait_for_room(struct terminal *t)
{
    int err = 0;
    bool irq = spin_lock(&t->lock);

    if (!discipline_has_room(&t->line))
        err = wait_sleep_interruptible(&t->waiting, &t->lock, &irq, UINT64_MAX);
    spin_unlock(&t->lock, irq);
    return err;
}

static int64_t write_master(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                            const void *from, size_t n)
{
    struct terminal *t = &of_master(v)->t;
    size_t done = 0;
    int err = 0;

    while (!err && done < n) {
        done += terminal_type(t, (const char *)from + done, n - done);
        if (done < n)
            err = flags & VNODE_NONBLOCK ? -EAGAIN : wait_for_room(t);
    }
    return done ? (int64_t)done : err;
}

static unsigned poll_master(struct vnode *v, UNUSED void *state)
{
    struct pty *p = of_master(v);
    bool irq = spin_lock(&p->t.lock);
    unsigned found = (discipline_shown(&p->t.line) ? POLLIN | POLLRDNORM : 0) |
                     (discipline_has_room(&p->t.line) ? POLLOUT | POLLWRNORM : 0) |
                     (p->left ? POLLHUP : 0);

    spin_unlock(&p->t.lock, irq);
    return found;
}

static int64_t put_number(uint64_t arg, unsigned n)
{
    return arch_copy_to_user(arg, &n, sizeof(n)) ? -EFAULT : 0;
}

static int64_t set_locked(struct pty *p, uint64_t arg)
{
    int locked;

    if (arch_copy_from_user(&locked, arg, sizeof(locked)))
        return -EFAULT;
    bool irq = spin_lock(&p->t.lock);
    p->locked = locked;
    spin_unlock(&p->t.lock, irq);
    return 0;
}

/* Opens the terminal, also a locked one's, and where there is no way to /dev/pts. */
static int64_t open_peer(struct pty *p, uint64_t flags)
{
    struct file *f;
    struct vnode *v = terminal_use(&p->t, &p->slave);
    int err = file_make(v, (uint32_t)flags, &f);

    vnode_put(v);
    return err ? err : terminal_jobs->add_file(f, flags & O_CLOEXEC);
}

/* Sends one of the signals that can be typed. */
static int64_t send_signal(struct pty *p, uint64_t number)
{
    if (number != SIGINT && number != SIGQUIT && number != SIGTSTP)
        return -EINVAL;
    terminal_jobs->typed(&p->t, (int)number);
    return 0;
}

static int64_t forget_shown(struct pty *p, uint64_t which)
{
    static const uint64_t others[] = {TCOFLUSH, TCIFLUSH, TCIOFLUSH};

    return which < ARRAY_SIZE(others) ? terminal_ioctl(&p->t, true, TCFLSH, others[which])
                                      : -EINVAL;
}

static int64_t ioctl_master(struct vnode *v, UNUSED void *state, uint32_t request, uint64_t arg)
{
    struct pty *p = of_master(v);

    switch (request) {
    case TIOCGPTN:
        return put_number(arg, p->number);
    case TIOCSPTLCK:
        return set_locked(p, arg);
    case TIOCGPTLCK:
        return put_number(arg, p->locked);
    case TIOCGPTPEER:
        return open_peer(p, arg);
    case TIOCSIG:
        return send_signal(p, arg);
    case TCFLSH:
        return forget_shown(p, arg);
    case FIONREAD:
        return terminal_ioctl(&p->t, true, TIOCOUTQ, arg);
    case TIOCOUTQ:
        return put_number(arg, 0);
    default:
        return terminal_ioctl(&p->t, true, request, arg);
    }
}

static struct vnode *parent_of_master(UNUSED struct vnode *v)
{
    return tree_parent(device);
}

static size_t name_master(UNUSED struct vnode *v, char *to, size_t room)
{
    return tree_name(device, to, room);
}

static void release_master(struct vnode *v)
{
    struct pty *p = of_master(v);

    forget_pty(p);
    terminal_put(&p->t);
}

static const struct vnode_ops master_ops = {
    .stream = true,
    .lookup = vnode_no_lookup,
    .parent = parent_of_master,
    .name = name_master,
    .list = vnode_no_list,
    .readlink = vnode_no_readlink,
    .follow = vnode_no_follow,
    .stat = vnode_stat,
    .open = open_master,
    .close = close_master,
    .read = read_master,
    .write = write_master,
    .poll = poll_master,
    .ioctl = ioctl_master,
    .set_size = vnode_no_resize,
    VNODE_OPS_FIXED,
    .release = release_master,
};

/* ---- /dev/ptmx ------------------------------------------------------------------------------- */

/* Enters a pseudo-terminal in /dev/pts, with the lowest free number. Returns false if there are
 * PTYS_MAX. */
static bool enter_pty(struct pty *p)
{
    bool irq = spin_lock(&ptys_lock), room = count < PTYS_MAX;
    struct list *behind = ptys.next;
    uint32_t n = 0;

    while (behind != &ptys && container_of(behind, struct pty, in_ptys)->number == n) {
        behind = behind->next;
        n++;
    }
    if (room) {
        p->number = n;
        p->slave.id = FIRST_ID + n;
        p->slave.minor = n;
        p->t.device = UNIX98_PTY_SLAVE_MAJOR << 8 | (n & 0xff) | (n & ~0xffu) << 12;
        list_insert_before(behind, &p->in_ptys);
        count++;
    }
    spin_unlock(&ptys_lock, irq);
    return room;
}

static struct vnode vnode_like(const struct vnode *like, const struct vnode_ops *ops,
                               struct poll_source *changes)
{
    struct vnode v = *like;

    v.ops = ops;
    v.changes = changes;
    v.refs = 0;
    return v;
}

/* Opening /dev/ptmx opens the master of a new pseudo-terminal. */
static int make_pty(UNUSED struct vnode *v, struct vnode **out)
{
    struct pty *p = kmalloc(sizeof(*p));

    if (!p)
        return -ENOMEM;
    p->locked = true;
    p->master = vnode_like(device, &master_ops, &p->t.other_changes);
    p->slave = vnode_like(&root, &slave_ops, &p->t.changes);
    p->slave.mode = PTY_MODE;
    p->slave.uid = (uint32_t)proc_user;
    p->slave.gid = PTY_GROUP;
    p->slave.major = UNIX98_PTY_SLAVE_MAJOR;
    terminal_init(&p->t, &end, &alias_ops);
    bool entered = enter_pty(p);
    if (entered)
        *out = terminal_use(&p->t, &p->master);
    terminal_put(&p->t); /* the vnode's reference stays */
    return entered ? 0 : -ENOSPC;
}

static const struct vnode_ops device_ops = {
    .stream = true,
    .lookup = vnode_no_lookup,
    .parent = tree_parent,
    .name = tree_name,
    .list = vnode_no_list,
    .readlink = vnode_no_readlink,
    .follow = make_pty,
    .stat = vnode_stat,
    .open = vnode_open,
    .close = vnode_close,
    .read = vnode_no_read,
    .write = vnode_no_write,
    .poll = vnode_poll,
    .ioctl = vnode_no_ioctl,
    .set_size = vnode_no_resize,
    VNODE_OPS_FIXED,
    .release = vnode_no_release,
};

/* ---- /dev/pts -------------------------------------------------------------------------------- */

/* Reads a number as it is printed: without leading zeros. Returns false if it is none. */
static bool read_number(const char *s, size_t n, uint32_t *out)
{
    uint32_t number = 0;

    if (!n || n > 4 || (n > 1 && *s == '0'))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        number = number * 10 + (uint32_t)(s[i] - '0');
    }
    *out = number;
    return true;
}

static int find_pty(UNUSED struct vnode *folder, const char *name, size_t n, struct vnode **out)
{
    uint32_t number;
    int err = -ENOENT;

    if (!read_number(name, n, &number))
        return err;
    bool irq = spin_lock(&ptys_lock);
    list_for_each (it, &ptys) {
        struct pty *p = container_of(it, struct pty, in_ptys);
        if (p->number != number || terminal_has_hung_up(&p->t))
            continue;
        *out = terminal_use(&p->t, &p->slave);
        err = 0;
    }
    spin_unlock(&ptys_lock, irq);
    return err;
}

/* A cursor is the number, and 1. */
static int list_ptys(UNUSED struct vnode *folder, uint64_t cursor, vnode_entry *take, void *to)
{
    char name[12];
    bool irq = spin_lock(&ptys_lock);

    list_for_each (it, &ptys) {
        struct pty *p = container_of(it, struct pty, in_ptys);
        if (p->number < cursor || terminal_has_hung_up(&p->t))
            continue;
        size_t n = ksnprintf(name, sizeof(name), "%u", p->number);
        if (!take(to, name, n, p->slave.id, S_IFCHR, p->number + 1))
            break;
    }
    spin_unlock(&ptys_lock, irq);
    return 0;
}

static size_t name_root(UNUSED struct vnode *v, UNUSED char *to, UNUSED size_t room)
{
    return 0;
}

static const struct vnode_ops root_ops = {
    .lookup = find_pty,
    .parent = vnode_no_parent,
    .name = name_root,
    .list = list_ptys,
    .readlink = vnode_no_readlink,
    .follow = vnode_no_follow,
    .stat = vnode_stat,
    .open = vnode_open,
    .close = vnode_close,
    .read = vnode_no_read,
    .write = vnode_no_write,
    .poll = vnode_poll,
    .ioctl = vnode_no_ioctl,
    .set_size = vnode_no_resize,
    VNODE_OPS_FIXED,
    .release = vnode_no_release,
};

void pty_start(void)
{
    static struct mount mount = {
        .root = &root, .type = "devpts", .magic = DEVPTS_SUPER_MAGIC, .usage = mount_no_usage};

    root = (struct vnode){
        .ops = &root_ops, .mount = &mount, .id = ROOT_ID, .refs = 1, .mode = S_IFDIR | 0755};
    device = fs_add_device("ptmx", 0666, TTYAUX_MAJOR, 2, &device_ops);
    if (fs_mount_on("/dev/pts", &mount))
        panic("/dev/pts: no memory for the file system there");
}
