/* Requests of HTTP, as watchd reads them, and who may ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "apps/tools/watchd/http.h"

static struct http_request r;

static long parse(const char *text)
{
    return http_parse(text, strlen(text), &r);
}

static struct http_span span(const char *text)
{
    return (struct http_span){text, strlen(text)};
}

static void a_request_is_read_with_its_headers_and_body(void **state)
{
    static const char text[] = "POST /api/knob?a=1 HTTP/1.1\r\nHOST: localhost:8080\r\n"
                               "X-Vigil-Token:\t secret \r\nContent-Length: 3\r\n\r\nabcGET";

    (void)state;
    assert_int_equal(parse(text), sizeof text - 1 - 3);
    assert_true(http_is(r.method, "POST") && http_is(r.path, "/api/knob") &&
                http_is(r.query, "a=1"));
    assert_true(http_is(r.host, "localhost:8080") && http_is(r.token, "secret"));
    assert_true(http_is(r.body, "abc") && r.keep_alive && !r.origin.at);
}

static void more_is_awaited_until_head_and_body_are_there(void **state)
{
    static const char text[] = "GET / HTTP/1.0\nHost: a\nContent-Length: 2\n\nxy";

    (void)state;
    for (size_t n = 0; n < sizeof text - 1; n++)
        assert_int_equal(http_parse(text, n, &r), 0);
    assert_int_equal(http_parse(text, sizeof text - 1, &r), sizeof text - 1);
    assert_false(r.keep_alive);
}

static void what_is_malformed_is_refused(void **state)
{
    static const struct {
        const char *text;
        long status;
    } bad[] = {
        {"GET / HTTP/1.1\r\n\r\n", -400}, /* no Host */
        {"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", -400},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", -400},
        {"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", -400},
        {"GET x HTTP/1.1\r\nHost: a\r\n\r\n", -400},
        {"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", -400},
        {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", -400},
        {"GET / FTP/1.1\r\nHost: a\r\n\r\n", -400},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", -505},
        {"\r\n\r\n", -400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", -400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", -400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n", -413},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", -501},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(parse(bad[i].text), bad[i].status);
}

static void an_endless_head_is_refused(void **state)
{
    static char text[HTTP_HEAD_MAX];

    (void)state;
    memset(text, 'a', sizeof text);
    assert_int_equal(http_parse(text, sizeof text - 1, &r), 0);
    assert_int_equal(http_parse(text, sizeof text, &r), -431);
}

static void numbers_of_a_query_are_found_by_name(void **state)
{
    uint32_t n = 0;

    (void)state;
    assert_int_equal(http_number(span("a=1&seconds=30"), "seconds", &n), 1);
    assert_int_equal(n, 30);
    assert_int_equal(http_number(span("xseconds=1&b"), "seconds", &n), 0);
    assert_int_equal(http_number(span("seconds="), "seconds", &n), -1);
    assert_int_equal(http_number(span("seconds=1e3"), "seconds", &n), -1);
    assert_int_equal(http_number(span("seconds=1234567890"), "seconds", &n), -1);
    assert_int_equal(http_number(span(""), "seconds", &n), 0);
}

static void a_host_is_ours_by_address_or_given_name(void **state)
{
    static const char *const ours[] = {"127.0.0.1",  "127.0.0.1:8080", "localhost", "LocalHost:1",
                                       "[::1]:8080", "10.0.2.15",      "lab",       "lab2:80"};
    static const char *const others[] = {"evil.example",
                                         "127.0.0.1.evil.example",
                                         "localhost.evil",
                                         "",
                                         "lab:x",
                                         "la",
                                         "[::1",
                                         "1.2.3.4:",
                                         "cafe"};

    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        assert_true(http_host_is_ours(span(ours[i]), "lab,lab2"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(http_host_is_ours(span(others[i]), "lab,lab2"));
    assert_false(http_host_is_ours(span("lab"), ""));
}

static void an_origin_is_ours_if_it_is_the_host(void **state)
{
    (void)state;
    parse("GET / HTTP/1.1\r\nHost: a:1\r\n\r\n");
    assert_true(http_origin_is_ours(&r));
    parse("GET / HTTP/1.1\r\nHost: a:1\r\nOrigin: http://a:1\r\n\r\n");
    assert_true(http_origin_is_ours(&r));
    parse("GET / HTTP/1.1\r\nHost: a:1\r\nOrigin: http://a:2\r\n\r\n");
    assert_false(http_origin_is_ours(&r));
    parse("GET / HTTP/1.1\r\nHost: a:1\r\nOrigin: null\r\n\r\n");
    assert_false(http_origin_is_ours(&r));
    parse("GET / HTTP/1.1\r\nHost: a:1\r\nOrigin: \r\n\r\n");
    assert_false(http_origin_is_ours(&r));
}

static void only_the_whole_token_is_right(void **state)
{
    (void)state;
    assert_true(http_token_is(span("0123456789abcdef"), "0123456789abcdef"));
    assert_false(http_token_is(span("0123456789abcdee"), "0123456789abcdef"));
    assert_false(http_token_is(span("0123456789abcde"), "0123456789abcdef"));
    assert_false(http_token_is(span("0123456789abcdef0"), "0123456789abcdef"));
    assert_false(http_token_is(span(""), "0123456789abcdef"));
    assert_false(http_token_is((struct http_span){0}, ""));
    assert_false(http_token_is(span("short"), "short"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_read_with_its_headers_and_body),
        cmocka_unit_test(more_is_awaited_until_head_and_body_are_there),
        cmocka_unit_test(what_is_malformed_is_refused),
        cmocka_unit_test(an_endless_head_is_refused),
        cmocka_unit_test(numbers_of_a_query_are_found_by_name),
        cmocka_unit_test(a_host_is_ours_by_address_or_given_name),
        cmocka_unit_test(an_origin_is_ours_if_it_is_the_host),
        cmocka_unit_test(only_the_whole_token_is_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
