/* What is read of the machine, as JSON and as Prometheus' text (docs/use/watch.md). */
#pragma once
#include "apps/tools/watchd/machine.h"
#include "apps/tools/watchd/text.h"

/* What the server tells of itself. */
struct watch_self {
    uint32_t pid, readers;
    uint64_t interval_ms;
    uint64_t requests, refused; /* of HTTP, since the beginning */
    uint64_t snapshots_dropped; /* for readers that were too slow */
    bool knobs;                 /* there is a token, so knobs can be turned */
};

/* Writes what does not change: the machine's shape, what it counts, names of figures. */
void show_about(struct text *t, const struct machine *m);
/* Writes where cycles went in the latest reading, and what was decided, for a page that is opened
 * later. */
void show_past(struct text *t, const struct machine *m);
/* Writes the latest reading. */
void show_tick(struct text *t, const struct machine *m, const struct watch_self *self);
/* Writes the boot arguments, as an array. */
void show_knobs(struct text *t);
/* Writes all totals as Prometheus reads them. */
void show_metrics(struct text *t, const struct machine *m, const struct watch_self *self);

/* Names of the causes of stalls and sources of data, in the order of struct sys_breakdown. */
extern const char *const show_causes[7], *const show_sources[7];
