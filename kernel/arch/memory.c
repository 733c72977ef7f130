/*
 * See memory.h. All of the kernel's entries in its root are made before the first space is. So
 * where spaces have copies of them, later mappings below them are visible in all spaces at once.
 */
#include "kernel/arch/memory.h"
#include "kernel/arch/arch.h"
#include "kernel/boot/boot_info.h"
#include "kernel/core/printf.h"

#define ROOT_HALF  (PT_ENTRIES / 2) /* entries below it are user space's, others the kernel's */
#define LARGE_PAGE (2 * MIB)
#define TOP_SPAN   ((uint64_t)1 << 39)

extern char text_start[], text_end[], rodata_end[], image_start[], image_end[], boot_stack_guard[],
    boot_stack_bottom[];

uint64_t mem_space_ids = ARCH_SPACE_IDS_MAX;

static uint64_t kernel_root[PT_ENTRIES] ALIGNED(PAGE_SIZE);
static struct pt kernel_pt;
static vaddr_t device_next = DEVICE_BASE;

paddr_t memory_kernel_root(void)
{
    return kernel_pt.root;
}

unsigned arch_physical_bits(void)
{
    return pte_format.physical_bits;
}

static void must(int err, const char *what)
{
    if (err == -ERANGE)
        panic("memory: cannot map %s: beyond this CPU's %u-bit physical addresses", what,
              arch_physical_bits());
    if (err)
        panic("memory: cannot map %s: error %d", what, -err);
}

/* Maps a section of the image, which linker symbols delimit, with its own rights. */
static void map_image(const struct boot_info *info, vaddr_t from, vaddr_t to, unsigned prot)
{
    from = ALIGN_DOWN(from, PAGE_SIZE);
    to = ALIGN_UP(to, PAGE_SIZE);
    must(pt_map(&kernel_pt, from, info->kernel_base + (from - (vaddr_t)image_start), to - from,
                prot),
         "the kernel");
}

static void map_kernel(const struct boot_info *info)
{
    map_image(info, (vaddr_t)text_start, (vaddr_t)text_end, PROT_R | PROT_X);
    map_image(info, (vaddr_t)text_end, (vaddr_t)rodata_end, PROT_R);
    map_image(info, (vaddr_t)rodata_end, (vaddr_t)boot_stack_guard, PROT_R | PROT_W);
    map_image(info, (vaddr_t)boot_stack_bottom, (vaddr_t)image_end, PROT_R | PROT_W);
}

/* Returns whether memory of this type is mapped. The firmware's tables are read through the direct
 * map; memory that it reserves for itself or for devices stays unmapped. */
static bool is_ram(enum boot_mem_type type)
{
    return type != BOOT_MEM_RESERVED;
}

/* Maps RAM. Ranges that touch or overlap are merged, so that nothing is mapped twice and large
 * pages fit. */
static void map_ram(const struct boot_info *info)
{
    for (size_t i = 0; i < info->mem_count;) {
        if (!is_ram(info->mem[i].type)) {
            i++;
            continue;
        }
        paddr_t from = ALIGN_DOWN(info->mem[i].base, PAGE_SIZE);
        paddr_t to = ALIGN_UP(info->mem[i].base + info->mem[i].size, PAGE_SIZE);
        for (i++; i < info->mem_count; i++) {
            const struct boot_mem *m = &info->mem[i];
            if (is_ram(m->type) && m->base > to)
                break;
            if (is_ram(m->type))
                to = MAX(to, ALIGN_UP(m->base + m->size, PAGE_SIZE));
        }
        must(pt_map(&kernel_pt, DIRECT_BASE + from, from, to - from, PROT_R | PROT_W), "memory");
    }
}

static void map_framebuffer(const struct boot_framebuffer *fb)
{
    paddr_t from = ALIGN_DOWN(fb->base, PAGE_SIZE);

    if (fb->base)
        must(pt_map(&kernel_pt, (vaddr_t)framebuffer_at(from), from,
                    ALIGN_UP(fb->base + boot_framebuffer_size(fb), PAGE_SIZE) - from,
                    PROT_R | PROT_W | PROT_GATHER),
             "the framebuffer");
}

void arch_init_memory(const struct boot_info *info, const struct arch_frames *frames)
{
    kernel_pt = (struct pt){
        .format = &pte_format,
        .frames = frames,
        .root = info->kernel_base + ((vaddr_t)kernel_root - (vaddr_t)image_start),
    };
    map_kernel(info);
    map_ram(info);
    map_framebuffer(&info->fb);
    must(pt_prepare(&kernel_pt, DEVICE_BASE, PROT_R | PROT_W), "devices");
    must(pt_prepare(&kernel_pt, VMAP_BASE, PROT_R | PROT_W), "stacks");
    memory_load_kernel(&kernel_pt);
}

/* Maps whole pages at an address congruent to the physical one, so that large pages fit. */
static int map_device(paddr_t pa, uint64_t span, vaddr_t *out)
{
    vaddr_t va = device_next;

    if (span >= LARGE_PAGE)
        va = ALIGN_UP(va, LARGE_PAGE) + (pa & (LARGE_PAGE - 1));
    if (span > TOP_SPAN - (va - DEVICE_BASE))
        return -ENOMEM;
    int err = pt_map(&kernel_pt, va, pa, span, PROT_R | PROT_W | PROT_DEVICE);
    if (err)
        return err;
    device_next = va + span + PAGE_SIZE;
    *out = va;
    return 0;
}

void *arch_map_device(paddr_t pa, uint64_t size)
{
    uint64_t offset = pa & PAGE_MASK;
    vaddr_t va;

    if (!kernel_pt.root || !size)
        return NULL;
    /* A range that wraps around is also above physical addresses. */
    bool wraps = pa + size < pa || ALIGN_UP(pa + size, PAGE_SIZE) < pa;
    int err = wraps ? -ERANGE : map_device(pa - offset, ALIGN_UP(offset + size, PAGE_SIZE), &va);
    if (!err)
        return (void *)(va + offset);
    kprintf(err == -ERANGE
                ? "memory: event=unreachable registers=%#llx bits=%u: beyond this CPU's physical "
                  "addresses\n"
                : "memory: event=unmapped registers=%#llx: no room to map them\n",
            (unsigned long long)pa, arch_physical_bits());
    return NULL;
}

static struct pt *pt_of(struct arch_space *space)
{
    return space ? &space->pt : &kernel_pt;
}

/* Returns whether `va` may be changed through this handle: the user half through a space's, the
 * kernel half through the kernel's, below top-level entries that exist. */
static bool in_half(const struct arch_space *space, vaddr_t va)
{
    return space ? va < USER_MAX || (va >= SHOWN_BASE && va < SHOWN_MAX)
                 : va >= DIRECT_BASE &&
                       ((uint64_t *)phys_to_virt(kernel_pt.root))[va >> 39 & (PT_ENTRIES - 1)];
}

int arch_space_init(struct arch_space *space, const struct arch_frames *frames)
{
    paddr_t root;
    int err = frames->alloc(frames, &root);

    if (err)
        return err;
    memory_root_init(phys_to_virt(root), kernel_root);
    *space = (struct arch_space){.pt = {.format = &pte_format, .frames = frames, .root = root}};
    return 0;
}

void arch_space_destroy(struct arch_space *space)
{
    pt_free_tables(&space->pt, 0, ROOT_HALF);
    space->pt.frames->free(space->pt.frames, space->pt.root);
    space->pt.root = 0;
}

int arch_space_map(struct arch_space *space, vaddr_t va, paddr_t pa, unsigned prot)
{
    ASSERT(in_half(space, va));
    ASSERT(!space == !(prot & PROT_USER));
    return pt_map(pt_of(space), va, pa, PAGE_SIZE, prot);
}

int arch_space_unmap(struct arch_space *space, vaddr_t va, paddr_t *pa)
{
    ASSERT(in_half(space, va));
    return pt_unmap(pt_of(space), va, pa);
}

int arch_space_protect(struct arch_space *space, vaddr_t va, unsigned prot)
{
    ASSERT(in_half(space, va));
    return pt_protect(pt_of(space), va, prot);
}

int arch_space_query(struct arch_space *space, vaddr_t va, paddr_t *pa, unsigned *prot)
{
    return pt_query(pt_of(space), va, pa, prot);
}

unsigned arch_space_look(struct arch_space *space, vaddr_t va, unsigned n, struct arch_page *out)
{
    return pt_look(&space->pt, va, n, out);
}

int arch_space_evict(struct arch_space *space, vaddr_t va, uint32_t number, paddr_t *pa,
                     unsigned *marks)
{
    ASSERT(in_half(space, va));
    return pt_evict(&space->pt, va, number, pa, marks);
}

unsigned arch_space_mark(struct arch_space *space, vaddr_t va, unsigned clear, unsigned set)
{
    unsigned were;

    ASSERT(in_half(space, va));
    return pt_mark(&space->pt, va, clear, set, &were) ? 0 : were;
}

int arch_space_forget(struct arch_space *space, vaddr_t va)
{
    ASSERT(in_half(space, va));
    return pt_forget(&space->pt, va);
}

int arch_space_reserve(struct arch_space *space, vaddr_t va)
{
    ASSERT(in_half(space, va));
    return pt_reserve(&space->pt, va);
}

int arch_space_put_number(struct arch_space *space, vaddr_t va, uint32_t number)
{
    ASSERT(in_half(space, va));
    return pt_put_number(&space->pt, va, number);
}

vaddr_t arch_space_skip(struct arch_space *space, vaddr_t va, vaddr_t end)
{
    return pt_skip(&space->pt, va, end);
}
