/*
 * Checks memory: words read back as written, in blocks of free frames spread by the allocator; and
 * that the kernel's mappings are writable or executable, never both.
 */
#include "kernel/selftest/check.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

#define BLOCKS      4
#define BLOCK_BYTES (PAGE_SIZE << FRAME_ORDER_MAX)
#define LARGE_PAGE  (2 * MIB)

extern char image_start[], image_end[], text_start[], text_end[];

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Each pattern gives every word another value, or alternates between values that differ in all
 * bits. */
static uint64_t address_of(uint64_t pa)
{
    return pa;
}
static uint64_t inverse_address(uint64_t pa)
{
    return ~pa;
}
static uint64_t chequers(uint64_t pa)
{
    return pa & sizeof(uint64_t) ? 0x5555555555555555 : 0xaaaaaaaaaaaaaaaa;
}
static uint64_t chequers_turned(uint64_t pa)
{
    return ~chequers(pa);
}
static uint64_t (*const patterns[])(uint64_t pa) = {address_of, inverse_address, chequers,
                                                    chequers_turned};

static uint64_t wrong_words(paddr_t base, uint64_t (*pattern)(uint64_t pa), paddr_t *first_wrong)
{
    volatile uint64_t *words = phys_to_virt(base);
    uint64_t wrong = 0, count = BLOCK_BYTES / sizeof(*words);

    for (uint64_t i = 0; i < count; i++)
        words[i] = pattern(base + i * sizeof(*words));
    for (uint64_t i = 0; i < count; i++) {
        if (words[i] == pattern(base + i * sizeof(*words)))
            continue;
        if (!wrong++ && !*first_wrong)
            *first_wrong = base + i * sizeof(*words);
    }
    return wrong;
}

static void memory_keeps_what_is_written(struct measured *m)
{
    paddr_t block[BLOCKS], first_wrong = 0;
    unsigned n = 0;

    m->unit = "words";
    while (n < BLOCKS && !frame_alloc(FRAME_ORDER_MAX, &block[n]))
        n++;
    if (!n)
        m->skipped = "no block of 4 MB is free";
    for (unsigned i = 0; i < n; i++) {
        for (size_t p = 0; p < ARRAY_SIZE(patterns); p++)
            m->value += wrong_words(block[i], patterns[p], &first_wrong);
    }
    if (first_wrong)
        ksnprintf(m->note, sizeof(m->note), "the first wrong one is at %#llx",
                  (unsigned long long)first_wrong);
    else if (n)
        ksnprintf(m->note, sizeof(m->note), "wrong ones, of %llu MB at %#llx and on",
                  (unsigned long long)(n * BLOCK_BYTES / MIB), (unsigned long long)block[n - 1]);
    while (n--)
        frame_free(block[n], FRAME_ORDER_MAX);
}

/* ---- Mappings -------------------------------------------------------------------------------- */

struct mappings {
    uint64_t pages, wrong;
    vaddr_t first_wrong;
};

static void look_at(struct mappings *all, vaddr_t va)
{
    paddr_t pa;
    unsigned prot;

    if (arch_space_query(NULL, va, &pa, &prot))
        return;
    bool text = va >= (vaddr_t)text_start && va < (vaddr_t)text_end;
    bool wrong =
        (prot & PROT_USER) || ((prot & PROT_X) && (prot & PROT_W)) || !(prot & PROT_X) != !text;
    all->pages++;
    if (wrong && !all->wrong++)
        all->first_wrong = va;
}

static void look_at_range(struct mappings *all, vaddr_t from, uint64_t size, uint64_t step)
{
    for (uint64_t at = 0; at < size; at += step)
        look_at(all, from + at);
}

/* Checks all pages of the image and of the framebuffer, one page in every 2 MB of memory, and this
 * stack. */
static void mappings_are_writable_or_executable(struct measured *m)
{
    struct mappings all = {0};

    look_at_range(&all, (vaddr_t)image_start, (uint64_t)(image_end - image_start), PAGE_SIZE);
    for (size_t i = 0; i < selftest_boot->mem_count; i++)
        look_at_range(&all, DIRECT_BASE + selftest_boot->mem[i].base, selftest_boot->mem[i].size,
                      LARGE_PAGE);
    look_at(&all, (vaddr_t)&all);
    look_at_range(&all, FRAMEBUFFER_BASE, BOOT_FRAMEBUFFER_MAX, PAGE_SIZE);
    m->unit = "pages";
    m->value = all.wrong;
    if (all.wrong)
        ksnprintf(m->note, sizeof(m->note), "the first wrong one is at %#llx",
                  (unsigned long long)all.first_wrong);
    else
        ksnprintf(m->note, sizeof(m->note), "that are both, or wrongly one, of %llu",
                  (unsigned long long)all.pages);
}

const struct check memory_checks[] = {
    {"memory", memory_keeps_what_is_written},
    {"write-xor-execute", mappings_are_writable_or_executable},
    {0},
};
