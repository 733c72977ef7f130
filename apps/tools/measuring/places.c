/* See places.h. A name for which there is no memory is "?", and is not remembered. */
#include "apps/tools/measuring/places.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/hpm.h"
#include "apps/libc/memory.h"
#include "apps/tools/measuring/images.h"

static const char unknown[] = "?", kernel[] = "kernel", kernel_memory[] = "kernel memory";

/* ---- Texts ----------------------------------------------------------------------------------- */

struct text {
    struct table_key key; /* its hash, and the number of other strings with the same hash */
    char *text;
};
static struct table texts = {.bytes = sizeof(struct text)};

/* FNV-1a. */
static uint64_t hash_text(const char *s)
{
    uint64_t h = 0xcbf29ce484222325;

    while (*s)
        h = (h ^ (unsigned char)*s++) * 0x100000001b3;
    return h;
}

/* Returns the one copy of a string. */
static const char *intern(const char *s)
{
    struct table_key key = {{hash_text(s)}};
    struct text *t;

    for (; (t = table_get(&texts, &key)) && t->text; key.part[1]++)
        if (!strcmp(t->text, s))
            return t->text;
    if (t)
        t->text = strdup(s);
    return t && t->text ? t->text : unknown;
}

/* ---- Programs -------------------------------------------------------------------------------- */

struct program {
    struct table_key key; /* pid */
    const char *name;
};
static struct table programs = {.bytes = sizeof(struct program)};

void places_name(uint32_t pid, const char *program)
{
    struct program *p = table_get(&programs, &(struct table_key){{pid}});

    if (p)
        p->name = intern(program);
}

const char *places_program(uint32_t pid)
{
    struct sys_thread_info thread;

    if (!pid)
        return kernel;
    struct program *p = table_get(&programs, &(struct table_key){{pid}});
    if (!p)
        return unknown;
    if (!p->name)
        p->name = application_threads((int)pid, &thread, 1) > 0 ? intern(thread.name) : unknown;
    return p->name;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static bool (*ask_for_name)(uint32_t, uint64_t, struct images_found *);

void places_ask(bool (*find)(uint32_t pid, uint64_t address, struct images_found *out))
{
    ask_for_name = find;
}

static struct table places = {.bytes = sizeof(struct place)};

static const char *text_or_unknown(const char *s)
{
    return s[0] ? intern(s) : unknown;
}

static void look_further(uint32_t pid, uint64_t address, struct place *out)
{
    struct images_found found;

    if (!pid || out->program == kernel || !ask_for_name || !ask_for_name(pid, address, &found))
        return;
    if (found.name) {
        out->function = intern(found.name);
        out->offset = found.offset;
    }
    if (found.file) {
        out->file = intern(found.file);
        out->line = found.line;
    }
}

static void look_up_symbol(uint32_t pid, uint64_t address, struct place *out)
{
    struct sys_symbol found;

    out->program = out->function = out->file = unknown;
    if (symbol_of((int)pid, address, &found)) {
        out->program = places_program(pid);
        look_further(pid, address, out);
        return;
    }
    bool in_kernel = !strcmp(found.region, kernel);
    out->program = in_kernel ? kernel : places_program(pid);
    out->function = text_or_unknown(found.function);
    out->file = text_or_unknown(found.file);
    out->region = found.region[0] ? intern(found.region) : NULL;
    out->offset = found.function_offset;
    out->line = found.line;
    if (!found.function[0])
        look_further(pid, address, out);
}

const struct place *places_code(uint32_t pid, uint64_t pc)
{
    static struct place work;
    struct place *p = table_get(&places, &(struct table_key){{pid, pc}});

    if (!p)
        p = &work;
    if (!p->program || p == &work)
        look_up_symbol(pid, pc, p);
    return p;
}

/* ---- Regions --------------------------------------------------------------------------------- */

struct region {
    struct table_key key; /* pid, first byte */
    uint64_t end;
    uint64_t shared, shared_offset; /* as in struct sys_symbol, of the first byte */
    unsigned turn;                  /* turn of the last look-up */
    const char *name;
};
static struct table regions = {.bytes = sizeof(struct region)};
static unsigned turn = 1;

void places_turn(void)
{
    turn++;
}

/* Returns the region looked up last, not before turn `oldest`, or NULL. */
static const struct region *find_region(uint32_t pid, uint64_t address, unsigned oldest)
{
    const struct region *r, *found = NULL;

    for (size_t cursor = 0; (r = table_next(&regions, &cursor));)
        if (r->key.part[0] == pid && r->key.part[1] <= address && address < r->end &&
            r->turn >= oldest && (!found || r->turn > found->turn))
            found = r;
    return found;
}

void places_regions(void (*each)(uint32_t pid, uint64_t start, uint64_t bytes, const char *name))
{
    const struct region *r;

    for (size_t cursor = 0; (r = table_next(&regions, &cursor));)
        each((uint32_t)r->key.part[0], r->key.part[1], r->end - r->key.part[1], r->name);
}

/* Asks the kernel for the region. NULL: the process has ended, or no region is there, or there is
 * no memory to remember it. */
static const struct region *ask_for_region(uint32_t pid, uint64_t address)
{
    struct sys_symbol found;

    if (symbol_of((int)pid, address, &found) || !found.region[0])
        return NULL;
    uint64_t start = address - found.region_offset;
    struct region *r = table_get(&regions, &(struct table_key){{pid, start}});
    if (!r)
        return NULL;
    r->end = start + found.region_bytes;
    r->shared = found.shared;
    r->shared_offset = found.shared_offset - found.region_offset;
    r->turn = turn;
    r->name = intern(found.region);
    return r;
}

static const struct region *region_at(uint32_t pid, uint64_t address)
{
    const struct region *r = find_region(pid, address, turn);

    r = r ? r : ask_for_region(pid, address);
    return r || address >> 63 ? r : find_region(pid, address, 0);
}

const char *places_region(uint32_t pid, uint64_t address)
{
    const struct region *r = region_at(pid, address);

    return r ? r->name : address >> 63 ? kernel_memory : unknown;
}

struct places_memory places_memory(uint32_t pid, uint64_t address)
{
    if (address >> 63)
        return (struct places_memory){0, address};
    const struct region *r = region_at(pid, address);
    if (r && r->shared)
        return (struct places_memory){(uint64_t)1 << 32 | r->shared,
                                      address - r->key.part[1] + r->shared_offset};
    return (struct places_memory){pid, address};
}
