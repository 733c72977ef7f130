/*
 * Programs with misses, walks, mispredictions and times that are known beforehand, and what the
 * machine counted for them. Figures that depend on the topology are taken from the identification
 * page. The slack is for the few accesses that starting and stopping the counters makes itself.
 */
#include "test/machine/guest/guest.h"

#define KERNEL MACHINE_COUNT_KERNEL

uint64_t line;
static uint64_t fresh = ARENA; /* memory from here on was not touched */

uint64_t arena(uint64_t bytes)
{
    uint64_t at = ALIGN_UP(fresh, id->home_block_bytes);
    fresh = at + bytes;
    return at;
}

void touch_lines(uint64_t at, uint64_t lines)
{
    for (uint64_t i = 0; i < lines; i++)
        load(at + i * line);
}

/* ---- Caches ---------------------------------------------------------------------------------- */

static void memory_is_local_or_remote_by_address(void)
{
    struct counting c = {
        .event = {MACHINE_EVENT_SERVED_LOCAL_MEMORY, MACHINE_EVENT_SERVED_REMOTE_MEMORY}};
    const uint64_t lines = 1000;
    uint64_t block = id->home_block_bytes, own = 0, other = 0;
    uint64_t at = ALIGN_UP(fresh, block * id->chips);

    fresh = at + id->chips * block;
    count_start(&c, KERNEL);
    for (unsigned chip = 0; chip < id->chips; chip++) {
        touch_lines(at + chip * block, lines);
        if (chip == id->place[this_cpu()].chip)
            own += lines;
        else
            other += lines;
    }
    count_stop(&c);
    check("cold lines come from their home's memory: local", c.value[0], own, own + 20);
    check("cold lines come from their home's memory: remote", c.value[1], other, other + 20);
}

/* A loop over more lines than a level holds misses that level each time (LRU), and hits the level
 * that holds all of them. */
static void loop_over(const char *what, uint64_t bytes, enum machine_event served,
                      enum machine_event stalls, unsigned source)
{
    struct counting c = {.event = {served, stalls, MACHINE_EVENT_LOADS}};
    uint64_t lines = bytes / line, at = arena(bytes);

    touch_lines(at, lines);
    touch_lines(at, lines);
    count_start(&c, KERNEL);
    touch_lines(at, lines);
    count_stop(&c);
    check(what, c.value[0], lines - lines / 100, lines + lines / 100 + 20);
    check("  and each costs its latency", c.value[1], (c.value[0] - 2) * id->latency[source],
          c.value[0] * id->latency[source]);
    check("  each line is one load", c.value[2], lines, lines + 40);
}

static void loops_miss_the_levels_they_do_not_fit(void)
{
    struct counting c = {.event = {MACHINE_EVENT_L1D_MISSES, MACHINE_EVENT_STALL_DCACHE}};
    uint64_t bytes = id->l1d_bytes / 2, at = arena(bytes);

    touch_lines(at, bytes / line);
    count_start(&c, KERNEL);
    touch_lines(at, bytes / line);
    count_stop(&c);
    check("a loop that fits the L1 misses nothing", c.value[0], 0, 4);
    loop_over("a loop of four L1s is served by the L2", 4 * id->l1d_bytes,
              MACHINE_EVENT_SERVED_LOCAL_L2, MACHINE_EVENT_DCACHE_LOCAL_L2, MACHINE_LOCAL_L2);
    if (id->l3_bytes)
        loop_over("a loop of four L2s is served by the L3", 4 * (uint64_t)id->l2_bytes,
                  MACHINE_EVENT_SERVED_LOCAL_L3, MACHINE_EVENT_DCACHE_LOCAL_L3, MACHINE_LOCAL_L3);
}

static void store_misses_hide_in_the_store_buffer(void)
{
    struct counting c = {
        .event = {MACHINE_EVENT_STALL_DCACHE, MACHINE_EVENT_STALL_OTHER, MACHINE_EVENT_STORES}};
    uint64_t at = arena(208 * line);

    count_start(&c, KERNEL);
    for (unsigned i = 0; i < 8; i++)
        store(at + i * line, i);
    count_stop(&c);
    check("eight store misses fit the store buffer: no data stall", c.value[0], 0,
          2 * id->latency[MACHINE_LOCAL_L2]);
    check("  they are stores", c.value[2], 8, 60);

    count_start(&c, KERNEL);
    for (unsigned i = 8; i < 208; i++)
        store(at + i * line, i);
    count_stop(&c);
    check("more of them wait for memory", c.value[1], 100 * id->latency[MACHINE_LOCAL_MEMORY],
          208 * id->latency[MACHINE_REMOTE_MEMORY]);
}

/* ---- Sharing --------------------------------------------------------------------------------- */

#define ROUNDS 1000

struct game {
    uint64_t ball;        /* the address; when even, it is CPU 0's turn */
    uint64_t remote[2];   /* by player: accesses served by the other chip */
    uint64_t local_l2[2]; /* ... and by its own L2 */
};

/* tag of the first player: the truth file must show which one got the line from which */
#define TAG_FIRST 100

static void play(struct game *g, unsigned side)
{
    struct counting c = {.event = {MACHINE_EVENT_SERVED_REMOTE_L2, MACHINE_EVENT_SERVED_REMOTE_L3,
                                   MACHINE_EVENT_SERVED_LOCAL_L2}};

    regs()->tag = TAG_FIRST + side;
    count_start(&c, KERNEL);
    for (unsigned i = 0; i < ROUNDS; i++) {
        while ((load(g->ball) & 1) != side)
            cpu_pause();
        store(g->ball, load(g->ball) + 1);
    }
    count_stop(&c);
    regs()->tag = 0;
    g->remote[side] = c.value[0] + c.value[1];
    g->local_l2[side] = c.value[2];
}

static void play_second(void *game)
{
    play(game, 1);
}

/* A line goes to and fro. In each round its reader misses once, and so does its writer, as the line
 * is shared by then. */
static void ping_pong(const char *what, unsigned cpu, uint64_t remote, uint64_t local)
{
    struct game g = {.ball = arena(line)};

    store(g.ball, 0);
    run_on(cpu, play_second, &g);
    play(&g, 0);
    run_wait(cpu);
    check(what, g.remote[0] + g.remote[1], remote * 2 * ROUNDS - remote * ROUNDS / 50,
          remote * 2 * ROUNDS + remote * ROUNDS / 50 + 60);
    check("  and by the own L2", g.local_l2[0] + g.local_l2[1],
          local * 2 * ROUNDS - local * ROUNDS / 50, local * 2 * ROUNDS + local * ROUNDS / 50 + 60);
}

static void a_line_between_two_cpus(void)
{
    unsigned per_core = id->threads_per_core, per_chip = per_core * id->cores_per_chip;

    if (per_core > 1 && guest_cpus() > 1)
        ping_pong("ping-pong within a core: served by other chips", 1, 0, 0);
    if (id->cores_per_chip > 1 && guest_cpus() > per_core)
        ping_pong("ping-pong within a chip: served by other chips", per_core, 0, 2);
    if (id->chips > 1 && guest_cpus() > per_chip)
        ping_pong("ping-pong between chips: served by other chips", per_chip, 2, 0);
}

static uint64_t sum_at;

static void add_atomically(void *rounds)
{
    for (uint64_t i = 0; i < (uint64_t)rounds; i++)
        __atomic_fetch_add((uint64_t *)sum_at, 1, __ATOMIC_SEQ_CST);
}

static void atomic_additions_are_not_lost(void)
{
    sum_at = arena(line);
    store(sum_at, 0);
    for (unsigned cpu = 1; cpu < guest_cpus(); cpu++)
        run_on(cpu, add_atomically, (void *)5000);
    add_atomically((void *)5000);
    for (unsigned cpu = 1; cpu < guest_cpus(); cpu++)
        run_wait(cpu);
    check("atomic additions of all CPUs arrive", load(sum_at), 5000 * guest_cpus(),
          5000 * guest_cpus());
}

/* ---- Translation, branches, costs ------------------------------------------------------------ */

static uint64_t walks(uint64_t at, uint64_t pages)
{
    struct counting c = {.event = {MACHINE_EVENT_TLB_MISSES, MACHINE_EVENT_STALL_TLB}};

    for (unsigned warm = 0; warm < 2; warm++)
        for (uint64_t i = 0; i < pages; i++)
            load(at + i * PAGE_SIZE);
    count_start(&c, KERNEL);
    for (uint64_t i = 0; i < pages; i++)
        load(at + i * PAGE_SIZE);
    count_stop(&c);
    check("  a walk has its price", c.value[1], c.value[0] * id->walk_cycles,
          c.value[0] * id->walk_cycles);
    return c.value[0];
}

static void pages_beyond_the_tlb_are_walked(void)
{
    uint64_t entries = id->tlb_entries, at = arena(4 * entries * PAGE_SIZE);

    check("half a TLB of pages stays", walks(at, entries / 2), 0, 2);
    check("twice a TLB of pages, in a loop, misses each time", walks(at, 2 * entries), 2 * entries,
          2 * entries + 10);
}

static void an_invalidated_page_is_walked_again(void)
{
    struct counting c = {.event = {MACHINE_EVENT_TLB_MISSES, MACHINE_EVENT_STALL_OTHER}};
    uint64_t at = arena(PAGE_SIZE);

    load(at);
    count_start(&c, KERNEL);
    for (unsigned i = 0; i < 100; i++) {
        invalidate_page(at);
        load(at + 8);
    }
    count_stop(&c);
    check("an invalidated page is walked again", c.value[0], 100, 104);
    check("  and the invalidation has its price", c.value[1], 100 * id->tlb_invalidate_cycles,
          100 * id->tlb_invalidate_cycles + 6 * id->register_cycles);
}

static uint64_t mispredicted(bool random)
{
    struct counting c = {.event = {MACHINE_EVENT_MISPREDICTS, MACHINE_EVENT_STALL_BRANCH}};
    uint64_t x = 1;
    volatile uint64_t odd = 0;

    count_start(&c, KERNEL);
    for (unsigned i = 0; i < 10000; i++) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        if (random ? x >> 63 : i & 1)
            odd++;
    }
    count_stop(&c);
    check("  a misprediction has its price", c.value[1], c.value[0] * id->mispredict_cycles,
          c.value[0] * id->mispredict_cycles);
    return c.value[0];
}

static void branches_are_predicted_when_they_can_be(void)
{
    check("a branch that alternates is predicted", mispredicted(false), 0, 200);
    check("a random branch is not", mispredicted(true), 3500, 6500);
}

static void exceptions_have_their_price(void)
{
    struct counting c = {.event = {MACHINE_EVENT_EXCEPTIONS, MACHINE_EVENT_STALL_OTHER}};
    uint64_t each = id->exception_entry_cycles + id->exception_return_cycles;

    count_start(&c, KERNEL);
    for (unsigned i = 0; i < 100; i++)
        system_call();
    count_stop(&c);
    check("exceptions are counted", c.value[0], 100, 100);
    check("  and have their price", c.value[1], 100 * each, 100 * each + 6 * id->register_cycles);
}

static void completion_has_its_rate(void)
{
    struct counting c = {.event = {MACHINE_EVENT_COMPLETION, MACHINE_EVENT_STALL_ICACHE}};
    uint64_t n = 100000;

    count_start(&c, KERNEL);
    spin(n);
    count_stop(&c);
    check("instructions are counted", c.instructions, 200000, 200060);
    check("completion cycles are instructions times CPI", c.value[0] * 256,
          c.instructions * id->completion_cpi_256 - 1024,
          c.instructions * id->completion_cpi_256 + 1024);
    check("nothing else takes time", c.cycles, c.value[0],
          c.value[0] + 4 * id->latency[MACHINE_REMOTE_MEMORY] + 1000);
}

static volatile bool sibling_stops;

static void spin_until_told(void *arg)
{
    (void)arg;
    while (!sibling_stops)
        ;
}

static void every_branch_is_counted(void)
{
    struct counting c = {.event = {MACHINE_EVENT_BRANCHES}};

    count_start(&c, KERNEL);
    spin(1000);
    count_stop(&c);
    check("every branch is counted", c.value[0], 1000, 1060);
}

static void a_running_sibling_slows_completion(void)
{
    struct counting c = {.event = {MACHINE_EVENT_COMPLETION}};
    uint64_t n = 100000;

    if (id->threads_per_core < 2 || guest_cpus() < 2)
        return;
    sibling_stops = false;
    run_on(1, spin_until_told, NULL);
    for (uint64_t wait = ticks() + 20000; ticks() < wait;)
        ;
    count_start(&c, KERNEL);
    spin(n);
    count_stop(&c);
    sibling_stops = true;
    run_wait(1);
    uint64_t alone = c.instructions * id->completion_cpi_256 / 256;
    check("a sibling that runs slows completion", c.value[0],
          alone * id->smt_factor_256 / 256 * 99 / 100,
          alone * id->smt_factor_256 / 256 * 101 / 100);
}

void low_spin(uint64_t n);

static void modes_are_told_apart_by_address(void)
{
    struct counting c = {.event = {MACHINE_EVENT_INSTRUCTIONS}};
    void (*volatile spin)(uint64_t) = low_spin;

    count_start(&c, MACHINE_COUNT_USER);
    spin(1000);
    count_stop(&c);
    check("code in the lower half is user mode", c.value[0], 2001, 2001);
    count_start(&c, MACHINE_COUNT_KERNEL);
    spin(1000);
    count_stop(&c);
    check("and not kernel mode", c.value[0], 5, 60);
}

static void mark(const char *label)
{
    for (unsigned i = 0; i == 0 || label[i - 1]; i++)
        id->mark_label[i] = label[i];
    id->mark = 1;
}

void tests(void)
{
    line = id->line_bytes;
    check("all CPUs run", guest_cpus(), id->cpus, id->cpus);
    mark("begin");
    completion_has_its_rate();
    memory_is_local_or_remote_by_address();
    loops_miss_the_levels_they_do_not_fit();
    store_misses_hide_in_the_store_buffer();
    a_line_between_two_cpus();
    atomic_additions_are_not_lost();
    pages_beyond_the_tlb_are_walked();
    an_invalidated_page_is_walked_again();
    branches_are_predicted_when_they_can_be();
    every_branch_is_counted();
    a_running_sibling_slows_completion();
    exceptions_have_their_price();
    modes_are_told_apart_by_address();
    time_is_model_time();
    accesses_are_sampled();
    counters_are_for_users_and_cores_for_saving();
    a_turn_counts_nothing_for_the_wrong_event();
    a_turn_acknowledges_and_begins_a_whole_period();
    bad_settings_are_refused();
    page_accesses_are_tracked();
    pages_are_transferred_in_model_time();
    frames_cross_a_wire_in_model_time();
    mark("end");
}
