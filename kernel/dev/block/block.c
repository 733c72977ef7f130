/* See block.h. A device's lock guards its lists and the driver's state; done() is called without
 * it. */
#include "block_core.h"
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"

#define TIMEOUT_MS_MAX ((uint64_t)3600 * 1000)
#define DELAY_US_MAX   ((uint64_t)10 * 1000000)
#define SCRIBBLE       0xdb /* contents of the frames after a read that was made to fail */

static struct block_device *devices;
static struct block_faults faults = {.seed = 1};
uint64_t disk_timeout_ms = 30000;

const struct arg disk_args[] = {
    {"disk.ram", ARG_BYTES, &disk_ram, 0, 64 * GIB, NULL, ARG_BOOT,
     "size of a disk in memory, named ram, bytes; 0: none"},
    {"disk.timeout_ms", ARG_U64, &disk_timeout_ms, 1, TIMEOUT_MS_MAX, NULL, ARG_BOOT,
     "time after which a disk that does not answer a request is given up, milliseconds"},
    {"disk.fail_reads", ARG_U64, &faults.fail_reads, 0, UINT64_MAX, NULL, ARG_BOOT,
     "for tests: one read of N fails, on every disk; 0: none"},
    {"disk.fail_writes", ARG_U64, &faults.fail_writes, 0, UINT64_MAX, NULL, ARG_BOOT,
     "for tests: one write of N fails, on every disk; 0: none"},
    {"disk.lose", ARG_U64, &faults.lose, 0, UINT64_MAX, NULL, ARG_BOOT,
     "for tests: one request of N never comes back, on every disk; 0: none"},
    {"disk.delay_us", ARG_U64, &faults.delay_us, 0, DELAY_US_MAX, NULL, ARG_BOOT,
     "for tests: longest random delay of a request, microseconds"},
    {"disk.seed", ARG_U64, &faults.seed, 0, UINT64_MAX, NULL, ARG_BOOT,
     "for tests: of what fails, is lost and delayed"},
    {0},
};

/* ---- Devices --------------------------------------------------------------------------------- */

void block_start(void)
{
    if (devices)
        block_watch_start();
    else
        kprintf("disk: event=none: none found\n");
}

void block_add(struct block_device *d, const char *what)
{
    struct block_device **end = &devices;

    ASSERT(d->kind && d->pages && d->depth && d->pages_max && d->pages_max <= BLOCK_PAGES_MAX &&
           !block_find(d->name));
    spin_init(&d->lock, LOCK_BLOCK, d->name);
    list_init(&d->in_flight);
    list_init(&d->late);
    list_init(&d->back);
    wait_init(&d->room);
    while (*end)
        end = &(*end)->next;
    *end = d;
    kprintf("disk: event=found name=%s kind=%s kb=%llu access=%s: %s\n", d->name, d->kind,
            (unsigned long long)(d->pages * (PAGE_SIZE / KIB)),
            d->read_only ? "read-only" : "read-write", what);
}

struct block_device *block_first(void)
{
    return devices;
}

struct block_device *block_find(const char *name)
{
    struct block_device *d = devices;

    while (d && !text_same(d->name, name, text_length(name)))
        d = d->next;
    return d;
}

void block_read_stats(struct block_device *d, struct block_stats *out)
{
    bool irq = spin_lock(&d->lock);

    *out = d->stats;
    spin_unlock(&d->lock, irq);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static int check_request(const struct block_device *d, const struct block_request *r)
{
    if (!r->done || r->count > d->pages_max || r->page > d->pages || r->count > d->pages - r->page)
        return -EINVAL;
    if ((r->write && d->read_only) || (!r->count && !r->write))
        return -EINVAL;
    for (uint32_t i = 0; i < r->count; i++)
        if (!IS_ALIGNED(r->frame[i], PAGE_SIZE))
            return -EINVAL;
    return 0;
}

static void begin_request(struct block_device *d, struct block_request *r)
{
    r->device = d;
    r->since_ns = arch_clock_ns();
    r->fate = block_fate(&faults, d->serial++, r->write);
    r->lost = false;
    list_push_back(&d->in_flight, &r->link);
    d->busy++;
    d->ops->submit(d, r);
}

int block_submit(struct block_device *d, struct block_request *r)
{
    int err = check_request(d, r);

    if (err)
        return err;
    bool irq = spin_lock(&d->lock);
    if (d->failed)
        err = -EIO;
    else if (d->busy >= d->depth)
        err = -EAGAIN;
    else
        begin_request(d, r);
    /* the device broke during submission; done() must not be called here */
    bool back = !list_empty(&d->back);
    uint64_t by_ns = back ? 0 : arch_clock_ns() + disk_timeout_ms * NS_PER_MS;
    spin_unlock(&d->lock, irq);
    if (!err)
        block_watch_by(by_ns);
    return err;
}

/* ---- For drivers ----------------------------------------------------------------------------- */

bool block_lock(struct block_device *d)
{
    return spin_lock(&d->lock);
}

static void give_back(struct block_request *r)
{
    if (r->fate.fail && !r->write)
        for (uint32_t i = 0; i < r->count; i++)
            memset(phys_to_virt(r->frame[i]), SCRIBBLE, PAGE_SIZE);
    r->done(r, r->status);
}

static void count_request(struct block_stats *s, const struct block_request *r)
{
    uint64_t *requests = r->write ? &s->writes : &s->reads;
    uint64_t *pages = r->write ? &s->pages_written : &s->pages_read;

    ++*requests;
    *pages += r->count;
    s->errors += r->status != 0;
}

void block_unlock(struct block_device *d, bool irq)
{
    struct list *link;

    while ((link = list_pop_front(&d->back))) {
        struct block_request *r = container_of(link, struct block_request, link);
        count_request(&d->stats, r);
        d->busy--;
        wait_wake(&d->room, 1);
        spin_unlock_irqoff(&d->lock);
        give_back(r);
        spin_lock_irqoff(&d->lock);
    }
    spin_unlock(&d->lock, irq);
}

static void insert_late(struct block_device *d, struct block_request *r)
{
    struct list *at = d->late.next;

    while (at != &d->late && container_of(at, struct block_request, link)->due_ns <= r->due_ns)
        at = at->next;
    list_insert_before(at, &r->link);
}

void block_back(struct block_request *r, int status)
{
    struct block_device *d = r->device;

    if (d->failed || r->lost) /* the code that stops the device gives it back */
        return;
    if (r->fate.lose) {
        r->lost = true;
        return;
    }
    list_remove(&r->link);
    r->status = r->fate.fail ? -EIO : status;
    if (!r->fate.delay_ns) {
        list_push_back(&d->back, &r->link);
        return;
    }
    r->due_ns = arch_clock_ns() + r->fate.delay_ns;
    insert_late(d, r);
    block_watch_by(r->due_ns);
}

static void all_back(struct block_device *d, struct list *from, int status)
{
    struct list *link;

    while ((link = list_pop_front(from))) {
        container_of(link, struct block_request, link)->status = status;
        list_push_back(&d->back, link);
    }
}

void block_give_up(struct block_device *d, int status)
{
    d->failed = true;
    all_back(d, &d->in_flight, status);
    all_back(d, &d->late, status);
    while (wait_wake(&d->room, 1))
        ;
}

void block_broken(struct block_device *d)
{
    block_give_up(d, -EIO);
}

static unsigned check_list(const struct block_device *d, const struct list *l)
{
    unsigned n = 0;

    list_for_each (it, l) {
        const struct block_request *r = container_of(it, struct block_request, link);
        ASSERT(it->next->prev == it && it->prev->next == it && r->device == d);
        ASSERT(r->count <= d->pages_max && r->page + r->count <= d->pages);
        ASSERT(l != &d->in_flight || it->next == l ||
               container_of(it->next, struct block_request, link)->since_ns >= r->since_ns);
        ASSERT(l != &d->late || it->next == l ||
               container_of(it->next, struct block_request, link)->due_ns >= r->due_ns);
        n++;
    }
    return n;
}

void block_check(struct block_device *d)
{
    bool irq = spin_lock(&d->lock);

    ASSERT(check_list(d, &d->in_flight) + check_list(d, &d->late) + check_list(d, &d->back) ==
           d->busy);
    ASSERT(d->busy <= d->depth);
    ASSERT(!d->failed || (list_empty(&d->in_flight) && list_empty(&d->late)));
    spin_unlock(&d->lock, irq);
}
