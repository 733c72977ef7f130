/* See chains.h. What there is no memory for is left out and said. */
#include "apps/tools/measuring/chains.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/measuring/places.h"
#include "apps/tools/measuring/recording.h"
#include "apps/tools/measuring/table.h"
#include "apps/libc/hpm.h"

/* Names that are equal are equal pointers (places.h), so a chain of names has a key: what the names
 * before the last one are, and the last one. */
struct names {
    struct table_key key; /* the names before it, the last name, whether that is the kernel's */
    const struct names *before;
    const char *name;
    bool kernel;
    uint64_t count[RECORDING_CRITERIA_MAX];
};
static struct table all_names = {.bytes = sizeof(struct names)};

struct chain {
    struct table_key key; /* pid, number */
    struct names *names;
    unsigned length;
    uint64_t *address;
};
static struct table all_chains = {.bytes = sizeof(struct chain)};
static uint64_t left_out; /* samples */

static struct names *add_name(struct names *before, const char *name, bool kernel)
{
    struct names *n =
        table_get(&all_names, &(struct table_key){{(uintptr_t)before, (uintptr_t)name, kernel}});

    if (n) {
        n->before = before;
        n->name = name;
        n->kernel = kernel;
    }
    return n;
}

/* Names the function of an address. Behind the first, addresses are those that calls return to: the
 * call is before them. */
static struct names *add_address(struct names *before, uint32_t pid, uint64_t address, bool first)
{
    const struct place *place = places_code(pid, first ? address : address - 1);

    return add_name(before, place->function, address >> 63);
}

/* Returns the chain's names, the program's first; NULL: no memory. */
static struct names *name_all(uint32_t pid, const uint64_t *address, unsigned length)
{
    struct names *n = add_name(NULL, places_program(pid), false);

    for (unsigned i = length; n && i--;)
        n = add_address(n, pid, address[i], !i);
    return n;
}

static bool read_chain(struct chain *c, int session, const struct sys_sample *s)
{
    uint64_t address[SYS_CHAIN_MAX] = {s->pc};
    int n = s->chain ? samples_chain(session, s->chain, address, SYS_CHAIN_MAX) : 1;

    if (n < 1)
        return false;
    c->length = (unsigned)n;
    c->names = name_all(s->pid, address, c->length);
    c->address = malloc(c->length * sizeof *c->address);
    if (c->address)
        memcpy(c->address, address, c->length * sizeof *c->address);
    return c->names && c->address;
}

void chains_note(int session, const struct sys_sample *s)
{
    struct table_key key = {{s->pid, s->chain, s->chain ? 0 : s->pc}};
    struct chain *c = table_get(&all_chains, &key);

    if (!c || (!c->address && !read_chain(c, session, s))) {
        left_out++;
        return;
    }
    c->names->count[s->criterion] += s->period;
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* Prints the names with `_` in place of blanks and semicolons. */
static void print_names(const struct names *n)
{
    if (n->before) {
        print_names(n->before);
        putchar(';');
    }
    for (const char *c = n->name; *c; c++)
        putchar(*c == ' ' || *c == ';' ? '_' : *c);
    if (n->kernel)
        printf("_[k]");
}

void chains_print_folded(unsigned criterion, const char *name)
{
    const struct names *n;

    for (size_t cursor = 0; (n = table_next(&all_names, &cursor));) {
        if (!n->count[criterion])
            continue;
        printf("FOLDED %s ", name);
        print_names(n);
        printf(" %" PRIu64 "\n", n->count[criterion]);
    }
    if (left_out)
        printf("chains: left_out=%" PRIu64 " reason=memory: samples without their chains\n",
               left_out);
}

void chains_print_addresses(void)
{
    const struct chain *c;

    for (size_t cursor = 0; (c = table_next(&all_chains, &cursor));) {
        if (!c->key.part[1] || !c->address)
            continue;
        printf("CHAIN %" PRIu64, c->key.part[1]);
        for (unsigned i = 0; i < c->length; i++)
            printf(" %" PRIx64, c->address[i]);
        printf("\n");
    }
}
