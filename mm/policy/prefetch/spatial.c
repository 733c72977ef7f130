/*
 * Spatial prefetching: the next pages of the address space, as many as the window ([Azimi 2007,
 * 4.5]).
 *
 * The window starts at its largest. After every ROUND pages with a known outcome it doubles if
 * nearly all were used, and halves if many were not. At its smallest a bad outcome makes most
 * faults fetch nothing, so that a program without spatial locality pays for little but the question
 * whether it still has none.
 */
#include "mm/policy/prefetch/prefetch.h"

enum {
    WINDOW_MAX = PREFETCH_FETCH_MAX,
    ROUND = 64,      /* outcomes */
    GOOD_PCT = 85,   /* percent of a round used soon: the window grows */
    POOR_PCT = 60,   /* ... it shrinks below this */
    QUIET_MAX = 128, /* faults for each one that fetches, at most */
};

struct spatial {
    uint32_t window;
    uint32_t quiet, passed; /* one fault of `quiet` fetches; faults since the last such */
    uint32_t soon, known;   /* outcomes of this round */
};

static void spatial_init(void *state, uint32_t nodes)
{
    (void)nodes;
    *(struct spatial *)state = (struct spatial){.window = WINDOW_MAX, .quiet = 1};
}

static void spatial_keep(void *state, uint32_t number)
{
    (void)state, (void)number;
}

static void spatial_fault(void *state, const struct prefetch_use *use, struct prefetch_list *list)
{
    struct spatial *s = state;

    if (++s->passed < s->quiet)
        return;
    s->passed = 0;
    for (uint32_t i = 1; i <= s->window; i++)
        list->page[list->length++] = use->page + i;
}

static void spatial_first_use(void *state, const struct prefetch_use *use,
                              struct prefetch_list *list)
{
    (void)state, (void)use, (void)list;
}

static void spatial_outcome(void *state, bool soon)
{
    struct spatial *s = state;

    s->soon += soon;
    if (++s->known < ROUND)
        return;
    if (s->soon * 100 >= GOOD_PCT * ROUND) {
        s->window = MIN(s->window * 2, (uint32_t)WINDOW_MAX);
        s->quiet = 1;
    } else if (s->soon * 100 < POOR_PCT * ROUND) {
        s->quiet = s->window > 1 ? 1 : MIN(s->quiet * 4, (uint32_t)QUIET_MAX);
        s->window = MAX(s->window / 2, 1u);
    }
    s->soon = s->known = 0;
}

static unsigned spatial_level(const void *state)
{
    return ((const struct spatial *)state)->window;
}

static const char *spatial_check(const void *state)
{
    const struct spatial *s = state;

    if (s->window < 1 || s->window > WINDOW_MAX || !is_pow2(s->window))
        return "the window is out of range";
    return s->soon <= s->known && s->known < ROUND && s->passed < s->quiet
               ? NULL
               : "a round is out of range";
}

const struct prefetch_ops prefetch_spatial = {
    .name = "spatial",
    .unit = PREFETCH_PAGES,
    .orders = 0,
    .bytes = ALIGN_UP(sizeof(struct spatial), 8),
    .per_node = ALIGN_UP(sizeof(struct prefetch_node), 4),
    .init = spatial_init,
    .grow = spatial_keep,
    .resize = spatial_keep,
    .fault = spatial_fault,
    .first_use = spatial_first_use,
    .outcome = spatial_outcome,
    .left = spatial_keep,
    .forget = spatial_keep,
    .level = spatial_level,
    .check = spatial_check,
};
