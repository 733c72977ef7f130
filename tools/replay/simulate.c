/* A memory of so many frames under a replacement policy: what the kernel's mechanism does, without the pages. */
#include <stdlib.h>
#include "tools/replay/simulate.h"

int simulation_start(struct simulation *s, const struct replace_ops *ops, const struct replace_config *config)
{
    size_t bytes = ops->bytes(config->nodes);

    *s = (struct simulation){.ops = ops, .pages = config->nodes, .frames = config->frames};
    if (bytes == 0)
        return -EINVAL;
    s->state = malloc(bytes);
    if (!s->state)
        return -ENOMEM;
    int rc = ops->init(s->state, config);
    if (rc)
        simulation_end(s);
    return rc;
}

static void make_room(struct simulation *s, uint32_t incoming)
{
    while (s->resident >= s->frames) {
        uint32_t victim = s->ops->victim(s->state, incoming);
        ASSERT(victim != REPLACE_NONE);
        s->ops->leave(s->state, victim);
        s->resident--;
    }
}

void simulation_access(struct simulation *s, uint32_t page)
{
    s->accesses++;
    if (s->ops->resident(s->state, page)) {
        s->ops->touch(s->state, page);
        return;
    }
    s->misses++;
    make_room(s, page);
    s->ops->enter(s->state, page, 0);
    s->resident++;
}

void simulation_prefetch(struct simulation *s, uint32_t page)
{
    if (s->ops->resident(s->state, page))
        return;
    make_room(s, page);
    s->ops->enter_unused(s->state, page, 0);
    s->resident++;
}

void simulation_unmap(struct simulation *s, uint32_t page)
{
    s->resident -= s->ops->resident(s->state, page);
    s->ops->forget(s->state, page);
}

void simulation_end(struct simulation *s)
{
    free(s->state);
    s->state = NULL;
}

int simulate(const struct replace_ops *ops, const struct replace_config *config, const struct access_trace *t,
             uint64_t *misses)
{
    struct simulation s;
    int rc = simulation_start(&s, ops, config);

    if (rc)
        return rc;
    for (size_t i = 0; i < t->length; i++)
        simulation_access(&s, t->page[i]);
    *misses = s.misses;
    simulation_end(&s);
    return 0;
}
