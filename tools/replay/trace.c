/* Page traces: recognizes the format, and numbers pages densely by a hash table. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "mm/track/page_trace.h"
#include "mm/policy/replace/replace.h"
#include "tools/replay/trace.h"

const char *const trace_format_names[] = {"guess", "vigil", "text",   "lirs",
                                          "u32",   "u64",   "oracle", NULL};

struct trace_key {
    uint64_t page;
    uint32_t space;
    /* number: the page's + 1, 0: empty. gone: unmapped since. */
    uint32_t number : 31, gone : 1;
};

int trace_refuse(struct trace_reading *r, size_t offset, const char *fmt, ...)
{
    char what[TRACE_WHY - 40];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    snprintf(r->why, TRACE_WHY, "at byte %zu: %s", offset, what);
    return -EINVAL;
}

static struct trace_key *slot(struct trace_key *key, size_t keys, uint32_t space, uint64_t page)
{
    /* 2^64 / golden ratio */
    uint64_t hash = (page ^ (uint64_t)space << 40) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (hash ^ hash >> 32) & (keys - 1);

    while (key[at].number && (key[at].page != page || key[at].space != space))
        at = (at + 1) & (keys - 1);
    return &key[at];
}

static int more_keys(struct trace_reading *r)
{
    size_t keys = r->keys ? r->keys * 2 : 1024;
    struct trace_key *key = calloc(keys, sizeof *key);

    if (!key)
        return -ENOMEM;
    for (size_t i = 0; i < r->keys; i++)
        if (r->key[i].number)
            *slot(key, keys, r->key[i].space, r->key[i].page) = r->key[i];
    free(r->key);
    r->key = key;
    r->keys = keys;
    return 0;
}

static int more_room(struct trace_reading *r)
{
    size_t room = r->room ? r->room * 2 : 4096;
    uint32_t *page = realloc(r->t->page, room * sizeof *page);

    if (page)
        r->t->page = page;
    uint8_t *event = page ? realloc(r->t->event, room) : NULL;
    if (!event)
        return -ENOMEM;
    r->t->event = event;
    r->room = room;
    return 0;
}

int trace_add(struct trace_reading *r, uint32_t space, uint64_t page, enum trace_event event)
{
    struct page_trace *t = r->t;
    int rc = 0;

    if (2 * (size_t)t->pages >= r->keys)
        rc = more_keys(r);
    if (!rc && t->length == r->room)
        rc = more_room(r);
    if (rc)
        return rc;
    struct trace_key *k = slot(r->key, r->keys, space, page);
    if (!k->number || k->gone) {
        if (t->pages == REPLACE_NODES_MAX) {
            snprintf(r->why, TRACE_WHY, "more than %u different pages", REPLACE_NODES_MAX);
            return -EINVAL;
        }
        *k = (struct trace_key){.page = page, .space = space, .number = ++t->pages};
    }
    k->gone = event == TRACE_UNMAPPED;
    t->page[t->length] = k->number - 1;
    t->event[t->length++] = event;
    t->accesses += event == TRACE_ACCESS;
    t->prefetched += event == TRACE_PREFETCHED;
    return 0;
}

/* Tells text by its beginning; comments may be in any language. */
static bool is_text(const uint8_t *data, size_t size)
{
    bool digits = false, comment = false;

    for (size_t i = 0; i < MIN(size, (size_t)65536); i++) {
        uint8_t c = data[i];
        comment = c != '\n' && (comment || c == '#');
        if ((c < ' ' && c != '\n' && c != '\r' && c != '\t') || (c > '~' && !comment))
            return false;
        digits |= !comment && c >= '0' && c <= '9';
    }
    return digits;
}

/* Returns whether any line is a *. */
static bool has_stars(const uint8_t *data, size_t size)
{
    bool first = true;

    for (size_t i = 0; i < size; i++) {
        if (first && data[i] == '*')
            return true;
        first =
            data[i] == '\n' || (first && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r'));
    }
    return false;
}

static int guess(struct trace_reading *r)
{
    uint64_t magic = 0;

    memcpy(&magic, r->data, MIN(r->size, sizeof magic));
    if (magic == PAGE_TRACE_MAGIC)
        r->t->format = TRACE_VIGIL;
    else if (is_text(r->data, r->size))
        r->t->format = has_stars(r->data, r->size) ? TRACE_LIRS : TRACE_TEXT;
    else if (trace_is_oracle(r->data, r->size))
        r->t->format = TRACE_ORACLE;
    else
        return trace_refuse(
            r, 0,
            "cannot tell the format: expected \"vpgtrace\", text or oracle records; say "
            "--format u32, u64 or oracle if it is one of them");
    return 0;
}

static int read_all(struct trace_reading *r)
{
    switch (r->t->format) {
    case TRACE_VIGIL:
        return trace_read_vigil(r);
    case TRACE_U32:
    case TRACE_U64:
        return trace_read_numbers(r);
    case TRACE_ORACLE:
        return trace_read_oracle(r);
    default:
        return trace_read_text(r);
    }
}

int trace_open(struct page_trace *t, const uint8_t *data, size_t size, enum trace_format format,
               uint32_t space, char why[TRACE_WHY])
{
    struct trace_reading r = {.t = t, .data = data, .size = size, .space = space, .why = why};
    int rc = 0;

    *t = (struct page_trace){.format = format};
    why[0] = 0;
    if (format == TRACE_GUESS)
        rc = guess(&r);
    if (!rc)
        rc = read_all(&r);
    free(r.key);
    free(r.time);
    if (!rc && t->accesses == 0)
        rc = trace_refuse(&r, size, "expected accesses to pages, found none");
    if (rc)
        trace_close(t);
    return rc;
}

void trace_close(struct page_trace *t)
{
    free(t->page);
    free(t->event);
    t->page = NULL;
    t->event = NULL;
    t->length = 0;
}
