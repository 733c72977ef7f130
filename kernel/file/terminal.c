/* See terminal.h. */
#include "kernel/file/terminal.h"
#include "kernel/arch/arch.h"
#include "kernel/fs/fs.h"
#include "kernel/fs/tree.h"
#include <asm/signal.h>
#include <linux/major.h>
#include <linux/poll.h>

#define IN      (POLLIN | POLLRDNORM)
#define OUT     (POLLOUT | POLLWRNORM)
#define TIME_NS (100 * NS_PER_MS) /* the unit of VTIME */

const struct terminal_jobs *terminal_jobs;

static struct vnode *own; /* /dev/tty; fixed after terminals_start() */

/* ---- All of them ----------------------------------------------------------------------------- */

static struct spinlock terminals_lock = SPINLOCK(LOCK_FILE, "terminals");
static struct list terminals = {&terminals, &terminals}; /* terminals_lock */

void terminal_init(struct terminal *t, const struct terminal_end *end,
                   const struct vnode_ops *alias_ops)
{
    t->end = end;
    t->refs = 1;
    t->alias = *own;
    t->alias.ops = alias_ops;
    t->alias.refs = 0;
    t->alias.changes = &t->changes;
    spin_init(&t->lock, LOCK_FILE, "terminal");
    discipline_init(&t->line);
    wait_init(&t->waiting);
    poll_source_init(&t->changes);
    poll_source_init(&t->other_changes);
    bool irq = spin_lock(&terminals_lock);
    list_push_back(&terminals, &t->in_all);
    spin_unlock(&terminals_lock, irq);
}

void terminal_get(struct terminal *t)
{
    __atomic_add_fetch(&t->refs, 1, __ATOMIC_RELAXED);
}

void terminal_put(struct terminal *t)
{
    if (!t || __atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
        return;
    bool irq = spin_lock(&terminals_lock);
    list_remove(&t->in_all);
    spin_unlock(&terminals_lock, irq);
    t->end->release(t);
}

struct vnode *terminal_use(struct terminal *t, struct vnode *v)
{
    if (__atomic_fetch_add(&v->refs, 1, __ATOMIC_ACQ_REL) == 0)
        terminal_get(t);
    return v;
}

/* Takes a reference, unless the terminal is being released. */
static bool get_unless_gone(struct terminal *t)
{
    uint32_t refs = __atomic_load_n(&t->refs, __ATOMIC_RELAXED);

    while (refs && !__atomic_compare_exchange_n(&t->refs, &refs, refs + 1, false, __ATOMIC_ACQ_REL,
                                                __ATOMIC_RELAXED))
        ;
    return refs;
}

struct terminal *terminal_of_session(uint32_t session, bool works)
{
    struct terminal *found = NULL;
    bool irq = spin_lock(&terminals_lock);

    list_for_each (it, &terminals) {
        struct terminal *t = container_of(it, struct terminal, in_all);
        if (__atomic_load_n(&t->session, __ATOMIC_RELAXED) == session &&
            !(works && terminal_has_hung_up(t)) && get_unless_gone(t)) {
            found = t;
            break;
        }
    }
    spin_unlock(&terminals_lock, irq);
    return found;
}

bool terminal_has_hung_up(const struct terminal *t)
{
    return __atomic_load_n(&t->hung_up, __ATOMIC_ACQUIRE);
}

void terminal_changed_locked(struct terminal *t, unsigned mask, unsigned other_mask)
{
    wait_wake(&t->waiting, ~0u);
    if (mask)
        poll_changed(&t->changes, mask);
    if (other_mask)
        poll_changed(&t->other_changes, other_mask);
}

void terminal_session_ended(struct terminal *t)
{
    bool irq = spin_lock(&t->lock);

    if (t->end->shared)
        discipline_drop_line(&t->line);
    spin_unlock(&t->lock, irq);
}

void terminal_hang_up(struct terminal *t)
{
    bool irq = spin_lock(&t->lock);

    __atomic_store_n(&t->hung_up, true, __ATOMIC_RELEASE);
    discipline_forget(&t->line);
    terminal_changed_locked(t, IN | OUT | POLLHUP | POLLERR, 0);
    spin_unlock(&t->lock, irq);
    terminal_jobs->hung_up(t);
}

/* ---- Typing ---------------------------------------------------------------------------------- */

/* Types text up to a byte that stands for a signal. Returns the number of bytes taken. */
static size_t type_part(struct terminal *t, const char *text, size_t n, int *number)
{
    size_t done = 0;
    bool irq = spin_lock(&t->lock);

    *number = 0;
    while (done < n && !*number && discipline_has_room(&t->line))
        *number = discipline_type(&t->line, text[done++]);
    terminal_changed_locked(t, IN | OUT, IN);
    spin_unlock(&t->lock, irq);
    return done;
}

size_t terminal_type(struct terminal *t, const char *text, size_t n)
{
    size_t done = 0;
    int number;

    do {
        done += type_part(t, text + done, n - done, &number);
        if (number)
            terminal_jobs->typed(t, number);
    } while (number && done < n);
    t->end->show(t, CONSOLE_PROGRAM);
    return done;
}

bool terminal_take_signal(struct terminal *t, char c)
{
    bool irq = spin_lock(&t->lock);
    bool is = discipline_signal(&t->line, c), forgets = !(t->line.settings.c_lflag & NOFLSH);

    spin_unlock(&t->lock, irq);
    if (!is)
        return false;
    if (forgets)
        t->end->forget(t);
    terminal_type(t, &c, 1);
    return true;
}

void terminal_set_window(struct terminal *t, const struct winsize *w)
{
    bool irq = spin_lock(&t->lock), changed = memcmp(&t->window, w, sizeof(*w)) != 0;

    t->window = *w;
    spin_unlock(&t->lock, irq);
    if (changed)
        terminal_jobs->typed(t, SIGWINCH);
}

/* ---- Reading and writing --------------------------------------------------------------------- */

/* How many bytes a read waits for, and how long; of lines it is one byte. */
struct patience {
    size_t least;
    uint64_t first_ns, next_ns; /* for the first byte, and for each other one; UINT64_MAX: ever */
};

static struct patience patience_of(const struct termios *s)
{
    uint64_t ns = s->c_cc[VTIME] ? s->c_cc[VTIME] * TIME_NS : UINT64_MAX;

    if (s->c_lflag & ICANON)
        return (struct patience){1, UINT64_MAX, UINT64_MAX};
    if (s->c_cc[VMIN])
        return (struct patience){s->c_cc[VMIN], UINT64_MAX, ns};
    return (struct patience){1, s->c_cc[VTIME] ? ns : 0, 0};
}

static uint64_t deadline_in(uint64_t ns)
{
    return ns == UINT64_MAX ? UINT64_MAX : arch_clock_ns() + ns;
}

/* Takes what was typed. Returns as discipline_read(); 0: it has hung up. */
static int64_t take_typed(struct terminal *t, char *to, size_t n)
{
    t->end->look(t);
    bool irq = spin_lock(&t->lock);
    int64_t got = terminal_has_hung_up(t) ? 0 : discipline_read(&t->line, to, n);
    if (got >= 0)
        terminal_changed_locked(t, 0, OUT);
    spin_unlock(&t->lock, irq);
    return got;
}

/* Sleeps until there may be something to read. Returns 0, or what ends a read. */
static int wait_for_typed(struct terminal *t, uint64_t deadline_ns)
{
    uint64_t look = t->end->look_ns ? arch_clock_ns() + t->end->look_ns : UINT64_MAX;
    int err = 0;
    bool irq = spin_lock(&t->lock);

    if (!discipline_readable(&t->line, 1) && !terminal_has_hung_up(t))
        err = wait_sleep_interruptible(&t->waiting, &t->lock, &irq, MIN(look, deadline_ns));
    spin_unlock(&t->lock, irq);
    if (err == -ETIMEDOUT)
        err = 0;
    return terminal_has_hung_up(t) ? -EIO : err;
}

int64_t terminal_read(struct terminal *t, unsigned flags, void *to, size_t n)
{
    int64_t err = terminal_jobs->access(t, SIGTTIN);
    size_t got = 0;

    if (err || !n)
        return err;
    bool irq = spin_lock(&t->lock);
    struct patience patience = patience_of(&t->line.settings);
    bool lines = t->line.settings.c_lflag & ICANON;
    spin_unlock(&t->lock, irq);
    uint64_t deadline = deadline_in(patience.first_ns);
    while (!err && got < n) {
        int64_t part = take_typed(t, (char *)to + got, n - got);
        if (part >= 0) {
            got += (size_t)part;
            if (lines || !part || got >= patience.least)
                break;
            deadline = deadline_in(patience.next_ns);
        } else if (arch_clock_ns() >= deadline)
            break;
        else
            err = flags & VNODE_NONBLOCK ? -EAGAIN : wait_for_typed(t, deadline);
    }
    return got ? (int64_t)got : err;
}

/* Puts text, or waits for room. Returns the bytes put, or what ends a write. */
static int64_t put_text(struct terminal *t, unsigned flags, const char *from, size_t n)
{
    bool irq = spin_lock(&t->lock);
    int64_t put = terminal_has_hung_up(t) ? -EIO : (int64_t)discipline_write(&t->line, from, n);

    if (put > 0)
        terminal_changed_locked(t, 0, IN);
    if (!put)
        put = flags & VNODE_NONBLOCK
                  ? -EAGAIN
                  : wait_sleep_interruptible(&t->waiting, &t->lock, &irq, UINT64_MAX);
    spin_unlock(&t->lock, irq);
    return put;
}

int terminal_may_write(struct terminal *t)
{
    bool irq = spin_lock(&t->lock), asks = t->line.settings.c_lflag & TOSTOP;

    spin_unlock(&t->lock, irq);
    return asks ? terminal_jobs->access(t, SIGTTOU) : 0;
}

int64_t terminal_write(struct terminal *t, enum console_writer writer, unsigned flags,
                       const void *from, size_t n)
{
    int64_t err = terminal_may_write(t);
    size_t done = 0;

    while (!err && done < n) {
        int64_t put = put_text(t, flags, (const char *)from + done, n - done);
        if (put > 0) {
            done += (size_t)put;
            t->end->show(t, writer);
        } else
            err = put;
    }
    return done ? (int64_t)done : err;
}

unsigned terminal_poll(struct terminal *t)
{
    unsigned found = 0;

    t->end->look(t);
    bool irq = spin_lock(&t->lock);
    const uint8_t *c = t->line.settings.c_cc;
    if (terminal_has_hung_up(t))
        found = IN | OUT | POLLHUP | POLLERR;
    else if (discipline_readable(&t->line, c[VTIME] || !c[VMIN] ? 1 : c[VMIN]))
        found = IN;
    if (discipline_takes_text(&t->line))
        found |= OUT;
    spin_unlock(&t->lock, irq);
    return found;
}

/* ---- Settings -------------------------------------------------------------------------------- */

static int64_t get_settings(struct terminal *t, uint64_t arg)
{
    bool irq = spin_lock(&t->lock);
    struct termios s = t->line.settings;

    spin_unlock(&t->lock, irq);
    return arch_copy_to_user(arg, &s, sizeof(s)) ? -EFAULT : 0;
}

/* The same in the form of System V: the lower halves of the flags, and the first characters. */
static int64_t get_old_settings(struct terminal *t, uint64_t arg)
{
    bool irq = spin_lock(&t->lock);
    const struct termios *s = &t->line.settings;
    struct termio old = {.c_iflag = (uint16_t)s->c_iflag,
                         .c_oflag = (uint16_t)s->c_oflag,
                         .c_cflag = (uint16_t)s->c_cflag,
                         .c_lflag = (uint16_t)s->c_lflag,
                         .c_line = s->c_line};

    memcpy(old.c_cc, s->c_cc, sizeof(old.c_cc));
    spin_unlock(&t->lock, irq);
    return arch_copy_to_user(arg, &old, sizeof(old)) ? -EFAULT : 0;
}

static tcflag_t with_low(tcflag_t flags, uint16_t low)
{
    return (flags & ~(tcflag_t)UINT16_MAX) | low;
}

static void apply_old(struct termios *s, const struct termio *old)
{
    s->c_iflag = with_low(s->c_iflag, old->c_iflag);
    s->c_oflag = with_low(s->c_oflag, old->c_oflag);
    s->c_cflag = with_low(s->c_cflag, old->c_cflag);
    s->c_lflag = with_low(s->c_lflag, old->c_lflag);
    s->c_line = old->c_line;
    memcpy(s->c_cc, old->c_cc, sizeof(old->c_cc));
}

/* `old`: in the form of System V. */
static int64_t set_settings(struct terminal *t, uint64_t arg, bool old, bool forgets)
{
    union {
        struct termios now;
        struct termio old;
    } given;

    if (arch_copy_from_user(&given, arg, old ? sizeof(given.old) : sizeof(given.now)))
        return -EFAULT;
    bool irq = spin_lock(&t->lock);
    struct termios s = old ? t->line.settings : given.now;
    if (old)
        apply_old(&s, &given.old);
    if (forgets)
        discipline_forget(&t->line);
    discipline_set(&t->line, &s);
    terminal_changed_locked(t, IN | OUT, OUT);
    spin_unlock(&t->lock, irq);
    return 0;
}

static int64_t get_window(struct terminal *t, uint64_t arg)
{
    bool irq = spin_lock(&t->lock);
    struct winsize w = t->window;

    spin_unlock(&t->lock, irq);
    return arch_copy_to_user(arg, &w, sizeof(w)) ? -EFAULT : 0;
}

static int64_t set_window(struct terminal *t, uint64_t arg)
{
    struct winsize w;

    if (arch_copy_from_user(&w, arg, sizeof(w)))
        return -EFAULT;
    terminal_set_window(t, &w);
    return 0;
}

static int64_t put_number(uint64_t arg, unsigned n)
{
    return arch_copy_to_user(arg, &n, sizeof(n)) ? -EFAULT : 0;
}

static int64_t bytes_typed(struct terminal *t, uint64_t arg)
{
    t->end->look(t);
    bool irq = spin_lock(&t->lock);
    unsigned n = discipline_bytes(&t->line);
    spin_unlock(&t->lock, irq);
    return put_number(arg, n);
}

static int64_t bytes_shown(struct terminal *t, uint64_t arg)
{
    bool irq = spin_lock(&t->lock);
    unsigned n = discipline_shown(&t->line);

    spin_unlock(&t->lock, irq);
    return put_number(arg, n);
}

/* Forgets what was typed, or what is to be shown. */
static int64_t flush(struct terminal *t, uint64_t which)
{
    if (which != TCIFLUSH && which != TCOFLUSH && which != TCIOFLUSH)
        return -EINVAL;
    bool irq = spin_lock(&t->lock);
    if (which != TCOFLUSH)
        discipline_forget(&t->line);
    if (which != TCIFLUSH)
        t->line.shown.taken = t->line.shown.put;
    terminal_changed_locked(t, OUT, OUT);
    spin_unlock(&t->lock, irq);
    if (which != TCOFLUSH)
        t->end->forget(t);
    return 0;
}

/* Stops and continues text; TCIOFF and TCION ask the other end to, by the characters for that. */
static int64_t control_flow(struct terminal *t, uint64_t what)
{
    int64_t result = 0;
    bool irq = spin_lock(&t->lock);

    if (what == TCOOFF || what == TCOON)
        t->line.stopped = what == TCOOFF;
    else if (what == TCIOFF || what == TCION) {
        char c = (char)t->line.settings.c_cc[what == TCIOFF ? VSTOP : VSTART];
        if (c)
            discipline_ask(&t->line, c);
    } else
        result = -EINVAL;
    terminal_changed_locked(t, OUT, IN);
    spin_unlock(&t->lock, irq);
    t->end->show(t, CONSOLE_PROGRAM);
    return result;
}

static int64_t type_byte(struct terminal *t, uint64_t arg)
{
    char c;

    if (arch_copy_from_user(&c, arg, sizeof(c)))
        return -EFAULT;
    terminal_type(t, &c, 1);
    return 0;
}

/* Requests that change settings, or what waits: a job behind is stopped first. */
static int64_t change(struct terminal *t, uint32_t request, uint64_t arg)
{
    int refused = terminal_jobs->access(t, SIGTTOU);

    if (refused)
        return refused;
    switch (request) {
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
        return set_settings(t, arg, false, request == TCSETSF);
    case TCSETA:
    case TCSETAW:
    case TCSETAF:
        return set_settings(t, arg, true, request == TCSETAF);
    case TCFLSH:
        return flush(t, arg);
    case TCXONC:
        return control_flow(t, arg);
    default: /* TCSBRK, TCSBRKP: text is with the other end already, which knows no break */
        return 0;
    }
}

int64_t terminal_ioctl(struct terminal *t, bool master, uint32_t request, uint64_t arg)
{
    if (!master && terminal_has_hung_up(t))
        return request == TIOCSPGRP ? -ENOTTY : -EIO;
    switch (request) {
    case TCGETS:
        return get_settings(t, arg);
    case TCGETA:
        return get_old_settings(t, arg);
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
    case TCSETA:
    case TCSETAW:
    case TCSETAF:
    case TCFLSH:
    case TCXONC:
    case TCSBRK:
    case TCSBRKP:
        return change(t, request, arg);
    case TIOCGWINSZ:
        return get_window(t, arg);
    case TIOCSWINSZ:
        return set_window(t, arg);
    case FIONREAD:
        return bytes_typed(t, arg);
    case TIOCOUTQ:
        return bytes_shown(t, arg);
    case TIOCSTI:
        return type_byte(t, arg);
    default:
        return terminal_jobs->control(t, master, request, arg);
    }
}

/* ---- /dev/tty -------------------------------------------------------------------------------- */

struct vnode *terminal_alias_parent(UNUSED struct vnode *v)
{
    return tree_parent(own);
}

size_t terminal_alias_name(UNUSED struct vnode *v, char *to, size_t room)
{
    return tree_name(own, to, room);
}

void terminal_alias_release(struct vnode *v)
{
    terminal_put(container_of(v, struct terminal, alias));
}

/* Opening it opens the terminal of the caller's session. */
static int follow_own(UNUSED struct vnode *v, struct vnode **out)
{
    struct terminal *t = terminal_jobs->of_caller();

    if (!t)
        return -ENXIO;
    *out = terminal_use(t, &t->alias);
    terminal_put(t);
    return 0;
}

static const struct vnode_ops own_ops = {
    .stream = true,
    .lookup = vnode_no_lookup,
    .parent = tree_parent,
    .name = tree_name,
    .list = vnode_no_list,
    .readlink = vnode_no_readlink,
    .follow = follow_own,
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

void terminals_start(const struct terminal_jobs *jobs)
{
    terminal_jobs = jobs;
    own = fs_add_device("tty", 0666, TTYAUX_MAJOR, 0, &own_ops);
    tty_start();
    pty_start();
}
