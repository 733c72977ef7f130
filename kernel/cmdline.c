/*
 * Boot arguments and the list of applications: text in, checked values out.  Grammar in cmdline.h.
 *
 * Pure but for the values that the tables point at, and those are written only once the whole text has been
 * accepted. The text comes from outside: every byte of it is checked, and nothing here may rely on its form.
 */
#include "kernel/cmdline.h"
#include "kernel/text.h"

static void put_u64(struct text *t, uint64_t v)
{
    char digits[21];
    char *d = digits + sizeof(digits) - 1;

    *d = '\0';
    do
        *--d = (char)('0' + v % 10);
    while (v /= 10);
    text_put(t, d);
}

static void put_bytes(struct text *t, uint64_t v)
{
    static const char suffix[] = {'G', 'M', 'K'};
    for (unsigned i = 0; i < ARRAY_SIZE(suffix); i++) {
        uint64_t unit = GIB >> (10 * i);
        if (v && v % unit == 0) {
            put_u64(t, v / unit);
            text_put(t, (char[]){suffix[i], '\0'});
            return;
        }
    }
    put_u64(t, v);
}

static void put_choices(struct text *t, const char *const *choices)
{
    for (; *choices; choices++) {
        text_put(t, " ");
        text_put(t, *choices);
    }
}

static void put_set(struct text *t, const char *const *choices, uint64_t v)
{
    const char *between = "";

    for (uint64_t i = 0; choices[i]; i++) {
        if (!(v >> i & 1))
            continue;
        text_put(t, between);
        text_put(t, choices[i]);
        between = ",";
    }
    text_put(t, v ? "" : "none");
}

/* Length of the key in front of '=', or of the whole word. */
static size_t key_length(const char *word)
{
    size_t n = 0;
    while (word[n] && word[n] != '=')
        n++;
    return n;
}

const struct arg *cmdline_find(const char *assign, const struct arg *const *tables)
{
    size_t n = key_length(assign);
    for (; *tables; tables++)
        for (const struct arg *a = *tables; a->name; a++)
            if (text_same(a->name, assign, n))
                return a;
    return NULL;
}

const char *cmdline_value(const struct arg *arg, uint64_t value, char *buf, size_t size)
{
    struct text t = {buf, size};

    text_put(&t, "");
    switch (arg->type) {
    case ARG_BOOL:
        text_put(&t, value ? "on" : "off");
        break;
    case ARG_CHOICE:
        text_put(&t, arg->choices[value]);
        break;
    case ARG_SET:
        put_set(&t, arg->choices, value);
        break;
    case ARG_BYTES:
        put_bytes(&t, value);
        break;
    case ARG_U64:
        put_u64(&t, value);
        break;
    }
    return buf;
}

static void put_accepts(struct text *t, const struct arg *a)
{
    switch (a->type) {
    case ARG_BOOL:
        text_put(t, "on or off");
        break;
    case ARG_CHOICE:
        text_put(t, "one of");
        put_choices(t, a->choices);
        break;
    case ARG_SET:
        text_put(t, "none, all, or some, with commas between them, of");
        put_choices(t, a->choices);
        break;
    case ARG_BYTES:
        text_put(t, "bytes, with K M or G behind the number, from ");
        put_bytes(t, a->min);
        text_put(t, " to ");
        put_bytes(t, a->max);
        break;
    case ARG_U64:
        text_put(t, "a number from ");
        put_u64(t, a->min);
        text_put(t, " to ");
        put_u64(t, a->max);
        break;
    }
}

const char *cmdline_accepts(const struct arg *arg, char *buf, size_t size)
{
    struct text t = {buf, size};

    text_put(&t, "");
    put_accepts(&t, arg);
    return buf;
}

/* Decimal or 0x hexadecimal, all of *s up to what follows the digits. */
static bool parse_number(const char **s, uint64_t *out)
{
    unsigned base = (*s)[0] == '0' && ((*s)[1] | 32) == 'x' ? 16 : 10;
    const char *p = base == 16 ? *s + 2 : *s;
    uint64_t v = 0;

    if (text_digit(*p, base) < 0)
        return false;
    for (; text_digit(*p, base) >= 0; p++)
        if (__builtin_mul_overflow(v, base, &v) ||
            __builtin_add_overflow(v, (uint64_t)text_digit(*p, base), &v))
            return false;
    *s = p;
    *out = v;
    return true;
}

static bool parse_bytes(const char **s, uint64_t *out)
{
    if (!parse_number(s, out))
        return false;
    unsigned shift = 0;
    switch (**s | 32) {
    case 'k':
        shift = 10;
        break;
    case 'm':
        shift = 20;
        break;
    case 'g':
        shift = 30;
        break;
    default:
        return true;
    }
    (*s)++;
    return !__builtin_mul_overflow(*out, (uint64_t)1 << shift, out);
}

static bool parse_choice_of(const struct arg *a, const char *s, size_t n, uint64_t *out)
{
    for (uint64_t i = 0; a->choices[i]; i++) {
        if (text_same(a->choices[i], s, n)) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool parse_choice(const struct arg *a, const char *s, uint64_t *out)
{
    return parse_choice_of(a, s, text_length(s), out);
}

static bool parse_set(const struct arg *a, const char *s, uint64_t *out)
{
    uint64_t bit, choices = 0;
    size_t n;

    while (a->choices[choices])
        choices++;
    bool all = text_same("all", s, text_length(s));
    *out = all ? ((uint64_t)1 << choices) - 1 : 0;
    if (all || text_same("none", s, text_length(s)))
        return true;
    for (;; s += n + 1) {
        for (n = 0; s[n] && s[n] != ','; n++)
            ;
        if (!parse_choice_of(a, s, n, &bit))
            return false;
        *out |= (uint64_t)1 << bit;
        if (!s[n])
            return true;
    }
}

static bool parse_bool(const char *s, uint64_t *out)
{
    static const char *const words[][2] = {{"off", "on"}, {"0", "1"}, {"no", "yes"}, {"false", "true"}};
    for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
        for (uint64_t v = 0; v < 2; v++) {
            if (text_same(words[i][v], s, text_length(s))) {
                *out = v;
                return true;
            }
        }
    }
    return false;
}

static bool parse_value(const struct arg *a, const char *s, uint64_t *out)
{
    if (a->type == ARG_CHOICE)
        return parse_choice(a, s, out);
    if (a->type == ARG_SET)
        return parse_set(a, s, out);
    if (a->type == ARG_BOOL)
        return parse_bool(s, out);
    if (!(a->type == ARG_BYTES ? parse_bytes(&s, out) : parse_number(&s, out)))
        return false;
    return !*s && *out >= a->min && *out <= a->max;
}

/* Checks one key=value completely; the value is for the caller to store. */
static int check(const char *assign, const struct arg *const *tables, bool run_only, const struct arg **arg,
                 uint64_t *value, struct text *err)
{
    size_t n = key_length(assign);
    const struct arg *a = cmdline_find(assign, tables);

    if (!a || !n) {
        text_put(err, "unknown argument ");
        text_put_quoted(err, assign, n);
        text_put(err, "; 'help' lists the known ones");
        return -EINVAL;
    }
    if (run_only && a->scope == ARG_BOOT) {
        text_put(err, "argument ");
        text_put_quoted(err, assign, n);
        text_put(err, " holds for the whole boot: it must stand in front of '--'");
        return -EINVAL;
    }
    if (!assign[n] || !parse_value(a, assign + n + 1, value)) {
        text_put(err, "argument ");
        text_put_quoted(err, assign, n);
        if (assign[n]) {
            text_put(err, " does not accept ");
            text_put_quoted(err, assign + n + 1, text_length(assign + n + 1));
        } else {
            text_put(err, " needs a value");
        }
        text_put(err, "; accepted: ");
        put_accepts(err, a);
        return -EINVAL;
    }
    *arg = a;
    return 0;
}

int cmdline_set(const char *assign, const struct arg *const *tables, bool run_only, char *err,
                size_t err_size)
{
    struct text t = {err, err_size};
    const struct arg *a = NULL;
    uint64_t value = 0;

    int r = check(assign, tables, run_only, &a, &value, &t);
    if (!r)
        *a->value = value;
    return r;
}

/* ---- Words ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_separator(char c)
{
    return c == ';' || c == '&';
}

/*
 * Cuts the next word off *at and ends it with NUL.  Since that may overwrite the separator behind it, the
 * separator is returned through *end: ';', '&', or '\0' when none follows directly.  NULL: no word in front
 * of the next separator.
 */
static char *next_word(char **at, char *end)
{
    char *p = *at;

    while (is_space(*p))
        p++;
    char *word = p;
    while (*p && !is_space(*p) && !is_separator(*p))
        p++;
    char *word_end = p;
    while (is_space(*p))
        p++;
    *end = is_separator(*p) ? *p++ : '\0';
    *at = p;
    if (word == word_end)
        return NULL;
    *word_end = '\0';
    return word;
}

/* Applies, or only checks, every word in front of "--".  text is left behind the "--", or at the end. */
struct parser {
    const struct arg *const *tables;
    struct cmdline *out;
    struct text err;
};

static int boot_word(struct parser *p, const char *word)
{
    const struct arg *a;
    uint64_t value;

    if (text_same("help", word, text_length(word))) {
        p->out->help = true;
        return 0;
    }
    return check(word, p->tables, false, &a, &value, &p->err);
}

static int fail(struct parser *p, const char *what, const char *word)
{
    text_put(&p->err, what);
    if (word) {
        text_put(&p->err, " ");
        text_put_quoted(&p->err, word, text_length(word));
    }
    return -EINVAL;
}

static int command_word(struct parser *p, struct command *c, const char *word)
{
    if (!c->argc && word[key_length(word)] == '=') {
        const struct arg *a;
        uint64_t value;
        if (c->assign_count == CMD_ARGS_MAX)
            return fail(p, "too many assignments in front of an application:", word);
        c->assign[c->assign_count++] = word;
        return check(word, p->tables, true, &a, &value, &p->err);
    }
    if (c->argc == CMD_ARGS_MAX)
        return fail(p, "too many arguments for application", c->argv[0]);
    c->argv[c->argc++] = word;
    return 0;
}

static int parse_commands(struct parser *p, char *at)
{
    char end = '\0';
    struct command *c = NULL;

    while (*at) {
        char *word = next_word(&at, &end);
        if (!c) {
            if (!word && !end)
                break; /* only blanks were left */
            if (p->out->count == CMD_MAX)
                return fail(p, "too many applications on one line", NULL);
            c = &p->out->commands[p->out->count++];
        }
        int r = word ? command_word(p, c, word) : 0;
        if (r)
            return r;
        if (end || !*at) {
            if (!c->argc)
                return fail(
                    p, c->assign_count ? "no application behind" : "no application in front of ';' or '&'",
                    c->assign_count ? c->assign[c->assign_count - 1] : NULL);
            c->background = end == '&';
            c = NULL;
        }
    }
    return 0;
}

static int parse_boot(struct parser *p, char **at, char **first, unsigned *count)
{
    char end = '\0';

    *first = *at;
    *count = 0;
    while (**at) {
        char *word = next_word(at, &end);
        if (word && text_same("--", word, text_length(word)) && !end)
            return 0;
        if (end)
            return fail(p, "';' and '&' separate applications, which stand behind '--'", NULL);
        if (!word)
            continue;
        int r = boot_word(p, word);
        if (r)
            return r;
        (*count)++;
    }
    return 0;
}

/* Every word was accepted before, so this cannot fail half-way. */
static void apply(const struct parser *p, const char *word, unsigned count)
{
    while (count--) {
        const struct arg *a = cmdline_find(word, p->tables);
        if (a) /* help has no entry */
            parse_value(a, word + key_length(word) + 1, a->value);
        word += text_length(word) + 1;
        while (count && is_space(*word))
            word++;
    }
}

int cmdline_parse(char *text, const struct arg *const *tables, struct cmdline *out, char *err,
                  size_t err_size)
{
    struct parser p = {tables, out, {err, err_size}};
    char *at = text, *first;
    unsigned count;

    text_put(&p.err, "");
    memset(out, 0, sizeof(*out));
    for (const char *c = text; *c; c++)
        if ((*c < ' ' || *c > '~') && !is_space(*c))
            return fail(&p, "the command line holds an unprintable character behind", text);
    int r = parse_boot(&p, &at, &first, &count);
    if (!r)
        r = parse_commands(&p, at);
    if (r) {
        out->count = 0;
        return r;
    }
    while (is_space(*first))
        first++;
    apply(&p, first, count);
    return 0;
}
