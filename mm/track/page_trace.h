/*
 * Vigil's page trace: what a kernel's page trackers saw, as a file (docs/use/page-traces.md). A
 * header, then records until the end. Little-endian throughout. Shared by the recorder in the
 * kernel and tools/vigil-replay on the host.
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

/* flags of a record. None of fault and prefetch: the tracker's log has it. */
enum {
    PAGE_TRACE_WRITE = 1,    /* stored to, where the tracker knows */
    PAGE_TRACE_FAULT = 2,    /* a thread waited for it to be read: a use as well */
    PAGE_TRACE_PREFETCH = 4, /* read ahead of its use, which a later record may be */
    PAGE_TRACE_UNMAP = 8,    /* the page is no more; its number may come back as another's */
    PAGE_TRACE_LOST = 16,    /* `page` counts accesses that were not recorded before this */
    PAGE_TRACE_FLAGS = 31,
};

struct page_trace_header {
    uint64_t magic;
    uint16_t version;      /* PAGE_TRACE_VERSION; readers refuse others */
    uint16_t header_bytes; /* sizeof this; records begin there */
    uint16_t record_bytes; /* sizeof(struct page_trace_record) */
    uint16_t page_shift;   /* 12: pages of 4 KB */
    uint32_t cpus;         /* every record's cpu is below */
    uint32_t reserved;     /* 0 */
    uint64_t time_hz;      /* ticks of `time` in a second; 0: not known */
};

struct page_trace_record {
    uint64_t page; /* virtual address >> page_shift */
    /* when it was logged, or drained where that is all one knows; from 0, does not decrease on one
     * CPU */
    uint64_t time;
    /* whose it is: the process's number, or another one below PAGE_TRACE_SPACES_MAX */
    uint32_t space;
    uint16_t cpu;
    uint16_t flags;
};

_Static_assert(sizeof(struct page_trace_header) == 32, "the file's header");
_Static_assert(sizeof(struct page_trace_record) == 24, "the file's record");
