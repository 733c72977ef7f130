/* See paging_process.h. Contents are stamps: all words of a page follow from its stamp. */
#include "test/host/mm/paging_files.h"
#include "test/host/mm/paging_process.h"
#include "test/host/double/mm_double.h"
#include "test/host/double/path_double.h"
#include "test/host/double/random.h"
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/space.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    PROCESSES = 3, /* at first */
    PROCESSES_MAX = 8,
    THREADS = 3,
    WORDS = PAGE_SIZE / sizeof(uint64_t),
    STAMPS_MAX = 1 << 21
};
#define STAMP_FACTOR 0x9e3779b97f4a7c15u

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
    COMMON = MOVED_TO + MOVED_PAGES, /* shared with processes that are forked */
    COMMON_PAGES = 32,
    END = COMMON + COMMON_PAGES, /* behind it: objects, paging_files.c */
    FILE_BYTES = 19 * PAGE_SIZE + 1000,
};

static const struct part {
    unsigned from, to, weight;
} parts[] = {{PLAIN, SCRATCH, 12},
             {SCRATCH, SCRATCH + 64, 3},
             {COPIED, COPIED + 200, 5},
             {SHOWN, SHOWN + 100, 3},
             {GUARDED, GUARDED + 32, 2},
             {DROPPED, DROPPED_END, 2},
             {REPLACED, REPLACED_END, 2},
             {FILED, FILED_END, 2},
             {MOVED, MOVED + MOVED_PAGES, 3},
             {COMMON, END, 3}};

struct scenario now;

static struct process {
    struct space *space;
    uint32_t pid;
    uint64_t stamp[END];       /* contents of each page: all its words follow from it; 0: zeros */
    uint32_t read_failed[END]; /* errors that no thread has got */
    bool either[END];          /* dropped just now, or about to be: it may also hold zeros */
    /* The page may have a later stamp that a relative gave it up to `born`: the parent during the
     * fork, or, where its own page was so, any. */
    enum { OWN, PARENTS, FAMILYS } inherited[END];
    uint64_t from, born; /* stamps given when the fork began, and ended */
    uint32_t parent, family;
    bool remapping, protecting, forgetting, replacing, moving, ending, forking;
    struct files_user files;
    bool away[MOVED_PAGES]; /* the page is at MOVED_TO */
    unsigned remaps, moves, threads;
    struct thread *thread[THREADS];
} processes[PROCESSES_MAX];

static struct {
    uint32_t pid, family, page;
} given[STAMPS_MAX]; /* by stamp */
#define FAMILIES_MAX 1024
static uint64_t common[FAMILIES_MAX][COMMON_PAGES]; /* stamps, by family */
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
    return stamp ? stamp * STAMP_FACTOR + i : 0;
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

/* Returns the stamp of contents that begin with this word. */
static uint64_t stamp_of(uint64_t first)
{
    uint64_t inverse = STAMP_FACTOR; /* Newton: each step doubles the bits that are right */

    for (unsigned i = 0; i < 6; i++)
        inverse *= 2 - STAMP_FACTOR * inverse;
    return first * inverse;
}

/* Finds out which stamp a forked process begins with where there may be several. */
static void expect_inherited(struct process *p, unsigned page, const uint64_t *frame)
{
    uint64_t stamp = stamp_of(frame[0]), from = p->inherited[page] == FAMILYS ? 0 : p->from;

    if (holds(frame, p->stamp[page]) || (p->either[page] && holds(frame, 0)) || stamp <= from ||
        stamp > p->born || given[stamp].page != page || given[stamp].family != p->family ||
        (p->inherited[page] == PARENTS && given[stamp].pid != p->parent))
        return;
    p->stamp[page] = stamp;
    p->either[page] = false;
}

static void use(void *frame, void *arg)
{
    const struct use *u = arg;
    struct process *p = u->p;

    if (u->page >= COMMON)
        p->stamp[u->page] = common[p->family][u->page - COMMON];
    else if (p->inherited[u->page] != OWN) {
        expect_inherited(p, u->page, frame);
        p->inherited[u->page] = OWN;
        seen.inherited++;
    }
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
        INSIST(++stamps < STAMPS_MAX);
        given[stamps].pid = p->pid;
        given[stamps].family = p->family;
        given[stamps].page = u->page;
        p->stamp[u->page] = stamps;
        if (u->page >= COMMON)
            common[p->family][u->page - COMMON] = stamps;
        fill(frame, p->stamp[u->page]);
    }
}

/* Returns the page by which the contents at `page` are known. */
static uint64_t home(uint64_t page)
{
    return between((unsigned)page, MOVED_TO, COMMON) ? page - MOVED_TO + MOVED : page;
}

void mm_double_read_failed(paddr_t frame)
{
    uint32_t n = frame_page(frame)->next;

    for (struct process *p = processes; p < processes + PROCESSES_MAX; p++) {
        const struct pool *pool = p->space ? p->space->pool : NULL;
        if (pool && n < pool->capacity && pool->nodes[n].lineage == p->space->lineage &&
            pool->nodes[n].state == NODE_COMING &&
            frame_address(frame_page_number(pool->nodes[n].frame)) == frame) {
            uint64_t page = home(pool->nodes[n].page - (MM_BASE >> PAGE_SHIFT));
            if (page < END) /* else it is a copy of an object's */
                p->read_failed[page]++;
        }
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
    unsigned of = below(37), i = 0;

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

static void map_common(struct process *p)
{
    struct mapping m = {.va = MM_BASE + COMMON * PAGE_SIZE,
                        .len = COMMON_PAGES * PAGE_SIZE,
                        .prot = PROT_R | PROT_W,
                        .flags = MAPPING_NOREPLACE | MAPPING_SHARED,
                        .name = "common"};
    vaddr_t at;

    INSIST(!space_mmap(p->space, &m, &at) && at == m.va && p->family < FAMILIES_MAX);
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
    if (p->remapping || p->forking)
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
    if (p->protecting || p->forking)
        return;
    p->protecting = true;
    INSIST(!space_protect(p->space, MM_BASE + GUARDED * PAGE_SIZE, 32 * PAGE_SIZE,
                          below(2) ? PROT_R | PROT_W : PROT_R));
    p->protecting = false;
}

static void drop(struct process *p)
{
    if (p->forgetting || p->forking)
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
    if (p->replacing || p->forking)
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

    if (p->moving || p->forking)
        return;
    while (from + n < MOVED_PAGES && p->away[from + n] == away && below(16))
        n++;
    vaddr_t here = MM_BASE + (MOVED + from) * PAGE_SIZE,
            there = MM_BASE + (MOVED_TO + from) * PAGE_SIZE;
    p->moving = true;
    p->moves++;
    int err = space_remap(p->space, away ? there : here, n * PAGE_SIZE, n * PAGE_SIZE,
                          REMAP_MAYMOVE | REMAP_FIXED, away ? here : there, &at);
    INSIST(!err || (err == -ENOMEM && now.map_fails) ||
           (now.forks && (p->ending || now.read_fails || now.frame_fails || now.no_swap)));
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

static void live(void *arg);

static void begin_threads(struct process *p)
{
    lives++;
    p->threads = THREADS;
    for (unsigned i = 0; i < THREADS; i++)
        p->thread[i] = fiber_start(live, p, space_number(p->space));
}

static uint32_t next_pid(void)
{
    static uint32_t pids;

    return ++pids;
}

/* What p had when the fork began becomes the child's. */
static void inherit(const struct process *p, struct process *child, uint64_t from)
{
    uint32_t pid = child->pid;

    *child = *p;
    child->pid = pid;
    child->parent = p->pid;
    child->from = from;
    child->ending = child->forking = false;
    child->remaps = child->moves = child->threads = 0;
    memset(child->thread, 0, sizeof(child->thread));
    for (unsigned i = 0; i < END; i++)
        child->inherited[i] = p->inherited[i] == OWN ? PARENTS : FAMILYS;
}

static void fork_one(struct process *p)
{
    struct process *child = processes;
    struct space *s;

    while (child < processes + PROCESSES_MAX && (child->pid || child->space))
        child++;
    if (child == processes + PROCESSES_MAX || p->remapping || p->protecting || p->forgetting ||
        p->replacing || p->moving || p->files.remapping || p->forking ||
        lives >= now.lives + PROCESSES_MAX)
        return;
    p->forking = true;
    files_fork(&p->files);
    child->pid = next_pid();
    inherit(p, child, stamps);
    child->space = NULL;
    int err = space_fork(p->space, NULL, &s);
    p->forking = false;
    files_forked(&p->files, err || !now.files ? NULL : &child->files);
    if (err) {
        INSIST(err == -EINTR ? p->ending
                             : (err == -ENOMEM || err == -EDQUOT) &&
                                   (now.map_fails || now.frame_fails || now.frames || now.no_swap));
        memset(child, 0, sizeof(*child));
        return;
    }
    seen.forks++;
    child->space = s;
    child->born = stamps;
    space_set_pid(s, child->pid);
    begin_threads(child);
}

static void step(struct process *p)
{
    unsigned what = below(1000);

    if (now.files && below(3) == 0)
        files_step(p->space, &p->files, &p->ending);
    else if (what < 930)
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
    else if (what < 998 || !now.forks)
        space_check(p->space);
    else
        fork_one(p);
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void begin(struct process *p)
{
    memset(p, 0, sizeof *p);
    p->pid = p->family = next_pid();
    INSIST(!space_create(NULL, NULL, &p->space));
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
    map_common(p);
    if (now.files)
        files_map(p->space, &p->files);
    begin_threads(p);
}

static void end(struct process *p)
{
    struct space *s = p->space;

    space_destroy(s);
    if (now.files)
        files_leave(&p->files);
    memset(p, 0, sizeof(*p));
    if (lives < now.lives)
        begin(p);
    bool none = true;
    for (unsigned i = 0; i < PROCESSES_MAX; i++)
        none &= !processes[i].pid && !processes[i].space;
    if (none && now.files)
        files_end();
}

static void live(void *arg)
{
    struct process *p = arg;
    unsigned steps = below(2 * now.steps);

    for (unsigned i = 0; i < steps && !p->ending; i++, seen.steps++)
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
    if (now.files)
        files_start(from, MM_BASE + END * PAGE_SIZE);
    for (unsigned i = 0; i < PROCESSES; i++)
        begin(&processes[i]);
}
