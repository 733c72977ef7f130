/* See disk.h. */
#include <errno.h>
#include <string.h>
#include "test/machine/disk.h"

static bool possible(const struct disk *d, const struct disk_request *r)
{
    if (!d->bytes || !r->count || r->count > MACHINE_DISK_PAGES_MAX || (r->write && d->read_only))
        return false;
    for (unsigned i = 0; i < r->count; i++)
        if (r->frame[i] & PAGE_MASK)
            return false;
    return r->page < d->pages && r->count <= d->pages - r->page;
}

/* Inserts a request, after those done at the same time. */
static void insert_request(struct disk *d, const struct disk_request *r)
{
    unsigned at = d->in_flight++;

    for (; at && d->request[at - 1].done > r->done; at--)
        d->request[at] = d->request[at - 1];
    d->request[at] = *r;
}

int disk_submit(struct disk *d, uint64_t now, const struct disk_request *r)
{
    struct disk_request begun = *r;
    uint64_t transfer;

    if (!possible(d, r)) {
        d->refused++;
        return -EINVAL;
    }
    if (d->in_flight == MACHINE_DISK_SLOTS) {
        d->refused++;
        return -EAGAIN;
    }
    transfer = r->count * d->page_time;
    begun.done = now + d->latency;
    if (transfer)
        begun.done = d->channel_free = MAX(begun.done, d->channel_free) + transfer;
    d->busy += transfer;
    insert_request(d, &begun);
    d->most_in_flight = MAX(d->most_in_flight, d->in_flight);
    return 0;
}

uint64_t disk_next(const struct disk *d)
{
    return d->in_flight ? d->request[0].done : UINT64_MAX;
}

bool disk_take(struct disk *d, uint64_t now, struct disk_request *out)
{
    if (disk_next(d) > now || !d->in_flight)
        return false;
    *out = d->request[0];
    memmove(d->request, d->request + 1, --d->in_flight * sizeof(*out));
    *(out->write ? &d->writes : &d->reads) += 1;
    *(out->write ? &d->pages_written : &d->pages_read) += out->count;
    return true;
}

void disk_reset(struct disk *d)
{
    d->in_flight = 0;
    d->channel_free = 0;
}
