/*
 * Vigil's page trace: what a kernel's page trackers saw, as a file (docs/use/page-traces.md). A
 * header is followed by records. All is little-endian. Shared by the recorder in the kernel and
 * tools/vigil-replay on the host.
 */
#pragma once
#include "kernel/lib/base.h"

#define PAGE_TRACE_MAGIC UINT64_C(0x6563617274677076) /* the bytes "vpgtrace" */

enum {
    PAGE_TRACE_VERSION = 1,
    PAGE_TRACE_SPACES_MAX = 1 << 20,
    PAGE_TRACE_PAGE_SHIFT_MIN = 12,
    PAGE_TRACE_PAGE_SHIFT_MAX = 30,
};

/* Flags of a record. Neither FAULT nor PREFETCH: it is from the tracker's log. */
enum {
    PAGE_TRACE_WRITE = 1,    /* a store, where the tracker knows */
    PAGE_TRACE_FAULT = 2,    /* a thread waited for a read of the page: also a use */
    PAGE_TRACE_PREFETCH = 4, /* read before its use, for which there may be a later record */
    PAGE_TRACE_UNMAP = 8,    /* the page has ended; its number may come back as another page's */
    PAGE_TRACE_LOST = 16,    /* `page` is the number of accesses lost before this record */
    PAGE_TRACE_FLAGS = 31,
};

struct page_trace_header {
    uint64_t magic;
    uint16_t version;      /* PAGE_TRACE_VERSION; readers refuse others */
    uint16_t header_bytes; /* sizeof this struct, where records begin */
    uint16_t record_bytes; /* sizeof(struct page_trace_record) */
    uint16_t page_shift;   /* 12: pages of 4 KB */
    uint32_t cpus;         /* a record's cpu is less */
    uint32_t reserved;     /* 0 */
    uint64_t time_hz;      /* ticks of `time` in a second; 0: not known */
};

struct page_trace_record {
    uint64_t page; /* virtual address >> page_shift */
    /* When the access was logged, or the log drained if no more is known. Begins at 0, does not
     * decrease on one CPU. */
    uint64_t time;
    /* the process's number, or another number below PAGE_TRACE_SPACES_MAX */
    uint32_t space;
    uint16_t cpu;
    uint16_t flags;
};

_Static_assert(sizeof(struct page_trace_header) == 32, "the file's header");
_Static_assert(sizeof(struct page_trace_record) == 24, "the file's record");
