/*
 * Parses boot arguments and the list of applications. cmdline.h has the grammar.
 *
 * Pure but for the values that the tables point at; these are set only after the whole text was
 * accepted. The text comes from outside: every byte of it is checked, and nothing may rely on its
 * form.
 */
#include "kernel/core/cmdline.h"
#include "kernel/lib/date.h"
#include "kernel/lib/ipv4.h"
#include "kernel/lib/words.h"

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

/* Returns the name of choice `i`, or NULL behind the last one. */
static const char *choice(const struct arg *a, uint64_t i)
{
    if (a->type != ARG_TABLE)
        return ((const char *const *)a->choices)[i];
    const char *const *entry = ((const char *const *const *)a->choices)[i];
    return entry ? *entry : NULL;
}

static void put_choices(struct text *t, const struct arg *a)
{
    for (uint64_t i = 0; choice(a, i); i++) {
        text_put(t, " ");
        text_put(t, choice(a, i));
    }
}

static void put_set(struct text *t, const struct arg *a, uint64_t v)
{
    const char *between = "";

    for (uint64_t i = 0; choice(a, i); i++) {
        if (!(v >> i & 1))
            continue;
        text_put(t, between);
        text_put(t, choice(a, i));
        between = ",";
    }
    text_put(t, v ? "" : "none");
}

/* Returns the length of the key in front of '=', or of the whole word without one. */
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
    case ARG_TABLE:
        text_put(&t, choice(arg, value));
        break;
    case ARG_SET:
        put_set(&t, arg, value);
        break;
    case ARG_BYTES:
        put_bytes(&t, value);
        break;
    case ARG_U64:
        put_u64(&t, value);
        break;
    case ARG_ADDRESS:
        text_put(&t, value ? ipv4_format(value, (char[IPV4_TEXT_MAX]){0}) : arg->choices);
        break;
    case ARG_HOSTS:
        text_put(&t, value ? ipv4_format_hosts(value, (char[IPV4_HOSTS_MAX]){0}) : arg->choices);
        break;
    case ARG_TEXT:
        text_put(&t, value ? (const char *)(uintptr_t)value : "none");
        break;
    case ARG_DATE:
        text_put(&t,
                 value == ARG_DATE_AUTO ? "auto" : date_format(value, (char[DATE_TEXT_MAX]){0}));
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
    case ARG_TABLE:
        text_put(t, "one of");
        put_choices(t, a);
        break;
    case ARG_SET:
        text_put(t, "none, all, or some, with commas between them, of");
        put_choices(t, a);
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
    case ARG_ADDRESS:
        text_put(t, a->choices);
        text_put(t, a->min ? " or A.B.C.D/N, N from 1 to 31" : " or A.B.C.D");
        break;
    case ARG_HOSTS:
        text_put(t, a->choices);
        text_put(t, " or A.B.C.D or A.B.C.D,A.B.C.D");
        break;
    case ARG_TEXT:
        text_put(t, a->choices);
        break;
    case ARG_DATE:
        text_put(t, "auto, YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS, or seconds since 1970");
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

/* Parses a decimal or 0x hexadecimal number, and moves *s behind its digits. */
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
    for (uint64_t i = 0; choice(a, i); i++) {
        if (text_same(choice(a, i), s, n)) {
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

    while (choice(a, choices))
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
    static const char *const words[][2] = {
        {"off", "on"}, {"0", "1"}, {"no", "yes"}, {"false", "true"}};
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

static bool parse_date(const char *s, uint64_t *out)
{
    *out = ARG_DATE_AUTO;
    return text_same("auto", s, text_length(s)) || date_parse(s, out);
}

static bool parse_address(const struct arg *a, const char *s, uint64_t *out)
{
    *out = 0;
    if (text_same(a->choices, s, text_length(s)))
        return true;
    return a->type == ARG_HOSTS ? ipv4_parse_hosts(s, out) : ipv4_parse(s, a->min, out);
}

/* Returns NULL, or the reason why the value is refused: "value" or, for a number, "range". */
static const char *parse_value(const struct arg *a, const char *s, uint64_t *out)
{
    if (a->type == ARG_CHOICE || a->type == ARG_TABLE)
        return parse_choice(a, s, out) ? NULL : "value";
    if (a->type == ARG_SET)
        return parse_set(a, s, out) ? NULL : "value";
    if (a->type == ARG_BOOL)
        return parse_bool(s, out) ? NULL : "value";
    if (a->type == ARG_DATE)
        return parse_date(s, out) ? NULL : "value";
    if (a->type == ARG_ADDRESS || a->type == ARG_HOSTS)
        return parse_address(a, s, out) ? NULL : "value";
    if (a->type == ARG_TEXT) {
        *out = (uint64_t)(uintptr_t)s;
        return *s ? NULL : "value";
    }
    if (!(a->type == ARG_BYTES ? parse_bytes(&s, out) : parse_number(&s, out)) || *s)
        return "value";
    return *out >= a->min && *out <= a->max ? NULL : "range";
}

/* Begins a message: "argument=WORD reason=REASON". Scripts read these keys, and people the sentence
 * that the caller puts behind. */
static void put_refused(struct text *t, const char *word, size_t n, const char *reason)
{
    text_put(t, "argument=");
    text_put_key(t, word, n);
    text_put(t, " reason=");
    text_put(t, reason);
}

static void put_unknown(struct text *t, const char *word, size_t n, const struct arg *const *tables)
{
    struct nearest near = {.text = word, .n = n};

    for (; *tables; tables++)
        for (const struct arg *a = *tables; a->name; a++)
            nearest_consider(&near, a->name);
    put_refused(t, word, n, "unknown");
    if (near.best) {
        text_put(t, " nearest=");
        text_put(t, near.best);
    }
    text_put(t, ": no such argument");
    if (!word[n])
        text_put(t, "; applications stand behind '--'");
    text_put(t, "; 'help' lists all");
}

/* Checks one key=value completely; the caller sets the value. */
static int check_assignment(const char *assign, const struct arg *const *tables, bool run_only,
                            const struct arg **arg, uint64_t *value, struct text *err)
{
    size_t n = key_length(assign);
    const struct arg *a = cmdline_find(assign, tables);

    if (!a || !n) {
        put_unknown(err, assign, n, tables);
        return -EINVAL;
    }
    if (run_only && a->scope == ARG_BOOT) {
        put_refused(err, assign, n, "scope");
        text_put(err, ": it holds for the whole boot, so it must stand in front of '--'");
        return -EINVAL;
    }
    const char *reason = assign[n] ? parse_value(a, assign + n + 1, value) : "missing";
    if (!reason) {
        *arg = a;
        return 0;
    }
    put_refused(err, assign, n, reason);
    text_put(err, ": ");
    if (assign[n]) {
        text_put_quoted(err, assign + n + 1, text_length(assign + n + 1));
        text_put(err, " is not accepted");
    } else {
        text_put(err, "it needs a value");
    }
    text_put(err, "; accepted: ");
    put_accepts(err, a);
    return -EINVAL;
}

int cmdline_set(const char *assign, const struct arg *const *tables, bool run_only, char *err,
                size_t err_size)
{
    struct text t = {err, err_size};
    const struct arg *a = NULL;
    uint64_t value = 0;

    int r = check_assignment(assign, tables, run_only, &a, &value, &t);
    if (!r)
        *a->value = value;
    return r;
}

/* ---- Words ----------------------------------------------------------------------------------- */

struct parser {
    const struct arg *const *tables;
    struct words words;
    struct cmdline *out;
    struct text err;
};

static int boot_word(struct parser *p, const char *word)
{
    const struct arg *a;
    uint64_t value;

    if (text_same("help", word, text_length(word)) ||
        text_same("--help", word, text_length(word))) {
        p->out->help = true;
        return 0;
    }
    return check_assignment(word, p->tables, false, &a, &value, &p->err);
}

static int fail_with_word(struct parser *p, const char *what, const char *word)
{
    text_put(&p->err, what);
    if (word) {
        text_put(&p->err, " ");
        text_put_quoted(&p->err, word, text_length(word));
    }
    return -EINVAL;
}

/* Reads the next word, as words_next() does, and describes an error. */
static int next_word(struct parser *p, const char **word)
{
    struct words *w = &p->words;
    int r = words_next(w, word);

    if (r >= 0)
        return r;
    text_put(&p->err, "reason=quotation character=");
    text_put_number(&p->err, (uint64_t)(w->from - w->line) + 1);
    text_put(&p->err, ": the quotation mark there has no partner: ");
    text_put(&p->err, w->from);
    return r;
}

static int too_many(struct parser *p, const char *what, uint64_t most, const char *of)
{
    text_put(&p->err, "reason=many most=");
    text_put_number(&p->err, most);
    text_put(&p->err, ": at most ");
    text_put_number(&p->err, most);
    return fail_with_word(p, what, of);
}

static int command_word(struct parser *p, struct command *c, const char *word)
{
    if (!c->argc && word[key_length(word)] == '=') {
        const struct arg *a;
        uint64_t value;
        if (c->assign_count == CMD_ARGS_MAX)
            return too_many(p, " assignments can stand in front of an application:", CMD_ARGS_MAX,
                            word);
        c->assign[c->assign_count++] = word;
        return check_assignment(word, p->tables, true, &a, &value, &p->err);
    }
    if (c->argc == CMD_ARGS_MAX)
        return too_many(p, " words, its name included, can be given to application", CMD_ARGS_MAX,
                        c->argv[0]);
    c->argv[c->argc++] = word;
    return 0;
}

static int no_application(struct parser *p, const struct command *c)
{
    if (c->assign_count)
        return fail_with_word(p, "reason=missing: no application behind",
                              c->assign[c->assign_count - 1]);
    return fail_with_word(p, "reason=missing: no application in front of ';' or '&'", NULL);
}

static int parse_commands(struct parser *p)
{
    struct command *c = NULL;
    const char *word;

    while (*p->words.from) {
        int r = next_word(p, &word);
        if (r < 0)
            return r;
        if (!c) {
            if (!r && !p->words.end)
                break; /* only blanks remained */
            if (p->out->count == CMD_MAX)
                return too_many(p, " applications can stand on one line", CMD_MAX, NULL);
            c = &p->out->commands[p->out->count++];
        }
        r = r ? command_word(p, c, word) : 0;
        if (r)
            return r;
        if (p->words.end || !*p->words.from) {
            if (!c->argc)
                return no_application(p, c);
            c->background = p->words.end == '&';
            c = NULL;
        }
    }
    return 0;
}

/* Checks every word in front of "--", and counts them. */
static int parse_boot(struct parser *p, unsigned *count)
{
    const char *word;

    for (*count = 0; *p->words.from; ++*count) {
        int r = next_word(p, &word);
        if (r < 0)
            return r;
        if (r && text_same("--", word, text_length(word)) && !p->words.end)
            return 0;
        if (p->words.end)
            return fail_with_word(
                p,
                "reason=separator: ';' and '&' separate applications, which stand behind "
                "'--'",
                NULL);
        if (!r)
            return 0; /* only blanks remained */
        r = boot_word(p, word);
        if (r)
            return r;
    }
    return 0;
}

/* Sets the values of `count` words. Each was accepted before, so this cannot fail half-way. */
static void apply(const struct parser *p, const char *word, unsigned count)
{
    for (; count--; word += text_length(word) + 1) {
        const struct arg *a = cmdline_find(word, p->tables);
        if (a) /* `help` has no entry */
            parse_value(a, word + key_length(word) + 1, a->value);
    }
}

int cmdline_parse(char *text, const struct arg *const *tables, struct cmdline *out, char *err,
                  size_t err_size)
{
    struct parser p = {tables, words_of(text), out, {err, err_size}};
    unsigned count;

    text_put(&p.err, "");
    memset(out, 0, sizeof(*out));
    for (const char *c = text; *c; c++)
        if ((*c < ' ' || *c > '~') && !words_blank(*c))
            return fail_with_word(
                &p, "reason=unprintable: the command line holds an unprintable character behind",
                text);
    int r = parse_boot(&p, &count);
    if (!r)
        r = parse_commands(&p);
    if (r) {
        out->count = 0;
        return r;
    }
    apply(&p, text, count);
    return 0;
}
