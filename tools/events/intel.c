/*
 * Intel's core PMUs. libpfm4's `code` and `ucode` are laid out as IA32_PERFEVTSELx. The low eight
 * bits of a ucode matter only where they override the event's (INTEL_X86_CODE_OVERRIDE).
 */
#include "found.h"
#include "pfmlib_priv.h"
#include "pfmlib_intel_x86_priv.h"
#include "events/intel_skl_events.h"
#include "events/intel_icl_events.h"
#include "events/intel_spr_events.h"
#ifdef HAVE_intel_gnr_pe
#include "events/intel_gnr_events.h"
#endif
#include "tools/events/intel_correct.h"
#include "tools/events/selectors.h"
#include <stdio.h>
#include <stdlib.h>

#define LATENCY_CYCLES  INTEL_X86_LDLAT_DEFAULT
#define FRONTEND_CYCLES 0xfff00 /* of MSR_PEBS_FRONTEND */
#define FRONTEND_SHIFT  8
#define FIXED_FIRST     32   /* first fixed counter's bit in a counter mask */
#ifndef INTEL_X86_DEPRECATED /* in versions after 4.13 */
#define INTEL_X86_DEPRECATED 0x80000
#endif
#define KNOWN_EVENT_FLAGS                                                          \
    (INTEL_X86_NCOMBO | INTEL_X86_PEBS | INTEL_X86_NHM_OFFCORE | INTEL_X86_FIXED | \
     INTEL_X86_FRONTEND | INTEL_X86_SPEC | INTEL_X86_DEPRECATED)
#define KNOWN_UNIT_FLAGS                                                                           \
    (INTEL_X86_NCOMBO | INTEL_X86_PEBS | INTEL_X86_DFL | INTEL_X86_EXCL_GRP_GT | INTEL_X86_FIXED | \
     INTEL_X86_NO_AUTOENCODE | INTEL_X86_CODE_OVERRIDE | INTEL_X86_LDLAT | INTEL_X86_FETHR |       \
     INTEL_X86_SPEC | INTEL_X86_DEPRECATED)

struct intel_family {
    struct source_pmu pmus[4];
    pfm_pmu_t models[4]; /* libpfm4's PMUs with the same events */
    const intel_x86_entry_t *events;
    size_t count;
    uint32_t counters;
    bool any_thread, perf_metrics;
};

/* Returns the register that the event's parts go into, besides the selector. */
static unsigned exclusion_of(const intel_x86_entry_t *e)
{
    if (e->flags & INTEL_X86_FRONTEND)
        return EVENT_FRONTEND;
    if (!(e->flags & INTEL_X86_NHM_OFFCORE))
        return EVENT_SHARES_NOTHING;
    /* SDM volume 3, "Off-core Response". On other events the flag is a mistake. */
    switch (e->code) {
    case 0x1b7:
    case 0x12a:
        return EVENT_OFFCORE_0;
    case 0x1bb:
    case 0x12b:
        return EVENT_OFFCORE_1;
    }
    return EVENT_SHARES_NOTHING;
}

static struct event_limit limit_of(uint64_t mask, unsigned exclusion)
{
    return (struct event_limit){
        .counters = (uint32_t)mask,
        .fixed =
            mask >> FIXED_FIRST ? (uint8_t)__builtin_ctzll(mask >> FIXED_FIRST) : EVENT_NO_FIXED,
        .exclusion = (uint8_t)exclusion,
    };
}

static unsigned variants_of(const struct intel_family *f, unsigned model)
{
    unsigned variants = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(f->pmus) && f->pmus[i].name; i++)
        if (!model || !f->models[i] || model == f->models[i])
            variants |= 1u << i;
    return variants;
}

static unsigned unit_flags_of(const intel_x86_umask_t *u)
{
    return (u->uflags & INTEL_X86_NCOMBO ? UNIT_ALONE : 0) |
           (u->uflags & INTEL_X86_DFL ? UNIT_DEFAULT : 0) |
           (u->uflags & INTEL_X86_EXCL_GRP_GT ? UNIT_ENDS : 0) |
           (u->uflags & INTEL_X86_CODE_OVERRIDE ? UNIT_OVERRIDES : 0) |
           (u->uflags & INTEL_X86_PEBS ? UNIT_PRECISE : 0);
}

/* ---- Second names: PART[:PART...][:c=N][:e][:i][:t] of the same event ------------------------ */

static uint64_t code_of(const intel_x86_entry_t *e, const intel_x86_umask_t *u);

static bool modifier_code(const char *word, uint64_t *code)
{
    static const struct {
        char letter;
        unsigned bit;
    } flags[] = {{'e', INTEL_X86_EDGE_BIT}, {'i', INTEL_X86_INV_BIT}, {'t', INTEL_X86_ANY_BIT}};

    if (word[0] == 'c' && word[1] == '=') {
        *code |= strtoull(word + 2, NULL, 10) << INTEL_X86_CMASK_BIT;
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        if (word[0] == flags[i].letter && (!word[1] || !strcmp(word + 1, "=1"))) {
            *code |= (uint64_t)1 << flags[i].bit;
            return true;
        }
    return false;
}

static bool word_code(const intel_x86_entry_t *e, const intel_x86_umask_t *of, const char *word,
                      uint64_t *code)
{
    for (unsigned i = 0; i < e->numasks; i++) {
        const intel_x86_umask_t *u = &e->umasks[i];
        if (u == of || strcmp(u->uname, word) ||
            (u->umodel && of->umodel && u->umodel != of->umodel))
            continue;
        *code |= code_of(e, u);
        return true;
    }
    return modifier_code(word, code);
}

/* Returns the code of an event or part. For a second name it is the code of the event it stands
 * for, as in libpfm4. */
static uint64_t code_of(const intel_x86_entry_t *e, const intel_x86_umask_t *u)
{
    char word[64];
    uint64_t code = 0;

    for (const char *p = u->uequiv; p && *p; p += *p == ':') {
        size_t n = strcspn(p, ":");
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (!word_code(e, u, word, &code)) {
            fprintf(stderr, "events: %s:%s goes by its own code: no %s\n", e->name, u->uname, word);
            return u->ucode;
        }
        p += n;
    }
    return u->uequiv ? code : u->ucode;
}

static uint64_t frontend_of(uint64_t code, const intel_x86_umask_t *u)
{
    uint64_t value = code >> 8;

    if (!(u->uflags & INTEL_X86_FETHR))
        return value & ~(uint64_t)FRONTEND_CYCLES;
    return value & FRONTEND_CYCLES ? value : value | INTEL_X86_FETHR_DEFAULT << FRONTEND_SHIFT;
}

static const char *trouble_with_unit(const intel_x86_umask_t *u)
{
    if (u->uflags & ~KNOWN_UNIT_FLAGS || u->umodmsk_req || u->ufilters[0] || u->ufilters[1])
        return "a part of a kind that the tables have no form for";
    return u->grpid > 3 ? "more than four groups of parts" : NULL;
}

static const char *add_units(const struct intel_family *f, const intel_x86_entry_t *e,
                             struct source_event *out)
{
    struct source_unit *units = source_alloc(e->numasks, sizeof *units);
    unsigned exclusion = exclusion_of(e);

    for (unsigned i = 0; i < e->numasks; i++) {
        const intel_x86_umask_t *from = &e->umasks[i];
        struct source_unit *u = &units[i];
        const char *trouble = trouble_with_unit(from);
        uint64_t code = code_of(e, from);

        if (trouble)
            return trouble;
        u->name = from->uname;
        u->group = from->grpid;
        u->flags = unit_flags_of(from);
        u->variants = variants_of(f, from->umodel);
        if (exclusion) {
            u->has_extra = true;
            u->extra = exclusion == EVENT_FRONTEND ? frontend_of(code, from) : code >> 8;
        } else {
            u->config = u->flags & UNIT_OVERRIDES ? code : code & ~(uint64_t)0xff;
        }
        if (from->ucntmsk) {
            u->has_limit = true;
            u->limit = limit_of(from->ucntmsk, exclusion);
        }
        if (from->uflags & INTEL_X86_LDLAT) {
            u->has_extra = u->has_limit = true;
            u->extra = LATENCY_CYCLES;
            u->limit = limit_of(from->ucntmsk ? from->ucntmsk : e->cntmsk, EVENT_LATENCY);
        }
        intel_correct_part(f->pmus[0].name, f->perf_metrics, out, u, f->counters);
        uint64_t config = u->flags & UNIT_OVERRIDES ? u->config : u->config | out->config;
        trouble = intel_trouble(config, u->has_limit ? &u->limit : &out->limit);
        if (trouble)
            return trouble;
    }
    out->units = units;
    out->unit_count = e->numasks;
    return NULL;
}

static const char *convert(const struct intel_family *f, const intel_x86_entry_t *e,
                           struct source_event *out)
{
    unsigned exclusion = exclusion_of(e);

    if (e->flags & ~KNOWN_EVENT_FLAGS || e->modmsk_req)
        return "of a kind that the tables have no form for";
    *out = (struct source_event){
        .name = e->name,
        .config = e->code,
        .limit = limit_of(e->cntmsk ? e->cntmsk : f->counters, exclusion),
        .groups = e->ngrp,
        .variants = variants_of(f, e->model),
        .precise = e->flags & INTEL_X86_PEBS,
        .shared = exclusion || !strcmp(e->name, "TOPDOWN") ? NULL : e->umasks,
    };
    if (exclusion == EVENT_OFFCORE_0 || exclusion == EVENT_OFFCORE_1)
        out->shared = e->umasks; /* limits belong to events, so both have the same parts */
    intel_correct_event(f->pmus[0].name, out);
    return e->numasks ? add_units(f, e, out) : intel_trouble(out->config, &out->limit);
}

static void add_family(const struct intel_family *f)
{
    struct source_family out = {.raw_counters = f->counters,
                                .raw_bits = INTEL_RAW_BITS | (uint64_t)f->any_thread
                                                                 << INTEL_X86_ANY_BIT,
                                .select_bits = 0xff};

    memcpy(out.pmus, f->pmus, sizeof f->pmus);
    out.events = source_alloc(f->count + 1, sizeof *out.events);
    for (size_t i = 0; i < f->count; i++) {
        const char *trouble = convert(f, &f->events[i], &out.events[out.count]);
        if (trouble)
            left_out(f->pmus[0].name, f->events[i].name, trouble);
        else
            out.count++;
    }
    if (f->perf_metrics)
        out.events[out.count++] =
            intel_perf_metrics(f->models[0] == PFM_PMU_INTEL_ICL, variants_of(f, 0));
    family_add(&out);
}

void intel_families(void)
{
    static const struct intel_family families[] = {
        {
            .pmus = {{"skylake", 4}, {"skylake-sp", 4}, {"cascadelake", 4}},
            .models = {PFM_PMU_INTEL_SKL, PFM_PMU_INTEL_SKX, PFM_PMU_INTEL_CLX},
            .events = intel_skl_pe,
            .count = ARRAY_SIZE(intel_skl_pe),
            .counters = 0xff,
            .any_thread = true,
        },
        {
            .pmus = {{"icelake", 5}, {"icelake-sp", 5}},
            .models = {PFM_PMU_INTEL_ICL, PFM_PMU_INTEL_ICX},
            .events = intel_icl_pe,
            .count = ARRAY_SIZE(intel_icl_pe),
            .counters = 0xff,
            .perf_metrics = true,
        },
        {
            .pmus = {{"sapphirerapids", 6}},
            .models = {PFM_PMU_INTEL_SPR},
            .events = intel_spr_pe,
            .count = ARRAY_SIZE(intel_spr_pe),
            .counters = 0xff,
            .perf_metrics = true,
        },
#ifdef HAVE_intel_gnr_pe
        {
            .pmus = {{"graniterapids", 6}},
            .events = intel_gnr_pe,
            .count = ARRAY_SIZE(intel_gnr_pe),
            .counters = 0xff,
            .perf_metrics = true,
        },
#endif
    };

    for (size_t i = 0; i < ARRAY_SIZE(families); i++)
        add_family(&families[i]);
}
