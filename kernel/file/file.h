/*
 * Open files, and the descriptors of a process. A file is a vnode that has been opened; descriptors
 * that dup() or a fork makes share it, and its position.
 *
 * All in thread context with no lock held, unless stated otherwise.
 */
#pragma once
#include "kernel/core/console.h"
#include "kernel/core/lock.h"
#include "kernel/lib/list.h"
#include "kernel/fs/path.h"
#include "kernel/mem/account.h"
#include "sched/sched.h"

/* Largest number of bytes that one call reads or writes, as on Linux. */
#define FILE_BYTES_MAX 0x7ffff000ull

/* Who is sent a signal where a file has news, if its flags have FASYNC, and which. */
struct file_owner {
    int32_t type;     /* F_OWNER_* */
    int32_t id;       /* of the thread, process or group; 0: there is no owner */
    uint32_t process; /* F_OWNER_TID: the thread's process */
    int signal;       /* 0: SIGIO, without particulars */
    int fd;           /* the descriptor by which FASYNC was set */
};

struct file {
    struct vnode *v; /* [-] referenced */
    void *state;     /* [-] of v's operations */
    uint32_t refs;   /* [A] */
    uint32_t flags;  /* [A] of open(2): O_ACCMODE, O_APPEND, O_NONBLOCK, O_PATH, O_DIRECTORY, ... */
    struct list watched;     /* epoll.c: epolls that wait for it */
    struct mutex turn;       /* held over what uses the position of a file or a folder */
    struct spinlock lock;    /* LOCK_FILE */
    struct file_owner owner; /* [lock] */
    uint64_t at; /* [lock] where read and write go on; of a folder the cursor of its list */
};

/* ---- file.c ---------------------------------------------------------------------------------- */
/* Opens a vnode with flags as of open(2), of which access mode, O_APPEND, O_NONBLOCK and O_PATH
 * count. Takes a reference to v. Returns 0, or an error of its operation, or -ENOMEM. */
int file_make(struct vnode *v, uint32_t flags, struct file **out);
struct file *file_get(struct file *f);
void file_put(struct file *f); /* closes it, if it was the last reference; NULL: nothing */
/* Enter and leave a transfer at the file's position, or at `at`: others at the position wait, and,
 * if it `writes` to the end (O_APPEND), others that do so in the same file. Streams and devices
 * need no turns. Entering returns what leaving wants. */
struct mutex *file_enter(struct file *f, uint64_t at, bool writes);
void file_leave(struct file *f, uint64_t at, struct mutex *end);
/* Entered: read and write user memory at the file's position, or at `at`. Return the number of
 * bytes; after a part that succeeded, no error. -EBADF: not open for it; -ESPIPE: it has no
 * positions. */
#define FILE_HERE UINT64_MAX
int64_t file_read(struct file *f, uint64_t at, vaddr_t to, uint64_t n);
int64_t file_write(struct file *f, uint64_t at, vaddr_t from, uint64_t n);
/* The same for memory of the kernel; one part, which may be less than n. */
int64_t file_read_kernel(struct file *f, uint64_t at, void *to, uint64_t n);
int64_t file_write_kernel(struct file *f, uint64_t at, const void *from, uint64_t n);
uint64_t file_position(struct file *f);
/* Moves the position, as lseek(2). Returns it. */
int64_t file_seek(struct file *f, int64_t offset, unsigned whence);
/* Entered: lists a folder as getdents64(2). Returns the number of bytes, 0 at the end. */
int64_t file_list(struct file *f, vaddr_t to, uint64_t n);

/* ---- open.c ---------------------------------------------------------------------------------- */
/* Opens what is at `path`, as openat(2). `mode`: permissions of a file that it makes. */
int file_open(const struct path_start *start, const char *path, uint32_t flags, uint32_t mode,
              struct file **out);

/* ---- owner.c --------------------------------------------------------------------------------- */
/* Set parts of a file's owner: who, the signal, the descriptor. file_owner returns all of it. Any
 * context. */
void file_set_owner(struct file *f, const struct file_owner *owner);
void file_set_signal(struct file *f, int signal);
void file_set_async(struct file *f, int fd);
struct file_owner file_owner(struct file *f);

/* ---- files.c --------------------------------------------------------------------------------- */
#define FILES_LIMIT     1024  /* descriptors, unless a process changes it: RLIMIT_NOFILE */
#define FILES_LIMIT_MAX 65536 /* the limit that it may set */

/* The descriptors of a process, and where its paths begin. */
struct files {
    struct spinlock lock;
    unsigned slots;                 /* [lock] of the table */
    uint32_t limit;                 /* [A] */
    uint32_t umask;                 /* [A] */
    struct file **file;             /* [lock] by descriptor; NULL: free */
    uint64_t *closes;               /* [lock] bit i: exec closes descriptor i */
    struct vnode *here;             /* [lock] the working directory, referenced */
    struct memory_account *account; /* [-] */
};

/* Makes a table with descriptors 0 to 2, `first`, and the working directory `here`; all are
 * referenced. Returns 0, -ENOMEM or -EDQUOT. */
int files_create(struct memory_account *account, struct file *const first[3], struct vnode *here,
                 struct files **out);
/* Makes a copy for a child. Returns 0, -ENOMEM, -EDQUOT, or -EAGAIN: `like` grew meanwhile. */
int files_copy(struct memory_account *account, struct files *like, struct files **out);
/* Sets the limit; descriptors beyond it stay open. At most FILES_LIMIT_MAX. */
void files_set_limit(struct files *f, uint64_t limit);
/* Closes all. NULL: nothing. */
void files_destroy(struct files *f);
/* Returns the file of a descriptor, of which the lower half counts; referenced. NULL where there is
 * none, or a mere path (O_PATH), which has no contents and no state. */
struct file *files_find(struct files *f, uint64_t fd);
/* As files_find(), but finds mere paths also. */
struct file *files_find_any(struct files *f, uint64_t fd);
/* Give a file the lowest free descriptor from `least` on, or just `fd`, whose file is closed; the
 * reference becomes the table's. Return the descriptor; -EMFILE; -EBADF: fd is beyond the limit;
 * -ENOMEM, -EDQUOT; the reference then stays the caller's. */
int files_add(struct files *f, struct file *file, uint64_t least, bool closes);
int files_replace(struct files *f, struct file *file, uint64_t fd, bool closes);
/* Stores the n lowest free descriptors, which stay free. Returns 0 or -EMFILE. */
int files_free(struct files *f, int *out, unsigned n);
/* Closes a descriptor. Returns 0 or -EBADF. */
int files_close(struct files *f, uint64_t fd);
/* Closes those from first to last, or has exec close them. */
void files_close_range(struct files *f, uint64_t first, uint64_t last, bool at_exec);
void files_close_at_exec(struct files *f); /* those that exec closes */
/* Returns whether exec closes the descriptor, or -EBADF. */
int files_closes(struct files *f, uint64_t fd);
int files_set_closes(struct files *f, uint64_t fd, bool closes);
/* Returns the descriptor in use from `fd` on, or -ENOENT. */
int64_t files_next(struct files *f, uint64_t fd);
/* Returns the working directory, referenced; sets it, whose reference becomes the table's. */
struct vnode *files_here(struct files *f);
void files_go(struct files *f, struct vnode *here);

/* ---- tty.c: the console; see terminal.h ------------------------------------------------------ */
/* Opens the console; what is written is marked as `writer`'s (console.h). Each opening gathers its
 * own lines. Returns 0 or -ENOMEM. */
int tty_open(enum console_writer writer, struct file **out);
bool tty_is(const struct file *f); /* returns whether it is an opening of the console */
/* Writes text that waits for the end of its line, and ends the line, if f is the console. */
void tty_flush(struct file *f);

/* ---- pipe.c, event.c ------------------------------------------------------------------------- */
/* Makes a pipe: ends[0] is read, ends[1] written. `flags`: O_NONBLOCK. Returns 0 or -ENOMEM. */
int pipe_make(uint32_t flags, struct file *ends[2]);
/* Finds the pipe that a FIFO stands for, or makes it; a pipe stands for itself. Returns 0 with a
 * reference, or -ENOMEM. */
int fifo_find(struct vnode *named, struct vnode **out);
/* Makes a counter as eventfd2(2) does; `semaphore`: a read takes 1; `flags`: O_NONBLOCK. Returns 0
 * or -ENOMEM. */
int event_make(uint64_t value, bool semaphore, uint32_t flags, struct file **out);

/* ---- timer.c --------------------------------------------------------------------------------- */
/* Makes a timer as timerfd_create(2) does; `of_date`: its clock is the date. `flags`: O_NONBLOCK.
 * Returns 0 or -ENOMEM. */
int timer_file_make(bool of_date, uint32_t flags, struct file **out);
bool timer_file_is(const struct file *f); /* the functions that follow want one */
bool timer_file_of_date(const struct file *f);
/* Sets it to a time of arch_clock_ns(), 0: it does not come, and then every interval_ns, 0: once.
 * The ns that were left until it would have come, and its interval, are what it was set to. */
void timer_file_set(struct file *f, uint64_t at_ns, uint64_t interval_ns, uint64_t *old_left_ns,
                    uint64_t *old_interval_ns);
void timer_file_read(const struct file *f, uint64_t *left_ns, uint64_t *interval_ns);

/* ---- poll.c ---------------------------------------------------------------------------------- */
struct epoll_item;
struct poller;
/* What a vnode tells its changes. */
struct poll_source {
    struct list links;
};
/* A thread or an epoll that a source tells. */
struct poll_link {
    struct list in_source;
    struct poller *poller; /* one of the two */
    struct epoll_item *item;
};
void poll_source_init(struct poll_source *s);
/* Tells those that wait that the vnode may have become ready for `mask`, bits of poll. The lock
 * that poll takes is held, after the change. Any context with locks ranking below LOCK_POLL. */
void poll_changed(struct poll_source *s, unsigned mask);
struct poll_entry {
    struct file *file; /* NULL: ignored, unless `bad` */
    bool bad;          /* no such descriptor: POLLNVAL */
    uint16_t wanted, found;
    struct poll_link link; /* poll_wait() */
};
/* Sleeps until a file is ready for what is wanted, or until deadline_ns. Returns the number of
 * entries with `found`; 0: the deadline; or -ERESTART_RESTARTBLOCK. */
int64_t poll_wait(struct poll_entry *entries, unsigned n, uint64_t deadline_ns);

/* ---- epoll.c --------------------------------------------------------------------------------- */
/* What an epoll tells: events, and the data that they were asked for with. */
struct epoll_found {
    uint32_t events;
    uint64_t data;
};
int epoll_make(struct file **out); /* returns 0 or -ENOMEM */
bool epoll_is(const struct file *f);
/* Changes what an epoll waits for, as epoll_ctl(2). `f`: the file of descriptor fd. */
int epoll_control(struct file *epoll, unsigned op, struct file *f, uint32_t fd, uint32_t events,
                  uint64_t data);
/* Sleeps until a file is ready, or until deadline_ns. Returns the number found, at most `max`; 0:
 * the deadline; or -ERESTART_RESTARTBLOCK. */
int64_t epoll_wait(struct file *epoll, struct epoll_found *out, unsigned max, uint64_t deadline_ns);
/* Takes a file that is being closed out of all epolls. */
void epoll_forget(struct file *f);
