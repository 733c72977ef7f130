/* The conversions of printf, written to a sink. Keeps no state, allocates nothing, and writes
 * nowhere but to a small buffer on the stack. */
#include "kernel/lib/format.h"

#define DIGITS_MAX  64
#define PADDING_MAX 1024 /* larger widths and precisions are cut to this */

enum length { LENGTH_CHAR, LENGTH_SHORT, LENGTH_INT, LENGTH_LONG };

struct spec {
    bool left, zero, plus, space, alternate;
    int width, precision; /* precision -1: none given */
    enum length length;
};

struct out {
    format_sink *sink;
    void *to;
    va_list args;
};

static void put_bytes(struct out *out, const char *s, size_t n)
{
    if (n)
        out->sink(out->to, s, n);
}

static void pad(struct out *out, char c, int n)
{
    for (; n > 0; n--)
        put_bytes(out, &c, 1);
}

static void put_field(struct out *out, const struct spec *spec, const char *s, size_t n)
{
    int fill = spec->width - (int)n;

    if (!spec->left)
        pad(out, ' ', fill);
    put_bytes(out, s, n);
    if (spec->left)
        pad(out, ' ', fill);
}

static void put_number(struct out *out, const struct spec *spec, uint64_t v, unsigned base,
                       bool upper, const char *prefix)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    char buf[DIGITS_MAX];
    int n = 0, prefix_len = 0;

    for (uint64_t rest = v; rest; rest /= base)
        buf[DIGITS_MAX - ++n] = digits[rest % base];
    while (prefix[prefix_len])
        prefix_len++;
    int zeros = MAX(spec->precision < 0 ? 1 : spec->precision, n) - n;
    if (spec->zero && !spec->left && spec->precision < 0)
        zeros = MAX(zeros, spec->width - n - prefix_len);
    int fill = spec->width - n - prefix_len - zeros;
    if (!spec->left)
        pad(out, ' ', fill);
    put_bytes(out, prefix, (size_t)prefix_len);
    pad(out, '0', zeros);
    put_bytes(out, buf + DIGITS_MAX - n, (size_t)n);
    if (spec->left)
        pad(out, ' ', fill);
}

static int64_t take_signed(struct out *out, enum length length)
{
    if (length == LENGTH_LONG)
        return va_arg(out->args, int64_t);
    int v = va_arg(out->args, int);
    return length == LENGTH_CHAR ? (signed char)v : length == LENGTH_SHORT ? (short)v : v;
}

static uint64_t take_unsigned(struct out *out, enum length length)
{
    if (length == LENGTH_LONG)
        return va_arg(out->args, uint64_t);
    unsigned v = va_arg(out->args, unsigned);
    return length == LENGTH_CHAR    ? (unsigned char)v
           : length == LENGTH_SHORT ? (unsigned short)v
                                    : v;
}

static void put_signed(struct out *out, const struct spec *spec)
{
    int64_t v = take_signed(out, spec->length);
    const char *sign = v < 0 ? "-" : spec->plus ? "+" : spec->space ? " " : "";

    put_number(out, spec, v < 0 ? -(uint64_t)v : (uint64_t)v, 10, false, sign);
}

static void put_hex(struct out *out, const struct spec *spec, bool upper)
{
    uint64_t v = take_unsigned(out, spec->length);

    put_number(out, spec, v, 16, upper, !spec->alternate || !v ? "" : upper ? "0X" : "0x");
}

static void put_string(struct out *out, const struct spec *spec)
{
    const char *s = va_arg(out->args, const char *);
    size_t n = 0;

    if (!s)
        s = "(null)";
    while ((spec->precision < 0 || n < (size_t)spec->precision) && s[n])
        n++;
    put_field(out, spec, s, n);
}

static bool convert(struct out *out, struct spec *spec, char conversion)
{
    char c;

    switch (conversion) {
    case 'd':
    case 'i':
        put_signed(out, spec);
        return true;
    case 'u':
        put_number(out, spec, take_unsigned(out, spec->length), 10, false, "");
        return true;
    case 'x':
    case 'X':
        put_hex(out, spec, conversion == 'X');
        return true;
    case 'p':
        put_number(out, spec, (uintptr_t)va_arg(out->args, void *), 16, false, "0x");
        return true;
    case 's':
        put_string(out, spec);
        return true;
    case 'c':
        c = (char)va_arg(out->args, int);
        put_field(out, spec, &c, 1);
        return true;
    case '%':
        put_bytes(out, "%", 1);
        return true;
    default:
        return false;
    }
}

static const char *parse_flags(const char *p, struct spec *spec)
{
    for (;; p++) {
        switch (*p) {
        case '-':
            spec->left = true;
            break;
        case '0':
            spec->zero = true;
            break;
        case '+':
            spec->plus = true;
            break;
        case ' ':
            spec->space = true;
            break;
        case '#':
            spec->alternate = true;
            break;
        default:
            return p;
        }
    }
}

static const char *parse_number(const char *p, struct out *out, int *n)
{
    if (*p == '*') {
        *n = va_arg(out->args, int);
        p++;
    } else {
        for (*n = 0; *p >= '0' && *p <= '9'; p++)
            *n = MIN(*n * 10 + (*p - '0'), PADDING_MAX);
    }
    *n = MIN(*n, PADDING_MAX);
    return p;
}

static const char *parse_length(const char *p, struct spec *spec)
{
    spec->length = LENGTH_INT;
    if (*p == 'h') {
        spec->length = p[1] == 'h' ? LENGTH_CHAR : LENGTH_SHORT;
        return p + (p[1] == 'h' ? 2 : 1);
    }
    if (*p == 'l' || *p == 'z' || *p == 't' || *p == 'j') {
        spec->length = LENGTH_LONG;
        return p + (p[0] == 'l' && p[1] == 'l' ? 2 : 1);
    }
    return p;
}

static const char *parse_spec(const char *p, struct out *out, struct spec *spec)
{
    *spec = (struct spec){.precision = -1};
    p = parse_flags(p, spec);
    p = parse_number(p, out, &spec->width);
    if (spec->width < 0) {
        spec->left = true;
        spec->width = MIN(-(int64_t)spec->width, PADDING_MAX);
    }
    if (*p == '.') {
        p = parse_number(p + 1, out, &spec->precision);
        spec->precision = MAX(spec->precision, -1);
    }
    return parse_length(p, spec);
}

static size_t text_length(const char *s)
{
    size_t n = 0;

    while (s[n])
        n++;
    return n;
}

void format_text(format_sink *sink, void *to, const char *fmt, va_list args)
{
    struct out out = {.sink = sink, .to = to};
    struct spec spec;

    va_copy(out.args, args);
    while (*fmt) {
        const char *start = fmt;
        while (*fmt && *fmt != '%')
            fmt++;
        put_bytes(&out, start, (size_t)(fmt - start));
        if (!*fmt)
            break;
        start = fmt;
        fmt = parse_spec(fmt + 1, &out, &spec);
        if (!*fmt || !convert(&out, &spec, *fmt)) {
            put_bytes(&out, start, text_length(start));
            break;
        }
        fmt++;
    }
    va_end(out.args);
}
