/*
 * Experts' shadows.  The memory has room for the most slots that up to so many nodes may need, so that it never shrinks as nodes
 * grow; each expert's state lies behind the one before.
 */
#include "mm/replace_shadows.h"

static uint32_t shift_for(uint32_t nodes)
{
    uint32_t shift = 0;

    while (shift < SHADOWS_SHIFT_MAX && nodes >> (shift + 1) >= SHADOWS_PAGES_MIN)
        shift++;
    return shift;
}

static uint32_t room_for(uint32_t nodes)
{
    return MAX(MIN(nodes, 2u * SHADOWS_PAGES_MIN), (nodes >> SHADOWS_SHIFT_MAX) + 1);
}

static uint32_t slots(const struct shadows *s)
{
    return ((s->nodes - 1) >> s->shift) + 1;
}

static size_t before(const struct replace_ops *const *expert, uint32_t room, uint32_t count)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < count; i++)
        bytes += expert[i]->bytes(room);
    return bytes;
}

size_t shadows_bytes(const struct replace_ops *const *expert, uint32_t nodes)
{
    uint32_t count = 0;

    while (expert[count])
        count++;
    return before(expert, room_for(nodes), count);
}

static void *state(const struct shadows *s, const void *memory, const struct replace_ops *const *expert,
                   uint32_t i)
{
    return (char *)(uintptr_t)memory + before(expert, room_for(s->nodes), i);
}

static uint32_t scaled(const struct shadows *s, uint32_t frames)
{
    return MAX((uint32_t)(((uint64_t)frames + (1u << s->shift >> 1)) >> s->shift), 1u);
}

static void empty(struct shadows *s, void *memory, const struct replace_ops *const *expert)
{
    struct replace_config small = {.seed = s->seed};

    s->shift = shift_for(s->nodes);
    s->small = small.frames = scaled(s, s->frames);
    small.nodes = slots(s);
    for (uint32_t i = 0; i < s->experts; i++) {
        int rc = expert[i]->init(state(s, memory, expert, i), &small);
        ASSERT(rc == 0);
        s->resident[i] = 0;
    }
}

void shadows_init(struct shadows *s, void *memory, const struct replace_ops *const *expert, uint32_t nodes,
                  uint32_t frames, uint64_t seed)
{
    *s = (struct shadows){.nodes = nodes, .frames = frames, .seed = seed};
    while (expert[s->experts])
        s->experts++;
    ASSERT(s->experts <= SHADOWS_MAX);
    empty(s, memory, expert);
}

bool shadows_grow(struct shadows *s, void *memory, const struct replace_ops *const *expert, uint32_t nodes)
{
    uint32_t room = room_for(s->nodes);

    if (shift_for(nodes) != s->shift) {
        s->nodes = nodes;
        empty(s, memory, expert);
        return true;
    }
    s->nodes = nodes;
    for (uint32_t i = s->experts; i-- > 0;) {
        void *to = state(s, memory, expert, i);
        memmove(to, (char *)memory + before(expert, room, i), expert[i]->bytes(room));
        expert[i]->grow(to, slots(s));
    }
    return false;
}

static void make_room(struct shadows *s, void *at, const struct replace_ops *ops, uint32_t i,
                      uint32_t incoming, uint32_t left)
{
    for (; s->resident[i] > left; s->resident[i]--)
        ops->leave(at, ops->victim(at, incoming));
}

uint32_t shadows_use(struct shadows *s, void *memory, const struct replace_ops *const *expert, uint32_t node)
{
    uint32_t missed = 0, slot = node >> s->shift;

    for (uint32_t i = 0; i < s->experts; i++) {
        void *at = state(s, memory, expert, i);
        if (expert[i]->resident(at, slot)) {
            expert[i]->touch(at, slot);
            continue;
        }
        missed |= 1u << i;
        make_room(s, at, expert[i], i, slot, s->small - 1);
        expert[i]->enter(at, slot, 0);
        s->resident[i]++;
    }
    return missed;
}

void shadows_forget(struct shadows *s, void *memory, const struct replace_ops *const *expert, uint32_t node)
{
    uint32_t slot = node >> s->shift;

    for (uint32_t i = 0; i < s->experts; i++) {
        void *at = state(s, memory, expert, i);
        s->resident[i] -= expert[i]->resident(at, slot);
        expert[i]->forget(at, slot);
    }
}

void shadows_resize(struct shadows *s, void *memory, const struct replace_ops *const *expert, uint32_t frames)
{
    s->frames = frames;
    s->small = scaled(s, frames);
    for (uint32_t i = 0; i < s->experts; i++) {
        void *at = state(s, memory, expert, i);
        expert[i]->resize(at, s->small);
        make_room(s, at, expert[i], i, REPLACE_NONE, s->small);
    }
}

bool shadows_resident(const struct shadows *s, const void *memory, const struct replace_ops *const *expert,
                      uint32_t i, uint32_t node)
{
    return expert[i]->resident(state(s, memory, expert, i), node >> s->shift);
}

const char *shadows_check(const struct shadows *s, const void *memory,
                          const struct replace_ops *const *expert)
{
    for (uint32_t i = 0; i < s->experts; i++) {
        const void *at = state(s, memory, expert, i);
        const char *broken = expert[i]->check(at);
        struct replace_report report;
        expert[i]->report(at, &report);
        if (broken)
            return broken;
        if (report.resident != s->resident[i] || report.resident > s->small)
            return "shadows: so many pages are not resident";
    }
    return NULL;
}
