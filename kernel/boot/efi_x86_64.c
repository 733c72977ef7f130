/*
 * The transition from the firmware's address space to the kernel's, on x86-64. The tables map the
 * first 4 GB at 0 and DIRECT_BASE, the image at KERNEL_BASE wherever it was loaded, and a
 * framebuffer at FRAMEBUFFER_BASE, uncached.
 */
#include "efi_arch.h"

#define EM_X86_64    62
#define TABLES       10
#define ENTRIES      512
#define LARGE_PAGE   (2 * MIB)
#define PTE_TABLE    0x003
#define PTE_LARGE    0x083
#define PTE_UNCACHED 0x018
#define DIRECT_SLOT  256 /* index of DIRECT_BASE in the root table */
#define DISPLAY_SLOT 386 /* index of FRAMEBUFFER_BASE in the root table */
#define KERNEL_SLOT  511 /* index of KERNEL_BASE in the root table */
#define KERNEL_SLOT2 510 /* and in the table below */
#define DIRECT_BASE  0xffff800000000000
#define LOW_MEMORY   0x9ffff
#define CR4_LA57     ((uint64_t)1 << 12)

const unsigned short efi_arch_elf_machine = EM_X86_64;
const bool efi_arch_reaches_all = false;

static uint64_t tables_pa;
static uint64_t start_page_pa;

/* mov %rdi, %cr3; mov %rdx, %rdi; jmp *%rsi. Runs in the start page, which is mapped at its
 * physical address by both sets of tables. */
static const uint8_t enter_code[] = {0x0f, 0x22, 0xdf, 0x48, 0x89, 0xd7, 0xff, 0xe6};

enum { ROOT, LOW, KERNEL, KERNEL_PD, PDS, DISPLAY = PDS + 4, DISPLAY_PD };
_Static_assert(DISPLAY_PD + 1 == TABLES, "TABLES");

/* Maps the framebuffer in large pages. These may contain a neighbour's registers, hence
 * uncached. */
static void map_display(uint64_t (*t)[ENTRIES], const struct boot_framebuffer *fb)
{
    uint64_t from = ALIGN_DOWN(fb->base, LARGE_PAGE), end = fb->base + boot_framebuffer_size(fb);

    if (!fb->base)
        return;
    t[ROOT][DISPLAY_SLOT] = (uint64_t)t[DISPLAY] | PTE_TABLE;
    t[DISPLAY][0] = (uint64_t)t[DISPLAY_PD] | PTE_TABLE;
    for (uint64_t i = 0; from + i * LARGE_PAGE < end; i++)
        t[DISPLAY_PD][i] = (from + i * LARGE_PAGE) | PTE_LARGE | PTE_UNCACHED;
}

static void fill_tables(const struct boot_info *info)
{
    uint64_t(*t)[ENTRIES] = (uint64_t(*)[ENTRIES])tables_pa;

    memset(t, 0, TABLES * PAGE_SIZE);
    t[ROOT][0] = t[ROOT][DIRECT_SLOT] = (uint64_t)t[LOW] | PTE_TABLE;
    t[ROOT][KERNEL_SLOT] = (uint64_t)t[KERNEL] | PTE_TABLE;
    t[KERNEL][KERNEL_SLOT2] = (uint64_t)t[KERNEL_PD] | PTE_TABLE;
    for (unsigned i = 0; i < 4; i++)
        t[LOW][i] = (uint64_t)t[PDS + i] | PTE_TABLE;
    for (uint64_t i = 0; i < 4 * ENTRIES; i++)
        t[PDS][i] = i * LARGE_PAGE | PTE_LARGE;
    /* The image is linked 2 MB above KERNEL_BASE. */
    for (uint64_t i = 1; i < ENTRIES; i++)
        t[KERNEL_PD][i] = (info->kernel_base + (i - 1) * LARGE_PAGE) | PTE_LARGE;
    map_display(t, &info->fb);
}

static bool five_levels(void)
{
    uint64_t cr4;

    __asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
    return cr4 & CR4_LA57;
}

EFI_STATUS efi_arch_prepare(struct boot_info *info)
{
    EFI_STATUS status;

    if (five_levels()) {
        Print(L"vigil: the firmware uses 5-level page tables; switch them off in its set-up\n");
        return EFI_UNSUPPORTED;
    }
    tables_pa = UINT32_MAX;
    status = BS->AllocatePages(AllocateMaxAddress, EfiLoaderData, TABLES, &tables_pa);
    if (EFI_ERROR(status)) {
        Print(L"vigil: no memory below 4 GB for page tables: %r\n", status);
        return status;
    }
    start_page_pa = LOW_MEMORY;
    status = BS->AllocatePages(AllocateMaxAddress, EfiLoaderCode, 1, &start_page_pa);
    if (EFI_ERROR(status)) {
        Print(L"vigil: no memory below 1 MB to start processors with: %r\n", status);
        return status;
    }
    memcpy((void *)start_page_pa, enter_code, sizeof(enter_code));
    fill_tables(info);
    info->start_page = start_page_pa;
    if (boot_mem_add(info, tables_pa, TABLES * PAGE_SIZE, BOOT_MEM_RESERVED) ||
        boot_mem_add(info, start_page_pa, PAGE_SIZE, BOOT_MEM_RESERVED)) {
        Print(L"vigil: too many memory ranges\n");
        return EFI_BUFFER_TOO_SMALL;
    }
    return EFI_SUCCESS;
}

void efi_arch_enter(const struct efi_entry *entry, const struct boot_info *info)
{
    __asm__ volatile("cli\n\t"
                     "jmp *%%rax"
                     :
                     : "a"(start_page_pa), "D"(tables_pa), "S"(entry->va),
                       "d"(DIRECT_BASE + (uint64_t)info)
                     : "memory");
    __builtin_unreachable();
}
