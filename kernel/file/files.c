/* The descriptors of a process; see file.h. */
#include "kernel/file/lock.h"
#include "kernel/mem/mem.h"
#include <linux/fcntl.h>

#define SLOTS_FIRST 64
#define WORD_BITS   64

static uint64_t table_bytes(unsigned slots)
{
    return slots * sizeof(struct file *) + slots / 8;
}

static void *make_table(struct memory_account *account, unsigned slots, int *err)
{
    *err = memory_charge(account, table_bytes(slots));
    if (*err)
        return NULL;
    void *table = kmalloc(table_bytes(slots));
    if (!table) {
        memory_uncharge(account, table_bytes(slots));
        *err = -ENOMEM;
    }
    return table;
}

static void free_table(struct memory_account *account, void *table, unsigned slots)
{
    if (table)
        memory_uncharge(account, table_bytes(slots));
    kfree(table);
}

/* Puts `table` in the place of the present one, which is returned, with its slots. Lock held, or
 * not in use yet. */
static void *change_table(struct files *f, void *table, unsigned *slots)
{
    void *old = f->file;
    unsigned old_slots = f->slots;

    if (old) {
        memcpy(table, old, old_slots * sizeof(struct file *));
        memcpy((struct file **)table + *slots, f->closes, old_slots / 8);
    }
    f->file = table;
    f->closes = (uint64_t *)(f->file + *slots);
    f->slots = *slots;
    *slots = old_slots;
    return old;
}

static int make_files(struct memory_account *account, unsigned slots, struct files **out)
{
    int err = memory_charge(account, sizeof(struct files));

    if (err)
        return err;
    struct files *f = kmalloc(sizeof(*f));
    void *table = f ? make_table(account, slots, &err) : NULL;
    if (!table) {
        kfree(f);
        memory_uncharge(account, sizeof(*f));
        return f ? err : -ENOMEM;
    }
    spin_init(&f->lock, LOCK_FILE, "descriptors");
    f->account = account;
    f->limit = FILES_LIMIT;
    f->umask = 022;
    change_table(f, table, &slots);
    *out = f;
    return 0;
}

int files_create(struct memory_account *account, struct file *const first[3], struct vnode *here,
                 struct files **out)
{
    int err = make_files(account, SLOTS_FIRST, out);

    if (err)
        return err;
    for (unsigned fd = 0; fd < 3; fd++)
        (*out)->file[fd] = file_get(first[fd]);
    (*out)->here = vnode_get(here);
    return 0;
}

static bool closes_at(const struct files *f, uint64_t fd)
{
    return f->closes[fd / WORD_BITS] >> fd % WORD_BITS & 1;
}

static void set_closes_at(struct files *f, uint64_t fd, bool closes)
{
    uint64_t bit = 1ull << fd % WORD_BITS;

    f->closes[fd / WORD_BITS] = (f->closes[fd / WORD_BITS] & ~bit) | (closes ? bit : 0);
}

int files_copy(struct memory_account *account, struct files *like, struct files **out)
{
    struct files *f;
    unsigned slots;
    bool irq = spin_lock(&like->lock);

    slots = like->slots;
    spin_unlock(&like->lock, irq);
    int err = make_files(account, slots, &f);
    if (err)
        return err;
    irq = spin_lock(&like->lock);
    if (like->slots != slots) { /* it has grown: rare, so from the start */
        spin_unlock(&like->lock, irq);
        files_destroy(f);
        return -EAGAIN;
    }
    for (unsigned fd = 0; fd < slots; fd++)
        f->file[fd] = like->file[fd] ? file_get(like->file[fd]) : NULL;
    memcpy(f->closes, like->closes, slots / 8);
    f->limit = like->limit;
    f->umask = like->umask;
    f->here = vnode_get(like->here);
    spin_unlock(&like->lock, irq);
    *out = f;
    return 0;
}

/* Closes a descriptor's file: the process has no records of that file any more. NULL: nothing. */
static void put_closed(const struct files *f, struct file *file)
{
    if (file)
        lock_release(file->v, f);
    file_put(file);
}

void files_destroy(struct files *f)
{
    if (!f)
        return;
    lock_release(NULL, f);
    for (unsigned fd = 0; fd < f->slots; fd++)
        file_put(f->file[fd]);
    vnode_put(f->here);
    free_table(f->account, f->file, f->slots);
    memory_uncharge(f->account, sizeof(*f));
    kfree(f);
}

struct file *files_find_any(struct files *f, uint64_t number)
{
    struct file *file = NULL;
    uint32_t fd = (uint32_t)number;
    bool irq = spin_lock(&f->lock);

    if (fd < f->slots && f->file[fd])
        file = file_get(f->file[fd]);
    spin_unlock(&f->lock, irq);
    return file;
}

struct file *files_find(struct files *f, uint64_t number)
{
    struct file *file = files_find_any(f, number);

    if (!file || !(file->flags & O_PATH))
        return file;
    file_put(file);
    return NULL;
}

/* ---- Giving out ------------------------------------------------------------------------------ */

/* Makes the table hold descriptor fd. No lock held. */
static int grow_table(struct files *f, uint64_t fd)
{
    bool irq = spin_lock(&f->lock);
    unsigned slots = f->slots;

    spin_unlock(&f->lock, irq);
    while (slots <= fd)
        slots *= 2;
    int err;
    unsigned unused = slots;
    void *table = make_table(f->account, slots, &err), *old = table;
    if (!table)
        return err;
    irq = spin_lock(&f->lock);
    if (f->slots < slots)
        old = change_table(f, table, &unused);
    spin_unlock(&f->lock, irq);
    free_table(f->account, old, unused);
    return 0;
}

static uint64_t limit_of(const struct files *f)
{
    return __atomic_load_n(&f->limit, __ATOMIC_RELAXED);
}

void files_set_limit(struct files *f, uint64_t limit)
{
    __atomic_store_n(&f->limit, (uint32_t)MIN(limit, (uint64_t)FILES_LIMIT_MAX), __ATOMIC_RELAXED);
}

int files_add(struct files *f, struct file *file, uint64_t least, bool closes)
{
    for (;;) {
        uint64_t fd = least;
        bool irq = spin_lock(&f->lock);
        while (fd < f->slots && f->file[fd])
            fd++;
        bool fits = fd < f->slots && fd < limit_of(f);
        if (fits) {
            f->file[fd] = file;
            set_closes_at(f, fd, closes);
        }
        spin_unlock(&f->lock, irq);
        if (fits)
            return (int)fd;
        int err = fd < limit_of(f) ? grow_table(f, fd) : -EMFILE;
        if (err)
            return err;
    }
}

int files_free(struct files *f, int *out, unsigned n)
{
    uint64_t fd = 0;
    bool irq = spin_lock(&f->lock);

    for (unsigned i = 0; i < n; i++, fd++) {
        while (fd < f->slots && f->file[fd])
            fd++;
        out[i] = (int)fd;
    }
    spin_unlock(&f->lock, irq);
    return fd > limit_of(f) ? -EMFILE : 0;
}

int files_replace(struct files *f, struct file *file, uint64_t fd, bool closes)
{
    struct file *old;

    if (fd >= limit_of(f))
        return -EBADF;
    for (;;) {
        bool irq = spin_lock(&f->lock);
        bool fits = fd < f->slots;
        if (fits) {
            old = f->file[fd];
            f->file[fd] = file;
            set_closes_at(f, fd, closes);
        }
        spin_unlock(&f->lock, irq);
        if (fits)
            break;
        int err = grow_table(f, fd);
        if (err)
            return err;
    }
    put_closed(f, old);
    return (int)fd;
}

/* ---- Closing --------------------------------------------------------------------------------- */

static struct file *take_file(struct files *f, uint64_t fd, bool only_at_exec)
{
    struct file *file = NULL;
    bool irq = spin_lock(&f->lock);

    if (fd < f->slots && (!only_at_exec || closes_at(f, fd))) {
        file = f->file[fd];
        f->file[fd] = NULL;
    }
    spin_unlock(&f->lock, irq);
    return file;
}

int files_close(struct files *f, uint64_t fd)
{
    struct file *file = take_file(f, fd, false);

    put_closed(f, file);
    return file ? 0 : -EBADF;
}

void files_close_range(struct files *f, uint64_t first, uint64_t last, bool at_exec)
{
    for (int64_t fd = files_next(f, first); fd >= 0 && (uint64_t)fd <= last;
         fd = files_next(f, (uint64_t)fd + 1))
        if (at_exec)
            files_set_closes(f, (uint64_t)fd, true);
        else
            files_close(f, (uint64_t)fd);
}

void files_close_at_exec(struct files *f)
{
    for (int64_t fd = files_next(f, 0); fd >= 0; fd = files_next(f, (uint64_t)fd + 1))
        put_closed(f, take_file(f, (uint64_t)fd, true));
}

int files_closes(struct files *f, uint64_t fd)
{
    bool irq = spin_lock(&f->lock);
    int result = fd < f->slots && f->file[fd] ? closes_at(f, fd) : -EBADF;

    spin_unlock(&f->lock, irq);
    return result;
}

int files_set_closes(struct files *f, uint64_t fd, bool closes)
{
    bool irq = spin_lock(&f->lock), there = fd < f->slots && f->file[fd];

    if (there)
        set_closes_at(f, fd, closes);
    spin_unlock(&f->lock, irq);
    return there ? 0 : -EBADF;
}

int64_t files_next(struct files *f, uint64_t fd)
{
    bool irq = spin_lock(&f->lock);

    while (fd < f->slots && !f->file[fd])
        fd++;
    int64_t result = fd < f->slots ? (int64_t)fd : -ENOENT;
    spin_unlock(&f->lock, irq);
    return result;
}

/* ---- The working directory ------------------------------------------------------------------- */

struct vnode *files_here(struct files *f)
{
    bool irq = spin_lock(&f->lock);
    struct vnode *here = vnode_get(f->here);

    spin_unlock(&f->lock, irq);
    return here;
}

void files_go(struct files *f, struct vnode *here)
{
    bool irq = spin_lock(&f->lock);
    struct vnode *old = f->here;

    f->here = here;
    spin_unlock(&f->lock, irq);
    vnode_put(old);
}
