/* Any bytes as an ELF file whose symbols are wanted: no crash, and names that are found are where
 * they say. */
#include <stdlib.h>
#include <string.h>
#include "apps/tools/measuring/elf_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_names names;
    uint8_t *file = malloc(size + 1);
    size_t letters = 0;
    uint8_t id[ELF_BUILD_ID_MAX];

    if (size)
        memcpy(file, data, size);
    file[size] = '\0';
    if (elf_build_id(file, size, id) > ELF_BUILD_ID_MAX)
        abort();
    if (elf_names_read(file, size, &names)) {
        for (size_t i = 0; i < names.count; i++) {
            const struct elf_name *n = elf_names_find(&names, names.name[i].start);
            if (n != &names.name[i] || n->start < names.low || n->start >= names.high)
                abort();
            letters += strlen(n->name);
        }
        if (letters && !names.count)
            abort();
        elf_names_free(&names);
    } else if (names.count || names.name) {
        abort();
    }
    free(file);
    return 0;
}
