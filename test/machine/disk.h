/*
 * The time and the contents of the machine's disk. What it promises is in
 * kernel/dev/model/machine.h (struct machine_disk); this file knows neither registers nor QEMU.
 * Times are in any unit, the same for all.
 */
#pragma once
#include "kernel/dev/model/machine.h"

struct disk_request {
    uint64_t page;
    uint32_t count;
    bool write;
    uint64_t token, irq_address;
    uint32_t irq_data;
    uint64_t frame[MACHINE_DISK_PAGES_MAX];
    uint64_t done; /* when it is: disk_submit says */
};

struct disk {
    uint8_t *bytes; /* its contents; NULL: there is no disk */
    uint64_t pages;
    uint64_t latency, page_time;
    bool read_only;
    uint64_t channel_free; /* when the last transfer ends */
    unsigned in_flight;
    /* in flight, in the order in which they are done */
    struct disk_request request[MACHINE_DISK_SLOTS];
    /* Since power-on. */
    /* busy: time of the channel */
    uint64_t reads, writes, pages_read, pages_written, refused, busy;
    unsigned most_in_flight;
};

/* A request comes at time now. 0; -EAGAIN: too many are in flight; -EINVAL: it asks for what
 * cannot be. */
int disk_submit(struct disk *d, uint64_t now, const struct disk_request *r);
/* When the next request is done; UINT64_MAX: none is in flight. */
uint64_t disk_next(const struct disk *d);
/* Takes the next request out, if it is done by now. */
bool disk_take(struct disk *d, uint64_t now, struct disk_request *out);
/* Nothing is in flight any more, and the channel is free. */
void disk_reset(struct disk *d);
/* The contents of a page of a request that was taken. */
static inline uint8_t *disk_page(struct disk *d, const struct disk_request *r, unsigned i)
{
    return d->bytes + (r->page + i) * PAGE_SIZE;
}
