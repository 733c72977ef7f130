/* See streams.h. As a policy it fetches farther the longer a stream has gone on. */
#include "mm/policy/prefetch/streams.h"

/* Returns the stream that the page continues, in as few strides as possible, or NULL. */
static struct stream *next_of(struct streams *s, uint32_t region, uint32_t page)
{
    struct stream *found = NULL;
    unsigned nearest = STREAMS_SKIP + 1;

    for (unsigned i = 0; i < STREAMS; i++) {
        struct stream *t = &s->stream[i];
        if (!t->stride || t->region != region)
            continue;
        uint32_t next = t->last;
        for (unsigned k = 1; k < nearest; k++) {
            next += (uint32_t)t->stride;
            if (next == page) {
                found = t;
                nearest = k;
            }
        }
    }
    if (found) {
        found->ahead -= MIN(found->ahead, nearest);
        found->sure = (uint16_t)MIN(found->sure + 1u, (unsigned)PREFETCH_FETCH_MAX);
    }
    return found;
}

static bool seen(const uint32_t *history, uint32_t page)
{
    for (unsigned i = 0; i < STREAMS_HISTORY; i++)
        if (history[i] == page)
            return true;
    return false;
}

/* Returns the distance to the latest of the pages seen before that has another one at the same
 * distance behind it, or 0. */
static int32_t stride_to(const struct streams *s, uint32_t region, uint32_t page)
{
    uint32_t known = MIN(s->seen[region], (uint32_t)STREAMS_HISTORY);

    for (uint32_t i = 1; known == STREAMS_HISTORY ? i <= known : i < known; i++) {
        uint32_t before = s->history[region][(s->seen[region] - i) % STREAMS_HISTORY];
        if (before != page && seen(s->history[region], before - (page - before)))
            return (int32_t)(page - before);
    }
    return 0;
}

/* Begins a stream in place of the one used longest ago. */
static struct stream *begin_stream(struct streams *s, uint32_t region, int32_t stride)
{
    struct stream *oldest = &s->stream[0];

    for (unsigned i = 1; i < STREAMS && oldest->stride; i++) {
        struct stream *t = &s->stream[i];
        if (!t->stride || s->events - t->used > s->events - oldest->used)
            oldest = t;
    }
    *oldest = (struct stream){.stride = stride, .region = (uint8_t)region, .sure = 1};
    return oldest;
}

struct stream *streams_event(struct streams *s, const struct prefetch_use *use, bool fault)
{
    uint32_t page = (uint32_t)use->page, region = use->region;
    struct stream *found = next_of(s, region, page);
    int32_t stride = found ? 0 : stride_to(s, region, page);

    s->events++;
    if (stride)
        found = begin_stream(s, region, stride);
    if (found) {
        found->last = page;
        found->used = s->events;
        found->ahead = fault ? 0 : found->ahead; /* not all listed pages were read */
    }
    s->history[region][s->seen[region]++ % STREAMS_HISTORY] = page;
    return found;
}

void streams_list(struct stream *s, const struct prefetch_use *use, unsigned window,
                  struct prefetch_list *list)
{
    if (s->ahead * 2u > window)
        return;
    for (unsigned k = s->ahead + 1u; k <= window && list->length < PREFETCH_LIST_MAX; k++)
        list->page[list->length++] = use->page + (uint64_t)((int64_t)s->stride * k);
    s->ahead = (uint16_t)MAX(window, (unsigned)s->ahead);
}

const char *streams_check(const struct streams *s)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        const struct stream *t = &s->stream[i];
        if (t->region >= REPLACE_REGIONS_MAX || t->ahead > PREFETCH_FETCH_MAX ||
            t->sure > PREFETCH_FETCH_MAX)
            return "a stream is out of range";
    }
    return NULL;
}

/* ---- The policy ------------------------------------------------------------------------------ */

static void streams_keep(void *state, uint32_t number)
{
    (void)state, (void)number;
}

static void follow(struct streams *s, const struct prefetch_use *use, struct prefetch_list *list,
                   bool fault)
{
    struct stream *t = streams_event(s, use, fault);

    if (t)
        streams_list(t, use, MIN(2u * t->sure, (unsigned)PREFETCH_FETCH_MAX), list);
}

static void streams_fault(void *state, const struct prefetch_use *use, struct prefetch_list *list)
{
    follow(state, use, list, true);
}

static void streams_first_use(void *state, const struct prefetch_use *use,
                              struct prefetch_list *list)
{
    follow(state, use, list, false);
}

static void streams_outcome(void *state, bool soon)
{
    (void)state, (void)soon;
}

static unsigned streams_level(const void *state)
{
    const struct streams *s = state;
    unsigned streams = 0;

    for (unsigned i = 0; i < STREAMS; i++)
        streams += s->stream[i].stride != 0;
    return streams;
}

static const char *streams_check_state(const void *state)
{
    return streams_check(state);
}

const struct prefetch_ops prefetch_streams = {
    .name = "streams",
    .unit = PREFETCH_PAGES,
    .orders = 0,
    .bytes = ALIGN_UP(sizeof(struct streams), 8),
    .per_node = ALIGN_UP(sizeof(struct prefetch_node), 4),
    .init = streams_keep,
    .grow = streams_keep,
    .resize = streams_keep,
    .fault = streams_fault,
    .first_use = streams_first_use,
    .outcome = streams_outcome,
    .left = streams_keep,
    .forget = streams_keep,
    .level = streams_level,
    .check = streams_check_state,
};
