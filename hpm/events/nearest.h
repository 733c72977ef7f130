/* The name that was probably meant.  Pure. */
#pragma once
#include "hpm/events/event.h"
#include "kernel/text.h"

struct nearest {
    const char *text; /* what was given: n characters */
    size_t n;
    const char *best; /* NULL: nothing comes close */
    unsigned distance;
};

/* Remembers name if it is closer to what was given than those before: by single characters changed, added and left out, without
 * regard to case, at most a third of what was given. */
void nearest_consider(struct nearest *s, const char *name);

/* "; nearest: NAME", if there is one. */
static inline void nearest_suggest(const struct nearest *s, struct text *err)
{
    if (!s->best)
        return;
    text_put(err, "; nearest: ");
    text_put(err, s->best);
}
