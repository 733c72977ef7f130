/*
 * Kernel stacks: each in a slot of its own in the VMAP area, with an unmapped page below it, so
 * that an overflow faults at once. A few freed stacks stay mapped for the next threads; others are
 * unmapped and their frames freed.
 *
 * Where the depth of stacks is measured (selftest=on), each is painted before it is used: bytes
 * that have lost the paint were used, by the thread or by interrupts.
 */
#include "kernel/mem/mem.h"
#include "kernel/mem/vmap.h"

#define SLOTS_MAX  8192
#define SPARES_MAX 32

#define STACK_PAGES_MAX (KSTACK_SLOT / PAGE_SIZE - 1)
#define PAINT           0x7661636174746f6eull /* neither an address nor a small number */

extern char boot_stack_bottom[], boot_stack_top[];

/* Lies at the bottom of an unused stack. */
struct spare {
    struct spare *next;
    size_t size;
};

struct spinlock vmap_lock = SPINLOCK(LOCK_VMAP, "vmap");
static struct spare *spares; /* guarded by vmap_lock */
static unsigned spare_count; /* guarded by vmap_lock */
/* used before and empty again; guarded by vmap_lock */
static uint16_t free_slots[SLOTS_MAX], free_count;
/* from here on never used; guarded by vmap_lock */
static unsigned next_slot;
static bool measured; /* [-] */
/* Pages of the painted stack in this slot; 0: no stack, or not painted. Guarded by vmap_lock. */
static uint8_t painted[SLOTS_MAX];
static size_t deepest_gone; /* of freed stacks; guarded by vmap_lock */

/* ---- Depth of use ---------------------------------------------------------------------------- */

void kstack_measure(void)
{
    measured = true;
}

static void paint(void *stack, size_t size)
{
    uint64_t *word = stack;

    for (size_t i = 0; i < size / sizeof(*word); i++)
        word[i] = PAINT;
}

/* Returns the depth that was used. Stacks grow down, so the first word that is not `clean` is the
 * deepest that was ever written. */
static size_t used(const void *stack, size_t size, uint64_t clean)
{
    const volatile uint64_t *word = stack;
    size_t i = 0;

    while (i < size / sizeof(*word) && word[i] == clean)
        i++;
    return size - i * sizeof(*word);
}

static unsigned slot_of(const void *stack)
{
    return (unsigned)(((vaddr_t)stack - VMAP_BASE) / KSTACK_SLOT);
}

static vaddr_t slot_base(unsigned slot)
{
    return VMAP_BASE + slot * KSTACK_SLOT + PAGE_SIZE;
}

static void measure_begin(void *stack, size_t size)
{
    if (!measured)
        return;
    paint(stack, size);
    bool irq = spin_lock(&vmap_lock);
    painted[slot_of(stack)] = (uint8_t)(size / PAGE_SIZE);
    spin_unlock(&vmap_lock, irq);
}

static void measure_end(const void *stack)
{
    unsigned slot = slot_of(stack);

    if (!measured)
        return;
    bool irq = spin_lock(&vmap_lock);
    if (painted[slot])
        deepest_gone = MAX(deepest_gone, used(stack, painted[slot] * PAGE_SIZE, PAINT));
    painted[slot] = 0;
    spin_unlock(&vmap_lock, irq);
}

/* The first CPU's stack was all zeros before it was used. */
size_t kstack_deepest(unsigned *stacks)
{
    size_t deepest = used(boot_stack_bottom, (size_t)(boot_stack_top - boot_stack_bottom), 0);

    *stacks = 1;
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++) {
        bool irq = spin_lock(&vmap_lock);
        if (painted[slot]) {
            deepest = MAX(deepest, used((void *)slot_base(slot), painted[slot] * PAGE_SIZE, PAINT));
            (*stacks)++;
        }
        deepest = MAX(deepest, deepest_gone);
        bool more = slot + 1 < next_slot;
        spin_unlock(&vmap_lock, irq);
        if (!more)
            break;
    }
    return deepest;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static void *spare_take_locked(size_t size)
{
    for (struct spare **at = &spares; *at; at = &(*at)->next) {
        struct spare *found = *at;
        if (found->size == size) {
            *at = found->next;
            spare_count--;
            return found;
        }
    }
    return NULL;
}

static bool spare_give_locked(void *stack, size_t size)
{
    struct spare *spare = stack;

    if (spare_count == SPARES_MAX)
        return false;
    *spare = (struct spare){.next = spares, .size = size};
    spares = spare;
    spare_count++;
    return true;
}

static int slot_take_locked(unsigned *slot)
{
    if (free_count)
        *slot = free_slots[--free_count];
    else if (next_slot < SLOTS_MAX)
        *slot = next_slot++;
    else
        return -ENOMEM;
    return 0;
}

static unsigned unmap_locked(vaddr_t base, size_t size, paddr_t *frames)
{
    unsigned n = 0;

    for (vaddr_t va = base; va < base + size; va += PAGE_SIZE)
        if (arch_space_unmap(NULL, va, &frames[n]) == 0)
            n++;
    return n;
}

static void free_frames(const paddr_t *frames, unsigned n)
{
    while (n)
        frame_free(frames[--n], 0);
}

static int map_page_locked(vaddr_t va)
{
    paddr_t pa;
    int err = frame_alloc(0, &pa);

    if (err)
        return err;
    err = arch_space_map(NULL, va, pa, PROT_R | PROT_W);
    if (err)
        frame_free(pa, 0);
    return err;
}

static void *map_locked(size_t size)
{
    paddr_t frames[STACK_PAGES_MAX];
    unsigned slot;

    if (slot_take_locked(&slot))
        return NULL;
    vaddr_t base = slot_base(slot), va = base;
    while (va < base + size && map_page_locked(va) == 0)
        va += PAGE_SIZE;
    if (va == base + size)
        return (void *)base;
    /* These pages have not been accessed yet, so no TLB contains them. */
    free_frames(frames, unmap_locked(base, va - base, frames));
    free_slots[free_count++] = slot;
    return NULL;
}

void *kstack_alloc(size_t size)
{
    ASSERT(size && IS_ALIGNED(size, PAGE_SIZE) && size <= STACK_PAGES_MAX * PAGE_SIZE);
    bool irq = spin_lock(&vmap_lock);
    void *stack = spare_take_locked(size);
    if (!stack)
        stack = map_locked(size);
    spin_unlock(&vmap_lock, irq);
    if (stack)
        measure_begin(stack, size);
    return stack;
}

void kstack_free(void *stack, size_t size)
{
    paddr_t frames[STACK_PAGES_MAX];
    unsigned n;

    measure_end(stack);
    bool irq = spin_lock(&vmap_lock);
    bool kept = spare_give_locked(stack, size);
    n = kept ? 0 : unmap_locked((vaddr_t)stack, size, frames);
    spin_unlock(&vmap_lock, irq);
    if (kept)
        return;
    tlb_shootdown(NULL, (vaddr_t)stack, n);
    free_frames(frames, n);
    irq = spin_lock(&vmap_lock);
    free_slots[free_count++] = (uint16_t)slot_of(stack);
    spin_unlock(&vmap_lock, irq);
}
