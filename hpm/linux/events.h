/*
 * Which event of Vigil's a perf event is: types and configs of perf_event_open(2) against names of
 * hpm/events. An event has a name here only where it counts the same. Pure.
 */
#pragma once
#include "kernel/lib/base.h"
#include <linux/perf_event.h>

/* Counts of a thread that need no counter. */
enum perf_software {
    PERF_TASK_CLOCK, /* ns on a CPU */
    PERF_CPU_CLOCK,  /* the same; of a CPU, ns */
    PERF_FAULTS,     /* page faults */
    PERF_FAULTS_MINOR,
    PERF_FAULTS_MAJOR, /* those that waited for a disk */
    PERF_SWITCHES,
    PERF_MIGRATIONS, /* to another CPU */
    PERF_NOTHING,    /* a dummy event counts nothing */
};

struct perf_found {
    bool is_software;
    enum perf_software software;
    /* Of others: texts for event_parse, up to NULL. The first that the PMU has counts the event. */
    const char *const *names;
    bool has_code; /* there are no names, but a selector's bits */
    uint64_t code;
    /* It samples accesses by what they cost, and counts nothing: stores, or else loads, that took
     * min_latency cycles at least. */
    bool is_access, stores;
    uint32_t min_latency;
};

/* The PMU as files of /sys show it. */
struct perf_pmu {
    uint32_t type;          /* its number, beside PERF_TYPE_RAW */
    uint64_t loads, stores; /* codes of the events that sample accesses */
    unsigned latency_shift; /* where config1 has the least latency of these */
};

/* Finds what an event is, by its type, config, config1 and precise_ip. Returns 0; -ENOENT: there is
 * no such type, or none that counts the same; -EINVAL: a latency that no access has. */
int perf_find(const struct perf_event_attr *a, const struct perf_pmu *pmu, struct perf_found *out);

/* Returns list i of those names, of which each counts the same; NULL: there are no more. */
const char *const *perf_names(unsigned i);

#define PERF_NAME_MAX    64
#define PERF_LATENCY_MAX 65535 /* cycles of an access; longer ones are recorded as that */
/* Writes the event's text for a session, with the modes that the attr leaves: "cycles:u". Returns
 * false if no mode is left, so that nothing is counted. name: of perf_find, or of its code. */
bool perf_name(const struct perf_event_attr *a, const char *name, char out[PERF_NAME_MAX]);
/* Writes the criterion that records what an access event samples, without modes. Loads and stores
 * are recorded together. */
void perf_access_name(const struct perf_found *f, char out[PERF_NAME_MAX]);
/* Writes a code as a text for event_parse: "r412e". */
void perf_code_name(uint64_t code, char out[PERF_NAME_MAX]);
