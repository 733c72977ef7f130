/* See words.h. */
#include "kernel/lib/words.h"

bool words_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_separator(char c)
{
    return c == ';' || c == '&';
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

/* Copies the text between the mark at `from` and its partner. Returns -EINVAL without a partner;
 * `from` is then still the mark. */
static int take_quoted(struct words *w)
{
    const char *partner = w->from + 1;

    while (*partner && *partner != *w->from)
        partner++;
    if (!*partner)
        return -EINVAL;
    for (w->from++; w->from != partner; w->from++)
        *w->to++ = *w->from;
    w->from++;
    return 0;
}

static void skip_blanks(struct words *w)
{
    while (words_blank(*w->from))
        w->from++;
}

int words_next(struct words *w, const char **out)
{
    skip_blanks(w);
    const char *begin = w->from;
    *out = w->to;
    while (*w->from && !words_blank(*w->from) && !is_separator(*w->from)) {
        if (!is_quote(*w->from))
            *w->to++ = *w->from++;
        else if (take_quoted(w))
            return -EINVAL;
    }
    bool any = w->from != begin;
    skip_blanks(w);
    w->end = is_separator(*w->from) ? *w->from++ : '\0';
    if (any) /* the character that ended the word was read, or ends the line: there is room */
        *w->to++ = '\0';
    return any;
}

static bool needs_quotes(const char *word)
{
    const char *c = word;

    while (*c && !words_blank(*c) && !is_separator(*c) && !is_quote(*c))
        c++;
    return *c || c == word;
}

/* Returns the first quotation mark of `word`, or NUL. */
static char first_quote(const char *word)
{
    while (*word && !is_quote(*word))
        word++;
    return *word;
}

void words_put(struct text *t, const char *word)
{
    if (!needs_quotes(word)) {
        text_put(t, word);
        return;
    }
    do { /* writes a piece, in the mark that it does not contain */
        char mark = first_quote(word) == '\'' ? '"' : '\'';
        text_put(t, (char[]){mark, '\0'});
        for (; *word && *word != mark; word++)
            text_put(t, (char[]){*word, '\0'});
        text_put(t, (char[]){mark, '\0'});
    } while (*word);
}
