/* See shadow.h. */
#include "mm/policy/prefetch/shadow.h"

enum { LOOKED_AT = 2 }; /* sets at a time */

static struct shadow_mark *set_of(struct shadow *s, uint32_t node)
{
    return s->mark[node * 2654435761u >> 24]; /* 8 bits for SHADOW_SETS */
}

static uint32_t age(const struct shadow_mark *mark, uint32_t now)
{
    return (uint16_t)(now - mark->since);
}

void shadow_put(struct shadow *s, struct shadow_mark mark)
{
    struct shadow_mark *set = set_of(s, (uint32_t)mark.node), *place = NULL;

    for (unsigned i = 0; i < SHADOW_WAYS; i++) {
        if (!set[i].live)
            place = &set[i];
        else if (set[i].node == mark.node)
            return;
    }
    if (!place)
        return;
    *place = mark;
    place->live = 1;
}

bool shadow_take(struct shadow *s, uint32_t node, struct shadow_mark *out)
{
    struct shadow_mark *set = set_of(s, node);

    for (unsigned i = 0; i < SHADOW_WAYS; i++) {
        if (set[i].live && set[i].node == node) {
            *out = set[i];
            set[i].live = 0;
            return true;
        }
    }
    return false;
}

bool shadow_expired(struct shadow *s, uint32_t now, uint32_t longest, struct shadow_mark *out)
{
    for (unsigned looked = 0; looked < LOOKED_AT; looked++) {
        struct shadow_mark *set = s->mark[s->hand % SHADOW_SETS];
        for (unsigned i = 0; i < SHADOW_WAYS; i++) {
            if (set[i].live && age(&set[i], now) > longest) {
                *out = set[i];
                set[i].live = 0;
                return true;
            }
        }
        s->hand++;
    }
    return false;
}
