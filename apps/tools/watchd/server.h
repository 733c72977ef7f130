/*
 * Connections of HTTP, and readers of the stream of events. One thread; nothing here waits for a
 * reader: what it does not take stays in its connection, up to a limit, beyond which whole
 * snapshots are left out and counted.
 */
#pragma once
#include "apps/tools/watchd/http.h"
#include "apps/tools/watchd/text.h"

enum {
    SERVER_CONNECTIONS = 48,
    SERVER_WAITING = 256 << 10, /* bytes that may wait for a slow reader of events */
    SERVER_IDLE_MS = 60000,     /* a connection without a request is closed */
};

struct connection {
    int fd; /* -1: unused */
    struct text in, out;
    size_t sent; /* of out */
    bool reader; /* of events */
    bool closing;
    uint64_t dropped;    /* snapshots since the last that was sent */
    uint64_t since_ns;   /* of the last request */
    uint64_t profile_ns; /* a profile is due then; 0: it waits for none */
};

/* Answers one request by server_reply() or server_stream(), or sets profile_ns. */
typedef void server_handler(struct connection *c, const struct http_request *r);

/* Listens, by TCP on all addresses or by a local socket. Returns 0 or an error number of errno. */
int server_open(bool local, uint16_t port);
/* Accepts, reads, answers and sends for up to `ms`. */
void server_turn(int ms, server_handler *handle);
/* Answers: status, type of the content, further headers or "", body. */
void server_reply(struct connection *c, int status, const char *type, const char *headers,
                  const void *body, size_t n);
/* Makes c a reader of events. */
void server_stream(struct connection *c);
/* Sends an event of a type to all readers that have room. */
void server_event(const char *type, uint64_t number, const struct text *data);
/* Sends an event to one reader. */
void server_event_to(struct connection *c, const char *type, const struct text *data);
/* Calls `due` for each connection whose profile is due. */
void server_profiles(uint64_t now_ns, void (*due)(struct connection *c));
struct server_figures {
    uint32_t readers;
    uint64_t requests, refused, dropped;
};
struct server_figures server_figures(void);
