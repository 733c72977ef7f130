/*
 * What programs can read of the detector: for each process the latest shMaps with their clusters,
 * and the decisions of all processes. Pictures are made after clustering, by the detector's thread;
 * nothing is decided here.
 */
#include "kernel/mem/mem.h"
#include "hpm/count.h"
#include "sched/sharing/internal.h"
#include "sched/sharing/policy/shmap_picture.h"

#define DECISIONS 64                 /* kept */
#define ASKED_NS  (2000 * NS_PER_MS) /* pictures are made for this long after they were asked for */

_Static_assert((int)SHARING_SHOWN_COLUMNS <= (int)SHMAP_PICTURE_COLUMNS_MAX,
               "a picture has the columns");

/* ---- Pictures -------------------------------------------------------------------------------- */

static uint32_t count_global(const struct clustering *c)
{
    uint32_t n = 0;

    for (unsigned e = 0; e < c->entries; e++)
        n += c->global[e] != 0;
    return n;
}

static void draw_row(struct sharing_picture *out, const struct shmap_picture *p,
                     const struct detection *d, unsigned row)
{
    unsigned thread = p->row[row];

    out->tid[row] = d->tid[thread];
    out->cluster[row] = d->clustering.of[thread];
    out->why[row] = d->clustering.why[thread];
    for (unsigned c = 0; c < out->columns; c++)
        out->count[row * out->columns + c] =
            d->table.count[(size_t)thread * d->clustering.entries + p->entry[c]];
}

static void draw(struct sharing_picture *out, const struct shmap_picture *p,
                 const struct detection *d)
{
    const struct clustering *c = &d->clustering;

    out->time_ns = arch_clock_ns();
    out->samples = shmap_samples(&d->table);
    out->threads = c->threads;
    out->clusters = c->clusters;
    out->lines = c->lines;
    out->global_lines = count_global(c);
    out->rows = MIN(c->threads, (unsigned)SHARING_SHOWN_ROWS);
    out->columns = p->columns;
    for (unsigned i = 0; i < out->columns; i++)
        out->line[i] = (d->table.owner[p->entry[i]] - 1) * d->table.config.line_bytes;
    for (unsigned i = 0; i < out->rows; i++)
        draw_row(out, p, d, i);
}

void sharing_show(struct sharing_process *p, bool asked)
{
    const struct detection *d = p->detection;
    const struct clustering *c = &d->clustering;
    uint64_t asked_ns = __atomic_load_n(&p->asked_ns, __ATOMIC_RELAXED);
    struct {
        struct shmap_picture picture;
        uint16_t row[]; /* by thread */
    } * plan;

    if (asked && (!asked_ns || arch_clock_ns() - asked_ns > ASKED_NS))
        return;
    struct sharing_picture *made = kmalloc(sizeof(*made)), *old;
    plan = kmalloc(sizeof(*plan) + c->threads * sizeof(plan->row[0]));
    if (!made || !plan) { /* the previous picture stays */
        kfree(made);
        kfree(plan);
        return;
    }
    struct shmap_picture_input in = {c->threads, c->entries, d->table.count,
                                     d->tid,     c->of,      c->global};
    shmap_picture_plan(&plan->picture, &in, SHARING_SHOWN_COLUMNS, plan->row);
    draw(made, &plan->picture, d);
    bool irq = spin_lock(&sharing_lock);
    old = p->picture;
    p->picture = made;
    spin_unlock(&sharing_lock, irq);
    kfree(old);
    kfree(plan);
}

int sharing_read(uint32_t pid, struct sharing_seen *out)
{
    bool irq = spin_lock(&sharing_lock);
    struct sharing_process *p = sharing_find_locked(pid);

    if (p) {
        const struct sharing_account *a = &p->account;
        memset(out, 0, sizeof(*out)); /* too large for a stack */
        out->detecting = p->phase == SHARING_DETECT;
        out->threads = p->count;
        out->remote_permille = p->remote_permille;
        out->line_bytes = hpm_caps()->line_bytes;
        out->detections = a->detections;
        out->migrations = a->migrations;
        out->taken_back = a->taken_back;
        out->samples = a->samples;
        out->lost = a->cost.lost;
        out->cost_ns = sharing_cost_sum(&a->cost);
        out->passed_ns = a->all_ns;
        if (p->picture)
            out->picture = *p->picture;
        p->asked_ns = arch_clock_ns();
    }
    spin_unlock(&sharing_lock, irq);
    return p ? 0 : -ESRCH;
}

const char *sharing_why_name(unsigned why)
{
    return why < CLUSTER_WHY_COUNT ? cluster_why_names[why] : "?";
}

/* ---- Decisions ------------------------------------------------------------------------------- */

static struct {
    struct spinlock lock;
    uint64_t count;                        /* made since boot */
    struct sharing_decision of[DECISIONS]; /* decision n at n modulo their number */
} decisions = {.lock = SPINLOCK(LOCK_THREAD, "decisions")};

void sharing_decision_keep(const struct sharing_decision *d)
{
    bool irq = spin_lock(&decisions.lock);
    struct sharing_decision *kept = &decisions.of[++decisions.count % DECISIONS];

    *kept = *d;
    kept->number = decisions.count;
    kept->time_ns = arch_clock_ns();
    spin_unlock(&decisions.lock, irq);
}

bool sharing_decision_read(uint64_t from, struct sharing_decision *out)
{
    bool irq = spin_lock(&decisions.lock);
    uint64_t oldest = decisions.count > DECISIONS ? decisions.count - DECISIONS + 1 : 1;
    uint64_t number = MAX(from, oldest);
    bool there = number <= decisions.count;

    if (there)
        *out = decisions.of[number % DECISIONS];
    spin_unlock(&decisions.lock, irq);
    return there;
}
