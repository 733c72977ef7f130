/* What an Intel processor reports of its counters (CPUID leaf 0AH, IA32_PERF_CAPABILITIES), and
 * which events it lacks. */
#pragma once
#include "hpm/events/event.h"
#include "hpm/pmu/x86/intel_regs.h"

struct intel_ability {
    struct event_identity id;
    unsigned version, counters, width, fixed_width;
    uint32_t fixed;        /* bit f: fixed counter f */
    uint32_t present;      /* bit n: architectural event n, if below `enumerated` */
    unsigned enumerated;   /* architectural events that the processor knows of */
    uint64_t select;       /* bits that a selector may have: event, unit mask and others */
    uint64_t capabilities; /* IA32_PERF_CAPABILITIES; 0: there is none */
    bool hypervisor, pdcm, force_abort;
};

/* Selectors of the "Pre-defined Architectural Performance Events"; bit n of leaf 0AH's EBX stands
 * for event n. */
extern const uint16_t intel_architectural[];
enum { ARCH_CYCLES, ARCH_INSTRUCTIONS };

/* Reads what this CPU has. Returns false if it has no such counters. */
bool intel_ask(struct intel_ability *out);
bool intel_has_event(const struct intel_ability *has, unsigned event);
/* Returns the events that the CPU lacks. usable: the programmable counters. */
struct event_lacks intel_lacks(const struct intel_ability *has, uint32_t usable);

/* Returns whether there is fixed counter 3, and the metrics of the slots it counts. */
static inline bool intel_has_metrics(const struct intel_ability *has)
{
    return (has->capabilities & CAPS_PERF_METRICS) && (has->fixed >> FIXED_SLOTS & 1);
}

/* Returns whether IA32_PERF_GLOBAL_CTRL and _STATUS exist. Without them, in version 1, each
 * selector has an enable bit, and overflows are not reported. */
static inline bool intel_is_global(const struct intel_ability *has)
{
    return has->version >= 2;
}
