/*
 * The sharing detector's thread and its life cycle; see internal.h. Each process goes through these
 * phases:
 *
 *   watch    every sched.watch_ms: which part of its cycles does the process wait for other chips'
 *            caches?
 *   detect   once that exceeds sched.remote_pct: sample such accesses, as densely as
 *            sched.cost_permille allows
 *   cluster  again and again while samples come in, until the clusters are certain or the samples
 *            or the time run out
 *   place    move threads so that clusters share chips, if that brings enough sharing together;
 *            first when most threads are clear, then again when all are; and move them back if the
 *            process then waits more for other chips' caches than before (trial.c)
 *
 * Placement does not oscillate: a detection that changed nothing is followed by a pause that
 * doubles each time. A placement that is taken back is followed by the longest pause, unless the
 * stalls stay as they are. The pause is cut short only if the stalls that remained after a decision
 * grow by half, or the threads change. A process that shares little is never sampled, and one that
 * shares little again not any longer. Under policy hand the application states the clusters and
 * nothing is detected. Where the PMU records no accesses nothing can be detected, and a line says
 * so.
 */
#include "kernel/core/printf.h"
#include "kernel/trace/telemetry.h"
#include "kernel/mem/mem.h"
#include "sched/sharing/internal.h"

#define DRAIN_NS         (1 * NS_PER_MS) /* interval at which samples are taken */
#define STATED_SETTLE_NS (1 * NS_PER_MS) /* groups are placed when none was stated for this time */
#define BACKOFF_FIRST    8               /* first pause, in watch intervals */
#define BACKOFF_MAX      1024            /* longest pause */
#define GREW_LOOKS       2               /* in succession that see grown stalls: a change */
/* Looks in succession with little stall that end a detection, if nothing was placed. */
#define FADED_LOOKS 8
/* Time for which sampling goes on at least after an early placement. */
#define QUIET_AFTER_NS (8 * NS_PER_MS)
/* then it ends when accesses are sampled at this fraction of the rate before */
#define QUIET_FACTOR     8
#define QUIET_PER_THREAD 2 /* fewer samples in that time do not justify clustering again */
/* Time after a placement in which the rate says nothing. */
#define SETTLE_NS (2 * NS_PER_MS)

static struct wait_queue work = {{&work.waiters, &work.waiters}};
bool sharing_runs;

void sharing_wake_detector(void)
{
    wait_wake(&work, 1);
}

/* ---- Watching -------------------------------------------------------------------------------- */

static void pause_after(struct sharing_process *p, uint64_t now_ns)
{
    uint64_t interval_ns = sched_watch_ms * NS_PER_MS;

    p->backoff_ns = p->backoff_ns ? MIN(p->backoff_ns * 2, BACKOFF_MAX * interval_ns)
                                  : BACKOFF_FIRST * interval_ns;
    p->not_before_ns = now_ns + p->backoff_ns;
}

/* Returns the process to the phase watch. Its first look afterwards spans the decision itself and
 * is ignored. */
static void decided(struct sharing_process *p, uint64_t now_ns)
{
    p->phase = SHARING_WATCH;
    p->settling = 2;
    p->next_ns = now_ns + sched_watch_ms * NS_PER_MS;
    pause_after(p, now_ns);
}

/* ---- Detecting ------------------------------------------------------------------------------- */

/* Returns the accesses to other chips' caches in a millisecond: as counted, or, if that is more, as
 * the stalls suggest for threads that keep their CPUs busy, since a young process may not have run
 * for long. */
static uint64_t remote_per_ms(const struct sharing_process *p)
{
    uint32_t latency = hpm_caps()->latency[SOURCE_REMOTE_L2];
    uint64_t cycles_per_ms = arch_ticks_hz() / 1000 * MIN(sharing_crowd(p).threads, cpu_count());

    return MAX(p->remote_per_ms, latency ? cycles_per_ms * p->remote_permille / 1000 / latency : 0);
}

/* Returns whether so few accesses were sampled since the last early placement that nothing is left
 * to find. */
static bool quiet(const struct detection *d, uint64_t now_ns)
{
    uint64_t before_ns = d->early_ns - d->begin_ns, after_ns = now_ns - d->placed_ns;
    uint64_t after = d->accesses - d->placed_accesses;

    return after * before_ns * QUIET_FACTOR < d->early_accesses * after_ns;
}

/* Returns whether an early placement was just made or has made accesses rare: then a low rate of
 * samples is the aim, and no reason for a shorter period. */
static bool any_settling(uint64_t now_ns)
{
    bool settling = false, irq = spin_lock(&sharing_lock);

    list_for_each (it, &sharing_processes) {
        const struct detection *d = container_of(it, struct sharing_process, all)->detection;
        settling |= d && d->early_ns && (now_ns - d->placed_ns < SETTLE_NS || quiet(d, now_ns));
    }
    spin_unlock(&sharing_lock, irq);
    return settling;
}

/* Begins to sample the threads that the process has now. */
static void sample_phase(struct sharing_process *p, uint64_t now_ns)
{
    int err = detection_create(p, &p->detection);

    if (!err)
        err = sharing_sampling_start(now_ns, remote_per_ms(p), p->withs);
    if (err) {
        sharing_say(p, "detect", "failed", "error=%d", -err);
        detection_free(p->detection);
        p->detection = NULL;
        decided(p, now_ns);
        return;
    }
    p->decided_ns = now_ns;
    p->detection->begin_permille = p->remote_permille;
    sharing_measure_loads(p, now_ns);
    p->phase = SHARING_DETECT;
    p->next_ns = now_ns + DRAIN_NS;
    sharing_say(p, "detect", "remote-stalls",
                "remote_permille=%u threshold=%u threads=%u processes=%u period=%u",
                p->remote_permille, (unsigned)sched_remote_pct * 10, p->detection->threads,
                p->withs + 1, sharing_sampling_period());
}

static void start_detection(struct sharing_process *p, uint64_t now_ns)
{
    p->begin_ns = now_ns;
    p->begin_cost = sharing_sampling_cost();
    sample_phase(p, now_ns);
}

static void add_account(struct sharing_process *p, const struct sharing_placement *placed,
                        uint64_t now_ns)
{
    struct sharing_cost now = sharing_sampling_cost(), *begin = &p->begin_cost,
                        spent = {now.taking_ns - begin->taking_ns,
                                 now.recording_ns - begin->recording_ns,
                                 now.clustering_ns - begin->clustering_ns, now.lost - begin->lost};
    uint64_t all_ns = (now_ns - p->begin_ns) * cpu_count();
    uint64_t ppm = all_ns ? sharing_cost_sum(&spent) * 1000000 / all_ns : 0;
    bool irq = spin_lock(&sharing_lock);
    p->account.detections++;
    p->account.samples += shmap_samples(&p->detection->table);
    p->account.cost.lost += spent.lost;
    p->account.cost.taking_ns += spent.taking_ns;
    p->account.cost.recording_ns += spent.recording_ns;
    p->account.cost.clustering_ns += spent.clustering_ns;
    p->account.all_ns += all_ns;
    p->account.worst_ppm = MAX(p->account.worst_ppm, ppm);
    p->account.migrations += placed->crossed;
    spin_unlock(&sharing_lock, irq);
}

static void say_placed(const struct sharing_process *p, const struct sharing_placement *placed,
                       int err)
{
    if (err)
        sharing_say(p, "place", "failed", "error=%d", -err);
    else
        sharing_say(p, "place", assign_verdict_names[placed->verdict],
                    "threads=%u moved=%u crossed=%u together_permille=%u..%u", placed->threads,
                    placed->moved, placed->crossed, placed->together_before,
                    placed->together_after);
}

static void say_clustered(struct sharing_process *p, const char *why, uint64_t now_ns)
{
    const struct detection *d = p->detection;

    sharing_show(p, false);
    sharing_say(p, "cluster", why, "samples=%llu clusters=%u after_us=%llu",
                (unsigned long long)shmap_samples(&d->table), d->clustering.clusters,
                (unsigned long long)((now_ns - d->begin_ns) / NS_PER_US));
}

static void end_detection(struct sharing_process *p, const char *why, bool place)
{
    struct sharing_placement placed = {.verdict = ASSIGN_NO_CLUSTERS};
    uint64_t now_ns = arch_clock_ns();
    int err = place ? sharing_place_on_trial(p, &placed) : 0;

    add_account(p, &placed, now_ns);
    say_clustered(p, why, now_ns);
    if (place) {
        say_placed(p, &placed, err);
        sharing_report_clusters(p);
    }
    bool worth = placed.moved || p->detection->early_ns;
    detection_free(p->detection);
    p->detection = NULL;
    decided(p, arch_clock_ns());
    if (worth)
        p->backoff_ns = 0;
}

/*
 * Places the threads in clusters that are clear, and goes on sampling. Most clusters are often
 * clear long before the last one, which may have been silent only because its threads were on one
 * chip. A thread that is now in the wrong place gets samples, and is placed once it is clear, too.
 */
static void assign_early(struct sharing_process *p, uint64_t now_ns)
{
    struct detection *d = p->detection;
    struct sharing_placement placed;
    int err = sharing_place_on_trial(p, &placed);

    if (!d->early_ns) {
        d->early_ns = now_ns;
        d->early_accesses = d->accesses;
    }
    d->placed_ns = now_ns;
    d->placed_accesses = d->accesses;
    d->placed_members = detection_members(d);
    detection_placed(d, p);
    say_clustered(p, "early", now_ns);
    say_placed(p, &placed, err);
    bool irq = spin_lock(&sharing_lock);
    p->account.migrations += err ? 0 : placed.crossed;
    spin_unlock(&sharing_lock, irq);
}

static enum cluster_verdict judge(struct sharing_process *p, bool now)
{
    struct detection *d = p->detection;
    uint64_t begin_ns = arch_clock_ns(), decisions = d->decisions;
    enum cluster_verdict verdict = detection_decide(d, now);

    sharing_sampling_add_clustering(arch_clock_ns() - begin_ns);
    if (d->decisions == decisions)
        return verdict;
    d->looked_ns = begin_ns;
    d->looked_samples = shmap_samples(&d->table);
    sharing_show(p, true);
    if (verdict == CLUSTER_WAIT)
        sharing_say(p, "cluster", "unclear",
                    "samples=%llu clusters=%u members=%u doubtful=%u agreed=%u",
                    (unsigned long long)shmap_samples(&d->table), d->clustering.clusters,
                    detection_members(d), detection_doubtful(d), d->watch.agreed);
    return verdict;
}

/* After a placement was taken back: ends the detection, if one still runs, and pauses for long. */
static void give_up(struct sharing_process *p, uint64_t now_ns)
{
    if (p->detection)
        add_account(p, &(struct sharing_placement){0}, now_ns);
    detection_free(p->detection);
    p->detection = NULL;
    p->backoff_ns = BACKOFF_MAX * sched_watch_ms * NS_PER_MS;
    decided(p, now_ns);
}

/* Returns whether the process waits for other chips' caches much more than when the detection
 * began: it has entered another phase, as at the end of its start. */
static bool phase_changed(const struct sharing_process *p)
{
    const struct detection *d = p->detection;

    return !d->early_ns && stalls_grew(d->begin_permille, p->remote_permille);
}

/* Returns whether the stalls for which the detection began are over, as at the end of a start.
 * Called once after each look. */
static bool faded(struct sharing_process *p)
{
    struct detection *d = p->detection;

    d->low_looks = p->remote_permille < sched_remote_pct * 10 ? d->low_looks + 1 : 0;
    return !d->early_ns && d->low_looks >= FADED_LOOKS;
}

/* Begins the detection anew, without the samples of the phase that is over. */
static void begin_anew(struct sharing_process *p, uint64_t now_ns)
{
    bool irq = spin_lock(&sharing_lock);
    p->account.samples += shmap_samples(&p->detection->table);
    spin_unlock(&sharing_lock, irq);
    say_clustered(p, "grew", now_ns);
    detection_free(p->detection);
    p->detection = NULL;
    sample_phase(p, now_ns);
}

/* Looks at the process as the watch does. Returns whether the detection, as it was, is over. */
static bool look_again(struct sharing_process *p, uint64_t now_ns)
{
    if (sharing_look_and_judge(p, now_ns))
        give_up(p, now_ns);
    else if (phase_changed(p))
        begin_anew(p, now_ns);
    else if (faded(p))
        end_detection(p, "faded", false);
    else
        return false;
    return true;
}

/*
 * Clusters again while samples come in, as often as the budget allows: clustering many threads
 * costs as much as thousands of samples. After an early placement, threads that were silent may
 * turn out to be in the wrong place. Detection ends when it is quiet and no thread is in doubt, or
 * those in doubt have hardly been sampled lately.
 */
static void detect_sharing(struct sharing_process *p, uint64_t now_ns)
{
    if (now_ns - p->looked_ns >= sched_watch_ms * NS_PER_MS && look_again(p, now_ns))
        return;
    struct detection *d = p->detection;
    bool due = d->early_ns && now_ns - d->looked_ns >= QUIET_AFTER_NS;
    bool seen = shmap_samples(&d->table) - d->looked_samples >= QUIET_PER_THREAD * d->threads;
    bool affordable = !d->early_ns || !sharing_sampling_over_budget(now_ns);
    enum cluster_verdict verdict = affordable ? judge(p, due && seen) : CLUSTER_WAIT;

    p->next_ns = now_ns + DRAIN_NS;
    if (due && affordable)
        d->looked_ns = now_ns;
    if (verdict != CLUSTER_WAIT)
        end_detection(p, cluster_verdict_names[verdict], verdict != CLUSTER_NO_SHARING);
    else if (detection_mostly_clear(d) && detection_members(d) > d->placed_members)
        assign_early(p, now_ns);
    else if (due && quiet(d, now_ns) && (!seen || !detection_doubtful(d)))
        end_detection(p, "quiet", true);
    else if (now_ns - d->begin_ns > sched_detect_ms * NS_PER_MS)
        end_detection(p, "too-few-samples", d->early_ns);
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static void watch_process(struct sharing_process *p, uint64_t now_ns)
{
    unsigned threshold = (unsigned)sched_remote_pct * 10;

    p->next_ns = now_ns + sched_watch_ms * NS_PER_MS;
    if (sharing_look_and_judge(p, now_ns)) {
        give_up(p, now_ns);
        return;
    }
    if (p->settling && --p->settling == 0) {
        p->settled_permille = p->remote_permille;
        sharing_say(p, "watch", "settled", "remote_permille=%u", p->remote_permille);
    }
    bool more = stalls_grew(MAX(p->settled_permille, 1u), p->remote_permille);
    p->grown = more && !p->settling ? p->grown + 1 : 0;
    struct sharing_crowd crowd = sharing_crowd(p);
    bool fresh = now_ns - crowd.changed_ns < sched_watch_ms * NS_PER_MS;
    if (crowd.threads < 2 || fresh || p->settling || p->remote_permille < threshold)
        return;
    bool grew = p->grown >= GREW_LOOKS;
    bool changed = crowd.changed_ns > p->decided_ns;
    if (now_ns < p->not_before_ns && !grew && !changed)
        return;
    if (grew || changed)
        p->backoff_ns = 0;
    start_detection(p, now_ns);
}

static void assign_stated(struct sharing_process *p, uint64_t now_ns)
{
    struct sharing_placement placed;
    bool irq = spin_lock(&sharing_lock), unplaced = p->unplaced;
    uint64_t due_ns = p->changed_ns + STATED_SETTLE_NS;
    bool due = unplaced && now_ns >= due_ns;

    p->next_ns = unplaced && !due ? due_ns : UINT64_MAX;
    p->unplaced = unplaced && !due;
    spin_unlock(&sharing_lock, irq);
    if (!due)
        return;
    int err = sharing_place(p, NULL, &placed);
    if (err) {
        sharing_say(p, "place", "failed", "error=%d", -err);
        return;
    }
    irq = spin_lock(&sharing_lock);
    p->account.migrations += placed.crossed;
    spin_unlock(&sharing_lock, irq);
    sharing_say(p, "place", assign_verdict_names[placed.verdict],
                "threads=%u moved=%u crossed=%u groups=stated", placed.threads, placed.moved,
                placed.crossed);
}

/* Says once that a process cannot be added. */
static void say_crowded(struct sharing_process *p)
{
    if (p->crowded && !p->said_crowded)
        sharing_say(p, "watch", "crowded", "processes=%u at most are watched as one",
                    SHARING_CONNECTED_MAX + 1);
    p->said_crowded = p->crowded;
}

static void step_process(struct sharing_process *p, uint64_t now_ns)
{
    say_crowded(p);
    if (p->source == SHARING_STATED)
        assign_stated(p, now_ns);
    else if (p->phase == SHARING_WATCH)
        watch_process(p, now_ns);
    else
        detect_sharing(p, now_ns);
}

/* Takes a step with each process that is due. Returns the time at which the next one is due.
 * sharing_lock held, released in between. */
static uint64_t round_locked(bool *irq)
{
    uint64_t now_ns = arch_clock_ns(), next_ns = UINT64_MAX;
    bool detecting = false;

    sharing_unite_locked();
    for (struct list *it = sharing_processes.next, *next; it != &sharing_processes; it = next) {
        struct sharing_process *p = container_of(it, struct sharing_process, all);
        if (p->next_ns <= now_ns && p->count) {
            p->busy = true;
            spin_unlock(&sharing_lock, *irq);
            step_process(p, now_ns);
            *irq = spin_lock(&sharing_lock);
            p->busy = false;
            if (p->unplaced) /* stated in between */
                p->next_ns = MIN(p->next_ns, p->changed_ns + STATED_SETTLE_NS);
        }
        next = it->next;
        next_ns = MIN(next_ns, p->next_ns);
        detecting |= p->detection != NULL;
        if (!p->count)
            sharing_free_locked(p);
    }
    if (!detecting)
        sharing_sampling_stop();
    return next_ns;
}

static void detector(UNUSED void *arg)
{
    bool irq = spin_lock(&sharing_lock);

    for (;;) {
        if (sharing_sampling_is_on()) {
            spin_unlock(&sharing_lock, irq);
            sharing_sampling_take();
            uint64_t now_ns = arch_clock_ns();
            sharing_sampling_adapt(now_ns, any_settling(now_ns));
            irq = spin_lock(&sharing_lock);
        }
        uint64_t next_ns = round_locked(&irq);
        wait_sleep(&work, &sharing_lock, &irq, next_ns);
    }
}

void sharing_start(void)
{
    if (thread_create_kernel("sharing", detector, NULL, NULL)) {
        kprintf(
            "sharing: no memory for the detector: policies hand and cluster only balance load\n");
        return;
    }
    sharing_runs = true;
}
