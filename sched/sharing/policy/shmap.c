/*
 * Sharing signatures: see shmap.h.
 *
 * Invariants: a line owns, or is a candidate for, only the entry it hashes to. An entry with an
 * owner has no candidates; one without has only zero counters. Every sample has exactly one
 * outcome.
 */
#include "sched/sharing/policy/shmap.h"

const char *const shmap_grant_names[] = {"first", "second", NULL};

unsigned shmap_entries_for(unsigned threads)
{
    unsigned entries = 1024;

    while (entries < 32 * threads && entries < SHMAP_ENTRIES_MAX)
        entries *= 2;
    return entries;
}

static bool config_valid(const struct shmap_config *c)
{
    return c->threads >= 1 && c->threads <= SHMAP_THREADS_MAX && is_pow2(c->entries) &&
           c->entries >= 16 && c->entries <= SHMAP_ENTRIES_MAX && is_pow2(c->line_bytes) &&
           c->line_bytes >= 16 && c->grant < SHMAP_GRANT_COUNT;
}

size_t shmap_bytes(const struct shmap_config *c)
{
    size_t bytes;

    if (!config_valid(c))
        return 0;
    bytes = c->entries * (sizeof(uint64_t) + SHMAP_CANDIDATES * sizeof(struct shmap_candidate)) +
            c->threads * (sizeof(uint32_t) + c->entries);
    return ALIGN_UP(bytes, (size_t)8);
}

int shmap_init(struct shmap_table *table, const struct shmap_config *config, void *memory,
               size_t bytes)
{
    size_t needed = shmap_bytes(config);

    if (needed == 0 || !IS_ALIGNED((uintptr_t)memory, sizeof(uint64_t)))
        return -EINVAL;
    if (bytes < needed)
        return -ENOMEM;
    table->config = *config;
    table->owner = memory;
    table->candidate = (struct shmap_candidate *)(table->owner + config->entries);
    table->sampled = (uint32_t *)(table->candidate + (size_t)config->entries * SHMAP_CANDIDATES);
    table->count = (uint8_t *)(table->sampled + config->threads);
    memset(memory, 0, needed);
    memset(table->outcomes, 0, sizeof table->outcomes);
    return 0;
}

/* Returns the entry a line hashes to. Neighbouring lines do not go to neighbouring entries, and
 * another seed brings other lines together. */
static unsigned entry_of(const struct shmap_table *table, uint64_t line)
{
    uint64_t x = line ^ table->config.seed;

    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return (unsigned)(x >> (64 - log2_floor(table->config.entries)));
}

static uint8_t *counter(const struct shmap_table *table, unsigned thread, unsigned entry)
{
    return &table->count[(size_t)thread * table->config.entries + entry];
}

static struct shmap_candidate *candidates_at(const struct shmap_table *table, unsigned entry)
{
    return &table->candidate[(size_t)entry * SHMAP_CANDIDATES];
}

static void count_hit(struct shmap_table *table, unsigned thread, unsigned entry)
{
    uint8_t *c = counter(table, thread, entry);

    if (*c < SHMAP_COUNT_MAX)
        (*c)++;
}

/* Makes the hit the latest candidate of the set. It leaves its former place, or else the oldest
 * candidate is dropped. */
static void remember(struct shmap_candidate *set, unsigned place, struct shmap_candidate hit)
{
    memmove(set + 1, set, MIN(place, SHMAP_CANDIDATES - 1u) * sizeof *set);
    set[0] = hit;
}

static enum shmap_outcome stand_for(struct shmap_table *table, unsigned entry,
                                    struct shmap_candidate hit)
{
    struct shmap_candidate *set = candidates_at(table, entry);
    unsigned place = 0;

    while (place < SHMAP_CANDIDATES && set[place].line != hit.line)
        place++;
    if (place == SHMAP_CANDIDATES || set[place].side == hit.side) {
        remember(set, place, hit);
        return SHMAP_PENDING;
    }
    count_hit(table, set[place].thread, entry); /* the candidate's first hit was sharing, too */
    table->owner[entry] = hit.line;
    memset(set, 0, SHMAP_CANDIDATES * sizeof *set);
    return SHMAP_COUNTED;
}

enum shmap_outcome shmap_record(struct shmap_table *table, unsigned thread, unsigned side,
                                uint64_t address)
{
    uint64_t line = (address >> log2_floor(table->config.line_bytes)) + 1;
    unsigned entry = entry_of(table, line);
    enum shmap_outcome outcome = SHMAP_COUNTED;

    ASSERT(thread < table->config.threads);
    if (table->owner[entry] == 0) {
        if (table->config.grant == SHMAP_FIRST)
            table->owner[entry] = line;
        else
            outcome = stand_for(table, entry, (struct shmap_candidate){line, thread, side});
    } else if (table->owner[entry] != line) {
        outcome = SHMAP_COLLIDED;
    }
    if (outcome == SHMAP_COUNTED)
        count_hit(table, thread, entry);
    table->sampled[thread]++;
    table->outcomes[outcome]++;
    return outcome;
}

uint64_t shmap_samples(const struct shmap_table *table)
{
    return table->outcomes[SHMAP_COUNTED] + table->outcomes[SHMAP_PENDING] +
           table->outcomes[SHMAP_COLLIDED];
}

static const char *check_candidates(const struct shmap_table *table, unsigned entry)
{
    const struct shmap_candidate *set = candidates_at(table, entry);

    for (unsigned i = 0; i < SHMAP_CANDIDATES; i++) {
        if (set[i].line == 0)
            continue;
        if (table->owner[entry])
            return "an owned entry has candidates";
        if (entry_of(table, set[i].line) != entry)
            return "a candidate stands at an entry that is not its own";
        if (set[i].thread >= table->config.threads)
            return "a candidate was hit by a thread that does not exist";
        for (unsigned j = 0; j < i; j++) {
            if (set[j].line == set[i].line)
                return "a candidate stands twice";
        }
    }
    return NULL;
}

const char *shmap_check(const struct shmap_table *table)
{
    uint64_t sampled = 0;

    for (unsigned e = 0; e < table->config.entries; e++) {
        const char *broken = check_candidates(table, e);

        if (broken)
            return broken;
        if (table->owner[e] && entry_of(table, table->owner[e]) != e)
            return "a line owns an entry that is not its own";
        for (unsigned t = 0; t < table->config.threads; t++) {
            if (*counter(table, t, e) && !table->owner[e])
                return "an entry without an owner has counts";
            if (*counter(table, t, e) > table->sampled[t])
                return "a thread has more counts than samples";
        }
    }
    for (unsigned t = 0; t < table->config.threads; t++)
        sampled += table->sampled[t];
    return sampled > shmap_samples(table) ? "the threads have more samples than the table" : NULL;
}
