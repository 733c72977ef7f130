/*
 * Terminals: what the console and pseudo-terminals have in common. A terminal is a line discipline,
 * a window, and the session whose terminal it is, with the group in front. Text goes to its other
 * end, from which comes what is typed: `struct terminal_end` says how.
 *
 * All in thread context with no lock held, unless stated otherwise.
 */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/file/discipline.h"
#include "kernel/file/file.h"
#include <asm/termios.h>

struct terminal;

struct terminal_end {
    bool shared; /* programs read it whose session it is not the terminal of: the console */
    /* Time between looks at what was typed, while a thread waits; 0: it comes by itself. */
    uint64_t look_ns;
    void (*look)(struct terminal *t); /* takes what was typed, until there is something to read */
    /* Takes text to be shown; it is of that writer, or its echo. */
    void (*show)(struct terminal *t, enum console_writer writer);
    void (*forget)(struct terminal *t);  /* what was typed and is not in the discipline yet */
    void (*release)(struct terminal *t); /* frees it, as its last reference is gone */
};

struct terminal {
    const struct terminal_end *end;
    uint32_t refs;          /* [A] of vnodes that are in use, and of its session */
    uint32_t device;        /* [-] its number, as stat(2) tells it */
    struct vnode alias;     /* what opening /dev/tty opens */
    struct spinlock lock;   /* LOCK_FILE */
    struct discipline line; /* [lock] */
    struct winsize window;  /* [lock] */
    bool hung_up;           /* [A] for good */
    uint32_t session; /* [A] whose terminal it is, referenced; changed by jobs.c's lock; 0: none */
    uint32_t front;   /* [A] the group in front; the same lock */
    struct wait_queue waiting; /* [lock] for something to read, or for room */
    /* For programs that have it open, and for those that have the other end. */
    struct poll_source changes, other_changes;
    struct list in_all; /* terminals_lock */
};

/* What terminals want of processes. */
struct terminal_jobs {
    /* Sends a signal that was typed. Returns whether there was a group in front to get it; of a
     * shared terminal also the caller's own application. */
    bool (*typed)(struct terminal *t, int number);
    /* Returns 0 if the caller may read (SIGTTIN), or write or change settings (SIGTTOU), or an
     * error; it may have sent its group that signal. */
    int (*access)(struct terminal *t, int number);
    /* Makes an ioctl of job control. Returns its result, -ENOTTY: it is none. `master`: by the
     * other end. */
    int64_t (*control)(struct terminal *t, bool master, uint32_t request, uint64_t arg);
    /* Makes it the terminal of the caller's session, if the caller leads one that has none, and it
     * is no session's. */
    void (*opened)(struct terminal *t);
    void (*hung_up)(struct terminal *t); /* tells the session's leader */
    /* Returns the terminal of the caller's session, referenced, or NULL. */
    struct terminal *(*of_caller)(void);
    /* Gives the caller a descriptor of f, whose reference is taken over. Returns it or an error. */
    int64_t (*add_file)(struct file *f, bool closes);
};
extern const struct terminal_jobs *terminal_jobs; /* fixed after terminals_start() */

/* Makes /dev/tty, console and ptmx, and /dev/pts. At boot, after fs_start(). */
void terminals_start(const struct terminal_jobs *jobs);
void tty_start(void);                /* the part of tty.c */
void pty_start(void);                /* the part of pty.c */
struct terminal *tty_terminal(void); /* the console */

/* Begins a terminal, which is zero, with one reference; the caller sets `device`. `alias_ops`: of
 * openings of /dev/tty. */
void terminal_init(struct terminal *t, const struct terminal_end *end,
                   const struct vnode_ops *alias_ops);
void terminal_get(struct terminal *t);
void terminal_put(struct terminal *t);
/* Returns a vnode that is a part of t, referenced; of the first one t is. */
struct vnode *terminal_use(struct terminal *t, struct vnode *v);
/* Returns the first terminal whose session this is, or which was when it hung up; referenced, or
 * NULL. `works`: it has not hung up. */
struct terminal *terminal_of_session(uint32_t session, bool works);
bool terminal_has_hung_up(const struct terminal *t); /* any context */
/* A shared terminal forgets the rest of a line that was begun: the session has ended. */
void terminal_session_ended(struct terminal *t);
/* Ends the use of t: what programs have open reads an end of file, and cannot be written. */
void terminal_hang_up(struct terminal *t);

/* ---- The other end --------------------------------------------------------------------------- */
/* Types text. Returns the number of bytes taken: fewer than n for want of room. */
size_t terminal_type(struct terminal *t, const char *text, size_t n);
/* Takes a byte, if it stands for a signal. Returns whether it does. */
bool terminal_take_signal(struct terminal *t, char c);
void terminal_set_window(struct terminal *t, const struct winsize *w);
/* Tells those that wait, and pollers of either end, that `mask`, bits of poll, may hold now. Lock
 * held. */
void terminal_changed_locked(struct terminal *t, unsigned mask, unsigned other_mask);

/* ---- Operations of a vnode ------------------------------------------------------------------- */
/* Returns 0 if the caller may write text now, or an error. */
int terminal_may_write(struct terminal *t);
int64_t terminal_read(struct terminal *t, unsigned flags, void *to, size_t n);
int64_t terminal_write(struct terminal *t, enum console_writer writer, unsigned flags,
                       const void *from, size_t n);
unsigned terminal_poll(struct terminal *t);
/* `master`: by the other end. */
int64_t terminal_ioctl(struct terminal *t, bool master, uint32_t request, uint64_t arg);
/* Of the alias: those of /dev/tty. */
struct vnode *terminal_alias_parent(struct vnode *v);
size_t terminal_alias_name(struct vnode *v, char *to, size_t room);
void terminal_alias_release(struct vnode *v);
