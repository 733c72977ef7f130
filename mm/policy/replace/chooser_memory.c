/* The chooser's resident pages. See chooser.h. */
#include "mm/policy/replace/chooser.h"

void chooser_make_member(struct chooser *s, uint32_t node)
{
    base_take_out(&s->base, node);
    list_push_head(&s->base.link, chooser_members(s), node);
}

/* A prefetched page waits for its use wherever it belongs; one of the turn before is sorted
 * later. */
void chooser_make_stray(struct chooser *s, uint32_t node)
{
    if (link_of(&s->base.link, node)->list != chooser_members(s)->id)
        return;
    list_remove(&s->base.link, chooser_members(s), node);
    list_push_head(&s->base.link, chooser_strays(s), node);
}

/* Returns the list of the turn before that has the page used last of these, or the one used longest
 * ago. */
static struct replace_list *unsorted(struct chooser *s, bool latest)
{
    struct replace_list *first = &s->base.list[(latest ? MEMBER : STRAY) + 2 - s->turn],
                        *second = &s->base.list[(latest ? STRAY : MEMBER) + 2 - s->turn];

    return first->size ? first : second;
}

static void sort_one(struct chooser *s, bool latest)
{
    struct replace_list *before = unsorted(s, latest);
    uint32_t node = latest ? before->head : before->tail;
    bool is_member = chooser_in_set(s, s->current, node);

    list_remove(&s->base.link, before, node);
    list_push_tail(&s->base.link, is_member ? chooser_members(s) : chooser_strays(s), node);
}

bool chooser_sort(struct chooser *s, uint32_t pages)
{
    while (pages-- && unsorted(s, true)->size)
        sort_one(s, true);
    return unsorted(s, true)->size == 0;
}

void chooser_sort_for_stray(struct chooser *s)
{
    chooser_sort(s, LOOKS_MAX);
    for (uint32_t looks = 0;
         looks < LOOKS_MAX && !chooser_strays(s)->size && unsorted(s, false)->size; looks++)
        sort_one(s, false);
}
