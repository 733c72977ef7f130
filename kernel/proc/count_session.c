/* See count_session.h. Opening and closing a session change what every CPU counts, so all is done
 * under sessions_gate. */
#include "kernel/core/cpu.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/count_held.h"
#include "kernel/proc/count_session.h"
#include "kernel/proc/internal.h"
#include "kernel/lib/text.h"

#define SESSIONS 16
#define LAST_MAX 64 /* objects that a session can read since last */

/* The object of a reading; pid and tid are 0 where they do not matter. */
struct thing {
    uint32_t scope, pid, tid;
};

/* The machine's accounts are objects of their own. */
#define SCOPE_ACCOUNT(a) (SYS_SCOPES + (a))

/* The last reading of an object. */
struct last {
    struct last *next;
    struct thing thing;
    struct hpm_sums sums;
};

/* sessions_gate */
static struct count_session sessions[SESSIONS];
static struct session_table table = {.what = "sessions",
                                     .first = sessions,
                                     .bytes = sizeof(sessions[0]),
                                     .count = SESSIONS,
                                     .process_max = SYS_COUNT_SESSIONS,
                                     .family_max = SYS_COUNT_FAMILY};

struct count_session *count_session_find(const struct process *owner, uint32_t number)
{
    return (struct count_session *)session_find(&table, owner, number);
}

struct count_session *count_session_find_at(const struct process *owner, uint32_t number,
                                            const struct session_position *at)
{
    return (struct count_session *)session_find_at(&table, owner, number, at);
}

int counts_open(const struct process *owner, const char *names, char *why, size_t size)
{
    gate_enter(&sessions_gate);
    struct count_session *s = (struct count_session *)session_find_free(&table, owner, why, size);
    int err = s ? hpm_session_open(names, &s->hpm, why, size) : -ENOSPC;
    int number = err ? 0 : session_own(&table, &s->base, owner);
    gate_leave(&sessions_gate);
    return err ? err : number;
}

static void forget_last(struct count_session *s, struct last **at)
{
    struct last *l = *at;

    *at = l->next;
    s->lasts--;
    kfree(l);
}

/* Returns the bytes that its log was charged. */
static uint64_t close_held(struct count_session *s)
{
    uint64_t charged = s->log_bytes;

    if (s->log)
        hpm_log_close(s->log);
    hpm_session_close(s->hpm);
    while (s->last)
        forget_last(s, &s->last);
    *s = (struct count_session){0};
    return charged;
}

int counts_close(struct process *owner, uint32_t session)
{
    gate_enter(&sessions_gate);
    struct count_session *s = count_session_find(owner, session);
    uint64_t charged = s ? hpm_session_bytes() + close_held(s) : 0;
    gate_leave(&sessions_gate);
    process_uncharge(owner, charged);
    return s ? 0 : -ESRCH;
}

static int describe_turns(struct hpm_session *s, struct sys_hpm_turns *turns,
                          struct sys_hpm_turn *turn)
{
    unsigned n = hpm_session_values(s);
    struct hpm_turns all;

    hpm_session_weigh(s);
    hpm_read_turns(&all);
    *turns = (struct sys_hpm_turns){.slice = all.slice,
                                    .pass = all.pass,
                                    .round = all.round,
                                    .groups = all.groups,
                                    .slices = all.slices,
                                    .passes = all.passes,
                                    .by_instructions = all.by_instructions,
                                    .scaled = all.scaled};
    for (unsigned i = 0; i < n; i++) {
        struct hpm_turn one;
        hpm_session_turn(s, i, &one);
        turn[i] =
            (struct sys_hpm_turn){one.weight, one.slices, one.pinned, one.tied, one.automatic, 0};
    }
    return (int)n;
}

int counts_turns(const struct process *owner, uint32_t session, struct sys_hpm_turns *turns,
                 struct sys_hpm_turn *turn)
{
    gate_enter(&sessions_gate);
    const struct count_session *s = count_session_find(owner, session);
    int n = s ? describe_turns(s->hpm, turns, turn) : -ESRCH;
    gate_leave(&sessions_gate);
    return n;
}

uint32_t counts_groups(const char *name)
{
    gate_enter(&sessions_gate);
    int more = hpm_groups_more(name);
    gate_leave(&sessions_gate);
    return more < 0 ? SYS_LISTED_NEVER : (uint32_t)more;
}

void counts_forget(const struct process *owner)
{
    gate_enter(&sessions_gate);
    for (unsigned i = 0; i < SESSIONS; i++)
        if (sessions[i].base.pid == owner->pid)
            close_held(&sessions[i]);
    gate_leave(&sessions_gate);
}

/* ---- Readings -------------------------------------------------------------------------------- */

/* Returns the object of a reading, with 0 replaced by the caller's numbers, so that an object is
 * the same however it is named. */
static struct thing thing_of(const struct process *owner, const struct sys_hpm_read *read)
{
    struct thing t = {.scope = read->scope};

    if (read->scope != SYS_SCOPE_MACHINE)
        t.pid = read->pid ? read->pid : owner->pid;
    if (read->scope == SYS_SCOPE_THREAD)
        t.tid = read->tid ? read->tid : thread_current()->tid;
    return t;
}

/* What a reading since last has seen, and at which position of its session. Later readings start
 * from there once its values are in user memory. */
struct seen {
    struct session_position at;
    unsigned things;
    struct {
        struct thing thing;
        struct hpm_sums sums;
    } of[HPM_ACCOUNTS];
};

/* Work memory of a reading. sessions_gate. */
static struct work {
    struct hpm_sums sums, spare;
    struct hpm_sums part[HPM_ACCOUNTS]; /* of the machine's accounts */
} work;

/* Sums an object's counts. `alone`: no other reading is subtracted from this one. Other CPUs'
 * counts are as old as hpm_update() has left them. Returns 0, or -ESRCH if it no longer exists. */
static int sum_up(struct process *owner, const struct thing *t, uint64_t counts, bool alone,
                  struct hpm_sums *sums)
{
    if (t->scope == SYS_SCOPE_MACHINE || t->scope >= SYS_SCOPES)
        return 0; /* the machine always exists */
    struct process *p = process_to_read(owner, t->pid);
    if (!p)
        return -ESRCH;
    int err = 0;
    if (t->scope == SYS_SCOPE_PROCESS)
        process_sum(p, counts, alone, sums);
    else if (t->scope == SYS_SCOPE_FAMILY)
        process_sum_family(p, counts, alone, sums);
    else
        err = process_sum_thread(p, t->tid, counts, sums);
    process_put(p);
    return err;
}

/* Forgets last readings of objects that have ended. */
static void forget_ended(struct process *owner, struct count_session *s)
{
    for (struct last **at = &s->last; *at;) {
        if (sum_up(owner, &(*at)->thing, 0, false, &work.spare))
            forget_last(s, at);
        else
            at = &(*at)->next;
    }
}

static struct last *find_last(struct process *owner, struct count_session *s, const struct thing *t)
{
    struct last *l = s->last;

    while (l && (l->thing.scope != t->scope || l->thing.pid != t->pid || l->thing.tid != t->tid))
        l = l->next;
    if (l)
        return l;
    if (s->lasts == LAST_MAX)
        forget_ended(owner, s);
    if (s->lasts == LAST_MAX)
        return NULL;
    l = kmalloc(sizeof *l);
    if (!l)
        return NULL;
    l->next = s->last;
    l->thing = *t;
    s->last = l;
    s->lasts++;
    return l;
}

/* Subtracts the last reading from `sums`, and adds what `sums` was to `seen`. */
static int subtract_last(struct process *owner, struct count_session *s, const struct thing *t,
                         struct hpm_sums *sums, struct seen *seen)
{
    struct last *l = find_last(owner, s, t);

    if (!l)
        return s->lasts == LAST_MAX ? -ENOSPC : -ENOMEM;
    seen->of[seen->things].thing = *t;
    hpm_sums_clear(&seen->of[seen->things].sums);
    hpm_sums_copy(&seen->of[seen->things++].sums, sums);
    hpm_sums_sub(sums, &l->sums);
    return 0;
}

/* Sums the machine: its accounts together. */
static int sum_up_machine(struct process *owner, struct count_session *s, struct seen *seen)
{
    hpm_sum_accounts(hpm_session_counts(s->hpm), work.part);
    for (unsigned a = 0; a < HPM_ACCOUNTS; a++) {
        const struct thing account = {.scope = SCOPE_ACCOUNT(a)};
        int err = seen ? subtract_last(owner, s, &account, &work.part[a], seen) : 0;
        if (err)
            return err;
        hpm_sums_add(&work.sums, &work.part[a]);
    }
    return 0;
}

static void put_text(char *to, size_t size, const char *from)
{
    size_t n = MIN(text_length(from), size - 1);

    memcpy(to, from, n);
}

/* Fills in a value; what is left out is 0 already. */
static void put_value(const struct hpm_value *from, struct sys_hpm_value *to)
{
    to->kind = from->unit ? SYS_VALUE_METRIC : SYS_VALUE_COUNT;
    to->sure = from->estimate.sure;
    to->count = from->estimate.count;
    to->low = from->estimate.low;
    to->high = from->estimate.high;
    to->millionths = from->metric.millionths;
    to->trouble = from->metric.trouble;
    to->seen_permille = from->seen_permille;
    to->counted = from->counted;
    to->seen = from->seen;
    to->length = from->length;
    to->fitted = from->fitted;
    put_text(to->name, sizeof to->name, from->name);
    if (from->unit)
        put_text(to->unit, sizeof to->unit, from->unit);
}

/* `seen` is not NULL for a reading since last. */
static int read_held(struct process *owner, struct count_session *s,
                     const struct sys_hpm_read *read, struct sys_hpm_value *out, size_t room,
                     struct seen *seen)
{
    bool machine = read->scope == SYS_SCOPE_MACHINE;
    struct thing thing = thing_of(owner, read);
    unsigned n = hpm_session_values(s->hpm);
    struct hpm_value value;

    hpm_session_weigh(s->hpm);
    hpm_sums_clear(&work.sums);
    for (unsigned a = 0; machine && a < HPM_ACCOUNTS; a++)
        hpm_sums_clear(&work.part[a]);
    hpm_update(read->scope == SYS_SCOPE_FAMILY ? 0 : thing.pid);
    int err = machine ? sum_up_machine(owner, s, seen)
                      : sum_up(owner, &thing, hpm_session_counts(s->hpm), !seen, &work.sums);
    if (!err && !machine && seen)
        err = subtract_last(owner, s, &thing, &work.sums, seen);
    if (!err)
        hpm_session_fit(s->hpm, &work.sums);
    for (unsigned i = 0; !err && i < n && i < room; i++) {
        hpm_session_value(s->hpm, i, &work.sums, &value);
        put_value(&value, &out[i]);
        for (unsigned a = 0; machine && a < HPM_ACCOUNTS; a++) {
            hpm_session_value(s->hpm, i, &work.part[a], &value);
            out[i].part[a] = value.estimate.count;
        }
    }
    return err ? err : (int)n;
}

static int read_once(struct process *owner, const struct sys_hpm_read *read,
                     struct sys_hpm_value *out, size_t room, struct seen *seen)
{
    gate_enter(&sessions_gate);
    struct count_session *s = count_session_find(owner, read->session);
    if (s && seen) {
        seen->things = 0;
        seen->at = session_position(&s->base);
    }
    int n = s ? read_held(owner, s, read, out, room, seen) : -ESRCH;
    gate_leave(&sessions_gate);
    return n;
}

/* Makes the reading the last one, as its values are in user memory. Returns false if another one
 * was made meanwhile, or the session was closed. */
static bool commit_reading(struct process *owner, uint32_t session, const struct seen *seen)
{
    gate_enter(&sessions_gate);
    struct count_session *s = count_session_find_at(owner, session, &seen->at);
    for (unsigned i = 0; s && i < seen->things; i++) {
        struct last *l = find_last(owner, s, &seen->of[i].thing);
        if (l) /* NULL: it has ended and was forgotten */
            hpm_sums_copy(&l->sums, &seen->of[i].sums);
    }
    if (s)
        s->base.delivered++;
    gate_leave(&sessions_gate);
    return s != NULL;
}

static int check_read(const struct sys_hpm_read *read)
{
    if (read->scope >= SYS_SCOPES || read->since_last > 1 || read->reserved)
        return -EINVAL;
    return read->scope == SYS_SCOPE_MACHINE && !visible_machine() ? -EACCES : 0;
}

int counts_read(struct process *owner, const struct sys_hpm_read *read, vaddr_t to, size_t room)
{
    _Static_assert((int)SYS_SURE_NONE == (int)ESTIMATE_NONE &&
                       (int)SYS_SURE_BEYOND == (int)ESTIMATE_BEYOND &&
                       (int)SYS_SURE_INTERVAL == (int)ESTIMATE_INTERVAL &&
                       (int)SYS_METRIC_TOO_LARGE == (int)METRIC_TOO_LARGE &&
                       (int)SYS_ACCOUNT_MONITORING == (int)HPM_MONITORING,
                   "as in abi.h");
    int n = check_read(read);
    if (n)
        return n;
    struct sys_hpm_value *values = kmalloc(MAX(room, (size_t)1) * sizeof(*values));
    struct seen *seen = read->since_last ? kmalloc_unfilled(sizeof(*seen)) : NULL;
    if (!values || (read->since_last && !seen))
        n = -ENOMEM;
    while (!n) {
        n = read_once(owner, read, values, room, seen);
        if (n > 0 && arch_copy_to_user(to, values, MIN((size_t)n, room) * sizeof(*values)))
            n = -EFAULT;
        if (n < 0 || !seen || commit_reading(owner, read->session, seen))
            break;
        memset(values, 0, room * sizeof(*values));
        n = 0;
    }
    kfree(seen);
    kfree(values);
    return n;
}

/* ---- Read in user mode ----------------------------------------------------------------------- */

/* Reserves a page of the window for a thread. Returns its index; PROCESS_THREADS_MAX: none is
 * free. */
static unsigned take_page_index(struct process *p)
{
    unsigned i = 0;
    bool irq = spin_lock(&p->lock);

    while (i < PROCESS_THREADS_MAX && (p->shown[i / 64] >> i % 64 & 1))
        i++;
    if (i < PROCESS_THREADS_MAX)
        p->shown[i / 64] |= (uint64_t)1 << i % 64;
    spin_unlock(&p->lock, irq);
    return i;
}

static void give_page_index(struct process *p, unsigned i)
{
    bool irq = spin_lock(&p->lock);

    p->shown[i / 64] &= ~((uint64_t)1 << i % 64);
    spin_unlock(&p->lock, irq);
}

static vaddr_t shown_at(unsigned i)
{
    return SHOWN_COUNTS + (vaddr_t)i * PAGE_SIZE;
}

/* Maps the CPUs' counters, where user mode reads them in memory. They stay until the space ends. An
 * earlier thread of the process may have mapped them, or be doing so: then this one maps what that
 * one has not yet. */
static int show_counters(struct process *p)
{
    _Static_assert(SHOWN_COUNTERS + (vaddr_t)CPU_MAX * PAGE_SIZE <= SHOWN_VDSO,
                   "room for each CPU's page");
    paddr_t latches = hpm_user_latches();
    int err = 0;

    for (unsigned i = 0; latches && i < cpu_count() && (!err || err == -EEXIST); i++)
        err = space_show(p->space, SHOWN_COUNTERS + (vaddr_t)i * PAGE_SIZE,
                         latches + (paddr_t)i * PAGE_SIZE,
                         PROT_R | PROT_W | PROT_WRITTEN | PROT_DEVICE);
    return err == -EEXIST ? 0 : err;
}

static int make_page(struct process *p, struct hpm_user_page **out)
{
    _Static_assert(SHOWN_COUNTS + (vaddr_t)(PROCESS_THREADS_MAX - 1) * PAGE_SIZE <= SHOWN_MAX &&
                       sizeof(struct hpm_user_page) <= PAGE_SIZE,
                   "room for each thread's page");
    unsigned index = take_page_index(p);
    paddr_t page;
    int err =
        index >= (SHOWN_MAX - SHOWN_COUNTS) >> PAGE_SHIFT ? -ENOMEM : frame_alloc_zeroed(&page);

    if (!err) {
        err = space_show(p->space, shown_at(index), page, PROT_R);
        if (err)
            frame_free(page, 0);
    }
    if (err) {
        if (index < PROCESS_THREADS_MAX)
            give_page_index(p, index);
        return err;
    }
    *out = phys_to_virt(page);
    (*out)->index = index;
    return 0;
}

static void drop_page(struct process *p, struct hpm_user_page *page)
{
    unsigned index = page->index;

    space_hide(p->space, shown_at(index));
    frame_free(virt_to_phys(page), 0);
    give_page_index(p, index);
}

static int show_counts(const struct process *owner, uint32_t session, struct hpm_user_page *page)
{
    gate_enter(&sessions_gate);
    const struct count_session *s = count_session_find(owner, session);
    int err = s ? hpm_user_open(&thread_current()->hpm, s->hpm, session, page) : -ESRCH;
    gate_leave(&sessions_gate);
    return err;
}

/* The page is mapped before the gate is entered, and unmapped after it is left. */
int64_t counts_show(struct process *owner, uint32_t session)
{
    struct hpm_user_page *had = thread_current()->hpm.user, *page = had;
    int err = had ? 0 : show_counters(owner);

    if (!err && !had)
        err = make_page(owner, &page);
    if (err)
        return err;
    err = show_counts(owner, session, page);
    if (!err)
        return (int64_t)shown_at(page->index);
    if (!had)
        drop_page(owner, page);
    return err;
}

void counts_hide(struct process *owner)
{
    struct hpm_user_page *page = hpm_user_close(&thread_current()->hpm);

    if (page)
        drop_page(owner, page);
}
