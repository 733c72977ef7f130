/*
 * How many events lie between two samples.
 *
 * - struct period adapts the mean period of one criterion so that about as many samples come in a window as are wanted.
 *   Published rule: p' = p M / L, M the moving average of the samples of the last windows ([S] 3.4.3).  It averages samples that
 *   were taken with different periods, so each change is followed by others, back and forth.  Here it is events that are
 *   averaged, which no period changes: p' = sum(s_i p_i) / (n L).  A constant rate is right after one window, from any period.
 * - struct governor lengthens all periods of a session so that sampling costs no more of the time than it may.
 * - period_draw: the period of the next samples.  One that is always the same falls into step with loops ([S] 3.5: up to 100 times
 *   as many samples of one store as of its neighbour); a random prime near the mean does not.
 *
 * The present period of a criterion is period_draw(governor_stretched(g, p.period), &random).  What period a sample was taken with
 * is the caller's to remember: it is what the sample stands for.  A new period is to take effect behind the next sample;
 * a counter that is set anew instead forgets what it has counted, and rare events are never sampled.
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "kernel/base.h"

#define PERIOD_MAX         ((uint64_t)1 << 32)
#define PERIOD_SAMPLES_MAX ((uint64_t)1 << 20) /* wanted in a window                                   */
#define PERIOD_WINDOW_MAX  ((uint64_t)1 << 40) /* its length, in any unit                              */
#define PERIOD_WINDOWS     8                   /* that are averaged over: n above                      */
#define PERIOD_KNOWN       16                  /* samples that it takes to be believed                 */
#define PERIOD_SHRINK_MAX  8                   /* fewer shorten the period by at most this factor      */

/* ---- Adaptation ---- */

struct period_config {
    uint64_t samples;  /* wanted in a window, of all CPUs together; 1..PERIOD_SAMPLES_MAX */
    uint64_t window;   /* its length: ns, cycles, ...; 1..PERIOD_WINDOW_MAX               */
    uint64_t min, max; /* of the period; 1 <= min <= max <= PERIOD_MAX                    */
};

/* What one window brought, all CPUs together. */
struct period_window {
    uint64_t samples; /* taken, lost ones included                                  */
    uint64_t events;  /* they stood for: the sum of the periods each was taken with */
    uint64_t length;  /* in the config's unit; 0: ignored.  Time in which nothing ran may be left out */
};

struct period {
    uint64_t period; /* mean, config.min..config.max */
    /* Private. */
    struct period_config config;
    struct period_window window[PERIOD_WINDOWS]; /* a ring */
    unsigned windows, next;
};

/* first: a guess, brought into range; the only price of a wrong one is the first window.  config is valid. */
void period_init(struct period *p, const struct period_config *config, uint64_t first);
/* A window has ended.  Returns p->period, which may have changed.
 * It is shortened by more than PERIOD_SHRINK_MAX at a time only where at least PERIOD_KNOWN samples say so. */
uint64_t period_update(struct period *p, const struct period_window *w);
/* What is wrong, or NULL. */
const char *period_check(const struct period *p);

/* ---- Cost ---- */

#define GOVERNOR_ONE ((uint64_t)1 << 16) /* periods are left as they are */
#define GOVERNOR_MAX ((uint64_t)1 << 40)

enum governor_reason {
    GOVERNOR_IDLE,     /* periods are as they were asked for                    */
    GOVERNOR_OVERHEAD, /* longer, for sampling would cost more than it may      */
    GOVERNOR_STORM,    /* longer, for there were too many interrupts in a burst */
};

/* How much longer periods are than they would be.  One for all that share a limit. */
struct governor {
    uint64_t stretch; /* times GOVERNOR_ONE, GOVERNOR_ONE..GOVERNOR_MAX; applies to all their periods */
    enum governor_reason reason;
};

void governor_init(struct governor *g);
/* A window has ended: of `all` cycles of the CPUs' time `spent` went to sampling, of which at most permille thousandths may; 1..1000.
 * Lengthens at once, as far as it takes; comes back by an eighth a window at most, so that a limit once found is not passed again and again.
 * Returns g->reason. */
enum governor_reason governor_update(struct governor *g, uint64_t spent, uint64_t all, unsigned permille);
/* Interrupts for samples in some time of which there may be at most limit, from 1, in it.  1: fine; else a power of two, 2..2^32: periods so
 * many times as long would have kept to the limit.  Cheap enough for the interrupt itself. */
uint64_t period_storm(uint64_t interrupts, uint64_t limit);
/* All periods become so many times as long, as period_storm says; governor_update brings them back. */
void governor_storm(struct governor *g, uint64_t factor);
/* Of a period.  At most PERIOD_MAX, or the period itself where it is longer. */
uint64_t governor_stretched(const struct governor *g, uint64_t period);
/* What is wrong, or NULL. */
const char *governor_check(const struct governor *g);

/* ---- Random primes ---- */

/*
 * A random prime around mean, at most a sixteenth and a gap between primes from it, whose expectation is mean.  1 gives 1; behind
 * the last prime below 2^32 (times may be so long) any number does.  *random: state, not 0, different for each CPU.
 * Takes some 50,000 simple instructions at most, 5,000 on average: for each drain of a buffer, not for each sample; who
 * samples without a buffer draws some in advance.
 */
uint64_t period_draw(uint64_t mean, uint64_t *random);
/* n < 2^32. */
bool period_is_prime(uint64_t n);
