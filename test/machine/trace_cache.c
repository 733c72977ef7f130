/*
 * Feeds a memory trace of `valgrind --tool=lackey --trace-mem=yes` (standard input) through the
 * caches of one core, and prints the counts that cachegrind prints, in the order Ir I1mr ILmr Dr
 * D1mr DLmr Dw D1mw DLmw.
 *
 * As cachegrind counts: an access that crosses a line is one access, and one miss if either line
 * misses; a modification is a read; the last level is the L2, and there is no L3.
 *
 * Usage: trace_cache LINE I1-SIZE I1-WAYS D1-SIZE D1-WAYS LL-SIZE LL-WAYS (sizes in bytes)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "test/machine/cache.h"

enum { INSTRUCTION, READ, WRITE, KINDS };

struct misses {
    uint64_t accesses, first, last;
};

static struct cache_result access_one(struct cache *c, int kind, uint64_t address)
{
    if (kind == INSTRUCTION)
        return cache_fetch(c, 0, address);
    return kind == WRITE ? cache_store(c, 0, address, 1) : cache_load(c, 0, address);
}

static void access_all(struct cache *c, struct misses *m, int kind, uint64_t address, unsigned size)
{
    bool first = false, last = false;
    uint64_t line = c->topology->line_bytes;
    for (uint64_t at = address & ~(line - 1); at < address + size; at += line) {
        struct cache_result r = access_one(c, kind, at);
        first |= r.source != CACHE_L1;
        last |= r.source == CACHE_LOCAL_MEMORY;
    }
    m[kind].accesses++;
    m[kind].first += first;
    m[kind].last += last;
}

static struct geometry geometry_of(char **arguments, unsigned line)
{
    uint32_t ways = (uint32_t)strtoul(arguments[1], NULL, 0);
    return (struct geometry){
        .sets = (uint32_t)(strtoul(arguments[0], NULL, 0) / (line * MAX(ways, 1u))), .ways = ways};
}

/* Returns the kind of access; -1: the line is none. */
static int kind_of(const char *text)
{
    if (text[0] == 'I' && text[1] == ' ')
        return INSTRUCTION;
    if (text[0] != ' ')
        return -1;
    return text[1] == 'S' ? WRITE : text[1] == 'L' || text[1] == 'M' ? READ : -1;
}

int main(int argc, char **argv)
{
    struct topology t = *topology_find("uniprocessor");
    struct misses m[KINDS] = {{0}};
    const char *what;
    char text[256];

    if (argc != 8) {
        fprintf(stderr, "usage: %s LINE I1-SIZE I1-WAYS D1-SIZE D1-WAYS LL-SIZE LL-WAYS <trace\n",
                argv[0]);
        return 2;
    }
    t.line_bytes = (unsigned)strtoul(argv[1], NULL, 0);
    t.l1i = geometry_of(argv + 2, MAX(t.line_bytes, 1u));
    t.l1d = geometry_of(argv + 4, MAX(t.line_bytes, 1u));
    t.l2 = geometry_of(argv + 6, MAX(t.line_bytes, 1u));
    t.l3 = (struct geometry){0};
    if (topology_check(&t, &what)) {
        fprintf(stderr, "%s: %s makes no sense\n", argv[0], what);
        return 2;
    }
    struct cache *c = cache_create(&t);
    if (!c) {
        fprintf(stderr, "%s: no memory\n", argv[0]);
        return 1;
    }
    while (fgets(text, sizeof(text), stdin)) {
        int kind = kind_of(text);
        uint64_t address;
        unsigned size;
        if (kind >= 0 && sscanf(text + 2, "%" SCNx64 ",%u", &address, &size) == 2)
            access_all(c, m, kind, address, size);
    }
    for (int kind = 0; kind < KINDS; kind++)
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "%c", m[kind].accesses, m[kind].first,
               m[kind].last, kind == KINDS - 1 ? '\n' : ' ');
    what = cache_check(c);
    if (what)
        fprintf(stderr, "%s: broken invariant: %s\n", argv[0], what);
    cache_destroy(c);
    return what ? 1 : 0;
}
