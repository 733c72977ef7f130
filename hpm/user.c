/* Counts that threads read by themselves (user_page.h). The page has the thread's counts at its
 * CPU's latest reading and the counters' values at that moment. It is written anew at every reading
 * while the thread runs, at every turn, and at every switch to the thread. User mode can read the
 * registers only while a thread runs that has asked for it and has an open session. */
#include "hpm/count.h"
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "kernel/core/cpu.h"

/* Returns the counter of the event in the group's turn, as numbered in pmu.h; PMU_COUNTERS_ALL: it
 * has none. */
static unsigned counter_of(const struct mux_plan *plan, unsigned group, unsigned event)
{
    const struct mux_group *g = &plan->group[group];

    for (unsigned s = 0; s < g->seats; s++) {
        unsigned counter = g->seat[s].counter;
        if (g->seat[s].event != event)
            continue;
        if (counter < HPM_COUNTERS_MAX)
            return counter;
        return counter == PLAN_CYCLES         ? PMU_CYCLES
               : counter == PLAN_INSTRUCTIONS ? PMU_INSTRUCTIONS
                                              : HPM_COUNTERS_MAX + counter - PLAN_FIXED(0);
    }
    return PMU_COUNTERS_ALL;
}

static bool write_count(const struct hpm_cpu *hpm, struct hpm_user_page *p, unsigned i)
{
    const struct mux_plan *plan = &hpm->plan->mux;
    struct hpm_user_count *c = &p->count[i];
    unsigned event = p->of[i].number;
    struct mux_sum sum;

    *c = (struct hpm_user_count){0};
    if (i >= p->counts || !(plan->events >> event & 1) || plan->born[event] != p->of[i].born)
        return false;
    mux_read(&hpm->current->counts.counts, plan, event, &sum);
    unsigned counter = counter_of(plan, mux_turns_group(&hpm->turns), event);
    if (counter < PMU_COUNTERS_ALL)
        hpm_state.ops->user(counter, &c->now);
    c->count = sum.count;
    c->length = sum.length;
    c->valid = counter == PMU_COUNTERS_ALL || c->now.index;
    return c->valid;
}

/* Writes the page, which the thread cannot see half written, for it is not in user mode. Returns
 * whether any count can be read. */
static bool write_page(struct hpm_cpu *hpm, struct hpm_user_page *p)
{
    bool any = false;

    hand_out(hpm, &hpm->plan->mux);
    p->sequence++;
    p->latch =
        hpm_state.pmu.user_latches ? SHOWN_COUNTERS + (vaddr_t)this_cpu()->index * PAGE_SIZE : 0;
    hpm_state.ops->user(hpm_state.by_instructions ? PMU_INSTRUCTIONS : PMU_CYCLES, &p->clock);
    for (unsigned i = 0; i < HPM_USER_COUNTS; i++)
        any |= write_count(hpm, p, i);
    return any;
}

void user_follow(struct hpm_cpu *hpm)
{
    struct hpm_user_page *p = hpm->current ? hpm->current->user : NULL;
    bool open = p && hpm->plan && write_page(hpm, p);

    if (open != hpm->user_open)
        hpm_state.ops->open(open);
    hpm->user_open = open;
}

paddr_t hpm_user_latches(void)
{
    return hpm_state.ops ? hpm_state.pmu.user_latches : 0;
}

/* ---- The thread itself ----------------------------------------------------------------------- */

int hpm_user_open(struct hpm_thread *t, const struct hpm_session *s, uint32_t number,
                  struct hpm_user_page *page)
{
    if (!hpm_state.ops || !hpm_state.pmu.user_reads)
        return -ENOTSUP;
    cpu_for_each (cpu)
        if (!hpm_counted(cpu))
            return -ENOTSUP;
    bool irq = arch_irq_save();
    t->user = NULL;
    page->session = number;
    page->counts = session_user(s, page);
    ASSERT(this_cpu()->hpm->current == t);
    t->user = page;
    counting_follow(NULL);
    user_follow(this_cpu()->hpm);
    arch_irq_restore(irq);
    return 0;
}

struct hpm_user_page *hpm_user_close(struct hpm_thread *t)
{
    bool irq = arch_irq_save();
    struct hpm_user_page *page = t->user;

    t->user = NULL;
    if (page)
        user_follow(this_cpu()->hpm);
    arch_irq_restore(irq);
    return page;
}
