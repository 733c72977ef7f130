/* The table of replacement policies, and what they share. */
#include "mm/replace_list.h"

const struct replace_ops *const replace_policies[] = {&replace_lru,    &replace_clock,   &replace_mru,
                                                      &replace_lirs,   &replace_arc,     &replace_gap,
                                                      &replace_region, &replace_chooser, NULL};

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
    return config->nodes < 1 || config->nodes > REPLACE_NODES_MAX || config->frames < 1 ? -EINVAL : 0;
}

const char *list_check(const struct replace_link *link, uint32_t nodes, const struct replace_list *l)
{
    uint32_t before = LINK_END, size = 0;

    for (uint32_t n = l->head; n != LINK_END; before = n, n = link[n].next) {
        if (n >= nodes)
            return "a list leads out of the nodes";
        if (++size > l->size)
            return "a list is longer than its size";
        if (link[n].prev != before)
            return "a list's way back differs";
        if (link[n].list != l->id)
            return "a node in a list says it is not";
    }
    if (l->tail != before || size != l->size)
        return "a list's end or size is wrong";
    return list_claimed(link, nodes, l->id) == size ? NULL : "a node says it is in a list that it is not in";
}

uint32_t list_claimed(const struct replace_link *link, uint32_t nodes, uint32_t id)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < nodes; i++)
        n += link[i].list == id;
    return n;
}
