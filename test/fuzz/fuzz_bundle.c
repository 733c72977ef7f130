/* Any bytes as an archive: the walk ends, and every file it names lies inside. */
#include <stdlib.h>
#include <string.h>
#include "kernel/proc/bundle.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bundle_file file;
    uint64_t cursor = 0, before = 0;
    const char *why;

    while (bundle_next(data, size, &cursor, &file, &why) == 0) {
        const uint8_t *start = file.data;
        if (cursor <= before || start < data || file.size > size - (uint64_t)(start - data))
            abort();
        if (memchr(file.name, 0, sizeof(file.name)) == NULL)
            abort();
        before = cursor;
    }
    return 0;
}
