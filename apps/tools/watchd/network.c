/* See network.h. */
#include "apps/tools/watchd/network.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, HEADS = 2, COLUMNS = 16 };

/* A figure: the file's line that begins with `line`, and the word `key` there, behind which it
 * stands, or which names its column in the line before. */
struct figure {
    const char *file, *line, *key;
    const char *name;   /* in JSON */
    const char *metric; /* with labels */
    const char *help;   /* of the first with this metric */
};
static const struct figure figures[] = {
    {"sockstat", "sockets:", "used", "sockets", "network_sockets{kind=\"all\"}",
     "Sockets, by kind; TCP's without a socket wait for their last packets."},
    {"sockstat", "TCP:", "inuse", "tcp", "network_sockets{kind=\"tcp\"}", NULL},
    {"sockstat", "UDP:", "inuse", "udp", "network_sockets{kind=\"udp\"}", NULL},
    {"sockstat", "TCP:", "tw", "time_wait", "network_sockets{kind=\"tcp_time_wait\"}", NULL},
    {"sockstat", "TCP:", "orphan", "orphans", "network_sockets{kind=\"tcp_orphan\"}", NULL},
    {"vigil", "memory", "used", "memory", "network_memory_bytes", "Memory of the network."},
    {"vigil", "memory", "limit", "memory_limit", "network_memory_limit_bytes",
     "Memory that the network has at most."},
    {"vigil", "memory", "refused", "memory_refused", "network_memory_refused_total",
     "Requests for memory beyond that."},
    {"snmp", "Tcp:", "ActiveOpens", "opened", "tcp_connections_total{by=\"opened\"}",
     "Connections of TCP that were opened here, and accepted."},
    {"snmp", "Tcp:", "PassiveOpens", "accepted", "tcp_connections_total{by=\"accepted\"}", NULL},
    {"snmp", "Tcp:", "AttemptFails", "failed", "tcp_failed_total", "Connections that failed."},
    {"snmp", "Tcp:", "InSegs", "segments_in", "tcp_segments_total{way=\"in\"}", "Segments of TCP."},
    {"snmp", "Tcp:", "OutSegs", "segments_out", "tcp_segments_total{way=\"out\"}", NULL},
    {"snmp", "Tcp:", "RetransSegs", "segments_again", "tcp_segments_again_total",
     "Segments that were sent again."},
    {"snmp", "Tcp:", "InErrs", "segments_bad", "tcp_segments_bad_total",
     "Segments that were received broken."},
    {"snmp", "Tcp:", "OutRsts", "resets_out", "tcp_resets_total", "Resets that were sent."},
    {"snmp", "Udp:", "InDatagrams", "datagrams_in", "udp_datagrams_total{way=\"in\"}",
     "Datagrams of UDP."},
    {"snmp", "Udp:", "OutDatagrams", "datagrams_out", "udp_datagrams_total{way=\"out\"}", NULL},
    {"snmp", "Udp:", "NoPorts", "datagrams_no_port", "udp_no_port_total",
     "Datagrams to ports without a socket."},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };
_Static_assert((int)FIGURES <= (int)NETWORK_FIGURES, "they fit");

/* ---- Reading --------------------------------------------------------------------------------- */

static FILE *open_table(const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/net/%s", name);
    return fopen(path, "r");
}

/* Splits a line at blanks and ':'. Returns the number of words. */
static int split(char *line, char *word[COLUMNS * 4])
{
    int n = 0;
    char *rest = line;

    for (char *w; n < COLUMNS * 4 && (w = strtok_r(rest, " :\n", &rest));)
        word[n++] = w;
    return n;
}

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

static void read_interfaces(struct network *n)
{
    FILE *f = open_table("dev");
    char line[LINE], *word[COLUMNS * 4];

    n->interfaces = 0;
    for (int i = 0; f && n->interfaces < NETWORK_INTERFACES && fgets(line, sizeof line, f); i++) {
        if (i < HEADS || split(line, word) < 1 + COLUMNS)
            continue;
        struct network_interface *to = &n->interface[n->interfaces++];
        snprintf(to->name, sizeof to->name, "%s", word[0]);
        to->received_bytes = number(word[1]);
        to->received = number(word[2]);
        to->received_dropped = number(word[3]) + number(word[4]);
        to->sent_bytes = number(word[9]);
        to->sent = number(word[10]);
        to->sent_dropped = number(word[11]) + number(word[12]);
    }
    if (f)
        fclose(f);
}

/* Takes figures out of a line: behind their names; or, if the line before has the same first word,
 * below them. */
static void take_figures(struct network *n, const char *file, char **before, int before_n,
                         char **word, int words)
{
    bool below = before_n == words && words && !strcmp(before[0], word[0]) &&
                 strspn(word[1], "0123456789") == strlen(word[1]);

    for (int i = 0; i < FIGURES; i++) {
        const struct figure *f = &figures[i];
        if (strcmp(f->file, file) || strncmp(f->line, word[0], strlen(word[0])))
            continue;
        for (int w = 1; w < words - !below; w++)
            if (!strcmp(below ? before[w] : word[w], f->key))
                n->figure[i] = number(below ? word[w] : word[w + 1]);
    }
}

static void take_drop(struct network *n, char **word)
{
    if (n->reasons == NETWORK_REASONS)
        return;
    snprintf(n->reason[n->reasons], NETWORK_NAME, "%s", word[1]);
    n->dropped[n->reasons++] = number(word[2]);
}

static void read_table(struct network *n, const char *name)
{
    FILE *f = open_table(name);
    char line[2][LINE], *word[2][COLUMNS * 4];
    int words[2] = {0};

    for (int i = 0; f && fgets(line[i], LINE, f); i = !i) {
        words[i] = split(line[i], word[i]);
        if (words[i] == 3 && !strcmp(word[i][0], "drop"))
            take_drop(n, word[i]);
        else if (words[i] > 1)
            take_figures(n, name, word[!i], words[!i], word[i], words[i]);
    }
    if (f)
        fclose(f);
}

void network_read(struct network *n)
{
    static const char *const tables[] = {"sockstat", "snmp", "vigil"};

    read_interfaces(n);
    n->reasons = 0;
    for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
        read_table(n, tables[i]);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void show_interface(struct text *t, const struct network_interface *i)
{
    text_say(t, "{\"name\":");
    text_json(t, i->name);
    text_say(t,
             ",\"received_bytes\":%" PRIu64 ",\"received\":%" PRIu64
             ",\"received_dropped\":%" PRIu64 ",\"sent_bytes\":%" PRIu64 ",\"sent\":%" PRIu64
             ",\"sent_dropped\":%" PRIu64 "}",
             i->received_bytes, i->received, i->received_dropped, i->sent_bytes, i->sent,
             i->sent_dropped);
}

void network_show(struct text *t, const struct network *n)
{
    bool any = false;

    text_say(t, "{\"interfaces\":[");
    for (int i = 0; i < n->interfaces; i++) {
        text_bytes(t, ",", i > 0);
        show_interface(t, &n->interface[i]);
    }
    text_say(t, "]");
    for (int i = 0; i < FIGURES; i++)
        text_say(t, ",\"%s\":%" PRIu64, figures[i].name, n->figure[i]);
    text_say(t, ",\"drops\":[");
    for (int i = 0; i < n->reasons; i++) {
        if (!n->dropped[i])
            continue;
        text_say(t, "%s{\"reason\":", any ? "," : "");
        text_json(t, n->reason[i]);
        text_say(t, ",\"frames\":%" PRIu64 "}", n->dropped[i]);
        any = true;
    }
    text_say(t, "]}");
}

/* ---- Metrics --------------------------------------------------------------------------------- */

static void head(struct text *t, const char *name, int length, const char *help)
{
    bool counter = length > 6 && !strncmp(name + length - 6, "_total", 6);

    text_say(t, "# HELP vigil_%.*s %s\n# TYPE vigil_%.*s %s\n", length, name, help, length, name,
             counter ? "counter" : "gauge");
}

static void interface_metric(struct text *t, const struct network *n, const char *name,
                             const char *help, size_t at)
{
    head(t, name, (int)strlen(name), help);
    for (int i = 0; i < n->interfaces; i++) {
        uint64_t v;
        memcpy(&v, (const char *)&n->interface[i] + at, sizeof v);
        text_say(t, "vigil_%s{interface=\"%s\"} %" PRIu64 "\n", name, n->interface[i].name, v);
    }
}

void network_metrics(struct text *t, const struct network *n)
{
#define INTERFACE(member, name, help) \
    interface_metric(t, n, name, help, offsetof(struct network_interface, member))
    INTERFACE(received_bytes, "network_received_bytes_total", "Bytes received, by interface.");
    INTERFACE(received, "network_received_frames_total", "Frames received.");
    INTERFACE(received_dropped, "network_received_dropped_total", "Received frames dropped.");
    INTERFACE(sent_bytes, "network_sent_bytes_total", "Bytes sent.");
    INTERFACE(sent, "network_sent_frames_total", "Frames sent.");
    INTERFACE(sent_dropped, "network_sent_dropped_total", "Frames that were not sent.");
    for (int i = 0; i < FIGURES; i++) {
        const struct figure *f = &figures[i];
        if (f->help)
            head(t, f->metric, (int)strcspn(f->metric, "{"), f->help);
        text_say(t, "vigil_%s %" PRIu64 "\n", f->metric, n->figure[i]);
    }
    head(t, "network_dropped_frames_total", 28, "Frames dropped, by reason.");
    for (int i = 0; i < n->reasons; i++)
        text_say(t, "vigil_network_dropped_frames_total{reason=\"%s\"} %" PRIu64 "\n", n->reason[i],
                 n->dropped[i]);
}
