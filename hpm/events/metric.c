/* Translates formulas to programs, and evaluates programs with counts; see metric.h. Recursive
 * descent, with a limit on brackets. The text may come from outside: nothing here relies on its
 * form. */
#include "hpm/events/metric.h"
#include "hpm/events/scaled.h"
#include "kernel/lib/text.h"

#define DEPTH_MAX 8 /* of brackets and signs */

enum metric_step_kind { STEP_EVENT, STEP_NUMBER, STEP_ADD, STEP_SUB, STEP_MUL, STEP_DIV };

/* ---- Translation ----------------------------------------------------------------------------- */

struct reader {
    const char *at;
    unsigned depth, slots;
    struct metric_program *out;
    struct text err;
};

static int read_expression(struct reader *r);

static int refuse_formula(struct reader *r, const char *why, size_t n)
{
    text_put(&r->err, why);
    if (*r->at)
        text_put_quoted(&r->err, r->at, n);
    else
        text_put(&r->err, "the end");
    return -EINVAL;
}

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static int emit_step(struct reader *r, enum metric_step_kind kind, unsigned index)
{
    if (r->out->steps == METRIC_STEPS_MAX)
        return refuse_formula(r, "the formula is too long at ", 8);
    r->out->step[r->out->steps++] = (struct metric_step){(uint8_t)kind, (uint8_t)index};
    return 0;
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t name_length(const char *s)
{
    size_t n = 0;

    while (is_letter(s[n]) || is_digit(s[n]) || s[n] == '_' || s[n] == '.' || s[n] == ':')
        n++;
    return n;
}

static int emit_number(struct reader *r, uint64_t millionths)
{
    if (r->out->numbers == METRIC_NUMBERS_MAX)
        return refuse_formula(r, "too many numbers at ", 8);
    r->out->number[r->out->numbers] = millionths;
    return emit_step(r, STEP_NUMBER, r->out->numbers++);
}

static int read_number(struct reader *r)
{
    uint64_t value = 0, worth = METRIC_ONE;
    const char *p = r->at;

    for (; is_digit(*p); p++) {
        value = value * 10 + (uint64_t)(*p - '0') * METRIC_ONE;
        if (value > UINT64_MAX / 100)
            return refuse_formula(r, "a number is too large: ", (size_t)(p - r->at) + 1);
    }
    if (*p == '.' && !is_digit(p[1]))
        return refuse_formula(r, "digits are missing behind the point of ",
                              (size_t)(p - r->at) + 1);
    for (p += *p == '.'; is_digit(*p); p++) {
        worth /= 10;
        if (!worth)
            return refuse_formula(
                r, "more than six digits behind the point: ", (size_t)(p - r->at) + 1);
        value += (uint64_t)(*p - '0') * worth;
    }
    int err = emit_number(r, value);
    r->at = p;
    return err;
}

/* Returns the number of the event in the program, where each event has one number. */
static int event_number(struct reader *r, size_t n)
{
    struct metric_program *p = r->out;

    if (n >= METRIC_EVENT_TEXT)
        return refuse_formula(r, "an event's name is too long: ", n);
    for (unsigned e = 0; e < p->events; e++)
        if (text_same(p->event[e], r->at, n))
            return (int)e;
    if (p->events == METRIC_EVENTS_MAX)
        return refuse_formula(r, "too many events for one group: ", n);
    memcpy(p->event[p->events], r->at, n);
    return (int)p->events++;
}

static int read_event(struct reader *r)
{
    size_t n = name_length(r->at);
    int e = event_number(r, n);

    if (e < 0)
        return e;
    int err = emit_step(r, STEP_EVENT, (unsigned)e);
    r->at += n;
    return err;
}

static int read_constant(struct reader *r)
{
    size_t n = 1 + name_length(r->at + 1);

    if (!text_same("$slots", r->at, n))
        return refuse_formula(r, "there is no constant ", n);
    if (!r->slots)
        return refuse_formula(r, "this PMU's table does not know ", n);
    int err = emit_number(r, (uint64_t)r->slots * METRIC_ONE);
    r->at += n;
    return err;
}

static int read_brackets(struct reader *r)
{
    int err;

    if (++r->depth > DEPTH_MAX)
        return refuse_formula(r, "too many brackets at ", 8);
    r->at++;
    err = read_expression(r);
    if (err)
        return err;
    if (*r->at != ')')
        return refuse_formula(r, "')' is missing before ", 8);
    r->at++;
    r->depth--;
    return 0;
}

static int read_operand(struct reader *r)
{
    int err;

    skip_blanks(r);
    if (*r->at == '(')
        err = read_brackets(r);
    else if (*r->at == '$')
        err = read_constant(r);
    else if (is_digit(*r->at))
        err = read_number(r);
    else if (is_letter(*r->at))
        err = read_event(r);
    else
        err = refuse_formula(r, "a number, an event or '(' is missing before ", 8);
    skip_blanks(r);
    return err;
}

static int read_product(struct reader *r)
{
    int err = read_operand(r);

    while (!err && (*r->at == '*' || *r->at == '/')) {
        enum metric_step_kind kind = *r->at++ == '*' ? STEP_MUL : STEP_DIV;
        err = read_operand(r);
        if (!err)
            err = emit_step(r, kind, 0);
    }
    return err;
}

static int read_expression(struct reader *r)
{
    int err = read_product(r);

    while (!err && (*r->at == '+' || *r->at == '-')) {
        enum metric_step_kind kind = *r->at++ == '+' ? STEP_ADD : STEP_SUB;
        err = read_product(r);
        if (!err)
            err = emit_step(r, kind, 0);
    }
    return err;
}

int metric_parse(const char *formula, unsigned slots, struct metric_program *out, char *err,
                 size_t err_size)
{
    struct reader r = {.at = formula, .slots = slots, .out = out, .err = {err, err_size}};

    text_put(&r.err, "");
    memset(out, 0, sizeof *out);
    int result = read_expression(&r);
    if (!result && *r.at)
        result = refuse_formula(&r, "an operator is missing before ", 8);
    if (result)
        memset(out, 0, sizeof *out);
    return result;
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

/* b is not 0 if `kind` divides. */
static struct scaled combine_values(enum metric_step_kind kind, struct scaled a, struct scaled b)
{
    switch (kind) {
    case STEP_ADD:
        return scaled_add(a, b);
    case STEP_SUB:
        return scaled_sub(a, b);
    case STEP_MUL:
        return scaled_mul(a, b);
    default:
        return scaled_div(a, b);
    }
}

struct metric_value metric_evaluate(const struct metric_program *program, const uint64_t *count,
                                    uint32_t counted)
{
    struct scaled stack[METRIC_STEPS_MAX];
    unsigned top = 0;
    struct metric_value value = {0};
    const struct scaled one = scaled_of(METRIC_ONE);

    for (unsigned i = 0; i < program->steps; i++) {
        struct metric_step s = program->step[i];
        if (s.kind == STEP_NUMBER) {
            stack[top++] = scaled_div(scaled_of(program->number[s.index]), one);
        } else if (s.kind == STEP_EVENT) {
            if (!(counted >> s.index & 1))
                return (struct metric_value){.trouble = METRIC_EVENT_MISSING, .which = s.index};
            stack[top++] = scaled_of(count[s.index]);
        } else {
            ASSERT(top >= 2);
            top--;
            if (s.kind == STEP_DIV && !stack[top].bits)
                return (struct metric_value){.trouble = METRIC_DIVISION_BY_ZERO, .which = i};
            stack[top - 1] = combine_values(s.kind, stack[top - 1], stack[top]);
        }
    }
    ASSERT(top == 1);
    if (!scaled_round(scaled_mul(stack[0], one), &value.millionths))
        value.trouble = METRIC_TOO_LARGE;
    return value;
}
