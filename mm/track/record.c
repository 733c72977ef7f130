/*
 * The recorder: a sink that writes what trackers deliver as a page trace (mm/track/page_trace.h,
 * docs/use/page-traces.md) to a file of the simulated machine's host.
 */
#include "hpm/path/path.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/core/printf.h"
#include "mm/track/page_trace.h"
#include "mm/space.h"
#include "mm/track/internal.h"
#include "kernel/mem/mem.h"

#define BUFFER_RECORDS 128

static struct {
    struct page_trace_record records[BUFFER_RECORDS];
    unsigned count;
    uint64_t lost; /* lost accesses that the trace has */
} * recorder;

/* Writes `bytes`, which are from the heap, to the file. */
static void put_out(const void *bytes, size_t count)
{
    volatile struct machine_id *id = machine_id();

    arch_io_write64(&id->output_at, virt_to_phys(bytes));
    arch_io_write32(&id->output_bytes, (uint32_t)count);
}

static void record_use(const struct space *s, const struct page_run *run, uint64_t page,
                       unsigned flags)
{
    recorder->records[recorder->count++] = (struct page_trace_record){
        .page = page,
        .time = run->time,
        .space = s->pid % PAGE_TRACE_SPACES_MAX,
        .cpu = run->cpu,
        .flags = (uint16_t)flags,
    };
    if (recorder->count < BUFFER_RECORDS)
        return;
    put_out(recorder->records, sizeof(recorder->records));
    recorder->count = 0;
}

static void record_run(struct space *s, const struct page_run *run)
{
    struct path_account account;

    path_account(&account);
    if (account.lost != recorder->lost)
        record_use(s, run, account.lost - recorder->lost, PAGE_TRACE_LOST);
    recorder->lost = account.lost;
    for (unsigned part = 0; part < 2; part++)
        for (size_t i = 0; i < run->count[part]; i++)
            record_use(s, run, run->entry[part][i] & PAGE_ENTRY_PAGE,
                       run->entry[part][i] & PAGE_ENTRY_WRITE ? PAGE_TRACE_WRITE : 0);
}

void track_record_start(void)
{

    if (!machine_id() || !(recorder = kmalloc(sizeof(*recorder)))) {
        kprintf("tracker: event=not-recorded: %s\n",
                machine_id() ? "out of memory" : "only a simulated machine has a file for it");
        return;
    }
    struct page_trace_header *header = (struct page_trace_header *)recorder->records;
    *header = (struct page_trace_header){
        .magic = PAGE_TRACE_MAGIC,
        .version = PAGE_TRACE_VERSION,
        .header_bytes = sizeof(*header),
        .record_bytes = sizeof(struct page_trace_record),
        .page_shift = PAGE_SHIFT,
        .cpus = cpu_count(),
        .time_hz = arch_ticks_hz(),
    };
    put_out(header, sizeof(*header));
    track_attach(record_run);
}

void track_record_end(void)
{
    if (!recorder)
        return;
    put_out(recorder->records, recorder->count * sizeof(recorder->records[0]));
    recorder->count = 0;
}
