/* System calls that wait for files, and those that make files to wait for. */
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/user.h"
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/time.h>

#define SELECT_MAX    1024 /* descriptors of select, as on Linux */
#define EFD_SEMAPHORE 1    /* linux-libc-dev 6.1 has no linux/eventfd.h */

/* ---- poll ------------------------------------------------------------------------------------ */

static void find_files(const struct call *c, const struct pollfd *fds, struct poll_entry *entries,
                       unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        entries[i] = (struct poll_entry){.wanted = (uint16_t)fds[i].events};
        if (fds[i].fd < 0)
            continue;
        entries[i].file = files_find(c->p->files, (uint64_t)fds[i].fd);
        entries[i].bad = !entries[i].file;
    }
}

static void drop_files(struct poll_entry *entries, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        file_put(entries[i].file);
}

static int64_t poll_until(const struct call *c, uint64_t deadline_ns)
{
    uint64_t n = c->a[1];
    int64_t result = -ENOMEM;

    deadline_ns = signals_deadline(deadline_ns);
    if (n > c->p->files->limit)
        return -EINVAL;
    struct pollfd *fds = kmalloc(MAX(n, 1ull) * sizeof(*fds));
    struct poll_entry *entries = kmalloc(MAX(n, 1ull) * sizeof(*entries));
    if (fds && entries)
        result = arch_copy_from_user(fds, c->a[0], n * sizeof(*fds)) ? -EFAULT : 0;
    if (!result) {
        find_files(c, fds, entries, (unsigned)n);
        result = poll_wait(entries, (unsigned)n, deadline_ns);
        drop_files(entries, (unsigned)n);
        for (uint64_t i = 0; i < n; i++)
            fds[i].revents = (int16_t)entries[i].found;
        if (result >= 0 && arch_copy_to_user(c->a[0], fds, n * sizeof(*fds)))
            result = -EFAULT;
    }
    kfree(entries);
    kfree(fds);
    return result;
}

/* The time at which a wait of `ns` ends. */
static uint64_t deadline_in(uint64_t ns)
{
    uint64_t now = arch_clock_ns();

    return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

int64_t sys_poll(const struct call *c)
{
    int ms = (int)c->a[2];

    return poll_until(c, ms < 0 ? UINT64_MAX : deadline_in((uint64_t)ms * NS_PER_MS));
}

/* Reads a time to wait from user memory; 0: for ever. */
static int take_deadline(vaddr_t at, uint64_t *deadline_ns)
{
    uint64_t ns;

    *deadline_ns = UINT64_MAX;
    if (!at)
        return 0;
    int err = user_get_time(at, &ns);
    if (!err)
        *deadline_ns = deadline_in(ns);
    return err;
}

/* Sets the signals that are blocked until the call ends; `at` 0: does not. */
static int take_mask(vaddr_t at, uint64_t bytes)
{
    uint64_t set;

    if (!at)
        return 0;
    if (bytes != sizeof(set))
        return -EINVAL;
    if (arch_copy_from_user(&set, at, sizeof(set)))
        return -EFAULT;
    signal_mask_for_call(set);
    return 0;
}

int64_t sys_ppoll(const struct call *c)
{
    uint64_t deadline_ns;
    int err = take_deadline(c->a[2], &deadline_ns) ?: take_mask(c->a[3], c->a[4]);

    if (err)
        return err;
    int64_t result = poll_until(c, deadline_ns);
    signal_unmask_call(result);
    return result;
}

/* ---- select ---------------------------------------------------------------------------------- */

enum { SETS = 3 };
#define WORDS (SELECT_MAX / 64)
static const uint16_t set_wants[SETS] = {POLLIN | POLLRDNORM | POLLHUP | POLLERR,
                                         POLLOUT | POLLWRNORM | POLLERR, POLLPRI};

struct selecting {
    uint64_t sets[SETS][WORDS];
    struct poll_entry entries[SELECT_MAX];
};

static size_t set_bytes(unsigned n)
{
    return (n + 63) / 64 * 8;
}

static int take_sets(const struct call *c, struct selecting *s, unsigned n)
{
    for (unsigned i = 0; i < SETS; i++)
        if (n && c->a[1 + i] && arch_copy_from_user(s->sets[i], c->a[1 + i], set_bytes(n)))
            return -EFAULT;
    return 0;
}

static int find_selected(const struct call *c, struct selecting *s, unsigned n)
{
    for (unsigned fd = 0; fd < n; fd++) {
        for (unsigned i = 0; i < SETS; i++)
            if (s->sets[i][fd / 64] >> fd % 64 & 1)
                s->entries[fd].wanted |= set_wants[i];
        if (!s->entries[fd].wanted)
            continue;
        s->entries[fd].file = files_find(c->p->files, fd);
        if (!s->entries[fd].file)
            return -EBADF;
    }
    return 0;
}

/* Leaves in the sets what was found. Returns the number of bits. */
static int64_t leave_found(struct selecting *s, unsigned n)
{
    int64_t bits = 0;

    for (unsigned fd = 0; fd < n; fd++)
        for (unsigned i = 0; i < SETS; i++) {
            uint64_t bit = 1ull << fd % 64;
            if (!(s->sets[i][fd / 64] & bit))
                continue;
            if (s->entries[fd].found & set_wants[i])
                bits++;
            else
                s->sets[i][fd / 64] &= ~bit;
        }
    return bits;
}

static int64_t select_until(const struct call *c, uint64_t deadline_ns)
{
    unsigned n = (unsigned)MIN((uint32_t)c->a[0], (uint32_t)SELECT_MAX);

    deadline_ns = signals_deadline(deadline_ns);
    if ((int)c->a[0] < 0)
        return -EINVAL;
    struct selecting *s = kmalloc(sizeof(*s));
    if (!s)
        return -ENOMEM;
    int64_t result = take_sets(c, s, n);
    if (!result)
        result = find_selected(c, s, n);
    if (!result)
        result = poll_wait(s->entries, n, deadline_ns);
    drop_files(s->entries, n);
    if (result >= 0) {
        result = leave_found(s, n);
        for (unsigned i = 0; i < SETS; i++)
            if (n && c->a[1 + i] && arch_copy_to_user(c->a[1 + i], s->sets[i], set_bytes(n)))
                result = -EFAULT;
    }
    kfree(s);
    return result;
}

int64_t sys_select(const struct call *c)
{
    struct __kernel_old_timeval t;

    if (!c->a[4])
        return select_until(c, UINT64_MAX);
    if (arch_copy_from_user(&t, c->a[4], sizeof(t)))
        return -EFAULT;
    if (t.tv_sec < 0 || t.tv_usec < 0)
        return -EINVAL;
    uint64_t us, ns;
    if (__builtin_mul_overflow((uint64_t)t.tv_sec, 1000000, &us) ||
        __builtin_add_overflow(us, (uint64_t)t.tv_usec, &us) ||
        __builtin_mul_overflow(us, NS_PER_US, &ns))
        ns = UINT64_MAX;
    return select_until(c, deadline_in(ns));
}

int64_t sys_pselect6(const struct call *c)
{
    uint64_t deadline_ns;
    uint64_t mask[2] = {0}; /* address and size */
    int err = take_deadline(c->a[4], &deadline_ns);

    if (!err && c->a[5])
        err = arch_copy_from_user(mask, c->a[5], sizeof(mask));
    if (!err)
        err = take_mask(mask[0], mask[1]);
    if (err)
        return err;
    int64_t result = select_until(c, deadline_ns);
    signal_unmask_call(result);
    return result;
}

/* ---- Pipes and counters ---------------------------------------------------------------------- */

static int64_t make_pipe(const struct call *c, uint64_t flags)
{
    struct file *ends[2];
    int fds[2];

    if (flags & ~(uint64_t)(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
        return -EINVAL;
    int err = pipe_make((uint32_t)flags & O_NONBLOCK, ends);
    if (err)
        return err;
    int64_t fd = file_give(c, ends[0], flags & O_CLOEXEC);
    fds[0] = (int)fd;
    if (fd < 0) {
        file_put(ends[1]);
        return fd;
    }
    fd = file_give(c, ends[1], flags & O_CLOEXEC);
    fds[1] = (int)fd;
    if (fd >= 0 && !arch_copy_to_user(c->a[0], fds, sizeof(fds)))
        return 0;
    files_close(c->p->files, (uint64_t)fds[0]);
    if (fd < 0)
        return fd;
    files_close(c->p->files, (uint64_t)fds[1]);
    return -EFAULT;
}

int64_t sys_pipe(const struct call *c)
{
    return make_pipe(c, 0);
}

int64_t sys_pipe2(const struct call *c)
{
    return make_pipe(c, c->a[1]);
}

static int64_t make_event(const struct call *c, uint64_t flags)
{
    struct file *f;

    if (flags & ~(uint64_t)(EFD_SEMAPHORE | O_CLOEXEC | O_NONBLOCK))
        return -EINVAL;
    int err =
        event_make((uint32_t)c->a[0], flags & EFD_SEMAPHORE, (uint32_t)flags & O_NONBLOCK, &f);
    return err ? err : file_give(c, f, flags & O_CLOEXEC);
}

int64_t sys_eventfd(const struct call *c)
{
    return make_event(c, 0);
}

int64_t sys_eventfd2(const struct call *c)
{
    return make_event(c, c->a[1]);
}
