/*
 * Metrics: figures computed from counts. A metric is data: a formula with names of events
 * (hpm/events/event.h), which must have been counted at the same time, in one group. A formula has
 * - operators + - * / and brackets
 * - numbers: 12, 0.5
 * - events: l1d.miss, TOPDOWN:SLOTS
 * - $slots: the width of the pipeline in operations per cycle, which a PMU's table knows
 *
 * A formula is translated once to a program of a small stack machine, which is evaluated for each
 * set of counts. Pure, no floating point: results are whole millionths.
 */
#pragma once
#include "hpm/events/event.h"

#define METRIC_ONE         ((int64_t)1000000) /* a result of 1 */
#define METRIC_EVENTS_MAX  8
#define METRIC_EVENT_TEXT  64
#define METRIC_STEPS_MAX   48
#define METRIC_NUMBERS_MAX 8

struct metric {
    const char *name, *unit, *about;
    const char *pmu; /* only for this PMU; NULL: for every PMU that has the events */
    const char *formula;
};
/* Rows of one name are tried in order. Ended by a NULL name. */
extern const struct metric metrics[];

struct metric_program {
    unsigned events, numbers, steps;
    char event[METRIC_EVENTS_MAX][METRIC_EVENT_TEXT]; /* each once, for event_parse */
    uint64_t number[METRIC_NUMBERS_MAX];              /* millionths */
    struct metric_step {
        uint8_t kind; /* enum metric_step_kind, private */
        uint8_t index;
    } step[METRIC_STEPS_MAX];
};

/* Translates a formula. slots: of the PMU's table; 0: unknown. Returns 0, or -EINVAL with the
 * reason in `err`. */
int metric_parse(const char *formula, unsigned slots, struct metric_program *out, char *err,
                 size_t err_size);

/* Finds the metric for this PMU: the first row of that name with events that the PMU has,
 * translated. `event` gets the program's events, in its order. Returns 0; -ENOENT: there is no such
 * metric, `err` names the nearest; -ENOTSUP: not on this PMU, `err` names what is missing. */
int metric_find(const struct event_pmu *pmu, const char *name, const struct metric **row,
                struct metric_program *program, struct event event[METRIC_EVENTS_MAX], char *err,
                size_t err_size);

enum metric_trouble {
    METRIC_FINE,
    METRIC_EVENT_MISSING,    /* `which` is the event that was not counted */
    METRIC_DIVISION_BY_ZERO, /* `which` is the step of the program */
    METRIC_TOO_LARGE,        /* does not fit into 63 bits of millionths */
};
struct metric_value {
    enum metric_trouble trouble;
    unsigned which;
    int64_t millionths; /* valid if there is no trouble */
};
/* Evaluates a program. count[e] is the count of program->event[e] and valid if bit e of `counted`
 * is set. */
struct metric_value metric_evaluate(const struct metric_program *program, const uint64_t *count,
                                    uint32_t counted);
