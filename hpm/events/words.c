/* Cuts the text of an event at its colons. The text comes from outside: nothing here relies on its
 * form. */
#include "hpm/events/lookup.h"

static uint8_t mode_of(char c)
{
    return (c | 32) == 'u' ? EVENT_USER : (c | 32) == 'k' ? EVENT_KERNEL : 0;
}

static bool is_modes(struct word w)
{
    for (size_t i = 0; i < w.n; i++)
        if (!mode_of(w.at[i]))
            return false;
    return w.n;
}

static int take_modes(struct event_words *out, struct word w, struct text *err)
{
    for (size_t i = 0; i < w.n; i++) {
        if (out->modes & mode_of(w.at[i])) {
            text_put(err, "mode ");
            text_put_word(err, (struct word){w.at + i, 1});
            text_put(err, " is given twice");
            return -EINVAL;
        }
        out->modes |= mode_of(w.at[i]);
    }
    return 0;
}

static int take_word(struct event_words *out, struct word w, struct text *err)
{
    if (out->count && is_modes(w))
        return take_modes(out, w, err);
    if (out->count == EVENT_WORDS_MAX) {
        text_put_word(err, w);
        text_put(err, " is one part too many");
        return -EINVAL;
    }
    out->word[out->count++] = w;
    return 0;
}

static int refuse_text(const char *why, struct word all, struct text *err)
{
    text_put(err, why);
    text_put_word(err, all);
    return -EINVAL;
}

int event_split(struct word all, struct event_words *out, struct text *err)
{
    const char *end = all.at + all.n;
    int r = 0;

    *out = (struct event_words){0};
    if (all.n >= EVENT_TEXT_MAX)
        return refuse_text("longer than any event's name: ", all, err);
    for (const char *p = all.at; !r && p <= end; p++) {
        struct word w = {p, 0};
        for (; p < end && *p != ':'; p++)
            w.n++;
        if (!w.n)
            return refuse_text(out->count ? "nothing stands behind a ':' of "
                                          : "an event's name is missing in ",
                               all, err);
        r = take_word(out, w, err);
    }
    if (!out->modes)
        out->modes = EVENT_USER | EVENT_KERNEL;
    return r;
}
