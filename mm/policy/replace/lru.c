/*
 * LRU: resident pages in the order of their latest use; the one used longest ago goes. A prefetched
 * page starts as if it was used, so it has the time of one turnover to be used.
 */
#include "mm/policy/replace/list.h"

enum { RESIDENT = 1 }; /* latest use first */

static void lru_touch(void *state, uint32_t node)
{
    struct replace_base *b = state;

    ASSERT(node < b->nodes);
    list_to_head(&b->link, &b->list[RESIDENT], node);
}

static void lru_enter(void *state, uint32_t node, uint32_t region)
{
    ASSERT(region < REPLACE_REGIONS_MAX);
    base_push_head(state, RESIDENT, node);
}

static uint32_t lru_victim(void *state, uint32_t incoming)
{
    (void)incoming;
    return list_named(((struct replace_base *)state)->list[RESIDENT].tail);
}

static void lru_report(const void *state, struct replace_report *out)
{
    base_report(state, replace_lru.name, out);
}

const struct replace_ops replace_lru = {
    .name = "lru",
    .per_node = sizeof(struct replace_link),
    .bytes = base_bytes,
    .init = base_start,
    .grow = base_grow,
    .touch = lru_touch,
    .enter = lru_enter,
    .enter_unused = lru_enter,
    .victim = lru_victim,
    .leave = base_leave,
    .forget = base_forget,
    .resize = base_resize,
    .resident = base_resident,
    .report = lru_report,
    .check = base_check,
};
