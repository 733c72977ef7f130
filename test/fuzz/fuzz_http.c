/* Any bytes as a request of HTTP: all parts that are found lie within it, it reads the same when
 * more follows, and no byte of a shorter text is enough. */
#include <stdlib.h>
#include <string.h>
#include "apps/tools/watchd/http.h"

static void within(struct http_span s, const char *text, size_t n)
{
    if (s.at && (s.at < text || s.n > n || s.at + s.n > text + n))
        abort();
    if (!s.at && s.n)
        abort();
}

static void check_parts(const struct http_request *r, const char *text, size_t n)
{
    const struct http_span parts[] = {r->method, r->path,  r->query, r->host,
                                      r->origin, r->token, r->body};
    uint32_t number;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        within(parts[i], text, n);
    if (!r->host.at || !r->method.n || !r->path.n || r->path.at[0] != '/')
        abort();
    http_host_is_ours(r->host, "a,bc");
    http_origin_is_ours(r);
    if (http_token_is(r->token, "0123456789abcdef") !=
        (r->token.n == 16 && !memcmp(r->token.at, "0123456789abcdef", 16)))
        abort();
    if (http_number(r->query, "n", &number) == 1 && number > 999999999)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1);
    struct http_request r, again;

    memcpy(text, data, size);
    long n = http_parse(text, size, &r);
    if (n > (long)size)
        abort();
    if (n > 0) {
        check_parts(&r, text, (size_t)n);
        if (http_parse(text, (size_t)n, &again) != n || http_parse(text, (size_t)n - 1, &again) > 0)
            abort();
    }
    free(text);
    return 0;
}
