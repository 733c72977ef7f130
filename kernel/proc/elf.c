/* See elf.h. */
#include "kernel/proc/elf.h"

struct ehdr {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, phoff, shoff;
    uint32_t flags;
    uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct phdr {
    uint32_t type, flags;
    uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

enum { EI_CLASS = 4, EI_DATA = 5, EI_VERSION = 6 };
enum { ELFCLASS64 = 2, ELFDATA2LSB = 1, EV_CURRENT = 1, ET_EXEC = 2, ET_DYN = 3 };
enum { PT_LOAD = 1, PT_INTERP = 3 };
#define PHNUM_MAX 64

static const char unread[] = "cannot be read";

static const char *check_header(const struct ehdr *h, uint64_t size,
                                const struct elf_limits *limits)
{
    if (memcmp(h->ident, "\177ELF", 4) != 0)
        return "not an ELF file";
    if (h->ident[EI_CLASS] != ELFCLASS64)
        return "not a 64-bit ELF file";
    if (h->ident[EI_DATA] != ELFDATA2LSB)
        return "not little-endian";
    if (h->ident[EI_VERSION] != EV_CURRENT || h->version != EV_CURRENT)
        return "unknown ELF version";
    if (h->machine != limits->machine)
        return "for another machine";
    if (h->type != ET_EXEC && h->type != ET_DYN)
        return "not an executable";
    if (h->ehsize != sizeof(*h))
        return "ELF header of a wrong size";
    if (h->phentsize != sizeof(struct phdr))
        return "program headers of a wrong size";
    if (!h->phnum)
        return "no program headers";
    if (h->phnum > PHNUM_MAX)
        return "too many program headers";
    if (h->phoff > size || h->phnum * sizeof(struct phdr) > size - h->phoff)
        return "program headers beyond the end of the file";
    return NULL;
}

static bool in_range(const struct phdr *p, const struct elf_limits *limits, bool relative)
{
    vaddr_t low = relative ? 0 : limits->low,
            high = relative ? limits->memory_size_max : limits->high;

    return p->vaddr >= low && p->vaddr < high && p->memsz <= high - p->vaddr;
}

static const char *check_segment(const struct phdr *p, uint64_t size,
                                 const struct elf_limits *limits, bool relative)
{
    if (p->offset > size || p->filesz > size - p->offset)
        return "segment beyond the end of the file";
    if (p->filesz > p->memsz)
        return "segment larger in the file than in memory";
    if (p->memsz > limits->memory_size_max)
        return "segment too large";
    if (!in_range(p, limits, relative))
        return "segment outside user space";
    if (p->flags & ~(uint32_t)(ELF_R | ELF_W | ELF_X))
        return "segment with unknown flags";
    if (!(p->flags & (ELF_R | ELF_W | ELF_X)))
        return "segment without any access";
    if ((p->flags & ELF_W) && (p->flags & ELF_X) && !limits->writes_code)
        return "segment both writable and executable";
    if ((p->vaddr ^ p->offset) & PAGE_MASK ||
        (p->align > 1 && (!is_pow2(p->align) || (p->vaddr ^ p->offset) & (p->align - 1))))
        return "segment badly aligned";
    return NULL;
}

static const char *add_segment(struct elf_plan *plan, const struct phdr *p)
{
    if (plan->count == ELF_SEGMENTS_MAX)
        return "too many segments";
    if (plan->count && p->vaddr < plan->end)
        return "segments overlap or are out of order";
    if (!plan->count)
        plan->low = ALIGN_DOWN(p->vaddr, PAGE_SIZE);
    plan->end = p->vaddr + p->memsz;
    plan->alignment = MAX(plan->alignment, p->align);
    plan->segments[plan->count++] = (struct elf_segment){
        .va = p->vaddr,
        .memory_size = p->memsz,
        .file_offset = p->offset,
        .file_size = p->filesz,
        .flags = p->flags,
    };
    return NULL;
}

static const char *read_interpreter(struct elf_plan *plan, const struct elf_file *file,
                                    const struct phdr *p)
{
    if (p->offset > file->size || p->filesz > file->size - p->offset)
        return "interpreter's path beyond the end of the file";
    if (p->filesz < 2 || p->filesz > sizeof(plan->interpreter))
        return "path of an interpreter too long or empty";
    if (plan->interpreter[0])
        return "two interpreters";
    if (!file->read_bytes(file->of, p->offset, plan->interpreter, p->filesz))
        return unread;
    for (uint64_t i = 0; i < p->filesz; i++)
        if (!plan->interpreter[i] != (i == p->filesz - 1))
            return "malformed path of an interpreter";
    return NULL;
}

/* Notes where the program headers are in memory, if a segment has them. */
static void find_headers(struct elf_plan *plan, const struct ehdr *h)
{
    uint64_t bytes = h->phnum * sizeof(struct phdr);

    plan->header_count = h->phnum;
    plan->header_size = sizeof(struct phdr);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct elf_segment *s = &plan->segments[i];
        if (h->phoff >= s->file_offset && h->phoff - s->file_offset < s->file_size &&
            bytes <= s->file_size - (h->phoff - s->file_offset))
            plan->headers = s->va + (h->phoff - s->file_offset);
    }
}

static const char *plan_segments(const struct elf_file *file, const struct ehdr *h,
                                 const struct elf_limits *limits, struct elf_plan *plan)
{
    for (unsigned i = 0; i < h->phnum; i++) {
        struct phdr p;
        const char *why = NULL;
        if (!file->read_bytes(file->of, h->phoff + i * sizeof(p), &p, sizeof(p)))
            return unread;
        if (p.type == PT_INTERP)
            why = read_interpreter(plan, file, &p);
        if (!why && p.type == PT_LOAD && p.memsz)
            why = check_segment(&p, file->size, limits, plan->relative) ?: add_segment(plan, &p);
        if (why)
            return why;
    }
    find_headers(plan, h);
    return plan->count ? NULL : "nothing to load";
}

static const char *check_entry(const struct elf_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct elf_segment *s = &plan->segments[i];
        if ((s->flags & ELF_X) && plan->entry >= s->va && plan->entry - s->va < s->memory_size)
            return NULL;
    }
    return "entry point outside the code";
}

int elf_plan(const struct elf_file *file, const struct elf_limits *limits, struct elf_plan *out,
             const char **why)
{
    struct ehdr h;

    *why = "shorter than an ELF header";
    if (file->size < sizeof(h))
        return -ENOEXEC;
    *why = unread;
    if (!file->read_bytes(file->of, 0, &h, sizeof(h)))
        return -EIO;
    *out =
        (struct elf_plan){.entry = h.entry, .relative = h.type == ET_DYN, .alignment = PAGE_SIZE};
    *why = check_header(&h, file->size, limits);
    if (!*why)
        *why = plan_segments(file, &h, limits, out);
    if (!*why)
        *why = check_entry(out);
    return *why == unread ? -EIO : *why ? -ENOEXEC : 0;
}
