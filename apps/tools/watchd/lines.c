/* See lines.h. */
#include "apps/tools/watchd/lines.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/hpm.h"
#include "apps/tools/measuring/places.h"

enum {
    LINES = 512,    /* kept */
    SHOWN = 24,     /* written */
    USERS = 24,     /* threads kept of each line; others are summed up */
    TAKEN = 256,    /* samples of one call */
    RATE = 2000,    /* samples a second that are aimed at */
    COST = 5,       /* thousandths of the busy time that they may cost */
    LINE = 128,     /* bytes, of the largest lines there are; smaller ones are neighbours */
    HALF_LIFE = 64, /* readings after which a sample counts half */
};

struct user {
    uint32_t tid, samples, stores;
};
struct line {
    uint32_t pid, users;
    uint64_t address;
    uint64_t samples, weight, latency; /* weight: accesses; latency: sum of the samples' */
    struct user user[USERS];
    const struct place *place; /* of code that used it last */
};
static struct line line[LINES];
static int lines;
static int session; /* 0: none */
static uint64_t lost, forgotten;
static char why[160];

/* ---- Samples --------------------------------------------------------------------------------- */

static int by_samples(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return x->samples < y->samples ? 1 : x->samples > y->samples ? -1 : 0;
}

/* Returns the line's entry; a new one takes the place of the least sampled. */
static struct line *line_of(uint32_t pid, uint64_t address)
{
    for (int i = 0; i < lines; i++)
        if (line[i].address == address && line[i].pid == pid)
            return &line[i];
    if (lines == LINES) {
        qsort(line, LINES, sizeof line[0], by_samples);
        lines = LINES / 2;
        forgotten += LINES / 2;
    }
    struct line *l = &line[lines++];
    *l = (struct line){.pid = pid, .address = address};
    return l;
}

static void note_user(struct line *l, const struct sys_sample *s)
{
    uint32_t i = 0;

    while (i < l->users && l->user[i].tid != s->tid)
        i++;
    if (i == USERS)
        return;
    if (i == l->users)
        l->user[l->users++] = (struct user){.tid = s->tid};
    l->user[i].samples++;
    l->user[i].stores += s->store;
}

static void note(const struct sys_sample *s)
{
    if (!s->pid || s->source == SYS_SOURCE_NONE)
        return;
    struct line *l = line_of(s->pid, s->data / LINE * LINE);
    l->samples++;
    l->weight += s->period;
    l->latency += s->latency;
    l->place = places_code(s->pid, s->pc);
    note_user(l, s);
}

/* Halves what was sampled so far. */
static void forget_half(void)
{
    int kept = 0;

    for (int i = 0; i < lines; i++) {
        struct line l = line[i];
        l.samples /= 2;
        l.weight /= 2;
        l.latency /= 2;
        for (uint32_t u = 0; u < l.users; u++) {
            l.user[u].samples /= 2;
            l.user[u].stores /= 2;
        }
        if (l.samples)
            line[kept++] = l;
    }
    lines = kept;
}

static bool detector_has_them(const struct machine *m)
{
    for (int i = 0; i < m->processes; i++)
        if (m->process[i]->has_sharing)
            return true;
    return false;
}

static void stop(void)
{
    if (session > 0)
        samples_close(session);
    session = 0;
    lines = 0;
}

void lines_take(const struct machine *m)
{
    static struct sys_sample sample[TAKEN];
    struct sys_sample_account account;

    if (detector_has_them(m)) {
        stop();
        strcpy(why, "the sharing detector has the samples: see its shMap");
        return;
    }
    if (!session) {
        session = samples_open("access.remote", 0, RATE, COST, why, sizeof why);
        if (session < 0)
            session = 0;
        return;
    }
    for (int n; (n = samples_take(session, sample, TAKEN)) > 0;) {
        for (int i = 0; i < n; i++)
            note(&sample[i]);
        if (n < TAKEN)
            break;
    }
    why[0] = '\0';
    if (!samples_account(session, 0, &account))
        lost = account.lost;
    if (m->reading % HALF_LIFE == 0)
        forget_half();
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void show_line(struct text *t, const struct line *l)
{
    text_say(t,
             "{\"pid\":%" PRIu32 ",\"address\":\"%" PRIx64 "\",\"samples\":%" PRIu64
             ",\"accesses\":%" PRIu64 ",\"latency_cycles\":%" PRIu64 ",\"region\":",
             l->pid, l->address, l->samples, l->weight, l->latency / l->samples);
    text_json(t, places_region(l->pid, l->address));
    text_say(t, ",\"function\":");
    text_json(t, l->place ? l->place->function : "?");
    text_say(t, ",\"file\":");
    text_json(t, l->place ? l->place->file : "?");
    text_say(t, ",\"source_line\":%" PRIu32 ",\"users\":[", l->place ? l->place->line : 0);
    for (uint32_t u = 0; u < l->users; u++)
        text_say(t, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", u ? "," : "", l->user[u].tid,
                 l->user[u].samples, l->user[u].stores);
    text_say(t, "]}");
}

void lines_show(struct text *t, const struct machine *m)
{
    (void)m;
    qsort(line, (size_t)lines, sizeof line[0], by_samples);
    places_turn();
    text_say(t, "\"lines\":{\"why\":");
    text_json(t, why);
    text_say(t, ",\"lost\":%" PRIu64 ",\"forgotten\":%" PRIu64 ",\"line_bytes\":%d,\"of\":[", lost,
             forgotten, LINE);
    for (int i = 0; i < lines && i < SHOWN; i++) {
        text_bytes(t, ",", i > 0);
        show_line(t, &line[i]);
    }
    text_say(t, "]}");
}
