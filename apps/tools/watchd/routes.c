/* What each path answers (docs/use/watch.md). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/state.h"
#include "apps/tools/watchd/profile.h"
#include "apps/tools/watchd/programs.h"
#include "apps/tools/watchd/watchd.h"

enum { PROFILE_SECONDS = 1, PROFILE_SECONDS_MAX = 600 };
static const char plain[] = "text/plain; charset=utf-8";

static void reply_text(struct connection *c, int status, const char *text)
{
    server_reply(c, status, plain, "", text, strlen(text));
}

static void reply(struct connection *c, const char *type, const struct text *t)
{
    if (t->failed)
        reply_text(c, 503, "no memory for the reply\n");
    else
        server_reply(c, 200, type, "", t->at, t->n);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void page(struct connection *c, const struct http_request *r)
{
    (void)r;
    server_reply(c, 200, "text/html; charset=utf-8", "", watchd_page_start,
                 (size_t)(watchd_page_end - watchd_page_start));
}

static void state(struct connection *c, const struct http_request *r)
{
    struct text t = {0};

    (void)r;
    watchd_read_if_old();
    text_say(&t, "{\"about\":%s,\"tick\":%s,\"program\":", watch.about.at, watch.tick.at);
    programs_show(&t);
    text_say(&t, ",\"knobs\":");
    show_knobs(&t);
    text_say(&t, "}\n");
    reply(c, "application/json", &t);
    text_free(&t);
}

static void metrics(struct connection *c, const struct http_request *r)
{
    struct text t = {0};

    (void)r;
    watchd_read_if_old();
    struct watch_self s = watchd_self();
    show_metrics(&t, &watch.machine, &s);
    reply(c, "text/plain; version=0.0.4; charset=utf-8", &t);
    text_free(&t);
}

static void events(struct connection *c, const struct http_request *r)
{
    struct text t = {0};

    (void)r;
    server_stream(c);
    server_event_to(c, "about", &watch.about);
    text_say(&t, "[%s]", watch.past.n ? watch.past.at : "");
    server_event_to(c, "past", &t);
    server_event_to(c, "tick", &watch.tick);
    text_free(&t);
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* Replies with the names of the programs of the bundle, a line each. */
static void applications(struct connection *c, const struct http_request *r)
{
    struct text t = {0};
    char piece[1024];
    int fd = open("/proc/vigil/applications", O_RDONLY);

    (void)r;
    for (ssize_t n; fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0;)
        text_bytes(&t, piece, (size_t)n);
    if (fd >= 0)
        close(fd);
    reply(c, plain, &t);
    text_free(&t);
}

static void runs(struct connection *c, const struct http_request *r)
{
    struct text t = {0};

    (void)r;
    programs_list(&t);
    text_say(&t, "\n");
    reply(c, "application/json", &t);
    text_free(&t);
}

/* Reads run=N of the query, and from=BYTE. Returns false, and replies, if they are no numbers. */
static bool which_run(struct connection *c, const struct http_request *r, uint32_t *run,
                      uint32_t *from)
{
    *run = *from = 0;
    if (http_number(r->query, "run", run) >= 0 && http_number(r->query, "from", from) >= 0)
        return true;
    reply_text(c, 400, "run= and from= take a number\n");
    return false;
}

static void reply_of_run(struct connection *c, bool found, uint32_t run, struct text *t)
{
    if (found) {
        reply(c, plain, t);
    } else {
        text_clear(t);
        text_say(t, "run=%" PRIu32 " reason=unknown: the latest %d runs are remembered\n", run,
                 PROGRAMS_KEPT);
        server_reply(c, 404, plain, "", t->at, t->n);
    }
    text_free(t);
}

static void output(struct connection *c, const struct http_request *r)
{
    struct text t = {0};
    uint32_t run, from;

    if (which_run(c, r, &run, &from))
        reply_of_run(c, programs_output(&t, run, from), run, &t);
}

static void results(struct connection *c, const struct http_request *r)
{
    struct text t = {0};
    uint32_t run, from;

    if (which_run(c, r, &run, &from))
        reply_of_run(c, programs_results(&t, run), run, &t);
}

/* ---- Profiles -------------------------------------------------------------------------------- */

static void profile(struct connection *c, const struct http_request *r)
{
    uint32_t seconds = PROFILE_SECONDS, ms;
    char why[160] = "a profile is being taken\n";
    int given = http_number(r->query, "seconds", &seconds);
    int given_ms = http_number(r->query, "ms", &ms);

    if (given < 0 || given_ms < 0 || seconds > PROFILE_SECONDS_MAX) {
        reply_text(c, 400, "seconds= and ms= take a number; 600 seconds at most\n");
        return;
    }
    int err = profile_begin(why, sizeof why);
    if (err) {
        reply_text(c, err == -EBUSY ? 409 : 503, why);
        return;
    }
    c->profile_ns = machine_ns() + (given_ms ? ms * 1000000ull : seconds * 1000000000ull);
}

void routes_profile_due(struct connection *c)
{
    struct text t = {0};

    profile_end(&t);
    reply(c, "application/octet-stream", &t);
    text_free(&t);
}

/* ---- Changing -------------------------------------------------------------------------------- */

/* Copies a body as a string without the newline at its end. Returns false if it does not fit, or
 * has a NUL. */
static bool body_text(const struct http_request *r, char *out, size_t size)
{
    size_t n = r->body.n;

    while (n && (r->body.at[n - 1] == '\n' || r->body.at[n - 1] == '\r'))
        n--;
    if (n >= size || memchr(r->body.at, '\0', n))
        return false;
    memcpy(out, r->body.at, n);
    out[n] = '\0';
    return n > 0;
}

/* Sets what is watchd's own. Returns 1: it is not; 0; or an error with the reason in `why`. */
static int own_knob(const char *assign, char *why, size_t size)
{
    static const char interval[] = "watch.interval_ms=", names[] = "watch.events=";
    unsigned ms;
    char end;

    if (!strncmp(assign, names, sizeof names - 1)) {
        int err = machine_events(&watch.machine, assign + sizeof names - 1);
        if (err)
            snprintf(why, size, "argument=watch.events reason=value: %s", watch.machine.events_why);
        return err;
    }
    if (strncmp(assign, interval, sizeof interval - 1))
        return 1;
    if (sscanf(assign + sizeof interval - 1, "%9u%c", &ms, &end) != 1 || ms < 1 || ms > 3600000) {
        snprintf(why, size,
                 "argument=watch.interval_ms reason=value: accepted: a number from 1 to 3600000");
        return -EINVAL;
    }
    watch.interval_ms = ms;
    return 0;
}

static void knob(struct connection *c, const struct http_request *r)
{
    char assign[256], why[256] = "";

    if (!body_text(r, assign, sizeof assign)) {
        reply_text(c, 400, "the body is to be NAME=VALUE\n");
        return;
    }
    int err = own_knob(assign, why, sizeof why);
    if (err > 0)
        err = knob_set(assign, why, sizeof why);
    if (!err)
        snprintf(why, sizeof why, "%s", assign);
    strncat(why, "\n", sizeof why - strlen(why) - 1);
    reply_text(c, err ? 400 : 200, why);
}

static void run(struct connection *c, const struct http_request *r)
{
    char words[HTTP_BODY_MAX + 1], why[256] = "";

    if (!body_text(r, words, sizeof words)) {
        reply_text(c, 400, "the body is to be a program's name and its arguments\n");
        return;
    }
    int number = programs_start(words, why, sizeof why);
    if (number > 0)
        snprintf(why, sizeof why, "run=%d", number);
    strncat(why, "\n", sizeof why - strlen(why) - 1);
    reply_text(c, number > 0 ? 200 : number == -EBUSY ? 409 : 400, why);
}

static void stop(struct connection *c, const struct http_request *r)
{
    char words[32], why[128] = "";
    uint32_t pid = 0;

    if (body_text(r, words, sizeof words) &&
        (http_number(r->body, "pid", &pid) <= 0 || !pid || pid == watch.pid)) {
        reply_text(c, 400, "the body is to be empty, or pid=N, a process other than watchd\n");
        return;
    }
    bool stopped = !programs_stop(pid, why, sizeof why);
    snprintf(why + strlen(why), sizeof why - strlen(why), "%s\n", stopped ? "stopping" : "");
    reply_text(c, stopped ? 200 : 409, why);
}

/* ---- All ------------------------------------------------------------------------------------- */

typedef void answer(struct connection *c, const struct http_request *r);
static const struct route {
    const char *path, *method;
    answer *answer;
} routes[] = {
    {"/", "GET", page},
    {"/events", "GET", events},
    {"/metrics", "GET", metrics},
    {"/debug/pprof/profile", "GET", profile},
    {"/api/state", "GET", state},
    {"/api/programs", "GET", applications},
    {"/api/runs", "GET", runs},
    {"/api/output", "GET", output},
    {"/api/results", "GET", results},
    {"/api/knob", "POST", knob},
    {"/api/run", "POST", run},
    {"/api/stop", "POST", stop},
};
enum { ROUTES = sizeof routes / sizeof routes[0] };

/* Returns whether the request may change something; answers it if not. */
static bool may_change(struct connection *c, const struct http_request *r)
{
    if (!watch.token[0])
        reply_text(c, 403, "read only: watchd was started with token=none\n");
    else if (!http_origin_is_ours(r))
        reply_text(c, 403, "a page of another server asked\n");
    else if (!http_token_is(r->token, watch.token))
        reply_text(c, 401, "the header X-Vigil-Token is to be the token that the console shows\n");
    else
        return true;
    return false;
}

static void reply_unknown(struct connection *c)
{
    struct text t = {0};

    text_say(&t, "there are:");
    for (unsigned i = 0; i < ROUTES; i++)
        text_say(&t, " %s", routes[i].path);
    text_say(&t, "\n");
    server_reply(c, 404, plain, "", t.at, t.n);
    text_free(&t);
}

static void reply_method(struct connection *c, const char *method)
{
    char header[32], text[32];

    snprintf(header, sizeof header, "Allow: %s\r\n", method);
    snprintf(text, sizeof text, "use %s\n", method);
    server_reply(c, 405, plain, header, text, strlen(text));
}

void routes_answer(struct connection *c, const struct http_request *r)
{
    const struct route *at = routes;

    while (at < routes + ROUTES && !http_is(r->path, at->path))
        at++;
    if (!http_host_is_ours(r->host, watch.names))
        reply_text(c, 421, "the header Host names another server: see names= of watchd\n");
    else if (at == routes + ROUTES)
        reply_unknown(c);
    else if (!http_is(r->method, at->method))
        reply_method(c, at->method);
    else if (strcmp(at->method, "POST") || may_change(c, r))
        at->answer(c, r);
}
