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

#define NODES_FIRST    1024
#define TOUCHES        32 /* pages touched in one hold of the locks */
#define READAHEAD_PART 8  /* 1/8 of a limit may be read ahead and unused */

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

/* Answers what the replacement policy asks. Returns whether it asked anything. [P] held. */
static bool answer_policy(struct pool *p)
{
    bool asked = false;
    uint32_t n;

    while (p->ops->asks && (n = p->ops->asks(p->state)) != REPLACE_NONE) {
        const struct node *node = &p->nodes[n];
        enum page_buffered is = BUFFER_UNKNOWN;
        if (node->lineage)
            is = lineage_buffered(node->lineage, node->page << PAGE_SHIFT);
        p->ops->tell(p->state, n, is);
        asked = true;
    }
    return asked;
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
    p->ops->resize(p->state, MIN(frames ? frames : p->limit, filled_of(pool_cap_locked(p))));
    answer_policy(p);
    prefetching_resize(p, frames);
    spin_unlock(&p->lock, irq);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

void pool_touch_locked(struct pool *p, uint32_t n)
{
    p->ops->touch(p->state, n);
    answer_policy(p);
}

void pool_enter_locked(struct pool *p, uint32_t n)
{
    p->ops->enter(p->state, n, p->nodes[n].region);
    answer_policy(p);
}

uint32_t pool_victim_locked(struct pool *p, uint32_t incoming)
{
    uint32_t n;

    do
        n = p->ops->victim(p->state, incoming);
    while (answer_policy(p));
    return n;
}

/* Takes a free node. Returns NODE_NONE if there is none. */
static uint32_t take_free_node(struct pool *p)
{
    uint32_t n = p->free_head;

    if (n == NODE_NONE)
        return NODE_NONE;
    p->free_head = (uint32_t)p->nodes[n].page;
    p->free_nodes--;
    return n;
}

uint32_t pool_node_new(struct pool *p, struct space *s, vaddr_t va, uint32_t frame, uint8_t region)
{
    uint32_t n = take_free_node(p);

    if (n == NODE_NONE)
        return NODE_NONE;
    p->nodes[n] = (struct node){.lineage = s->lineage,
                                .page = va >> PAGE_SHIFT,
                                .state = NODE_HERE,
                                .elsewhere = s->elsewhere,
                                .flags = space_tells(s) ? NODE_FRESH : 0,
                                .region = region,
                                .sharers = 1,
                                .mapped = 1};
    pool_frame_take(p, n, frame);
    pool_enter_locked(p, n);
    prefetching_missed(p, n);
    p->stats.first_faults++;
    return n;
}

uint32_t pool_node_out(struct pool *p, struct space *s, vaddr_t va, uint8_t flags, uint8_t region)
{
    uint32_t n = take_free_node(p);

    if (n != NODE_NONE)
        p->nodes[n] = (struct node){.lineage = s->lineage,
                                    .page = va >> PAGE_SHIFT,
                                    .slot = SLOT_NONE,
                                    .state = NODE_OUT,
                                    .elsewhere = s->elsewhere,
                                    .flags = flags,
                                    .region = region,
                                    .sharers = 1};
    return n;
}

/* Gives node n, which is OUT, a frame that no thread waits for. */
static void read_ahead(struct pool *p, uint32_t n, uint32_t frame)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->state == NODE_OUT && node->lineage);
    node->flags = (node->flags & ~NODE_FAILED) | NODE_UNUSED;
    pool_frame_take(p, n, frame);
    p->prefetching.unused++;
    p->stats.prefetched++;
}

void pool_node_filled(struct pool *p, uint32_t n, uint32_t frame)
{
    read_ahead(p, n, frame);
    p->stats.page_ins++;
    p->ops->enter_unused(p->state, n, p->nodes[n].region);
    pool_set_state(p, n, NODE_READY);
}

void pool_node_coming(struct pool *p, uint32_t n, uint32_t frame)
{
    read_ahead(p, n, frame);
    pool_set_state(p, n, NODE_COMING);
}

uint64_t pool_held_up_locked(struct pool *p, uint64_t now_ns)
{
    if (p->held_up.threads && now_ns > p->held_up.to_ns) {
        p->held_up.ns += now_ns - p->held_up.to_ns;
        p->held_up.to_ns = now_ns;
    }
    return p->held_up.ns;
}

void pool_wait_begins_locked(struct pool *p, uint64_t since_ns)
{
    if (!p->held_up.threads++)
        p->held_up.to_ns = MAX(p->held_up.to_ns, since_ns);
}

void pool_wait_ends_locked(struct pool *p, uint64_t since_ns, uint64_t now_ns, bool came)
{
    pool_held_up_locked(p, now_ns);
    p->held_up.threads--;
    if (came) {
        p->stats.major_faults++;
        p->stats.waited_ns += now_ns - since_ns;
    }
}

/* ---- Pages that sequential readers have passed ----------------------------------------------- */

#define PASSED_KEPT 8 /* the latest nodes, which may still be read from */

void pool_passed_add(struct pool *p, uint32_t n)
{
    p->passed.node[p->passed.head++ % POOL_PASSED] = n;
    if (p->passed.head - p->passed.tail > POOL_PASSED)
        p->passed.tail++; /* the oldest one is left to the policy */
}

uint32_t pool_passed_next(struct pool *p)
{
    struct passed_pages *x = &p->passed;

    return x->head - x->tail > PASSED_KEPT ? x->node[x->tail++ % POOL_PASSED] : NODE_NONE;
}

uint32_t pool_readahead_room(const struct pool *p)
{
    uint32_t most = p->limit / READAHEAD_PART;

    return most - MIN(p->prefetching.unused, most);
}

void pool_node_free(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(!node->frame && node->state != NODE_FREE);
    if (node->slot != SLOT_NONE)
        swap_slot_give(node->slot);
    *node = (struct node){.page = p->free_head};
    p->free_head = n;
    p->free_nodes++;
    if (p->free_nodes == p->capacity)
        wait_wake(&p->room, UINT32_MAX);
}

void pool_frame_free(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    frame_free(frame_address(frame_page_number(node->frame)), 0);
    node->frame = 0;
    pool_count_held(p, n, -1);
    pool_uncharge_locked(p, 1);
}

static bool is_leaving(enum node_state state)
{
    return state == NODE_GOING || state == NODE_WRITING;
}

void pool_set_state(struct pool *p, uint32_t n, enum node_state state)
{
    struct node *node = &p->nodes[n];

    pool_leaving_locked(p, is_leaving(state) - is_leaving(node->state));
    p->coming -= node->state == NODE_COMING;
    p->coming += state == NODE_COMING;
    node->state = state;
    wait_wake(pool_queue(p, n), UINT32_MAX);
}

/* Tells whether a transfer, or a thread that holds node n, will free it. */
static bool is_busy(const struct node *node)
{
    return node->holds || node->state == NODE_COMING || node->state == NODE_GOING ||
           node->state == NODE_WRITING;
}

uint32_t pool_forget(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];
    uint32_t frame = 0;

    prefetching_forget(p, n);
    p->ops->forget(p->state, n);
    wait_wake(pool_queue(p, n), UINT32_MAX);
    ASSERT(node->state != NODE_FREE && node->lineage && node->sharers <= 1);
    ASSERT(!(node->flags & NODE_RESCUED));
    node->sharers = 0;
    if (is_busy(node)) {
        node->lineage = NULL;
        return 0;
    }
    if (node->state == NODE_HERE) {
        frame = node->frame;
        node->frame = 0;
        pool_count_held(p, n, -1);
    } else if (node->state == NODE_READY) {
        pool_frame_free(p, n);
    }
    pool_node_free(p, n);
    return frame;
}

/* ---- Sharing --------------------------------------------------------------------------------- */

void pool_unmapped(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->mapped && !(node->flags & NODE_RESCUED && node->mapped == 1));
    if (--node->mapped == 0 && node->state == NODE_HERE)
        pool_set_state(p, n, NODE_READY);
    if (p->files)
        wait_wake(pool_queue(p, n), UINT32_MAX);
}

void pool_drop_share(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->sharers);
    if (node->sharers > 1) {
        node->sharers--;
        return;
    }
    ASSERT(!node->mapped);
    pool_forget(p, n);
}

bool pool_hold(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->frame);
    if (node->holds == UINT8_MAX)
        return false;
    node->holds++;
    return true;
}

void pool_let_go(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->holds);
    node->holds--;
    wait_wake(pool_queue(p, n), UINT32_MAX);
    if (node->lineage || is_busy(node))
        return;
    pool_frame_free(p, n);
    pool_node_free(p, n);
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

/* ---- Checking -------------------------------------------------------------------------------- */

static void check_node(const struct pool *p, const struct node *node)
{
    ASSERT(node->state <= NODE_OUT);
    ASSERT(node->lineage || is_busy(node));
    ASSERT(!node->lineage == !node->sharers && (p->files || node->mapped <= node->sharers));
    ASSERT(node->state != NODE_HERE || node->mapped);
    ASSERT(!(node->flags & NODE_RESCUED) || node->state == NODE_HERE);
    ASSERT(!node->frame == (node->state == NODE_OUT));
    ASSERT(!(node->flags & NODE_UNUSED) || node->state == NODE_COMING || node->state == NODE_READY);
    ASSERT(!(node->flags & NODE_PREDICTED) || (node->flags & NODE_UNUSED));
    if (node->frame)
        ASSERT(frame_page_number(node->frame)->next == (uint32_t)(node - p->nodes) &&
               pool_owns(p, frame_address(frame_page_number(node->frame))));
}

void pool_check(struct pool *p)
{
    uint32_t free = 0, held = 0, elsewhere = 0, leaving = 0, unused = 0, coming = 0;
    bool irq = spin_lock(&p->lock);

    for (uint32_t n = 0; n < p->capacity; n++) {
        const struct node *node = &p->nodes[n];
        bool resident = node->lineage && (node->state == NODE_HERE || node->state == NODE_READY);
        free += node->state == NODE_FREE;
        held += node->frame != 0;
        elsewhere += node->frame && node->elsewhere;
        coming += node->state == NODE_COMING;
        leaving += node->state == NODE_GOING || node->state == NODE_WRITING;
        unused += node->flags & NODE_UNUSED ? 1 : 0;
        if (node->state != NODE_FREE)
            check_node(p, node);
        ASSERT(p->ops->resident(p->state, n) == resident);
    }
    ASSERT(free == p->free_nodes && held == p->held && held <= p->frames);
    ASSERT(elsewhere == p->elsewhere);
    ASSERT(leaving == p->leaving && coming == p->coming && unused == p->prefetching.unused);
    const char *why = p->ops->check(p->state);
    if (why)
        panic("pool: policy %s: %s", p->ops->name, why);
    prefetching_check(p);
    spin_unlock(&p->lock, irq);
}
