/* Any bytes as a program: what is accepted can be mapped and filled without leaving the file or
 * user space.
 */
#include <stdlib.h>
#include "kernel/proc/elf.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static bool read_bytes(const void *of, uint64_t at, void *to, size_t n)
{
    memcpy(to, (const uint8_t *)of + at, n);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct elf_limits limits = {62, 0x10000, 0x100000000000, GIB, false};
    struct elf_plan plan;
    const char *why;
    vaddr_t last = 0;

    if (elf_plan(&(struct elf_file){.size = size, .read_bytes = read_bytes, .of = data}, &limits,
                 &plan, &why))
        return why ? 0 : (abort(), 0);
    for (unsigned i = 0; i < plan.count; i++) {
        const struct elf_segment *s = &plan.segments[i];
        if (s->file_offset > size || s->file_size > size - s->file_offset ||
            s->file_size > s->memory_size)
            abort();
        if (s->va < last || s->va < (plan.relative ? 0 : limits.low) ||
            s->va + s->memory_size > (plan.relative ? GIB : limits.high))
            abort();
        last = s->va + s->memory_size;
    }
    return 0;
}
