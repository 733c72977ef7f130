/* A memory of some frames under a replacement policy: the kernel's mechanism, without the pages. */
#include <stdlib.h>
#include "tools/replay/simulate.h"

#define FILTER    64   /* entries of the unit's filter */
#define NAMES_MAX 1024 /* pages in use that are named before one of them must be evicted */

/* ---- The page access buffer ------------------------------------------------------------------ */

static uint64_t key_of(uint32_t page)
{
    return path_key(1, (vaddr_t)page << PAGE_SHIFT);
}

static enum page_buffered in_buffer(struct simulation *s, uint32_t page)
{
    unsigned is = path_probe(&s->unit, key_of(page));

    return is & MACHINE_PATH_IS_USED ? BUFFER_USED : is ? BUFFER_KEPT : BUFFER_NOT_KEPT;
}

static int start_buffer(struct simulation *s, uint32_t entries)
{
    s->fresh = calloc(s->pages, sizeof *s->fresh);
    s->unit.space = 1;
    return s->fresh ? path_configure(&s->unit, (struct path_sizes){entries, FILTER, 1}) : -ENOMEM;
}

static bool logs(struct simulation *s, uint32_t page)
{
    s->unit.logged = 0;
    return path_walk(&s->unit, (vaddr_t)page << PAGE_SHIFT, false);
}

/* Answers the policy's questions. Returns whether there were any. */
static bool answer(struct simulation *s)
{
    bool asked = false;
    uint32_t page;

    while (s->unit.space && s->ops->asks && (page = s->ops->asks(s->state)) != REPLACE_NONE) {
        s->ops->tell(s->state, page, in_buffer(s, page));
        asked = true;
    }
    return asked;
}

static void touch(struct simulation *s, uint32_t page)
{
    s->ops->touch(s->state, page);
    answer(s);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

int simulation_start(struct simulation *s, const struct replace_ops *ops,
                     const struct replace_config *config, uint32_t buffer)
{
    struct replace_config asking = *config;
    size_t bytes = ops->bytes(config->nodes);

    *s = (struct simulation){.ops = ops, .pages = config->nodes, .frames = config->frames};
    if (bytes == 0)
        return -EINVAL;
    asking.answers = buffer != 0;
    s->state = calloc(1, bytes);
    int rc = s->state ? ops->init(s->state, &asking) : -ENOMEM;
    if (!rc && buffer)
        rc = start_buffer(s, buffer);
    if (rc)
        simulation_end(s);
    return rc;
}

static bool in_use(struct simulation *s, uint32_t page)
{
    return s->unit.space && in_buffer(s, page) == BUFFER_USED;
}

static void make_room(struct simulation *s, uint32_t incoming)
{
    for (unsigned vain = 0; s->resident >= s->frames;) {
        uint32_t victim;
        do
            victim = s->ops->victim(s->state, incoming);
        while (answer(s));
        ASSERT(victim != REPLACE_NONE);
        if (vain++ < NAMES_MAX && in_use(s, victim)) {
            touch(s, victim);
            continue;
        }
        s->ops->leave(s->state, victim);
        s->resident--;
        vain = 0;
        if (s->unit.space)
            s->fresh[victim] = false;
    }
}

/* Tells the policy of an access if the buffer logs it. The kernel hears of an access that brings a
 * page in by its fault and again by the log; a policy with use_once is told only once. */
static void log_access(struct simulation *s, uint32_t page)
{
    if (!logs(s, page))
        return;
    if (!s->ops->use_once || !s->fresh[page])
        touch(s, page);
    s->fresh[page] = false;
}

void simulation_access(struct simulation *s, uint32_t page)
{
    bool here = s->ops->resident(s->state, page);

    s->accesses++;
    if (!here) {
        s->misses++;
        make_room(s, page);
        s->ops->enter(s->state, page, 0);
        answer(s);
        s->resident++;
    }
    if (s->unit.space) {
        if (!here) {
            s->fresh[page] = true;
            path_forget_page(&s->unit, key_of(page));
        }
        log_access(s, page);
    } else if (here) {
        touch(s, page);
    }
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
    free(s->fresh);
    path_free(&s->unit);
    s->state = NULL;
    s->fresh = NULL;
}

int simulate(const struct replace_ops *ops, const struct replace_config *config,
             const struct access_trace *t, uint64_t *misses)
{
    struct simulation s;
    int rc = simulation_start(&s, ops, config, t->buffer);

    if (rc)
        return rc;
    for (size_t i = 0; i < t->length; i++)
        simulation_access(&s, t->page[i]);
    *misses = s.misses;
    simulation_end(&s);
    return 0;
}

int simulate_log(const struct access_trace *t, uint64_t *logged)
{
    struct path unit = {.space = 1};
    int rc = t->buffer ? path_configure(&unit, (struct path_sizes){t->buffer, FILTER, 1}) : 0;

    *logged = t->buffer ? 0 : t->length;
    for (size_t i = 0; t->buffer && !rc && i < t->length; i++) {
        unit.logged = 0;
        *logged += path_walk(&unit, (vaddr_t)t->page[i] << PAGE_SHIFT, false);
    }
    path_free(&unit);
    return rc;
}
