/* Texts of requests: names, and what stands beside them; see request.h. */
#include "hpm/events/request.h"
#include "hpm/events/lookup.h"

/* What stands behind a name or braces. */
struct terms {
    uint8_t weight; /* 0: not said */
    bool automatic, pinned;
};

struct reader {
    struct event_request *r;
    const char *at;
    char *err;
    size_t err_size;
};

/* Writes "'WORD': REASON". Returns -EINVAL. */
static int refuse(struct reader *in, struct word word, const char *reason)
{
    struct text message = {in->err, in->err_size};

    text_put(&message, "");
    if (word.n) {
        text_put_word(&message, word);
        text_put(&message, ": ");
    }
    text_put(&message, reason);
    return -EINVAL;
}

static bool ends_word(char c)
{
    return !c || c == ',' || c == ' ' || c == '{' || c == '}';
}

static struct word next_word(struct reader *in)
{
    struct word word = {in->at, 0};

    while (!ends_word(in->at[word.n]))
        word.n++;
    in->at += word.n;
    return word;
}

/* Reads digits from *i on. Returns the number; EVENT_ROUND_MAX + 1: none, or a larger one. */
static uint64_t read_number(struct word w, size_t *i)
{
    uint64_t n = 0;
    size_t first = *i;

    for (; *i < w.n && w.at[*i] >= '0' && w.at[*i] <= '9'; ++*i)
        n = MIN(n * 10 + (uint64_t)(w.at[*i] - '0'), EVENT_ROUND_MAX + 1);
    return *i == first ? EVENT_ROUND_MAX + 1 : n;
}

/* Reads terms from character `i` of the word on. */
static int read_terms(struct reader *in, struct word w, size_t i, struct terms *out)
{
    static const char automatic[] = "auto";

    *out = (struct terms){0};
    while (i < w.n) {
        if (w.at[i] == '!' && !out->pinned) {
            out->pinned = true;
            i++;
            continue;
        }
        if (w.at[i] != '*' || out->weight || out->automatic)
            return refuse(in, w, "behind a name there may be '*' with a weight, and '!'");
        i++;
        if (w.n - i >= sizeof automatic - 1 && !memcmp(w.at + i, automatic, sizeof automatic - 1)) {
            out->automatic = true;
            i += sizeof automatic - 1;
            continue;
        }
        uint64_t weight = read_number(w, &i);
        if (!weight || weight > EVENT_WEIGHT_MAX)
            return refuse(in, w, "behind '*' there must be a weight from 1 to 8, or auto");
        out->weight = (uint8_t)weight;
    }
    return 0;
}

static void apply_terms(struct event_request *r, uint64_t events, const struct terms *terms)
{
    for (uint64_t left = events; left; left &= left - 1) {
        unsigned e = (unsigned)__builtin_ctzll(left);
        r->weight[e] = MAX(r->weight[e], terms->weight);
    }
    r->automatic |= terms->automatic ? events : 0;
    if (terms->pinned)
        r->pinned |= events;
}

static int begin_tie(struct reader *in)
{
    if (in->r->tying)
        return refuse(in, (struct word){0}, "braces cannot be inside braces");
    in->at++;
    in->r->tying = ++in->r->ties;
    return 0;
}

/* Pinned events are counted all the time, so they need no tie. */
static void untie(struct event_request *r, unsigned tie)
{
    for (unsigned e = 0; e < r->events; e++)
        r->tie[e] = r->tie[e] == tie ? 0 : r->tie[e];
    for (unsigned w = 0; w < r->wishes; w++)
        r->wish[w].tie = r->wish[w].tie == tie ? 0 : r->wish[w].tie;
}

static int end_tie(struct reader *in)
{
    struct event_request *r = in->r;
    unsigned tie = r->tying;
    struct terms terms;

    if (!tie)
        return refuse(in, (struct word){0}, "there is a '}' without a '{'");
    uint64_t events = event_request_tied(r, tie);
    if (!events)
        return refuse(in, (struct word){0}, "there is nothing between the braces");
    in->at++;
    int err = read_terms(in, next_word(in), 0, &terms);
    if (err)
        return err;
    apply_terms(r, events, &terms);
    if (terms.pinned)
        untie(r, tie);
    r->tying = 0;
    return 0;
}

static int read_round(struct reader *in, struct word w, size_t i)
{
    uint64_t round = read_number(w, &i);

    if (i < w.n || !round || round > EVENT_ROUND_MAX)
        return refuse(in, w, "a round is a length from 1 to 68719476736");
    in->r->round = round;
    return 0;
}

static int read_name(struct reader *in)
{
    static const char round[] = "round=";
    char name[EVENT_TEXT_MAX];
    struct word w = next_word(in);
    struct terms terms;
    size_t n = 0;

    if (w.n >= sizeof round - 1 && !memcmp(w.at, round, sizeof round - 1))
        return read_round(in, w, sizeof round - 1);
    while (n < w.n && w.at[n] != '*' && w.at[n] != '!')
        n++;
    if (n >= sizeof name)
        return refuse(in, (struct word){0}, "a name is too long");
    if (n < w.n && in->r->tying)
        return refuse(in, w, "weights and '!' stand behind the braces, not in them");
    int err = read_terms(in, w, n, &terms);
    if (err)
        return err;
    memcpy(name, w.at, n);
    name[n] = '\0';
    int number = event_request_add(in->r, name, in->err, in->err_size);
    if (number < 0)
        return number;
    apply_terms(in->r, in->r->wish[number].events, &terms);
    return 0;
}

int event_request_read(struct event_request *r, const char *text, char *err, size_t err_size)
{
    struct reader in = {r, text, err, err_size};

    for (;;) {
        while (*in.at == ',' || *in.at == ' ')
            in.at++;
        if (!*in.at)
            break;
        int error = *in.at == '{' ? begin_tie(&in) : *in.at == '}' ? end_tie(&in) : read_name(&in);
        if (error)
            return error;
    }
    if (r->tying)
        return refuse(&in, (struct word){0}, "there is a '{' without a '}'");
    return r->wishes ? 0 : refuse(&in, (struct word){0}, "no event or metric is named");
}
