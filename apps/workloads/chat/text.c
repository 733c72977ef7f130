/* What is said, and the words in it. */
#include <string.h>
#include "apps/common/prng.h"
#include "apps/workloads/chat/chat.h"

enum { VOCABULARY = 700, LEAST_WORDS = 4, MORE_WORDS = 9 };

uint32_t text_sum(const char *text, unsigned bytes)
{
    uint32_t sum = 0x811c9dc5; /* FNV-1a */

    for (unsigned i = 0; i < bytes; i++)
        sum = (sum ^ (uint8_t)text[i]) * 0x01000193;
    return sum;
}

/* Writes word `number` of the vocabulary. Returns its bytes. */
static unsigned word_make(unsigned number, char *to)
{
    static const char *const syllables[] = {"ka", "lo", "mi", "ne", "pu", "ra", "si", "to", "vu"};
    unsigned n = 0;

    do {
        memcpy(to + n, syllables[number % 9], 2);
        n += 2;
    } while ((number /= 9) != 0);
    return n;
}

unsigned text_make(uint64_t random, char *to)
{
    struct prng prng = prng_seeded(random, 0);
    unsigned words = LEAST_WORDS + prng_below(&prng, MORE_WORDS), n = 0;

    for (unsigned i = 0; i < words; i++) {
        /* frequent words are much more frequent than others */
        unsigned number = prng_below(&prng, 1 + prng_below(&prng, VOCABULARY));
        n += word_make(number, to + n);
        to[n++] = ' ';
    }
    return n;
}

void dictionary_init(struct dictionary *d)
{
    for (unsigned i = 0; i < STRIPES; i++)
        pthread_mutex_init(&d->stripe[i].lock, NULL);
}

/* A word's place is in the part of its stripe. */
static void count_word(struct dictionary *d, const char *text, unsigned bytes)
{
    char word[WORD_MAX] = {0};

    memcpy(word, text, bytes < WORD_MAX ? bytes : WORD_MAX);
    uint32_t hash = text_sum(word, WORD_MAX);
    unsigned stripe = hash % STRIPES, places = WORDS / STRIPES;
    struct word *part = &d->word[stripe * places];
    struct stripe *s = &d->stripe[stripe];
    pthread_mutex_lock(&s->lock);
    for (unsigned i = 0; i < places; i++) {
        struct word *w = &part[(hash / STRIPES + i) % places];
        if (!w->count)
            memcpy(w->text, word, WORD_MAX);
        if (memcmp(w->text, word, WORD_MAX) == 0) {
            w->count++;
            s->counted++;
            pthread_mutex_unlock(&s->lock);
            return;
        }
    }
    s->lost++;
    pthread_mutex_unlock(&s->lock);
}

unsigned dictionary_count(struct dictionary *d, const char *text, unsigned bytes)
{
    unsigned words = 0, at = 0;

    while (at < bytes) {
        unsigned end = at;
        while (end < bytes && text[end] != ' ')
            end++;
        if (end > at) {
            count_word(d, text + at, end - at);
            words++;
        }
        at = end + 1;
    }
    return words;
}
