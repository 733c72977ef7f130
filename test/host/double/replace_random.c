/* A replacement policy under random operations, beside a model of the resident pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "test/host/double/random.h"
#include "test/host/double/replace_random.h"

struct replace_random replace_random_start(const struct replace_ops *ops, uint32_t nodes,
                                           uint32_t room, uint32_t frames, const char *first,
                                           uint64_t seed)
{
    struct replace_random r = {.ops = ops, .nodes = nodes, .room = room, .frames = frames};
    struct replace_config config = {.nodes = nodes, .frames = frames, .seed = seed, .first = first};

    r.random = (seed + 1) * 0x9e3779b97f4a7c15 | 1;
    r.state = calloc(1, ops->bytes(nodes));
    r.resident = calloc(room, 1);
    assert_non_null(r.state);
    assert_non_null(r.resident);
    assert_int_equal(ops->init(r.state, &config), 0);
    return r;
}

void replace_random_end(struct replace_random *r)
{
    free(r->state);
    free(r->resident);
}

static uint32_t below(struct replace_random *r, uint32_t n)
{
    return (uint32_t)(test_random(&r->random) % n);
}

static void leave(struct replace_random *r, uint32_t node)
{
    assert_in_range(node, 0, r->nodes - 1);
    assert_true(r->resident[node]);
    r->ops->leave(r->state, node);
    r->resident[node] = 0;
    r->count--;
}

/* Some of the victims are hot, and asking twice changes nothing. */
static void evict(struct replace_random *r, uint32_t incoming)
{
    for (uint32_t asked = 0;; asked++) {
        uint32_t node = r->ops->victim(r->state, incoming);
        assert_int_not_equal(node, REPLACE_NONE);
        assert_int_equal(node, r->ops->victim(r->state, incoming));
        if (asked < 3 && below(r, 4) == 0) {
            assert_true(r->resident[node]);
            r->ops->touch(r->state, node);
            continue;
        }
        leave(r, node);
        return;
    }
}

static void use(struct replace_random *r, uint32_t node, bool prefetch)
{
    if (r->resident[node]) {
        r->ops->touch(r->state, node);
        return;
    }
    while (r->count >= r->frames)
        evict(r, node);
    if (prefetch)
        r->ops->enter_unused(r->state, node, below(r, 4));
    else
        r->ops->enter(r->state, node, below(r, 4));
    r->resident[node] = 1;
    r->count++;
}

static void grow(struct replace_random *r)
{
    uint32_t nodes = MIN(r->nodes + 1 + below(r, r->nodes), r->room);
    char *larger = calloc(1, r->ops->bytes(nodes));

    assert_non_null(larger);
    memcpy(larger, r->state, r->ops->bytes(r->nodes));
    free(r->state);
    r->state = larger;
    r->ops->grow(larger, nodes);
    r->nodes = nodes;
}

static void compare(struct replace_random *r)
{
    struct replace_report report;
    const char *broken = r->ops->check(r->state);

    if (broken)
        fail_msg("%s: %s", r->ops->name, broken);
    for (uint32_t n = 0; n < r->nodes; n++)
        assert_int_equal(r->ops->resident(r->state, n), r->resident[n]);
    r->ops->report(r->state, &report);
    assert_int_equal(report.resident, r->count);
    if (r->count == 0)
        assert_int_equal(r->ops->victim(r->state, REPLACE_NONE), REPLACE_NONE);
}

void replace_random_step(struct replace_random *r)
{
    uint32_t draw = below(r, 1000), node = below(r, r->nodes);

    if (draw < 800)
        use(r, draw < 400 ? node : below(r, MIN(r->nodes, r->frames + 1)), false);
    else if (draw < 880)
        use(r, node, !r->resident[node]);
    else if (draw < 920 && r->count)
        evict(r, REPLACE_NONE);
    else if (draw < 940 && r->resident[node])
        leave(r, node);
    else if (draw < 980) {
        r->ops->forget(r->state, node);
        r->count -= r->resident[node];
        r->resident[node] = 0;
    } else if (draw < 990) {
        r->frames = 1 + below(r, r->nodes);
        r->ops->resize(r->state, r->frames);
    } else if (draw < 992 && r->nodes < r->room)
        grow(r);
    compare(r);
}
