/* See vdso.h. */
#include "kernel/vdso/vdso.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "kernel/vdso/vdso_data.h"
#include "mm/mm.h"
#include <linux/elf.h>

extern const char vdso_start[],
    vdso_end[]; /* the object, made by the same build and checked there */

static paddr_t data_page, code_page[VDSO_PAGES_MAX];
static unsigned code_pages;

static paddr_t make_page(const void *contents, size_t n)
{
    paddr_t page;

    if (frame_alloc_zeroed(&page))
        panic("no memory for the vDSO");
    memcpy(phys_to_virt(page), contents, n);
    return page;
}

void vdso_init(uint64_t date_ns)
{
    struct vdso_data data = {.readable = arch_ticks_user(), .date_ns = date_ns};
    size_t bytes = (size_t)(vdso_end - vdso_start);

    _Static_assert(VDSO_CLOCK_SHIFT == ARCH_CLOCK_SHIFT, "the scale of the vDSO's clock");
    _Static_assert(VDSO_EHDR + VDSO_PAGES_MAX * PAGE_SIZE <= SHOWN_COUNTS, "room for the vDSO");
    ASSERT(bytes <= VDSO_PAGES_MAX * PAGE_SIZE);
    arch_clock_scale(&data.ticks_base, &data.ticks_to_ns);
    data_page = make_page(&data, sizeof(data));
    for (size_t at = 0; at < bytes; at += PAGE_SIZE) {
        code_page[code_pages] = make_page(vdso_start + at, MIN(bytes - at, (size_t)PAGE_SIZE));
        arch_code_written(phys_to_virt(code_page[code_pages++]));
    }
}

int vdso_map(struct space *s)
{
    int err = space_show(s, VDSO_BASE, data_page, PROT_R);

    for (unsigned i = 0; i < code_pages && !err; i++)
        err = space_show(s, VDSO_EHDR + i * PAGE_SIZE, code_page[i], PROT_R | PROT_X);
    return err;
}

/* Returns the value of a row of the object's dynamic section, an offset in the object. */
static uint64_t dynamic_value(Elf64_Sxword tag)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)vdso_start;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(vdso_start + h->e_phoff);

    while (p->p_type != PT_DYNAMIC)
        p++;
    const Elf64_Dyn *d = (const Elf64_Dyn *)(vdso_start + p->p_offset);
    while (d->d_tag != tag)
        d++;
    return d->d_un.d_val;
}

/* The functions by name. */
struct names {
    const Elf64_Sym *symbols;
    const char *strings;
    uint32_t count;
};

/* The second word of the hash table is the number of symbols. */
static struct names read_names(void)
{
    return (struct names){
        .symbols = (const Elf64_Sym *)(vdso_start + dynamic_value(DT_SYMTAB)),
        .strings = vdso_start + dynamic_value(DT_STRTAB),
        .count = ((const uint32_t *)(vdso_start + dynamic_value(DT_HASH)))[1],
    };
}

vaddr_t vdso_function(const char *name)
{
    struct names n = read_names();

    for (uint32_t i = 1; i < n.count; i++)
        if (n.symbols[i].st_size &&
            text_same(n.strings + n.symbols[i].st_name, name, text_length(name)))
            return VDSO_EHDR + n.symbols[i].st_value;
    return 0;
}

const char *vdso_function_at(vaddr_t va, uint64_t *offset)
{
    struct names n = read_names();

    for (uint32_t i = 1; i < n.count; i++) {
        *offset = va - VDSO_EHDR - n.symbols[i].st_value;
        if (*offset < n.symbols[i].st_size)
            return n.strings + n.symbols[i].st_name;
    }
    return NULL;
}
