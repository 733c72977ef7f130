/* See pool.h: pools and the nodes in them. */
#include "mm/pool.h"
#include "mm/pool/prefetching.h"
#include "kernel/mem/frame.h"
#include "mm/pool/args.h"
#include "mm/pool/reclaim.h"
#include "mm/space.h"
#include "mm/pool/swap.h"
#include "mm/track/track.h"
#include "kernel/mem/mem.h"

#define NODES_FIRST 1024
#define TOUCHES     32 /* pages touched in one hold of the locks */

static struct spinlock pools_lock = SPINLOCK(LOCK_POOLS, "pools");
static struct list pools = {&pools, &pools}; /* pools_lock */
/* pools_lock: the pool that all spaces use, if there is one */
static struct pool *global;
static struct pool *files;  /* [A] that of files, written under pools_lock; NULL: none */
static uint32_t pool_count; /* [A] written under pools_lock */

uint32_t pools_number(void)
{
    return __atomic_load_n(&pool_count, __ATOMIC_RELAXED);
}

/* ---- Life of a pool -------------------------------------------------------------------------- */

void pool_link_free(struct node *nodes, uint32_t from, uint32_t to, uint32_t *head)
{
    for (uint32_t n = to; n-- > from;) {
        nodes[n] = (struct node){.page = *head};
        *head = n;
    }
}

/* Returns the frames that the arguments allow now, at most all there are. `whole`: all processes
 * share the pool. */
static uint32_t limit_now(bool whole)
{
    uint64_t bytes = whole ? mem_user : MIN(mem_user, mem_process);
    struct frame_stats all;

    frame_stats(&all);
    return (uint32_t)MIN(bytes / PAGE_SIZE, all.total_pages);
}

uint32_t pool_reserve_of(uint32_t limit)
{
    return MIN(MAX(limit / 32, 2u), 64u);
}

/* Returns the pages that a pool with `frames` frames can hold besides its reserve. A policy that
 * reckoned with more would never have all the pages it wants to keep. */
static uint32_t filled_of(uint32_t frames)
{
    return MAX(frames - MIN(frames, pool_reserve_of(frames)), 1u);
}

static int init_policy(struct pool *p, uint32_t nodes)
{
    const struct replace_config config = {
        .nodes = nodes, .frames = filled_of(p->limit), .seed = p->seed, .answers = true};

    p->state = area_alloc(p->ops->bytes(nodes));
    return p->state ? p->ops->init(p->state, &config) : -ENOMEM;
}

static void destroy_pool(struct pool *p)
{
    prefetching_end(p);
    area_free(p->state);
    area_free(p->nodes);
    kfree(p->uses);
    if (p->account)
        memory_uncharge(p->account, p->charged);
    memory_account_put(p->account);
    kfree(p);
}

static int charge_tables(struct pool *p, struct memory_account *account)
{
    uint64_t bytes = pool_tables_bytes(p, NODES_FIRST);

    if (p->global || !account)
        return 0;
    int err = memory_charge(account, bytes);
    if (err)
        return err;
    p->account = memory_account_get(account);
    p->charged = bytes;
    return 0;
}

static int init_tables(struct pool *p)
{
    p->nodes = area_alloc(NODES_FIRST * sizeof(*p->nodes));
    return p->nodes ? init_policy(p, NODES_FIRST) ?: prefetching_init(p, NODES_FIRST) : -ENOMEM;
}

/* Sets limits and policies as the arguments say now. */
static void init_from_args(struct pool *p)
{
    const struct prefetch_ops *prefetch = memory_prefetch_ops();

    p->limited = swap_present() || mem_process != MEMORY_UNLIMITED || mem_user != MEMORY_UNLIMITED;
    p->global = mem_pool == MEM_POOL_GLOBAL;
    p->limit = limit_now(p->global);
    p->share.weight = (uint32_t)mem_weight;
    p->share.rate_max = (uint32_t)mem_rate;
    p->seed = mem_seed;
    p->accessed = mem_accessed;
    p->ops = memory_policy_ops();
    p->prefetching.ops = prefetch == &prefetch_none || !p->limited ? NULL : prefetch;
}

/* Sets them for the pool of files. */
static void init_for_files(struct pool *p)
{
    init_from_args(p);
    p->files = true;
    if (p->limited && track_makes_curves())
        p->uses = kmalloc(sizeof(*p->uses)); /* without it there is no curve */
    p->global = false;
    p->limit = limit_now(true);
}

/* Sets limits and policies like those of `like`, where they are fixed. */
static void init_like(struct pool *p, const struct pool *like)
{
    p->limited = like->limited;
    p->global = like->global;
    p->limit = like->limit;
    p->share.weight = like->share.weight;
    p->share.rate_max = like->share.rate_max;
    p->seed = like->seed;
    p->accessed = like->accessed;
    p->ops = like->ops;
    p->prefetching.ops = like->prefetching.ops;
}

/* Makes a pool with the limits and policies of `like`, or of the arguments. `of_files`: the one of
 * files. */
static int create_pool(const struct pool *like, bool of_files, struct memory_account *account,
                       struct pool **out)
{
    struct pool *p = kmalloc(sizeof(*p));

    if (!p)
        return -ENOMEM;
    spin_init(&p->lock, LOCK_POOL, "pool");
    wait_init(&p->room);
    wait_init(&p->grown);
    wait_init(&p->unpinned);
    for (unsigned i = 0; i < POOL_QUEUES; i++)
        wait_init(&p->busy[i]);
    if (like)
        init_like(p, like);
    else
        (of_files ? init_for_files : init_from_args)(p);
    p->share.mru_decides = mem_goal && (p->ops == &replace_chooser || p->ops == &replace_mru);
    p->reserve = pool_reserve_of(p->limit);
    p->share.last_look_ns = arch_clock_ns();
    p->free_head = NODE_NONE;
    int err = charge_tables(p, account) ?: init_tables(p);
    if (err) {
        destroy_pool(p);
        return err;
    }
    pool_link_free(p->nodes, 0, NODES_FIRST, &p->free_head);
    p->capacity = p->free_nodes = NODES_FIRST;
    *out = p;
    return 0;
}

static void list_pool_locked(struct pool *p)
{
    list_push_back(&pools, &p->link);
    __atomic_store_n(&pool_count, pool_count + 1, __ATOMIC_RELAXED);
    if (p->global)
        global = p;
}

int pool_join(const struct pool *like, struct memory_account *account, struct pool **out)
{
    struct pool *fresh;
    int err = create_pool(like, false, account, &fresh);

    if (err)
        return err;
    bool irq = spin_lock(&pools_lock);
    struct pool *p = fresh->global && global ? global : fresh;
    if (p == fresh)
        list_pool_locked(p);
    p->spaces++;
    spin_unlock(&pools_lock, irq);
    if (p != fresh)
        destroy_pool(fresh);
    *out = p;
    return 0;
}

int pool_join_files(struct pool **out)
{
    struct pool *fresh;
    int err = create_pool(NULL, true, NULL, &fresh);

    if (err)
        return err;
    bool irq = spin_lock(&pools_lock);
    bool first = !files;
    if (first) {
        list_pool_locked(fresh);
        __atomic_store_n(&files, fresh, __ATOMIC_RELEASE);
    }
    files->spaces++;
    spin_unlock(&pools_lock, irq);
    if (!first)
        destroy_pool(fresh);
    *out = files;
    return 0;
}

struct pool *pool_of_files(void)
{
    return __atomic_load_n(&files, __ATOMIC_ACQUIRE);
}

void pool_join_too(struct pool *p)
{
    bool irq = spin_lock(&pools_lock);

    p->spaces++;
    spin_unlock(&pools_lock, irq);
}

static void wait_for_orphans(struct pool *p)
{
    bool irq = spin_lock(&p->lock);

    while (p->free_nodes < p->capacity || p->frames)
        wait_sleep_through(&p->room, &p->lock, &irq);
    spin_unlock(&p->lock, irq);
}

/* Waits for threads that go through all pools. No further ones come: p is out of their list. */
static void wait_for_pins(struct pool *p)
{
    bool irq = spin_lock(&pools_lock);

    while (p->pins)
        wait_sleep_through(&p->unpinned, &pools_lock, &irq);
    spin_unlock(&pools_lock, irq);
}

void pool_leave(struct pool *p)
{
    bool irq = spin_lock(&pools_lock);
    bool last = --p->spaces == 0;

    if (last) {
        list_remove(&p->link);
        __atomic_store_n(&pool_count, pool_count - 1, __ATOMIC_RELAXED);
        if (p == global)
            global = NULL;
        if (p == files)
            __atomic_store_n(&files, NULL, __ATOMIC_RELEASE);
    }
    spin_unlock(&pools_lock, irq);
    if (!last)
        return;
    wait_for_orphans(p);
    wait_for_pins(p);
    destroy_pool(p);
}

/* Pins and returns the pool behind `at` (NULL: the first one), and unpins `at`. Returns NULL at the
 * end. */
static struct pool *next_pinned(struct pool *at)
{
    bool irq = spin_lock(&pools_lock);
    struct list *next = at ? at->link.next : pools.next;
    struct pool *p = next == &pools ? NULL : container_of(next, struct pool, link);

    /* A pool that has left the list since is linked to itself. */
    if (at && p == at)
        p = NULL;
    if (p)
        p->pins++;
    if (at && --at->pins == 0)
        wait_wake(&at->unpinned, 1);
    spin_unlock(&pools_lock, irq);
    return p;
}

void pools_each(void (*f)(struct pool *p, void *arg), void *arg)
{
    for (struct pool *p = next_pinned(NULL); p; p = next_pinned(p))
        f(p, arg);
}

uint32_t pool_cap_locked(const struct pool *p)
{
    return p->share.bound
               ? MIN(MAX(p->share.target, (uint32_t)(MEMORY_LEAST / PAGE_SIZE)), p->limit)
               : p->limit;
}

void pool_set_target(struct pool *p, uint32_t frames, bool bound)
{
    bool irq = spin_lock(&p->lock);

    p->share.target = frames;
    p->share.bound = bound;
    pool_resize_locked(p, MIN(frames ? frames : p->limit, filled_of(pool_cap_locked(p))));
    prefetching_resize(p, frames);
    spin_unlock(&p->lock, irq);
}

/* ---- What trackers tell ---------------------------------------------------------------------- */

static void note_use(struct pool_uses *u, uint32_t n)
{
    if (u->head - u->tail < POOL_USES)
        u->node[u->head % POOL_USES] = n;
    else
        u->lost++;
    __atomic_store_n(&u->head, u->head + (u->head - u->tail < POOL_USES), __ATOMIC_RELAXED);
}

void pool_used_locked(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    if (node->state != NODE_HERE) /* it is being taken out of all tables that have it */
        return;
    if (p->uses)
        note_use(p->uses, n);
    if (!p->ops->use_once || !(node->flags & NODE_FRESH))
        pool_touch_locked(p, n);
    node->flags &= ~NODE_FRESH;
    prefetching_used(p, n);
}

/* Returns the frame that s maps `page` to, or 0: it maps none. [S] held. */
static paddr_t frame_at(struct space *s, uint64_t page)
{
    struct arch_page found;

    if (page >= USER_MAX >> PAGE_SHIFT)
        return 0;
    arch_space_look(&s->arch, page << PAGE_SHIFT, 1, &found);
    return found.kind == ARCH_PAGE_HERE ? found.pa : 0;
}

/* Touches the pages that are in p, among those that s maps, and returns the number of others. [S]
 * held. */
static size_t touch_those_of(struct pool *p, struct space *s, const uint64_t *entry, size_t n)
{
    size_t others = 0;

    spin_lock_irqoff(&p->lock);
    for (size_t i = 0; i < n; i++) {
        paddr_t frame = frame_at(s, entry[i] & PAGE_ENTRY_PAGE);
        if (frame && pool_owns(p, frame))
            pool_used_locked(p, frame_page(frame)->next);
        else
            others += frame != 0;
    }
    spin_unlock_irqoff(&p->lock);
    return others;
}

static void pool_used(struct space *s, const uint64_t *entry, size_t n)
{
    while (n) {
        size_t part = MIN(n, (size_t)TOUCHES);
        bool irq = spin_lock(&s->lock);
        if (touch_those_of(s->pool, s, entry, part))
            touch_those_of(pool_of_files(), s, entry, part);
        spin_unlock(&s->lock, irq);
        entry += part;
        n -= part;
    }
}

void pool_sink(struct space *s, const struct page_run *run)
{
    for (unsigned part = 0; s->pool->limited && part < 2; part++)
        pool_used(s, run->entry[part], run->count[part]);
}
