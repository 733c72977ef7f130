/* See proctree.h. */
#include "kernel/proc/proctree.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/jobs.h"
#include <linux/poll.h>
#include <linux/signal.h>

static struct spinlock tree_lock = SPINLOCK(LOCK_TREE, "tree of processes");
static struct list every = {&every, &every}; /* tree_lock: by pid */

static struct process *process_of(struct list *sibling)
{
    return container_of(sibling, struct process, tree.sibling);
}

static struct process *of_every(struct list *it)
{
    return container_of(it, struct process, tree.every);
}

/* ---- Entering and leaving -------------------------------------------------------------------- */

static void enter_locked(struct process *p)
{
    struct list *at = &every;

    while (at->prev != &every && of_every(at->prev)->pid > p->pid)
        at = at->prev;
    list_insert_before(at, &p->tree.every);
}

void proctree_join(struct process *p, struct process *parent, uint8_t exit_signal)
{
    struct proctree *n = &p->tree;

    list_init(&n->children);
    wait_init(&n->waiters);
    poll_source_init(&n->ends);
    n->exit_signal = exit_signal;
    bool irq = spin_lock(&tree_lock);
    n->parent = parent;
    n->group = parent ? parent->tree.group : p->pid;
    n->session = parent ? parent->tree.session : p->pid;
    if (parent)
        list_push_back(&parent->tree.children, &n->sibling);
    else
        list_init(&n->sibling);
    enter_locked(p);
    spin_unlock(&tree_lock, irq);
}

/* Takes a process out. The reference of its parent is the caller's. */
static void remove_locked(struct process *p)
{
    list_remove(&p->tree.sibling);
    list_remove(&p->tree.every);
}

void proctree_disown(struct process *p)
{
    bool irq = spin_lock(&tree_lock);

    list_remove(&p->tree.sibling);
    list_init(&p->tree.sibling);
    p->tree.parent = NULL;
    spin_unlock(&tree_lock, irq);
}

/* Drops the reference that a parent had of a process that has left the tree. That of a first
 * process is its starter's. */
static void put_child(struct process *p)
{
    if (!p->first)
        process_put(p);
}

static struct process *get_parent(struct process *p)
{
    bool irq = spin_lock(&tree_lock);
    struct process *parent = p->tree.parent;

    if (parent)
        process_get(parent);
    spin_unlock(&tree_lock, irq);
    return parent;
}

/* ---- Telling --------------------------------------------------------------------------------- */

static void put(struct process *p)
{
    if (p)
        process_put(p);
}

/* Sends a child's news to its parent. */
static void send_news(struct process *parent, const struct process *p, enum kin_news news,
                      int number, uint8_t signal)
{
    int status;
    int code = kin_code(news, p->tree.end, signal, &status);
    siginfo_t info = {.si_signo = number, .si_code = code};

    info.si_pid = (int)p->pid;
    info.si_status = status;
    if (news == KIN_EXITED) {
        info.si_utime = (__kernel_clock_t)(cpu_time_user_ns(p->tree.time) / (10 * NS_PER_MS));
        info.si_stime = (__kernel_clock_t)(p->tree.time.system_ns / (10 * NS_PER_MS));
    }
    signal_send_news(parent, &info);
}

static void wake_parent(struct process *parent)
{
    bool irq = spin_lock(&tree_lock);

    wait_wake(&parent->tree.waiters, ~0u);
    spin_unlock(&tree_lock, irq);
}

/* Tells the parent of a process that has ended. `reaps`: the process has left the tree. */
static void tell_end(struct process *parent, struct process *p, bool reaps)
{
    if (parent && p->tree.exit_signal)
        send_news(parent, p, KIN_EXITED, p->tree.exit_signal, 0);
    if (parent)
        wake_parent(parent);
    if (reaps)
        put_child(p);
}

/* Returns whether the ends of p's children are not waited for. */
static bool reaps(struct process *parent, const struct process *p)
{
    return !parent || (p->tree.exit_signal == SIGCHLD && signal_reaps_children(parent));
}

static bool is_stopped(struct process *p)
{
    return __atomic_load_n(&p->signals.stopped, __ATOMIC_ACQUIRE);
}

/* Continues a group that has become orphaned: no process is left that would. */
static void check_orphaned(uint32_t group)
{
    bool stopped = false;
    uint32_t pid = 0;

    for (struct process *p; (p = proctree_next_of(group, pid)); process_put(p)) {
        pid = p->pid;
        stopped |= is_stopped(p);
    }
    if (!stopped || !proctree_orphaned(group))
        return;
    signal_send_group(group, &(siginfo_t){.si_signo = SIGHUP, .si_code = SI_KERNEL});
    signal_send_group(group, &(siginfo_t){.si_signo = SIGCONT, .si_code = SI_KERNEL});
}

/* ---- The end of a process -------------------------------------------------------------------- */

/* Returns the ancestor of p that p's children go to, or NULL. */
static struct process *heir_of_locked(const struct process *p)
{
    struct process *heir = p->tree.parent;

    while (heir && heir->tree.parent && !heir->tree.takes_orphans)
        heir = heir->tree.parent;
    return heir;
}

/* Moves the first child of p to its heir, both referenced. Returns NULL if there is none. */
static struct process *move_child(struct process *p, struct process **heir)
{
    bool irq = spin_lock(&tree_lock);
    struct process *child =
        list_empty(&p->tree.children) ? NULL : process_of(p->tree.children.next);

    if (child) {
        *heir = heir_of_locked(p);
        process_get(child);
        list_remove(&child->tree.sibling);
        list_init(&child->tree.sibling);
        child->tree.parent = *heir;
        child->tree.exit_signal = SIGCHLD; /* another could end its new parent */
        if (*heir) {
            process_get(*heir);
            list_push_back(&(*heir)->tree.children, &child->tree.sibling);
        }
    }
    spin_unlock(&tree_lock, irq);
    return child;
}

/* Takes a process that has ended out of the tree, if its end was not waited for. Returns whether
 * it did. */
static bool reap_ended(struct process *p)
{
    bool irq = spin_lock(&tree_lock);
    bool is = p->tree.ended && !list_empty(&p->tree.every);

    if (is)
        remove_locked(p);
    spin_unlock(&tree_lock, irq);
    return is;
}

static bool has_ended(const struct process *p)
{
    return __atomic_load_n(&p->tree.ended, __ATOMIC_ACQUIRE);
}

void proctree_give_away(struct process *p)
{
    struct process *child, *heir;

    while ((child = move_child(p, &heir))) {
        int number = __atomic_load_n(&child->death_signal, __ATOMIC_RELAXED);
        if (number) {
            siginfo_t info = {.si_signo = number, .si_code = SI_USER};
            info.si_pid = (int)p->pid;
            signal_send(child, &info);
        }
        if (has_ended(child))
            tell_end(heir, child, reaps(heir, child) && reap_ended(child));
        else if (kin_connects(child->tree.group, child->tree.session, p->tree.group,
                              p->tree.session))
            check_orphaned(child->tree.group);
        process_put(child);
        put(heir);
    }
}

void proctree_end(struct process *p, struct kin_end end, struct cpu_time time, uint64_t resident_kb)
{
    struct process *parent;
    bool gone, connects = false, done = false;

    do {
        parent = get_parent(p);
        gone = reaps(parent, p);
        bool irq = spin_lock(&tree_lock);
        if (p->tree.parent == parent) {
            p->tree.end = end;
            p->tree.time = time;
            p->tree.resident_kb = resident_kb;
            __atomic_store_n(&p->tree.ended, true, __ATOMIC_RELEASE);
            poll_changed(&p->tree.ends, POLLIN | POLLRDNORM);
            connects = parent && kin_connects(p->tree.group, p->tree.session, parent->tree.group,
                                              parent->tree.session);
            if (gone)
                remove_locked(p);
            done = true;
        }
        spin_unlock(&tree_lock, irq);
        if (!done)
            put(parent);
    } while (!done);
    tell_end(parent, p, gone);
    put(parent);
    if (connects)
        check_orphaned(p->tree.group);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static struct kin_child describe(const struct process *p)
{
    const struct proctree *n = &p->tree;

    return (struct kin_child){
        .pid = p->pid,
        .group = n->group,
        .clone = n->exit_signal != SIGCHLD,
        .ended = n->ended,
        .waited = n->kept,
        .stop = n->stop,
        .goes_on = n->goes_on,
    };
}

/* Finds a child with something to tell. Returns it, or NULL with *err: -ECHILD: there is none to
 * wait for; 0: nothing yet. */
static struct process *find_news(struct process *self, const struct kin_wait *want,
                                 enum kin_news *news, int *err)
{
    *err = -ECHILD;
    list_for_each (it, &self->tree.children) {
        struct process *p = process_of(it);
        struct kin_child child = describe(p);
        *news = kin_look(want, &child);
        if (*news != KIN_NOT_ITS)
            *err = 0;
        if (*news > KIN_NONE)
            return p;
    }
    return NULL;
}

/* Takes a child's news. Returns whether it has left the tree. */
static bool take_news_locked(struct process *self, struct process *p, enum kin_news news,
                             bool stays, struct proctree_report *out)
{
    struct proctree *n = &p->tree;

    *out = (struct proctree_report){.pid = p->pid,
                                    .news = news,
                                    .end = n->end,
                                    .signal = n->stop,
                                    .time = cpu_time_add(n->time, n->descendants),
                                    .resident_kb = n->resident_kb};
    if (stays)
        return false;
    if (news == KIN_STOPPED)
        n->stop = 0;
    if (news == KIN_CONTINUED)
        n->goes_on = false;
    if (news != KIN_EXITED)
        return false;
    self->tree.descendants =
        cpu_time_add(self->tree.descendants, cpu_time_add(n->time, n->descendants));
    remove_locked(p);
    return true;
}

int proctree_wait(const struct kin_wait *want, bool now, bool stays, struct proctree_report *out)
{
    struct process *self = thread_current()->process, *p;
    enum kin_news news;
    int err = 0, none;
    bool gone = false, irq = spin_lock(&tree_lock);

    while (!(p = find_news(self, want, &news, &none)) && !none && !now && !err)
        err = wait_sleep_interruptible(&self->tree.waiters, &tree_lock, &irq, UINT64_MAX);
    if (p)
        gone = take_news_locked(self, p, news, stays, out);
    spin_unlock(&tree_lock, irq);
    if (gone)
        put_child(p);
    return p ? 0 : none ? none : err ? err : -EAGAIN;
}

void proctree_keep(struct process *parent, struct process *child)
{
    struct process *oldest = NULL;
    unsigned kept = 0;
    bool irq = spin_lock(&tree_lock);

    if (child->tree.parent == parent)
        child->tree.kept = true;
    list_for_each (it, &parent->tree.children) {
        struct process *p = process_of(it);
        kept += p->tree.kept && p->tree.ended;
        if (!oldest && p->tree.kept && p->tree.ended && p != child)
            oldest = p;
    }
    if (kept > KEPT_MAX && oldest)
        remove_locked(oldest);
    else
        oldest = NULL;
    spin_unlock(&tree_lock, irq);
    if (oldest)
        put_child(oldest);
}

struct cpu_time proctree_descendants_time(struct process *p)
{
    bool irq = spin_lock(&tree_lock);
    struct cpu_time time = p->tree.descendants;

    spin_unlock(&tree_lock, irq);
    return time;
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static void tell_stop(struct process *p, enum kin_news news, uint8_t signal)
{
    bool irq = spin_lock(&tree_lock);
    struct process *parent = p->tree.parent;

    p->tree.stop = news == KIN_STOPPED ? signal : 0;
    p->tree.goes_on = news == KIN_CONTINUED;
    if (parent)
        process_get(parent);
    spin_unlock(&tree_lock, irq);
    if (!parent)
        return;
    if (signal_tells_stops(parent))
        send_news(parent, p, news, SIGCHLD, signal);
    wake_parent(parent);
    process_put(parent);
}

void proctree_stopped(struct process *p, int signal)
{
    tell_stop(p, KIN_STOPPED, (uint8_t)signal);
}

void proctree_goes_on(struct process *p)
{
    tell_stop(p, KIN_CONTINUED, 0);
}

bool proctree_orphaned(uint32_t group)
{
    bool orphaned = true, irq = spin_lock(&tree_lock);

    list_for_each (it, &every) {
        const struct proctree *n = &of_every(it)->tree;
        const struct process *parent = n->parent;
        if (n->group == group && !n->ended && parent &&
            kin_connects(group, n->session, parent->tree.group, parent->tree.session))
            orphaned = false;
    }
    spin_unlock(&tree_lock, irq);
    return orphaned;
}

/* ---- Finding --------------------------------------------------------------------------------- */

struct process *proctree_child(struct process *parent, uint32_t pid)
{
    struct process *found = NULL;
    bool irq = spin_lock(&tree_lock);

    list_for_each (it, &parent->tree.children)
        if (process_of(it)->pid == pid)
            found = process_of(it);
    if (found)
        process_get(found);
    spin_unlock(&tree_lock, irq);
    return found;
}

static struct process *find_locked(uint32_t pid)
{
    list_for_each (it, &every)
        if (of_every(it)->pid == pid)
            return of_every(it);
    return NULL;
}

struct process *proctree_find(uint32_t pid)
{
    bool irq = spin_lock(&tree_lock);
    struct process *found = find_locked(pid);

    if (found)
        process_get(found);
    spin_unlock(&tree_lock, irq);
    return found;
}

struct process *proctree_next_of(uint32_t group, uint32_t pid)
{
    struct process *next = NULL;
    bool irq = spin_lock(&tree_lock);

    list_for_each (it, &every) {
        next = of_every(it);
        if (next->tree.group == group && next->pid > pid)
            break;
        next = NULL;
    }
    if (next)
        process_get(next);
    spin_unlock(&tree_lock, irq);
    return next;
}

struct process *proctree_after(uint32_t pid)
{
    struct process *next = NULL;
    bool irq = spin_lock(&tree_lock);

    list_for_each (it, &every) {
        next = of_every(it);
        if (!next->tree.kept && next->pid > pid)
            break;
        next = NULL;
    }
    if (next)
        process_get(next);
    spin_unlock(&tree_lock, irq);
    return next;
}

bool proctree_has_ended(const struct process *p)
{
    bool irq = spin_lock(&tree_lock), is = p->tree.ended;

    spin_unlock(&tree_lock, irq);
    return is;
}

bool proctree_is_in(const struct process *p)
{
    bool irq = spin_lock(&tree_lock), is = !list_empty(&p->tree.every);

    spin_unlock(&tree_lock, irq);
    return is;
}

bool proctree_is_zombie(const struct process *p)
{
    bool irq = spin_lock(&tree_lock), is = p->tree.ended && !p->tree.kept;

    spin_unlock(&tree_lock, irq);
    return is;
}

uint32_t proctree_parent(const struct process *p)
{
    bool irq = spin_lock(&tree_lock);
    uint32_t pid = p->tree.parent ? p->tree.parent->pid : 0;

    spin_unlock(&tree_lock, irq);
    return pid;
}

/* ---- Groups and sessions --------------------------------------------------------------------- */

uint32_t proctree_group(const struct process *p)
{
    return __atomic_load_n(&p->tree.group, __ATOMIC_RELAXED);
}

uint32_t proctree_session(const struct process *p)
{
    return __atomic_load_n(&p->tree.session, __ATOMIC_RELAXED);
}

/* Returns whether there is such a group, in this session; 0: in any. */
static bool has_group_locked(uint32_t group, uint32_t session)
{
    list_for_each (it, &every) {
        const struct proctree *n = &of_every(it)->tree;
        if (n->group == group && (!session || n->session == session))
            return true;
    }
    return false;
}

uint32_t proctree_session_of(uint32_t group)
{
    uint32_t session = 0;
    bool irq = spin_lock(&tree_lock);

    list_for_each (it, &every)
        if (of_every(it)->tree.group == group)
            session = of_every(it)->tree.session;
    spin_unlock(&tree_lock, irq);
    return session;
}

int proctree_set_group(struct process *caller, uint32_t pid, uint32_t group)
{
    bool irq = spin_lock(&tree_lock);
    struct process *p = find_locked(pid);
    struct kin_move m = {0};

    if (p)
        m = (struct kin_move){
            .self = p == caller,
            .child = p->tree.parent == caller,
            .same_session = p->tree.session == caller->tree.session,
            .leads_session = p->tree.session == p->pid,
            .runs_another = p->tree.runs_another,
            .own_group = group == pid,
            .group_in_session = has_group_locked(group, caller->tree.session),
        };
    int err = kin_may_move(&m);
    if (!err)
        __atomic_store_n(&p->tree.group, group, __ATOMIC_RELAXED);
    spin_unlock(&tree_lock, irq);
    return err;
}

int proctree_new_session(struct process *p)
{
    bool irq = spin_lock(&tree_lock);
    bool leads = has_group_locked(p->pid, 0);

    if (!leads) {
        __atomic_store_n(&p->tree.group, p->pid, __ATOMIC_RELAXED);
        __atomic_store_n(&p->tree.session, p->pid, __ATOMIC_RELAXED);
    }
    spin_unlock(&tree_lock, irq);
    return leads ? -EPERM : (int)p->pid;
}

void proctree_set_orphans(struct process *p, bool takes)
{
    __atomic_store_n(&p->tree.takes_orphans, takes, __ATOMIC_RELAXED);
}

bool proctree_takes_orphans(const struct process *p)
{
    return __atomic_load_n(&p->tree.takes_orphans, __ATOMIC_RELAXED);
}

void proctree_ran_another(struct process *p)
{
    bool irq = spin_lock(&tree_lock);

    p->tree.runs_another = true;
    p->tree.exit_signal = p->tree.parent ? SIGCHLD : 0;
    spin_unlock(&tree_lock, irq);
}
