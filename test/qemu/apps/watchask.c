/*
 * Asks watchd by its local socket, and prints what it answers, each with a line "watchask:
 * path=... status=... bytes=...":
 *     watchask port=80 METHOD PATH [TOKEN [BODY]] ...
 * A path of "/events" is read until `n` events have come (METHOD: the number). "sleep" MS waits.
 * "flood" N prints N bytes, in lines.
 * "follow" N reads events until watchd has left out N snapshots for a reader. "slow" N reads no
 * event until then. It then reads until watchd tells the number of snapshots that it has left out,
 * and ten readings more. Both print the number of readings, the number that is missing between
 * them, and the number that watchd told:
 *     watchask: reader=slow readings=... missing=... told=...
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "apps/common/connection.h"

enum { PORT = 80, REPLY_MAX = 1 << 20, MORE = 10 };

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

/* ---- Readers of events ----------------------------------------------------------------------- */

/* What a reader has seen. */
struct reader {
    FILE *stream;
    long readings, missing, told, last, left_out;
};

/* Finds NAME, which has the quotation marks and the colon, and reads the number behind it. */
static long number(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtol(at + strlen(name), NULL, 10) : 0;
}

static bool begin_reader(struct reader *r)
{
    static const char request[] = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = connect_again();

    *r = (struct reader){0};
    if (fd < 0 || !send_all(fd, request, sizeof request - 1))
        return false;
    r->stream = fdopen(fd, "r");
    return r->stream;
}

/* Reads a line, and notes what it says. Returns false at the end. */
static bool read_line(struct reader *r)
{
    static const char reading[] = "data: {\"reading\":";

    if (!fgets(reply, REPLY_MAX, r->stream))
        return false;
    if (!strncmp(reply, reading, sizeof reading - 1)) {
        long now = atol(reply + sizeof reading - 1);
        r->missing += r->last ? now - r->last - 1 : 0;
        r->last = now;
        r->readings++;
        r->left_out = number(reply, "\"snapshots_dropped\":");
    }
    r->told += number(reply, "data: {\"snapshots\":");
    return true;
}

/* Asks for the state until n snapshots were left out. */
static void wait_left_out(long n)
{
    static const char request[] =
        "GET /api/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int fd;

    do {
        fd = connect_again();
        if (fd < 0 || !send_all(fd, request, sizeof request - 1))
            return;
        read_reply(fd, 0);
        close(fd);
        usleep(10000);
    } while (number(reply, "\"snapshots_dropped\":") < n);
}

static int read_events(bool slow, long n)
{
    struct reader r;

    if (!begin_reader(&r))
        return 1;
    if (slow)
        wait_left_out(n);
    while ((slow ? !r.told || r.missing < r.told : r.left_out < n) && read_line(&r))
        continue;
    for (long until = r.readings + MORE; r.readings < until && read_line(&r);)
        continue;
    printf("watchask: reader=%s readings=%ld missing=%ld told=%ld\n", slow ? "slow" : "follow",
           r.readings, r.missing, r.told);
    fclose(r.stream);
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
        if (!strcmp(method, "flood")) {
            for (int n = 0; n < atoi(path); n += 100)
                printf("%099d\n", n);
            continue;
        }
        if (!strcmp(method, "slow") || !strcmp(method, "follow")) {
            failed = read_events(method[0] == 's', atol(path));
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
