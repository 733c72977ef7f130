/* Parses criteria; see criteria.h. The text comes from outside: nothing here relies on its form. */
#include "hpm/policy/breakdown.h"
#include "hpm/policy/criteria.h"
#include "hpm/events/lookup.h"
#include "kernel/lib/fixed.h"

#define ACCESS      "access."
#define FETCH_WALK  "fetch.walk"
#define LATENCY_MAX 65535 /* cycles; longer ones are recorded as that */

/* A word of the text, taken apart. */
struct criterion_word {
    struct word all;
    char name[EVENT_TEXT_MAX]; /* without the period */
    struct word period;        /* at NULL: there is none */
    struct event_words parts;  /* of name */
};

static int refuse_criterion(struct text *err, const char *why, int error)
{
    text_put(err, why);
    return error;
}

/* Numbers that do not fit become UINT64_MAX. */
static size_t read_digits(struct word w, uint64_t *value)
{
    size_t n = 0;

    for (*value = 0; n < w.n && text_digit(w.at[n], 10) >= 0; n++)
        *value = fixed_add(fixed_muldiv(*value, 10, 1), (uint64_t)text_digit(w.at[n], 10));
    return n;
}

static size_t find_char(struct word w, size_t from, char c)
{
    while (from < w.n && w.at[from] != c)
        from++;
    return from;
}

/* ---- Names ----------------------------------------------------------------------------------- */

#define SOURCE_BIT(source) (1u << (source))
static const struct access_name {
    const char *name;
    uint32_t sources; /* 0: behind a page walk */
} access_names[] = {
    {"l1", SOURCE_BIT(SOURCE_L1)},
    {"l2", SOURCE_BIT(SOURCE_LOCAL_L2)},
    {"l3", SOURCE_BIT(SOURCE_LOCAL_L3)},
    {"remote_l2", SOURCE_BIT(SOURCE_REMOTE_L2)},
    {"remote_l3", SOURCE_BIT(SOURCE_REMOTE_L3)},
    {"local_memory", SOURCE_BIT(SOURCE_LOCAL_MEMORY)},
    {"remote_memory", SOURCE_BIT(SOURCE_REMOTE_MEMORY)},
    {"remote", SOURCES_REMOTE_CACHE},
    {"memory", SOURCE_BIT(SOURCE_LOCAL_MEMORY) | SOURCE_BIT(SOURCE_REMOTE_MEMORY)},
    {"beyond_l1", (SOURCE_BIT(SOURCE_COUNT) - 1) & ~SOURCE_BIT(SOURCE_L1)},
    {"any", SOURCE_BIT(SOURCE_COUNT) - 1},
    {"walk", 0},
};

/* Lists the names that are recorded. */
static void list_accesses(const struct criteria_caps *caps, struct text *err)
{
    const char *before = " ";

    for (unsigned i = 0; i < ARRAY_SIZE(access_names); i++) {
        uint32_t sources = access_names[i].sources;
        if (sources ? !(sources & caps->sources) : !caps->walks)
            continue;
        text_put(err, before);
        text_put(err, access_names[i].name);
        before = ", ";
    }
}

static int unknown_access(struct word source, const struct criteria_caps *caps, struct text *err)
{
    static const struct criteria_caps all = {.sources = UINT32_MAX, .walks = true};

    text_put_word(err, source);
    text_put(err, " serves no accesses; what does:");
    list_accesses(caps->sources ? caps : &all, err);
    return -ENOENT;
}

static int read_access(struct word source, const struct criteria_caps *caps, struct criterion *out,
                       struct text *err)
{
    unsigned i = 0;

    while (i < ARRAY_SIZE(access_names) && !text_same(access_names[i].name, source.at, source.n))
        i++;
    if (i == ARRAY_SIZE(access_names))
        return unknown_access(source, caps, err);
    out->sources = access_names[i].sources & caps->sources;
    out->walks = !access_names[i].sources && caps->walks;
    if (out->sources || out->walks)
        return 0;
    text_put(err, "accesses are recorded here by");
    list_accesses(caps, err);
    return refuse_criterion(err, caps->sources ? " only" : " no hardware", -ENOTSUP);
}

static int read_fetches(const struct criteria_caps *caps, struct criterion *out, struct text *err)
{
    out->fetches = caps->fetches;
    return caps->fetches ? 0
                         : refuse_criterion(
                               err, "page walks for instructions are not recorded here", -ENOTSUP);
}

/* Reads N of >=N. */
static int read_latency(struct word w, const struct criteria_caps *caps, struct criterion *out,
                        struct text *err)
{
    uint64_t cycles;
    size_t n = w.n > 2 ? read_digits((struct word){w.at + 2, w.n - 2}, &cycles) : 0;

    if (!n || n != w.n - 2 || w.at[1] != '=' || !cycles || cycles > LATENCY_MAX) {
        text_put_word(err, w);
        return refuse_criterion(err, ": a latency is >= and a number of cycles, 1 to 65535",
                                -EINVAL);
    }
    out->min_latency = (uint32_t)cycles;
    return caps->latency ? 0 : refuse_criterion(err, "latencies are not recorded here", -ENOTSUP);
}

/* Reads the name of accesses, or fetch.walk, with the latency behind it. */
static int read_recorded(struct word name, const struct criteria_caps *caps, struct criterion *out,
                         struct text *err)
{
    size_t what = find_char(name, 0, '>');
    struct word latency = {name.at + what, name.n - what};

    out->kind = CRITERION_ACCESS;
    int r = name.at[0] == ACCESS[0]
                ? read_access((struct word){name.at + sizeof ACCESS - 1, what - sizeof ACCESS + 1},
                              caps, out, err)
                : read_fetches(caps, out, err);
    return r || !latency.n ? r : read_latency(latency, caps, out, err);
}

static int refuse_without_counters(struct text *err)
{
    return refuse_criterion(
        err,
        "this machine has no performance counters that are known, or hpm.pmu=none; without them "
        "there are time and entries",
        -ENODEV);
}

static int read_event(const struct criterion_word *w, const struct event_pmu *pmu,
                      struct criterion *out, struct text *err)
{
    out->kind = CRITERION_EVENT;
    if (!pmu || !pmu->table)
        return refuse_criterion(
            err, "no events are known here; there are time, entries and access.SOURCE", -ENOTSUP);
    int r = event_parse(pmu, w->name, &out->event, err->at, err->left);
    if (r != -ENOENT)
        return r;
    while (err->left && *err->at)
        err->at++, err->left--;
    return refuse_criterion(err, "; beside events there are time, entries and access.SOURCE", r);
}

static bool begins_with(struct word w, const char *with)
{
    size_t n = text_length(with);

    return w.n >= n && !memcmp(w.at, with, n);
}

static int read_name(const struct criterion_word *w, const struct criteria_caps *caps,
                     struct criterion *out, struct text *err)
{
    struct word name = w->parts.word[0];
    bool access =
             begins_with(name, ACCESS) || text_same(FETCH_WALK, name.at, find_char(name, 0, '>')),
         time = text_same("time", name.at, name.n);
    bool event = !access && !time && !text_same("entries", name.at, name.n);

    if ((event || access) && !caps->counters)
        return refuse_without_counters(err);
    if (event)
        return read_event(w, caps->events, out, err);
    if (w->parts.count > 1) {
        text_put_word(err, w->parts.word[1]);
        return refuse_criterion(err, " is neither u nor k", -EINVAL);
    }
    out->kind = time ? CRITERION_TIME : CRITERION_ENTRIES;
    if (out->kind == CRITERION_ENTRIES && !access && out->modes == EVENT_KERNEL)
        return refuse_criterion(
            err, "entries are out of user mode, so there are none of mode k alone", -EINVAL);
    return access ? read_recorded(name, caps, out, err) : 0;
}

/* ---- Periods --------------------------------------------------------------------------------- */

static const struct suffix {
    const char *text;
    uint64_t factor;
} count_suffixes[] = {{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}},
  time_suffixes[] = {{"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S}, {NULL, 0}};

static int read_number(struct word w, bool time, uint64_t *out, struct text *err)
{
    const struct suffix *s = time ? time_suffixes : count_suffixes;
    size_t digits = read_digits(w, out);

    while (s->text && !text_same(s->text, w.at + digits, w.n - digits))
        s++;
    if (digits && s->text) {
        *out = fixed_muldiv(*out, s->factor, 1);
        return 0;
    }
    text_put_word(err, w);
    return refuse_criterion(
        err,
        time ? " is no period of time, which is a number that ends in ns, us, ms or s"
             : " is no period, which is a number that may end in k, M or G",
        -EINVAL);
}

static int read_period(const struct criterion_word *w, const struct criteria_caps *caps,
                       struct criterion *out, struct text *err)
{
    bool time = out->kind == CRITERION_TIME;
    uint64_t least = time                            ? caps->time_min_ns
                     : out->kind == CRITERION_ACCESS ? caps->access_min
                                                     : 1;
    uint64_t most = time ? CRITERION_PERIOD_NS_MAX : CRITERION_PERIOD_MAX;

    if (!w->period.at)
        return 0;
    int r = read_number(w->period, time, &out->period, err);
    least = MAX(least, (uint64_t)1);
    if (r || (out->period >= least && out->period <= most))
        return r;
    text_put(err, "the period must be from ");
    text_put_number(err, least);
    text_put(err, time ? " ns to " : " to ");
    text_put_number(err, most);
    return refuse_criterion(err, time ? " ns" : "", -EINVAL);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

/* Returns the next word; empty: there is none. */
static struct word next_word(const char **text)
{
    struct word w;

    while (is_separator(**text))
        ++*text;
    for (w = (struct word){*text, 0}; **text && !is_separator(**text); ++*text)
        w.n++;
    return w;
}

/* Cuts the period, which is between '@' and ':' or the end, out of the word; the rest is the
 * name. */
static int cut_period(struct word all, struct criterion_word *w, struct text *err)
{
    size_t at = find_char(all, 0, '@'), end = find_char(all, at, ':');

    *w = (struct criterion_word){.all = all};
    if (at + all.n - end >= sizeof w->name)
        return refuse_criterion(err, "longer than any name", -EINVAL);
    memcpy(w->name, all.at, at);
    memcpy(w->name + at, all.at + end, all.n - end);
    if (at < all.n)
        w->period = (struct word){all.at + at + 1, end - at - 1};
    return event_split(word_of(w->name), &w->parts, err);
}

static int read_word(struct word all, const struct criteria_caps *caps, struct criterion *out,
                     struct text *err)
{
    struct criterion_word w;

    text_put_word(err, all);
    text_put(err, ": ");
    int r = cut_period(all, &w, err);
    if (r)
        return r;
    memset(out, 0, sizeof *out);
    memcpy(out->name, w.name, sizeof out->name);
    out->modes = w.parts.modes;
    r = read_name(&w, caps, out, err);
    return r ? r : read_period(&w, caps, out, err);
}

int criteria_parse(const char *text, const struct criteria_caps *caps, struct criteria *out,
                   char *err, size_t err_size)
{
    unsigned count = 0;

    out->count = 0;
    for (struct word w = next_word(&text); w.n; w = next_word(&text)) {
        struct text message = {err, err_size};
        if (count == CRITERIA_MAX) {
            text_put_word(&message, w);
            return refuse_criterion(&message, " is one too many: 8 criteria at most", -ENOSPC);
        }
        int r = read_word(w, caps, &out->criterion[count++], &message);
        if (r)
            return r;
    }
    struct text message = {err, err_size};
    if (!count)
        return refuse_criterion(&message, "nothing to sample is named", -EINVAL);
    text_put(&message, "");
    out->count = count;
    return 0;
}
