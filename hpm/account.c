/*
 * Charges counts to threads and accounts. At every context switch one reading of the hardware ends
 * the stretch of the thread that leaves and begins that of the next one, so nothing is counted
 * twice or lost: the counts of all threads and of idle time add up to the machine's. With
 * hpm.accounts=on, interrupts and monitoring have stretches as well, by readings at both ends of
 * their handlers.
 *
 * Invariants:
 * - hpm_cpu and the running thread's context are written by their CPU only, interrupts off. A
 *   context that another CPU reads is copied under its sequence number.
 * - Counter groups change at slice interrupts and ticks, never at a switch, so that the groups'
 *   turns are independent of what the threads do.
 */
#include "hpm/count.h"
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"

uint64_t hpm_accounts;
static struct spinlock mark_lock = SPINLOCK(LOCK_HPM, "hpm mark");

/* ---- Counting; all with interrupts off ------------------------------------------------------- */

uint64_t hpm_cycles_of(uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * hpm_state.pmu.cycles_per_tick / PMU_RATE_ONE);
}

static void set_idle(struct hpm_cpu *hpm, uint64_t ticks, uint64_t since)
{
    __atomic_store_n(&hpm->idle_sequence, hpm->idle_sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    hpm->idle_ticks = ticks;
    hpm->idle_since = since;
    __atomic_store_n(&hpm->idle_sequence, hpm->idle_sequence + 1, __ATOMIC_RELEASE);
}

/* Adds idle time up to the latest reading. */
static void add_idle(struct hpm_cpu *hpm)
{
    if (!hpm->current && hpm->row == ROW_HERE)
        set_idle(hpm, hpm->idle_ticks + (hpm->read_at - hpm->idle_since), hpm->read_at);
}

/* Returns the length in the unit of slices. */
static uint64_t in_slices(uint64_t cycles, uint64_t instructions)
{
    return hpm_state.by_instructions ? instructions : cycles;
}

/* Returns the increments of `counter` since the last reading. */
static uint64_t grown(struct pmu_latch *last, const struct pmu_latch *now, unsigned counter)
{
    uint64_t count = now->count[counter] - last->count[counter];

    last->count[counter] = now->count[counter];
    return count;
}

/* Adds what `group` counted since the last reading to the present stretch's row, and begins the
 * next stretch. */
static void end_stretch(struct hpm_cpu *hpm, unsigned group, const struct pmu_latch *now)
{
    struct pmu_latch *last = &hpm->last;
    struct piece *piece = &hpm->piece[hpm->row][group];
    uint64_t cycles = now->cycles - last->cycles,
             instructions = now->instructions - last->instructions;

    for (unsigned c = 0; c < hpm_state.pmu.counters; c++)
        piece->count[c] += grown(last, now, c);
    for (unsigned n = HPM_COUNTERS_MAX; n < HPM_COUNTERS_MAX + hpm_state.fixed; n++)
        piece->count[n] += grown(last, now, n);
    piece->instructions += instructions;
    piece->cycles += cycles;
    last->instructions = now->instructions;
    last->cycles = now->cycles;
    hpm->since_check += in_slices(cycles, instructions);
    hpm->pieces[hpm->row] |= 1ull << group;
    add_idle(hpm);
}

/* Returns the CPU's account of `row`. */
static struct hpm_context *account_of(struct hpm_cpu *hpm, enum row row)
{
    if (row != ROW_HERE)
        return &hpm->apart[row - ROW_INTERRUPTS];
    return hpm->current ? &hpm->busy : &hpm->idle;
}

HOT_CODE static void hand_out_row(struct hpm_cpu *hpm, const struct mux_plan *plan, enum row row)
{
    struct hpm_thread *thread = row == ROW_HERE ? hpm->current : NULL;
    struct hpm_context *of_cpu = account_of(hpm, row);
    uint64_t count[PLAN_COUNTERS_ALL];

    for (; hpm->pieces[row]; hpm->pieces[row] &= hpm->pieces[row] - 1) {
        unsigned group = (unsigned)__builtin_ctzll(hpm->pieces[row]);
        struct piece *piece = &hpm->piece[row][group];
        for (unsigned c = 0; c < hpm_state.pmu.counters; c++)
            count[c] = piece->count[c];
        for (unsigned n = 0; n < hpm_state.fixed; n++)
            count[PLAN_FIXED(n)] = piece->count[HPM_COUNTERS_MAX + n];
        count[PLAN_CYCLES] = piece->cycles;
        count[PLAN_INSTRUCTIONS] = piece->instructions;
        uint64_t length = in_slices(piece->cycles, piece->instructions);
        if (thread)
            context_add(&thread->counts, plan, group, piece->cycles, length, count);
        context_add(of_cpu, plan, group, piece->cycles, length, count);
        *piece = (struct piece){0};
    }
    if (hpm->profiler.held | hpm->profiler.holding)
        profile_publish_held(hpm);
}

void hand_out(struct hpm_cpu *hpm, const struct mux_plan *plan)
{
    hand_out_row(hpm, plan, ROW_HERE);
    for (enum row row = ROW_INTERRUPTS; hpm_accounts && row < ROWS; row++)
        hand_out_row(hpm, plan, row);
}

/* Closes units if a round may be over. Most slices end in the middle of a round. */
static void end_slice(struct hpm_cpu *hpm, const struct mux_plan *plan)
{
    if (hpm->since_check < plan->rounds.round - plan->rounds.pass / 2)
        return;
    hpm->since_check = 0;
    hand_out(hpm, plan);
    if (hpm->current)
        context_end_slice(&hpm->current->counts, plan);
    context_end_slice(account_of(hpm, ROW_HERE), plan);
    for (enum row row = ROW_INTERRUPTS; hpm_accounts && row < ROWS; row++)
        context_end_slice(account_of(hpm, row), plan);
}

/* Begins counting events `p`, at the latest reading. */
static void begin_turn(struct hpm_cpu *hpm, const struct hpm_programme *p)
{
    hpm->turn_began = in_slices(hpm->last.cycles, hpm->last.instructions);
    if (hpm->profiler.armed | hpm->profiler.held)
        profile_disarm(hpm, &hpm->last);
    if (p->arms)
        profile_arm(hpm, &hpm->last, p->arms, p->slot);
}

/* The ground truth's tags besides thread ids and 0 for idle. */
#define TAG_INTERRUPTS ((int64_t)UINT32_MAX)
#define TAG_MONITORING (TAG_INTERRUPTS - 1)
#define SAME_TAG       ((int64_t)-1)

/* Ends the present stretch. If that ends the slice, or there is a new plan, another group counts
 * from then on. tag: what the ground truth charges from then on, or SAME_TAG. */
HOT_CODE static void account_stretch(struct hpm_cpu *hpm, enum stretch_end end, int64_t tag)
{
    const struct hpm_plan *old = hpm->plan,
                          *plan = __atomic_load_n(&hpm_state.plan, __ATOMIC_ACQUIRE);
    unsigned group = mux_turns_group(&hpm->turns);
    const struct hpm_programme *next = NULL;
    struct pmu_latch now;

    if (plan != old)
        mux_turns_init(&hpm->turns, &plan->mux.rounds, hpm->turns.random ^ arch_ticks());
    else if (end == END_SLICE)
        mux_turns_next(&hpm->turns, &plan->mux.rounds);
    if (plan != old || end == END_SLICE)
        next = &plan->programme[mux_turns_group(&hpm->turns)];
    if (tag != SAME_TAG || !hpm->current)
        hpm->read_at = arch_ticks();
    /* The truth changes hands where the counts do. */
    if (tag != SAME_TAG)
        hpm_state.ops->tag((uint32_t)tag);
    hpm_state.ops->latch(&now, next);
    end_stretch(hpm, group, &now);
    if (plan != old || end == END_RUN)
        hand_out(hpm, &old->mux);
    else if (end == END_SLICE)
        end_slice(hpm, &plan->mux);
    hpm->plan = plan;
    if (next)
        begin_turn(hpm, next);
    if (hpm_state.frequency)
        frequency_follow(hpm);
    if (tag == SAME_TAG && hpm->current && hpm->current->user && hpm->row == ROW_HERE)
        user_follow(hpm);
}

void counting_start(struct hpm_cpu *hpm, unsigned seed)
{
    hpm->plan = hpm_state.plan;
    /* The clock makes the seeds of similar boots differ. With equal turns, two measurements would
     * make the same error. */
    mux_turns_init(&hpm->turns, &hpm->plan->mux.rounds, arch_ticks() + seed);
    hpm_state.ops->latch(&hpm->last, &hpm->plan->programme[mux_turns_group(&hpm->turns)]);
    hpm->turn_began = in_slices(hpm->last.cycles, hpm->last.instructions);
}

/* Sets time and pc of samples that are found to be due while interrupts are off: they belong to the
 * kernel. */
static void mark_here(struct hpm_cpu *hpm, const void *pc)
{
    hpm->profiler.time = arch_ticks_near();
    hpm->profiler.pc = (vaddr_t)pc;
    hpm->profiler.user = false;
    hpm->profiler.frame = NULL;
}

void account_row(struct hpm_cpu *hpm, enum stretch_end end, enum row row)
{
    int64_t tag[] = {hpm->current ? hpm->current->tid : 0, TAG_INTERRUPTS, TAG_MONITORING};

    account_stretch(hpm, end, tag[row]);
    hpm->row = row;
    if (!hpm->current)
        set_idle(hpm, hpm->idle_ticks, row == ROW_HERE ? hpm->read_at : 0);
    else if (row == ROW_HERE && hpm->current->user)
        user_follow(hpm);
}

void account_slice(struct hpm_cpu *hpm)
{
    account_stretch(hpm, END_SLICE, SAME_TAG);
}

unsigned hpm_interrupt_begin(void)
{
    struct hpm_cpu *hpm = hpm_counted(this_cpu());

    if (!hpm || !hpm_accounts)
        return ROW_HERE;
    enum row before = hpm->row;
    mark_here(hpm, __builtin_return_address(0));
    account_row(hpm, END_STRETCH, ROW_INTERRUPTS);
    return before;
}

void hpm_interrupt_end(unsigned begin)
{
    struct hpm_cpu *hpm = hpm_counted(this_cpu());

    if (hpm && hpm_accounts)
        account_row(hpm, END_STRETCH, (enum row)begin);
}

void counting_follow(UNUSED void *unused)
{
    struct hpm_cpu *hpm = hpm_counted(this_cpu());

    if (!hpm)
        return;
    mark_here(hpm, __builtin_return_address(0));
    account_stretch(hpm, END_RUN, SAME_TAG);
}

void hpm_switch(struct hpm_thread *out, struct hpm_thread *in)
{
    struct hpm_cpu *hpm = this_cpu()->hpm;

    if (!hpm)
        return;
    ASSERT(hpm->current == out && hpm->row == ROW_HERE);
    mark_here(hpm, __builtin_return_address(0));
    if (hpm->plan) {
        sampler_poll(hpm);
        account_stretch(hpm, END_RUN, in ? in->tid : 0);
        if (logs_open())
            log_switch(out, in);
    } else {
        hpm->read_at = arch_ticks();
        add_idle(hpm);
        if (hpm_state.frequency)
            frequency_follow(hpm);
    }
    hpm->current = in;
    __atomic_store_n(&hpm->current_pid, in ? in->pid : 0, __ATOMIC_RELAXED);
    if (!out != !in) {
        set_idle(hpm, hpm->idle_ticks, in ? 0 : hpm->read_at);
        profile_idle(hpm, !in);
        frequency_obey(hpm);
    }
    if (hpm->user_open | (in && in->user))
        user_follow(hpm);
    hpm->own_ticks += arch_ticks_near() - hpm->profiler.time;
}

void hpm_tick(void)
{
    struct hpm_cpu *hpm = hpm_counted(this_cpu());

    if (this_cpu()->hpm)
        frequency_obey(this_cpu()->hpm);
    if (!hpm)
        return;
    mark_here(hpm, __builtin_return_address(0));
    sampler_poll(hpm);
    uint64_t now = in_slices(hpm->last.cycles, hpm->last.instructions);
    account_stretch(hpm, now - hpm->turn_began >= hpm_slice_cycles ? END_SLICE : END_RUN, SAME_TAG);
    hpm->own_ticks += arch_ticks_near() - hpm->profiler.time;
}

/* ---- Reading --------------------------------------------------------------------------------- */

void account_here(void)
{
    bool irq = arch_irq_save();

    if (hpm_counted(this_cpu()))
        account_stretch(this_cpu()->hpm, END_RUN, SAME_TAG);
    arch_irq_restore(irq);
}

void hpm_account_here(void)
{
    account_here();
}

uint64_t hpm_idle_ticks(const struct hpm_cpu *hpm, uint64_t now)
{
    uint64_t ticks, since;
    uint32_t before;

    do {
        before = __atomic_load_n(&hpm->idle_sequence, __ATOMIC_ACQUIRE);
        ticks = hpm->idle_ticks;
        since = hpm->idle_since;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while ((before & 1) || before != __atomic_load_n(&hpm->idle_sequence, __ATOMIC_RELAXED));
    return ticks + (since && now > since ? now - since : 0);
}

void account_if_running(const struct hpm_thread *t)
{
    bool irq = arch_irq_save();

    if (hpm_counted(this_cpu()) && this_cpu()->hpm->current == t)
        account_stretch(this_cpu()->hpm, END_RUN, SAME_TAG);
    arch_irq_restore(irq);
}

/* Returns the plan to read counts by, and turns interrupts off: see context.h. */
static const struct mux_plan *plan_to_read(bool *irq)
{
    *irq = arch_irq_save();
    return &__atomic_load_n(&hpm_state.plan, __ATOMIC_ACQUIRE)->mux;
}

struct hpm_sums *hpm_sums_here(void)
{
    struct hpm_sums *sums = &this_cpu()->hpm->sums;

    hpm_sums_clear(sums);
    return sums;
}

uint64_t hpm_figures(void)
{
    const struct context_figures *f = &hpm_state.figures;
    uint64_t counts = 0;

    for (unsigned i = 0; i < HPM_EVENTS; i++)
        counts |= f->event[i] == GROUP_NIL ? 0 : 1ull << f->event[i];
    return counts | (f->instructions == GROUP_NIL ? 0 : 1ull << f->instructions);
}

/* Adds what the CPU did outside its idle thread. */
static void sum_busy(const struct hpm_cpu *hpm, const struct mux_plan *plan, struct hpm_sums *sums)
{
    uint64_t counts = hpm_figures() & plan->events;

    context_sum(&hpm->busy, plan, counts, false, sums, this_cpu()->hpm->part);
    for (unsigned i = 0; hpm_accounts && i < ARRAY_SIZE(hpm->apart); i++)
        context_sum(&hpm->apart[i], plan, counts, false, sums, this_cpu()->hpm->part);
}

void hpm_read_cpu(const struct cpu *cpu, struct hpm_breakdown *out)
{
    bool irq;

    memset(out, 0, sizeof *out);
    if (!hpm_state.ops || !hpm_counted(cpu))
        return;
    account_here();
    const struct mux_plan *plan = plan_to_read(&irq);
    struct hpm_sums *sums = hpm_sums_here();
    sum_busy(cpu->hpm, plan, sums);
    sums_read(sums, plan, &hpm_state.figures, out);
    arch_irq_restore(irq);
    out->idle_cycles = hpm_cycles_of(hpm_idle_ticks(cpu->hpm, arch_ticks()));
}

void hpm_read_machine(struct hpm_breakdown *out)
{
    uint64_t idle_ticks = 0;
    bool irq;

    memset(out, 0, sizeof *out);
    if (!hpm_state.ops)
        return;
    account_here();
    const struct mux_plan *plan = plan_to_read(&irq);
    struct hpm_sums *sums = hpm_sums_here();
    cpu_for_each (cpu) {
        if (!hpm_counted(cpu))
            continue;
        sum_busy(cpu->hpm, plan, sums);
        idle_ticks += hpm_idle_ticks(cpu->hpm, arch_ticks());
    }
    sums_read(sums, plan, &hpm_state.figures, out);
    arch_irq_restore(irq);
    out->idle_cycles = hpm_cycles_of(idle_ticks);
}

void hpm_read_thread(const struct hpm_thread *t, struct hpm_breakdown *out)
{
    bool irq;

    memset(out, 0, sizeof *out);
    if (!hpm_state.ops)
        return;
    account_if_running(t);
    context_read(&t->counts, plan_to_read(&irq), &hpm_state.figures, out);
    arch_irq_restore(irq);
}

bool hpm_read_news(struct hpm_thread *t, struct hpm_breakdown *out)
{
    uint64_t cycles = __atomic_load_n(&t->counts.cycles, __ATOMIC_RELAXED);
    bool stopped = cycles == t->told_cycles, news = !stopped || !t->told_stopped;

    t->told_cycles = cycles;
    t->told_stopped = stopped;
    if (news)
        hpm_read_thread(t, out);
    return news;
}

void hpm_read_remote(const struct hpm_thread *t, struct hpm_remote *out)
{
    bool irq;

    memset(out, 0, sizeof *out);
    if (!hpm_state.ops)
        return;
    context_read_remote(&t->counts, plan_to_read(&irq), &hpm_state.figures, out);
    arch_irq_restore(irq);
}

static void sum_thread(const struct hpm_thread *t, uint64_t counts, bool kept,
                       struct hpm_sums *sums)
{
    bool irq;

    if (!hpm_state.ops)
        return;
    account_if_running(t);
    const struct mux_plan *plan = plan_to_read(&irq);
    context_sum(&t->counts, plan, plan->events & counts, kept, sums, this_cpu()->hpm->part);
    arch_irq_restore(irq);
}

void hpm_sum_thread(const struct hpm_thread *t, uint64_t counts, struct hpm_sums *sums)
{
    sum_thread(t, counts, false, sums);
}

void hpm_sum_ended(const struct hpm_thread *t, uint64_t counts, struct hpm_sums *sums)
{
    sum_thread(t, counts, true, sums);
}

static void sum_past(const struct hpm_sums *past, bool kept, struct hpm_sums *sums)
{
    bool irq;

    if (!hpm_state.ops)
        return;
    const struct mux_plan *plan = plan_to_read(&irq);
    sums_add_past(past, plan, kept, sums);
    arch_irq_restore(irq);
}

void hpm_sum_past(const struct hpm_sums *past, struct hpm_sums *sums)
{
    sum_past(past, false, sums);
}

void hpm_sum_kept(const struct hpm_sums *past, struct hpm_sums *sums)
{
    sum_past(past, true, sums);
}

/* Adds account a of the CPU to *to[a]; several may be one sum. */
static void sum_cpu(const struct hpm_cpu *hpm, uint64_t counts,
                    struct hpm_sums *const to[HPM_ACCOUNTS])
{
    const struct hpm_context *of[HPM_ACCOUNTS] = {&hpm->busy, &hpm->idle, &hpm->apart[0],
                                                  &hpm->apart[1]};
    unsigned accounts = hpm_accounts ? HPM_ACCOUNTS : HPM_INTERRUPTS;
    bool irq;
    const struct mux_plan *plan = plan_to_read(&irq);

    for (unsigned a = 0; a < accounts; a++)
        context_sum(of[a], plan, plan->events & counts, false, to[a], this_cpu()->hpm->part);
    arch_irq_restore(irq);
}

static void sum_cpus(uint64_t counts, struct hpm_sums *const to[HPM_ACCOUNTS])
{
    if (!hpm_state.ops)
        return;
    account_here();
    cpu_for_each (cpu)
        if (hpm_counted(cpu))
            sum_cpu(cpu->hpm, counts, to);
}

void hpm_sum_machine(uint64_t counts, struct hpm_sums *sums)
{
    sum_cpus(counts, (struct hpm_sums *[]){sums, sums, sums, sums});
}

void hpm_sum_accounts(uint64_t counts, struct hpm_sums sums[HPM_ACCOUNTS])
{
    sum_cpus(counts, (struct hpm_sums *[]){&sums[0], &sums[1], &sums[2], &sums[3]});
}

uint64_t hpm_spread(unsigned count)
{
    uint64_t spread = 0;
    bool irq;

    const struct mux_plan *plan = plan_to_read(&irq);
    cpu_for_each (cpu) {
        const struct hpm_cpu *hpm = cpu->hpm;
        if (!hpm_counted(cpu))
            continue;
        const struct hpm_context *account[] = {&hpm->busy, &hpm->idle, &hpm->apart[0],
                                               &hpm->apart[1]};
        for (unsigned a = 0; a < ARRAY_SIZE(account); a++) {
            struct mux_sum sum;
            context_count(account[a], plan, count, &sum);
            spread = MAX(spread, estimate_spread(&sum));
        }
    }
    arch_irq_restore(irq);
    return spread;
}

void hpm_sums_breakdown(const struct hpm_sums *sums, struct hpm_breakdown *out)
{
    bool irq;

    memset(out, 0, sizeof *out);
    if (!hpm_state.ops)
        return;
    sums_read(sums, plan_to_read(&irq), &hpm_state.figures, out);
    arch_irq_restore(irq);
}

uint64_t hpm_own_cycles(void)
{
    uint64_t sum = 0;

    cpu_for_each (cpu)
        if (cpu->hpm)
            sum += hpm_cycles_of(__atomic_load_n(&cpu->hpm->own_ticks, __ATOMIC_RELAXED) +
                                 __atomic_load_n(&cpu->hpm->profiler.ticks, __ATOMIC_RELAXED)) +
                   (cpu->hpm->interrupts + cpu->hpm->profiler.interrupts) *
                       hpm_state.pmu.interrupt_cycles +
                   cpu->hpm->records * hpm_state.pmu.record_cycles;
    return sum;
}

void hpm_mark(const char *label)
{
    if (!hpm_state.ops)
        return;
    bool irq = spin_lock(&mark_lock);
    hpm_state.ops->mark(label);
    spin_unlock(&mark_lock, irq);
}
