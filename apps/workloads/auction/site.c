/* A site's tables, and what is done with them. */
#include <string.h>
#include "apps/workloads/auction/site.h"

#define BLOCK ((size_t)256 << 10)

/* ---- Rows ------------------------------------------------------------------------------------ */

static void add_item(struct site *s, uint32_t seller, uint32_t category, uint32_t quantity,
                     int64_t price)
{
    struct item *it = s->free_items;

    if (it)
        s->free_items = it->next_free;
    else
        it = arena_alloc(&s->items_arena, sizeof *it, alignof(struct item));
    *it = (struct item){.id = ++s->last_item,
                        .category = category,
                        .seller = seller,
                        .quantity = quantity,
                        .price = price,
                        .first_price = price};
    s->listed += quantity;
    btree_insert(&s->items, it->id, it);
    btree_insert(&s->by_category, category_key(category, it->id), it);
}

/* Drops a bid that is not kept any more. Lock of bids held. */
static void drop_bid(struct site *s, uint32_t item, uint32_t number)
{
    struct bid *b = btree_remove(&s->bids, bid_key(item, number));

    if (b) {
        b->next_free = s->free_bids;
        s->free_bids = b;
    }
}

/* Ends the oldest item. Lock of items held. */
static void end_oldest(struct site *s)
{
    struct btree_cursor at;

    btree_seek(&s->items, 0, &at);
    struct item *it = btree_value(&at);
    btree_remove(&s->items, it->id);
    btree_remove(&s->by_category, category_key(it->category, it->id));
    s->units_ended += it->quantity;
    s->bids_ended += it->bids;
    pthread_mutex_lock(&s->bids_lock);
    for (uint32_t n = it->bids > BIDS_KEPT ? it->bids - BIDS_KEPT : 0; n < it->bids;)
        drop_bid(s, it->id, ++n);
    pthread_mutex_unlock(&s->bids_lock);
    it->next_free = s->free_items;
    s->free_items = it;
}

/* Lock of bids held. */
static void add_bid(struct site *s, const struct item *it, uint32_t person)
{
    struct bid *b = s->free_bids;

    if (b)
        s->free_bids = b->next_free;
    else
        b = arena_alloc(&s->bids_arena, sizeof *b, alignof(struct bid));
    *b = (struct bid){.item = it->id, .person = person, .amount = it->price};
    btree_insert(&s->bids, bid_key(it->id, it->bids), b);
    s->bids_made++;
    if (it->bids > BIDS_KEPT)
        drop_bid(s, it->id, it->bids - BIDS_KEPT);
}

static struct person *add_person(struct site *s)
{
    struct person *p = arena_alloc(&s->people_arena, sizeof *p, alignof(struct person));

    p->id = ++s->last_person;
    btree_insert(&s->people, p->id, p);
    return p;
}

static void add_row(struct reply *reply, const struct item *it)
{
    reply->row[reply->rows++] =
        (struct reply_row){.item = it->id, .person = it->seller, .amount = it->price};
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void search(struct site *s, const struct request *q, struct reply *reply)
{
    struct btree_cursor at;

    pthread_mutex_lock(&s->items_lock);
    bool more = btree_seek(&s->by_category, category_key(q->target, q->from), &at);
    while (more && reply->rows < ROWS && btree_key(&at) >> 32 == q->target) {
        add_row(reply, btree_value(&at));
        more = btree_next(&at);
    }
    pthread_mutex_unlock(&s->items_lock);
}

static void view_item(struct site *s, const struct request *q, struct reply *reply)
{
    pthread_mutex_lock(&s->items_lock);
    const struct item *it = btree_find(&s->items, q->target);
    if (it)
        add_row(reply, it);
    pthread_mutex_unlock(&s->items_lock);
    if (!reply->rows) {
        reply->status = -1;
        return;
    }
    pthread_mutex_lock(&s->people_lock);
    const struct person *seller = btree_find(&s->people, reply->row[0].person);
    reply->value = seller->comments ? seller->rating / seller->comments : 0;
    pthread_mutex_unlock(&s->people_lock);
}

static void view_person(struct site *s, const struct request *q, struct reply *reply)
{
    pthread_mutex_lock(&s->people_lock);
    const struct person *p = btree_find(&s->people, q->target);
    if (p)
        reply->value = p->rating;
    else
        reply->status = -1;
    pthread_mutex_unlock(&s->people_lock);
}

static void view_bids(struct site *s, const struct request *q, struct reply *reply)
{
    struct btree_cursor at;

    pthread_mutex_lock(&s->bids_lock);
    bool more = btree_seek(&s->bids, bid_key(q->target, 0), &at);
    while (more && reply->rows < ROWS && btree_key(&at) >> 32 == q->target) {
        const struct bid *b = btree_value(&at);
        reply->row[reply->rows++] =
            (struct reply_row){.item = b->item, .person = b->person, .amount = b->amount};
        more = btree_next(&at);
    }
    pthread_mutex_unlock(&s->bids_lock);
}

static void about_me(struct site *s, const struct request *q, struct reply *reply)
{
    uint32_t looked_at[LOOKED_AT];

    pthread_mutex_lock(&s->people_lock);
    const struct person *p = btree_find(&s->people, q->person);
    reply->value = p->rating;
    memcpy(looked_at, p->looked_at, sizeof looked_at);
    pthread_mutex_unlock(&s->people_lock);
    pthread_mutex_lock(&s->items_lock);
    for (unsigned i = 0; i < LOOKED_AT; i++) {
        const struct item *it = looked_at[i] ? btree_find(&s->items, looked_at[i]) : NULL;
        if (it)
            add_row(reply, it);
    }
    pthread_mutex_unlock(&s->items_lock);
}

static void bid(struct site *s, const struct request *q, struct reply *reply)
{
    pthread_mutex_lock(&s->items_lock);
    struct item *it = btree_find(&s->items, q->target);
    if (it) {
        it->price += q->amount;
        it->highest = q->person;
        it->bids++;
        reply->value = it->price;
        pthread_mutex_lock(&s->bids_lock);
        add_bid(s, it, q->person);
        pthread_mutex_unlock(&s->bids_lock);
    } else {
        reply->status = -1;
    }
    pthread_mutex_unlock(&s->items_lock);
    if (!it)
        return;
    pthread_mutex_lock(&s->people_lock);
    struct person *p = btree_find(&s->people, q->person);
    p->looked_at[p->bids++ % LOOKED_AT] = q->target;
    pthread_mutex_unlock(&s->people_lock);
}

static void buy(struct site *s, const struct request *q, struct reply *reply)
{
    uint32_t seller = 0;

    pthread_mutex_lock(&s->items_lock);
    struct item *it = btree_find(&s->items, q->target);
    if (it && it->quantity) {
        seller = it->seller;
        reply->value = it->price;
        if (--it->quantity == 0)
            btree_remove(&s->by_category, category_key(it->category, it->id));
    }
    pthread_mutex_unlock(&s->items_lock);
    if (!seller) {
        reply->status = -1;
        return;
    }
    pthread_mutex_lock(&s->people_lock);
    ((struct person *)btree_find(&s->people, q->person))->bought++;
    ((struct person *)btree_find(&s->people, seller))->sold++;
    pthread_mutex_unlock(&s->people_lock);
}

static void comment(struct site *s, const struct request *q, struct reply *reply)
{
    pthread_mutex_lock(&s->people_lock);
    struct person *p = btree_find(&s->people, q->target);
    if (p) {
        p->comments++;
        p->rating += q->from;
        s->rated += q->from;
        reply->value = p->rating;
    } else {
        reply->status = -1;
    }
    pthread_mutex_unlock(&s->people_lock);
}

static void sell(struct site *s, const struct request *q, struct reply *reply)
{
    pthread_mutex_lock(&s->items_lock);
    add_item(s, q->person, q->target, 1 + (uint32_t)q->amount % QUANTITY_MAX, q->amount);
    reply->value = s->last_item;
    if (s->items.count > s->keeps)
        end_oldest(s);
    pthread_mutex_unlock(&s->items_lock);
}

static void enrol(struct site *s, const struct request *q, struct reply *reply)
{
    (void)q;
    pthread_mutex_lock(&s->people_lock);
    reply->value = add_person(s)->id;
    pthread_mutex_unlock(&s->people_lock);
}

void site_answer(struct site *s, const struct request *request, struct reply *reply)
{
    static void (*const answers[KINDS])(struct site *, const struct request *,
                                        struct reply *) = {[SEARCH] = search,
                                                           [VIEW_ITEM] = view_item,
                                                           [VIEW_PERSON] = view_person,
                                                           [VIEW_BIDS] = view_bids,
                                                           [ABOUT_ME] = about_me,
                                                           [BID] = bid,
                                                           [BUY] = buy,
                                                           [COMMENT] = comment,
                                                           [SELL] = sell,
                                                           [REGISTER] = enrol};

    *reply = (struct reply){0};
    answers[request->kind](s, request, reply);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

void site_init(struct site *s, unsigned items, unsigned people, uint64_t seed)
{
    struct prng prng = prng_seeded(seed, 0);

    memset(s, 0, sizeof *s);
    s->keeps = items;
    pthread_mutex_init(&s->items_lock, NULL);
    pthread_mutex_init(&s->bids_lock, NULL);
    pthread_mutex_init(&s->people_lock, NULL);
    s->items_arena.block_size = s->bids_arena.block_size = s->people_arena.block_size = BLOCK;
    btree_init(&s->items, &s->items_arena);
    btree_init(&s->by_category, &s->items_arena);
    btree_init(&s->bids, &s->bids_arena);
    btree_init(&s->people, &s->people_arena);
    for (unsigned i = 0; i < people; i++)
        add_person(s);
    for (unsigned i = 0; i < items; i++)
        add_item(s, 1 + prng_below(&prng, people), prng_below(&prng, CATEGORIES),
                 1 + prng_below(&prng, QUANTITY_MAX), 100 + prng_below(&prng, 10000));
}

void site_free(struct site *s)
{
    arena_free(&s->items_arena);
    arena_free(&s->bids_arena);
    arena_free(&s->people_arena);
}

/* Sums of a table's rows. */
struct sums {
    uint64_t units, bids, kept, open, person_bids, bought, sold, rating;
    bool wrong;
};

static void add_up_items(struct site *s, struct sums *sums)
{
    struct btree_cursor at;

    for (bool more = btree_seek(&s->items, 0, &at); more; more = btree_next(&at)) {
        const struct item *it = btree_value(&at);
        const struct bid *last = btree_find(&s->bids, bid_key(it->id, it->bids));
        sums->units += it->quantity;
        sums->bids += it->bids;
        sums->kept += it->bids < BIDS_KEPT ? it->bids : BIDS_KEPT;
        sums->open += it->quantity != 0;
        sums->wrong |= it->bids ? !last || last->amount != it->price || last->person != it->highest
                                : it->price != it->first_price;
    }
}

static void add_up_people(struct site *s, struct sums *sums)
{
    struct btree_cursor at;

    for (bool more = btree_seek(&s->people, 0, &at); more; more = btree_next(&at)) {
        const struct person *p = btree_value(&at);
        sums->person_bids += p->bids;
        sums->bought += p->bought;
        sums->sold += p->sold;
        sums->rating += (uint64_t)p->rating;
    }
}

const char *site_check(struct site *s)
{
    struct sums sums = {0};

    if (btree_check(&s->items) || btree_check(&s->by_category) || btree_check(&s->bids) ||
        btree_check(&s->people))
        return "tree";
    add_up_items(s, &sums);
    add_up_people(s, &sums);
    return sums.wrong                                               ? "highest"
           : sums.bids + s->bids_ended != s->bids_made              ? "bids"
           : sums.kept != s->bids.count                             ? "kept"
           : sums.open != s->by_category.count                      ? "category"
           : sums.person_bids != s->bids_made                       ? "bidders"
           : sums.units + s->units_ended + sums.bought != s->listed ? "units"
           : sums.bought != sums.sold                               ? "sold"
           : sums.rating != s->rated                                ? "rating"
                                                                    : NULL;
}
