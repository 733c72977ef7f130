/*
 * Asks watchd by its local socket, and prints what it answers, each with a line "watchask:
 * path=... status=... bytes=...":
 *     watchask port=80 METHOD PATH [TOKEN [BODY]] ...
 * A path of "/events" is read until `n` events have come (METHOD: the number). "sleep" MS waits.
 * "slow" MS becomes a reader of events that reads nothing for MS, then until it is told of what it
 * has missed: "watchask: slow=MS lost=SNAPSHOTS ticks=READ".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "apps/common/connection.h"

enum { PORT = 80, REPLY_MAX = 1 << 20 };

static char reply[REPLY_MAX];

static int connect_again(void)
{
    const struct address a = {.local = true, .port = PORT};
    int fd;

    for (int i = 0; (fd = address_connect(&a)) < 0 && i < 1000; i++)
        usleep(1000);
    return fd;
}

/* Reads to the end of the connection, or to the n-th event. */
static size_t read_reply(int fd, unsigned events)
{
    size_t have = 0;

    for (ssize_t n;
         have < REPLY_MAX - 1 && (n = read(fd, reply + have, REPLY_MAX - 1 - have)) > 0;) {
        unsigned seen = 0;
        have += (size_t)n;
        reply[have] = '\0';
        for (const char *at = reply; events && (at = strstr(at, "event: tick\n")); at++)
            seen++;
        if (events && seen >= events)
            break;
    }
    reply[have] = '\0';
    return have;
}

static int ask(const char *method, const char *path, const char *token, const char *body)
{
    unsigned events = (unsigned)atoi(method);
    char request[2048];
    int fd = connect_again();
    int n = snprintf(request, sizeof request,
                     "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s%s"
                     "Content-Length: %zu\r\n\r\n%s",
                     events ? "GET" : method, path, token[0] ? "X-Vigil-Token: " : "", token,
                     token[0] ? "\r\n" : "", strlen(body), body);

    if (fd < 0 || !send_all(fd, request, (uint32_t)n)) {
        printf("watchask: event=failed path=%s\n", path);
        return 1;
    }
    size_t bytes = read_reply(fd, events);
    close(fd);
    char *at = strstr(reply, "\r\n\r\n");
    int status = bytes > 12 ? atoi(reply + 9) : 0;
    printf("watchask: method=%s path=%s status=%d bytes=%zu\n%s\nwatchask: end\n", method, path,
           status, bytes, at ? at + 4 : "");
    return 0;
}

static int read_slowly(int ms)
{
    static const char request[] = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n",
                      lost_event[] = "event: lost\ndata: {\"snapshots\":";
    int fd = connect_again();
    size_t have = 0;
    unsigned ticks = 0;
    char *lost = NULL;

    if (fd < 0 || !send_all(fd, request, sizeof request - 1))
        return 1;
    usleep((useconds_t)ms * 1000);
    for (ssize_t n;
         !lost && have < REPLY_MAX - 1 && (n = read(fd, reply + have, REPLY_MAX - 1 - have)) > 0;) {
        have += (size_t)n;
        reply[have] = '\0';
        lost = strstr(reply, lost_event);
    }
    for (char *at = reply; (at = strstr(at, "event: tick\n")); at++)
        ticks++;
    printf("watchask: slow=%d lost=%d ticks=%u\n", ms,
           lost ? atoi(lost + sizeof lost_event - 1) : 0, ticks);
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;

    for (int i = 1; i + 1 < argc && !failed;) {
        const char *method = argv[i], *path = argv[i + 1], *token = "", *body = "";
        i += 2;
        if (!strcmp(method, "sleep")) {
            usleep((useconds_t)atoi(path) * 1000);
            continue;
        }
        if (!strcmp(method, "slow")) {
            failed = read_slowly(atoi(path));
            continue;
        }
        if (!strcmp(method, "POST") && i + 1 < argc) {
            token = argv[i];
            body = argv[i + 1];
            i += 2;
        }
        failed = ask(method, path, token, body);
    }
    return failed;
}
