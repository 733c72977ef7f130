/*
 * How many events lie between two samples.
 *
 * - struct period adapts the mean period of one criterion so that a window brings about the number
 *   of samples that is wanted. The published rule is p' = p M / L, M being the moving average of
 *   the samples of the last windows ([S] 3.4.3). It averages samples that were taken with different
 *   periods, so each change is followed by others, back and forth. Here events are averaged
 *   instead, which no period changes: p' = sum(s_i p_i) / (n L). A constant rate is right after one
 *   window, from any period.
 * - struct governor lengthens all periods of a session so that sampling costs no more time than its
 *   limit.
 * - period_draw draws the period of the next samples. A constant period falls into step with loops
 *   ([S] 3.5: up to 100 times as many samples of one store as of its neighbour); a random prime
 *   near the mean does not.
 *
 * The present period of a criterion is period_draw(governor_stretched(g, p.period), &random). The
 * caller remembers what a sample stands for: the events since the sample before. The caller does
 * not set a counter anew when the period changes, for it would lose its count, and rare
 * events would never be sampled. A new period begins behind the next sample, unless that is further
 * away than the new period.
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "kernel/lib/base.h"

#define PERIOD_MAX         ((uint64_t)1 << 32)
#define PERIOD_SAMPLES_MAX ((uint64_t)1 << 20) /* wanted in a window */
#define PERIOD_WINDOW_MAX  ((uint64_t)1 << 40) /* length of a window, in any unit */
#define PERIOD_WINDOWS     4                   /* windows that are averaged over: n above */
#define PERIOD_KNOWN       16 /* samples that these windows need for the average to be believed */
#define PERIOD_SHRINK_MAX  8 /* with fewer samples the period is shortened by at most this factor */
/* most samples that a burst may bring, in multiples of what is wanted */
#define PERIOD_BURST 16

/* ---- Adaptation ------------------------------------------------------------------------------ */

struct period_config {
    uint64_t samples;  /* wanted in a window, all CPUs together; 1..PERIOD_SAMPLES_MAX */
    uint64_t window;   /* length of a window: ns, cycles, ...; 1..PERIOD_WINDOW_MAX */
    uint64_t min, max; /* limits of the period; 1 <= min <= max <= PERIOD_MAX */
};

/* What a window brought, all CPUs together. */
struct period_window {
    uint64_t samples; /* taken, lost samples included */
    /* that the samples stood for: the sum of the distances of each to the one before */
    uint64_t events;
    /* In the config's unit; 0: the window is ignored. Time in which nothing ran may be left out. */
    uint64_t length;
};

struct period {
    uint64_t period; /* mean, config.min..config.max */
    /* Private. */
    struct period_config config;
    /* A ring; windows without length are unused. */
    struct period_window window[PERIOD_WINDOWS];
    unsigned next;
    uint64_t longest; /* longest period that was right, slowly forgotten */
};

/* Starts adapting. first: a guess, which is brought into range; a wrong one costs only the first
 * window. config is valid. */
void period_init(struct period *p, const struct period_config *config, uint64_t first);
/* Ends a window. Returns p->period, which may have changed. It becomes at most PERIOD_SHRINK_MAX
 * times shorter, unless PERIOD_KNOWN samples support more. It never becomes so short that the rate
 * of earlier windows would bring more than PERIOD_BURST times the samples wanted; earlier rates
 * lose half of their weight in 22 windows. So there is no flood after a pause or a quiet
 * stretch. */
uint64_t period_update(struct period *p, const struct period_window *w);
/* Returns what is wrong, or NULL. */
const char *period_check(const struct period *p);

/* ---- Cost ------------------------------------------------------------------------------------ */

#define GOVERNOR_ONE ((uint64_t)1 << 16) /* periods are not stretched */
#define GOVERNOR_MAX ((uint64_t)1 << 40)

enum governor_reason {
    GOVERNOR_IDLE,     /* periods are as asked for */
    GOVERNOR_OVERHEAD, /* longer, because sampling would cost more than its limit */
    GOVERNOR_STORM,    /* longer, because there was a storm of interrupts */
};

/* The factor by which periods are stretched. One governor for all periods that share a limit. */
struct governor {
    /* In 1 / GOVERNOR_ONE; GOVERNOR_ONE..GOVERNOR_MAX. */
    uint64_t stretch;
    enum governor_reason reason;
};

void governor_init(struct governor *g);
/* Ends a window in which `spent` of `all` cycles of the CPUs' time went to sampling. all: at most
 * 2^54. permille: the limit, in thousandths; 1..1000. Lengthens periods at once, as far as needed;
 * shortens them by at most an eighth a window, so that a limit once found is not passed again and
 * again. Returns g->reason. */
enum governor_reason governor_update(struct governor *g, uint64_t spent, uint64_t all,
                                     unsigned permille);
/* Makes all periods `factor` times as long after a storm of interrupts. governor_update shortens
 * them again. */
void governor_storm(struct governor *g, uint64_t factor);
/* Returns `period` stretched: at most PERIOD_MAX, or `period` itself if that is longer. */
uint64_t governor_stretched(const struct governor *g, uint64_t period);
/* Returns what is wrong, or NULL. */
const char *governor_check(const struct governor *g);

/* ---- Random primes --------------------------------------------------------------------------- */

/* Returns a random prime around `mean`, within a sixteenth of it and a gap between primes; its
 * expectation is `mean`. 1 gives 1; behind the last prime below 2^32 (periods of time may be that
 * long) any number is drawn. *random: state, not 0, different for each CPU. Takes 10,000 cycles
 * (mean 10^5) to 25,000 (mean 2^32), which is for each drain of a buffer, not for each sample: a
 * caller without a buffer draws some in advance. */
uint64_t period_draw(uint64_t mean, uint64_t *random);
/* Returns whether n, which is less than 2^32, is prime. */
bool period_is_prime(uint64_t n);
