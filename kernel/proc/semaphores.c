/* See semaphores.h. One lock guards all sets. Threads that wait look at all again after each
 * change of their set. */
#include "kernel/proc/semaphores.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"

struct semaphore {
    uint16_t value;
    uint32_t pid; /* who changed it last */
};

struct set {
    struct ipc ipc;
    struct semaphore *semaphores;
    uint64_t count;
    int64_t used;
    struct wait_queue changed;
    struct list waiting, undoes; /* struct waiter, struct undo */
};

/* A thread that waits: for which semaphore, and whether for 0. */
struct waiter {
    struct list in_set;
    uint64_t semaphore;
    bool zero;
};

/* What a process's end takes back from a set. */
struct undo {
    struct list in_set;
    const struct process *process;
    int16_t change[];
};

static struct spinlock lock = SPINLOCK(LOCK_FILE, "semaphores");
static struct set sets[IPC_ENTRIES];
static uint32_t undo_count; /* [A] written with the lock held */
static struct ipc_table table = {sets, sizeof(*sets), 0};

static struct set *set_of(uint64_t id)
{
    return (struct set *)ipc_of(&table, id);
}

/* ---- Sets ------------------------------------------------------------------------------------ */

/* Makes a set of semaphores that are 0. Lock held. */
static int64_t make_set(uint32_t key, struct semaphore *semaphores, uint64_t n, uint32_t flags)
{
    struct set *s = (struct set *)ipc_enter(&table, key, flags);

    if (!s)
        return -ENOSPC;
    s->semaphores = semaphores;
    s->count = n;
    s->used = 0;
    if (!s->waiting.next) { /* else threads may still leave it */
        wait_init(&s->changed);
        list_init(&s->waiting);
        list_init(&s->undoes);
    }
    return s->ipc.id;
}

int64_t semaphores_get(uint32_t key, uint64_t n, uint32_t flags)
{
    struct semaphore *fresh = n && n <= SEM_SET_MAX ? kmalloc(n * sizeof(*fresh)) : NULL;
    struct ipc *found;

    if (n > SEM_SET_MAX)
        return -EINVAL;
    bool irq = spin_lock(&lock);
    int64_t result = ipc_find(&table, key, flags, &found);
    if (result == 1) {
        result = !n ? -EINVAL : !fresh ? -ENOMEM : make_set(key, fresh, n, flags);
        fresh = result < 0 ? fresh : NULL;
    } else if (!result) {
        result = n > ((struct set *)found)->count ? -EINVAL : found->id;
    }
    spin_unlock(&lock, irq);
    kfree(fresh);
    return result;
}

/* Takes the undoes of a set out of it. Lock held. */
static void take_undoes(struct set *s, struct list *out)
{
    list_init(out);
    for (; !list_empty(&s->undoes); undo_count--)
        list_push_back(out, list_pop_front(&s->undoes));
}

int semaphores_remove(uint64_t id)
{
    struct semaphore *gone = NULL;
    struct list undoes;
    bool irq = spin_lock(&lock);
    struct set *s = set_of(id);

    list_init(&undoes);
    if (s) {
        gone = s->semaphores;
        take_undoes(s, &undoes);
        s->ipc.used = false;
        wait_wake(&s->changed, ~0u);
    }
    spin_unlock(&lock, irq);
    kfree(gone);
    while (!list_empty(&undoes))
        kfree(container_of(list_pop_front(&undoes), struct undo, in_set));
    return s ? 0 : -EINVAL;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static struct undo *find_undo(const struct set *s, const struct process *p)
{
    list_for_each (it, &s->undoes) {
        struct undo *u = container_of(it, struct undo, in_set);
        if (u->process == p)
            return u;
    }
    return NULL;
}

/* Does one operation. Returns 0; 1: it must wait; or an error. */
static int operate_once(struct set *s, const struct sembuf *op, struct undo *undo)
{
    struct semaphore *x = &s->semaphores[op->sem_num];
    int value = x->value + op->sem_op;
    int change = undo && (op->sem_flg & SEM_UNDO) ? undo->change[op->sem_num] - op->sem_op : 0;

    if (op->sem_op ? value < 0 : x->value)
        return op->sem_flg & IPC_NOWAIT ? -EAGAIN : 1;
    if (value > SEM_VALUE || change > SEM_VALUE || change < -SEM_VALUE - 1)
        return -ERANGE;
    x->value = (uint16_t)value;
    if (undo && (op->sem_flg & SEM_UNDO))
        undo->change[op->sem_num] = (int16_t)change;
    return 0;
}

/* Takes an operation back. */
static void take_back(struct set *s, const struct sembuf *op, struct undo *undo)
{
    s->semaphores[op->sem_num].value = (uint16_t)(s->semaphores[op->sem_num].value - op->sem_op);
    if (undo && (op->sem_flg & SEM_UNDO))
        undo->change[op->sem_num] = (int16_t)(undo->change[op->sem_num] + op->sem_op);
}

/* Does all operations, or none. Returns 0; 1: *blocks must wait; or an error. */
static int operate_all(struct set *s, struct process *p, const struct sembuf *ops, unsigned n,
                       const struct sembuf **blocks)
{
    struct undo *undo = find_undo(s, p);
    bool changes = false;
    int err = 0;
    unsigned done;

    for (done = 0; done < n && !err; done += !err)
        err = operate_once(s, &ops[done], undo);
    if (err) {
        *blocks = &ops[done];
        while (done--)
            take_back(s, &ops[done], undo);
        return err;
    }
    for (unsigned i = 0; i < n; i++) {
        s->semaphores[ops[i].sem_num].pid = p->pid;
        changes |= ops[i].sem_op != 0;
    }
    s->used = ipc_now();
    if (changes)
        wait_wake(&s->changed, ~0u);
    return 0;
}

static int wait_once(struct set *s, const struct sembuf *blocks, bool *irq, uint64_t deadline_ns)
{
    struct waiter w = {.semaphore = blocks->sem_num, .zero = !blocks->sem_op};

    list_push_back(&s->waiting, &w.in_set);
    int err = wait_sleep_interruptible(&s->changed, &lock, irq, deadline_ns);
    list_remove(&w.in_set);
    return err == -ETIMEDOUT ? -EAGAIN : err ? -EINTR : 0;
}

static int check_ops(const struct set *s, const struct sembuf *ops, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (ops[i].sem_num >= s->count)
            return -EFBIG;
    return 0;
}

/* Gives p an undo of the set, *fresh, if it has none. */
static void enter_undo(struct set *s, const struct process *p, struct undo **fresh)
{
    if (!*fresh || find_undo(s, p))
        return;
    (*fresh)->process = p;
    list_push_back(&s->undoes, &(*fresh)->in_set);
    undo_count++;
    *fresh = NULL;
}

/* Makes an undo for the set if an operation wants one. Returns 0 or an error. */
static int make_undo(uint64_t id, const struct sembuf *ops, unsigned n, struct undo **out)
{
    bool wants = false, irq;

    for (unsigned i = 0; i < n; i++)
        wants |= (ops[i].sem_flg & SEM_UNDO) != 0;
    irq = spin_lock(&lock);
    const struct set *s = set_of(id);
    uint64_t count = s ? s->count : 0;
    spin_unlock(&lock, irq);
    if (!s)
        return -EINVAL;
    *out = wants ? kmalloc(sizeof(**out) + count * sizeof((*out)->change[0])) : NULL;
    return wants && !*out ? -ENOMEM : 0;
}

int semaphores_operate(struct process *p, uint64_t id, const struct sembuf *ops, unsigned n,
                       uint64_t deadline_ns)
{
    const struct sembuf *blocks;
    struct undo *fresh;
    int err = make_undo(id, ops, n, &fresh);

    if (err)
        return err;
    bool irq = spin_lock(&lock);
    struct set *s = set_of(id);
    err = s ? check_ops(s, ops, n) : -EIDRM;
    if (!err)
        enter_undo(s, p, &fresh);
    while (!err && (err = operate_all(s, p, ops, n, &blocks)) == 1) {
        err = wait_once(s, blocks, &irq, deadline_ns);
        if (set_of(id) != s)
            err = -EIDRM;
    }
    spin_unlock(&lock, irq);
    kfree(fresh);
    return err;
}

/* Adds what an undo says, as far as the values allow. Lock held. */
static void apply_undo(struct set *s, const struct undo *u, uint32_t pid)
{
    for (uint64_t i = 0; i < s->count; i++) {
        int value = s->semaphores[i].value + u->change[i];
        if (!u->change[i])
            continue;
        s->semaphores[i].value = (uint16_t)(value < 0 ? 0 : MIN(value, SEM_VALUE));
        s->semaphores[i].pid = pid;
    }
    s->used = ipc_now();
    wait_wake(&s->changed, ~0u);
}

void semaphores_undo(struct process *p)
{
    for (unsigned i = 0; i < IPC_ENTRIES && __atomic_load_n(&undo_count, __ATOMIC_RELAXED); i++) {
        struct undo *u = NULL;
        if (!__atomic_load_n(&sets[i].ipc.used, __ATOMIC_RELAXED))
            continue;
        bool irq = spin_lock(&lock);
        if (sets[i].ipc.used && (u = find_undo(&sets[i], p))) {
            list_remove(&u->in_set);
            undo_count--;
            apply_undo(&sets[i], u, p->pid);
        }
        spin_unlock(&lock, irq);
        kfree(u);
    }
}

/* ---- What semctl does ------------------------------------------------------------------------ */

int64_t semaphores_state(uint64_t id, bool place, struct sem_state *out)
{
    bool irq = spin_lock(&lock);
    const struct set *s =
        place ? id < IPC_ENTRIES && sets[id].ipc.used ? &sets[id] : NULL : set_of(id);

    if (s)
        *out = (struct sem_state){.ipc = s->ipc, .count = s->count, .used = s->used};
    spin_unlock(&lock, irq);
    return s ? out->ipc.id : -EINVAL;
}

int semaphores_set_owner(uint64_t id, uint32_t uid, uint32_t gid, uint32_t mode)
{
    bool irq = spin_lock(&lock);
    struct set *s = set_of(id);

    if (s) {
        s->ipc.uid = uid;
        s->ipc.gid = gid;
        s->ipc.mode = mode & 0777;
        s->ipc.changed = ipc_now();
    }
    spin_unlock(&lock, irq);
    return s ? 0 : -EINVAL;
}

/* Returns how many threads wait for a semaphore to become 0, or more. Lock held. */
static int64_t count_waiters(const struct set *s, uint64_t semaphore, bool zero)
{
    int64_t n = 0;

    list_for_each (it, &s->waiting) {
        const struct waiter *w = container_of(it, struct waiter, in_set);
        n += w->semaphore == semaphore && w->zero == zero;
    }
    return n;
}

int64_t semaphores_number(uint64_t id, uint64_t semaphore, uint32_t command)
{
    bool irq = spin_lock(&lock);
    const struct set *s = set_of(id);
    int64_t result = -EINVAL;

    if (s && semaphore < s->count) {
        const struct semaphore *x = &s->semaphores[semaphore];
        result = command == GETVAL   ? x->value
                 : command == GETPID ? x->pid
                                     : count_waiters(s, semaphore, command == GETZCNT);
    }
    spin_unlock(&lock, irq);
    return result;
}

/* Sets values, and forgets what was to be undone to them. Lock held. */
static void set_values(struct set *s, const struct process *p, uint64_t first,
                       const uint16_t *values, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        s->semaphores[first + i] = (struct semaphore){values[i], p->pid};
    list_for_each (it, &s->undoes)
        memset(&container_of(it, struct undo, in_set)->change[first], 0, n * sizeof(int16_t));
    s->ipc.changed = ipc_now();
    wait_wake(&s->changed, ~0u);
}

int semaphores_set(struct process *p, uint64_t id, uint64_t first, const uint16_t *values,
                   uint64_t n)
{
    int err = 0;

    for (uint64_t i = 0; i < n; i++)
        err = values[i] > SEM_VALUE ? -ERANGE : err;
    bool irq = spin_lock(&lock);
    struct set *s = set_of(id);
    if (!s || first >= s->count || n > s->count - first)
        err = -EINVAL;
    if (!err)
        set_values(s, p, first, values, n);
    spin_unlock(&lock, irq);
    return err;
}

int semaphores_values(uint64_t id, uint16_t *out, uint64_t n)
{
    bool irq = spin_lock(&lock);
    const struct set *s = set_of(id);

    for (uint64_t i = 0; s && i < MIN(n, s->count); i++)
        out[i] = s->semaphores[i].value;
    spin_unlock(&lock, irq);
    return s ? 0 : -EINVAL;
}

int semaphores_count(unsigned *used, uint64_t *semaphores)
{
    bool irq = spin_lock(&lock);
    int last = ipc_count(&table, used);

    *semaphores = 0;
    for (unsigned i = 0; i < IPC_ENTRIES; i++)
        *semaphores += sets[i].ipc.used ? sets[i].count : 0;
    spin_unlock(&lock, irq);
    return last;
}
