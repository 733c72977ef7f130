/* Counts words of a text that it makes up, sorts them, and packs them by run lengths: a program of
 * Linux with three phases, for test/bench/functions.sh. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 14, LETTERS = 400000 };

struct word {
    char text[8];
    uint32_t count;
};
static struct word table[SLOTS];
static char text[LETTERS + 1];

static void make_text(uint32_t seed)
{
    for (unsigned i = 0; i < LETTERS; i++) {
        seed = seed * 1664525 + 1013904223;
        text[i] = seed >> 28 < 4 ? ' ' : (char)('a' + (seed >> 24) % 6);
    }
}

static void enter_word(const char *from, size_t n)
{
    char word[8] = "";
    uint32_t hash = 2166136261u;

    memcpy(word, from, n < 7 ? n : 7);
    for (unsigned i = 0; i < 8; i++)
        hash = (hash ^ (uint8_t)word[i]) * 16777619u;
    unsigned at = hash % SLOTS;
    while (table[at].count && memcmp(table[at].text, word, 8) != 0)
        at = (at + 1) % SLOTS;
    memcpy(table[at].text, word, 8);
    table[at].count++;
}

static void count_words(void)
{
    memset(table, 0, sizeof table);
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, " ");
        if (n && n < 6)
            enter_word(at, n);
        at += n + (at[n] == ' ');
    }
}

static int by_count(const void *a, const void *b)
{
    uint32_t x = ((const struct word *)a)->count, y = ((const struct word *)b)->count;

    return x < y ? 1 : x > y ? -1 : memcmp(a, b, 8);
}

static void sort_words(void)
{
    qsort(table, SLOTS, sizeof table[0], by_count);
}

static size_t pack_text(void)
{
    size_t packed = 0;

    for (unsigned i = 0; i < LETTERS;) {
        unsigned n = 1;
        while (i + n < LETTERS && text[i + n] == text[i] && n < 255)
            n++;
        packed += n > 1 ? 2 : 1;
        i += n;
    }
    return packed;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
    size_t packed = 0;

    for (unsigned i = 0; i < rounds; i++) {
        make_text(i + 1);
        count_words();
        sort_words();
        packed += pack_text();
    }
    printf("words: rounds=%u most=%s %u packed=%zu\n", rounds, table[0].text, table[0].count,
           packed);
    return 0;
}
