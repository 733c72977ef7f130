/* What an Intel processor says of its counters (CPUID leaf 0AH, IA32_PERF_CAPABILITIES), and which
 * events that leaves out. */
#pragma once
#include "hpm/events/event.h"
#include "hpm/pmu/x86/intel_regs.h"

struct intel_ability {
    struct event_identity who;
    unsigned version, counters, width, fixed_width;
    uint32_t fixed;        /* bit f: fixed counter f */
    uint32_t present;      /* bit n: architectural event n, if it is below `enumerated` */
    unsigned enumerated;   /* so many of them does it speak of */
    uint64_t select;       /* bits that a selector may have: event, unit mask and the like */
    uint64_t capabilities; /* IA32_PERF_CAPABILITIES, 0 without */
    bool hypervisor, pdcm, force_abort;
};

/* Selectors of the "Pre-defined Architectural Performance Events"; bit n of leaf 0AH's EBX is about
 * event n. */
extern const uint16_t intel_architectural[];
enum { ARCH_CYCLES, ARCH_INSTRUCTIONS };

/* Asks this CPU. False: it has no such counters. */
bool intel_ask(struct intel_ability *out);
bool intel_has_event(const struct intel_ability *has, unsigned event);
/* What events the CPU lacks. usable: programmable counters. */
struct event_lacks intel_lacks(const struct intel_ability *has, uint32_t usable);

/* Fixed counter 3, and what became of the slots it counts. */
static inline bool intel_has_metrics(const struct intel_ability *has)
{
    return (has->capabilities & CAPS_PERF_METRICS) && (has->fixed >> FIXED_SLOTS & 1);
}

/* Without IA32_PERF_GLOBAL_CTRL and _STATUS version 1 has a bit in each selector only, and no word
 * of overflows. */
static inline bool intel_is_global(const struct intel_ability *has)
{
    return has->version >= 2;
}
