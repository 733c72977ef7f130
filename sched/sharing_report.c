/*
 * What the sharing detector tells people: a line for each decision, the shMaps as a picture on the console, and the same
 * as numbers for the host to draw.  Nothing is decided here; the groups that an application states are looked at only to
 * say how right the clusters are.
 */
#include "kernel/printf.h"
#include "mm/mm.h"
#include "sched/sharing.h"

#define PICTURE_COLUMNS 96

void sharing_say(const struct sharing_process *p, const char *phase, const char *reason, const char *fmt, ...)
{
    uint64_t now_us = arch_clock_ns() / NS_PER_US;
    char details[160];
    va_list args;

    va_start(args, fmt);
    kvsnprintf(details, sizeof(details), fmt, args);
    va_end(args);
    kprintf("sharing: t=%llu.%06llu pid=%u phase=%s reason=%s %s\n", (unsigned long long)(now_us / 1000000),
            (unsigned long long)(now_us % 1000000), p->pid, phase, reason, details);
}

void sharing_report_account(uint32_t pid, const struct sharing_account *a)
{
    uint64_t ppm = a->all_ns ? a->cost_ns * 1000000 / a->all_ns : 0;

    kprintf("sharing: account pid=%u detections=%llu samples=%llu lost=%llu overhead_pct=%llu.%03llu "
            "worst_overhead_pct=%llu.%03llu cost_us=%llu migrations=%llu\n",
            pid, (unsigned long long)a->detections, (unsigned long long)a->samples,
            (unsigned long long)a->lost, (unsigned long long)(ppm / 10000),
            (unsigned long long)(ppm / 10 % 1000), (unsigned long long)(a->worst_ppm / 10000),
            (unsigned long long)(a->worst_ppm / 10 % 1000), (unsigned long long)(a->cost_ns / NS_PER_US),
            (unsigned long long)a->migrations);
}

/* ---- Right or wrong? ---- */

struct known {
    int cluster, group; /* found and stated; negative: none */
    unsigned chip;      /* where it was put                 */
};

static unsigned list_known(struct sharing_process *p, struct known *known, unsigned max)
{
    unsigned n = 0;
    bool irq = spin_lock(&sharing_lock);

    list_for_each (it, &p->members) {
        const struct thread *t = container_of(it, struct thread, sharing.link);
        if (n < max)
            known[n++] = (struct known){t->sharing.cluster, __atomic_load_n(&t->group, __ATOMIC_RELAXED),
                                        t->sharing.chip};
    }
    spin_unlock(&sharing_lock, irq);
    return n;
}

/* With a stranger, or without one of its group.  A thread in no cluster that is on the chip of its group is where it should
 * be: sharing within a chip is not to be seen. */
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

/* ---- The picture ---- */

struct picture {
    unsigned *row, *column; /* of the counts, in the order shown */
    unsigned rows, columns;
};

/* By cluster, those in none last. */
static void order_rows(struct picture *pic, const struct clustering *c)
{
    pic->rows = 0;
    for (unsigned cluster = 0; cluster <= c->clusters; cluster++)
        for (unsigned t = 0; t < c->threads; t++)
            if (c->of[t] == (cluster == c->clusters ? CLUSTER_NONE : (int)cluster))
                pic->row[pic->rows++] = t;
}

/* The cluster that hit an entry most; c->clusters: nobody in a cluster did. */
static unsigned owner_of(const struct clustering *c, const uint8_t *counts, unsigned entry)
{
    unsigned best = c->clusters, most = 0;

    for (unsigned cluster = 0; cluster < c->clusters; cluster++) {
        unsigned sum = 0;
        for (unsigned t = 0; t < c->threads; t++)
            sum += c->of[t] == (int)cluster ? counts[t * c->entries + entry] : 0;
        if (sum > most) {
            most = sum;
            best = cluster;
        }
    }
    return best;
}

/* Lines that somebody used and that are not global, by the cluster that used them most. */
static void order_columns(struct picture *pic, const struct clustering *c, const uint8_t *counts)
{
    pic->columns = 0;
    for (unsigned cluster = 0; cluster <= c->clusters; cluster++)
        for (unsigned e = 0; e < c->entries; e++)
            if (!c->global[e] && c->line[e] && owner_of(c, counts, e) == cluster)
                pic->column[pic->columns++] = e;
}

static unsigned count_global(const struct clustering *c)
{
    unsigned n = 0;

    for (unsigned e = 0; e < c->entries; e++)
        n += c->global[e] != 0;
    return n;
}

/* A cell stands for one line, or for a few neighbours when there are more than fit; the darkest of them shows. */
static void draw_row(const struct picture *pic, const struct clustering *c, const uint8_t *counts,
                     unsigned row, char *text)
{
    static const char shades[] = " .:-=+*#%@";
    unsigned width = MIN(pic->columns, (unsigned)PICTURE_COLUMNS);

    for (unsigned x = 0; x < width; x++) {
        unsigned darkest = 0;
        for (unsigned i = x * pic->columns / width; i < (x + 1) * pic->columns / width; i++)
            darkest = MAX(darkest, (unsigned)counts[row * c->entries + pic->column[i]]);
        /* Each shade is twice the one before: 1, 2, 4, ... */
        text[x] = shades[darkest ? MIN(log2_floor(darkest) + 1, (unsigned)sizeof(shades) - 2) : 0];
    }
    text[width] = '\0';
}

static void print_numbers(const struct picture *pic, const struct detection *d, unsigned row)
{
    static char text[2 * SHMAP_ENTRIES_MAX + 1]; /* the detector's alone */
    static const char digits[] = "0123456789abcdef";
    const struct clustering *c = &d->clustering;
    size_t n = 0;

    for (unsigned i = 0; i < pic->columns; i++) {
        uint8_t count = d->counts[row * c->entries + pic->column[i]];
        text[n++] = digits[count >> 4];
        text[n++] = digits[count & 15];
    }
    text[n] = '\0';
    kprintf("shmap: tid=%u cluster=%d counts=", d->tid[row], (int)c->of[row]);
    kwrite(text, n);
    kwrite("\n", 1);
}

static void print_picture(const struct sharing_process *p, const struct detection *d,
                          const struct picture *pic)
{
    const struct clustering *c = &d->clustering;
    char text[PICTURE_COLUMNS + 1];

    kprintf("shmap: pid=%u threads=%u lines=%u global_left_out=%u\n", p->pid, pic->rows, pic->columns,
            count_global(c));
    for (unsigned i = 0; i < pic->rows; i++) {
        unsigned row = pic->row[i];
        draw_row(pic, c, d->counts, row, text);
        if (c->of[row] == CLUSTER_NONE)
            kprintf("  -- %5u |%s| %s\n", d->tid[row], text, cluster_why_names[c->why[row]]);
        else
            kprintf("  %2d %5u |%s|\n", c->of[row], d->tid[row], text);
    }
    for (unsigned i = 0; i < pic->rows; i++)
        print_numbers(pic, d, pic->row[i]);
}

static void make_picture(const struct sharing_process *p, const struct detection *d)
{
    const struct clustering *c = &d->clustering;
    struct picture pic = {.row = kmalloc(c->threads * sizeof(unsigned)),
                          .column = kmalloc(c->entries * sizeof(unsigned))};

    if (pic.row && pic.column) {
        order_rows(&pic, c);
        order_columns(&pic, c, d->counts);
        print_picture(p, d, &pic);
    }
    kfree(pic.row);
    kfree(pic.column);
}

void sharing_report_clusters(struct sharing_process *p)
{
    const struct clustering *c = &p->detection->clustering;
    unsigned n = p->count, wrong = 0;
    struct known *known = kmalloc(MAX(n, 1u) * sizeof(*known));
    char sizes[128] = "";
    size_t length = 0;

    if (!known)
        return;
    n = list_known(p, known, n);
    for (unsigned t = 0; t < n; t++)
        wrong += is_wrong(known, n, t);
    for (unsigned i = 0; i < c->clusters && length < sizeof(sizes); i++)
        length += ksnprintf(sizes + length, sizeof(sizes) - length, "%s%u", i ? "," : "", c->group[i].size);
    kprintf("sharing: clusters pid=%u clusters=%u sizes=%s wrong=%u\n", p->pid, c->clusters,
            length ? sizes : "-", wrong);
    kfree(known);
    if (sharing_picture)
        make_picture(p, p->detection);
}
