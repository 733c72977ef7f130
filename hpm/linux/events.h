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
};

/* Finds what an event is. Returns 0; -ENOENT: there is no such type, or none that counts the same.
 * raw_type: the number that the PMU has in /sys, beside PERF_TYPE_RAW. */
int perf_find(uint32_t type, uint64_t config, uint32_t raw_type, struct perf_found *out);

/* Returns list i of those names, of which each counts the same; NULL: there are no more. */
const char *const *perf_names(unsigned i);

#define PERF_NAME_MAX 64
/* Writes the event's text for a session, with the modes that the attr leaves: "cycles:u". Returns
 * false if no mode is left, so that nothing is counted. name: of perf_find, or of its code. */
bool perf_name(const struct perf_event_attr *a, const char *name, char out[PERF_NAME_MAX]);
/* Writes a code as a text for event_parse: "r412e". */
void perf_code_name(uint64_t code, char out[PERF_NAME_MAX]);
