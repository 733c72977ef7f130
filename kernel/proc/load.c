/* From a program of the bundle to an address space ready to run: segments, stack, arguments. */
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/bundle.h"
#include "kernel/proc/elf.h"
#include "kernel/core/printf.h"

#define STACK_SIZE       (1 * MIB)
#define STACK_TOP        (USER_MAX - PAGE_SIZE)
#define IMAGE_HIGH       ((vaddr_t)0x100000000000) /* programs lie below, mappings above */
#define SEGMENT_SIZE_MAX (1 * GIB)

extern const char bundle_start[], bundle_end[];

static unsigned prot_of(uint32_t flags)
{
    return (flags & ELF_R ? PROT_R : 0) | (flags & ELF_W ? PROT_W : 0) |
           (flags & ELF_X ? PROT_X : 0);
}

static const char *name_of(uint32_t flags)
{
    return flags & ELF_X ? "code" : flags & ELF_W ? "data" : "constants";
}

static int map_segment(struct space *space, const char *file, const struct elf_segment *s)
{
    vaddr_t start = ALIGN_DOWN(s->va, PAGE_SIZE), end = ALIGN_UP(s->va + s->memory_size, PAGE_SIZE),
            at;
    int err = space_map(space, start, end - start, prot_of(s->flags), REGION_IMAGE,
                        name_of(s->flags), &at);

    return err ? err : space_fill(space, s->va, file + s->file_offset, s->file_size);
}

static int map_image(struct process *p, const struct bundle_file *file, vaddr_t *entry)
{
    static const struct elf_limits limits = {ARCH_ELF_MACHINE, USER_MIN, IMAGE_HIGH,
                                             SEGMENT_SIZE_MAX};
    struct elf_plan plan;
    const char *why;
    int err = elf_plan(file->data, file->size, &limits, &plan, &why);

    if (err) {
        kprintf("process: event=refused app=%s reason=broken: %s\n", p->name, why);
        return err;
    }
    for (unsigned i = 0; i < plan.count && !err; i++)
        err = map_segment(p->space, file->data, &plan.segments[i]);
    if (err)
        kprintf("process: event=refused app=%s reason=memory: %s\n", p->name,
                err == -EDQUOT ? "mem.process or mem.kernel allows it too little"
                               : "out of memory");
    *entry = plan.entry;
    return err;
}

static size_t length(const char *s)
{
    size_t n = 0;

    while (s[n])
        n++;
    return n;
}

/* The start of a program's stack as in abi.h: count, pointers, ends of both lists, strings. */
struct arguments {
    uint64_t words[SYS_ARGS_MAX + 3];
    char strings[SYS_ARGS_BYTES];
};

static int build_arguments(struct arguments *a, const char *const *argv, unsigned argc, vaddr_t at)
{
    size_t used = 0;

    if (argc > SYS_ARGS_MAX)
        return -E2BIG;
    a->words[0] = argc;
    for (unsigned i = 0; i < argc; i++) {
        size_t n = length(argv[i]) + 1;
        if (n > sizeof(a->strings) - used)
            return -E2BIG;
        memcpy(a->strings + used, argv[i], n);
        a->words[1 + i] = at + offsetof(struct arguments, strings) + used;
        used += n;
    }
    return 0;
}

static int map_stack(struct process *p, const char *const *argv, unsigned argc, vaddr_t *sp)
{
    struct arguments *a = kmalloc(sizeof(*a));
    vaddr_t at;
    int err = a ? space_map(p->space, STACK_TOP - STACK_SIZE, STACK_SIZE, PROT_R | PROT_W,
                            REGION_STACK, "main stack", &at)
                : -ENOMEM;

    *sp = ALIGN_DOWN(STACK_TOP - sizeof(*a), 16);
    if (!err)
        err = build_arguments(a, argv, argc, *sp);
    if (!err)
        err = space_fill(p->space, *sp, a, sizeof(*a));
    kfree(a);
    if (err)
        kprintf("process: event=refused app=%s reason=%s\n", p->name,
                err == -E2BIG ? "arguments: too many or too long arguments"
                              : "memory: no memory for its stack");
    return err;
}

int load_program(struct process *p, const char *const *argv, unsigned argc, vaddr_t *entry,
                 vaddr_t *sp)
{
    struct bundle_file file;
    const char *why;
    int err = process_is_program(argv[0])
                  ? bundle_find(bundle_start, bundle_end - bundle_start, argv[0], &file, &why)
                  : -ENOENT;

    if (err) {
        process_say_unknown(argv[0]);
        return -ENOENT;
    }
    err = map_image(p, &file, entry);
    return err ? err : map_stack(p, argv, argc, sp);
}
