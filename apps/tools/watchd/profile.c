/* See profile.h. Fields of profile.proto are written by their numbers. */
#include "apps/tools/watchd/profile.h"
#include <errno.h>
#include <string.h>
#include "apps/libc/hpm.h"
#include "apps/tools/measuring/places.h"
#include "apps/tools/watchd/machine.h"

enum { TAKEN = 256, RATE = 2000, COST = 10 };

struct counted {
    struct table_key key; /* place of the code, thread */
    const struct place *place;
    uint64_t samples, weight, id;
};
static struct table samples = {.bytes = sizeof(struct counted)};
static int session;
static bool by_time;
static uint64_t began_ns;

int profile_begin(char *why, size_t size)
{
    if (session)
        return -EBUSY;
    by_time = false;
    session = samples_open("cycles", 0, RATE, COST, why, size);
    if (session < 0) {
        by_time = true;
        session = samples_open("time", 0, RATE, COST, why, size);
    }
    if (session < 0) {
        int err = session;
        session = 0;
        return err;
    }
    began_ns = machine_ns();
    return 0;
}

static void note(const struct sys_sample *s)
{
    const struct place *p = places_code(s->pid, s->pc);
    struct counted *c = table_get(&samples, &(struct table_key){{(uintptr_t)p, s->tid, s->pid}});

    if (!c)
        return;
    c->place = p;
    c->samples++;
    c->weight += s->period;
}

void profile_take(void)
{
    static struct sys_sample sample[TAKEN];

    for (int n; session && (n = samples_take(session, sample, TAKEN)) > 0;)
        for (int i = 0; i < n; i++)
            note(&sample[i]);
}

/* ---- Protocol buffers ------------------------------------------------------------------------ */

static void put_varint(struct text *t, uint64_t v)
{
    do {
        uint8_t byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        text_bytes(t, &byte, 1);
    } while (v >>= 7);
}

static void put_number(struct text *t, unsigned field, uint64_t v)
{
    put_varint(t, field << 3);
    put_varint(t, v);
}

static void put_bytes(struct text *t, unsigned field, const void *at, size_t n)
{
    put_varint(t, field << 3 | 2);
    put_varint(t, n);
    text_bytes(t, at, n);
}

/* Appends `part` as a field, and forgets it. */
static void put_part(struct text *t, unsigned field, struct text *part)
{
    put_bytes(t, field, part->at, part->n);
    t->failed |= part->failed;
    text_clear(part);
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* Strings of places are equal if their pointers are. */
struct string {
    struct table_key key;
    uint64_t number;
};
static struct table strings = {.bytes = sizeof(struct string)};
static struct text string_table;
static uint64_t string_count;

static uint64_t string_of(const char *s)
{
    struct string *n = table_get(&strings, &(struct table_key){{(uintptr_t)s}});

    if (!n)
        return 0;
    if (!n->number) {
        n->number = ++string_count;
        put_bytes(&string_table, 6, s, strlen(s));
    }
    return n->number;
}

/* ---- The profile ----------------------------------------------------------------------------- */

static void put_type(struct text *t, unsigned field, const char *type, const char *unit)
{
    struct text part = {0};

    put_number(&part, 1, string_of(type));
    put_number(&part, 2, string_of(unit));
    put_part(t, field, &part);
    text_free(&part);
}

/* Function and location of a place have the same number. */
static void put_place(struct text *t, const struct counted *c)
{
    struct text part = {0}, line = {0};

    put_number(&part, 1, c->id);
    put_number(&part, 2, string_of(c->place->function));
    put_number(&part, 4, string_of(c->place->file));
    put_part(t, 5, &part);
    put_number(&part, 1, c->id);
    put_number(&part, 3, c->place->key.part[1]);
    put_number(&line, 1, c->id);
    put_number(&line, 2, c->place->line);
    put_part(&part, 4, &line);
    put_part(t, 4, &part);
    text_free(&line);
    text_free(&part);
}

static void put_label(struct text *sample, const char *key, const char *text, uint64_t number)
{
    struct text part = {0};

    put_number(&part, 1, string_of(key));
    if (text)
        put_number(&part, 2, string_of(text));
    else
        put_number(&part, 3, number);
    put_part(sample, 3, &part);
    text_free(&part);
}

static void put_sample(struct text *t, const struct counted *c)
{
    static const char process[] = "process", thread[] = "thread";
    struct text part = {0};

    put_number(&part, 1, c->id);
    put_number(&part, 2, c->samples);
    put_number(&part, 2, c->weight);
    put_label(&part, process, c->place->program, 0);
    put_label(&part, thread, NULL, c->key.part[1]);
    put_part(t, 2, &part);
    text_free(&part);
}

static void put_profile(struct text *t, const char *what, const char *unit)
{
    static const char count[] = "count", number[] = "samples";
    uint64_t id = 0;
    size_t cursor = 0;

    put_type(t, 1, number, count);
    put_type(t, 1, what, unit);
    for (struct counted *c; (c = table_next(&samples, &cursor));) {
        c->id = ++id;
        put_place(t, c);
        put_sample(t, c);
    }
    put_number(t, 10, machine_ns() - began_ns);
    put_type(t, 11, what, unit);
    put_bytes(t, 6, "", 0); /* string 0 */
    text_bytes(t, string_table.at ? string_table.at : "", string_table.n);
}

void profile_end(struct text *out)
{
    static const char cycles[] = "cycles", time[] = "time", count[] = "count",
                      nanoseconds[] = "nanoseconds";

    profile_take();
    samples_close(session);
    session = 0;
    string_count = 0;
    put_profile(out, by_time ? time : cycles, by_time ? nanoseconds : count);
    out->failed |= string_table.failed;
    text_free(&string_table);
    table_clear(&strings);
    table_clear(&samples);
}
