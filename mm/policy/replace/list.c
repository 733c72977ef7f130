/* See list.h. */
#include "mm/policy/replace/list.h"

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Returns NULL, or what is wrong with the list itself. */
static const char *walk_list(const struct replace_links *k, uint32_t nodes,
                             const struct replace_list *l)
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
    return l->tail != before || size != l->size ? "a list's end or size is wrong" : NULL;
}

static const char *const claimed_wrong = "a node says it is in a list that it is not in";

const char *list_check(const struct replace_links *k, uint32_t nodes, const struct replace_list *l)
{
    const char *broken = walk_list(k, nodes, l);

    return !broken && list_claimed(k, nodes, l->id) != l->size ? claimed_wrong : broken;
}

uint32_t list_claimed(const struct replace_links *k, uint32_t nodes, uint32_t id)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < nodes; i++)
        n += link_of(k, i)->list == id;
    return n;
}

size_t replace_bytes(uint32_t nodes, size_t state, size_t per_node)
{
    if (nodes < 1 || nodes > REPLACE_NODES_MAX)
        return 0;
    return ALIGN_UP(state + (size_t)nodes * per_node, sizeof(uint64_t));
}

/* ---- What most policies have ----------------------------------------------------------------- */

struct replace_layout base_layout(const struct replace_config *config, size_t state,
                                  size_t per_node)
{
    if (config->place.stride)
        return config->place;
    return (struct replace_layout){.at = (int64_t)state, .stride = (uint32_t)per_node};
}

int base_init(struct replace_base *b, const struct replace_config *config, size_t state,
              size_t per_node, size_t link_at)
{
    struct replace_layout place = base_layout(config, state, per_node);

    if (config->nodes < 1 || config->nodes > REPLACE_NODES_MAX || config->frames < 1)
        return -EINVAL;
    *b = (struct replace_base){
        .nodes = config->nodes, .frames = config->frames, .offered = LINK_END};
    for (uint32_t i = 1; i <= LISTS_MAX; i++)
        list_init(&b->list[i], i);
    links_init(&b->link, b, &place, link_at);
    return 0;
}

size_t base_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct replace_base), sizeof(struct replace_link));
}

int base_start(void *state, const struct replace_config *config)
{
    return base_init(state, config, sizeof(struct replace_base), sizeof(struct replace_link), 0);
}

void base_grow(void *state, uint32_t nodes)
{
    struct replace_base *b = state;

    ASSERT(nodes >= b->nodes && nodes <= REPLACE_NODES_MAX);
    b->nodes = nodes;
}

bool base_resident(const void *state, uint32_t node)
{
    const struct replace_base *b = state;
    uint32_t list = base_list_of(b, node);

    return list != LIST_NONE && !(b->out >> list & 1);
}

void base_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct replace_base *b = state;

    ASSERT(!base_resident(b, node) && region < REPLACE_REGIONS_MAX);
    b->offered = LINK_END;
    if (base_list_of(b, node) != LIST_NONE)
        base_take_out(b, node);
    base_push_head(b, UNUSED_LIST, node);
}

void base_leave(void *state, uint32_t node)
{
    struct replace_base *b = state;

    ASSERT(base_resident(b, node));
    b->offered = LINK_END;
    if (base_list_of(b, node) != UNUSED_LIST)
        base_pass(b);
    base_take_out(b, node);
    link_of(&b->link, node)->mark = 0;
}

void base_forget(void *state, uint32_t node)
{
    struct replace_base *b = state;

    if (base_list_of(b, node) == LIST_NONE)
        return;
    b->offered = LINK_END;
    base_take_out(b, node);
    link_of(&b->link, node)->mark = 0;
}

void base_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct replace_base *)state)->frames = frames;
}

void base_report(const void *state, const char *policy, struct replace_report *out)
{
    const struct replace_base *b = state;

    *out = (struct replace_report){.policy = policy};
    for (uint32_t i = 1; i <= LISTS_MAX; i++)
        *(b->out >> i & 1 ? &out->history : &out->resident) += b->list[i].size;
}

const char *base_check(const void *state)
{
    const struct replace_base *b = state;
    uint32_t claimed[LISTS_MAX + 1] = {0};

    for (uint32_t n = 0; n < b->nodes; n++)
        claimed[link_of(&b->link, n)->list]++;
    for (uint32_t i = 1; i <= LISTS_MAX; i++) {
        const char *broken = walk_list(&b->link, b->nodes, &b->list[i]);
        if (broken || claimed[i] != b->list[i].size)
            return broken ? broken : claimed_wrong;
    }
    return b->offered == LINK_END || base_resident(b, b->offered)
               ? NULL
               : "a page that is out is the victim";
}
