/*
 * Two ways to adapt a sampling period, the published one ([S] 3.4.3) and that of
 * hpm/policy/period.c, on simulated rates of events; and how evenly a loop's stores are sampled
 * with periods that are fixed, jittered or primes ([S] 3.5).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "hpm/policy/period.h"

enum {
    CPUS = 4,
    WINDOWS = 300,
    WANTED = 100,  /* samples in a window, of all CPUs */
    MEMORY = 20,   /* windows over which the published rule averages */
    STRETCH = 60,  /* windows between two steps */
    TOLERANCE = 20 /* percent off WANTED at which a rule has settled */
};

void panic(const char *fmt, ...)
{
    fprintf(stderr, "sim_period: panic: %s\n", fmt);
    exit(1);
}

static uint64_t random_state;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / (double)(1ull << 53);
}

static double logarithmic(double low, double high)
{
    return low * pow(high / low, uniform());
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/* ---- Rates: events in a window --------------------------------------------------------------- */

static double rate[WINDOWS];

static void constant(void)
{
    for (unsigned i = 0; i < WINDOWS; i++)
        rate[i] = 1e6;
}

static void stepped(void)
{
    for (unsigned i = 0; i < WINDOWS; i++)
        rate[i] = i % STRETCH ? rate[i - 1] : logarithmic(1e5, 1e7);
}

static void bursty(void)
{
    double left = 0;
    bool high = false;

    for (unsigned i = 0; i < WINDOWS; i++, left--) {
        if (left <= 0) {
            high = !high;
            left = 1 - 3 * log(1 - uniform());
        }
        rate[i] = high ? 1e6 : 5e4;
    }
}

static void drifting(void)
{
    for (unsigned i = 0; i < WINDOWS; i++)
        rate[i] = 1e6 * exp2(4 * sin(2 * M_PI * i / 80));
}

static void noisy(void)
{
    double x = normal();

    for (unsigned i = 0; i < WINDOWS; i++, x = 0.9 * x + 0.44 * normal())
        rate[i] = 1e6 * exp(0.7 * x);
}

static void pausing(void)
{
    for (unsigned i = 0; i < WINDOWS; i++)
        rate[i] = i / 40 % 2 ? 0 : 1e6;
}

static const struct shape {
    const char *name;
    void (*make)(void);
    unsigned stretch; /* windows with one rate; 0: the rate does not step */
    unsigned off;     /* the first guess is wrong by up to a factor of 2 to this power */
} shapes[] = {
    {"constant", constant, WINDOWS, 10}, {"constant-near", constant, WINDOWS, 1},
    {"stepped", stepped, STRETCH, 10},   {"bursty", bursty, 0, 10},
    {"drifting", drifting, 0, 10},       {"noisy", noisy, 0, 10},
    {"pausing", pausing, 0, 10},
};

/* ---- Rules ----------------------------------------------------------------------------------- */

struct rule {
    const char *name;
    unsigned every; /* windows between two updates; 0: hpm/policy/period.c decides */
};
static const struct rule rules[] = {{"published", 5}, {"published-each", 1}, {"events", 0}};

static struct adapted {
    const struct rule *rule;
    struct period p; /* of events */
    double period;   /* of the published rule */
    uint64_t samples[WINDOWS];
    double at[WINDOWS]; /* the period in window i */
    uint64_t left[CPUS], distance[CPUS];
} state;

static uint64_t period_now(void)
{
    return state.rule->every ? (uint64_t)fmin(fmax(state.period, 1), PERIOD_MAX) : state.p.period;
}

static void begin(const struct rule *rule, double first)
{
    const struct period_config config = {
        .samples = WANTED, .window = 1, .min = 1, .max = PERIOD_MAX};

    state.rule = rule;
    state.period = first;
    period_init(&state.p, &config, (uint64_t)first);
    for (unsigned c = 0; c < CPUS; c++)
        state.left[c] = state.distance[c] = 1 + (uint64_t)(uniform() * first);
}

static void update_published(unsigned i)
{
    double sum = 0;
    unsigned n = i + 1 < MEMORY ? i + 1 : MEMORY;

    if ((i + 1) % state.rule->every)
        return;
    for (unsigned k = 0; k < n; k++)
        sum += (double)state.samples[i - k];
    state.period = fmin(fmax(state.period * (sum / n) / WANTED, 1), PERIOD_MAX);
}

/* Lets one CPU's events come. Samples end distances, each of the period drawn when the window
 * began, but for the first. */
static void sample(unsigned cpu, uint64_t events, struct period_window *w)
{
    uint64_t period = period_now();

    if (!state.rule->every)
        period = period_draw(period, &random_state);
    if (events >= state.left[cpu]) {
        events -= state.left[cpu];
        w->samples += 1 + events / period;
        w->events += state.distance[cpu] + events / period * period;
        state.left[cpu] = state.distance[cpu] = period;
        events %= period;
    }
    state.left[cpu] -= events;
}

/* Shortens the distance to the next sample if the period has become shorter, under every rule. */
static void follow(unsigned cpu)
{
    uint64_t period = period_now();

    if (state.left[cpu] > period) {
        state.distance[cpu] -= state.left[cpu] - period;
        state.left[cpu] = period;
    }
}

static void run(void)
{
    for (unsigned i = 0; i < WINDOWS; i++) {
        struct period_window w = {.length = 1};
        state.at[i] = (double)period_now();
        for (unsigned c = 0; c < CPUS; c++)
            sample(c, (uint64_t)fmax(0, rate[i] / CPUS + sqrt(rate[i] / CPUS) * normal()), &w);
        state.samples[i] = w.samples;
        if (state.rule->every)
            update_published(i);
        else
            period_update(&state.p, &w);
        for (unsigned c = 0; c < CPUS; c++)
            follow(c);
    }
}

/* ---- Measures -------------------------------------------------------------------------------- */

struct tally {
    double *settle; /* [stretches] windows until the samples are as wanted from then on */
    double *swing;  /* longest to shortest period in the second half of a stretch */
    unsigned stretches;
    double error, samples; /* sums */
    double peak;
    unsigned long windows;
};

static bool is_settled(unsigned i)
{
    return fabs((double)state.samples[i] - WANTED) <= WANTED * TOLERANCE / 100.0;
}

static void judge_stretch(struct tally *t, unsigned from, unsigned to)
{
    unsigned settled = to;
    double low = INFINITY, high = 0;

    while (settled > from && is_settled(settled - 1))
        settled--;
    for (unsigned i = (from + to) / 2; i < to; i++) {
        low = fmin(low, state.at[i]);
        high = fmax(high, state.at[i]);
    }
    t->settle[t->stretches] = settled - from;
    t->swing[t->stretches++] = high / low;
}

/* Where the rate does not step, the first windows are left out: they depend on the first guess
 * only. */
static void judge(struct tally *t, const struct shape *shape)
{
    for (unsigned i = 0; shape->stretch && i + shape->stretch <= WINDOWS; i += shape->stretch)
        judge_stretch(t, i, i + shape->stretch);
    for (unsigned i = 5; i < WINDOWS; i++) {
        t->error += fabs((double)state.samples[i] - WANTED) / WANTED;
        t->samples += (double)state.samples[i] / WANTED;
        t->peak = fmax(t->peak, (double)state.samples[i] / WANTED);
        t->windows++;
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(double *v, unsigned n, double q)
{
    qsort(v, n, sizeof *v, by_size);
    return v[(unsigned)(q * (n - 1) + 0.5)];
}

static void report(const struct rule *rule, const struct shape *shape, struct tally *t)
{
    printf("RESULT hpm.period rule=%s rate=%s", rule->name, shape->name);
    if (t->stretches)
        printf(" settle_median=%.0f settle_worst=%.0f of=%u swing_median=%.2f swing_worst=%.4g",
               quantile(t->settle, t->stretches, 0.5), quantile(t->settle, t->stretches, 1),
               shape->stretch, quantile(t->swing, t->stretches, 0.5),
               quantile(t->swing, t->stretches, 1));
    printf(" error_percent=%.1f mean=%.2f peak=%.4g\n", 100 * t->error / (double)t->windows,
           t->samples / (double)t->windows, t->peak);
}

static void compare(const struct shape *shape, unsigned trials, unsigned long seed)
{
    for (unsigned r = 0; r < ARRAY_SIZE(rules); r++) {
        struct tally t = {.settle = calloc(trials * WINDOWS / STRETCH + trials, sizeof *t.settle),
                          .swing = calloc(trials * WINDOWS / STRETCH + trials, sizeof *t.swing)};
        for (unsigned i = 0; i < trials; i++) {
            random_state = (seed * 1000003 + i) * 0x9e3779b97f4a7c15 | 1;
            shape->make();
            begin(&rules[r],
                  fmax(logarithmic(exp2(-(double)shape->off), exp2(shape->off)) * 1e6 / WANTED, 1));
            run();
            judge(&t, shape);
        }
        report(&rules[r], shape, &t);
        free(t.settle);
        free(t.swing);
    }
}

/* ---- Bias: which of a loop's stores the samples hit ------------------------------------------ */

enum { MEAN = 100000, SITES_MAX = 64, PERIODS = 41 };

/* Draws the period until the next drain. */
static uint64_t fixed(uint64_t mean)
{
    return mean;
}

/* The published way for buffered samples: 8 bits of the period are random ([S] 3.5.1). */
static uint64_t low_bits(uint64_t mean)
{
    return mean - 128 + (uint64_t)(uniform() * 256);
}

static uint64_t jittered(uint64_t mean)
{
    return mean - mean / 16 + (uint64_t)(uniform() * (double)(mean / 8 + 1));
}

static uint64_t prime(uint64_t mean)
{
    return period_draw(mean, &random_state);
}

static const struct drawing {
    const char *name;
    uint64_t (*draw)(uint64_t mean);
    unsigned drain; /* samples between two draws */
} drawings[] = {
    {"fixed", fixed, 1},       {"low-bits", low_bits, 768}, {"low-bits", low_bits, 10},
    {"jitter", jittered, 768}, {"jitter", jittered, 10},    {"prime", prime, 768},
    {"prime", prime, 10},      {"prime", prime, 1},
};

/* Returns the ratio of samples of the most sampled store to the least sampled one, half a sample
 * added to both. */
static double unevenness(const struct drawing *d, uint64_t mean, unsigned stores, unsigned samples,
                         unsigned *missed)
{
    unsigned long hits[SITES_MAX] = {0}, most = 0, least = ~0ul;
    uint64_t event = (uint64_t)(uniform() * stores), period = 0;

    for (unsigned i = 0; i < samples; i++) {
        if (i % d->drain == 0)
            period = d->draw(mean);
        event += period;
        hits[event % stores]++;
    }
    for (unsigned s = 0; s < stores; s++) {
        most = hits[s] > most ? hits[s] : most;
        least = hits[s] < least ? hits[s] : least;
        *missed += !hits[s];
    }
    return ((double)most + 0.5) / ((double)least + 0.5);
}

/* Over means from MEAN - 20 to MEAN + 20, as in [S] figure 3.14. */
static void bias(const struct drawing *d, unsigned first, unsigned last, unsigned per_store)
{
    unsigned n = 0, missed = 0;
    double *ratio = calloc((last - first + 1) * PERIODS, sizeof *ratio);

    for (unsigned stores = first; stores <= last; stores++)
        for (uint64_t mean = MEAN - PERIODS / 2; mean <= MEAN + PERIODS / 2; mean++)
            ratio[n++] = unevenness(d, mean, stores, stores * per_store, &missed);
    printf("RESULT hpm.period.bias periods=%s drawn_each=%u stores=%u..%u ratio_median=%.2f "
           "ratio_worst=%.4g "
           "unseen_percent=%.1f\n",
           d->name, d->drain, first, last, quantile(ratio, n, 0.5), quantile(ratio, n, 1),
           100.0 * missed / (PERIODS * (double)(last - first + 1) * (first + last) / 2));
    free(ratio);
}

/* ---- All ------------------------------------------------------------------------------------- */

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static const char explanation[] =
    "# Adaptation.  100 samples are wanted in each of 300 windows, of 4 CPUs together.\n"
    "# rule: published: p' = p M / L, M the mean of 20 windows' samples, at every 5th window;\n"
    "#   published-each: at each; events: hpm/policy/period.c, at each.\n"
    "# rate: constant, the first guess 2^-10 to 2^10 of the right period, as with all the others;\n"
    "#   constant-near: 1/2 to 2 of it; stepped: another one each 60 windows, within two orders "
    "of\n"
    "#   magnitude; bursty: 20 to 1, each for 4 windows on average; drifting: up and down by 2^8 "
    "in\n"
    "#   80 windows; noisy: sigma 0.7 of the logarithm, correlated over 10 windows; pausing: 40\n"
    "#   windows on, 40 off.\n"
    "# settle: windows until all that follow bring the samples wanted within 20 percent (of: "
    "never).\n"
    "# swing: longest to shortest period in the second half of a stretch of one rate.\n"
    "# error: off the samples wanted, on average; mean and peak of the samples, 1: as wanted; all\n"
    "#   without the first 5 windows.\n"
    "# Bias.  A loop of N stores, all of them counted; 41 mean periods, 99,980 to 100,020;\n"
    "# 10,000 samples a store, or 1,000 where loops of 2 to 32 stores are tried.\n"
    "# periods: fixed; low-bits: 8 random bits, as published; jitter: uniform within a sixteenth;\n"
    "#   prime: hpm/policy/period_draw.c's; drawn anew after that number of samples.\n"
    "# ratio: samples of the most sampled store to those of the least; unseen: stores without "
    "any.\n";

int main(void)
{
    bool quick = number("QUICK", 0);
    unsigned trials = (unsigned)number("TRIALS", quick ? 20 : 300);
    unsigned long seed = number("SEED", 1);

    if (!trials) {
        fprintf(stderr, "sim_period: TRIALS: must be a number from 1\n");
        return 2;
    }
    printf("# make bench-period TRIALS=%u SEED=%lu\n%s", trials, seed, explanation);
    for (unsigned s = 0; s < ARRAY_SIZE(shapes); s++)
        compare(&shapes[s], trials, seed);
    random_state = seed * 0x9e3779b97f4a7c15 | 1;
    for (unsigned d = 0; d < ARRAY_SIZE(drawings); d++)
        bias(&drawings[d], 8, 8, quick ? 1000 : 10000);
    for (unsigned d = 0; d < ARRAY_SIZE(drawings); d++)
        bias(&drawings[d], 2, quick ? 8 : 32, 1000);
    return 0;
}
