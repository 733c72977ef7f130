/* Rooms: who hears what. Nothing here knows of connections. */
#include <stdlib.h>
#include <string.h>
#include "apps/workloads/chat/chat.h"

/* ---- Messages -------------------------------------------------------------------------------- */

static struct message *message_get(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    struct message *m = store->free;
    if (m) {
        store->free = m->next;
    } else {
        m = arena_alloc(&store->arena, sizeof *m, alignof(struct message));
        store->made++;
    }
    pthread_mutex_unlock(&store->lock);
    return m;
}

void message_put(struct store *store, struct message *m)
{
    if (atomic_fetch_sub_explicit(&m->readers, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_lock(&store->lock);
    m->next = store->free;
    store->free = m;
    pthread_mutex_unlock(&store->lock);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static void session_give(struct session *s, struct message *m)
{
    pthread_mutex_lock(&s->lock);
    while (s->waiting == QUEUE)
        pthread_cond_wait(&s->emptied, &s->lock);
    s->queue[(s->first + s->waiting++) % QUEUE] = m;
    if (s->waiting == 1)
        pthread_cond_signal(&s->filled);
    pthread_mutex_unlock(&s->lock);
}

unsigned session_take(struct session *s, struct message **out, unsigned max)
{
    unsigned n = 0;

    pthread_mutex_lock(&s->lock);
    while (!s->waiting && !s->left)
        pthread_cond_wait(&s->filled, &s->lock);
    if (s->waiting == QUEUE)
        pthread_cond_signal(&s->emptied);
    for (; n < max && s->waiting; s->waiting--) {
        out[n++] = s->queue[s->first];
        s->first = (s->first + 1) % QUEUE;
    }
    pthread_mutex_unlock(&s->lock);
    s->tally->heard += n;
    return n;
}

/* ---- Rooms ----------------------------------------------------------------------------------- */

void room_join(struct session *s, uint32_t *order)
{
    struct room *r = s->room;

    pthread_mutex_lock(&r->lock);
    r->member[r->members++] = s;
    *order = r->order;
    pthread_mutex_unlock(&r->lock);
}

void room_leave(struct session *s)
{
    struct room *r = s->room;
    unsigned i = 0;

    pthread_mutex_lock(&r->lock);
    while (r->member[i] != s)
        i++;
    r->member[i] = r->member[--r->members];
    pthread_mutex_unlock(&r->lock);
    pthread_mutex_lock(&s->lock);
    s->left = true;
    pthread_cond_signal(&s->filled);
    pthread_mutex_unlock(&s->lock);
}

void room_say(struct session *s, const char *text, unsigned bytes)
{
    struct room *r = s->room;
    struct message *m = message_get(r->store), **kept, *old;

    dictionary_count(r->dictionary, text, bytes);
    memcpy(m->text, text, bytes);
    m->wire = (struct wire){.sum = text_sum(text, bytes),
                            .room = (uint16_t)r->number,
                            .user = (uint16_t)s->user,
                            .bytes = bytes};
    s->tally->said++;
    pthread_mutex_lock(&r->lock);
    m->wire.order = ++r->order;
    atomic_store_explicit(&m->readers, r->members + 1, memory_order_relaxed); /* and the history */
    r->delivered += r->members;
    for (unsigned i = 0; i < r->members; i++)
        session_give(r->member[i], m);
    kept = &r->history[r->order % HISTORY];
    old = *kept;
    *kept = m;
    pthread_mutex_unlock(&r->lock);
    if (old)
        message_put(r->store, old);
}

/* ---- The house ------------------------------------------------------------------------------- */

/* Arenas take memory in blocks of this size. */
#define BLOCK ((size_t)64 << 10)

static void *new_of(struct arena *arena, size_t size)
{
    return arena_alloc(arena, size, ARENA_LINE);
}

static void add_store(struct house *h, struct room *r)
{
    r->store = new_of(&h->arena, sizeof *r->store);
    r->store->arena.block_size = BLOCK;
    pthread_mutex_init(&r->store->lock, NULL);
    r->dictionary = new_of(&h->arena, sizeof *r->dictionary);
    dictionary_init(r->dictionary);
}

static void session_init(struct session *s, struct room *r, unsigned user, struct tally *tally)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->filled, NULL);
    pthread_cond_init(&s->emptied, NULL);
    s->room = r;
    s->user = user;
    s->tally = tally;
}

void house_init(struct house *h, unsigned rooms, unsigned users, enum layout layout)
{
    bool mixed = layout == LAYOUT_MIXED;
    struct tally *side_by_side;

    *h = (struct house){.rooms = rooms, .users = users};
    h->arena.block_size = BLOCK;
    h->session = new_of(&h->arena, rooms * users * sizeof *h->session);
    side_by_side = new_of(&h->arena, rooms * users * sizeof *side_by_side);
    for (unsigned i = 0; i < rooms; i++) {
        struct room *r = h->room[i] = new_of(&h->arena, sizeof *r);
        pthread_mutex_init(&r->lock, NULL);
        r->number = i;
        if (i == 0 || !mixed) {
            add_store(h, r);
        } else {
            r->store = h->room[0]->store;
            r->dictionary = h->room[0]->dictionary;
        }
    }
    /* mixed: neighbours in the array of counts are of different rooms */
    for (unsigned i = 0; i < rooms * users; i++)
        session_init(&h->session[i], h->room[i / users], i % users,
                     mixed ? &side_by_side[i % users * rooms + i / users]
                           : new_of(&h->arena, sizeof(struct tally)));
}

void house_free(struct house *h)
{
    for (unsigned i = 0; i < h->rooms; i++)
        if (i == 0 || h->room[i]->store != h->room[0]->store)
            arena_free(&h->room[i]->store->arena);
    arena_free(&h->arena);
}

static const char *check_words(const struct house *h)
{
    for (unsigned i = 0; i < h->rooms; i++) {
        const struct dictionary *d = h->room[i]->dictionary;
        uint64_t counted = 0, sum = 0;
        for (unsigned k = 0; k < STRIPES; k++)
            counted += d->stripe[k].counted;
        for (unsigned k = 0; k < WORDS; k++)
            sum += d->word[k].count;
        if (counted != sum)
            return "words";
    }
    return NULL;
}

const char *house_check(const struct house *h)
{
    for (unsigned i = 0; i < h->rooms; i++) {
        const struct room *r = h->room[i];
        uint64_t said = 0, heard = 0;
        for (unsigned k = 0; k < h->users; k++) {
            const struct session *s = &h->session[i * h->users + k];
            said += s->tally->said;
            heard += s->tally->heard;
            if (s->waiting)
                return "queue";
        }
        if (said != r->order)
            return "said";
        if (heard != r->delivered)
            return "heard";
        if (r->members)
            return "members";
    }
    return check_words(h);
}
