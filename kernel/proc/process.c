/* The table of processes, their start and their end; see process.h. */
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/semaphores.h"
#include "kernel/proc/limits.h"
#include "kernel/proc/bundle.h"
#include "kernel/proc/exec.h"
#include "kernel/proc/count_session.h"
#include "kernel/proc/family.h"
#include "kernel/proc/sample_session.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/jobs.h"
#include "kernel/proc/figures.h"
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"
#include "kernel/trace/telemetry.h"
#include "hpm/count.h"
#include <linux/signal.h>

#define REAP_NS NS_PER_S /* then it looks again, as memory may be free otherwise */

extern const char bundle_start[], bundle_end[];

static struct spinlock table_lock = SPINLOCK(LOCK_PROC, "process table");
/* table_lock: processes that still have memory */
static struct list table = {&table, &table};

/* ---- Numbers --------------------------------------------------------------------------------- */

uint32_t process_reserve_pid(struct process *parent)
{
    return number_take(&thread_numbers, &parent->next_child);
}

uint32_t process_reserved_pid(const struct process *parent)
{
    return number_of(&thread_numbers, &parent->next_child);
}

/* Takes the pid that `parent` has reserved, if any, else another one. */
static uint32_t take_pid(struct process *p, struct process *parent)
{
    if (!parent || !number_move(&thread_numbers, &p->id, &parent->next_child))
        number_take(&thread_numbers, &p->id);
    return p->id.value;
}

void process_init(void)
{
    struct bundle_file file;
    uint64_t cursor = 0;
    const char *why;
    int err;

    futex_init();
    do
        err = bundle_next(bundle_start, bundle_end - bundle_start, &cursor, &file, &why);
    while (!err);
    if (err != -ENOENT)
        panic("bundle: broken at byte %llu: %s", (unsigned long long)cursor, why);
}

unsigned process_count(void)
{
    unsigned n = 0;
    bool irq = spin_lock(&table_lock);

    for (const struct list *l = table.next; l != &table; l = l->next)
        n++;
    spin_unlock(&table_lock, irq);
    return n;
}

void process_get(struct process *p)
{
    __atomic_fetch_add(&p->refs, 1, __ATOMIC_RELAXED);
}

static uint32_t processes; /* atomic; that have a structure */

static void free_process(struct process *p)
{
    kfree(p->descendants);
    kfree(p->command);
    exec_put_program(p->program);
    memory_account_put(p->kernel);
    kfree(p);
    __atomic_sub_fetch(&processes, 1, __ATOMIC_RELAXED);
}

void process_put(struct process *p)
{
    while (p && __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        struct process *parent = p->parent;
        signals_end(p);
        family_sum_leave(p);
        number_give(&thread_numbers, &p->id);
        number_give(&thread_numbers, &p->next_child);
        free_process(p);
        p = parent;
    }
}

int process_charge(struct process *p, uint64_t bytes)
{
    int err = memory_charge(p->kernel, bytes);

    if (err && !__atomic_exchange_n(&p->told_limit, true, __ATOMIC_RELAXED))
        kprintf(
            "process: event=limit limit=mem.kernel pid=%u app=%s kb=%llu: it has all the kernel "
            "memory that it may have: no more threads, mappings or sessions\n",
            p->pid, p->name, (unsigned long long)(p->kernel->limit / KIB));
    return err;
}

void process_uncharge(struct process *p, uint64_t bytes)
{
    memory_uncharge(p->kernel, bytes);
}

int process_make(const char *name, struct family *family, struct process *parent,
                 struct process **out)
{
    if (__atomic_add_fetch(&processes, 1, __ATOMIC_RELAXED) > PROCESSES_MAX) {
        __atomic_sub_fetch(&processes, 1, __ATOMIC_RELAXED);
        return -EAGAIN;
    }
    struct process *p = kmalloc(sizeof(*p));
    if (!p) {
        __atomic_sub_fetch(&processes, 1, __ATOMIC_RELAXED);
        return -ENOMEM;
    }
    p->kernel = memory_account_make(parent ? parent->kernel : NULL);
    int err =
        (p->kernel ? memory_charge(p->kernel, sizeof(*p)) : -ENOMEM) ?: family_sum_prepare(parent);
    if (err) {
        free_process(p);
        return err;
    }
    p->family = family;
    p->first = !parent;
    p->parent = parent;
    ksnprintf(p->name, sizeof(p->name), "%s", name);
    spin_init(&p->lock, LOCK_PROC, "process");
    list_init(&p->threads);
    list_init(&p->all);
    signals_init(&p->signals);
    timers_init(&p->timers);
    list_init(&p->leaving);
    list_init(&p->started);
    wait_init(&p->waiters);
    wait_init(&p->unlooked);
    wait_init(&p->returned);
    wait_init(&p->alone);
    p->refs = 2; /* its own, and its starter's or its parent's in the tree */
    *out = p;
    return 0;
}

void process_unmake(struct process *p)
{
    files_destroy(p->files);
    free_process(p);
}

static uint64_t made; /* atomic */

uint64_t process_made(void)
{
    return __atomic_load_n(&made, __ATOMIC_RELAXED);
}

void process_enter(struct process *p, uint8_t exit_signal)
{
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    p->started_ns = arch_clock_ns();
    family_join(p->family);
    if (p->parent)
        process_get(p->parent);
    family_sum_join(p);
    p->pid = take_pid(p, p->parent);
    limits_init(p, p->parent);
    if (!p->lender)
        space_set_pid(p->space, p->pid);
    entropy_stream_init(&p->entropy, p->pid);
    proctree_join(p, p->parent, exit_signal);
    if (p->first)
        jobs_begin(p);
    bool irq = spin_lock(&table_lock);
    list_push_back(&table, &p->all);
    spin_unlock(&table_lock, irq);
    if (family_stopped(p->family))
        process_end(p, STATUS_NO_MEMORY);
    telemetry_process_start(p->pid, p->name);
}

void process_abandon(struct process *p)
{
    bool first = p->first;

    proctree_disown(p);
    process_reap(p);
    if (first)
        process_put(p);
}

struct space *process_change_space(struct process *p, struct space *new)
{
    bool irq = spin_lock(&table_lock);
    struct space *old = p->space;

    p->space = new;
    spin_unlock(&table_lock, irq);
    return old;
}

static int create_process(const char *name, struct family *family, struct process *parent,
                          struct process **out)
{
    int err = process_make(name, family, parent, out);

    if (err)
        return err;
    struct process *p = *out;
    err =
        stdio_open(p, parent) ?: space_create(parent ? parent->space : NULL, p->kernel, &p->space);
    if (err) {
        process_unmake(p);
        return err;
    }
    symbols_load(&p->symbols, name); /* before other threads find it */
    process_enter(p, SIGCHLD);
    return 0;
}

/* The reason in a line that says that a process was not started. */
static const char *why_not(int err)
{
    return err == -EAGAIN ? "threads" : err == -EDQUOT ? "mem.kernel" : "memory";
}

int process_start(const char *const *argv, struct process **out)
{
    struct family *family = family_make();

    if (!family) {
        kprintf("process: event=refused app=%s reason=memory: out of memory\n", argv[0]);
        return -ENOMEM;
    }
    int err = process_start_as(argv, family, NULL, out);
    if (err)
        family_end(family);
    return err;
}

void process_finish(struct process *p)
{
    struct family *family = p->family;

    process_put(p);
    family_end(family);
}

int process_start_as(const char *const *argv, struct family *family, struct process *parent,
                     struct process **out)
{
    vaddr_t entry, sp;

    ASSERT(argv[0]);
    if (family_stopped(family))
        return -EINTR;
    struct process *p;
    int err = create_process(text_base(argv[0]), family, parent, &p);
    if (err) {
        kprintf("process: event=refused app=%s reason=%s\n", argv[0], why_not(err));
        return err;
    }
    err = exec_command(p, argv, &entry, &sp);
    if (!err) {
        process_get(p);
        code_images_begin(p);
        err = uthread_first(p, entry, sp);
        if (err && !process_ending(p))
            kprintf("process: event=refused app=%s reason=%s: no first thread\n", argv[0],
                    why_not(err));
        if (err || !parent)
            process_put(p);
    }
    if (err) {
        process_abandon(p);
        return err;
    }
    *out = p;
    return 0;
}

static struct spinlock reaps_lock = SPINLOCK(LOCK_PROC, "reaps");
static struct process_reaps reaps; /* atomic; finished: also reaps_lock */
static struct wait_queue reaped = {{&reaped.waiters, &reaped.waiters}}; /* reaps_lock */

struct process_reaps process_reaps(void)
{
    uint32_t finished = __atomic_load_n(&reaps.finished, __ATOMIC_ACQUIRE);

    return (struct process_reaps){__atomic_load_n(&reaps.begun, __ATOMIC_ACQUIRE), finished};
}

static void count_reap(void)
{
    bool irq = spin_lock(&reaps_lock);

    __atomic_fetch_add(&reaps.finished, 1, __ATOMIC_ACQ_REL);
    wait_wake(&reaped, ~0u);
    spin_unlock(&reaps_lock, irq);
}

void process_wait_reap(struct process_reaps since)
{
    uint64_t until_ns = arch_clock_ns() + REAP_NS;
    bool irq = spin_lock(&reaps_lock);

    while (reaps.finished == since.finished &&
           wait_sleep(&reaped, &reaps_lock, &irq, until_ns) == 0)
        ;
    spin_unlock(&reaps_lock, irq);
}

/* Sleeps, as a thread that looks may have a lower priority. */
void process_wait_lookers(struct process *p)
{
    may_wait("wait for the lookers of a process");
    bool irq = spin_lock(&p->lock);

    while (__atomic_load_n(&p->lookers, __ATOMIC_ACQUIRE))
        wait_sleep_through(&p->unlooked, &p->lock, &irq);
    spin_unlock(&p->lock, irq);
}

/* Ends all members at once. Generation by generation, processes not yet ended could go on starting
 * others. */
static void end_family(struct process *first)
{
    uint32_t pid = 0;

    family_stop(first->family);
    for (struct process *p; (p = process_after(pid)); process_put(p)) {
        pid = p->pid;
        if (p->family == first->family && p != first)
            process_end(p, STATUS_NO_MEMORY);
    }
}

/* The process leaves the table first: a thread that finds it there may look at its space, and is
 * waited for. */
void process_reap(struct process *p)
{
    struct family *family = p->family;

    __atomic_fetch_add(&reaps.begun, 1, __ATOMIC_ACQ_REL);
    bool irq = spin_lock(&table_lock);
    list_remove(&p->all);
    spin_unlock(&table_lock, irq);
    if (p->first)
        end_family(p);
    timers_end(p);
    counts_forget(p);
    samples_forget(p);
    process_wait_lookers(p);
    code_images_end(p);
    process_remember(p);
    uint64_t resident_kb = p->memory.resident_pages * PAGE_SIZE / KIB;
    semaphores_undo(p);
    files_destroy(p->files);
    space_give_up(p, p->space);
    count_reap();
    telemetry_process_exit(p->pid, p->status);
    proctree_give_away(p); /* a thread that waits for p's end finds them there */
    irq = spin_lock(&p->lock);
    p->space = NULL;
    p->ended = true;
    struct kin_end end = {(uint8_t)p->status, !p->exited};
    struct cpu_time time = process_time_locked(p);
    wait_wake(&p->waiters, ~0u);
    spin_unlock(&p->lock, irq);
    jobs_end(p);
    proctree_end(p, end, time, resident_kb);
    process_put(p);
    family_leave(family);
    signals_check_stopped();
}

int process_wait(struct process *p)
{
    may_wait("wait for a process");
    bool irq = spin_lock(&p->lock);

    while (!p->ended)
        wait_sleep(&p->waiters, &p->lock, &irq, UINT64_MAX);
    int status = p->status;
    spin_unlock(&p->lock, irq);
    return status;
}

/* Ends p, with a status that the program gave, or the kernel gives. */
static bool end(struct process *p, int status, bool exited)
{
    bool irq = spin_lock(&p->lock);
    bool first = !p->ending;

    if (first) {
        p->status = status;
        p->exited = exited;
        __atomic_store_n(&p->ending, true, __ATOMIC_RELEASE);
        list_for_each (it, &p->threads) {
            struct thread *t = container_of(it, struct thread, siblings);
            if (t != thread_current())
                sched_interrupt_thread(t);
        }
    }
    spin_unlock(&p->lock, irq);
    if (first && p->first)
        end_family(p);
    return first;
}

bool process_end(struct process *p, int status)
{
    return end(p, status, false);
}

void process_exit(struct process *p, uint8_t code)
{
    end(p, code, true);
}

uint32_t process_pid(const struct process *p)
{
    return p->pid;
}

/* Returns how well a process matches; 0: not at all. */
typedef uint64_t process_worth(const struct process *p, uint32_t pid);

static uint64_t has_pid(const struct process *p, uint32_t pid)
{
    return p->pid == pid;
}

static uint64_t comes_after(const struct process *p, uint32_t pid)
{
    return p->pid > pid ? UINT64_MAX - p->pid : 0;
}

static uint64_t has_pages(const struct process *p, uint32_t pid)
{
    (void)pid;
    return space_pages(p->space) + __atomic_load_n(&p->kernel->used, __ATOMIC_RELAXED) / PAGE_SIZE;
}

/* Returns the process that matches best, referenced, or NULL. table_lock held. */
static struct process *pick_locked(process_worth *worth, uint32_t pid)
{
    struct process *best = NULL;
    uint64_t most = 0;

    list_for_each (it, &table) {
        struct process *p = container_of(it, struct process, all);
        uint64_t is = worth(p, pid);
        if (is > most) {
            most = is;
            best = p;
        }
    }
    if (best)
        process_get(best);
    return best;
}

static struct process *pick_process(process_worth *worth, uint32_t pid)
{
    bool irq = spin_lock(&table_lock);
    struct process *best = pick_locked(worth, pid);

    spin_unlock(&table_lock, irq);
    return best;
}

struct process *process_find(uint32_t pid)
{
    return pick_process(has_pid, pid);
}

struct process *process_after(uint32_t pid)
{
    return pick_process(comes_after, pid);
}

static struct process *look(process_worth *worth, uint32_t pid)
{
    bool irq = spin_lock(&table_lock);
    struct process *found = pick_locked(worth, pid);

    if (found)
        __atomic_fetch_add(&found->lookers, 1, __ATOMIC_RELAXED);
    spin_unlock(&table_lock, irq);
    return found;
}

struct process *process_look(uint32_t pid)
{
    return look(has_pid, pid);
}

struct process *process_look_largest(void)
{
    return look(has_pages, 0);
}

void process_look_end(struct process *p)
{
    if (__atomic_sub_fetch(&p->lookers, 1, __ATOMIC_ACQ_REL) == 0) {
        bool irq = spin_lock(&p->lock);
        wait_wake(&p->unlooked, 1);
        spin_unlock(&p->lock, irq);
    }
    process_put(p);
}

struct process *process_look_for(const struct process *reader, uint32_t pid)
{
    struct process *p = process_look(pid);

    if (!p || visible_process(reader, p))
        return p;
    process_look_end(p);
    return NULL;
}

struct process *process_to_read(struct process *reader, uint32_t pid)
{
    if (!pid || pid == reader->pid) {
        process_get(reader);
        return reader;
    }
    struct process *p = proctree_find(pid);

    if (!p || visible_process(reader, p))
        return p;
    process_put(p);
    return NULL;
}
