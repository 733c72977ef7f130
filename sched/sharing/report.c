/*
 * The sharing detector's output: a line for each decision, the shMaps as a picture on the console,
 * and the same as numbers for the host to draw. Nothing is decided here. The groups that an
 * application states are read only to say how many threads are in wrong clusters.
 */
#include "kernel/core/printf.h"
#include "kernel/trace/telemetry.h"
#include "kernel/mem/mem.h"
#include "sched/sharing/internal.h"
#include "sched/sharing/policy/shmap_picture.h"

#define PICTURE_COLUMNS 96

static void keep_decision(uint32_t pid, const char *phase, const char *reason, const char *details)
{
    struct sharing_decision d = {.pid = pid};

    ksnprintf(d.phase, sizeof(d.phase), "%s", phase);
    ksnprintf(d.reason, sizeof(d.reason), "%s", reason);
    ksnprintf(d.text, sizeof(d.text), "%s", details);
    sharing_decision_keep(&d);
}

void sharing_say(const struct sharing_process *p, const char *phase, const char *reason,
                 const char *fmt, ...)
{
    uint64_t now_us = arch_clock_ns() / NS_PER_US;
    char details[160];
    va_list args;

    va_start(args, fmt);
    kvsnprintf(details, sizeof(details), fmt, args);
    va_end(args);
    telemetry_sharing_decision(p->pid, phase, reason, details);
    keep_decision(p->pid, phase, reason, details);
    kprintf("sharing: t=%llu.%06llu pid=%u phase=%s reason=%s %s\n",
            (unsigned long long)(now_us / 1000000), (unsigned long long)(now_us % 1000000), p->pid,
            phase, reason, details);
}

void sharing_report_account(uint32_t pid, const struct sharing_account *a)
{
    uint64_t ppm = a->all_ns ? sharing_cost_sum(&a->cost) * 1000000 / a->all_ns : 0;

    kprintf(
        "sharing: account pid=%u detections=%llu samples=%llu lost=%llu overhead_pct=%llu.%03llu "
        "worst_overhead_pct=%llu.%03llu taking_us=%llu recording_us=%llu clustering_us=%llu "
        "migrations=%llu taken_back=%llu\n",
        pid, (unsigned long long)a->detections, (unsigned long long)a->samples,
        (unsigned long long)a->cost.lost, (unsigned long long)(ppm / 10000),
        (unsigned long long)(ppm / 10 % 1000), (unsigned long long)(a->worst_ppm / 10000),
        (unsigned long long)(a->worst_ppm / 10 % 1000),
        (unsigned long long)(a->cost.taking_ns / NS_PER_US),
        (unsigned long long)(a->cost.recording_ns / NS_PER_US),
        (unsigned long long)(a->cost.clustering_ns / NS_PER_US), (unsigned long long)a->migrations,
        (unsigned long long)a->taken_back);
}

/* ---- Right or wrong? ------------------------------------------------------------------------- */

struct known {
    int cluster, group; /* found, stated; negative: none */
    unsigned chip;      /* it was assigned to */
};

static unsigned list_known(struct sharing_process *p, struct known *known, unsigned max)
{
    unsigned n = 0;
    bool irq = spin_lock(&sharing_lock);

    list_for_each (it, &p->members) {
        const struct thread *t = container_of(it, struct thread, sharing.link);
        if (n < max)
            known[n++] = (struct known){
                t->sharing.cluster, __atomic_load_n(&t->group, __ATOMIC_RELAXED), t->sharing.chip};
    }
    spin_unlock(&sharing_lock, irq);
    return n;
}

/* Returns whether two threads are together although they state different groups, or apart although
 * they state the same. A thread in no cluster that is on its group's chip is right: sharing within
 * a chip is not sampled. */
static bool wrong_pair(const struct known *a, const struct known *b)
{
    bool partners = a->group >= 0 && a->group == b->group;
    bool together = a->cluster >= 0 && a->cluster == b->cluster;

    if (!partners)
        return together;
    if (a->cluster >= 0 && b->cluster >= 0)
        return !together;
    return (a->cluster >= 0 || b->cluster >= 0) && a->chip != b->chip;
}

static bool is_wrong(const struct known *known, unsigned n, unsigned t)
{
    for (unsigned other = 0; other < n; other++)
        if (other != t && wrong_pair(&known[t], &known[other]))
            return true;
    return false;
}

/* Writes the number of threads in wrong clusters; no thread may have stated a group. */
static void count_wrong(const struct known *known, unsigned n, char out[16])
{
    unsigned wrong = 0, stated = 0;

    for (unsigned t = 0; t < n; t++) {
        stated += known[t].group >= 0;
        wrong += is_wrong(known, n, t);
    }
    if (stated)
        ksnprintf(out, 16, "%u", wrong);
    else
        ksnprintf(out, 16, "unknown");
}

/* ---- The picture ----------------------------------------------------------------------------- */

static unsigned count_global(const struct clustering *c)
{
    unsigned n = 0;

    for (unsigned e = 0; e < c->entries; e++)
        n += c->global[e] != 0;
    return n;
}

struct drawing {
    struct shmap_picture picture;
    char line[SHMAP_PICTURE_LINE_MAX];
    uint16_t row[]; /* by thread */
};

static void print_picture(const struct sharing_process *p, const struct detection *of)
{
    const struct clustering *c = &of->clustering;
    struct shmap_picture_input in = {c->threads, c->entries, of->table.count,
                                     of->tid,    c->of,      c->global};
    struct drawing *d = kmalloc(sizeof(*d) + c->threads * sizeof(d->row[0]));

    if (!d)
        return;
    shmap_picture_plan(&d->picture, &in, PICTURE_COLUMNS, d->row);
    kprintf("shmap: pid=%u threads=%u lines=%u shown=%u global_left_out=%u\n", p->pid, c->threads,
            c->lines, d->picture.columns, count_global(c));
    for (unsigned i = 0; i < c->threads; i++) {
        shmap_picture_text(&d->picture, i, d->line);
        kprintf("%s%s%s\n", d->line, c->of[d->row[i]] == CLUSTER_NONE ? " " : "",
                c->of[d->row[i]] == CLUSTER_NONE ? cluster_why_names[c->why[d->row[i]]] : "");
    }
    for (unsigned i = 0; d->picture.columns && i < c->threads; i++) {
        shmap_picture_counts(&d->picture, i, d->line);
        kprintf("%s\n", d->line);
    }
    kfree(d);
}

void sharing_report_clusters(struct sharing_process *p)
{
    const struct clustering *c = &p->detection->clustering;
    unsigned n = sharing_crowd(p).threads;
    struct known *known = kmalloc(MAX(n, 1u) * sizeof(*known));
    char sizes[128] = "", wrong[16];
    size_t length = 0;

    if (!known)
        return;
    n = list_known(p, known, n);
    count_wrong(known, n, wrong);
    for (unsigned i = 0; i < c->clusters && length < sizeof(sizes); i++)
        length += ksnprintf(sizes + length, sizeof(sizes) - length, "%s%u", i ? "," : "",
                            c->group[i].size);
    kprintf("sharing: clusters pid=%u clusters=%u sizes=%s wrong=%s\n", p->pid, c->clusters,
            length ? sizes : "-", wrong);
    kfree(known);
    if (sched_picture)
        print_picture(p, p->detection);
}
