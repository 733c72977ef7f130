/* Counting of perf events: their groups' sessions, and what is read of threads and CPUs. */
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/perf_internal.h"

struct spinlock perf_lock = SPINLOCK(LOCK_FILE, "perf");
/* Of what a program asks for itself, beside the figures of the breakdown: as large as can be. */
#define WEIGHT 8
static struct list units = {&units, &units};

/* ---- Readings; perf_lock held ---------------------------------------------------------------- */

static uint64_t software_of_thread(enum perf_software what, const struct thread *t, uint64_t ns)
{
    switch (what) {
    case PERF_TASK_CLOCK:
    case PERF_CPU_CLOCK:
        return ns;
    case PERF_FAULTS:
        return t->faults;
    case PERF_FAULTS_MINOR:
        return t->faults - t->major_faults;
    case PERF_FAULTS_MAJOR:
        return t->major_faults;
    case PERF_SWITCHES:
        return t->switches;
    case PERF_MIGRATIONS:
        return t->migrations;
    default:
        return 0;
    }
}

static uint64_t software_of_cpu(enum perf_software what, const struct cpu *cpu, uint64_t ns)
{
    switch (what) {
    case PERF_TASK_CLOCK:
    case PERF_CPU_CLOCK:
        return ns;
    case PERF_FAULTS:
        return cpu->faults;
    case PERF_FAULTS_MINOR:
        return cpu->faults - cpu->major_faults;
    case PERF_FAULTS_MAJOR:
        return cpu->major_faults;
    case PERF_SWITCHES:
        return cpu->switches;
    case PERF_MIGRATIONS:
        return cpu->arrivals;
    default:
        return 0;
    }
}

static void read_locked(const struct perf_node *n, struct perf_count *out)
{
    const struct perf_event *e = n->event;
    const struct cpu *cpu = n->thread ? NULL : &cpus[e->scope.cpu];
    struct hpm_raw raw = {0};

    *out = (struct perf_count){.enabled_ns =
                                   n->thread ? sched_time(n->thread).run_ns : arch_clock_ns()};
    if (e->apart)
        return;
    if (e->found.is_software) {
        out->counted = n->thread ? software_of_thread(e->found.software, n->thread, out->enabled_ns)
                                 : software_of_cpu(e->found.software, cpu, out->enabled_ns);
        return;
    }
    if (e->unit && n->thread)
        hpm_session_raw_thread(e->unit->hpm, e->wish, &n->thread->hpm, &raw);
    else if (e->unit)
        hpm_session_raw_cpu(e->unit->hpm, e->wish, cpu, &raw);
    out->counted = raw.counted;
    out->length = raw.length;
    out->seen = raw.seen;
}

/* An event that wants a session's count and has none sees nothing. */
static bool is_blind(const struct perf_event *e)
{
    return e->apart || (e->name[0] && !e->unit);
}

void perf_begin_locked(struct perf_node *n)
{
    n->counts = true;
    read_locked(n, &n->begin);
}

void perf_end_locked(struct perf_node *n)
{
    struct perf_count end;

    if (!n->counts)
        return;
    n->counts = false;
    read_locked(n, &end);
    perf_count_add(&n->event->sum, &n->begin, &end, is_blind(n->event));
}

void perf_read_event(struct perf_event *e, struct perf_count *out)
{
    bool irq = spin_lock(&perf_lock);

    *out = e->sum;
    list_for_each (it, &e->nodes) {
        const struct perf_node *n = container_of(it, struct perf_node, in_event);
        struct perf_count now;
        if (!n->counts)
            continue;
        read_locked(n, &now);
        perf_count_add(out, &n->begin, &now, is_blind(e));
    }
    spin_unlock(&perf_lock, irq);
}

/* ---- Sessions; gate entered ------------------------------------------------------------------ */

/* Finds the session that counts `text`, or opens it. NULL: it cannot be counted beside the rest. */
static struct perf_unit *take_unit(const char *text)
{
    size_t length = text_length(text);
    char why[160];

    list_for_each (it, &units) {
        struct perf_unit *u = container_of(it, struct perf_unit, link);
        if (text_same(u->text, text, length)) {
            u->refs++;
            return u;
        }
    }
    struct perf_unit *u = kmalloc(sizeof(*u) + length + 1);
    if (!u)
        return NULL;
    memcpy(u->text, text, length);
    if (hpm_session_open_exact(text, &u->hpm, why, sizeof(why))) {
        kfree(u);
        return NULL;
    }
    u->refs = 1;
    list_push_back(&units, &u->link);
    return u;
}

static void drop_unit(struct perf_unit *u)
{
    if (!u || --u->refs)
        return;
    list_remove(&u->link);
    hpm_session_close(u->hpm);
    kfree(u);
}

/* ---- Groups; gate entered -------------------------------------------------------------------- */

typedef void visit_event(struct perf_event *e, void *arg);

static void for_group(struct perf_event *leader, visit_event *visit, void *arg)
{
    visit(leader, arg);
    list_for_each (it, &leader->members)
        visit(container_of(it, struct perf_event, in_members), arg);
}

static bool is_enabled(const struct perf_event *e)
{
    return e->on && e->leader->on && !e->leader->failed;
}

/* The text of a session that counts a group at the same time, and the numbers in it. */
struct group_text {
    char *text;
    size_t length, room;
    unsigned wishes;
};

static void add_name(struct perf_event *e, void *arg)
{
    struct group_text *t = arg;

    if (!e->name[0])
        return;
    t->length +=
        ksnprintf(t->text + t->length, t->room - t->length, "%s%s", t->wishes ? "," : "{", e->name);
    t->wishes++;
}

/* Writes the text; of one event it is the mere name. Returns false without memory. The caller frees
 * the text. `more`: one more member, or NULL. */
static bool write_text(const struct perf_event *leader, const struct perf_event *more,
                       struct group_text *t)
{
    *t = (struct group_text){.room = (PERF_MEMBERS_MAX + 2) * (PERF_NAME_MAX + 1) + 4};
    t->text = kmalloc(t->room);
    if (!t->text)
        return false;
    for_group((struct perf_event *)leader, add_name, t);
    if (more)
        add_name((struct perf_event *)more, t);
    if (t->wishes == 1)
        memmove(t->text, t->text + 1, t->length--);
    ksnprintf(t->text + t->length, t->room - t->length, "%s%s", t->wishes > 1 ? "}" : "",
              !t->wishes            ? ""
              : leader->attr.pinned ? "!"
                                    : "*" TEXT_OF(WEIGHT));
    return true;
}

struct seating {
    struct perf_unit *unit;
    unsigned wish;
};

static void seat_event(struct perf_event *e, void *arg)
{
    struct seating *s = arg;

    if (!e->name[0])
        return;
    e->wish = s->wish++;
    s->unit->refs++;
    bool irq = spin_lock(&perf_lock);
    e->unit = s->unit;
    spin_unlock(&perf_lock, irq);
}

static void unseat_event(struct perf_event *e, UNUSED void *arg)
{
    struct perf_unit *u = e->unit;
    bool irq = spin_lock(&perf_lock);

    e->unit = NULL;
    spin_unlock(&perf_lock, irq);
    drop_unit(u);
}

void perf_unseat(struct perf_event *leader)
{
    for_group(leader, unseat_event, NULL);
    leader->failed = false;
}

static void note_unit(struct perf_event *e, void *arg)
{
    bool *found = arg;

    *found = *found || e->unit;
}

static void note_seat(struct perf_event *e, void *arg)
{
    bool *missing = arg;

    *missing = *missing || (e->name[0] && !e->unit);
}

/* Takes back what counts groups that are disabled. Returns whether there were any. */
static bool free_idle(void)
{
    bool found = false;

    list_for_each (it, &perf_events) {
        struct perf_event *e = container_of(it, struct perf_event, all);
        if (e->leader != e || e->on)
            continue;
        for_group(e, note_unit, &found);
        perf_unseat(e);
    }
    return found;
}

/* Has the group counted. */
static void seat_group(struct perf_event *leader)
{
    struct group_text t;
    bool missing = false;

    for_group(leader, note_seat, &missing);
    if (!missing || leader->failed || !write_text(leader, NULL, &t))
        return;
    struct seating s = {.unit = take_unit(t.text)};
    if (!s.unit && free_idle())
        s.unit = take_unit(t.text);
    kfree(t.text);
    if (!s.unit) {
        leader->failed = leader->attr.pinned;
        return;
    }
    for_group(leader, seat_event, &s);
    drop_unit(s.unit); /* the members have theirs */
}

bool perf_fits(const struct perf_event *leader, const struct perf_event *more)
{
    struct group_text t;

    if (!more->name[0])
        return true;
    bool fits = write_text(leader, more, &t) && hpm_groups_more(t.text) >= 0;
    kfree(t.text);
    return fits;
}

static void note_others(struct perf_event *e, void *arg)
{
    bool *others = arg;
    bool irq = spin_lock(&perf_lock);

    list_for_each (it, &e->nodes) {
        const struct perf_node *n = container_of(it, struct perf_node, in_event);
        *others = *others || (e->unit && n->thread != thread_current());
    }
    spin_unlock(&perf_lock, irq);
}

void perf_update(const struct perf_event *leader)
{
    bool others = false;

    for_group((struct perf_event *)leader, note_others, &others);
    if (others)
        hpm_update(0);
}

static void end_event(struct perf_event *e, UNUSED void *arg)
{
    bool irq = spin_lock(&perf_lock);

    list_for_each (it, &e->nodes)
        perf_end_locked(container_of(it, struct perf_node, in_event));
    spin_unlock(&perf_lock, irq);
}

static void begin_event(struct perf_event *e, UNUSED void *arg)
{
    if (!is_enabled(e))
        return;
    bool irq = spin_lock(&perf_lock);
    list_for_each (it, &e->nodes) {
        struct perf_node *n = container_of(it, struct perf_node, in_event);
        if (!n->counts)
            perf_begin_locked(n);
    }
    spin_unlock(&perf_lock, irq);
}

void perf_pause(struct perf_event *leader)
{
    perf_update(leader);
    for_group(leader, end_event, NULL);
}

void perf_seat(struct perf_event *leader)
{
    if (leader->on)
        seat_group(leader);
}

void perf_begin(struct perf_event *leader)
{
    if (!leader->on)
        return;
    perf_update(leader);
    for_group(leader, begin_event, NULL);
}

void perf_resume(struct perf_event *leader)
{
    perf_seat(leader);
    perf_begin(leader);
}
