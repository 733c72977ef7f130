/*
 * The console as a terminal: /dev/console, and what programs have as their descriptors 0, 1 and 2.
 *
 * Output is gathered line by line for each opening, so that lines of different programs do not mix.
 * A carriage return and a full buffer end a line, too. What is typed comes from keyboard.h, as far
 * as programs read it: a line at a time. The rest of a line of which a part was read is forgotten
 * when the session whose terminal it is ends.
 *
 * On a split console (console.h) output is wanted as it is written: it is not gathered, and no line
 * is ended. A terminal or a program at the other end shows what is typed, so that at first there is
 * no echo, and bytes are not changed; with console.terminal=raw this terminal does all of that.
 */
#include "kernel/arch/arch.h"
#include "kernel/core/console.h"
#include "kernel/core/printf.h"
#include "kernel/file/keyboard.h"
#include "kernel/file/terminal.h"
#include "kernel/fs/fs.h"
#include "kernel/fs/tree.h"
#include "kernel/mem/mem.h"
#include "kernel/trace/telemetry.h"
#include "sched/sched.h"
#include <asm/signal.h>
#include <linux/fcntl.h>
#include <linux/major.h>
#include <linux/poll.h>

#define GATHERED 256 /* bytes of a line; of a portion of other text */
#define LABEL    64  /* of a line that is recorded */

/* An opening. */
struct tty {
    enum console_writer writer; /* fixed */
    struct spinlock lock;
    char line[GATHERED];  /* [lock] output that waits for the end of its line */
    unsigned line_length; /* [lock] */
};

static struct terminal terminal;

struct terminal *tty_terminal(void)
{
    return &terminal;
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* A copied line on its way out, so that no lock is held while it is written. */
struct outgoing {
    size_t n;
    char text[GATHERED + 1];
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

/* Writes what the discipline has put. */
static void show(struct terminal *t, enum console_writer writer)
{
    char text[GATHERED];
    size_t n;

    do {
        bool irq = spin_lock(&t->lock);
        n = discipline_show(&t->line, text, sizeof(text));
        spin_unlock(&t->lock, irq);
        if (n)
            kwrite(writer, text, n);
    } while (n);
}

/* Records each line that ends in what a program writes (telemetry=lines), by its beginning. */
static void record_lines(const char *text, size_t n)
{
    char label[LABEL];
    size_t length = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n') {
            label[length] = '\0';
            sched_quanta_cut();
            telemetry_line(thread_current()->tid, label);
            length = 0;
        } else if (length < sizeof(label) - 1) {
            label[length++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
        }
    }
}

static int64_t write_tty(UNUSED struct vnode *v, void *state, unsigned flags, UNUSED uint64_t at,
                         const void *from, size_t n)
{
    struct tty *t = state;
    struct outgoing out;

    if (telemetry_wants(TELEMETRY_LINES))
        record_lines(from, n);
    if (console_split)
        return terminal_write(&terminal, t->writer, flags, from, n);
    int refused = terminal_may_write(&terminal);
    if (refused)
        return refused;
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

static bool take_signal(char c)
{
    bool is = terminal_take_signal(&terminal, c);

    if (is && !console_split)
        kwrite(CONSOLE_PROGRAM, "\n", 1);
    return is;
}

/* The other end asks for an interrupt, whatever settings are. It looks for the line. */
static void take_interrupt(void)
{
    if (terminal_jobs->typed(&terminal, SIGINT))
        kprintf("console: event=interrupt\n");
}

static void take_window(uint16_t rows, uint16_t columns)
{
    terminal_set_window(&terminal, &(struct winsize){.ws_row = rows, .ws_col = columns});
}

static const struct keyboard_user keyboard_user = {
    .signal = take_signal, .interrupt = take_interrupt, .window = take_window};

/* Returns whether a program that reads wants more: a line, or all there is. */
static bool wants_more(struct terminal *t)
{
    bool irq = spin_lock(&t->lock);
    bool wants = t->line.settings.c_lflag & ICANON ? !discipline_readable(&t->line, 1)
                                                   : discipline_has_room(&t->line);

    spin_unlock(&t->lock, irq);
    return wants;
}

/* One thread takes bytes at a time, so that they stay in order. */
static void look(struct terminal *t)
{
    static bool looking; /* atomic */

    keyboard_look(&keyboard_user);
    if (__atomic_exchange_n(&looking, true, __ATOMIC_ACQUIRE))
        return;
    for (int c; wants_more(t) && (c = keyboard_next()) >= 0;)
        terminal_type(t, &(char){(char)c}, 1);
    __atomic_store_n(&looking, false, __ATOMIC_RELEASE);
}

static void forget(UNUSED struct terminal *t)
{
    keyboard_forget();
}

/* The reference of tty_start() stays. */
static void release(UNUSED struct terminal *t)
{
}

static const struct terminal_end end = {.shared = true,
                                        .look_ns = KEYBOARD_LOOK_NS,
                                        .look = look,
                                        .show = show,
                                        .forget = forget,
                                        .release = release};

static int64_t read_tty(UNUSED struct vnode *v, void *state, unsigned flags, UNUSED uint64_t at,
                        void *to, size_t n)
{
    if (n)
        write_rest(state, false); /* a prompt */
    return terminal_read(&terminal, flags, to, n);
}

static unsigned poll_tty(UNUSED struct vnode *v, void *state)
{
    write_rest(state, false);
    return terminal_poll(&terminal);
}

static int64_t ioctl_tty(UNUSED struct vnode *v, UNUSED void *state, uint32_t request, uint64_t arg)
{
    if (console_split && console_terminal == CONSOLE_NO_TERMINAL)
        return -ENOTTY;
    if (request == TIOCSPGRP) /* the group in front need not read */
        keyboard_watch(&keyboard_user);
    return terminal_ioctl(&terminal, false, request, arg);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int open_tty(UNUSED struct vnode *v, UNUSED unsigned flags, void **state)
{
    struct tty *t = kmalloc(sizeof(*t));

    if (!t)
        return -ENOMEM;
    spin_init(&t->lock, LOCK_FILE, "output");
    t->writer = CONSOLE_PROGRAM;
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

/* Of /dev/console, and of what opening /dev/tty opens. */
#define TTY_OPS                                                                                   \
    .stream = true, .asked = true, .lookup = vnode_no_lookup, .list = vnode_no_list,              \
    .readlink = vnode_no_readlink, .follow = vnode_no_follow, .stat = vnode_stat,                 \
    .open = open_tty, .close = close_tty, .read = read_tty, .write = write_tty, .poll = poll_tty, \
    .ioctl = ioctl_tty, .set_size = vnode_no_resize, VNODE_OPS_FIXED
static const struct vnode_ops tty_ops = {
    TTY_OPS,
    .parent = tree_parent,
    .name = tree_name,
    .release = vnode_no_release,
};
static const struct vnode_ops alias_ops = {
    TTY_OPS,
    .parent = terminal_alias_parent,
    .name = terminal_alias_name,
    .release = terminal_alias_release,
};

static struct vnode *console; /* fixed after tty_start() */

void tty_start(void)
{
    console = fs_add_device("console", 0600, TTYAUX_MAJOR, 1, &tty_ops);
    terminal_init(&terminal, &end, &alias_ops);
    terminal.device = TTYAUX_MAJOR << 8 | 1;
    terminal.window =
        (struct winsize){.ws_row = (uint16_t)console_rows, .ws_col = (uint16_t)console_columns};
    terminal.line.plain = !console_split;
    terminal.line.settings.c_iflag |= IUTF8;
    terminal.line.settings.c_cflag |= CLOCAL;
    if (console_split && console_terminal != CONSOLE_RAW_TERMINAL) {
        terminal.line.settings.c_iflag = terminal.line.settings.c_oflag = 0;
        terminal.line.settings.c_lflag = ICANON;
    }
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
    return (f->v->ops == &tty_ops || f->v->ops == &alias_ops) && !(f->flags & O_PATH);
}

void tty_flush(struct file *f)
{
    if (tty_is(f))
        write_rest(f->state, true);
}
