/*
 * Trackers complete, on doubles of page tables, TLBs and units. What a tracker reports was
 * accessed, in that space and no other; what was accessed it reports, as far as it promises.
 * Meanwhile pages go away, spaces end and their numbers come back, and what is watched changes at
 * any moment.
 */
#include "test/host/double/expect_panic.h"
#include "test/host/double/in_child.h"
#include "test/host/double/mm_double.h"
#include "test/host/double/path_double.h"
#include "test/host/double/said.h"
#include "hpm/path/path.h"
#include "mm/mm.h"
#include "mm/track/page_trace.h"
#include "mm/space.h"
#include "mm/track/internal.h"

enum {
    PROCESSES = 3,
    THREADS = 3,
    PLAIN = 0,
    SCRATCH = 512,
    END = 576,
    ACTIVE = 64,
    SAMPLES = 1 << 16
};
enum { PATH = 1, SOFT, SCAN, SAMPLED, NO_TRACKER };

static struct scenario {
    const char *name;
    uint64_t tracker, short_only, permille;
    unsigned steps, lives, cost; /* cost: ticks that a sink takes for an entry */
    bool record;
    bool echo;  /* each delivery is logged once more while it goes on */
    bool quiet; /* nothing goes away, and what is watched does not change */
} now;

static struct process {
    struct space *space;
    uint32_t pid;
    uint32_t accessed[END], written[END], reported[END];
    unsigned threads;
    bool remapping, leaves;
    uint32_t sampled[SAMPLES]; /* pages, in order of time */
    unsigned samples, samples_out;
} processes[PROCESSES];

static uint64_t seed, entries;
static unsigned lives;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(test_random(&seed) % n);
}

/* ---- What was accessed, and what is said of it ----------------------------------------------- */

static struct process *process_of(const struct space *s)
{
    struct process *p = processes;

    while (p < processes + PROCESSES && p->space != s)
        p++;
    INSIST(p < processes + PROCESSES); /* it has ended */
    return p;
}

void mm_double_walked(struct space *s, vaddr_t va, bool write)
{
    (void)s;
    path_double_access(va, write);
}

void mm_double_sampled(const struct space *s, vaddr_t va)
{
    struct process *p = process_of(s);

    if (p->samples < SAMPLES)
        p->sampled[p->samples++] = (uint32_t)((va - MM_BASE) >> PAGE_SHIFT);
}

/* What a record should contain, in its order. */
static struct page_trace_record recorded[SAMPLES];
static unsigned recorded_count;

static void expect_record(const struct process *p, const struct page_run *run, uint64_t entry)
{
    INSIST(recorded_count < SAMPLES);
    recorded[recorded_count++] =
        (struct page_trace_record){.page = entry & PAGE_ENTRY_PAGE,
                                   .time = run->time,
                                   .space = p->pid,
                                   .cpu = run->cpu,
                                   .flags = entry & PAGE_ENTRY_WRITE ? PAGE_TRACE_WRITE : 0};
}

/* Samples in between may have come while the space was not known by them. */
static void expect_in_order(struct process *p, uint32_t page)
{
    if (now.quiet)
        INSIST(p->samples_out < p->samples && p->sampled[p->samples_out] == page);
    while (p->samples_out < p->samples && p->sampled[p->samples_out] != page)
        p->samples_out++;
    INSIST(p->samples_out++ < p->samples);
}

static void hear(struct space *s, const struct page_run *run)
{
    struct process *p = process_of(s);

    INSIST(run->space == s->number);
    for (unsigned part = 0; part < 2; part++)
        for (size_t i = 0; i < run->count[part]; i++) {
            uint64_t entry = run->entry[part][i],
                     page = (entry & PAGE_ENTRY_PAGE) - (MM_BASE >> PAGE_SHIFT);
            INSIST(entry >> PAGE_ENTRY_SPACE_SHIFT == s->number && page < END);
            INSIST(p->accessed[page]);
            /* Tracker scan sees only marks, which pages that come by a write begin with. */
            INSIST(now.tracker == SCAN || p->written[page] || !(entry & PAGE_ENTRY_WRITE));
            p->reported[page]++;
            if (now.record)
                expect_record(p, run, entry);
            entries++;
            if (now.tracker == SAMPLED)
                expect_in_order(p, (uint32_t)page);
            if (now.echo)
                path_note(s->number, (entry & PAGE_ENTRY_PAGE) << PAGE_SHIFT, false);
        }
    if (now.echo)
        path_flush();
    host_ticks += now.cost * (run->count[0] + run->count[1]);
}

/* ---- What threads do ------------------------------------------------------------------------- */

static void nothing(void *frame, void *arg)
{
    (void)frame, (void)arg;
}

static void access_one(struct process *p, unsigned page)
{
    bool write = below(3) == 0, racing = page >= SCRATCH;

    p->accessed[page]++;
    p->written[page] += write;
    int err = mm_access(p->space, MM_BASE + page * PAGE_SIZE, write ? FAULT_WRITE : FAULT_READ,
                        nothing, NULL);
    INSIST(!err || (err == -EFAULT && racing));
    host_ticks += now.cost;
}

static void remap(struct process *p)
{
    vaddr_t at;

    if (p->remapping)
        return;
    p->remapping = true;
    unsigned from = SCRATCH + below(60), n = 1 + below(END - from);
    INSIST(!space_unmap(p->space, MM_BASE + from * PAGE_SIZE, n * PAGE_SIZE));
    INSIST(!space_map(p->space, MM_BASE + from * PAGE_SIZE, n * PAGE_SIZE, PROT_R | PROT_W,
                      REGION_ANON, "scratch", &at));
    p->remapping = false;
}

static void forget_one(struct process *p, unsigned page)
{
    INSIST(!space_advise(p->space, MM_BASE + page * PAGE_SIZE, PAGE_SIZE, ADVICE_DONTNEED));
    track_forget(p->space, MM_BASE + page * PAGE_SIZE);
}

static void step(struct process *p)
{
    unsigned what = now.quiet ? 0 : below(1000);

    if (what < 950)
        access_one(p, MIN(below(now.quiet ? SCRATCH : END), below(END)));
    else if (what < 960)
        remap(p);
    else if (what < 970)
        forget_one(p, below(SCRATCH));
    else if (what < 980)
        track_hot(p->space, MM_BASE + below(END) * PAGE_SIZE);
    else if (what < 985)
        track_short(p->space, below(2));
    else if (what < 990)
        track_deliver();
    else
        sched_sleep_until(host_ticks + 3 * NS_PER_MS);
}

/* ---- At a quiet end -------------------------------------------------------------------------- */

static unsigned usable(struct process *p)
{
    unsigned n = 0;

    for (unsigned page = 0; page < END; page++) {
        struct arch_page at = mm_look(p->space, MM_BASE + page * PAGE_SIZE);
        n += at.kind == ARCH_PAGE_HERE && at.prot != PROT_USER;
    }
    return n;
}

static void expect_all_reported(struct process *p)
{
    struct track_account account;

    sched_sleep_until(host_ticks + 20 * NS_PER_MS);
    track_deliver();
    track_read_account(&account);
    INSIST(!account.lost && account.watched);
    for (unsigned page = 0; page < END && now.tracker != SAMPLED; page++)
        INSIST(!p->accessed[page] == !p->reported[page]);
    if (now.tracker == SAMPLED)
        INSIST(p->samples_out == p->samples && p->samples > 20);
    if (now.tracker == SOFT)
        INSIST(usable(p) <= ACTIVE + ACTIVE / 16);
    if (now.tracker == SCAN) { /* a page that is no longer used is not reported again */
        uint64_t before = p->reported[0];
        sched_sleep_until(host_ticks + 20 * NS_PER_MS);
        track_deliver();
        INSIST(p->reported[0] == before);
    }
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void live(void *arg);

static void begin_space(struct process *p)
{
    static uint32_t pids = 1000; /* none is the number of a space */
    struct space *s;
    vaddr_t at;

    memset(p, 0, sizeof *p);
    INSIST(!space_create(NULL, NULL, &s));
    p->space = s;
    p->pid = ++pids;
    space_set_pid(s, p->pid);
    INSIST(!space_map(s, MM_BASE, END * PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "test", &at));
}

static void begin(struct process *p)
{
    begin_space(p);
    lives++;
    p->threads = THREADS;
    for (unsigned i = 0; i < THREADS; i++)
        fiber_start(live, p, space_number(p->space));
}

static void live(void *arg)
{
    struct process *p = arg;
    unsigned steps = now.quiet ? now.steps : below(2 * now.steps);

    for (unsigned i = 0; i < steps; i++)
        step(p);
    thread_leave_space();
    if (--p->threads)
        return;
    if (now.quiet && !now.permille)
        expect_all_reported(p);
    space_destroy(p->space);
    p->space = NULL;
    if (lives < now.lives)
        begin(p);
}

/* ---- Scenarios, each in a process of its own ------------------------------------------------- */

static void start(uint64_t from)
{
    path_double_boot();
    mm_argument("mem.tracker", now.tracker);
    mm_argument("mem.track", !now.short_only);
    mm_argument("mem.active_pages", ACTIVE);
    mm_argument("mem.pab", 128);
    mm_argument("mem.scan_ms", 1);
    mm_argument("mem.sample_period", 8);
    mm_argument("mem.track_permille", now.permille ? now.permille : 1000);
    mm_argument("mem.record", now.record);
    mm_double_samples = now.tracker == SAMPLED;
    mm_double_boot(from);
    seed = from;
    track_init(false);
    track_attach(hear);
}

static void play(uint64_t from)
{
    start(from);
    unsigned heap = mm_heap_used;
    for (unsigned i = 0; i < PROCESSES; i++)
        begin(&processes[i]);
    fibers_run();
    struct track_account account;
    track_read_account(&account);
    INSIST(mm_frames_used == 0 && mm_heap_used == heap);
    INSIST(account.watched == 0 &&
           entries > (now.tracker == SAMPLED ? 50u : 500u) / (now.short_only ? 10 : 1) &&
           account.entries >= entries);
    if (now.permille) { /* the tracker can keep to a bound, and does */
        INSIST(account.sample_shift > 0);
        INSIST(account.cost_ticks * 1000 <= account.ran_ticks * now.permille * 3 / 2);
    }
    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++)
        INSIST(!path_double[c].pab_entries); /* no space is watched: it is off */
}

static void run_scenario(const struct scenario *s, void (*f)(uint64_t from), uint64_t from)
{
    now = *s;
    int status = in_child(f, from, 600);
    if (status)
        fail_msg("%s, tracker %u, seed %lu: status %#x", s->name, (unsigned)s->tracker,
                 (unsigned long)from, (unsigned)status);
}

static void each_tracker_reports_accesses(void **state)
{
    (void)state;
    for (unsigned tracker = PATH; tracker <= SAMPLED; tracker++)
        for (uint64_t from = 1; from <= 2; from++)
            run_scenario(
                &(struct scenario){
                    .name = "quiet", .tracker = tracker, .steps = 2000, .lives = 4, .quiet = true},
                play, from);
}

static void pages_go_and_spaces_end_while_they_are_tracked(void **state)
{
    (void)state;
    for (unsigned tracker = PATH; tracker <= SAMPLED; tracker++)
        for (uint64_t from = 1; from <= 2; from++)
            run_scenario(
                &(struct scenario){.name = "busy", .tracker = tracker, .steps = 800, .lives = 9},
                play, from);
}

static void watching_may_change_at_any_moment(void **state)
{
    (void)state;
    for (unsigned tracker = PATH; tracker <= SAMPLED; tracker++)
        run_scenario(
            &(struct scenario){
                .name = "short", .tracker = tracker, .short_only = 1, .steps = 1500, .lives = 9},
            play, 1);
}

static void tracking_costs_no_more_than_allowed(void **state)
{
    (void)state;
    run_scenario(&(struct scenario){.name = "governed",
                                    .tracker = PATH,
                                    .permille = 10,
                                    .cost = 2000,
                                    .steps = 10000,
                                    .lives = 3,
                                    .quiet = true},
                 play, 1);
}

/* ---- Marks that TLBs hide -------------------------------------------------------------------- */

enum { ROUNDS = 50, ROUND_PAGES = 10 };

/* A TLB that knows the page sets no mark: unless told to forget the page, it would make it look
 * unused from the first scan on. */
static void use_again_and_again(void *arg)
{
    struct process *p = arg;

    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t before[ROUND_PAGES];
        memcpy(before, p->reported, sizeof before);
        for (unsigned page = 0; page < ROUND_PAGES; page++)
            access_one(p, page);
        sched_sleep_until(host_ticks + 5 * NS_PER_MS);
        track_deliver();
        for (unsigned page = 0; page < ROUND_PAGES; page++)
            INSIST(p->reported[page] > before[page]);
    }
    thread_leave_space();
    space_destroy(p->space);
}

static void play_scan(uint64_t from)
{
    struct process *p = &processes[0];

    mm_tlb_keeps = true;
    start(from);
    begin_space(p);
    fiber_start(use_again_and_again, p, space_number(p->space));
    fibers_run();
}

static void a_page_used_between_two_scans_is_reported_after_each(void **state)
{
    (void)state;
    for (uint64_t from = 1; from <= 4; from++)
        run_scenario(&(struct scenario){.name = "scan", .tracker = SCAN}, play_scan, from);
}

static void play_echo(uint64_t from)
{
    alarm(20);
    start(from);
    begin(&processes[0]);
    fibers_run();
    INSIST(entries);
}

static void a_delivery_ends_though_more_is_logged_meanwhile(void **state)
{
    (void)state;
    run_scenario(
        &(struct scenario){
            .name = "echo", .tracker = PATH, .steps = 300, .lives = 1, .cost = 10, .echo = true},
        play_echo, 1);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void expect_header(const struct page_trace_header *h)
{
    INSIST(h->magic == PAGE_TRACE_MAGIC && h->version == PAGE_TRACE_VERSION &&
           h->header_bytes == sizeof(*h));
    INSIST(h->record_bytes == sizeof(struct page_trace_record) && h->page_shift == PAGE_SHIFT);
    INSIST(h->cpus == FIBER_CPUS && !h->reserved && h->time_hz == NS_PER_S);
}

/* Checks that the file has what was delivered, but for what units lost in between. */
static void expect_file(uint64_t lost)
{
    const struct page_trace_record *at =
        (const void *)(path_double_output + sizeof(struct page_trace_header));
    const struct page_trace_record *end =
        (const void *)(path_double_output + path_double_output_bytes);
    unsigned n = 0;

    expect_header((const void *)path_double_output);
    for (; at < end; at++) {
        if (at->flags & PAGE_TRACE_LOST) {
            INSIST(at->flags == PAGE_TRACE_LOST && at->page && at->page <= lost);
            lost -= at->page;
            continue;
        }
        INSIST(n < recorded_count && !memcmp(at, &recorded[n], sizeof(*at)));
        n++;
    }
    INSIST(n == recorded_count && !lost);
}

static void play_record(uint64_t from)
{
    enum { LOST = 7, TIMES = 5 };

    start(from);
    for (unsigned i = 0; i < TIMES; i++) {
        lives = 0;
        for (struct process *p = processes; p < processes + PROCESSES; p++)
            begin(p);
        fibers_run();
        if (now.tracker == PATH)
            path_double[i % PATH_DOUBLE_CPUS].lost += LOST;
    }
    if (now.tracker == PATH) { /* a unit reports a loss with its next entries */
        begin(&processes[0]);
        fibers_run();
    }
    track_end();
    INSIST(entries > 500 && recorded_count == entries);
    expect_file(now.tracker == PATH ? TIMES * LOST : 0);
    size_t bytes = path_double_output_bytes;
    track_end();
    INSIST(path_double_output_bytes == bytes); /* there is nothing more */
}

static void what_is_delivered_is_recorded(void **state)
{
    (void)state;
    for (unsigned tracker = PATH; tracker <= SAMPLED; tracker++)
        run_scenario(
            &(struct scenario){
                .name = "record", .tracker = tracker, .steps = 300, .lives = 3, .record = true},
            play_record, 1);
}

/* ---- Where they cannot work ------------------------------------------------------------------ */

static void without(uint64_t tracker)
{
    path_double_no_unit = true;
    mm_double_samples = false;
    path_double_boot();
    mm_argument("mem.tracker", tracker);
    mm_argument("mem.track", 1);
    mm_double_boot(1);
    track_init(false);
    INSIST(strstr(said, tracker == PATH
                            ? "tracker: event=refused name=path reason=no-device: no such "
                              "hardware\ntracker: event=none\n"
                        : tracker == SAMPLED
                            ? "tracker: event=refused name=sampled reason=no-device: there is "
                              "no PMU that records data addresses\ntracker: event=none\n"
                            : "tracker: event=none\n"));
    begin(&processes[0]);
    fibers_run();
    INSIST(!mm_frames_used);
}

static void no_file(uint64_t from)
{
    path_double_no_machine = true;
    start(from);
    INSIST(strstr(said, "tracker: event=not-recorded: only a simulated machine has a file for it"));
    begin(&processes[0]);
    fibers_run();
    track_end();
    INSIST(!path_double_output_bytes && entries);
}

static void a_missing_unit_is_reported(void **state)
{
    const struct scenario s = {.name = "without", .steps = 100, .lives = 1};

    (void)state;
    run_scenario(&s, without, 0);
    run_scenario(&s, without, PATH);
    run_scenario(&s, without, SAMPLED);
    run_scenario(&s, without, NO_TRACKER);
    run_scenario(
        &(struct scenario){
            .name = "no file", .tracker = SOFT, .steps = 100, .lives = 1, .record = true},
        no_file, 1);
}

static void refused(uint64_t what)
{
    if (what == PATH)
        mm_argument("mem.pab", 100);
    now.tracker = what;
    start(1);
    if (what == PATH)
        mm_argument("mem.pab", 100);
    mm_double_sampling_busy = true;
    begin(&processes[0]);
    fibers_run();
    INSIST(!entries);
    INSIST(strstr(said, what == PATH ? "argument=mem.pab reason=value: 100 is not accepted"
                                     : "name=sampled reason=busy: others have all of"));
}

static void a_tracker_that_cannot_start_says_so_and_watches_nothing(void **state)
{
    const struct scenario s = {.name = "refused", .steps = 100, .lives = 1};

    (void)state;
    run_scenario(&s, refused, PATH);
    run_scenario(&s, refused, SAMPLED);
}

int main(void)
{
    in_child_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_unit_is_reported),
        cmocka_unit_test(a_tracker_that_cannot_start_says_so_and_watches_nothing),
        cmocka_unit_test(each_tracker_reports_accesses),
        cmocka_unit_test(pages_go_and_spaces_end_while_they_are_tracked),
        cmocka_unit_test(watching_may_change_at_any_moment),
        cmocka_unit_test(tracking_costs_no_more_than_allowed),
        cmocka_unit_test(a_page_used_between_two_scans_is_reported_after_each),
        cmocka_unit_test(a_delivery_ends_though_more_is_logged_meanwhile),
        cmocka_unit_test(what_is_delivered_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
