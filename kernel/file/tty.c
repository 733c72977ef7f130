/*
 * The console as a terminal.
 *
 * Output is gathered line by line for each opening, so that lines of different programs do not mix.
 * A carriage return and a full buffer end a line, too. Input is one line at a time, with echo and
 * backspace, or, with ICANON off, what has been typed. A line belongs to the opening that it was
 * typed for, even if only part of it is read. Settings are the terminal's: all openings share them.
 * Signals that are typed (ISIG) are noticed as keyboard.h says.
 *
 * On a split console (console.h) output is wanted as it is written: it is not gathered, and no line
 * is ended. A terminal or a program at the other end shows what is typed, so that at first there is
 * no echo, and bytes are not changed; with console.terminal=raw this terminal does all of that.
 */
#include "kernel/arch/arch.h"
#include "kernel/core/console.h"
#include "kernel/core/printf.h"
#include "kernel/file/file.h"
#include "kernel/file/keyboard.h"
#include "kernel/fs/fs.h"
#include "kernel/fs/tree.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"
#include <asm/signal.h>
#include <asm/termbits.h>
#include <asm/termios.h>
#include <linux/fcntl.h>
#include <linux/major.h>
#include <linux/poll.h>

#define TTY_LINE   256
#define SETTING(c) ((c)-0x40) /* a control character */

struct tty {
    enum console_writer writer; /* fixed */
    struct spinlock lock;
    char line[TTY_LINE];  /* [lock] output that waits for the end of its line */
    unsigned line_length; /* [lock] */
    /* Of the opening that is `reader`: a line typed for it, its length, whether it is whole, and
     * the bytes read of it. */
    char typed[TTY_LINE];
    unsigned typed_length, typed_taken;
    bool typed_whole;
    unsigned forgotten; /* of `forgets`, when `typed` was begun */
};

static struct spinlock settings_lock = SPINLOCK(LOCK_FILE, "terminal");
/* settings_lock */
static struct termios settings = {
    .c_iflag = ICRNL | IXON,
    .c_oflag = OPOST | ONLCR,
    .c_cflag = B38400 | CS8 | CREAD | HUPCL | CLOCAL,
    .c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
    .c_cc = {[VINTR] = SETTING('C'),
             [VQUIT] = 0x1c,
             [VERASE] = 0x7f,
             [VKILL] = SETTING('U'),
             [VEOF] = SETTING('D'),
             [VMIN] = 1,
             [VSTART] = SETTING('Q'),
             [VSTOP] = SETTING('S'),
             [VSUSP] = SETTING('Z'),
             [VREPRINT] = SETTING('R'),
             [VWERASE] = SETTING('W'),
             [VLNEXT] = SETTING('V')},
};
static const struct tty_jobs *jobs; /* fixed after tty_start() */
static struct winsize window;       /* settings_lock; 0: unknown, as of a serial line */
static unsigned forgets;            /* atomic: signals that were typed and dropped lines */

static struct termios settings_now(void)
{
    bool irq = spin_lock(&settings_lock);
    struct termios now = settings;

    spin_unlock(&settings_lock, irq);
    return now;
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* A copied line on its way out, so that no lock is held while it is written. */
struct outgoing {
    size_t n;
    char text[TTY_LINE + 1];
};

static void take_line_locked(struct tty *t, struct outgoing *out)
{
    memcpy(out->text, t->line, out->n = t->line_length);
    t->line_length = 0;
}

/* Gathers text up to the end of a line, which is then copied to `out`. Returns the bytes taken. */
static size_t gather_line(struct tty *t, const char *text, size_t n, struct outgoing *out)
{
    bool irq = spin_lock(&t->lock), whole = false;
    size_t i = 0;

    out->n = 0;
    while (i < n && !whole) {
        char c = t->line[t->line_length++] = text[i++];
        whole = c == '\n' || c == '\r' || t->line_length == sizeof(t->line);
    }
    if (whole)
        take_line_locked(t, out);
    spin_unlock(&t->lock, irq);
    return i;
}

static void write_through(enum console_writer writer, const char *text, size_t n)
{
    for (size_t part, done = 0; done < n; done += part) {
        part = MIN(n - done, (size_t)CONSOLE_ROOM / 2);
        kwrite(writer, text + done, part);
    }
}

/* Writes to a split console: line ends as settings say. Others get theirs from the console. */
static void write_split(enum console_writer writer, const struct termios *s, const char *text,
                        size_t n)
{
    struct outgoing out = {.n = 0};

    if (!(s->c_oflag & OPOST) || !(s->c_oflag & ONLCR)) {
        write_through(writer, text, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n')
            out.text[out.n++] = '\r';
        out.text[out.n++] = text[i];
        if (out.n >= TTY_LINE) {
            kwrite(writer, out.text, out.n);
            out.n = 0;
        }
    }
    if (out.n)
        kwrite(writer, out.text, out.n);
}

static int64_t write_tty(UNUSED struct vnode *v, void *state, UNUSED unsigned flags,
                         UNUSED uint64_t at, const void *from, size_t n)
{
    struct tty *t = state;
    struct termios s = settings_now();
    struct outgoing out;
    int refused = s.c_lflag & TOSTOP ? jobs->access(SIGTTOU) : 0;

    if (refused)
        return refused;
    if (console_split) {
        write_split(t->writer, &s, from, n);
        return (int64_t)n;
    }
    for (size_t done = 0; done < n;) {
        done += gather_line(t, (const char *)from + done, n - done, &out);
        if (out.n)
            kwrite(t->writer, out.text, out.n);
    }
    return (int64_t)n;
}

/* Writes text that waits for the end of its line. `ended`: ends the line, so that the next text
 * starts at the left. */
static void write_rest(struct tty *t, bool ended)
{
    struct outgoing out;
    bool irq = spin_lock(&t->lock);

    take_line_locked(t, &out);
    spin_unlock(&t->lock, irq);
    if (!out.n)
        return;
    if (ended)
        out.text[out.n++] = '\n';
    kwrite(t->writer, out.text, out.n);
}

/* ---- Input ----------------------------------------------------------------------------------- */

/* The opening that reads, one at a time; atomic. */
static struct tty *reader;

static bool become_reader(struct tty *t)
{
    struct tty *none = NULL;

    return __atomic_compare_exchange_n(&reader, &none, t, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void stop_reading(void)
{
    __atomic_store_n(&reader, NULL, __ATOMIC_RELEASE);
}

static void echo(const struct termios *s, const char *text, size_t n)
{
    if (!(s->c_lflag & ECHO))
        return;
    if (console_split)
        write_split(CONSOLE_PROGRAM, s, text, n);
    else
        kwrite(CONSOLE_PROGRAM, text, n);
}

/* Returns whether a byte is shown as ^X. */
static bool shown_as_two(const struct termios *s, char c)
{
    return (s->c_lflag & ECHOCTL) && ((uint8_t)c < ' ' || c == 0x7f) && c != '\n' && c != '\t';
}

static void echo_byte(const struct termios *s, char c)
{
    if (shown_as_two(s, c))
        echo(s, (const char[]){'^', (char)(c ^ 0x40)}, 2);
    else
        echo(s, &c, 1);
}

/* Takes back a byte; those behind the first of a character in UTF-8 take no place. */
static void erase_typed(struct tty *t, const struct termios *s)
{
    char c;

    if (t->typed_taken == t->typed_length)
        return;
    do
        c = t->typed[--t->typed_length];
    while (((uint8_t)c & 0xc0) == 0x80 && t->typed_length > t->typed_taken);
    if (shown_as_two(s, c))
        echo(s, "\b \b", 3);
    echo(s, "\b \b", 3);
}

static void erase_word(struct tty *t, const struct termios *s)
{
    for (bool in_word = false; t->typed_length > t->typed_taken; erase_typed(t, s)) {
        bool blank = t->typed[t->typed_length - 1] == ' ';
        if (blank && in_word)
            return;
        in_word = !blank;
    }
}

/* Sends the signal that a byte stands for. */
static bool take_signal(char c)
{
    static const struct {
        uint8_t key, number;
    } keys[] = {{VINTR, SIGINT}, {VQUIT, SIGQUIT}, {VSUSP, SIGTSTP}};
    struct termios s = settings_now();

    if (!(s.c_lflag & ISIG) || !c)
        return false;
    for (unsigned i = 0; i < ARRAY_SIZE(keys); i++) {
        if (c != (char)s.c_cc[keys[i].key])
            continue;
        echo(&s, (const char[]){'^', (char)(c ^ 0x40), '\n'}, console_split ? 2 : 3);
        if (!(s.c_lflag & NOFLSH)) {
            __atomic_add_fetch(&forgets, 1, __ATOMIC_RELAXED);
            keyboard_forget();
        }
        jobs->typed(keys[i].number);
        return true;
    }
    return false;
}

/* The other end asks for an interrupt, whatever settings are. It looks for the line. */
static void take_interrupt(void)
{
    if (jobs->typed(SIGINT))
        kprintf("console: event=interrupt\n");
}

static void change_window(const struct winsize *w)
{
    bool irq = spin_lock(&settings_lock), changed = memcmp(&window, w, sizeof(window)) != 0;

    window = *w;
    spin_unlock(&settings_lock, irq);
    if (changed)
        jobs->typed(SIGWINCH);
}

static void take_window(uint16_t rows, uint16_t columns)
{
    const struct winsize w = {.ws_row = rows, .ws_col = columns};

    change_window(&w);
}

static const struct keyboard_user keyboard_user = {
    .signal = take_signal, .interrupt = take_interrupt, .window = take_window};

/* Takes a byte typed, of a line. Returns false if it belongs into the line. */
static bool take_edit(struct tty *t, const struct termios *s, char c)
{
    if (c == (char)s->c_cc[VERASE] || c == '\b')
        erase_typed(t, s);
    else if (c == (char)s->c_cc[VWERASE] && (s->c_lflag & IEXTEN))
        erase_word(t, s);
    else if (c == (char)s->c_cc[VKILL])
        while (t->typed_length > t->typed_taken)
            erase_typed(t, s);
    else if (c == (char)s->c_cc[VEOF])
        t->typed_whole = true;
    else
        return false;
    return true;
}

/* Takes a byte typed. The reader only. */
static void take_byte(struct tty *t, const struct termios *s, char c)
{
    bool lines = s->c_lflag & ICANON;

    if (c == '\r' && (s->c_iflag & ICRNL))
        c = '\n';
    if (lines && c && take_edit(t, s, c))
        return;
    echo_byte(s, c);
    t->typed[t->typed_length++] = c;
    t->typed_whole = !lines || c == '\n' || t->typed_length == sizeof(t->typed);
}

/* Forgets the line, if a signal was typed since it was begun. The reader only. */
static void forget_typed(struct tty *t)
{
    unsigned now = __atomic_load_n(&forgets, __ATOMIC_RELAXED);

    if (t->forgotten == now)
        return;
    t->forgotten = now;
    t->typed_taken = t->typed_length = 0;
    t->typed_whole = false;
}

/* Takes what has been typed, and returns whether there is something to read. The reader only. */
static bool look_at_keyboard(struct tty *t)
{
    struct termios s = settings_now();

    keyboard_look(&keyboard_user);
    forget_typed(t);
    if (t->typed_whole)
        return true;
    if (t->typed_taken == t->typed_length)
        t->typed_taken = t->typed_length = 0;
    else if (!(s.c_lflag & ICANON)) /* of a line that was begun before the mode changed */
        t->typed_whole = true;
    for (int c; !t->typed_whole && (c = keyboard_next()) >= 0;)
        take_byte(t, &s, (char)c);
    return t->typed_whole;
}

static int64_t take_typed(struct tty *t, char *to, size_t n)
{
    n = MIN(n, (size_t)(t->typed_length - t->typed_taken));
    memcpy(to, t->typed + t->typed_taken, n);
    t->typed_taken += (unsigned)n;
    t->typed_whole = t->typed_taken < t->typed_length;
    return (int64_t)n;
}

static int64_t read_tty(UNUSED struct vnode *v, void *state, unsigned flags, UNUSED uint64_t at,
                        void *to, size_t n)
{
    struct tty *t = state;

    if (!n)
        return 0;
    write_rest(t, false); /* a prompt */
    for (;;) {
        int refused = jobs->access(SIGTTIN);
        if (refused)
            return refused;
        if (become_reader(t)) {
            int64_t got = look_at_keyboard(t) ? take_typed(t, to, n) : -EAGAIN;
            stop_reading();
            if (got != -EAGAIN)
                return got;
        }
        if (flags & VNODE_NONBLOCK)
            return -EAGAIN;
        int err = sched_sleep_interruptible(arch_clock_ns() + KEYBOARD_LOOK_NS);
        if (err)
            return err;
    }
}

static unsigned poll_tty(UNUSED struct vnode *v, void *state)
{
    unsigned in = 0;

    write_rest(state, false);
    if (become_reader(state)) {
        in = look_at_keyboard(state) ? POLLIN | POLLRDNORM : 0;
        stop_reading();
    }
    return in | POLLOUT | POLLWRNORM;
}

/* ---- Settings -------------------------------------------------------------------------------- */

static int64_t set_settings(uint64_t arg)
{
    struct termios s;
    int refused = jobs->access(SIGTTOU);

    if (refused)
        return refused;
    if (arch_copy_from_user(&s, arg, sizeof(s)))
        return -EFAULT;
    bool irq = spin_lock(&settings_lock);
    settings = s;
    spin_unlock(&settings_lock, irq);
    return 0;
}

static int64_t get_window(uint64_t arg)
{
    bool irq = spin_lock(&settings_lock);
    struct winsize w = window;

    spin_unlock(&settings_lock, irq);
    return arch_copy_to_user(arg, &w, sizeof(w)) ? -EFAULT : 0;
}

static int64_t set_window(uint64_t arg)
{
    struct winsize w;

    if (arch_copy_from_user(&w, arg, sizeof(w)))
        return -EFAULT;
    change_window(&w);
    return 0;
}

static int64_t bytes_typed(struct tty *t, uint64_t arg)
{
    int n = 0;

    if (become_reader(t)) {
        n = look_at_keyboard(t) ? (int)(t->typed_length - t->typed_taken) : 0;
        stop_reading();
    }
    return arch_copy_to_user(arg, &n, sizeof(n)) ? -EFAULT : 0;
}

static int64_t ioctl_tty(UNUSED struct vnode *v, void *state, uint32_t request, uint64_t arg)
{
    struct termios now;

    if (console_split && console_terminal == CONSOLE_NO_TERMINAL)
        return -ENOTTY;
    if (request == TIOCSPGRP) /* the group in front need not read */
        keyboard_watch(&keyboard_user);
    switch (request) {
    case TCGETS:
        now = settings_now();
        return arch_copy_to_user(arg, &now, sizeof(now)) ? -EFAULT : 0;
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
        return set_settings(arg);
    case TIOCGWINSZ:
        return get_window(arg);
    case TIOCSWINSZ:
        return set_window(arg);
    case FIONREAD:
        return bytes_typed(state, arg);
    case TCFLSH:
    case TCSBRK:
    case TCXONC:
        return 0;
    default:
        return jobs->control(request, arg);
    }
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int open_tty(UNUSED struct vnode *v, UNUSED unsigned flags, void **state)
{
    struct tty *t = kmalloc(sizeof(*t));

    if (!t)
        return -ENOMEM;
    spin_init(&t->lock, LOCK_FILE, "output");
    t->writer = CONSOLE_PROGRAM;
    t->forgotten = __atomic_load_n(&forgets, __ATOMIC_RELAXED);
    if (console_split && console_terminal != CONSOLE_NO_TERMINAL)
        keyboard_watch(&keyboard_user);
    *state = t;
    return 0;
}

static void close_tty(UNUSED struct vnode *v, void *state)
{
    write_rest(state, true);
    kfree(state);
}

static const struct vnode_ops tty_ops = {
    .stream = true,
    .asked = true,
    .lookup = vnode_no_lookup,
    .parent = tree_parent,
    .name = tree_name,
    .list = vnode_no_list,
    .readlink = vnode_no_readlink,
    .follow = vnode_no_follow,
    .stat = vnode_stat,
    .open = open_tty,
    .close = close_tty,
    .read = read_tty,
    .write = write_tty,
    .poll = poll_tty,
    .ioctl = ioctl_tty,
    .set_size = vnode_no_resize,
    VNODE_OPS_FIXED,
    .release = vnode_no_release,
};

static struct vnode *console; /* fixed after tty_start() */

void tty_start(const struct tty_jobs *control)
{
    jobs = control;
    window =
        (struct winsize){.ws_row = (uint16_t)console_rows, .ws_col = (uint16_t)console_columns};
    if (console_split && console_terminal != CONSOLE_RAW_TERMINAL) {
        settings.c_iflag = settings.c_oflag = 0;
        settings.c_lflag = ICANON;
    }
    console = fs_add_device("console", 0600, TTYAUX_MAJOR, 1, &tty_ops);
    fs_add_device("tty", 0666, TTYAUX_MAJOR, 0, &tty_ops);
}

int tty_open(enum console_writer writer, struct file **out)
{
    int err = file_make(console, O_RDWR, out);

    if (!err)
        ((struct tty *)(*out)->state)->writer = writer;
    return err;
}

bool tty_is(const struct file *f)
{
    return f->v->ops == &tty_ops && !(f->flags & O_PATH);
}

void tty_flush(struct file *f)
{
    if (tty_is(f))
        write_rest(f->state, true);
}
