/*
 * S3-FIFO [Yang et al., SOSP 2023]: three queues in the order of coming. New pages come into S, a
 * tenth of memory. A page at its end that was used more than once since goes on to M, others leave
 * and are remembered in G, as many as M is meant to have; of these one that comes back comes into
 * M. A page at M's end that was used since goes round again, three times at most.
 *
 * Where both S and M are full the paper evicts one page of each, here it is the first. Beyond the
 * paper: LOOKS_MAX pages go on or round for a victim at most, then the next one goes; prefetched
 * pages wait apart for their first use; a victim that is in use is put behind the others of S.
 */
#include "mm/policy/replace/list.h"

enum { S = 1, M, G, UNUSED_LIST, QUEUES };
enum { S_PERCENT = 10, ONCE = 1, USES_MAX = 3 };

struct s3fifo {
    uint32_t nodes, frames;
    uint32_t offered; /* the victim named last, if nothing came after */
    uint32_t spare;
    struct replace_list queue[UNUSED_LIST]; /* by number; the latest first */
    struct replace_unused unused;
    /* mark: uses since it came into S, or since it came into M or went round, up to 3 */
    struct replace_links link;
};

static size_t s3fifo_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct s3fifo), sizeof(struct replace_link));
}

static int s3fifo_init(void *state, const struct replace_config *config)
{
    struct s3fifo *s = state;
    struct replace_layout place = replace_layout(config, sizeof *s, sizeof(struct replace_link));
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    *s = (struct s3fifo){.nodes = config->nodes, .frames = config->frames, .offered = LINK_END};
    for (uint32_t i = S; i <= G; i++)
        list_init(&s->queue[i], i);
    unused_init(&s->unused, UNUSED_LIST);
    links_init(&s->link, s, &place, 0);
    return 0;
}

static void s3fifo_grow(void *state, uint32_t nodes)
{
    struct s3fifo *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
}

static uint32_t list_of(const struct s3fifo *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    return link_of(&s->link, node)->list;
}

static bool s3fifo_resident(const void *state, uint32_t node)
{
    uint32_t list = list_of(state, node);

    return list != LIST_NONE && list != G;
}

static uint32_t small_frames(const struct s3fifo *s)
{
    return MAX((uint32_t)((uint64_t)s->frames * S_PERCENT / 100), 1u);
}

static uint32_t main_frames(const struct s3fifo *s)
{
    return s->frames - MIN(s->frames, small_frames(s));
}

static void take_out(struct s3fifo *s, uint32_t node)
{
    uint32_t list = list_of(s, node);

    if (list == UNUSED_LIST)
        unused_remove(&s->link, &s->unused, node);
    else
        list_remove(&s->link, &s->queue[list], node);
}

static void move(struct s3fifo *s, uint32_t node, uint32_t list, uint32_t uses)
{
    if (list_of(s, node) != LIST_NONE)
        take_out(s, node);
    list_push_head(&s->link, &s->queue[list], node);
    link_of(&s->link, node)->mark = uses & USES_MAX;
}

static void s3fifo_touch(void *state, uint32_t node)
{
    struct s3fifo *s = state;
    bool offered = node == s->offered;

    ASSERT(s3fifo_resident(s, node));
    s->offered = LINK_END;
    if (list_of(s, node) == UNUSED_LIST || (offered && list_of(s, node) == S))
        move(s, node, S, 0);
    else
        link_of(&s->link, node)->mark =
            MIN(link_of(&s->link, node)->mark + 1u, (uint32_t)USES_MAX) & USES_MAX;
}

static void s3fifo_enter(void *state, uint32_t node, uint32_t region)
{
    struct s3fifo *s = state;

    ASSERT(!s3fifo_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->offered = LINK_END;
    move(s, node, list_of(s, node) == G ? M : S, 0);
}

static void s3fifo_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct s3fifo *s = state;

    ASSERT(!s3fifo_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->offered = LINK_END;
    if (list_of(s, node) == G)
        take_out(s, node);
    list_push_head(&s->link, &s->unused.list, node);
}

/* The queue that is to lose a page: M where S is meant to have more than it has, or S has just
 * passed one on to a full M. */
static uint32_t from_queue(const struct s3fifo *s)
{
    const struct replace_list *q = s->queue;
    bool small = q[S].size && (q[S].size >= small_frames(s) || !q[M].size);

    return small && (q[M].size <= main_frames(s) || !q[M].size) ? S : M;
}

static uint32_t of_queues(struct s3fifo *s)
{
    for (uint32_t looks = 0;; looks++) {
        uint32_t list = from_queue(s), node = s->queue[list].tail;
        if (node == LINK_END)
            return node;
        uint32_t uses = link_of(&s->link, node)->mark;
        if (looks == LOOKS_MAX || uses <= (list == S ? ONCE : 0))
            return node;
        move(s, node, M, list == S ? 0 : uses - 1);
    }
}

static uint32_t s3fifo_victim(void *state, uint32_t incoming)
{
    struct s3fifo *s = state;

    (void)incoming;
    if (s->offered != LINK_END)
        return s->offered;
    s->offered = unused_due(&s->unused, s->frames);
    if (s->offered == LINK_END)
        s->offered = of_queues(s);
    if (s->offered == LINK_END)
        s->offered = s->unused.list.tail;
    return list_named(s->offered);
}

static void s3fifo_leave(void *state, uint32_t node)
{
    struct s3fifo *s = state;
    uint32_t list = list_of(s, node);

    ASSERT(s3fifo_resident(s, node));
    s->offered = LINK_END;
    if (list != UNUSED_LIST)
        unused_pass(&s->unused);
    take_out(s, node);
    link_of(&s->link, node)->mark = 0;
    if (list == S)
        list_push_head(&s->link, &s->queue[G], node);
    for (unsigned i = 0; i < 2 && s->queue[G].size > main_frames(s); i++)
        list_remove(&s->link, &s->queue[G], s->queue[G].tail);
}

static void s3fifo_forget(void *state, uint32_t node)
{
    struct s3fifo *s = state;

    if (list_of(s, node) == LIST_NONE)
        return;
    take_out(s, node);
    link_of(&s->link, node)->mark = 0;
    s->offered = LINK_END;
}

/* What G has too much is forgotten bit by bit. */
static void s3fifo_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct s3fifo *)state)->frames = frames;
}

static void s3fifo_report(const void *state, struct replace_report *out)
{
    const struct s3fifo *s = state;

    *out = (struct replace_report){.policy = replace_s3fifo.name,
                                   .resident =
                                       s->queue[S].size + s->queue[M].size + s->unused.list.size,
                                   .history = s->queue[G].size};
}

static const char *s3fifo_check(const void *state)
{
    const struct s3fifo *s = state;
    const char *broken = list_check(&s->link, s->nodes, &s->unused.list);

    for (uint32_t i = S; i <= G && !broken; i++)
        broken = list_check(&s->link, s->nodes, &s->queue[i]);
    for (uint32_t n = 0; n < s->nodes && !broken; n++)
        if (link_of(&s->link, n)->mark && list_of(s, n) != S && list_of(s, n) != M)
            broken = "s3fifo: uses of a page that is out are counted";
    return broken;
}

const struct replace_ops replace_s3fifo = {
    .name = "s3fifo",
    .per_node = sizeof(struct replace_link),
    .use_once = true,
    .bytes = s3fifo_bytes,
    .init = s3fifo_init,
    .grow = s3fifo_grow,
    .touch = s3fifo_touch,
    .enter = s3fifo_enter,
    .enter_unused = s3fifo_enter_unused,
    .victim = s3fifo_victim,
    .leave = s3fifo_leave,
    .forget = s3fifo_forget,
    .resize = s3fifo_resize,
    .resident = s3fifo_resident,
    .report = s3fifo_report,
    .check = s3fifo_check,
};
