/*
 * All disks: pages written and read back by all CPUs at once, with injected errors and delays, and
 * a disk that does not answer. The disks' contents are lost.
 */
#include "kernel/core/cpu.h"
#include "kernel/dev/block/block.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define PAGES_MAX   2048 /* pages of a disk that are used */
#define ROUNDS      150  /* of one thread */
#define TRIES_MAX   100  /* one in 20 fails where errors are injected */
#define THREADS_MAX 16

static unsigned errors, wrong; /* atomic */

static uint64_t next_random(uint64_t *x)
{
    *x = *x * 6364136223846793005 + 1442695040888963407;
    return *x >> 33;
}

/* Fills a page with numbers that follow from its position and version. */
static void fill(paddr_t frame, uint64_t page, uint64_t version)
{
    uint64_t *words = phys_to_virt(frame);

    for (unsigned i = 0; i < PAGE_SIZE / sizeof(*words); i++)
        words[i] = (page << 40) ^ (version << 16) ^ (i * 0x9e3779b97f4a7c15);
}

static bool holds(paddr_t frame, uint64_t page, uint64_t version)
{
    const uint64_t *words = phys_to_virt(frame);

    for (unsigned i = 0; i < PAGE_SIZE / sizeof(*words); i++)
        if (words[i] != ((page << 40) ^ (version << 16) ^ (i * 0x9e3779b97f4a7c15)))
            return false;
    return true;
}

/* Retries until it works: injected errors pass, but a disk that is no longer used stays so. */
static bool transfer(struct block_device *d, uint64_t page, size_t count, bool write,
                     const paddr_t *frames)
{
    unsigned tries = 0;

    while (block_transfer(d, page, count, write, frames)) {
        __atomic_add_fetch(&errors, 1, __ATOMIC_RELAXED);
        if (++tries == TRIES_MAX)
            return false;
    }
    return true;
}

/* The pages from `first` on that one thread has for itself. */
struct work {
    struct block_device *device;
    uint64_t first, pages, seed;
};
static struct work works[THREADS_MAX];
static uint32_t versions[PAGES_MAX]; /* each used by one thread; 0: never written */

static void write_and_read(void *arg)
{
    const struct work *w = arg;
    uint64_t random = w->seed;
    paddr_t frames[BLOCK_PAGES_MAX];

    for (unsigned i = 0; i < BLOCK_PAGES_MAX; i++)
        CHECK(!frame_alloc(0, &frames[i]));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint64_t at = next_random(&random) % w->pages;
        uint64_t count = MIN(1 + next_random(&random) % BLOCK_PAGES_MAX, w->pages - at);
        bool write = next_random(&random) % 2;
        uint32_t *version = &versions[w->first + at];
        for (uint64_t i = 0; i < count && write; i++)
            fill(frames[i], w->first + at + i, version[i] = round);
        if (!transfer(w->device, w->first + at, count, write, frames)) {
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
            break;
        }
        for (uint64_t i = 0; i < count && !write; i++)
            if (version[i] && !holds(frames[i], w->first + at + i, version[i]))
                __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    }
    for (unsigned i = 0; i < BLOCK_PAGES_MAX; i++)
        frame_free(frames[i], 0);
    note_end();
}

static void pages_keep_what_each_thread_wrote(void)
{
    unsigned threads = MIN(2 * cpu_count(), (unsigned)THREADS_MAX);

    CHECK(block_first());
    for (struct block_device *d = block_first(); d; d = d->next) {
        uint64_t pages = MIN(d->pages, (uint64_t)PAGES_MAX) / threads;
        if (d->read_only)
            continue;
        errors = wrong = 0;
        memset(versions, 0, sizeof(versions));
        threads_begin();
        for (unsigned i = 0; i < threads; i++) {
            works[i] = (struct work){d, i * pages, pages, i + 1};
            start_thread_on(i, (struct thread_params){.entry = write_and_read, .arg = &works[i]});
        }
        wait_for_ends(threads);
        block_check(d);
        struct block_stats s;
        block_read_stats(d, &s);
        kprintf("# disk=%s reads=%llu writes=%llu errors=%s\n", d->name,
                (unsigned long long)s.reads, (unsigned long long)s.writes,
                errors ? "seen" : "none");
        CHECK(!wrong && s.errors == errors);
        CHECK(!block_flush(d) || errors);
    }
}

/* ---- Several in flight ----------------------------------------------------------------------- */

#define REQUESTS 200
static struct block_request *requests;
static struct spinlock lock = SPINLOCK(LOCK_THREAD, "block test");
static unsigned submitted;       /* by the one thread that submits */
static unsigned back, failed;    /* under the lock */
static bool succeeded[REQUESTS]; /* under the lock */

static void note(struct block_request *r, int status)
{
    CHECK(!arch_irq_enabled() && !this_cpu()->spin_depth);
    bool irq = spin_lock(&lock);
    back++;
    failed += status != 0;
    succeeded[r - requests] = !status;
    if (!status && !r->write && !holds(r->frame[0], r->page, 7))
        wrong++;
    spin_unlock(&lock, irq);
}

static bool all_back(void)
{
    bool irq = spin_lock(&lock), all = back == submitted;

    spin_unlock(&lock, irq);
    return all;
}

/* Submits the requests that have not succeeded, as fast as the device takes them. Returns the
 * largest number in flight; 0: the device is no longer used. */
static unsigned submit_rest(struct block_device *d, bool write)
{
    unsigned most = 0;

    submitted = back = failed = wrong = 0;
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct block_request *r = &requests[i];
        if (succeeded[i])
            continue;
        r->page = (uint64_t)i * d->pages / REQUESTS;
        r->count = 1;
        r->write = write;
        r->done = note;
        if (write)
            fill(r->frame[0], r->page, 7);
        else
            memset(phys_to_virt(r->frame[0]), 0, PAGE_SIZE);
        submitted++;
        if (block_submit_wait(d, r))
            return 0;
        bool irq = spin_lock(&lock);
        most = MAX(most, submitted - back);
        spin_unlock(&lock, irq);
    }
    while (!all_back())
        nap(NS_PER_MS);
    return most;
}

static void several_requests_are_in_flight(void)
{
    requests = kmalloc(REQUESTS * sizeof(*requests));
    CHECK(requests);
    for (unsigned i = 0; requests && i < REQUESTS; i++)
        CHECK(!frame_alloc(0, &requests[i].frame[0]));
    for (struct block_device *d = block_first(); d && requests; d = d->next) {
        if (d->read_only || d->pages < REQUESTS)
            continue;
        memset(succeeded, false, sizeof(succeeded));
        while (submit_rest(d, true) && failed)
            ;
        memset(succeeded, false, sizeof(succeeded));
        unsigned most = submit_rest(d, false);
        CHECK(!wrong);
        CHECK(most > 1 || (most && d->depth == 1));
        block_check(d);
    }
    for (unsigned i = 0; requests && i < REQUESTS; i++)
        frame_free(requests[i].frame[0], 0);
    kfree(requests);
}

/* ---- What cannot be done --------------------------------------------------------------------- */

static void what_a_disk_cannot_do_is_refused(void)
{
    paddr_t frame;

    CHECK(!frame_alloc(0, &frame));
    for (struct block_device *d = block_first(); d; d = d->next) {
        CHECK(block_transfer(d, d->pages, 1, false, &frame) == -EINVAL);
        if (d->read_only) {
            kprintf("# disk=%s written=no: read-only\n", d->name);
            CHECK(block_transfer(d, 0, 1, true, &frame) == -EINVAL);
            CHECK(!block_transfer(d, d->pages - 1, 1, false, &frame));
        }
    }
    frame_free(frame, 0);
}

/* For boots in which the disk fails permanently: by its own errors, or because it does not
 * answer. */
static void what_fails_is_reported(void)
{
    paddr_t frame;
    unsigned seen = 0;

    CHECK(!frame_alloc(0, &frame));
    for (struct block_device *d = block_first(); d; d = d->next)
        for (unsigned i = 0; i < 8; i++) {
            int err = block_transfer(d, i, 1, i % 2 == 0, &frame);
            kprintf("# disk=%s request=%s page=%u result=%d\n", d->name, i % 2 ? "read" : "write",
                    i, err);
            seen += err != 0;
            block_check(d);
        }
    CHECK(seen);
    frame_free(frame, 0);
}

const struct suite block_suite = {
    "block", (const struct suite_test[]){
                 {"pages keep what each thread wrote, on all CPUs at once",
                  pages_keep_what_each_thread_wrote},
                 {"several requests are in flight", several_requests_are_in_flight},
                 {"what a disk cannot do is refused", what_a_disk_cannot_do_is_refused},
                 {0},
             }};
const struct suite block_failing_suite = {
    "block-failing",
    (const struct suite_test[]){{"what fails is reported", what_fails_is_reported}, {0}}};
