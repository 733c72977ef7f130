/* Two lists of used pages, those set aside and the others: all that does not decide about
 * victims. */
#include "mm/policy/replace/aside.h"

size_t aside_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct aside), sizeof(struct replace_link));
}

static void new_round(struct aside *s)
{
    s->offered = LINK_END;
    s->tried = 0;
    s->walked = LINK_END;
}

int aside_init(void *state, const struct replace_config *config)
{
    struct aside *s = state;
    struct replace_layout place = replace_layout(config, sizeof *s, sizeof(struct replace_link));
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    s->nodes = config->nodes;
    s->frames = config->frames;
    list_init(&s->others, OTHERS);
    list_init(&s->aside, ASIDE);
    unused_init(&s->unused, UNUSED_LIST);
    links_init(&s->link, s, &place, 0);
    new_round(s);
    return 0;
}

void aside_grow(void *state, uint32_t nodes)
{
    struct aside *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
}

void aside_take_out(struct aside *s, uint32_t node)
{
    switch (link_of(&s->link, node)->list) {
    case OTHERS:
        list_remove(&s->link, &s->others, node);
        return;
    case ASIDE:
        list_remove(&s->link, &s->aside, node);
        return;
    default:
        unused_remove(&s->link, &s->unused, node);
    }
}

void aside_enter(void *state, uint32_t node, uint32_t region)
{
    struct aside *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, &s->others, node);
    new_round(s);
}

void aside_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct aside *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, &s->unused.list, node);
    new_round(s);
}

uint32_t aside_victim(struct aside *s, bool set_aside)
{
    uint32_t due = unused_due(&s->unused, s->frames);

    if (s->offered != LINK_END)
        return s->offered;
    if (due != LINK_END)
        s->offered = due;
    else if (s->aside.size && (set_aside || !s->others.size))
        s->offered = s->aside.tail;
    else
        s->offered = s->others.size ? s->others.head : s->unused.list.tail;
    return list_named(s->offered);
}

void aside_leave(void *state, uint32_t node)
{
    struct aside *s = state;

    ASSERT(node < s->nodes);
    if (link_of(&s->link, node)->list != UNUSED_LIST)
        unused_pass(&s->unused);
    aside_take_out(s, node);
    new_round(s);
}

bool aside_resident(const void *state, uint32_t node)
{
    const struct aside *s = state;

    ASSERT(node < s->nodes);
    return link_of(&s->link, node)->list != LIST_NONE;
}

void aside_forget(void *state, uint32_t node)
{
    struct aside *s = state;

    if (aside_resident(s, node)) {
        aside_take_out(s, node);
        new_round(s);
    }
}

void aside_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct aside *)state)->frames = frames;
}

void aside_report(const void *state, struct replace_report *out)
{
    const struct aside *s = state;

    *out =
        (struct replace_report){.policy = replace_mru.name,
                                .resident = s->others.size + s->aside.size + s->unused.list.size};
}

const char *aside_check(const void *state)
{
    const struct aside *s = state;
    const char *broken = list_check(&s->link, s->nodes, &s->others);

    if (!broken)
        broken = list_check(&s->link, s->nodes, &s->aside);
    if (!broken)
        broken = list_check(&s->link, s->nodes, &s->unused.list);
    if (!broken && s->offered != LINK_END && !aside_resident(s, s->offered))
        broken = "mru: offered a page that is out";
    return broken;
}
