/* See http.h. Line ends are CRLF or LF; folded headers are refused. */
#include "apps/tools/watchd/http.h"
#include <string.h>

/* ---- Spans ----------------------------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static bool same(struct http_span s, const char *text, bool any_case)
{
    size_t i = 0;

    for (; i < s.n && text[i]; i++)
        if (s.at[i] != text[i] && !(any_case && lower(s.at[i]) == text[i]))
            return false;
    return i == s.n && !text[i];
}

bool http_is(struct http_span s, const char *text)
{
    return same(s, text, false);
}

/* Cuts what stands in front of the first `mark` off, and the mark. Returns false, and leaves *rest
 * alone, if there is none. */
static bool cut(struct http_span *rest, char mark, struct http_span *out)
{
    const char *at = rest->n ? memchr(rest->at, mark, rest->n) : NULL;

    if (!at)
        return false;
    *out = (struct http_span){rest->at, (size_t)(at - rest->at)};
    rest->n -= out->n + 1;
    rest->at = at + 1;
    return true;
}

static struct http_span trim(struct http_span s)
{
    while (s.n && (s.at[0] == ' ' || s.at[0] == '\t')) {
        s.at++;
        s.n--;
    }
    while (s.n && (s.at[s.n - 1] == ' ' || s.at[s.n - 1] == '\t'))
        s.n--;
    return s;
}

static bool printable(struct http_span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.at[i] <= ' ' || s.at[i] > '~')
            return false;
    return s.n > 0;
}

/* Reads a number of up to 9 digits. */
static bool number(struct http_span s, uint32_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        *out = *out * 10 + (uint32_t)(s.at[i] - '0');
    }
    return s.n >= 1 && s.n <= 9;
}

/* ---- Heads ----------------------------------------------------------------------------------- */

/* Takes the next line of a head off. A CR in front of its LF is no part of it. */
static bool next_line(struct http_span *head, struct http_span *line)
{
    if (!cut(head, '\n', line))
        return false;
    if (line->n && line->at[line->n - 1] == '\r')
        line->n--;
    return true;
}

static long request_line(struct http_span line, struct http_request *out)
{
    struct http_span target;

    if (!cut(&line, ' ', &out->method) || !cut(&line, ' ', &target) || !printable(out->method) ||
        !printable(target) || target.at[0] != '/')
        return -400;
    if (!http_is(line, "HTTP/1.1") && !http_is(line, "HTTP/1.0"))
        return line.n >= 5 && !memcmp(line.at, "HTTP/", 5) ? -505 : -400;
    out->keep_alive = http_is(line, "HTTP/1.1");
    out->path = target;
    if (cut(&target, '?', &out->path))
        out->query = target;
    return 0;
}

/* What headers say beside what a request shows. */
struct headers {
    struct http_span length;
    bool coded; /* Transfer-Encoding */
};

/* Sets a header that may be there once. */
static long set_once(struct http_span *to, struct http_span value)
{
    if (to->at)
        return -400;
    *to = value;
    return 0;
}

static long header_line(struct http_span line, struct http_request *out, struct headers *h)
{
    struct http_span name;

    if (!cut(&line, ':', &name) || !printable(name))
        return -400;
    struct http_span value = trim(line);
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.at[i] < ' ' && value.at[i] != '\t')
            return -400;
    if (same(name, "host", true))
        return set_once(&out->host, value);
    if (same(name, "origin", true))
        return set_once(&out->origin, value);
    if (same(name, "x-vigil-token", true))
        return set_once(&out->token, value);
    if (same(name, "content-length", true))
        return set_once(&h->length, value);
    h->coded |= same(name, "transfer-encoding", true);
    if (same(name, "connection", true))
        out->keep_alive &= !same(value, "close", true);
    return 0;
}

/* Returns the bytes of a head with the empty line that ends it, or 0. */
static size_t head_bytes(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '\n')
            continue;
        if (i + 1 < n && text[i + 1] == '\n')
            return i + 2;
        if (i + 2 < n && text[i + 1] == '\r' && text[i + 2] == '\n')
            return i + 3;
    }
    return 0;
}

static long read_head(struct http_span head, struct http_request *out, struct headers *h)
{
    struct http_span line = {0};

    next_line(&head, &line);
    long err = request_line(line, out);
    while (!err && next_line(&head, &line) && line.n)
        err = header_line(line, out, h);
    return err ? err : out->host.at ? 0 : -400;
}

long http_parse(const char *text, size_t n, struct http_request *out)
{
    struct headers h = {0};
    uint32_t length = 0;
    size_t head = head_bytes(text, n < HTTP_HEAD_MAX ? n : HTTP_HEAD_MAX);

    *out = (struct http_request){0};
    if (!head)
        return n < HTTP_HEAD_MAX ? 0 : -431;
    long err = read_head((struct http_span){text, head}, out, &h);
    if (err)
        return err;
    if (h.coded)
        return -501;
    if (h.length.at && !number(h.length, &length))
        return -400;
    if (length > HTTP_BODY_MAX)
        return -413;
    if (n - head < length)
        return 0;
    out->body = (struct http_span){text + head, length};
    return (long)(head + length);
}

int http_number(struct http_span query, const char *name, uint32_t *out)
{
    struct http_span field, key;

    while (query.n) {
        if (!cut(&query, '&', &field)) {
            field = query;
            query.n = 0;
        }
        if (cut(&field, '=', &key) && http_is(key, name))
            return number(field, out) ? 1 : -1;
    }
    return 0;
}

/* ---- Who asks? ------------------------------------------------------------------------------- */

/* Takes ":PORT" off. Returns false if what is there is no port. */
static bool without_port(struct http_span *host)
{
    uint32_t port;
    size_t n = host->n;

    while (n && host->at[n - 1] != ':' && host->at[n - 1] != ']')
        n--;
    if (!n || host->at[n - 1] == ']')
        return true;
    if (!number((struct http_span){host->at + n, host->n - n}, &port))
        return false;
    host->n = n - 1;
    return true;
}

/* Returns whether it is made of the characters of an address, and of no name's: digits and dots, or
 * hexadecimal digits and colons in brackets. */
static bool is_address(struct http_span s)
{
    bool six = s.n > 2 && s.at[0] == '[' && s.at[s.n - 1] == ']';

    for (size_t i = six; i + six < s.n; i++) {
        bool digit = s.at[i] >= '0' && s.at[i] <= '9';
        bool hex = lower(s.at[i]) >= 'a' && lower(s.at[i]) <= 'f';
        if (!digit && s.at[i] != '.' && !(six && (hex || s.at[i] == ':')))
            return false;
    }
    return s.n > 0;
}

bool http_host_is_ours(struct http_span host, const char *names)
{
    struct http_span rest = {names, strlen(names)}, name;

    if (!without_port(&host))
        return false;
    if (is_address(host) || same(host, "localhost", true))
        return true;
    while (rest.n) {
        if (!cut(&rest, ',', &name)) {
            name = rest;
            rest.n = 0;
        }
        if (name.n == host.n && name.n && !memcmp(name.at, host.at, name.n))
            return true;
    }
    return false;
}

bool http_origin_is_ours(const struct http_request *r)
{
    static const char scheme[] = "http://";
    const size_t n = sizeof scheme - 1;

    if (!r->origin.at)
        return true;
    return r->origin.n == n + r->host.n && !memcmp(r->origin.at, scheme, n) &&
           !memcmp(r->origin.at + n, r->host.at, r->host.n);
}

bool http_token_is(struct http_span given, const char *token)
{
    size_t n = strlen(token);
    unsigned differ = (given.n != n) | (n < HTTP_TOKEN_LEAST);

    for (size_t i = 0; i < n; i++)
        differ |= (unsigned char)(token[i] ^ (given.n ? given.at[i % given.n] : 0));
    return !differ;
}
