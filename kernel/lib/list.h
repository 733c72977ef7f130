/* Doubly linked circular list with the links inside the elements. */
#pragma once
#include "kernel/lib/base.h"

struct list {
    struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_insert_before(struct list *pos, struct list *item)
{
    item->next = pos;
    item->prev = pos->prev;
    pos->prev->next = item;
    pos->prev = item;
}

static inline void list_push_back(struct list *head, struct list *item)
{
    list_insert_before(head, item);
}

static inline void list_push_front(struct list *head, struct list *item)
{
    list_insert_before(head->next, item);
}

/* Removes `item` and makes it a list of its own: removing it twice is harmless, and
 * list_empty(item) means "in no list". */
static inline void list_remove(struct list *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
    list_init(item);
}

static inline struct list *list_pop_front(struct list *head)
{
    if (list_empty(head))
        return NULL;
    struct list *item = head->next;
    list_remove(item);
    return item;
}

#define list_for_each(it, head) for (struct list *it = (head)->next; it != (head); it = it->next)
#define list_for_each_safe(it, tmp, head) \
    for (struct list *it = (head)->next, *tmp = it->next; it != (head); it = tmp, tmp = it->next)
