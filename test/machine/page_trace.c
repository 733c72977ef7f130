/*
 * Page accesses as files, in the format of mm/track/page_trace.h. One file is ground truth: the
 * accesses of the spaces that the guest tracks, unfiltered; each TLB miss, or each change of the
 * page from one access to the next. The trackers see the TLB misses, and policies much less. The
 * other file is the guest's own output.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "mm/track/page_trace.h"
#include "test/machine/engine.h"

static FILE *truth, *output;
static const char *output_name;

static FILE *create(const char *name)
{
    FILE *file = fopen(name, "w");

    if (!file)
        machine_error("%s: %s", name, strerror(errno));
    return file;
}

void page_trace_init(const char *truth_file, const char *output_file)
{
    output_name = output_file;
    if (!truth_file)
        return;
    struct page_trace_header h = {
        .magic = PAGE_TRACE_MAGIC,
        .version = PAGE_TRACE_VERSION,
        .header_bytes = sizeof(h),
        .record_bytes = sizeof(struct page_trace_record),
        .page_shift = PAGE_SHIFT,
        .cpus = machine.cpus,
        .time_hz = NS_PER_S,
    };
    truth = create(truth_file);
    fwrite(&h, sizeof(h), 1, truth);
}

void page_trace_access(struct vcpu *v, vaddr_t va, bool store)
{
    struct page_trace_record r = {
        .page = va >> PAGE_SHIFT,
        .time = vcpu_cycles(v),
        .space = v->tracker.unit.space,
        .cpu = v->index,
        .flags = store ? PAGE_TRACE_WRITE : 0,
    };

    if (truth)
        fwrite(&r, sizeof(r), 1, truth);
}

void page_trace_output(paddr_t at, uint32_t bytes)
{
    uint8_t buffer[4096];

    if (!output_name)
        return;
    if (!output)
        output = create(output_name);
    for (uint32_t part; bytes; bytes -= part, at += part) {
        part = MIN(bytes, (uint32_t)sizeof(buffer));
        qemu.copy(at, buffer, part, false);
        fwrite(buffer, part, 1, output);
    }
}

void page_trace_end(void)
{
    if ((truth && fclose(truth)) || (output && fclose(output)))
        machine_say("a page trace could not be written: %s", strerror(errno));
    truth = output = NULL;
}
