/* AMD's core PMUs. Every counter counts every event (PPR, "Core Performance Monitor Counters"). */
#include "found.h"
#include "pfmlib_priv.h"
#include "pfmlib_amd64_priv.h"
#include "events/amd64_events_fam17h_zen2.h"
#include "events/amd64_events_fam19h_zen3.h"
#include "events/amd64_events_fam19h_zen4.h"
#ifdef HAVE_amd64_fam1ah_zen5_pe
#include "events/amd64_events_fam1ah_zen5.h"
#endif
#include "tools/events/selectors.h"
#include "tools/events/source.h"

/* Retired SSE/AVX FLOPs may grow by more than the 15 that one counter takes in a cycle. An even
 * counter takes more when the odd one above it counts event 0xfff (PPR, "Large Increment per Cycle
 * Events"). */
#define FLOPS         0x03
#define EVEN_COUNTERS 0x15

static const char *convert(const amd64_entry_t *e, struct source_event *out)
{
    struct source_unit *units = source_alloc(e->numasks, sizeof *units);

    if (e->flags & ~AMD64_FL_NCOMBO || e->code > 0xfff)
        return "of a kind that the tables have no form for";
    for (unsigned i = 0; i < e->numasks; i++) {
        const amd64_umask_t *u = &e->umasks[i];
        if (u->uflags & ~(AMD64_FL_NCOMBO | AMD64_FL_DFL) || u->grpid > 3 || u->ucode > 0xff)
            return "a part of a kind that the tables have no form for";
        units[i] = (struct source_unit){
            .name = u->uname,
            .config = (uint64_t)u->ucode << 8,
            .flags = (u->uflags & AMD64_FL_NCOMBO ? UNIT_ALONE : 0) |
                     (u->uflags & AMD64_FL_DFL ? UNIT_DEFAULT : 0),
            .group = u->grpid,
            .variants = 1,
        };
    }
    *out = (struct source_event){
        .name = e->name,
        .config = AMD_EVENT_BITS(e->code),
        .limit = {e->code == FLOPS ? EVEN_COUNTERS : AMD_COUNTERS, EVENT_NO_FIXED,
                  EVENT_SHARES_NOTHING},
        .groups = e->ngrp,
        .variants = 1,
        .wide = e->code == FLOPS,
        .units = units,
        .unit_count = e->numasks,
        .shared = e->umasks,
    };
    return NULL;
}

static void add_family(const char *name, unsigned slots, const amd64_entry_t *events, size_t count)
{
    struct source_family out = {.pmus = {{name, slots}},
                                .raw_counters = AMD_COUNTERS,
                                .raw_bits = AMD_RAW_BITS,
                                .select_bits = AMD_EVENT_BITS(0xfffull)};

    out.events = source_alloc(count, sizeof *out.events);
    for (size_t i = 0; i < count; i++) {
        const char *trouble = convert(&events[i], &out.events[out.count]);
        if (trouble)
            left_out(name, events[i].name, trouble);
        else
            out.count++;
    }
    family_add(&out);
}

void amd_families(void)
{
    add_family("zen2", 6, amd64_fam17h_zen2_pe, ARRAY_SIZE(amd64_fam17h_zen2_pe));
    add_family("zen3", 6, amd64_fam19h_zen3_pe, ARRAY_SIZE(amd64_fam19h_zen3_pe));
    add_family("zen4", 6, amd64_fam19h_zen4_pe, ARRAY_SIZE(amd64_fam19h_zen4_pe));
#ifdef HAVE_amd64_fam1ah_zen5_pe
    add_family("zen5", 8, amd64_fam1ah_zen5_pe, ARRAY_SIZE(amd64_fam1ah_zen5_pe));
#endif
}
