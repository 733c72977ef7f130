/*
 * The experts of the chooser, each with a state of its own: the set of the pages that it would have
 * resident. All these are behind the chooser's state, and what they have of a node is behind the
 * chooser's link to it. See chooser.h.
 */
#include "mm/policy/replace/chooser.h"

enum {
    FATES = 4,        /* times the frames: pages with a known fate, before the counts are halved */
    FATES_FIRST = 16, /* a 16th of the frames are counted as used at first */
};

const struct replace_ops *const chooser_expert[EXPERTS] = {
    &replace_lru, &replace_wtinylfu_margin, &replace_lirs_recent, &replace_gap, &replace_arc,
    &replace_mru};

/* ---- Memory ---------------------------------------------------------------------------------- */

static size_t expert_bytes(uint32_t i)
{
    return chooser_expert[i]->bytes(8) - 8 * chooser_expert[i]->per_node;
}

size_t chooser_state_bytes(void)
{
    size_t bytes = sizeof(struct chooser);

    for (uint32_t i = 0; i < EXPERTS; i++)
        bytes += expert_bytes(i);
    return bytes;
}

struct chooser_page *chooser_page(const struct chooser *s, uint32_t node)
{
    return (struct chooser_page *)((char *)link_of(&s->base.link, node) + CHOOSER_PAGE_AT);
}

int chooser_sets_init(struct chooser *s, const struct replace_config *config,
                      const struct replace_layout *place)
{
    size_t at = sizeof *s, within = sizeof(struct replace_link);
    int rc = 0;

    for (uint32_t i = 0; i < EXPERTS && !rc; i++) {
        struct replace_config its = *config;
        its.place = (struct replace_layout){.at = place->at + (int64_t)(within - at),
                                            .stride = place->stride};
        s->at[i] = at;
        rc = chooser_expert[i]->init(chooser_state(s, i), &its);
        at += expert_bytes(i);
        within += chooser_expert[i]->per_node;
    }
    ASSERT(rc || within == CHOOSER_PAGE_AT);
    return rc;
}

/* ---- Sets ------------------------------------------------------------------------------------ */

uint32_t chooser_lacking(const struct chooser *s, uint32_t node)
{
    uint32_t lack = 0;

    for (uint32_t i = 0; i < EXPERTS; i++)
        lack |= (uint32_t)!chooser_in_set(s, i, node) << i;
    return lack;
}

void chooser_set_enter(struct chooser *s, uint32_t i, uint32_t node)
{
    chooser_expert[i]->enter(chooser_state(s, i), node, 0);
    s->size[i]++;
}

void chooser_set_leave(struct chooser *s, uint32_t i, uint32_t node)
{
    chooser_expert[i]->leave(chooser_state(s, i), node);
    s->size[i]--;
    chooser_page(s, node)->owed &= ~(1u << i);
    if (!base_resident(s, node)) {
        s->far[i]--;
        s->left[i] += chooser_page(s, node)->uses > 1;
    } else if (i == s->current) {
        chooser_make_stray(s, node);
    }
}

void chooser_owe(struct chooser *s, uint32_t node, uint32_t experts)
{
    uint8_t *owed = &chooser_page(s, node)->owed;

    *owed = (uint8_t)((*owed & LOOKED_AT) | experts);
}

bool chooser_hears(struct chooser *s, uint32_t i, uint32_t node)
{
    uint8_t *owed = &chooser_page(s, node)->owed;
    bool hears = *owed >> i & 1;

    *owed &= ~(1u << i);
    return hears;
}

uint32_t chooser_to_fetch(struct chooser *s, uint32_t i)
{
    uint64_t used = s->used[i] + s->base.frames / FATES_FIRST + 1, all = used + s->left[i];

    if (all > (uint64_t)FATES * s->base.frames) {
        s->used[i] /= 2;
        s->left[i] /= 2;
    }
    return (uint32_t)(s->far[i] * used / all);
}

const char *chooser_set_check(const struct chooser *s, uint32_t i)
{
    const char *broken = chooser_expert[i]->check(chooser_state(s, i));
    struct replace_report report;
    uint32_t far = 0;

    if (broken)
        return broken;
    for (uint32_t n = 0; n < s->base.nodes; n++)
        far += chooser_in_set(s, i, n) && !base_resident(s, n);
    chooser_expert[i]->report(chooser_state(s, i), &report);
    if (report.resident != s->size[i] || (i != s->current && s->size[i] > s->largest))
        return "chooser: a set is miscounted";
    return far == s->far[i] ? NULL : "chooser: pages of a set that are not resident are miscounted";
}
