/* The table of replacement policies, and what they share. */
#include "mm/policy/replace/list.h"

const struct replace_ops *const replace_policies[] = {
    &replace_lru,         &replace_clock,
    &replace_mru,         &replace_lirs,
    &replace_lirs_recent, &replace_arc,
    &replace_sieve,       &replace_s3fifo,
    &replace_wtinylfu,    &replace_wtinylfu_margin,
    &replace_gap,         &replace_region,
    &replace_chooser,     NULL};

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const struct replace_ops *replace_find(const char *name)
{
    for (const struct replace_ops *const *p = replace_policies; *p; p++)
        if (same((*p)->name, name))
            return *p;
    return NULL;
}

int replace_config_check(const struct replace_config *config)
{
    return config->nodes < 1 || config->nodes > REPLACE_NODES_MAX || config->frames < 1 ? -EINVAL
                                                                                        : 0;
}

size_t replace_bytes(uint32_t nodes, size_t state, size_t per_node)
{
    if (nodes < 1 || nodes > REPLACE_NODES_MAX)
        return 0;
    return ALIGN_UP(state + (size_t)nodes * per_node, sizeof(uint64_t));
}

struct replace_layout replace_layout(const struct replace_config *config, size_t state,
                                     size_t per_node)
{
    if (config->place.stride)
        return config->place;
    return (struct replace_layout){.at = (int64_t)state, .stride = (uint32_t)per_node};
}

const char *list_check(const struct replace_links *k, uint32_t nodes, const struct replace_list *l)
{
    uint32_t before = LINK_END, size = 0;

    for (uint32_t n = l->head; n != LINK_END; before = n, n = link_of(k, n)->next) {
        if (n >= nodes)
            return "a list leads out of the nodes";
        if (++size > l->size)
            return "a list is longer than its size";
        if (link_of(k, n)->prev != before)
            return "a list's way back differs";
        if (link_of(k, n)->list != l->id)
            return "a node in a list says it is not";
    }
    if (l->tail != before || size != l->size)
        return "a list's end or size is wrong";
    return list_claimed(k, nodes, l->id) == size ? NULL
                                                 : "a node says it is in a list that it is not in";
}

uint32_t list_claimed(const struct replace_links *k, uint32_t nodes, uint32_t id)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < nodes; i++)
        n += link_of(k, i)->list == id;
    return n;
}
