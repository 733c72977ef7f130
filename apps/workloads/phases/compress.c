/*
 * Compresses text.
 *
 * Phases: "generate" writes words of a small vocabulary, some much more often than others, and
 * sometimes a stretch of random bytes; "compress"; "decompress"; "check".
 *
 * Laws:
 * - text is smaller when compressed;
 * - the result is the original.
 */
#include <string.h>
#include "apps/workloads/phases/job.h"
#include "apps/workloads/phases/lz.h"

enum { WORDS = 512, WORD_MIN = 3, WORD_MAX = 12, NOISE_EVERY = 256, NOISE_BYTES = 200, KIB = 1024 };

struct word {
    uint8_t length;
    char text[WORD_MAX];
};

struct compress {
    struct word words[WORDS];
    struct lz_tables tables;
    uint8_t *text, *packed, *unpacked;
    size_t bytes, packed_bytes;
    ptrdiff_t unpacked_bytes;
};

static void invent_words(struct phases_job *job, struct compress *c)
{
    for (unsigned w = 0; w < WORDS; w++) {
        struct word *word = &c->words[w];
        word->length = (uint8_t)(WORD_MIN + prng_below(&job->prng, WORD_MAX - WORD_MIN));
        for (unsigned i = 0; i < word->length; i++)
            word->text[i] = (char)('a' + prng_below(&job->prng, 26));
        word->text[word->length++] = ' ';
    }
}

static size_t put(struct compress *c, size_t at, const void *bytes, size_t count)
{
    size_t part = c->bytes - at < count ? c->bytes - at : count;

    memcpy(c->text + at, bytes, part);
    return at + part;
}

static size_t put_noise(struct phases_job *job, struct compress *c, size_t at)
{
    for (unsigned i = 0; i < NOISE_BYTES / sizeof(uint64_t); i++) {
        uint64_t random = prng_next(&job->prng);
        at = put(c, at, &random, sizeof random);
    }
    return at;
}

static void generate(struct phases_job *job, struct compress *c)
{
    size_t at = 0;

    invent_words(job, c);
    while (at < c->bytes) {
        uint64_t random = prng_next(&job->prng);
        if (random >> 32 & (NOISE_EVERY - 1)) {
            uint32_t any = random % WORDS, of = (uint32_t)(random >> 16) % WORDS;
            const struct word *word = &c->words[any * of / WORDS]; /* low numbers most often */
            at = put(c, at, word->text, word->length);
        } else {
            at = put_noise(job, c, at);
        }
    }
}

static const char *check(struct phases_job *job, const struct compress *c)
{
    if (c->packed_bytes > lz_bound(c->bytes))
        return "packed_is_bounded";
    if (c->unpacked_bytes != (ptrdiff_t)c->bytes || memcmp(c->unpacked, c->text, c->bytes) != 0)
        return "unpacked_is_the_text";
    if (c->bytes >= LZ_WINDOW && c->packed_bytes > c->bytes / 4 * 3)
        return "text_becomes_smaller";
    phases_result(job, c->packed_bytes);
    for (size_t i = 0; i < c->packed_bytes; i++)
        phases_result(job, c->packed[i]);
    return NULL;
}

static const char *round_of(struct phases_job *job)
{
    struct compress *c = job->data;

    phases_enter(job, "generate");
    generate(job, c);
    phases_enter(job, "compress");
    c->packed_bytes = lz_compress(&c->tables, c->text, c->bytes, c->packed);
    phases_enter(job, "decompress");
    c->unpacked_bytes = lz_decompress(c->packed, c->packed_bytes, c->unpacked, c->bytes);
    phases_enter(job, "check");
    return check(job, c);
}

static void prepare(struct phases_job *job)
{
    struct compress *c = phases_alloc(job, sizeof *c);

    c->bytes = job->size * KIB;
    c->text = phases_alloc(job, c->bytes);
    c->packed = phases_alloc(job, lz_bound(c->bytes));
    c->unpacked = phases_alloc(job, c->bytes);
    job->data = c;
    job->product = c->unpacked;
    job->product_bytes = c->bytes;
}

const struct phases_kind phases_compress = {"compress", "KiB", 512, 1, 65536, prepare, round_of};
