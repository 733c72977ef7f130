/*
 * Tracker soft: a bounded active set of pages for each watched space, kept by protection alone ([A]
 * 4.1, 4.6.7, after Yang et al. 2006). It is what hardware like PATH is compared with.
 *
 * Pages outside the active set have no rights: an access faults, is logged, and moves the page into
 * the set. When the set is a sixteenth larger than it may be, CLOCK trims it by that much. A page
 * used since the hand last passed, by its accessed mark, stays. The others lose their rights, and
 * the TLBs forget them together.
 *
 * The set is a ring of pages in the order they came in, from tail to head. [S] = the space's lock.
 */
#include "hpm/path/path.h"
#include "kernel/core/printf.h"
#include "mm/space.h"
#include "mm/track/internal.h"
#include "kernel/mem/mem.h"

#define SLACK_SHIFT 4   /* the set is trimmed when it is larger by 1/2^SLACK_SHIFT */
#define LOOKS_MAX   256 /* pages that the hand passes in one hold of the lock */

struct active_set {
    uint64_t head, tail; /* [S] entries ever put in, and taken out */
    uint32_t mask;       /* entries of the ring - 1 */
    bool trimming;       /* [S] a thread trims the set */
    uint64_t page[];     /* [S] page numbers */
};

static uint32_t active_max(void)
{
    return (uint32_t)mem_active_pages;
}

/* ---- Under the space's lock ------------------------------------------------------------------ */

static void add_page(struct active_set *a, uint64_t page)
{
    a->page[a->head++ & a->mask] = page;
}

static bool is_full(const struct active_set *a)
{
    return a->head - a->tail >= active_max() + (active_max() >> SLACK_SHIFT);
}

/* Passes the hand over a page. It leaves the set if `must` or if it was not used, else stays. */
static void pass_page(struct space *s, uint64_t number, bool must)
{
    vaddr_t va = number << PAGE_SHIFT;
    struct arch_page page;

    arch_space_look(&s->arch, va, 1, &page);
    if (page.kind != ARCH_PAGE_HERE || page.prot == PROT_USER)
        return;
    if (must || !(page.marks & ARCH_USED)) {
        arch_space_protect(&s->arch, va, PROT_USER);
        return;
    }
    arch_space_mark(&s->arch, va, ARCH_USED, 0);
    add_page(s->active, number);
}

bool track_soft_used_locked(struct space *s, vaddr_t va, bool write)
{
    struct active_set *a = s->active;

    if (!a || !s->watched)
        return false;
    if (a->head - a->tail > a->mask) /* the thread that trims it is too slow */
        pass_page(s, a->page[a->tail++ & a->mask], true);
    add_page(a, va >> PAGE_SHIFT);
    path_note(s->number, va, write);
    return is_full(a);
}

/* ---- Without it ------------------------------------------------------------------------------ */

/* Moves the hand on, for one hold of the lock. Returns false if the set is small enough. */
static bool trim_some(struct space *s)
{
    struct active_set *a = s->active;
    bool irq = spin_lock(&s->lock);

    for (unsigned looks = 0; looks < LOOKS_MAX && a->head - a->tail > active_max(); looks++)
        pass_page(s, a->page[a->tail++ & a->mask], false);
    bool more = a->head - a->tail > active_max();
    spin_unlock(&s->lock, irq);
    return more;
}

void track_soft_trim(struct space *s)
{
    bool irq = spin_lock(&s->lock);
    bool mine = s->active && !s->active->trimming && is_full(s->active);

    if (mine)
        s->active->trimming = true;
    spin_unlock(&s->lock, irq);
    if (!mine)
        return;
    while (trim_some(s))
        sched_point();
    tlb_shootdown(&s->arch, 0, 0);
    irq = spin_lock(&s->lock);
    s->active->trimming = false;
    spin_unlock(&s->lock, irq);
}

static void protect_row(struct space *s, vaddr_t va, const struct arch_page *page, unsigned n,
                        UNUSED void *arg)
{
    for (unsigned i = 0; i < n; i++)
        if (page[i].kind == ARCH_PAGE_HERE)
            arch_space_protect(&s->arch, va + i * PAGE_SIZE, PROT_USER);
}

/* Takes the rights from all pages. Those that get them back meanwhile are in the set. */
static void protect_all(struct space *s)
{
    for (vaddr_t va = 0; va < USER_MAX;) {
        va = track_rows(s, va, protect_row, NULL);
        sched_point();
    }
    tlb_shootdown(&s->arch, 0, 0);
}

/* ---- The tracker ----------------------------------------------------------------------------- */

static int probe_soft(void)
{
    return 0;
}

static void watch_soft(struct space *s, bool on)
{
    if (!on || s->active) {
        if (on)
            protect_all(s);
        return; /* pages get their rights back when they are next used */
    }
    uint32_t size = 1u << (log2_floor(2 * active_max()) + 1);
    struct active_set *a = area_alloc(sizeof(*a) + size * sizeof(uint64_t));
    if (!a) {
        kprintf("tracker: event=refused name=soft reason=memory: no memory for an active set of %u "
                "pages\n",
                active_max());
        return;
    }
    a->mask = size - 1;
    s->active = a;
    protect_all(s);
}

void track_soft_end(struct space *s)
{
    area_free(s->active);
    s->active = NULL;
}

static bool hot_soft(struct space *s, vaddr_t va)
{
    struct arch_page page;
    bool irq = spin_lock(&s->lock);

    arch_space_look(&s->arch, va, 1, &page);
    bool is = page.kind == ARCH_PAGE_HERE && page.prot != PROT_USER && (page.marks & ARCH_USED);
    if (is)
        arch_space_mark(&s->arch, va, ARCH_USED, 0);
    spin_unlock(&s->lock, irq);
    return is;
}

const struct tracker_ops track_soft = {
    .name = "soft",
    .lacks = "",
    .hides = true,
    .probe = probe_soft,
    .start = track_start_nothing,
    .stop = track_stop_nothing,
    .watch = watch_soft,
    .hot = hot_soft,
    .forget = track_forget_nothing,
};
