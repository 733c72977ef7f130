/*
 * The time and the contents of the machine's disk. Its specification is in
 * kernel/dev/model/machine.h (struct machine_disk). This file knows neither registers nor QEMU.
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
    uint64_t done; /* time when it is done, set by disk_submit */
};

struct disk {
    uint8_t *bytes; /* the disk's contents; NULL: there is no disk */
    uint64_t pages;
    uint64_t latency, page_time;
    bool read_only;
    uint64_t channel_free; /* time when the last transfer ends */
    unsigned in_flight;
    /* In flight, in the order in which they are done. */
    struct disk_request request[MACHINE_DISK_SLOTS];
    /* Counts since power-on. */
    /* busy: time for which the channel was busy. */
    uint64_t reads, writes, pages_read, pages_written, refused, busy;
    unsigned most_in_flight;
};

/* Submits a request at time `now`. Returns 0, -EAGAIN (too many are in flight) or -EINVAL (its
 * fields are impossible). */
int disk_submit(struct disk *d, uint64_t now, const struct disk_request *r);
/* Returns the time when the next request is done; UINT64_MAX: none is in flight. */
uint64_t disk_next(const struct disk *d);
/* Takes out the next request if it is done by now. Returns whether it did. */
bool disk_take(struct disk *d, uint64_t now, struct disk_request *out);
/* Drops all requests in flight, and frees the channel. */
void disk_reset(struct disk *d);
/* Returns the contents of page i of a request that was taken. */
static inline uint8_t *disk_page(struct disk *d, const struct disk_request *r, unsigned i)
{
    return d->bytes + (r->page + i) * PAGE_SIZE;
}
