/* See paging_process.h. Contents are stamps: all words of a page follow from its stamp. */
#include "test/host/mm/paging_process.h"
#include "test/host/double/mm_double.h"
#include "test/host/double/path_double.h"
#include "test/host/double/random.h"
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/space.h"
#include <stdio.h>
#include <stdlib.h>

enum { PROCESSES = 3, THREADS = 3, WORDS = PAGE_SIZE / sizeof(uint64_t) };

/* What is mapped where, in pages from MM_BASE on. */
enum {
    COPIED = 1,     /* a disk's pages, a private copy in each process */
    SHOWN = 258,    /* a disk's pages, read only */
    PLAIN = 400,    /* used by all threads */
    SCRATCH = 800,  /* unmapped and mapped anew */
    GUARDED = 900,  /* writable now and then */
    DROPPED = 1000, /* dropped now and then, and all zeros again */
    DROPPED_END = 1064,
    REPLACED = 1070, /* mapped anew now and then, at one stroke */
    REPLACED_END = 1100,
    FILED = 1110, /* a file's pages, a private copy, and two pages behind its end */
    FILED_END = 1132,
    MOVED = 1140, /* moves page by page to MOVED_TO and back */
    MOVED_TO = 1240,
    MOVED_PAGES = 48,
    END = MOVED_TO + MOVED_PAGES,
    FILE_BYTES = 19 * PAGE_SIZE + 1000,
};

static const struct part {
    unsigned from, to, weight;
} parts[] = {
    {PLAIN, SCRATCH, 12},        {SCRATCH, SCRATCH + 64, 3}, {COPIED, COPIED + 200, 5},
    {SHOWN, SHOWN + 100, 3},     {GUARDED, GUARDED + 32, 2}, {DROPPED, DROPPED_END, 2},
    {REPLACED, REPLACED_END, 2}, {FILED, FILED_END, 2},      {MOVED, MOVED + MOVED_PAGES, 3}};

struct scenario now;

static struct process {
    struct space *space;
    uint32_t pid;
    uint64_t stamp[END];       /* contents of each page: all its words follow from it; 0: zeros */
    uint32_t read_failed[END]; /* errors that no thread has got */
    bool either[END];          /* dropped just now, or about to be: it may also hold zeros */
    bool remapping, protecting, forgetting, replacing, moving, ending;
    bool away[MOVED_PAGES]; /* the page is at MOVED_TO */
    unsigned remaps, moves, threads;
    struct thread *thread[THREADS];
} processes[PROCESSES];

static uint64_t seed, stamps;
static uint8_t file[FILE_BYTES] ALIGNED(8);
static unsigned lives;
struct paging_seen seen;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(test_random(&seed) % n);
}

static bool between(unsigned page, unsigned from, unsigned to)
{
    return page >= from && page < to;
}

/* ---- Contents -------------------------------------------------------------------------------- */

static uint64_t word(uint64_t stamp, unsigned i)
{
    return stamp ? stamp * 0x9e3779b97f4a7c15 + i : 0;
}

static void fill(uint64_t *at, uint64_t stamp)
{
    for (unsigned i = 0; i < WORDS; i++)
        at[i] = word(stamp, i);
}

#define STAMP_OF_FILE ((uint64_t)1 << 63)

/* Of a page that is still the file's: zeros follow its end. */
static bool holds_file(const void *at, unsigned page)
{
    size_t from = page * PAGE_SIZE, n = MIN(FILE_BYTES - from, (size_t)PAGE_SIZE);
    static const uint8_t zeros[PAGE_SIZE];

    return !memcmp(at, file + from, n) && !memcmp((const uint8_t *)at + n, zeros, PAGE_SIZE - n);
}

static bool holds(const uint64_t *at, uint64_t stamp)
{
    unsigned i = 0;

    if (stamp & STAMP_OF_FILE)
        return holds_file(at, (unsigned)stamp);

    while (i < WORDS && at[i] == word(stamp, i))
        i++;
    return i == WORDS;
}

static uint64_t stamp_on_disk(unsigned page)
{
    return 0xd15c0000 + page;
}

struct use {
    struct process *p;
    unsigned page;
    bool write;
};

static void use(void *frame, void *arg)
{
    const struct use *u = arg;
    struct process *p = u->p;

    if (p->either[u->page] && holds(frame, 0)) {
        p->stamp[u->page] = 0;
        p->either[u->page] = p->forgetting || p->replacing;
    }
    if (!holds(frame, p->stamp[u->page])) {
        fprintf(stderr, "process %u, page %u: %#lx instead of %#lx\n", p->pid, u->page,
                (unsigned long)((uint64_t *)frame)[0], (unsigned long)word(p->stamp[u->page], 0));
        abort();
    }
    if (u->write) {
        p->stamp[u->page] = ++stamps;
        fill(frame, p->stamp[u->page]);
    }
}

/* Returns the page by which the contents at `page` are known. */
static uint64_t home(uint64_t page)
{
    return page >= MOVED_TO ? page - MOVED_TO + MOVED : page;
}

void mm_double_read_failed(paddr_t frame)
{
    uint32_t n = frame_page(frame)->next;

    for (struct process *p = processes; p < processes + PROCESSES; p++) {
        const struct pool *pool = p->space ? p->space->pool : NULL;
        if (pool && n < pool->capacity && pool->nodes[n].space == p->space &&
            pool->nodes[n].state == NODE_COMING &&
            frame_address(frame_page_number(pool->nodes[n].frame)) == frame)
            p->read_failed[home(pool->nodes[n].page - (MM_BASE >> PAGE_SHIFT))]++;
    }
}

void mm_double_walked(struct space *s, vaddr_t va, bool write)
{
    (void)s;
    path_double_access(va, write);
}

/* ---- What threads do ------------------------------------------------------------------------- */

static unsigned some_page(void)
{
    unsigned of = below(34), i = 0;

    while (of >= parts[i].weight)
        of -= parts[i++].weight;
    unsigned pages = parts[i].to - parts[i].from;
    return parts[i].from + MIN(below(pages), below(2) ? below(pages) : pages);
}

/* Ends all threads of p, wherever they are. */
static void end_early(struct process *p)
{
    p->ending = true;
    for (unsigned i = 0; i < THREADS; i++)
        if (p->thread[i])
            fiber_interrupt(p->thread[i]);
}

static void expect_error(struct process *p, unsigned page, bool write, bool remapped, int err)
{
    bool moves = between(page, MOVED, MOVED + MOVED_PAGES);

    bool of_disk = between(page, COPIED, PLAIN);

    switch (err) {
    case -EIO:
        seen.errors++;
        if (!p->read_failed[page] && !(of_disk && source_double.failed_reads))
            INSIST(!"an error that no disk made");
        p->read_failed[page] -= p->read_failed[page] != 0;
        return;
    case -EFAULT:
        INSIST((remapped && (moves || between(page, SCRATCH, SCRATCH + 64))) ||
               (write && (between(page, GUARDED, DROPPED) || between(page, SHOWN, PLAIN))));
        return;
    case -EINTR:
        INSIST(p->ending);
        return;
    case -ENXIO:
        INSIST(page >= FILED + 20 && page < FILED_END);
        return;
    default:
        INSIST(err == -ENOMEM || err == -EDQUOT);
        INSIST(now.map_fails || now.frames || now.no_swap || now.swap_kb ||
               (now.frame_fails && err == -ENOMEM));
        seen.refused++;
        if (err != -ENOMEM || !(now.map_fails || now.frame_fails))
            end_early(p); /* as the kernel does */
    }
}

static void access_one(struct process *p, unsigned page)
{
    struct use u = {p, page, !between(page, SHOWN, PLAIN) && below(3) == 0};
    if (between(page, SHOWN, PLAIN) && below(50) == 0)
        u.write = true;
    bool moves = between(page, MOVED, MOVED + MOVED_PAGES);
    unsigned *changes = moves ? &p->moves : &p->remaps, had = *changes;
    bool changing = moves ? p->moving : p->remapping;
    unsigned at = moves && p->away[page - MOVED] ? page - MOVED + MOVED_TO : page;
    int err =
        mm_access(p->space, MM_BASE + at * PAGE_SIZE, u.write ? FAULT_WRITE : FAULT_READ, use, &u);

    INSIST(!err || err < 0);
    if (err)
        expect_error(p, page, u.write, changing || *changes != had, err);
    else
        INSIST((!u.write || !between(page, SHOWN, PLAIN)) && !between(page, FILED + 20, FILED_END));
}

static void in_a_row(struct process *p)
{
    unsigned page = some_page(), n = below(30);

    while (n-- && page < END && !p->ending)
        if (between(page, PLAIN, SCRATCH) || between(page, COPIED, COPIED + 200) ||
            between(page, SHOWN, SHOWN + 100))
            access_one(p, page++);
        else
            return;
}

static void map_anon(struct process *p, unsigned from, unsigned n)
{
    vaddr_t at;

    INSIST(!space_map(p->space, MM_BASE + from * PAGE_SIZE, n * PAGE_SIZE, PROT_R | PROT_W,
                      REGION_ANON, "test", &at));
    INSIST(at == MM_BASE + from * PAGE_SIZE);
}

static void map_disk(struct process *p, unsigned from, unsigned first, unsigned n, unsigned prot)
{
    struct mapping m = {.va = MM_BASE + from * PAGE_SIZE,
                        .len = n * PAGE_SIZE,
                        .prot = prot,
                        .flags = MAPPING_NOREPLACE,
                        .kind = REGION_FILE,
                        .name = "disk",
                        .source = page_source_disk(&source_double.device),
                        .source_page = first};
    vaddr_t at;

    INSIST(!space_mmap(p->space, &m, &at) && at == m.va);
    for (unsigned i = 0; i < n; i++)
        p->stamp[from + i] = stamp_on_disk(first + i);
}

static void remap(struct process *p)
{
    if (p->remapping)
        return;
    p->remapping = true;
    p->remaps++;
    unsigned from = SCRATCH + below(60), n = 1 + below(SCRATCH + 64 - from);
    INSIST(!space_unmap(p->space, MM_BASE + from * PAGE_SIZE, n * PAGE_SIZE));
    memset(&p->stamp[from], 0, n * sizeof(p->stamp[0]));
    memset(&p->read_failed[from], 0, n * sizeof(p->read_failed[0]));
    map_anon(p, from, n);
    p->remapping = false;
}

static void guard(struct process *p)
{
    if (p->protecting)
        return;
    p->protecting = true;
    INSIST(!space_protect(p->space, MM_BASE + GUARDED * PAGE_SIZE, 32 * PAGE_SIZE,
                          below(2) ? PROT_R | PROT_W : PROT_R));
    p->protecting = false;
}

static void drop(struct process *p)
{
    if (p->forgetting)
        return;
    unsigned from = DROPPED + below(60), n = 1 + below(DROPPED_END - from);
    p->forgetting = true;
    memset(&p->either[from], true, n);
    INSIST(!space_advise(p->space, MM_BASE + from * PAGE_SIZE, n * PAGE_SIZE, ADVICE_DONTNEED));
    p->forgetting = false;
}

/* Maps a part anew where it is. No access in between finds nothing. */
static void replace(struct process *p)
{
    if (p->replacing)
        return;
    unsigned from = REPLACED + below(28), n = 1 + below(REPLACED_END - from);
    struct mapping m = {.va = MM_BASE + from * PAGE_SIZE,
                        .len = n * PAGE_SIZE,
                        .prot = PROT_R | PROT_W,
                        .flags = MAPPING_FIXED,
                        .name = "test"};
    vaddr_t at;

    p->replacing = true;
    memset(&p->either[from], true, n);
    INSIST(!space_mmap(p->space, &m, &at) && at == m.va);
    p->replacing = false;
}

static void map_file(struct process *p)
{
    struct mapping m = {.va = MM_BASE + FILED * PAGE_SIZE,
                        .len = (FILED_END - FILED) * PAGE_SIZE,
                        .prot = PROT_R | PROT_W,
                        .flags = MAPPING_NOREPLACE,
                        .kind = REGION_FILE,
                        .name = "file",
                        .source = page_source_memory(file, sizeof(file))};
    vaddr_t at;

    INSIST(!space_mmap(p->space, &m, &at));
    for (unsigned i = 0; i < 20; i++)
        p->stamp[FILED + i] = STAMP_OF_FILE | i;
}

static void move(struct process *p)
{
    unsigned from = below(MOVED_PAGES), n = 1;
    bool away = p->away[from];
    vaddr_t at;

    if (p->moving)
        return;
    while (from + n < MOVED_PAGES && p->away[from + n] == away && below(16))
        n++;
    vaddr_t here = MM_BASE + (MOVED + from) * PAGE_SIZE,
            there = MM_BASE + (MOVED_TO + from) * PAGE_SIZE;
    p->moving = true;
    p->moves++;
    int err = space_remap(p->space, away ? there : here, n * PAGE_SIZE, n * PAGE_SIZE,
                          REMAP_MAYMOVE | REMAP_FIXED, away ? here : there, &at);
    INSIST(!err || (err == -ENOMEM && now.map_fails));
    for (unsigned i = from; i < from + n && !err; i++)
        p->away[i] = !away;
    p->moving = false;
}

static void lock(struct process *p)
{
    unsigned from = PLAIN + below(300), n = 1 + below(8);
    int err = space_lock(p->space, MM_BASE + from * PAGE_SIZE, n * PAGE_SIZE, below(2));

    INSIST(!err || err == -ENOMEM);
}

static void advise(struct process *p)
{
    unsigned from = PLAIN + below(300), n = 1 + below(100);

    INSIST(
        !space_advise(p->space, MM_BASE + from * PAGE_SIZE, n * PAGE_SIZE, below(ADVICE_DONTNEED)));
}

static void step(struct process *p)
{
    unsigned what = below(1000);

    if (what < 930)
        access_one(p, some_page());
    else if (what < 970)
        in_a_row(p);
    else if (what < 975)
        remap(p);
    else if (what < 980)
        guard(p);
    else if (what < 985)
        drop(p);
    else if (what < 987)
        replace(p);
    else if (what < 990)
        move(p);
    else if (what < 991)
        lock(p);
    else if (what < 995)
        advise(p);
    else
        space_check(p->space);
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void live(void *arg);

static void begin(struct process *p)
{
    static uint32_t pids;

    memset(p, 0, sizeof *p);
    INSIST(!space_create(NULL, NULL, &p->space));
    p->pid = ++pids;
    space_set_pid(p->space, p->pid);
    map_disk(p, COPIED, 7, 256, PROT_R | PROT_W);
    map_disk(p, SHOWN, 0, 128, PROT_R);
    map_anon(p, PLAIN, 400);
    map_anon(p, SCRATCH, 64);
    map_anon(p, GUARDED, 32);
    map_anon(p, DROPPED, DROPPED_END - DROPPED);
    map_anon(p, REPLACED, REPLACED_END - REPLACED);
    map_anon(p, MOVED, MOVED_PAGES);
    map_file(p);
    lives++;
    p->threads = THREADS;
    for (unsigned i = 0; i < THREADS; i++)
        p->thread[i] = fiber_start(live, p, space_number(p->space));
}

static void end(struct process *p)
{
    struct space *s = p->space;

    space_destroy(s);
    p->space = NULL;
    if (lives < now.lives)
        begin(p);
}

static void live(void *arg)
{
    struct process *p = arg;
    unsigned steps = below(2 * now.steps);

    for (unsigned i = 0; i < steps && !p->ending; i++)
        step(p);
    for (unsigned i = 0; i < THREADS; i++)
        if (p->thread[i] == thread_current())
            p->thread[i] = NULL;
    thread_leave_space();
    if (!p->ending && below(2))
        end_early(p);
    if (--p->threads == 0)
        end(p);
}

void processes_start(uint64_t from)
{
    seed = from;
    for (unsigned i = 0; i < MM_SOURCE_PAGES; i++)
        fill((uint64_t *)source_double.page[i], stamp_on_disk(i));
    for (unsigned i = 0; i < sizeof(file); i++)
        file[i] = (uint8_t)below(256);
    for (unsigned i = 0; i < PROCESSES; i++)
        begin(&processes[i]);
}
