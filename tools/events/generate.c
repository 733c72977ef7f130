/*
 * Prints the event tables of an architecture's PMUs as C:
 *
 *   generate x86_64|aarch64 VERSION-OF-LIBPFM4
 *
 * Without libpfm4's tables the version is an empty text, and the PMUs are those that need no
 * vendor's table. Names, register values and constraints that are equal are stored once. A name
 * that is the end of another is stored within it.
 */
#include "tools/events/source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAMILIES_MAX 16

static struct source_family families[FAMILIES_MAX];
static unsigned family_count;

static struct {
    const char **text;
    uint32_t *at; /* offset of each in the pool, once the pool is laid out */
    unsigned count, bytes;
} names;
static struct {
    uint64_t *value;
    unsigned count;
} extras;
static struct {
    struct event_limit value[UNIT_LIMIT_OF_ENTRY];
    unsigned count;
} limits;

static void die(const char *what, const char *name)
{
    fprintf(stderr, "events: error: %s: %s\n", name, what);
    exit(1);
}

void *source_alloc(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);

    if (!p)
        die("no memory", "calloc");
    return p;
}

void left_out(const char *pmu, const char *event, const char *why)
{
    fprintf(stderr, "events: %s: %s is left out: %s\n", pmu, event, why);
}

/* ---- What is stored once --------------------------------------------------------------------- */

static unsigned name_number(const char *text)
{
    unsigned i = 0;

    while (i < names.count && strcmp(names.text[i], text))
        i++;
    if (i < names.count)
        return i;
    names.text = realloc(names.text, (names.count + 1) * sizeof *names.text);
    names.text[names.count] = text;
    return names.count++;
}

static unsigned extra_number(uint64_t value)
{
    unsigned i = 0;

    while (i < extras.count && extras.value[i] != value)
        i++;
    if (i < extras.count)
        return i;
    extras.value = realloc(extras.value, (extras.count + 1) * sizeof *extras.value);
    extras.value[extras.count] = value;
    if (extras.count == UNIT_NO_EXTRA)
        die("too many register values", "extras");
    return extras.count++;
}

static unsigned limit_number(struct event_limit l, const char *event)
{
    unsigned i = 0;

    while (i < limits.count &&
           (limits.value[i].counters != l.counters || limits.value[i].fixed != l.fixed ||
            limits.value[i].exclusion != l.exclusion))
        i++;
    if (!l.counters && l.fixed == EVENT_NO_FIXED)
        die("no counter counts it", event);
    if (i < limits.count)
        return i;
    if (i == ARRAY_SIZE(limits.value))
        die("too many constraints", event);
    limits.value[limits.count] = l;
    return limits.count++;
}

static int longer_first(const void *a, const void *b)
{
    const char *x = names.text[*(const unsigned *)a], *y = names.text[*(const unsigned *)b];
    size_t m = strlen(x), n = strlen(y);

    return m != n ? (m < n) - (m > n) : strcmp(x, y);
}

/* Prints longer names first, so that a name that ends another finds it laid out. */
static void print_names(void)
{
    unsigned *order = source_alloc(names.count, sizeof *order),
             *stored = source_alloc(names.count, sizeof *stored);
    unsigned stored_count = 0;

    names.at = source_alloc(names.count, sizeof *names.at);
    for (unsigned i = 0; i < names.count; i++)
        order[i] = i;
    qsort(order, names.count, sizeof *order, longer_first);
    printf("static const char names[] =\n");
    for (unsigned i = 0; i < names.count; i++) {
        const char *text = names.text[order[i]];
        size_t length = strlen(text);
        unsigned j = 0;
        while (j < stored_count &&
               strcmp(names.text[stored[j]] + strlen(names.text[stored[j]]) - length, text))
            j++;
        if (j < stored_count) {
            names.at[order[i]] = names.at[stored[j]] + strlen(names.text[stored[j]]) - length;
            continue;
        }
        stored[stored_count++] = order[i];
        names.at[order[i]] = names.bytes;
        names.bytes += length + 1;
        printf("    \"%s\\0\"\n", text);
    }
    printf("    ;\n");
    if (names.bytes > UINT16_MAX)
        die("more text than 16 bits can point into", "names");
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_word(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') && *c != '_')
            return false;
    return *text;
}

static bool is_mode(const char *text)
{
    return strspn(text, "UK") == strlen(text);
}

/* Returns whether the text is R followed by hexadecimal digits alone, which would be taken for an
 * event given by its bits. */
static bool is_raw(const char *text)
{
    return text[0] == 'R' && strspn(text + 1, "0123456789ABCDEF") == strlen(text + 1);
}

static const char *trouble_with(const struct source_event *e)
{
    if (!is_word(e->name) || is_raw(e->name))
        return "its name could be taken for something else";
    if (e->groups > 3 || e->unit_count > UINT8_MAX || e->config >> 36)
        return "it does not fit the tables";
    for (unsigned i = 0; i < e->unit_count; i++) {
        const struct source_unit *u = &e->units[i];
        if (!is_word(u->name) || is_mode(u->name))
            return "a part's name could be taken for something else";
        if (u->group >= MAX(e->groups, 1u) || u->config >> 36)
            return "a part does not fit the tables";
    }
    return NULL;
}

void family_add(const struct source_family *f)
{
    if (family_count == FAMILIES_MAX)
        die("more families than there is room for", f->pmus[0].name);
    struct source_family *to = &families[family_count++];
    *to = *f;
    to->count = 0;
    for (unsigned i = 0; i < f->count; i++) {
        const char *trouble = trouble_with(&f->events[i]);
        if (trouble)
            left_out(f->pmus[0].name, f->events[i].name, trouble);
        else
            to->events[to->count++] = f->events[i];
    }
}

/* Enters the event's names, constraints and register values in their pools. */
static void register_event(const struct source_event *e)
{
    for (unsigned i = 0; i < e->unit_count; i++) {
        const struct source_unit *u = &e->units[i];
        if (u->has_limit)
            limit_number(u->limit, e->name);
        if (u->has_extra)
            extra_number(u->extra);
        name_number(u->name);
    }
    limit_number(e->limit, e->name);
    name_number(e->name);
}

/* ---- Output ---------------------------------------------------------------------------------- */

static unsigned high(uint64_t config, unsigned rest)
{
    return (unsigned)(config >> 32) | rest;
}

static void print_unit(const struct source_event *e, const struct source_unit *u)
{
    printf("    {0x%x, %u, %u, %u, %u, %u, 0x%x}, /* %s:%s */\n", (unsigned)u->config,
           names.at[name_number(u->name)], u->has_extra ? extra_number(u->extra) : UNIT_NO_EXTRA,
           u->has_limit ? limit_number(u->limit, e->name) : UNIT_LIMIT_OF_ENTRY, u->variants,
           u->flags, high(u->config, u->group << 4), e->name, u->name);
}

/* Prints the parts of the family's events, except those that an earlier event has, too. */
static void print_units(const struct source_family *f, const char *base, unsigned *first)
{
    unsigned count = 0;

    printf("static const struct event_unit %s_units[] = {\n", base);
    for (unsigned i = 0; i < f->count; i++) {
        const struct source_event *e = &f->events[i];
        unsigned j = 0;
        while (j < i && (!e->shared || f->events[j].shared != e->shared))
            j++;
        first[i] = j < i ? first[j] : count;
        if (j < i)
            continue;
        for (unsigned k = 0; k < e->unit_count; k++)
            print_unit(e, &e->units[k]);
        count += e->unit_count;
    }
    printf("    {0, 0, 0, 0, 0, 0, 0},\n};\n");
    if (count > UINT16_MAX)
        die("too many parts", f->pmus[0].name);
}

static void print_entries(const struct source_family *f, const char *base, const unsigned *first)
{
    printf("static const struct event_entry %s_entries[] = {\n", base);
    for (unsigned i = 0; i < f->count; i++) {
        const struct source_event *e = &f->events[i];
        printf("    {0x%x, %u, %u, %u, %u, %u, 0x%x}, /* %s */\n", (unsigned)e->config,
               names.at[name_number(e->name)], first[i], e->unit_count,
               limit_number(e->limit, e->name), e->variants,
               high(e->config,
                    e->groups << 4 | (e->precise ? ENTRY_PRECISE : 0) | (e->wide ? ENTRY_WIDE : 0)),
               e->name);
    }
    printf("};\n");
}

/* Returns a PMU's name as a C identifier. */
static const char *identifier(const char *name)
{
    char *out = source_alloc(strlen(name) + 1, 1);

    for (size_t i = 0; name[i]; i++)
        out[i] = name[i] == '-' ? '_' : name[i];
    return out;
}

static void print_family(const struct source_family *f)
{
    unsigned *first = source_alloc(f->count, sizeof *first);
    const char *base = identifier(f->pmus[0].name);

    print_units(f, base, first);
    print_entries(f, base, first);
    for (unsigned i = 0; i < ARRAY_SIZE(f->pmus) && f->pmus[i].name; i++)
        printf("static const struct event_table %s = {\n    .name = \"%s\", .variant = %u, .slots "
               "= %u,\n"
               "    .raw_counters = 0x%x, .raw_bits = 0x%llx, .select_bits = 0x%llx,\n"
               "    .entries = %s_entries, .entry_count = %u, .units = %s_units,\n"
               "    .limits = limits, .extras = extras, .names = names,\n};\n",
               identifier(f->pmus[i].name), f->pmus[i].name, 1u << i, f->pmus[i].slots,
               (unsigned)f->raw_counters, (unsigned long long)f->raw_bits,
               (unsigned long long)f->select_bits, base, f->count, base);
}

static void print_pools(void)
{
    print_names();
    printf("static const uint64_t extras[] = {\n");
    for (unsigned i = 0; i < extras.count; i++)
        printf("    0x%llx,\n", (unsigned long long)extras.value[i]);
    printf("%s};\n", extras.count ? "" : "    0,\n"); /* arrays must not be empty */
    printf("static const struct event_limit limits[] = {\n");
    for (unsigned i = 0; i < limits.count; i++)
        printf("    {0x%x, %u, %u},\n", (unsigned)limits.value[i].counters, limits.value[i].fixed,
               limits.value[i].exclusion);
    printf("};\n");
}

static void print_head(const char *arch, const char *version)
{
    if (*version)
        printf("/* Events of %s PMUs, from the tables of libpfm4 %s (see its COPYING).  Printed by "
               "tools/events/. */\n",
               arch, version);
    else
        printf("/* Events of %s PMUs, without vendors' tables.  Printed by tools/events/. */\n",
               arch);
    printf("#include \"hpm/events/table.h\"\n\nconst bool event_vendors = %s;\n",
           *version ? "true" : "false");
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "x86_64")) {
        intel_families();
        amd_families();
        architectural_x86();
    } else if (argc == 3 && !strcmp(argv[1], "aarch64")) {
        arm_families();
        architectural_arm();
    } else {
        die("usage: generate x86_64|aarch64 VERSION", argv[0]);
    }
    model_family();
    for (unsigned i = 0; i < family_count; i++)
        for (unsigned k = 0; k < families[i].count; k++)
            register_event(&families[i].events[k]);
    print_head(argv[1], argv[2]);
    print_pools();
    for (unsigned i = 0; i < family_count; i++)
        print_family(&families[i]);
    printf("const struct event_table *const event_tables[] = {\n");
    for (unsigned i = 0; i < family_count; i++)
        for (unsigned k = 0; k < ARRAY_SIZE(families[i].pmus) && families[i].pmus[k].name; k++)
            printf("    &%s,\n", identifier(families[i].pmus[k].name));
    printf("    NULL,\n};\n");
    return fflush(stdout) || ferror(stdout);
}
