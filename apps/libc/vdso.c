/* Finds functions of the vDSO, a shared object that the kernel maps for programs (vdso(7)). Its
 * addresses are offsets from its first byte. */
#include <string.h>
#include "apps/libc/image.h"
#include "apps/libc/libc.h"

static const void *dynamic_entry(const char *vdso, int64_t tag)
{
    const struct elf_header *h = (const void *)vdso;
    const struct elf_segment *s = (const void *)(vdso + h->phoff), *end = s + h->phnum;

    while (s < end && s->type != SEGMENT_DYNAMIC)
        s++;
    if (s == end)
        return NULL;
    const struct elf_dynamic *d = (const void *)(vdso + s->offset);
    while (d->tag && d->tag != tag)
        d++;
    return d->tag ? vdso + d->value : NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), wanted = strlen(end);

    return n >= wanted && !strcmp(text + n - wanted, end);
}

void *vdso_function(const char *end)
{
    const char *vdso = (const char *)auxiliary_value(LINUX_AT_SYSINFO_EHDR);

    if (!vdso)
        return NULL;
    const uint32_t *hash = dynamic_entry(vdso, DYNAMIC_HASH); /* its second word counts symbols */
    const struct elf_symbol *symbols = dynamic_entry(vdso, DYNAMIC_SYMBOLS);
    const char *strings = dynamic_entry(vdso, DYNAMIC_STRINGS);
    for (uint32_t i = 0; hash && symbols && strings && i < hash[1]; i++)
        if (symbols[i].section && ends_with(strings + symbols[i].name, end))
            return (void *)(vdso + symbols[i].value);
    return NULL;
}
