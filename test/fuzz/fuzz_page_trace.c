/* Any bytes as a page trace of each format: they are refused with a line, or what was read is in
 * range. */
#include <stdlib.h>
#include <string.h>
#include "tools/replay/trace.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static void expect(bool so)
{
    if (!so)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct page_trace t;
    char why[TRACE_WHY];

    if (size == 0)
        return 0;
    int rc = trace_open(&t, data + 1, size - 1, data[0] % TRACE_FORMATS,
                        data[0] & 0x80 ? 1 : TRACE_SPACES, why);
    expect(rc == 0 || rc == -EINVAL);
    expect(memchr(why, 0, sizeof why) != NULL && (rc == 0) == (why[0] == 0));
    expect(strchr(why, '\n') == NULL);
    uint64_t accesses = 0;
    for (size_t i = 0; i < t.length; i++) {
        expect(t.page[i] < t.pages);
        accesses += t.event[i] == TRACE_ACCESS;
    }
    expect(rc || accesses == t.accesses);
    trace_close(&t);
    return 0;
}
