/* What the kernel tells of the network: /proc/net, read at each reading; totals since boot. */
#pragma once
#include <stdint.h>
#include "apps/tools/watchd/text.h"

enum { NETWORK_INTERFACES = 4, NETWORK_FIGURES = 24, NETWORK_REASONS = 32, NETWORK_NAME = 24 };

struct network_interface {
    char name[NETWORK_NAME];
    uint64_t received_bytes, received, received_dropped;
    uint64_t sent_bytes, sent, sent_dropped;
};

struct network {
    struct network_interface interface[NETWORK_INTERFACES];
    int interfaces;
    uint64_t figure[NETWORK_FIGURES]; /* by the table in network.c */
    char reason[NETWORK_REASONS][NETWORK_NAME];
    uint64_t dropped[NETWORK_REASONS]; /* frames, by reason */
    int reasons;
};

/* Reads all. */
void network_read(struct network *n);
/* Writes it as a JSON object, with the reasons that have dropped something. */
void network_show(struct text *t, const struct network *n);
/* Writes it as Prometheus' metrics. */
void network_metrics(struct text *t, const struct network *n);
