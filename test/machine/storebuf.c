/* The ring of pending stores; see storebuf.h. */
#include "test/machine/storebuf.h"

void storebuf_init(struct storebuf *s, unsigned entries, unsigned drain)
{
    *s = (struct storebuf){.entries = entries, .drain = drain};
}

cycles_t storebuf_put_slow(struct storebuf *s, cycles_t now, cycles_t latency)
{
    cycles_t wait = 0;

    while (s->head != s->tail && s->done[s->head % STOREBUF_MAX] <= now)
        s->head++;
    if (s->tail - s->head == s->entries) {
        wait = s->done[s->head++ % STOREBUF_MAX] - now;
    }
    s->last_done = MAX(s->last_done, now + wait) + MAX(latency, s->drain);
    s->done[s->tail++ % STOREBUF_MAX] = s->last_done;
    return wait;
}
