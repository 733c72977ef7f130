/* What the files of watchd share: its arguments, and its routes. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "apps/tools/watchd/machine.h"
#include "apps/tools/watchd/server.h"
#include "apps/tools/watchd/show.h"

struct watch {
    struct machine machine;
    const char *token; /* "": knobs cannot be turned */
    const char *names; /* of this machine, beside localhost and addresses, with commas between */
    uint64_t interval_ms;
    uint32_t pid;
    struct text about, tick, past; /* past: readings before, separated by commas */
};
extern struct watch watch;

/* Takes a reading if the last one is older than the interval: it is while nothing runs. */
void watchd_read_if_old(void);
/* Returns what the server tells of itself. */
struct watch_self watchd_self(void);
/* Answers a request (server_handler). */
void routes_answer(struct connection *c, const struct http_request *r);
/* Answers a request for a profile that is due. */
void routes_profile_due(struct connection *c);

/* The page, put in at build time. */
extern const char watchd_page_start[], watchd_page_end[];
