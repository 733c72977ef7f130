/*
 * Serves a page that shows what the machine does while it runs, and the same as JSON, as
 * Prometheus' metrics and as profiles (docs/use/watch.md):
 *
 *     watchd & warehouse ms=2000
 *     watchd port=8080 stay=1 token=none
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/common/args.h"
#include "apps/common/connection.h"
#include "apps/libc/hpm.h"
#include "apps/libc/syscall.h"
#include "apps/tools/watchd/lines.h"
#include "apps/tools/watchd/profile.h"
#include "apps/tools/watchd/programs.h"
#include "apps/tools/watchd/watchd.h"

enum {
    MODEL_MS = 10, /* interval where time is the simulated machine's */
    REAL_MS = 500,
    PAST_BYTES = 96 << 10, /* of readings kept for pages that are opened later */
    TURN_MS = 5,
    IDLE_FACTOR = 10,
    UNSEEN_FACTOR = 100,
    ALONE = 3,  /* readings without another process after which it ends */
    NEVER = 20, /* the same if there never was one */
};

struct watch watch;
static unsigned over = 1;
static uint64_t port = 80, stay, quiet;
static const char *events = "ipc,l1d.mpki,branch.miss,mem.remote_cache", *token = "draw";
static char drawn[2 * HTTP_TOKEN_LEAST + 1];
static const struct args_entry entries[] = {
    {"over", ARGS_CHOICE, &over, 0, 0, address_names, "TCP, or AF_UNIX at the name vigil-PORT"},
    {"port", ARGS_NUMBER, &port, 1, UINT16_MAX, NULL, "where it listens"},
    {"interval", ARGS_NUMBER, &watch.interval_ms, 0, 3600000, NULL,
     "milliseconds between readings; 0: 10 on the simulated machine, else 500"},
    {"events", ARGS_TEXT, &events, 0, 1000, NULL,
     "counted for the machine beside the breakdown, as hpmstat takes them; events that the machine "
     "lacks are left out"},
    {"token", ARGS_TEXT, &token, 4, 64, NULL,
     "what the header X-Vigil-Token must be to change anything, 16 characters or more; draw: a "
     "random one, which is printed; none: nothing can be changed"},
    {"names", ARGS_TEXT, &watch.names, 0, 1000, NULL,
     "names of this machine that requests may use beside localhost and addresses"},
    {"quiet", ARGS_NUMBER, &quiet, 0, 1, NULL,
     "1: prints nothing but errors, nor output of programs that requests start"},
    {"stay", ARGS_NUMBER, &stay, 0, 1, NULL, "1: goes on when no other program runs any more"},
};
static const struct args_table table = {
    "watchd", "serves a page about the machine: watchd [...] & program [argument ...]", entries,
    sizeof entries / sizeof entries[0]};

/* ---- The start ------------------------------------------------------------------------------- */

static void draw_token(void)
{
    uint8_t bytes[HTTP_TOKEN_LEAST];

    if (syscall3(SYS_getrandom, bytes, sizeof bytes, 0) != sizeof bytes) {
        fprintf(stderr, "watchd: event=no-token: no random bytes; nothing can be changed\n");
        return;
    }
    for (unsigned i = 0; i < sizeof bytes; i++)
        snprintf(drawn + 2 * i, 3, "%02x", bytes[i]);
}

static void set_token(void)
{
    if (!strcmp(token, "draw")) {
        draw_token();
        watch.token = drawn;
    } else if (!strcmp(token, "none")) {
        watch.token = "";
    } else if (strlen(token) < HTTP_TOKEN_LEAST) {
        args_refuse(&table, "token", "value", "accepted: draw, none, or 16 to 64 characters");
    } else {
        watch.token = token;
    }
}

static void open_or_exit(void)
{
    int error = server_open(over == 0, (uint16_t)port);

    if (error)
        args_refuse(&table, "over", error == EAFNOSUPPORT ? "no-device" : args_reason(error),
                    "it cannot listen at port %" PRIu64 " by %s: %s", port, address_names[over],
                    strerror(error));
    if (quiet)
        return;
    printf(
        "watchd: event=ready over=%s port=%" PRIu64 " interval_ms=%" PRIu64 " page_bytes=%zu%s%s\n",
        address_names[over], port, watch.interval_ms, (size_t)(watchd_page_end - watchd_page_start),
        watch.token == drawn ? " token=" : "", watch.token == drawn ? drawn : "");
    fflush(stdout);
}

/* Counts those of the events that there are. */
static void begin_events(void)
{
    char *names = strdup(events), *rest = names, known[1024] = "";

    for (char *name; rest && (name = strtok_r(rest, ",", &rest));) {
        char tried[1024];
        snprintf(tried, sizeof tried, "%s%s%s", known, known[0] ? "," : "", name);
        if (!machine_events(&watch.machine, tried))
            strcpy(known, tried);
    }
    free(names);
}

/* ---- Readings -------------------------------------------------------------------------------- */

/* Keeps what pages show that are opened later, and forgets the oldest half when it is too much. */
static void keep_past(void)
{
    struct text *p = &watch.past;

    if (p->n > PAST_BYTES) {
        const char *half = strstr(p->at + p->n / 2, ",{\"reading\"");
        size_t n = half ? p->n - (size_t)(half + 1 - p->at) : 0;
        memmove(p->at, half ? half + 1 : p->at, n);
        p->n = n;
        p->at[n] = '\0';
    }
    text_bytes(p, ",", p->n > 0);
    show_past(p, &watch.machine);
}

struct watch_self watchd_self(void)
{
    struct server_figures f = server_figures();

    return (struct watch_self){watch.pid, f.readers, watch.interval_ms,     f.requests,
                               f.refused, f.dropped, watch.token[0] != '\0'};
}

static void take_reading(void)
{
    struct watch_self self = watchd_self();

    machine_read(&watch.machine);
    lines_take(&watch.machine);
    text_clear(&watch.tick);
    show_tick(&watch.tick, &watch.machine, &self);
    server_event("tick", watch.machine.reading, &watch.tick);
    keep_past();
}

void watchd_read_if_old(void)
{
    if (machine_ns() - watch.machine.ns > watch.interval_ms * 1000000)
        take_reading();
}

/* Returns whether there is still something to watch. */
static bool goes_on(void)
{
    static unsigned alone;
    static bool seen;
    bool others = machine_others(&watch.machine, watch.pid);

    /* One that has ended between two readings may have asked, at a local name. */
    seen |= others || (!over && server_figures().requests);
    alone = others ? 0 : alone + 1;
    return stay || alone < (seen ? ALONE : NEVER);
}

/* Returns the ms to the next reading. If it stays when nothing else runs, more then, and much more
 * while nothing looks. */
static uint64_t pause_ms(void)
{
    uint64_t ms = watch.interval_ms;

    if (!stay || machine_others(&watch.machine, watch.pid))
        return ms;
    return ms * (server_figures().readers ? IDLE_FACTOR : UNSEEN_FACTOR);
}

static void serve(void)
{
    uint64_t next_ns = machine_ns();
    bool on = true;

    while (on) {
        uint64_t now_ns = machine_ns();
        if (now_ns >= next_ns) {
            take_reading();
            on = goes_on();
            next_ns = now_ns + pause_ms() * 1000000;
        }
        profile_take();
        server_profiles(now_ns, routes_profile_due);
        uint64_t left_ms = next_ns > now_ns ? (next_ns - now_ns) / 1000000 + 1 : 0;
        server_turn(left_ms < TURN_MS ? (int)left_ms : TURN_MS, routes_answer);
    }
}

int main(int argc, char **argv)
{
    watch.names = "";
    args_parse_or_exit(&table, argc, argv);
    watch.pid = (uint32_t)getpid();
    set_token();
    programs_begin(quiet);
    machine_begin(&watch.machine, "");
    begin_events();
    if (!watch.interval_ms)
        watch.interval_ms = watch.machine.model ? MODEL_MS : REAL_MS;
    open_or_exit();
    show_about(&watch.about, &watch.machine);
    serve();
    struct server_figures f = server_figures();
    if (!quiet)
        printf("watchd: event=end readings=%" PRIu64 " requests=%" PRIu64 " refused=%" PRIu64
               " dropped=%" PRIu64 "\n",
               watch.machine.reading, f.requests, f.refused, f.dropped);
    return 0;
}
