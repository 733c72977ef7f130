/*
 * Requests of HTTP/1.1: parsing, and who may ask. Pure: text in, decisions out; every byte of a
 * request comes from outside.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest head (request line and headers), and longest body. */
enum { HTTP_HEAD_MAX = 8192, HTTP_BODY_MAX = 4096, HTTP_TOKEN_LEAST = 16 };

struct http_span {
    const char *at;
    size_t n;
};

/* Parts of the text that was parsed; what is missing is empty. */
struct http_request {
    struct http_span method, path, query; /* query: behind '?' */
    struct http_span host, origin, token; /* headers; token: X-Vigil-Token */
    struct http_span body;
    bool keep_alive; /* the connection may stay for another request */
};

/*
 * Parses the request at the beginning of `text`. Returns its bytes; 0: more are to come; or, for a
 * request that is to be refused, the negative status of the reply:
 * -400 malformed, or a header that must be there once; -413 body too long; -431 head too long;
 * -501 a body without Content-Length; -505 not HTTP/1.
 */
long http_parse(const char *text, size_t n, struct http_request *out);

bool http_is(struct http_span s, const char *text);
/* Finds NAME=NUMBER in a query. Returns 1 and the number; 0: there is no such name; -1: it is no
 * number of up to 9 digits. */
int http_number(struct http_span query, const char *name, uint32_t *out);

/* Returns whether a Host header names this server: localhost, an address, or one of `names`, which
 * are separated by commas. Another name may be an attacker's, made to point here. */
bool http_host_is_ours(struct http_span host, const char *names);
/* Returns whether a request comes from a page of this server, or from no page. */
bool http_origin_is_ours(const struct http_request *r);
/* Compares in a time that does not tell how much of the token was right. */
bool http_token_is(struct http_span given, const char *token);
