/*
 * The processes that the detector watches, and their threads. Connected processes are watched as
 * one: what one of them sends is read by the other, on any chip.
 */
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "hpm/count.h"
#include "sched/sharing/internal.h"

struct spinlock sharing_lock = SPINLOCK(LOCK_SHARING, "sharing");
/* [S] Connections that the detector has not looked at yet. If there are more, the next connection
 * of the same processes tells it. */
static struct {
    uint32_t a, b; /* pids */
} news[16];
static unsigned news_count; /* [S] */

struct list sharing_processes = {&sharing_processes, &sharing_processes};

/* ---- Processes and their threads ------------------------------------------------------------- */

static bool is_with(const struct sharing_process *p, uint32_t pid)
{
    for (unsigned i = 0; i < p->withs; i++)
        if (p->with[i] == pid)
            return true;
    return false;
}

struct sharing_process *sharing_find_locked(uint32_t pid)
{
    list_for_each (it, &sharing_processes) {
        struct sharing_process *p = container_of(it, struct sharing_process, all);
        if (p->pid == pid || is_with(p, pid))
            return p;
    }
    return NULL;
}

void sharing_free_locked(struct sharing_process *p)
{
    list_remove(&p->all);
    detection_free(p->detection);
    kfree(p->picture);
    kfree(p);
}

static struct sharing_process *add_process_locked(const struct thread *t)
{
    struct sharing_process *p = kmalloc(sizeof(*p));

    if (!p)
        return NULL;
    p->pid = t->hpm.pid;
    p->source = t->policy->sharing;
    p->measured_ns = arch_clock_ns();
    list_init(&p->members);
    list_push_back(&sharing_processes, &p->all);
    return p;
}

/* Names the ability that detection needs and the PMU lacks; NULL: it lacks none. */
static const char *what_lacks(void)
{
    const struct hpm_caps *caps = hpm_caps();

    if (SOURCES_REMOTE_CACHE & ~caps->sampled)
        return "records which data threads share";
    return caps->remote == HPM_UNKNOWN
               ? "counts the cycles that sharing costs (or telemetry=quanta has the counters)"
               : NULL;
}

/* Returns whether this machine can detect sharing. Says once on the console why it cannot. */
static bool can_detect(void)
{
    static bool said;
    const char *lacks = what_lacks();

    if (lacks && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        kprintf("sharing: event=refused reason=no-device: nothing here %s: policy cluster balances "
                "load "
                "only\n",
                lacks);
    return !lacks;
}

void sharing_thread_added(struct thread *t)
{
    list_init(&t->sharing.link);
    t->sharing.cluster = ASSIGN_NONE;
    t->sharing.chip = CHIP_ANY;
    if (t->policy->sharing == SHARING_NONE || !sharing_runs)
        return;
    if (t->policy->sharing == SHARING_DETECTED && !can_detect())
        return;
    bool irq = spin_lock(&sharing_lock);
    struct sharing_process *p = sharing_find_locked(t->hpm.pid);
    if (!p)
        p = add_process_locked(t);
    if (p) { /* else no memory: the process runs unwatched */
        t->sharing.of = p;
        list_push_back(&p->members, &t->sharing.link);
        p->count++;
        p->changed_ns = arch_clock_ns();
        sharing_wake_detector();
    }
    spin_unlock(&sharing_lock, irq);
}

struct sharing_crowd sharing_crowd(const struct sharing_process *p)
{
    bool irq = spin_lock(&sharing_lock);
    struct sharing_crowd crowd = {p->count, p->changed_ns};

    spin_unlock(&sharing_lock, irq);
    return crowd;
}

/* Forgets a process that is watched with p once it has no threads. */
static void forget_process_locked(struct sharing_process *p, uint32_t pid)
{
    if (!is_with(p, pid))
        return;
    list_for_each (it, &p->members)
        if (container_of(it, struct thread, sharing.link)->hpm.pid == pid)
            return;
    for (unsigned i = 0; i < p->withs; i++)
        if (p->with[i] == pid)
            p->with[i] = p->with[--p->withs];
}

void sharing_thread_removed(struct thread *t)
{
    struct sharing_account account;
    bool irq = spin_lock(&sharing_lock), last = false;
    struct sharing_process *p = t->sharing.of;
    uint32_t pid = 0;

    if (p) {
        pid = p->pid;
        t->sharing.of = NULL;
        list_remove(&t->sharing.link);
        last = --p->count == 0;
        forget_process_locked(p, t->hpm.pid);
        account = p->account;
        if (last && !p->busy)
            sharing_free_locked(p);
    }
    spin_unlock(&sharing_lock, irq);
    if (last)
        sharing_report_account(pid, &account);
}

void sharing_group_stated(struct thread *t, int group)
{
    __atomic_store_n(&t->group, group, __ATOMIC_RELAXED);
    bool irq = spin_lock(&sharing_lock);
    struct sharing_process *p = t->sharing.of;
    if (p && p->source == SHARING_STATED) {
        p->unplaced = true;
        p->changed_ns = arch_clock_ns();
        p->next_ns = 0;
        sharing_wake_detector();
    }
    spin_unlock(&sharing_lock, irq);
}

/* ---- Connected processes --------------------------------------------------------------------- */

void sharing_connected(uint32_t a, uint32_t b)
{
    if (!sharing_runs || a == b)
        return;
    bool irq = spin_lock(&sharing_lock);
    struct sharing_process *p = sharing_find_locked(a), *q = sharing_find_locked(b);

    if (p && q && p != q && p->source == q->source && news_count < ARRAY_SIZE(news)) {
        news[news_count].a = a;
        news[news_count++].b = b;
        sharing_wake_detector();
    }
    spin_unlock(&sharing_lock, irq);
}

static void stop_detection(struct sharing_process *p)
{
    if (p->detection)
        p->account.samples += shmap_samples(&p->detection->table);
    detection_free(p->detection);
    p->detection = NULL;
    p->phase = SHARING_WATCH;
}

static void add_account(struct sharing_account *to, const struct sharing_account *a)
{
    to->detections += a->detections;
    to->samples += a->samples;
    to->migrations += a->migrations;
    to->taken_back += a->taken_back;
    to->cost.taking_ns += a->cost.taking_ns;
    to->cost.recording_ns += a->cost.recording_ns;
    to->cost.clustering_ns += a->cost.clustering_ns;
    to->cost.lost += a->cost.lost;
    to->all_ns += a->all_ns;
    to->worst_ppm = MAX(to->worst_ppm, a->worst_ppm);
}

/* Makes q's processes and threads p's. Neither is busy. Locked. */
static void unite_locked(struct sharing_process *p, struct sharing_process *q)
{
    struct list *link;

    stop_detection(p);
    stop_detection(q);
    while ((link = list_pop_front(&q->members))) {
        container_of(link, struct thread, sharing.link)->sharing.of = p;
        list_push_back(&p->members, link);
    }
    p->with[p->withs++] = q->pid;
    for (unsigned i = 0; i < q->withs; i++)
        p->with[p->withs++] = q->with[i];
    p->count += q->count;
    add_account(&p->account, &q->account);
    p->changed_ns = arch_clock_ns();
    p->next_ns = p->backoff_ns = p->not_before_ns = 0;
    p->settling = 0;
    p->unplaced = p->source == SHARING_STATED;
    sharing_free_locked(q);
}

void sharing_unite_locked(void)
{
    while (news_count) {
        news_count--;
        struct sharing_process *p = sharing_find_locked(news[news_count].a),
                               *q = sharing_find_locked(news[news_count].b);
        if (!p || !q || p == q)
            continue;
        if (p->withs + q->withs + 1 > SHARING_CONNECTED_MAX) {
            p->crowded = true;
            continue;
        }
        bool first = p->pid < q->pid;
        unite_locked(first ? p : q, first ? q : p);
    }
}
