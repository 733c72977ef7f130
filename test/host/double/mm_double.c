/* See mm_double.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test/host/double/mm_double.h"
#include "test/host/double/random.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/block/block_core.h"
#include "kernel/mem/frame.h"
#include "mm/mm.h"
#include "mm/space.h"
#include "mm/track/track.h"
#include "kernel/mem/mem.h"
#include "hpm/policy/sample.h"
#include "hpm/sampling.h"

static uint64_t seed;

static unsigned below(unsigned n)
{
    return (unsigned)(test_random(&seed) % n);
}

static bool one_in(unsigned n)
{
    return n && below(n) == 0;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

unsigned mm_frames_used, mm_frames_max = MM_FRAMES, mm_heap_used, mm_areas_made, mm_map_fails,
                         mm_frame_fails;
uint64_t mm_frames_refused;
bool mm_tlb_keeps;
static uint8_t memory[MM_FRAMES + 1][PAGE_SIZE] ALIGNED(4096); /* frame 0 is none */
static struct page pages[MM_FRAMES + 1];
static uint32_t tlb_holds[MM_FRAMES + 1]; /* entries of TLBs that map the frame */
/* caches were told of the frame since it was last stored to */
static bool is_code[MM_FRAMES + 1];
static uint32_t free_frames[MM_FRAMES];

struct page *frame_page(paddr_t pa)
{
    return &pages[(pa - virt_to_phys(memory)) >> PAGE_SHIFT];
}
paddr_t frame_address(const struct page *page)
{
    return virt_to_phys(memory[page - pages]);
}
struct page *frame_page_number(uint32_t number)
{
    return &pages[number];
}
uint32_t frame_number(const struct page *page)
{
    return (uint32_t)(page - pages);
}

int frame_alloc(unsigned order, paddr_t *out)
{
    if (order) { /* these are never freed */
        void *p = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);
        memset(p, 0xa5, PAGE_SIZE << order);
        *out = virt_to_phys(p);
        return 0;
    }
    if (mm_frames_used >= mm_frames_max)
        return -ENOMEM;
    if (one_in(mm_frame_fails)) {
        mm_frames_refused++;
        return -ENOMEM;
    }
    unsigned left = MM_FRAMES - mm_frames_used++, i = below(left);
    uint32_t n = free_frames[i];
    free_frames[i] = free_frames[left - 1];
    INSIST(pages[n].state == PAGE_FREE);
    pages[n] = (struct page){.state = PAGE_USED, .next = below(1000)};
    is_code[n] = false;
    memset(memory[n], 0xa5, PAGE_SIZE);
    *out = virt_to_phys(memory[n]);
    return 0;
}

void frame_free(paddr_t pa, unsigned order)
{
    uint32_t n = frame_number(frame_page(pa));

    INSIST(!order && n && n <= MM_FRAMES && pages[n].state == PAGE_USED);
    INSIST(!tlb_holds[n]); /* else a CPU could still use it */
    pages[n].state = PAGE_FREE;
    memset(memory[n], 0xdd, PAGE_SIZE);
    free_frames[MM_FRAMES - mm_frames_used--] = n;
}

void frame_stats(struct frame_stats *out)
{
    *out = (struct frame_stats){mm_frames_max, mm_frames_max - mm_frames_used};
}
uint64_t frame_free_about(void)
{
    return mm_frames_max - mm_frames_used;
}

int frame_alloc_zeroed(paddr_t *out)
{
    int err = frame_alloc(0, out);

    if (!err)
        memset(phys_to_virt(*out), 0, PAGE_SIZE);
    return err;
}

const struct arch_frames frame_page_tables;

static void *allocate(uint64_t size)
{
    uint64_t whole = ALIGN_UP(size, (uint64_t)CACHE_LINE);
    void *p = aligned_alloc(CACHE_LINE, whole);

    mm_heap_used++;
    return memset(p, 0, whole);
}
void *kmalloc(size_t size)
{
    return size <= PAGE_SIZE << FRAME_ORDER_MAX ? allocate(size) : NULL;
}
void *kmalloc_unfilled(size_t size)
{
    return kmalloc(size);
}

void kfree(void *p)
{
    mm_heap_used -= p != NULL;
    free(p);
}
/* In front of an area. */
struct area {
    uint64_t bytes;
} ALIGNED(CACHE_LINE);

void *area_alloc(uint64_t bytes)
{
    host_interrupt();
    mm_areas_made++;
    struct area *a = allocate(sizeof(*a) + bytes);
    a->bytes = bytes;
    return a + 1;
}
void *area_extend(void *p, uint64_t bytes)
{
    (void)p;
    return area_alloc(bytes);
}
void area_replace(void *p, void *larger)
{
    memcpy(larger, p, ((struct area *)p - 1)->bytes);
}
void area_free(void *p)
{
    kfree(p ? (struct area *)p - 1 : NULL);
}

/* ---- Page tables and TLBs -------------------------------------------------------------------- */

/* mappings may grow in place, above where they are put */
#define ENTRIES (MM_TABLE_PAGES + 512)

struct tlb_entry {
    bool valid, dirty;
    unsigned prot;
    paddr_t pa;
};

struct entry {
    struct arch_page page;
    bool reserved; /* there are tables */
    struct tlb_entry tlb[FIBER_CPUS];
};

struct table_double {
    struct entry entry[ENTRIES];
};

static struct entry *entry_of(struct arch_space *space, vaddr_t va)
{
    return va >= MM_BASE && va < MM_BASE + ENTRIES * PAGE_SIZE
               ? &space->table->entry[(va - MM_BASE) >> PAGE_SHIFT]
               : NULL;
}

static struct entry *entry_here(struct arch_space *space, vaddr_t va)
{
    struct entry *e = entry_of(space, va);

    INSIST(!host_irqs_on);
    return e && e->page.kind == ARCH_PAGE_HERE ? e : NULL;
}

static void tlb_drop(struct tlb_entry *t)
{
    if (t->valid)
        tlb_holds[frame_number(frame_page(t->pa))]--;
    t->valid = false;
}

static void tlb_drop_everywhere(struct entry *e)
{
    for (unsigned c = 0; c < FIBER_CPUS; c++)
        tlb_drop(&e->tlb[c]);
}

int arch_space_init(struct arch_space *space, const struct arch_frames *frames)
{
    (void)frames;
    space->table = calloc(1, sizeof(*space->table));
    return 0;
}

void arch_space_destroy(struct arch_space *space)
{
    for (unsigned i = 0; i < ENTRIES; i++) {
        INSIST(space->table->entry[i].page.kind == ARCH_PAGE_NONE);
        tlb_drop_everywhere(&space->table->entry[i]);
    }
    free(space->table);
    space->table = NULL;
}

int arch_space_map(struct arch_space *space, vaddr_t va, paddr_t pa, unsigned prot)
{
    struct entry *e = entry_of(space, va);

    INSIST(e && !host_irqs_on && frame_page(pa)->state == PAGE_USED);
    INSIST(!(prot & PROT_X) || is_code[frame_number(frame_page(pa))]);
    if (e->page.kind == ARCH_PAGE_HERE)
        return -EEXIST;
    if (e->page.kind == ARCH_PAGE_NONE && !e->reserved && one_in(mm_map_fails))
        return -ENOMEM;
    e->page = (struct arch_page){.kind = ARCH_PAGE_HERE,
                                 .marks = ARCH_USED | (prot & PROT_WRITTEN ? ARCH_WRITTEN : 0),
                                 .prot = prot & ~(unsigned)PROT_WRITTEN,
                                 .pa = pa};
    return 0;
}

int arch_space_unmap(struct arch_space *space, vaddr_t va, paddr_t *pa)
{
    struct entry *e = entry_here(space, va);

    if (!e)
        return -ENOENT;
    *pa = e->page.pa;
    e->page = (struct arch_page){0};
    return 0;
}

int arch_space_protect(struct arch_space *space, vaddr_t va, unsigned prot)
{
    struct entry *e = entry_here(space, va);

    if (!e)
        return -ENOENT;
    if (prot & PROT_X)
        INSIST(is_code[frame_number(frame_page(e->page.pa))]);
    e->page.prot = prot;
    return 0;
}

unsigned arch_space_look(struct arch_space *space, vaddr_t va, unsigned n, struct arch_page *out)
{
    unsigned any = 0;

    INSIST(!host_irqs_on && va >> 21 == (va + (n - 1) * PAGE_SIZE) >> 21);
    for (unsigned i = 0; i < n; i++) {
        const struct entry *e = entry_of(space, va + i * PAGE_SIZE);
        out[i] = e ? e->page : (struct arch_page){0};
        any += out[i].kind != ARCH_PAGE_NONE;
    }
    return any;
}

int arch_space_evict(struct arch_space *space, vaddr_t va, uint32_t number, paddr_t *pa,
                     unsigned *marks)
{
    struct entry *e = entry_here(space, va);

    if (!e)
        return -ENOENT;
    *pa = e->page.pa;
    *marks = e->page.marks;
    e->page = (struct arch_page){.kind = ARCH_PAGE_OUT, .number = number};
    return 0;
}

unsigned arch_space_mark(struct arch_space *space, vaddr_t va, unsigned clear, unsigned set)
{
    struct entry *e = entry_here(space, va);

    if (!e)
        return 0;
    unsigned had = e->page.marks;
    e->page.marks = (had & ~clear) | set;
    return had;
}

int arch_space_forget(struct arch_space *space, vaddr_t va)
{
    struct entry *e = entry_of(space, va);

    INSIST(!host_irqs_on);
    if (!e || e->page.kind != ARCH_PAGE_OUT)
        return -ENOENT;
    e->page = (struct arch_page){0};
    return 0;
}

int arch_space_reserve(struct arch_space *space, vaddr_t va)
{
    struct entry *e = entry_of(space, va);

    INSIST(e && !host_irqs_on);
    if (one_in(mm_map_fails))
        return -ENOMEM;
    /* a table of the last level has 512 pages, and stays */
    for (struct entry *all = space->table->entry, *x = all; x < all + ENTRIES; x++)
        x->reserved |= (x - all) / 512 == (e - all) / 512;
    return 0;
}

int arch_space_put_number(struct arch_space *space, vaddr_t va, uint32_t number)
{
    struct entry *e = entry_of(space, va);

    INSIST(e && !host_irqs_on);
    if (!e->reserved)
        return -ENOENT;
    if (e->page.kind != ARCH_PAGE_NONE)
        return -EEXIST;
    e->page = (struct arch_page){.kind = ARCH_PAGE_OUT, .number = number};
    return 0;
}

vaddr_t arch_space_skip(struct arch_space *space, vaddr_t va, vaddr_t end)
{
    (void)space;
    return MIN(va, end); /* nothing is skipped: what takes long must take turns */
}

void arch_tlb_flush(struct arch_space *space, vaddr_t va, size_t n)
{
    INSIST(!host_irqs_on);
    for (size_t i = 0; i < (n ? n : ENTRIES); i++) {
        struct entry *e = entry_of(space, n ? va + i * PAGE_SIZE : MM_BASE + i * PAGE_SIZE);
        if (e)
            tlb_drop(&e->tlb[host_cpu->index]);
    }
}

void tlb_shootdown(struct arch_space *space, vaddr_t va, size_t n)
{
    INSIST(host_irqs_on && !host_cpu->spin_depth);
    host_interrupt();
    for (size_t i = 0; i < (n ? n : ENTRIES); i++) {
        struct entry *e = entry_of(space, n ? va + i * PAGE_SIZE : MM_BASE + i * PAGE_SIZE);
        if (e)
            tlb_drop_everywhere(e);
    }
    host_interrupt();
}

void arch_code_written(const void *frame)
{
    is_code[frame_number(frame_page(virt_to_phys(frame)))] = true;
}

/* ---- A PMU ----------------------------------------------------------------------------------- */

bool mm_double_samples, mm_double_sampling_busy;
static struct hpm_sample sample[64]; /* taken by a tracker at once */
static unsigned samples, samples_period;

const struct hpm_caps *hpm_caps(void)
{
    static const struct hpm_caps none,
        some = {.present = true, .can_sample = true, .sampled = 0xff, .sample_period_min = 1};

    return mm_double_samples ? &some : &none;
}

int hpm_access_open(const char *name, struct hpm_access **out)
{
    static int handle;

    (void)name;
    *out = mm_double_sampling_busy ? NULL : (struct hpm_access *)&handle;
    return mm_double_sampling_busy ? -ENOSPC : 0;
}

int hpm_access_start(struct hpm_access *a, const struct hpm_sampling *config)
{
    (void)a;
    if (samples_period)
        return -EBUSY;
    samples_period = config->period;
    return 0;
}

void hpm_access_stop(struct hpm_access *a)
{
    (void)a;
    INSIST(samples_period);
    samples_period = samples = 0;
}

size_t hpm_access_take(struct hpm_access *a, struct hpm_sample *out, size_t max)
{
    (void)a;
    size_t n = MIN((size_t)samples, max);

    /* Samples come CPU by CPU. */
    memcpy(out, sample, n * sizeof(*out));
    memmove(sample, sample + n, (samples -= n) * sizeof(*out));
    return n;
}

static void record_access(const struct space *s, vaddr_t va, bool write)
{
    if (!one_in(samples_period) || samples == ARRAY_SIZE(sample))
        return;
    unsigned at = samples++;
    for (; at && sample[at - 1].cpu > host_cpu->index; at--)
        sample[at] = sample[at - 1];
    sample[at] = (struct hpm_sample){.time = host_ticks++,
                                     .data = va + below(PAGE_SIZE),
                                     .pid = s->pid,
                                     .cpu = (uint16_t)host_cpu->index,
                                     .user = true,
                                     .store = write};
    if (mm_double_sampled)
        mm_double_sampled(s, va);
}

/* ---- User mode ------------------------------------------------------------------------------- */

static bool permits(unsigned prot, enum fault_access a)
{
    unsigned need = a == FAULT_WRITE ? PROT_W : a == FAULT_EXEC ? PROT_X : PROT_R;

    return (prot & PROT_USER) && (prot & need);
}

/* Returns the CPU's translation, which it fills in if need be, or NULL: a page fault. */
static const struct tlb_entry *translate(struct space *s, vaddr_t va, enum fault_access a)
{
    struct entry *e = entry_of(&s->arch, va);
    struct tlb_entry *t = &e->tlb[host_cpu->index];

    if (!mm_tlb_keeps && one_in(6))
        tlb_drop(t);
    if (t->valid && permits(t->prot, a) && (a != FAULT_WRITE || t->dirty))
        return t;
    tlb_drop(t);
    if (e->page.kind != ARCH_PAGE_HERE || !permits(e->page.prot, a))
        return NULL;
    e->page.marks |= ARCH_USED | (a == FAULT_WRITE ? ARCH_WRITTEN : 0);
    *t = (struct tlb_entry){true, e->page.marks & ARCH_WRITTEN, e->page.prot, e->page.pa};
    tlb_holds[frame_number(frame_page(t->pa))]++;
    record_access(s, va, a == FAULT_WRITE);
    if (mm_double_walked)
        mm_double_walked(s, va, a == FAULT_WRITE);
    return t;
}

int mm_access(struct space *s, vaddr_t va, enum fault_access a, void (*use)(void *frame, void *arg),
              void *arg)
{
    int err = 0;

    do {
        bool irq = arch_irq_save();
        const struct tlb_entry *t = translate(s, va, a);
        if (t) {
            INSIST(frame_page(t->pa)->state == PAGE_USED);
            use(phys_to_virt(t->pa), arg);
        }
        arch_irq_restore(irq);
        if (t)
            return 0;
        err = space_fault(s, va, a);
        irq = arch_irq_save();
        track_user_return();
        arch_irq_restore(irq);
    } while (!err);
    return err;
}

struct arch_page mm_look(struct space *s, vaddr_t va)
{
    return entry_of(&s->arch, va)->page;
}

/* ---- Disks ----------------------------------------------------------------------------------- */

struct disk_double swap_double, source_double;

static void submit(struct block_device *d, struct block_request *r)
{
    (void)d, (void)r;
}
static void stop(struct block_device *d)
{
    (void)d;
}
static const struct block_ops ops = {submit, stop};

static void make_disk(struct disk_double *k, const char *name, const char *kind, uint64_t size)
{
    k->page = calloc(size, PAGE_SIZE);
    k->device = (struct block_device){
        .kind = kind, .pages = size, .depth = 12, .pages_max = 8, .ops = &ops};
    strcpy(k->device.name, name);
    block_add(&k->device, "double");
}

static void add_disks(void)
{
    make_disk(&swap_double, "swap", "ram", MM_SWAP_PAGES);
    make_disk(&source_double, "source", "virtio", MM_SOURCE_PAGES);
}
uint64_t disk_ram;

static bool fails(const struct disk_double *k, const struct block_request *r)
{
    bool is = false;

    for (uint32_t i = 0; i < r->count; i++)
        is |= one_in(r->write ? k->write_fails : k->read_fails) ||
              (!r->write && k->bad_page && r->page + i == k->bad_page);
    return is;
}

/* A failed request leaves random contents. */
static void transfer(struct disk_double *k, struct block_request *r, bool bad)
{
    for (uint32_t i = 0; i < r->count; i++) {
        uint8_t *here = k->page[r->page + i], *frame = phys_to_virt(r->frame[i]);
        INSIST(frame_page(r->frame[i])->state == PAGE_USED);
        if (bad)
            memset(r->write ? here : frame, 0xee, PAGE_SIZE);
        else
            memcpy(r->write ? here : frame, r->write ? frame : here, PAGE_SIZE);
        is_code[frame_number(frame_page(r->frame[i]))] &= r->write;
        if (bad && !r->write && k == &swap_double && mm_double_read_failed)
            mm_double_read_failed(r->frame[i]);
    }
    k->failed_reads += bad && !r->write;
    k->failed_writes += bad && r->write;
}

static bool answer(struct disk_double *k)
{
    bool irq = block_lock(&k->device);
    unsigned n = 0, which;
    struct block_request *r = NULL;

    list_for_each (it, &k->device.in_flight)
        n++;
    which = n ? below(n) : 0;
    list_for_each (it, &k->device.in_flight)
        if (which-- == 0)
            r = container_of(it, struct block_request, link);
    if (r) {
        bool bad = fails(k, r);
        host_ticks += k->takes_ns;
        transfer(k, r, bad);
        block_back(r, bad ? -EIO : 0);
    }
    block_unlock(&k->device, irq);
    return r;
}

bool fibers_event(void)
{
    struct disk_double *first = below(2) ? &swap_double : &source_double;

    return answer(first) || answer(first == &swap_double ? &source_double : &swap_double);
}

/* ---- Beginning ------------------------------------------------------------------------------- */

void mm_double_boot(uint64_t from)
{
    seed = from;
    fibers_begin(from, 12);
    for (unsigned i = 0; i < MM_FRAMES; i++) {
        free_frames[i] = i + 1;
        pages[i + 1].state = PAGE_FREE;
    }
    add_disks();
    block_start();
}
