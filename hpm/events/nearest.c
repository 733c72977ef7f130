/* Edit distance; see nearest.h. */
#include "hpm/events/nearest.h"
#include "kernel/text.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* Levenshtein's, one row at a time: row[j] is the distance of the first i characters of a to the first j of b. */
static unsigned distance(const char *a, size_t m, const char *b, size_t n)
{
    uint8_t row[EVENT_TEXT_MAX];

    for (size_t j = 0; j <= n; j++)
        row[j] = (uint8_t)j;
    for (size_t i = 0; i < m; i++) {
        unsigned diagonal = row[0];
        row[0] = (uint8_t)(i + 1);
        for (size_t j = 0; j < n; j++) {
            unsigned changed = diagonal + (lower(a[i]) != lower(b[j]));
            diagonal = row[j + 1];
            row[j + 1] = (uint8_t)MIN(changed, 1 + MIN(diagonal, (unsigned)row[j]));
        }
    }
    return row[n];
}

void nearest_consider(struct nearest *s, const char *name)
{
    size_t length = text_length(name), limit = MAX(s->n / 3, (size_t)1);

    if (length >= EVENT_TEXT_MAX || MAX(length, s->n) - MIN(length, s->n) > limit)
        return;
    unsigned d = distance(s->text, s->n, name, length);
    if (d > limit || (s->best && d >= s->distance))
        return;
    s->best = name;
    s->distance = d;
}
