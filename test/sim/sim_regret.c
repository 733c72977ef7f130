/*
 * How far is the chooser below the best of its experts, in points of hit rate? Memory is from 5 to
 * 90 % of the pages. Groups of traces:
 *   - those the chooser was made for;
 *   - some made against it: two shapes in turns of various lengths, or mixed;
 *   - behind a page access buffer, where pages are used again soon (`~N`: after N others at most);
 *   - short runs (`*N`: N accesses a page), of the traces it was made for and of others (groups
 *     unseen-N).
 * Short runs start from the default expert, all others from every expert it can start with. First
 * uses and the time to learn are included. Behind the buffer, hits are of the accesses that the
 * buffer logs.
 *
 * QUICK=1: fewer of each, but as long, from the default start and from LRU. TRACE=name,...: these
 * traces alone, every size on a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test/host/double/unseen.h"
#include "tools/replay/simulate.h"

enum {
    EXPERTS_MAX = 8,
    PER_PAGE = 60,
    PAGES = 8192,
    PAGES_LARGE = 32768,
    PAGES_SMALL = 1024,
    PAGES_UNSEEN = 1500,
    BUFFER = 512
};

static const unsigned percents[] = {5,  8,  10, 12, 13, 16, 20, 25, 30, 33, 34,
                                    40, 50, 60, 66, 67, 70, 75, 80, 85, 90};
static const unsigned percents_quick[] = {20, 50, 70, 90};
static const unsigned percents_few[] = {5, 13, 20, 34, 50, 60, 70, 85, 90};

/* Lengths of turns in eighths of the number of pages; 0: mixed at random. */
static const unsigned turns[] = {0, 2, 8, 24, 64, 120, 200};

/* Behind the buffer: pages are used again after this many others at most. */
static const unsigned windows[] = {BUFFER / 8, BUFFER / 2, 2 * BUFFER};
static const unsigned percents_behind[] = {5, 20, 50, 60, 70, 90},
                      percents_behind_quick[] = {20, 50, 70};

/* Short runs: accesses a page. */
static const unsigned passes[] = {5, 12, 24}, passes_unseen[] = {5, 8, 12, 24, PER_PAGE};
static const unsigned percents_short[] = {30, 50, 75, 90}, percents_unseen[] = {20, 35, 50, 70, 90};

enum group {
    NAMED,
    LARGE,
    SMALL,
    MADE,
    BUFFERED,
    SHORT_5,
    SHORT_12,
    SHORT_24,
    UNSEEN_5,
    UNSEEN_8,
    UNSEEN_12,
    UNSEEN_24,
    UNSEEN_60,
    GROUPS
};
static const char *const group_names[] = {
    "named",    "large",    "small",    "made",      "buffered",  "short-5",  "short-12",
    "short-24", "unseen-5", "unseen-8", "unseen-12", "unseen-24", "unseen-60"};

struct job {
    char name[64];
    enum group group;
    uint32_t pages;
    struct trace_part part[2];
    unsigned parts, turn, window, passes; /* passes: of a short run, else 0 */
    int unseen;                           /* enum unseen_kind, where the group is UNSEEN_... */
};

/* For a group: number of traces, of those more than two points below, the worst; and the sum of all
 * its cases. */
static struct {
    unsigned traces, above, cases;
    double worst, sum;
    char name[64];
} found[GROUPS];

static const char *expert[EXPERTS_MAX];
static unsigned experts;
static int quick, each;

void panic(const char *fmt, ...)
{
    fprintf(stderr, "sim_regret: panic: %s\n", fmt);
    abort();
}

static double rate(const struct replace_ops *ops, const struct access_trace *t, uint64_t logged,
                   uint32_t frames, const char *first)
{
    struct replace_config config = {.nodes = t->pages, .frames = frames, .seed = 1, .first = first};
    uint64_t misses;

    if (simulate(ops, &config, t, &misses)) {
        fprintf(stderr, "sim_regret: %s refused %u frames\n", ops->name, frames);
        exit(1);
    }
    return 100.0 - 100.0 * (double)misses / (double)logged;
}

static unsigned best_single(const struct access_trace *t, uint64_t logged, uint32_t frames,
                            double *single)
{
    unsigned best = 0;

    for (unsigned e = 0; e < experts; e++) {
        single[e] = rate(replace_find(expert[e]), t, logged, frames, NULL);
        best = single[e] > single[best] ? e : best;
    }
    return best;
}

/* Returns the name of start number e, or NULL for the default. */
static const char *start_expert(unsigned e, bool default_start)
{
    if (default_start || (quick && e == 0))
        return NULL;
    return quick ? "lru" : expert[e];
}

/* Returns the most points that any start loses, or the default start alone. If that is more than
 * `worst`, sets `where` to the case. */
static double one_size(const struct access_trace *t, uint64_t logged, unsigned percent,
                       enum group group, double worst, char *where, size_t room)
{
    uint32_t frames = (uint32_t)((uint64_t)t->pages * percent / 100);
    double single[EXPERTS_MAX], chosen[EXPERTS_MAX];
    unsigned best = best_single(t, logged, frames, single);
    bool default_start = group >= SHORT_5;

    for (unsigned e = 0; e < (default_start ? 1 : quick ? 2 : experts); e++) {
        const char *first = start_expert(e, default_start);
        chosen[e] = rate(&replace_chooser, t, logged, frames, first);
        found[group].sum += single[best] - chosen[e];
        found[group].cases++;
        if (single[best] - chosen[e] > worst) {
            worst = single[best] - chosen[e];
            snprintf(where, room, "memory_pct=%u first=%s best=%s best_pct=%.2f chooser_pct=%.2f",
                     percent, first ? first : "default", expert[best], single[best], chosen[e]);
        }
    }
    for (unsigned e = 0; each && !default_start && e < experts; e++)
        printf("  memory_pct=%u expert=%s alone_pct=%.2f chooser_from_it_pct=%.2f\n", percent,
               expert[e], single[e], chosen[e]);
    return worst;
}

static uint64_t logged_of(const struct access_trace *t)
{
    uint64_t logged;

    if (simulate_log(t, &logged)) {
        fprintf(stderr, "sim_regret: no memory\n");
        exit(1);
    }
    return logged;
}

static struct access_trace seen_of(const struct job *j, const struct trace *t)
{
    return (struct access_trace){
        .page = t->page, .length = t->length, .pages = t->pages, .buffer = j->window ? BUFFER : 0};
}

/* Returns a trace behind the buffer, `longer` times as long as others. Lengthens it, up to four
 * times, until the buffer logs PER_PAGE accesses for each page. */
static struct trace made_behind(const struct job *j, double longer)
{
    size_t length = (size_t)((double)j->pages * PER_PAGE * longer);
    struct trace once = trace_make(j->part[0].kind, j->pages, length, 1),
                 t = trace_again(&once, j->window, 1);
    struct access_trace seen = seen_of(j, &t);
    double lacks = (double)j->pages * PER_PAGE / (double)logged_of(&seen);

    trace_free(&once);
    if (longer > 1 || lacks <= 1)
        return t;
    trace_free(&t);
    return made_behind(j, lacks < 4 ? lacks + 0.01 : 4);
}

static struct trace made(const struct job *j)
{
    size_t length = (size_t)j->pages * PER_PAGE;

    if (j->passes)
        length = (size_t)j->pages * j->passes;
    if (j->group >= UNSEEN_5)
        return unseen_make(j->unseen, j->pages, length, 1);
    if (j->window)
        return made_behind(j, 1);
    if (j->parts == 1)
        return trace_make(j->part[0].kind, j->pages, length, 1);
    return trace_turns(j->part, j->parts, (size_t)j->turn * j->pages / 8, j->pages, length, 1);
}

/* Sizes of memory in percent of the pages. */
struct sizes {
    const unsigned *percent;
    unsigned n;
};

static struct sizes sizes_of(const struct job *j)
{
    if (j->group >= UNSEEN_5)
        return (struct sizes){percents_unseen, ARRAY_SIZE(percents_unseen)};
    if (j->passes)
        return (struct sizes){percents_short, ARRAY_SIZE(percents_short)};
    if (j->window && quick)
        return (struct sizes){percents_behind_quick, ARRAY_SIZE(percents_behind_quick)};
    if (j->window)
        return (struct sizes){percents_behind, ARRAY_SIZE(percents_behind)};
    if (quick)
        return (struct sizes){percents_quick, ARRAY_SIZE(percents_quick)};
    if (j->group == MADE || j->group == LARGE)
        return (struct sizes){percents_few, ARRAY_SIZE(percents_few)};
    return (struct sizes){percents, ARRAY_SIZE(percents)};
}

static void run(const struct job *j)
{
    struct trace t = made(j);
    struct access_trace seen = seen_of(j, &t);
    uint64_t logged = logged_of(&seen);
    struct sizes sizes = sizes_of(j);
    char where[160] = "";
    double worst = -100;

    for (unsigned i = 0; i < sizes.n; i++)
        worst = one_size(&seen, logged, sizes.percent[i], j->group, worst, where, sizeof where);
    printf("RESULT regret group=%s trace=%s pages=%u points=%.2f %s\n", group_names[j->group],
           j->name, j->pages, worst, where);
    fflush(stdout);
    if (!found[j->group].traces++ || worst > found[j->group].worst) {
        found[j->group].worst = worst;
        snprintf(found[j->group].name, sizeof found[j->group].name, "%s", j->name);
    }
    found[j->group].above += worst > 2;
    trace_free(&t);
}

/* Returns whether a comma-separated list has the name; an absent list has all. */
static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; list && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ','))
            return true;
    return !list;
}

static void consider(const struct job *j)
{
    if (listed(getenv("TRACE"), j->name))
        run(j);
}

static void named(enum group group, uint32_t pages)
{
    for (unsigned k = 0; k < TRACE_KINDS; k++) {
        struct job j = {.group = group, .pages = pages, .parts = 1, .part[0].kind = k};
        snprintf(j.name, sizeof j.name, "%s", trace_names[k]);
        consider(&j);
    }
}

static void buffered(unsigned window)
{
    for (unsigned k = 0; k < TRACE_KINDS; k += quick ? 2 : 1) {
        struct job j = {
            .group = BUFFERED, .pages = PAGES, .parts = 1, .part[0].kind = k, .window = window};
        snprintf(j.name, sizeof j.name, "%s~%u", trace_names[k], window);
        consider(&j);
    }
}

static void short_runs(unsigned i, uint32_t pages)
{
    for (unsigned k = 0; k < TRACE_KINDS; k++) {
        struct job j = {.group = SHORT_5 + i,
                        .pages = pages,
                        .parts = 1,
                        .part[0].kind = k,
                        .passes = passes[i]};
        snprintf(j.name, sizeof j.name, "%s*%u", trace_names[k], passes[i]);
        consider(&j);
    }
}

static void unseen(unsigned i, uint32_t pages)
{
    for (unsigned k = 0; k < UNSEEN_KINDS; k++) {
        struct job j = {
            .group = UNSEEN_5 + i, .pages = pages, .unseen = k, .passes = passes_unseen[i]};
        snprintf(j.name, sizeof j.name, "%s*%u", unseen_name(k), j.passes);
        consider(&j);
    }
}

static const struct {
    const char *name;
    struct trace_part part;
} shape[] = {
    {"loop", {TRACE_LOOP, 0, PAGES}},
    {"loop_third", {TRACE_LOOP, PAGES / 3, PAGES / 3}},
    {"zipf", {TRACE_ZIPF, 0, PAGES}},
    {"zipf_third", {TRACE_ZIPF, 0, PAGES / 3}},
    {"uniform_half", {TRACE_UNIFORM, PAGES / 2, PAGES / 2}},
    {"drift", {TRACE_DRIFT, 0, PAGES}},
    {"zigzag", {TRACE_ZIGZAG, 0, PAGES}},
    {"back_forth_half", {TRACE_BACK_FORTH, PAGES / 4, PAGES / 2}},
    {"stencil", {TRACE_STENCIL, 0, PAGES}},
};

static void pair(unsigned a, unsigned b)
{
    for (unsigned i = 0; i < ARRAY_SIZE(turns); i++) {
        struct job j = {.group = MADE, .pages = PAGES, .parts = 2, .turn = turns[i]};
        j.part[0] = shape[a].part;
        j.part[1] = shape[b].part;
        if (turns[i])
            snprintf(j.name, sizeof j.name, "%s/%s/%.2f", shape[a].name, shape[b].name,
                     turns[i] / 8.0);
        else
            snprintf(j.name, sizeof j.name, "%s+%s", shape[a].name, shape[b].name);
        if (!quick || (a * ARRAY_SIZE(shape) + b + i) % 21 == 0)
            consider(&j);
    }
}

/* Asks a chooser of a small memory for its experts. */
static void find_experts(void)
{
    struct replace_config config = {.nodes = 16, .frames = 4};
    struct replace_report report = {.experts = 0};
    struct simulation s;

    if (simulation_start(&s, &replace_chooser, &config, 0))
        exit(1);
    replace_chooser.report(s.state, &report);
    for (experts = 0; experts < report.experts; experts++)
        expert[experts] = report.expert[experts].policy;
    simulation_end(&s);
}

int main(void)
{
    quick = getenv("QUICK") && atoi(getenv("QUICK"));
    each = getenv("TRACE") != NULL;
    find_experts();
    for (unsigned i = 0; i < ARRAY_SIZE(passes); i++) {
        short_runs(i, PAGES_SMALL);
        if (!quick)
            short_runs(i, PAGES);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(passes_unseen); i++)
        unseen(i, PAGES_UNSEEN);
    named(NAMED, PAGES);
    named(SMALL, PAGES_SMALL);
    if (!quick)
        named(LARGE, PAGES_LARGE);
    for (unsigned a = 0; a < ARRAY_SIZE(shape); a++)
        for (unsigned b = a + 1; b < ARRAY_SIZE(shape); b++)
            pair(a, b);
    for (unsigned i = 0; i < (quick ? 1 : ARRAY_SIZE(windows)); i++)
        buffered(windows[i]);
    for (unsigned g = 0; g < GROUPS; g++)
        if (found[g].traces)
            printf("RESULT regret.summary group=%s traces=%u above_two_points=%u worst_points=%.2f "
                   "mean_points=%.2f worst_trace=%s\n",
                   group_names[g], found[g].traces, found[g].above, found[g].worst,
                   found[g].sum / found[g].cases, found[g].name);
    return 0;
}
