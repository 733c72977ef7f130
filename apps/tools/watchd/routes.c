/* What each path answers (docs/use/watch.md). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "apps/libc/state.h"
#include "apps/tools/watchd/profile.h"
#include "apps/tools/watchd/programs.h"
#include "apps/tools/watchd/watchd.h"

enum { PROFILE_SECONDS = 1, PROFILE_SECONDS_MAX = 600 };

static void reply_text(struct connection *c, int status, const char *text)
{
    server_reply(c, status, "text/plain; charset=utf-8", "", text, strlen(text));
}

static void reply(struct connection *c, const char *type, const struct text *t)
{
    if (t->failed)
        reply_text(c, 503, "no memory for the reply\n");
    else
        server_reply(c, 200, type, "", t->at, t->n);
}

static struct watch_self self(void)
{
    struct server_figures f = server_figures();

    return (struct watch_self){watch.pid, f.readers, watch.interval_ms,     f.requests,
                               f.refused, f.dropped, watch.token[0] != '\0'};
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void page(struct connection *c)
{
    server_reply(c, 200, "text/html; charset=utf-8", "", watchd_page_start,
                 (size_t)(watchd_page_end - watchd_page_start));
}

static void state(struct connection *c)
{
    struct text t = {0};

    watchd_read_if_old();
    text_say(&t, "{\"about\":%s,\"tick\":%s,\"program\":", watch.about.at, watch.tick.at);
    programs_show(&t);
    text_say(&t, ",\"knobs\":");
    show_knobs(&t);
    text_say(&t, "}\n");
    reply(c, "application/json", &t);
    text_free(&t);
}

static void metrics(struct connection *c)
{
    struct text t = {0};

    watchd_read_if_old();
    struct watch_self s = self();
    show_metrics(&t, &watch.machine, &s);
    reply(c, "text/plain; version=0.0.4; charset=utf-8", &t);
    text_free(&t);
}

static void events(struct connection *c)
{
    struct text t = {0};

    server_stream(c);
    server_event_to(c, "about", &watch.about);
    text_say(&t, "[%s]", watch.past.n ? watch.past.at : "");
    server_event_to(c, "past", &t);
    server_event_to(c, "tick", &watch.tick);
    text_free(&t);
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
    char words[1024], why[256] = "";

    if (!body_text(r, words, sizeof words)) {
        reply_text(c, 400, "the body is to be a program's name and its arguments\n");
        return;
    }
    int pid = programs_start(words, why, sizeof why);
    if (pid > 0)
        snprintf(why, sizeof why, "pid=%d", pid);
    strncat(why, "\n", sizeof why - strlen(why) - 1);
    reply_text(c, pid > 0 ? 200 : pid == -EBUSY ? 409 : 400, why);
}

static void stop(struct connection *c)
{
    bool stopped = !programs_stop();

    reply_text(c, stopped ? 200 : 409,
               stopped ? "stopping\n" : "no program runs that was started here\n");
}

/* ---- All ------------------------------------------------------------------------------------- */

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

static void change(struct connection *c, const struct http_request *r)
{
    if (!may_change(c, r))
        return;
    if (http_is(r->path, "/api/knob"))
        knob(c, r);
    else if (http_is(r->path, "/api/run"))
        run(c, r);
    else
        stop(c);
}

static bool changes(struct http_span path)
{
    return http_is(path, "/api/knob") || http_is(path, "/api/run") || http_is(path, "/api/stop");
}

static void read_only(struct connection *c, const struct http_request *r)
{
    if (http_is(r->path, "/"))
        page(c);
    else if (http_is(r->path, "/events"))
        events(c);
    else if (http_is(r->path, "/api/state"))
        state(c);
    else if (http_is(r->path, "/metrics"))
        metrics(c);
    else if (http_is(r->path, "/debug/pprof/profile"))
        profile(c, r);
    else
        reply_text(c, 404,
                   "there are: / /events /metrics /api/state /api/knob /api/run /api/stop "
                   "/debug/pprof/profile\n");
}

void routes_answer(struct connection *c, const struct http_request *r)
{
    if (!http_host_is_ours(r->host, watch.names))
        reply_text(c, 421, "the header Host names another server: see names= of watchd\n");
    else if (changes(r->path) && http_is(r->method, "POST"))
        change(c, r);
    else if (changes(r->path))
        server_reply(c, 405, "text/plain", "Allow: POST\r\n", "use POST\n", 9);
    else if (!http_is(r->method, "GET"))
        server_reply(c, 405, "text/plain", "Allow: GET\r\n", "use GET\n", 8);
    else
        read_only(c, r);
}
