/*
 * S3-FIFO [Yang et al., SOSP 2023]: three queues in the order of coming. New pages come into S, a
 * tenth of memory. A page at its end that was used more than once since goes on to M, others leave
 * and are remembered in G, as many as M is meant to have. A page that comes back while in G comes
 * into M. A page at M's end that was used since goes round again, three times at most.
 *
 * Where both S and M are full the paper evicts one page of each, here it is the first. Beyond the
 * paper: LOOKS_MAX pages go on or round for a victim at most, then the next one goes; prefetched
 * pages wait apart for their first use; a victim that is in use is put behind the others of S.
 */
#include "mm/policy/replace/list.h"

/* A page's mark in S or M: its uses, up to 3, since it came there or went round. */
enum { S = 1, M, G };
enum { S_PERCENT = 10, ONCE = 1, USES_MAX = 3 };

static int s3fifo_init(void *state, const struct replace_config *config)
{
    int rc = base_start(state, config);

    ((struct replace_base *)state)->out = 1 << G;
    return rc;
}

static uint32_t small_frames(const struct replace_base *b)
{
    return MAX((uint32_t)((uint64_t)b->frames * S_PERCENT / 100), 1u);
}

static uint32_t main_frames(const struct replace_base *b)
{
    return b->frames - MIN(b->frames, small_frames(b));
}

static void move_page(struct replace_base *b, uint32_t node, uint32_t list, uint32_t uses)
{
    if (base_list_of(b, node) != LIST_NONE)
        base_take_out(b, node);
    base_push_head(b, list, node);
    link_of(&b->link, node)->mark = uses & USES_MAX;
}

static void s3fifo_touch(void *state, uint32_t node)
{
    struct replace_base *b = state;
    bool offered = node == b->offered;
    uint32_t list = base_list_of(b, node), uses = link_of(&b->link, node)->mark;

    ASSERT(base_resident(b, node));
    b->offered = LINK_END;
    if (list == UNUSED_LIST || (offered && list == S))
        move_page(b, node, S, 0);
    else
        link_of(&b->link, node)->mark = MIN(uses + 1, (uint32_t)USES_MAX) & USES_MAX;
}

static void s3fifo_enter(void *state, uint32_t node, uint32_t region)
{
    struct replace_base *b = state;

    ASSERT(!base_resident(b, node) && region < REPLACE_REGIONS_MAX);
    b->offered = LINK_END;
    move_page(b, node, base_list_of(b, node) == G ? M : S, 0);
}

/* Returns the queue that is to lose a page: M where S is meant to have more than it has, or S has
 * just passed one on to a full M. */
static uint32_t from_queue(const struct replace_base *b)
{
    uint32_t in_s = b->list[S].size, in_m = b->list[M].size;
    bool small = in_s && (in_s >= small_frames(b) || !in_m);

    return small && (in_m <= main_frames(b) || !in_m) ? S : M;
}

static uint32_t of_queues(struct replace_base *b)
{
    for (uint32_t looks = 0;; looks++) {
        uint32_t list = from_queue(b), node = b->list[list].tail;
        if (node == LINK_END)
            return node;
        uint32_t uses = link_of(&b->link, node)->mark;
        if (looks == LOOKS_MAX || uses <= (list == S ? ONCE : 0))
            return node;
        move_page(b, node, M, list == S ? 0 : uses - 1);
    }
}

static uint32_t s3fifo_victim(void *state, uint32_t incoming)
{
    struct replace_base *b = state;

    (void)incoming;
    return base_name(b, base_decided(b) ? b->offered : of_queues(b));
}

/* Shortens G, after a resize bit by bit. */
static void s3fifo_leave(void *state, uint32_t node)
{
    struct replace_base *b = state;
    uint32_t list = base_list_of(b, node);

    base_leave(b, node);
    if (list == S)
        base_push_head(b, G, node);
    for (unsigned i = 0; i < 2 && b->list[G].size > main_frames(b); i++)
        base_take_out(b, b->list[G].tail);
}

static void s3fifo_report(const void *state, struct replace_report *out)
{
    base_report(state, replace_s3fifo.name, out);
}

static const char *s3fifo_check(const void *state)
{
    const struct replace_base *b = state;

    for (uint32_t n = 0; n < b->nodes; n++)
        if (link_of(&b->link, n)->mark && base_list_of(b, n) != S && base_list_of(b, n) != M)
            return "s3fifo: uses of a page that is out are counted";
    return base_check(b);
}

const struct replace_ops replace_s3fifo = {
    .name = "s3fifo",
    .per_node = sizeof(struct replace_link),
    .use_once = true,
    .bytes = base_bytes,
    .init = s3fifo_init,
    .grow = base_grow,
    .touch = s3fifo_touch,
    .enter = s3fifo_enter,
    .enter_unused = base_enter_unused,
    .victim = s3fifo_victim,
    .leave = s3fifo_leave,
    .forget = base_forget,
    .resize = base_resize,
    .resident = base_resident,
    .report = s3fifo_report,
    .check = s3fifo_check,
};
