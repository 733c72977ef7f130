/* Generic names, and the events that they stand for on a PMU; see generic.h for the names,
 * generic_*.c for the PMUs. */
#include "hpm/events/generic.h"
#include "hpm/events/lookup.h"

#define EVENT_GENERIC_ROW(number, name, about) {name, about},
const struct event_generic event_generics[] = {EVENT_GENERICS(EVENT_GENERIC_ROW){NULL, NULL}};

static int number_of(struct word w)
{
    for (int i = 0; i < GENERIC_COUNT; i++)
        if (text_same(event_generics[i].name, w.at, w.n))
            return i;
    return -ENOENT;
}

static const struct event_generic_map *map_of(const struct event_table *t)
{
    const struct event_generic_map *m = event_generic_maps;

    while (m->events && m->table && !text_same(m->table, t->name, text_length(t->name)))
        m++;
    return m;
}

bool event_maps_generic(const struct event_table *t, unsigned i)
{
    const struct event_generic_map *map = map_of(t);

    return map->events && map->events[i];
}

static struct word next_word(const char *list)
{
    struct word w = {list, 0};

    while (*w.at == ' ')
        w.at++;
    while (w.at[w.n] && w.at[w.n] != ' ')
        w.n++;
    return w;
}

/* Parses a name of a map. Bits must be those of an event that the PMU has, for one map of
 * architectural numbers serves PMUs that lack some of them. */
static bool is_there(const struct event_pmu *pmu, struct word text, struct event *out)
{
    char ignored[1];
    struct text silent = {ignored, sizeof ignored};

    return !event_parse_specific(pmu, text, out, &silent) &&
           (!event_is_raw(text) || event_is_known(pmu, out->config));
}

/* Finds the first event of the map that the PMU has. Returns 0; -ENOTSUP: there is none. */
static int resolve_generic(const struct event_pmu *pmu, int number, struct event *out,
                           struct word *text)
{
    const struct event_generic_map *map = map_of(pmu->table);
    const char *list = map->events ? map->events[number] : NULL;

    for (*text = next_word(list ? list : ""); text->n; *text = next_word(text->at + text->n))
        if (is_there(pmu, *text, out))
            return 0;
    return -ENOTSUP;
}

size_t event_of_generic(const struct event_pmu *pmu, const char *name, const char **text)
{
    int number = number_of(word_of(name));
    struct event event;
    struct word found;

    if (number < 0 || resolve_generic(pmu, number, &event, &found))
        return 0;
    *text = found.at;
    return found.n;
}

bool event_is(const struct event_table *t, const char *text, uint64_t config)
{
    const struct event_pmu pmu = {.table = t};
    const struct event_generic_map *map = map_of(t);
    int number = number_of(word_of(text));
    const char *list = number < 0 ? text : map->events ? map->events[number] : NULL;
    struct event event;

    for (struct word w = next_word(list ? list : ""); w.n; w = next_word(w.at + w.n))
        if (is_there(&pmu, w, &event) && event.config == config && !event.exclusion)
            return true;
    return false;
}

static int refuse_word(struct word w, const char *why, const char *name, struct text *err)
{
    text_put_word(err, w);
    text_put(err, why);
    text_put(err, name);
    return -EINVAL;
}

static int parse_generic(const struct event_pmu *pmu, int number, const struct event_words *words,
                         struct event *out, struct text *err)
{
    struct event event;
    struct word specific;

    if (words->count > 1)
        return refuse_word(words->word[1], " is neither u nor k; there are no parts of ",
                           event_generics[number].name, err);
    if (resolve_generic(pmu, number, &event, &specific)) {
        refuse_word(words->word[0], " is not available on ", pmu->table->name, err);
        return -ENOTSUP;
    }
    *out = event;
    out->modes = words->modes;
    return 0;
}

int event_parse(const struct event_pmu *pmu, const char *text, struct event *out, char *err,
                size_t err_size)
{
    struct text message = {err, err_size};
    struct event_words words;
    struct word all = {text, 0};

    text_put(&message, "");
    while (all.n < EVENT_TEXT_MAX && text[all.n])
        all.n++;
    int r = event_split(all, &words, &message);
    if (r)
        return r;
    int number = number_of(words.word[0]);
    return number < 0 ? event_parse_specific(pmu, all, out, &message)
                      : parse_generic(pmu, number, &words, out, &message);
}
