/* See page_io.h. */
#include "mm/pool/page_io.h"

#define REQUESTS 64 /* in flight at most; there from the start: pages are written to free memory */

static struct {
    struct spinlock lock;
    struct page_io io[REQUESTS];
    struct list idle;        /* [lock] */
    unsigned idle_count;     /* [lock] */
    struct wait_queue waits; /* [lock] */
} requests = {.lock = SPINLOCK(LOCK_SWAP, "requests of pages")};

void page_io_init(void)
{
    list_init(&requests.idle);
    wait_init(&requests.waits);
    for (unsigned i = 0; i < REQUESTS; i++)
        list_push_back(&requests.idle, &requests.io[i].link);
    requests.idle_count = REQUESTS;
}

void page_io_put(struct page_io *io)
{
    bool irq = spin_lock(&requests.lock);

    list_push_front(&requests.idle, &io->link);
    requests.idle_count++;
    wait_wake(&requests.waits, 1);
    spin_unlock(&requests.lock, irq);
}

static void end_io(struct page_io *io, int status)
{
    bool alone = io->request.count == 1;

    for (uint32_t i = 0; i < io->request.count; i++)
        (io->request.write ? page_write_done : page_read_done)(io->pool, io->node[i], status,
                                                               alone);
    page_io_put(io);
}

static void request_done(struct block_request *r, int status)
{
    end_io(r->owner, status);
}

static struct page_io *take_locked(struct pool *p, bool write)
{
    struct page_io *io = container_of(list_pop_front(&requests.idle), struct page_io, link);

    requests.idle_count--;
    io->request.count = 0;
    io->request.write = write;
    io->request.done = request_done;
    io->request.owner = io;
    io->pool = p;
    return io;
}

struct page_io *page_io_get(struct pool *p, bool write)
{
    bool irq = spin_lock(&requests.lock);

    while (list_empty(&requests.idle))
        wait_sleep_through(&requests.waits, &requests.lock, &irq);
    struct page_io *io = take_locked(p, write);
    spin_unlock(&requests.lock, irq);
    return io;
}

struct page_io *page_io_get_to_read(struct pool *p)
{
    bool irq = spin_lock(&requests.lock);
    struct page_io *io = requests.idle_count > REQUESTS / 2 ? take_locked(p, false) : NULL;

    spin_unlock(&requests.lock, irq);
    return io;
}

bool page_io_fits(const struct page_io *io, const struct block_device *d, uint64_t page)
{
    const struct block_request *r = &io->request;

    return !r->count || (r->count < d->pages_max && r->page + r->count == page);
}

bool page_io_add(struct page_io *io, const struct block_device *d, uint64_t page, paddr_t frame,
                 uint32_t node)
{
    struct block_request *r = &io->request;

    if (!page_io_fits(io, d, page))
        return false;
    if (!r->count)
        r->page = page;
    r->frame[r->count] = frame;
    io->node[r->count++] = node;
    return true;
}

void page_io_start(struct page_io *io, struct block_device *d)
{
    int err = block_submit_wait(d, &io->request);

    if (!err)
        return;
    bool irq = arch_irq_save();
    end_io(io, err);
    arch_irq_restore(irq);
}
