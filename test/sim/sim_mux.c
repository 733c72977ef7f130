/*
 * How good are multiplexed counts? Simulated events of many kinds are counted in full and by
 * hpm/policy/mux.c.
 *
 * Two measures:
 *   - The 95 % interval over the session: how often does it contain the true count, and how wide is
 *     it?
 *   - [A]'s own (2.7.1): KL(P||P') = sum P log2(P/P'), where P is the distribution of the events
 *     over the rounds and P' that of the estimates, each with half a count added.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "hpm/policy/estimate.h"

enum {
    CELL = 500, /* cycles; the resolution of the simulation */
    GROUPS = 10,
    ROUND = 2000000,
    ROUND_CELLS = ROUND / CELL,
    ROUNDS = 50,
    ROUNDS_MORE = ROUNDS + 4, /* rounds of events: turns run beyond the last round */
    CELLS = ROUNDS_MORE * ROUND_CELLS,
    ONE_SLICE = ROUND / GROUPS, /* published form: a shorter burst is short */
    COUNTS_MIN = 1000,          /* in a round, for KL to be meaningful */
};

void panic(const char *fmt, ...)
{
    fprintf(stderr, "sim_mux: panic: %s\n", fmt);
    exit(1);
}

/* ---- Random numbers -------------------------------------------------------------------------- */

static uint64_t random_state;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / (double)(1ull << 53);
}

static double between(double low, double high)
{
    return low + (high - low) * uniform();
}

/* Draws a number, with each order of magnitude equally likely. */
static double logarithmic(double low, double high)
{
    return exp(between(log(low), log(high)));
}

static double exponential(double mean)
{
    return -mean * log(1 - uniform());
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

static uint32_t poisson(double mean)
{
    if (mean > 50)
        return (uint32_t)fmax(0, mean + sqrt(mean) * normal() + 0.5);
    double limit = exp(-mean), product = uniform();
    uint32_t n = 0;
    for (; product > limit; product *= uniform())
        n++;
    return n;
}

/* ---- Streams of events ----------------------------------------------------------------------- */

/* Events and instructions before each cell. */
static uint64_t events[CELLS + 1], instructions[CELLS + 1];
static double shortest; /* shortest feature of the stream, cycles */

static void put_cell(unsigned cell, double per_cycle)
{
    events[cell + 1] = events[cell] + poisson(per_cycle * CELL);
}

/* Returns a rate from one event in 1,000 cycles to one in each. */
static double any_rate(void)
{
    return logarithmic(1e-3, 1);
}

static void steady(void)
{
    double rate = any_rate();

    for (unsigned i = 0; i < CELLS; i++)
        put_cell(i, rate);
}

/* A stream with a rate that is, in its logarithm, an autoregressive process. */
static void noisy(void)
{
    double rate = any_rate(), memory = exp(-CELL / logarithmic(1e3, 1e7)), sigma = between(0.2, 1),
           x = normal();

    for (unsigned i = 0; i < CELLS; i++) {
        x = memory * x + sqrt(1 - memory * memory) * normal();
        put_cell(i, rate * exp(sigma * x));
    }
}

/* Three rates in turn, the lowest down to 1/50 of the highest. */
static void phases_of(double length)
{
    double high = any_rate(),
           rate[3] = {high, high * between(0.02, 0.5), high * between(0.02, 0.3)}, left = 0;
    unsigned phase = 0;

    shortest = length / 2;
    for (unsigned i = 0; i < CELLS; i++, left -= CELL) {
        if (left <= 0) {
            phase = (phase + 1) % 3;
            left = length * between(0.5, 1.5);
        }
        put_cell(i, rate[phase]);
    }
}

static void phases(void)
{
    phases_of(logarithmic(2 * ONE_SLICE, 2e7));
}

static void short_phases(void)
{
    phases_of(logarithmic(2e4, 2 * ONE_SLICE));
}

/* Bursts of about one length. Pauses are 1 to 10 times as long on average, with at most a tenth of
 * the rate, or none. */
static void bursts_of(double length)
{
    double rate = any_rate(), background = uniform() < 0.5 ? 0 : between(0, 0.1);
    double pause = length * between(1, 10), left = exponential(pause);
    bool on = false;

    shortest = length;
    for (unsigned i = 0; i < CELLS; i++, left -= CELL) {
        while (left <= 0) {
            on = !on;
            left += on ? length * between(1, 1.5) : exponential(pause);
        }
        put_cell(i, on ? rate : rate * background);
    }
}

static void bursts(void)
{
    bursts_of(logarithmic(ONE_SLICE, 2e6));
}

static void short_bursts(void)
{
    bursts_of(logarithmic(3e3, ONE_SLICE));
}

/* A period in step with rounds or passes: a pulse and nothing else, or a ramp. */
static void periodic_of(double low, double high)
{
    static const double parts[] = {1, 2, 4, 8, 10, 0.99, 40};
    double rate = any_rate(), length, period, offset = uniform();
    bool ramp = uniform() < 0.3;

    do {
        length = logarithmic(low, high);
        period = ROUND / parts[(unsigned)(uniform() * ARRAY_SIZE(parts))];
    } while (length > 0.9 * period);
    shortest = length;
    for (unsigned i = 0; i < CELLS; i++) {
        double at = fmod(i * (double)CELL / period + offset, 1);
        put_cell(i, rate * (ramp ? at : at < length / period));
    }
}

static void periodic(void)
{
    periodic_of(ONE_SLICE, ROUND * 0.6);
}

static void short_periodic(void)
{
    periodic_of(5e3, ONE_SLICE);
}

/* Single independent events, one in 10^4 to 10^7 cycles: 10 to 10,000 in the session. */
static void rare(void)
{
    double rate = logarithmic(1e-7, 1e-4);

    for (unsigned i = 0; i < CELLS; i++)
        put_cell(i, rate);
}

/* Adds instructions: 0.2 to 3 per cycle, in phases of their own. */
static void add_instructions(void)
{
    double length = logarithmic(5e4, 2e7), left = 0, ipc = 1;

    for (unsigned i = 0; i < CELLS; i++, left -= CELL) {
        if (left <= 0) {
            ipc = logarithmic(0.2, 3);
            left = exponential(length);
        }
        instructions[i + 1] = instructions[i] + (uint64_t)(ipc * CELL);
    }
}

static const struct kind {
    const char *name;
    void (*make)(void);
} kinds[] = {
    {"steady", steady},
    {"noisy", noisy},
    {"phases", phases},
    {"bursts", bursts},
    {"periodic", periodic},
    {"rare", rare},
    {"short-phases", short_phases},
    {"short-bursts", short_bursts},
    {"short-periodic", short_periodic},
};
enum { KINDS = ARRAY_SIZE(kinds), KL_KINDS = 5 };

/* ---- Counting -------------------------------------------------------------------------------- */

/* A way of counting: how rounds are cut, and what disturbs them. */
static const struct form {
    const char *name;
    unsigned passes;
    unsigned rounds; /* rounds counted; 0: ROUNDS */
    bool published, shares, instructions;
    unsigned late; /* cells by which the slices' interrupts come late, at most */
    /* mean cycles for which the thread runs and is away; 0: always runs */
    double run, pause;
    bool cut; /* a round ends when the thread is switched; else rounds are the CPU's */
} forms[] = {
    {.name = "published", .passes = 1, .published = true},
    {.name = "1", .passes = 1},
    {.name = "1-of-12", .passes = 1, .rounds = ESTIMATE_UNITS_MIN},
    {.name = "2", .passes = 2},
    {.name = "4", .passes = 4},
    {.name = "8", .passes = 8},
    {.name = "20", .passes = 20},
    {.name = "4-late", .passes = 4, .late = 10},
    {.name = "4-shares", .passes = 4, .shares = true},
    {.name = "4-instructions", .passes = 4, .instructions = true},
    {.name = "4-cut", .passes = 4, .run = 3e5, .cut = true},
    {.name = "4-cpu-turns", .passes = 4, .run = 3e5, .pause = 6e5},
};
enum { FORMS = ARRAY_SIZE(forms) };

struct session {
    const struct form *form;
    struct mux_plan plan;
    struct mux_turns turns;
    struct mux_counts counts;
    unsigned cell, switch_at; /* in the thread's own time */
    double estimate[ROUNDS];  /* by round */
};

static void session_init(struct session *s, const struct form *form, uint64_t seed)
{
    static struct group_plan groups = {.groups = GROUPS};
    struct mux_config config = {.unit = form->instructions ? MUX_INSTRUCTIONS : MUX_CYCLES,
                                .round =
                                    form->instructions ? instructions[CELLS] / ROUNDS_MORE : ROUND,
                                .passes = form->passes,
                                .published = form->published};

    /* One event is watched; the other groups only take their turns. */
    memset(groups.event, GROUP_NIL, sizeof groups.event);
    groups.event[0][0] = 0;
    for (unsigned g = 0; g < GROUPS; g++)
        config.share[g] = (uint8_t)(form->shares ? 1 + (g + 1) % 3 : 1);
    *s = (struct session){.form = form};
    if (mux_plan_init(&s->plan, &config, &groups))
        panic("rounds that cannot be cut");
    mux_turns_init(&s->turns, &s->plan.rounds, seed);
    s->switch_at = form->run > 0 ? (unsigned)(exponential(form->run) / CELL) + 1 : CELLS;
}

/* Returns the first cell at which `length` has passed since cell `from`. */
static unsigned cell_after(const struct session *s, unsigned from, uint64_t length)
{
    if (!s->form->instructions)
        return from + (unsigned)((length + CELL - 1) / CELL);
    while (from < CELLS && length > 0) {
        uint64_t passed = instructions[from + 1] - instructions[from];
        length -= passed < length ? passed : length;
        from++;
    }
    return from;
}

static uint64_t length_of(const struct session *s, unsigned from, unsigned to)
{
    return s->form->instructions ? instructions[to] - instructions[from]
                                 : (uint64_t)(to - from) * CELL;
}

/* Lets other threads run, while the CPU's turns go on. */
static void away(struct session *s)
{
    uint64_t left = (uint64_t)exponential(s->form->pause);

    while (left) {
        uint64_t piece = left < s->turns.left ? left : s->turns.left;
        mux_turns_spend(&s->turns, &s->plan.rounds, piece);
        left -= piece;
    }
}

static void end_run(struct session *s)
{
    if (s->form->cut)
        mux_turns_cut(&s->turns, &s->plan.rounds);
    else
        away(s);
    mux_close(&s->counts, &s->plan);
    s->switch_at = s->cell + (unsigned)(exponential(s->form->run) / CELL) + 1;
}

/* Counts for a slice, or up to the thread's switch if that is earlier. Returns whether a round has
 * ended. */
static bool step(struct session *s)
{
    unsigned group = mux_turns_group(&s->turns), from = s->cell;
    unsigned late = s->form->late ? (unsigned)(uniform() * (s->form->late + 1)) : 0;
    unsigned to = cell_after(s, from, s->turns.left) + late;
    bool switched = to >= s->switch_at;

    s->cell = to = MIN(MIN(to, s->switch_at), (unsigned)CELLS);
    uint64_t count[GROUP_COUNTERS_ALL] = {events[to] - events[from]},
             length = length_of(s, from, to);
    mux_add(&s->counts, &s->plan, group, length, count);
    enum mux_step ended = mux_turns_spend(&s->turns, &s->plan.rounds, length);
    if (ended >= MUX_PASS_ENDS || (s->form->run > 0 && ended))
        mux_close(&s->counts, &s->plan);
    if (switched && s->form->run > 0)
        end_run(s);
    return ended == MUX_ROUND_ENDS;
}

/* Counts at least ROUNDS rounds. Keeps the estimate of each where rounds are as meant. */
static void run(struct session *s)
{
    struct mux_sum sum, before = {0};
    unsigned rounds = 0, enough = s->form->rounds ? s->form->rounds : ROUNDS;

    while (s->cell < CELLS &&
           s->counts.length - s->counts.open_length < enough * s->plan.rounds.round) {
        if (!step(s) || rounds >= ROUNDS)
            continue;
        mux_read(&s->counts, &s->plan, 0, &sum);
        struct mux_sum latest = sum;
        mux_sum_sub(&latest, &before);
        s->estimate[rounds++] = (double)latest.count;
        before = sum;
    }
}

/* Returns the KL distance over rounds of true and estimated events, with half a count added to
 * each. */
static double kl_distance(const struct session *s)
{
    double all = (double)events[ROUNDS * ROUND_CELLS], estimates = 0, sum = 0, half = 0.5 * GROUPS;

    for (unsigned i = 0; i < ROUNDS; i++)
        estimates += s->estimate[i] + half;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double p = (double)(events[(i + 1) * ROUND_CELLS] - events[i * ROUND_CELLS]) / all;
        if (p > 0)
            sum += p * log2(p / ((s->estimate[i] + half) / estimates));
    }
    return sum;
}

/* ---- Results --------------------------------------------------------------------------------- */

struct tally {
    unsigned intervals, held, distances;
    double *width, *distance; /* [cases] */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(double *values, unsigned n, double part)
{
    if (!n)
        return 0;
    qsort(values, n, sizeof *values, by_value);
    return values[(unsigned)((n - 1) * part + 0.5)];
}

static bool plain(const struct form *f)
{
    return !f->rounds && !f->shares && !f->late && !f->instructions && f->run == 0;
}

static void add_case(const struct session *s, struct tally *t)
{
    uint64_t truth = events[s->cell];
    struct mux_sum sum;
    struct estimate e;

    mux_read(&s->counts, &s->plan, 0, &sum);
    estimate_make(&sum, &s->plan.rounds, ESTIMATE_SINGLES, &e);
    if (e.sure == ESTIMATE_INTERVAL) {
        t->held += e.low <= truth && truth <= e.high;
        t->width[t->intervals++] = 50.0 * (double)(e.high - e.low) / fmax(1, (double)truth);
    }
    if (plain(s->form) && events[ROUNDS * ROUND_CELLS] >= (uint64_t)COUNTS_MIN * ROUNDS)
        t->distance[t->distances++] = kl_distance(s);
}

static void simulate(struct tally *tallies, const struct kind *kind, unsigned trials, uint64_t seed)
{
    static struct session s;

    for (unsigned i = 0; i < trials; i++) {
        random_state = (seed * 1000003 + i) * 0x9e3779b97f4a7c15 | 1;
        kind->make();
        add_instructions();
        for (unsigned f = 0; f < FORMS; f++) {
            session_init(&s, &forms[f], seed * 1000003 + i);
            run(&s);
            add_case(&s, &tallies[f]);
        }
    }
}

static void add_tally(struct tally *sum, const struct tally *part)
{
    memcpy(sum->width + sum->intervals, part->width, part->intervals * sizeof *sum->width);
    memcpy(sum->distance + sum->distances, part->distance, part->distances * sizeof *sum->distance);
    sum->intervals += part->intervals;
    sum->distances += part->distances;
    sum->held += part->held;
}

static void report(const char *kind, const char *form, struct tally *t)
{
    printf("%-14s %-14s", kind, form);
    if (t->intervals)
        printf(" %6u %6.1f %7.1f %7.1f", t->intervals, 100.0 * t->held / t->intervals,
               quantile(t->width, t->intervals, 0.5), quantile(t->width, t->intervals, 0.95));
    else
        printf(" %6s %6s %7s %7s", "-", "-", "-", "-");
    if (t->distances)
        printf(" %6u %7.4f %7.4f %7.4f\n", t->distances, quantile(t->distance, t->distances, 0.5),
               quantile(t->distance, t->distances, 0.95), quantile(t->distance, t->distances, 1));
    else
        printf(" %6s %7s %7s %7s\n", "-", "-", "-", "-");
}

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static struct tally *new_tallies(unsigned trials)
{
    struct tally *t = calloc(FORMS, sizeof *t);

    for (unsigned f = 0; f < FORMS; f++) {
        t[f].width = calloc(trials, sizeof *t[f].width);
        t[f].distance = calloc(trials, sizeof *t[f].distance);
    }
    return t;
}

static const char explanation[] =
    "# Multiplexed counts of one event in 10 groups, rounds of 2,000,000 cycles, 50 rounds, "
    "against the "
    "truth.\n"
    "# form: slices a group has in a round (of 200,000 / form cycles); published: one, and no "
    "interval.\n"
    "#   of-12: 12 rounds only, the fewest that have an interval; late: interrupts up to 5,000 "
    "cycles late; "
    "shares: groups have 1 to 3 slices a pass;\n"
    "#   instructions: slices and rounds by instructions, which take 0.3 to 5 cycles, in phases;\n"
    "#   cut: the thread runs for 300,000 cycles on average, and the round ends when it stops;\n"
    "#   cpu-turns: it runs for as long, and the turns, which are the CPU's, go on without it.\n"
    "# held: 95 % intervals with the true count in them, in percent of the cases.\n"
    "# width: half an interval, in percent of the count: median, and what 95 % of the cases are "
    "below.\n"
    "# KL(P||P') over the rounds: median, 95 %, worst.  Half a seen count is added to each "
    "estimate; only\n"
    "#   streams with 1,000 events a round on average.\n"
    "# Streams: one event in 1,000 cycles to one in each.  steady; noisy: the rate wanders; "
    "phases: of "
    "three\n"
    "#   rates; bursts: half of the streams with nothing between; periodic: in step with the "
    "round, a pass "
    "or\n"
    "#   neither, 7 in 10 with nothing between pulses; rare: one in 10^4 to 10^7 cycles.\n"
    "#   short: phases, bursts or pulses below the published slice, 200,000 cycles.\n"
    "# all: all streams; all-KL: the first five kinds, those not short and not rare.\n";

int main(void)
{
    unsigned trials = (unsigned)number("TRIALS", number("QUICK", 0) ? 20 : 300);
    struct tally *all = new_tallies(trials * KINDS), *for_kl = new_tallies(trials * KINDS);

    if (trials == 0) {
        fprintf(stderr, "sim_mux: TRIALS: must be a number from 1\n");
        return 2;
    }
    printf("# make bench-mux TRIALS=%u SEED=%lu\n%s", trials, number("SEED", 1), explanation);
    printf("%-14s %-14s %6s %6s %7s %7s %6s %7s %7s %7s\n", "# stream", "form", "cases", "held",
           "width", "95 %", "cases", "KL", "95 %", "worst");
    for (unsigned k = 0; k < KINDS; k++) {
        struct tally *t = new_tallies(trials);
        simulate(t, &kinds[k], trials, number("SEED", 1) * 100 + k);
        for (unsigned f = 0; f < FORMS; f++) {
            report(kinds[k].name, forms[f].name, &t[f]);
            add_tally(&all[f], &t[f]);
            if (k < KL_KINDS)
                add_tally(&for_kl[f], &t[f]);
        }
        fflush(stdout);
    }
    for (unsigned f = 0; f < FORMS; f++)
        report("all", forms[f].name, &all[f]);
    for (unsigned f = 0; f < FORMS; f++)
        if (plain(&forms[f]))
            report("all-KL", forms[f].name, &for_kl[f]);
    return 0;
}
