/* See server.h. */
#include "apps/tools/watchd/server.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "apps/common/connection.h"
#include "apps/tools/watchd/machine.h"

enum { PIECE = 4096 };

static struct connection connections[SERVER_CONNECTIONS];
static int listening = -1;
static struct server_figures figures;

/* ---- Opening and closing --------------------------------------------------------------------- */

static int listen_everywhere(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) &&
        !bind(fd, (struct sockaddr *)&a, sizeof a) && !listen(fd, SERVER_CONNECTIONS))
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

int server_open(bool local, uint16_t port)
{
    const struct address a = {.local = local, .port = port};

    for (int i = 0; i < SERVER_CONNECTIONS; i++)
        connections[i].fd = -1;
    listening = local ? address_listen(&a, SERVER_CONNECTIONS) : listen_everywhere(port);
    return listening < 0 ? errno : 0;
}

static void drop(struct connection *c)
{
    close(c->fd);
    text_free(&c->in);
    text_free(&c->out);
    *c = (struct connection){.fd = -1};
}

static void accept_one(void)
{
    int fd = accept(listening, NULL, NULL);

    for (int i = 0; fd >= 0 && i < SERVER_CONNECTIONS; i++) {
        if (connections[i].fd >= 0)
            continue;
        connections[i] = (struct connection){.fd = fd, .since_ns = machine_ns()};
        return;
    }
    if (fd >= 0)
        close(fd); /* no room */
}

/* ---- Answering ------------------------------------------------------------------------------- */

static const char *reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } reasons[] = {{200, "OK"},
                   {304, "Not Modified"},
                   {400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {409, "Conflict"},
                   {413, "Content Too Large"},
                   {421, "Misdirected Request"},
                   {431, "Request Header Fields Too Large"},
                   {501, "Not Implemented"},
                   {503, "Service Unavailable"},
                   {505, "HTTP Version Not Supported"}};

    for (unsigned i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "?";
}

/* Headers of all replies: no other page may show or read this one, and it loads nothing from
 * elsewhere. */
static const char always[] =
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\n";

void server_reply(struct connection *c, int status, const char *type, const char *headers,
                  const void *body, size_t n)
{
    figures.refused += status >= 400;
    text_say(&c->out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s%s\r\n",
             status, reason(status), type, n, always, headers,
             c->closing ? "Connection: close\r\n" : "");
    text_bytes(&c->out, body, n);
}

void server_stream(struct connection *c)
{
    c->reader = true;
    c->closing = false;
    text_say(&c->out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%s\r\n", always);
}

void server_event_to(struct connection *c, const char *type, const struct text *data)
{
    if (!data->failed && data->n)
        text_say(&c->out, "event: %s\ndata: %s\n\n", type, data->at);
}

static void event_or_drop(struct connection *c, const char *type, uint64_t number,
                          const struct text *data)
{
    if (c->out.n - c->sent + data->n > SERVER_WAITING) {
        c->dropped++;
        figures.dropped++;
        return;
    }
    if (c->dropped)
        text_say(&c->out, "event: lost\ndata: {\"snapshots\":%llu}\n\n",
                 (unsigned long long)c->dropped);
    c->dropped = 0;
    text_say(&c->out, "id: %llu\n", (unsigned long long)number);
    server_event_to(c, type, data);
}

void server_event(const char *type, uint64_t number, const struct text *data)
{
    for (int i = 0; i < SERVER_CONNECTIONS; i++)
        if (connections[i].fd >= 0 && connections[i].reader)
            event_or_drop(&connections[i], type, number, data);
}

void server_profiles(uint64_t now_ns, void (*due)(struct connection *c))
{
    for (int i = 0; i < SERVER_CONNECTIONS; i++) {
        struct connection *c = &connections[i];
        if (c->fd < 0 || !c->profile_ns || c->profile_ns > now_ns)
            continue;
        c->profile_ns = 0;
        due(c);
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void refuse(struct connection *c, int status)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%d %s\n", status, reason(status));

    c->closing = true;
    server_reply(c, status, "text/plain", "", text, (size_t)n);
}

/* Answers the requests that have arrived, one after the other. */
static void answer(struct connection *c, server_handler *handle)
{
    struct http_request r;
    long bytes;

    while (!c->closing && !c->reader && !c->profile_ns && c->in.n &&
           (bytes = http_parse(c->in.at, c->in.n, &r))) {
        if (bytes < 0) {
            refuse(c, (int)-bytes);
            return;
        }
        figures.requests++;
        c->since_ns = machine_ns();
        c->closing = !r.keep_alive;
        handle(c, &r);
        memmove(c->in.at, c->in.at + bytes, c->in.n - (size_t)bytes);
        c->in.n -= (size_t)bytes;
    }
}

/* Returns false at the end of the connection. */
static bool receive(struct connection *c)
{
    char piece[PIECE];
    ssize_t n = recv(c->fd, piece, sizeof piece, MSG_DONTWAIT);

    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    if (c->in.n > HTTP_HEAD_MAX + HTTP_BODY_MAX)
        return false;
    if (!c->reader)
        text_bytes(&c->in, piece, (size_t)n);
    return !c->in.failed;
}

/* Sends what waits. Returns false if the connection is done, or broken. */
static bool send_more(struct connection *c)
{
    while (c->sent < c->out.n) {
        ssize_t n =
            send(c->fd, c->out.at + c->sent, c->out.n - c->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (n <= 0)
            return false;
        c->sent += (size_t)n;
    }
    if (c->sent < c->out.n) {
        memmove(c->out.at, c->out.at + c->sent, c->out.n - c->sent);
        c->out.n -= c->sent;
    } else {
        text_clear(&c->out);
    }
    c->sent = 0;
    return c->out.n || !c->closing || c->profile_ns;
}

static bool is_idle(const struct connection *c, uint64_t now_ns)
{
    return !c->reader && !c->profile_ns && !c->out.n &&
           now_ns - c->since_ns > SERVER_IDLE_MS * 1000000ull;
}

static void serve(struct connection *c, short events, server_handler *handle)
{
    bool alive = !(events & (POLLERR | POLLNVAL));

    if (alive && events & (POLLIN | POLLHUP))
        alive = receive(c);
    if (alive && !c->out.failed)
        answer(c, handle);
    if (!alive || c->out.failed || !send_more(c) || is_idle(c, machine_ns()))
        drop(c);
}

void server_turn(int ms, server_handler *handle)
{
    struct pollfd fds[SERVER_CONNECTIONS + 1] = {{.fd = listening, .events = POLLIN}};
    struct connection *of[SERVER_CONNECTIONS + 1];
    nfds_t n = 1;

    for (int i = 0; i < SERVER_CONNECTIONS; i++) {
        struct connection *c = &connections[i];
        if (c->fd < 0)
            continue;
        of[n] = c;
        fds[n++] =
            (struct pollfd){.fd = c->fd, .events = (short)(POLLIN | (c->out.n ? POLLOUT : 0))};
    }
    if (poll(fds, n, ms) < 0)
        return;
    for (nfds_t i = 1; i < n; i++)
        serve(of[i], fds[i].revents, handle);
    if (fds[0].revents & POLLIN)
        accept_one();
}

struct server_figures server_figures(void)
{
    struct server_figures f = figures;

    for (int i = 0; i < SERVER_CONNECTIONS; i++)
        f.readers += connections[i].fd >= 0 && connections[i].reader;
    return f;
}
