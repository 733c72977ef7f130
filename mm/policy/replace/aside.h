/*
 * Two lists of used pages, those set aside and the others, and prefetched pages: what policies
 * share that name the page used last. Internal to mm/replace_*.c.
 */
#pragma once
#include "mm/policy/replace/list.h"

enum { OTHERS = 1, ASIDE, UNUSED_LIST };

struct aside {
    uint32_t nodes, frames;
    struct replace_list others, aside; /* latest use first */
    struct replace_unused unused;
    uint32_t offered; /* the victim named last, if nothing came after */
    uint32_t tried;   /* pages set aside that were offered for this eviction */
    uint32_t walked;  /* set aside last in this eviction, or LINK_END */
    uint32_t spare;
    struct replace_links link;
};

/* What replace_ops says of each, for a policy whose state this is. */
size_t aside_bytes(uint32_t nodes);
int aside_init(void *state, const struct replace_config *config);
void aside_grow(void *state, uint32_t nodes);
void aside_enter(void *state, uint32_t node, uint32_t region);
void aside_enter_unused(void *state, uint32_t node, uint32_t region);
void aside_leave(void *state, uint32_t node);
void aside_forget(void *state, uint32_t node);
void aside_resize(void *state, uint32_t frames);
bool aside_resident(const void *state, uint32_t node);
void aside_report(const void *state, struct replace_report *out);
const char *aside_check(const void *state);

/* A resident page is in no list. */
void aside_take_out(struct aside *s, uint32_t node);
/* The victim: one set aside, if that comes first and there is one, or the latest of the others. */
uint32_t aside_victim(struct aside *s, bool set_aside);
