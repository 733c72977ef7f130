/* See output.h. */
#include "apps/tools/watchd/output.h"
#include <string.h>

static const char word[] = "RESULT ";
/* Values of `matched` behind the length of `word`. */
enum { IS_RESULT = sizeof word - 1, IS_OTHER };

/* Appends a byte to the RESULT lines if it belongs to one. */
static void sift(struct output *o, char c)
{
    if (o->matched < IS_RESULT) {
        o->matched = c == word[o->matched] ? o->matched + 1 : IS_OTHER;
        if (o->matched == IS_RESULT && o->results.n < OUTPUT_RESULTS)
            text_bytes(&o->results, word, IS_RESULT);
    } else if (o->matched == IS_RESULT && o->results.n < OUTPUT_RESULTS) {
        text_bytes(&o->results, &c, 1);
    }
    if (c == '\n')
        o->matched = 0;
}

void output_add(struct output *o, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sift(o, from[i]);
    if (o->kept.n + n > OUTPUT_KEPT) {
        size_t rest = o->kept.n < OUTPUT_KEPT / 2 ? o->kept.n : OUTPUT_KEPT / 2;
        if (rest)
            memmove(o->kept.at, o->kept.at + o->kept.n - rest, rest);
        o->kept.n = rest;
    }
    text_bytes(&o->kept, from, n);
    o->bytes += n;
}

uint64_t output_left_out(const struct output *o)
{
    return o->bytes - o->kept.n;
}

const char *output_from(const struct output *o, uint64_t from, size_t *n)
{
    uint64_t first = output_left_out(o);

    if (from < first)
        from = first;
    *n = from < o->bytes ? (size_t)(o->bytes - from) : 0;
    return *n ? o->kept.at + o->kept.n - *n : "";
}

void output_clear(struct output *o)
{
    text_free(&o->kept);
    text_free(&o->results);
    *o = (struct output){0};
}
