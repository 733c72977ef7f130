/* Generic names to what a PMU calls them; see generic.h for the names, generic_*.c for the PMUs. */
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

bool event_has_generic(const struct event_table *t, unsigned i)
{
    const struct event_generic_map *map = map_of(t);

    return map->events && map->events[i];
}

/* Bits in a map must be those of an event that the PMU lists: one map of architectural numbers serves PMUs that have not all
 * of them. */
static bool is_listed(const struct event_table *t, const char *text, const struct event *event)
{
    return !event_is_raw(word_of(text)) || event_lists(t, event->config);
}

/* -ENOTSUP: this PMU has nothing of the kind. */
static int resolve(const struct event_table *t, int number, struct event *out, const char **text)
{
    char ignored[1];
    struct text silent = {ignored, sizeof ignored};
    const struct event_generic_map *map = map_of(t);

    *text = map->events ? map->events[number] : NULL;
    if (!*text || event_parse_specific(t, *text, out, &silent) || !is_listed(t, *text, out))
        return -ENOTSUP;
    return 0;
}

const char *event_of_generic(const struct event_table *table, const char *name)
{
    int number = number_of(word_of(name));
    struct event event;
    const char *text;

    return number < 0 || resolve(table, number, &event, &text) ? NULL : text;
}

static int refuse(struct word w, const char *why, const char *name, struct text *err)
{
    text_put_word(err, w);
    text_put(err, why);
    text_put(err, name);
    return -EINVAL;
}

int event_parse(const struct event_table *table, const char *text, struct event *out, char *err,
                size_t err_size)
{
    struct text message = {err, err_size};
    struct event_words words;
    struct event event;
    const char *specific;

    text_put(&message, "");
    int r = event_split(text, &words, &message);
    if (r)
        return r;
    int number = number_of(words.word[0]);
    if (number < 0)
        return event_parse_specific(table, text, out, &message);
    if (words.count > 1)
        return refuse(words.word[1], " is neither u nor k; there are no parts of ",
                      event_generics[number].name, &message);
    if (resolve(table, number, &event, &specific)) {
        refuse(words.word[0], " is not available on ", table->name, &message);
        return -ENOTSUP;
    }
    *out = event;
    out->modes = words.modes;
    return 0;
}
