/*
 * The registers of the simulated multiprocessor (test/machine), as a guest sees them and as the
 * machine itself lays them out. They are the memory of an ivshmem-plain PCI device: BAR 2,
 * MACHINE_BYTES long. A plain QEMU has no such device, or one whose first page lacks
 * MACHINE_MAGIC.
 *
 *   page 0                          struct machine_id: who and what this is, costs, topology, the
 *   mark
 * register MACHINE_CPU_OFFSET  + n * 4096  struct machine_cpu: performance monitor of CPU n
 *   MACHINE_PATH_OFFSET + n * 4096  page-access tracker of CPU n: struct machine_path, absent
 *   unless MACHINE_CAP_PATH
 *   MACHINE_DISK_OFFSET             disk in model time: struct machine_disk, absent unless
 *   MACHINE_CAP_DISK
 *
 * CPU n is the n-th in the order of APIC ids (affinity on AArch64), boot CPU first. A CPU uses its
 * own page only: a store to another CPU's page has no effect on the machine.
 *
 * The register pages are uncached: every load and store costs machine_id.register_cycles, whatever
 * its size, except where a field says "free". A store to a command register acts at once: the
 * answer is in the page at the next load. Fields are little-endian, naturally aligned, and are to
 * be accessed with one access of their own size. "guest writes" means the machine only reads the
 * field, and the other way round.
 */
#pragma once
#include "kernel/lib/base.h"

#define MACHINE_PCI_VENDOR 0x1af4
#define MACHINE_PCI_DEVICE 0x1110
#define MACHINE_PCI_BAR    2

#define MACHINE_MAGIC   0x3168634d6c676956ull /* "ViglMch1" in memory */
#define MACHINE_VERSION 6

#define MACHINE_CPUS        64
#define MACHINE_CPU_OFFSET  0x10000
#define MACHINE_PATH_OFFSET 0x50000
#define MACHINE_DISK_OFFSET 0x90000
#define MACHINE_BYTES       0x100000

/* ---- What can be counted
 * ---------------------------------------------------------------------------------
 */

/* Where a data access was served from. A load or a read-for-ownership counts once. */
enum machine_source {
    MACHINE_L1, /* not a miss */
    MACHINE_LOCAL_L2,
    MACHINE_LOCAL_L3,
    /* a cache of another chip; also an upgrade that had to invalidate copies there */
    MACHINE_REMOTE_L2,
    MACHINE_REMOTE_L3,
    MACHINE_LOCAL_MEMORY,
    MACHINE_REMOTE_MEMORY,
    MACHINE_SOURCES
};

/*
 * Event codes. CYCLES = COMPLETION + the five STALL_* causes, always; DCACHE = the sum of its
 * sources; none of them runs while the CPU is halted, IDLE only then.
 */
enum machine_event {
    MACHINE_EVENT_NONE,
    MACHINE_EVENT_CYCLES,
    MACHINE_EVENT_INSTRUCTIONS,
    MACHINE_EVENT_LOADS, /* data loads; an atomic read-modify-write is a store only */
    MACHINE_EVENT_STORES,
    /* loads, stores, atomics that L1D could not serve: the sum of SERVED_* */
    MACHINE_EVENT_L1D_MISSES,
    MACHINE_EVENT_L1I_MISSES,
    MACHINE_EVENT_MISPREDICTS,
    MACHINE_EVENT_TLB_MISSES,      /* data and instructions */
    MACHINE_EVENT_SERVED_LOCAL_L2, /* the six SERVED_*: in the order of enum machine_source */
    MACHINE_EVENT_SERVED_LOCAL_L3,
    MACHINE_EVENT_SERVED_REMOTE_L2,
    MACHINE_EVENT_SERVED_REMOTE_L3,
    MACHINE_EVENT_SERVED_LOCAL_MEMORY,
    MACHINE_EVENT_SERVED_REMOTE_MEMORY,
    MACHINE_EVENT_COMPLETION,   /* cycles in which instructions completed */
    MACHINE_EVENT_STALL_ICACHE, /* cycles, by cause */
    MACHINE_EVENT_STALL_BRANCH,
    MACHINE_EVENT_STALL_DCACHE,
    MACHINE_EVENT_STALL_TLB,
    /* store buffer, exceptions, register and device accesses, pauses */
    MACHINE_EVENT_STALL_OTHER,
    /* the six DCACHE_*: parts of STALL_DCACHE, in the order of enum machine_source */
    MACHINE_EVENT_DCACHE_LOCAL_L2,
    MACHINE_EVENT_DCACHE_LOCAL_L3,
    MACHINE_EVENT_DCACHE_REMOTE_L2,
    MACHINE_EVENT_DCACHE_REMOTE_L3,
    MACHINE_EVENT_DCACHE_LOCAL_MEMORY,
    MACHINE_EVENT_DCACHE_REMOTE_MEMORY,
    MACHINE_EVENT_IDLE,       /* cycles halted; no privilege filter */
    MACHINE_EVENT_EXCEPTIONS, /* taken: interrupts, faults, system calls */
    MACHINE_EVENTS
};

/* ---- Page 0
 * ----------------------------------------------------------------------------------------------
 */

#define MACHINE_CAP_PMU  (1u << 0)
#define MACHINE_CAP_PATH (1u << 1)
#define MACHINE_CAP_DISK (1u << 2)

struct machine_place {
    uint8_t chip, core, thread; /* from 0; cores within the chip, threads within the core */
    uint8_t reserved;
};

struct machine_id {
    /* The machine writes everything here before the first instruction, except the last block. */
    uint64_t magic;   /* MACHINE_MAGIC */
    uint32_t version; /* MACHINE_VERSION */
    uint32_t caps;    /* MACHINE_CAP_* */
    char name[32];    /* of the topology, NUL-terminated: "openpower720" */
    /* model cycles in a second of guest time: 10^9, so 1 cycle = 1 ns = 1 TSC tick */
    uint64_t cycles_hz;
    /* of the processor that the latencies were published for; for information */
    uint32_t clock_mhz;
    uint32_t cpus; /* entries of place[], CPU pages in use */
    uint32_t chips, cores_per_chip, threads_per_core;
    uint32_t line_bytes; /* coherence line */
    /* memory at address a belongs to chip (a / home_block_bytes) mod chips */
    uint64_t home_block_bytes;
    uint32_t l1d_bytes, l1d_ways;   /* per core */
    uint32_t l1i_bytes, l1i_ways;   /* per core */
    uint32_t l2_bytes, l2_ways;     /* per chip */
    uint32_t l3_bytes, l3_ways;     /* per chip, victims of the L2; 0 0: there is none */
    uint32_t tlb_entries, tlb_ways; /* per thread, 4 KB pages, data and instructions */
    uint32_t latency[8];            /* cycles, by enum machine_source */

    /* Fixed costs in cycles. */
    uint32_t walk_cycles; /* a TLB miss */
    uint32_t mispredict_cycles;
    uint32_t exception_entry_cycles;
    uint32_t exception_return_cycles;
    uint32_t register_cycles; /* one access to a register page or to another device */
    uint32_t ipi_cycles;      /* to send one; it arrives as long after that */
    uint32_t tlb_invalidate_cycles;
    uint32_t context_sync_cycles;
    uint32_t record_cycles;      /* one precise record, beside the store of its line */
    uint32_t completion_cpi_256; /* completion cycles per instruction, in 1/256 */
    /* completion time while another thread of the core runs, in 1/256 */
    uint32_t smt_factor_256;
    uint32_t pause_cycles; /* one PAUSE, YIELD, WFE */

    /* Which of the six counters can count an event: bit c of counter_mask[event]. */
    uint8_t counter_mask[64];
    uint32_t sample_sources; /* 1 << enum machine_source that can be sampled */
    uint32_t ring_records_max;

    struct machine_place place[MACHINE_CPUS];

    /*
     * Ground truth, an instrument and not hardware: free, and nothing in the guest may depend on
     * it. A store to mark writes all true counts to the truth file under mark_label. Any CPU; the
     * guest serialises.
     */
    char mark_label[48]; /* guest writes: NUL-terminated, no blanks */
    uint32_t mark;       /* guest writes any value, after the label */
    /* Likewise: so many bytes at this physical address are appended to a file of the host's (plugin
     * argument output). */
    uint32_t output_bytes; /* guest writes, acts at once */
    uint64_t output_at;    /* guest writes */
};

/* ---- A CPU's performance monitor
 * --------------------------------------------------------------------------
 */

/*
 * Counters 0 to 3 count what they are told, within machine_id.counter_mask; 4 counts instructions
 * and 5 cycles, and nothing else. All are 64 bits wide and count up.
 */
#define MACHINE_COUNTERS             6
#define MACHINE_COUNTER_INSTRUCTIONS 4
#define MACHINE_COUNTER_CYCLES       5

#define MACHINE_COUNT_USER \
    (1u << 0) /* while the program counter is in the lower half of the address space \
                                      */
#define MACHINE_COUNT_KERNEL (1u << 1) /* ... in the upper half */
#define MACHINE_COUNT_IRQ    (1u << 2) /* overflow raises the interrupt */
#define MACHINE_COUNT_SAMPLE (1u << 3) /* overflow writes a record; SERVED_* and L1D_MISSES only */

struct machine_counter {
    uint32_t event; /* guest writes, taken by CONFIGURE: enum machine_event, NONE = off */
    uint32_t flags; /* guest writes, taken by CONFIGURE: MACHINE_COUNT_* */
    /* guest writes, taken by CONFIGURE: an overflow after every so many events; 0: none */
    uint64_t period;
    /* events until the next overflow: written by READ, taken by WRITE; 0 there: a whole period */
    uint64_t left;
    uint64_t value; /* written by READ, taken by WRITE */
};

/* Store one of these to machine_cpu.command. */
enum machine_command {
    MACHINE_CMD_NONE,
    /* Takes event, flags and period of all counters; values stay, overflows restart with whole
     * periods and those pending are forgotten. -22 and bad_counter: an event the counter cannot
     * count, an unknown flag.
     */
    MACHINE_CMD_CONFIGURE,
    MACHINE_CMD_START, /* the counters count */
    MACHINE_CMD_STOP,  /* the counters hold */
    MACHINE_CMD_READ,  /* value and left of all counters, time and data_address into the page */
    MACHINE_CMD_WRITE, /* value and left of all counters from the page */
    /* Forgets the overflows of which the bit is set in ack, and lets the next interrupt through. */
    MACHINE_CMD_ACK,
    /* Takes the sample_* and ring_* fields that the guest writes; head, tail and lost restart at 0.
     * -22: a source that cannot be sampled, a ring that is not a power of two or not aligned. */
    MACHINE_CMD_SAMPLE,
    /* Counter c = command >> 8, which has an event, overflows and interrupts once when its value
     * reaches due; at once if it has. Until then, or the next CONFIGURE or turn, its period and
     * flag do not matter. -22: no such counter, or it has no event. */
    MACHINE_CMD_ARM,
    MACHINE_COMMANDS
};
#define MACHINE_COMMAND_ARM(c) (MACHINE_CMD_ARM | (c) << 8)

/*
 * Counters 0 to 3 read and told what to count at one moment, so that nothing is counted for the
 * wrong event, by one store to machine_cpu.turn: a byte each, as in POWER5's MMCR1, of event and
 * mode. With MACHINE_TURN_SELECT they count these from then on, without period and flags; counters
 * 4 and 5 begin a whole period; overflows that are pending are forgotten, and the next interrupt is
 * let through, as by ACK; but MACHINE_STATUS_RING stays. Without it nothing changes.
 * machine_cpu.result as of a command; refused, nothing has changed and pair is as before.
 */
#define MACHINE_TURN_EVENT(c, event, modes) \
    ((uint64_t)((event) | (modes) << 6) << 8 * (c)) /* MACHINE_COUNT_USER, KERNEL */
#define MACHINE_TURN_SELECT (1ull << 32)

#define MACHINE_STATUS_RING (1u << 31) /* in overflow: ring_irq_at records are waiting */

/* One sampled access, MACHINE_RECORD_BYTES in the ring. */
#define MACHINE_RECORD_USER     (1u << 0)
#define MACHINE_RECORD_STORE    (1u << 1)
#define MACHINE_RECORD_ATOMIC   (1u << 2)
#define MACHINE_RECORD_MODIFIED (1u << 3) /* the cache that served it had it newer than memory */

struct machine_record {
    uint64_t time;      /* model cycles, as the CPU's own clock */
    uint64_t pc;        /* of the instruction that made the access */
    uint64_t data;      /* virtual address */
    uint64_t data_phys; /* physical address */
    uint32_t latency;   /* cycles */
    uint8_t source;     /* enum machine_source */
    uint8_t flags;      /* MACHINE_RECORD_* */
    uint16_t cpu;
    uint64_t reserved[3];
};
#define MACHINE_RECORD_BYTES 64

struct machine_cpu {
    uint32_t command;     /* guest writes: enum machine_command, acts at once */
    int32_t result;       /* machine writes: of the last command, 0 or a negative errno */
    uint32_t bad_counter; /* machine writes: which counter CONFIGURE refused */
    uint32_t running;     /* machine writes: START was given */

    /* machine writes at READ: this CPU's clock, model cycles since power-on, idle included */
    uint64_t time;
    /* machine writes at READ and at an overflow: virtual address of the last L1D miss */
    uint64_t data_address;

    /* Interrupt: when a bit of overflow becomes set whose counter has MACHINE_COUNT_IRQ, or the
     * ring's bit, the machine writes irq_data to irq_address (an MSI), once until ACK. irq_address
     * 0: never. */
    uint64_t irq_address; /* guest writes */
    uint32_t irq_data;    /* guest writes */
    uint32_t overflow;    /* machine writes: bit per counter, and MACHINE_STATUS_RING */
    uint32_t ack;         /* guest writes, taken by ACK */
    uint32_t reserved0;

    /* Precise records: every so-many-th access served by one of the sources goes to the ring,
     * without an interrupt. */
    uint32_t sample_sources; /* guest writes: mask of 1 << enum machine_source; 0: off */
    uint32_t sample_flags;   /* guest writes: MACHINE_COUNT_USER, MACHINE_COUNT_KERNEL */
    uint32_t sample_period;  /* guest writes: N, at least 1 */
    /* guest writes: each distance is N + r - (jitter + 1) / 2 with r random in 0..jitter; jitter is
     * a power of two minus 1, less than N; 0: exactly N */
    uint32_t sample_jitter;
    /* guest writes: physical address, aligned to MACHINE_RECORD_BYTES, in RAM */
    uint64_t ring_base;
    /* guest writes: a power of two, at most machine_id.ring_records_max; 0: no ring */
    uint32_t ring_records;
    uint32_t ring_irq_at; /* guest writes: interrupt when so many records wait; 0: never */
    /* machine writes: records ever written; record i is at i mod ring_records */
    uint64_t ring_head;
    uint64_t ring_tail; /* guest writes: records ever taken out */
    uint64_t ring_lost; /* machine writes: records dropped because the ring was full */

    struct machine_counter counter[MACHINE_COUNTERS];

    /* Ground truth, an instrument and not hardware: free. The kernel stores the id of the thread
     * that runs from now on, 0 for idle; true counts are kept for each. */
    uint32_t tag; /* guest writes */
    uint32_t reserved1;

    uint64_t due; /* guest writes, taken by ARM */

    uint64_t turn; /* guest writes: MACHINE_TURN_*, acts at once */
    /* machine writes at a turn: the low 32 bits of two counters' values each, the even one's in the
     * low half */
    uint64_t pair[MACHINE_COUNTERS / 2];
};

/* ---- A CPU's page-access tracker
 * ---------------------------------------------------------------------------
 */

/*
 * Behind the TLB: every TLB miss of the CPU in the lower half of the address space, of data and of
 * instructions, by whatever mode, asks the page access buffer (PAB) for the page. What is not in
 * there is entered, and passes through a small filter, fully associative, which takes away short
 * conflicts within the PAB's sets; what was not in the filter either is appended to the page access
 * log (PAL). Both forget their least recent entry, the PAB that of the page's set. A page that is
 * used all the time is so logged once, and others in the order of their use. The unit works beside
 * the walk and delays nothing.
 *
 * Entries carry the number of the address space that the guest says is running. Full: what would
 * be logged is dropped and counted, and neither the PAB nor the filter take it, so that the page is
 * logged at a later miss.
 *
 * State at the largest size in use, 2,048 entries: 2,048 x (28 bits of page, 12 of space, 4 of
 * recency, used, valid), 64 x 54 bits, 128 x 48 bits: 13 KB.
 */
#define MACHINE_PATH_WAYS        16
#define MACHINE_PATH_PAB_MIN     128 /* entries: a power of two */
#define MACHINE_PATH_PAB_MAX     32768
#define MACHINE_PATH_FILTER_MAX  64
#define MACHINE_PATH_LOG_MAX     128
#define MACHINE_PATH_SPACES      4096 /* numbers of address spaces; 0: nothing is tracked */
#define MACHINE_PATH_LINE_CYCLES 50   /* DRAIN, for each line it writes, beside the store of it */

/* An entry of the log: the page's number, was it a store, and whose it is. The highest bit is
 * never set. */
#define MACHINE_PATH_PAGE        (((uint64_t)1 << 36) - 1)
#define MACHINE_PATH_WRITE       ((uint64_t)1 << 36)
#define MACHINE_PATH_SPACE_SHIFT 48

#define MACHINE_PATH_SAMPLE_SHIFT_MAX 16
/* Is the page, by its number, one that is logged at that shift? A multiplicative hash (Knuth 3,
 * 6.4). */
#define MACHINE_PATH_SAMPLED(page, shift) \
    (((uint64_t)(uint32_t)(page)*2654435769u & 0xffffffff) << (shift) >> 32 == 0)

/* Store one of these to machine_path.command. */
enum machine_path_command {
    MACHINE_PATH_CMD_NONE,
    /* Takes the sizes, the threshold and the ring; forgets all pages and what is in the log.
     * pab_entries 0: the unit is off from then on. -22: a size that cannot be, a threshold above
     * the log's, a ring that is too small or not aligned. */
    MACHINE_PATH_CMD_CONFIGURE,
    /* Appends what is in the log to the ring in memory, which must have room for it, and empties
     * it; lets the next interrupt through. result: how many entries. */
    MACHINE_PATH_CMD_DRAIN,
    /* The following three concern the unit of every CPU, as a broadcast TLB invalidation does, and
     * cost machine_id.tlb_invalidate_cycles beside the registers. */
    /* Is the page `operand` known? result: MACHINE_PATH_IS_* of all units together; and it is
     * unused again. */
    MACHINE_PATH_CMD_PROBE,
    MACHINE_PATH_CMD_FORGET_PAGE,  /* `operand` is in no PAB and filter any more */
    MACHINE_PATH_CMD_FORGET_SPACE, /* nor any page of the space in `operand` */
    MACHINE_PATH_COMMANDS
};

#define MACHINE_PATH_IS_KEPT 1 /* in a PAB */
/* found there after it was entered and probed; or in the TLB of a CPU that runs the space */
#define MACHINE_PATH_IS_USED 2

struct machine_path {
    uint32_t command; /* guest writes: enum machine_path_command, acts at once */
    int32_t result;   /* machine writes: of the last command, or a negative errno */
    uint32_t space;   /* guest writes, acts at once: the address space that runs from now on */
    /* Guest writes, acts at once: one page of 2^sample_shift is logged, 0..16; of the others
     * nothing comes out of the filter. A page that is logged at a shift is at every smaller one:
     * those with MACHINE_PATH_SAMPLED(). */
    uint32_t sample_shift;
    /* guest writes, taken by commands: space << MACHINE_PATH_SPACE_SHIFT | page */
    uint64_t operand;

    uint32_t pab_entries, filter_entries, log_entries; /* guest writes, taken by CONFIGURE */
    /* guest writes, taken by CONFIGURE: interrupt when so many are in the log; 0: never */
    uint32_t threshold;
    /* Guest writes, taken by CONFIGURE: physical address of struct machine_path_ring, aligned to
     * 128, and how many entries it has: a power of two, at least log_entries. */
    uint64_t ring_base;
    uint32_t ring_entries;

    /* When the log reaches the threshold the machine writes irq_data to irq_address (an MSI), once
     * until it is drained. irq_address 0: never. */
    uint32_t irq_data;    /* guest writes */
    uint64_t irq_address; /* guest writes */

    uint32_t waiting; /* machine writes: entries in the log */
    /* Guest writes, taken by CONFIGURE: at the threshold the log is appended to the ring, as by
     * DRAIN, by the unit itself if there is room, and it interrupts only after so many entries
     * since the last DRAIN, or where there is no room. 0: it interrupts at the threshold. */
    uint32_t spill;
    /* Machine writes, at any command; since power-on. */
    uint64_t walks;       /* TLB misses that asked the PAB */
    uint64_t pab_hits;    /* ... and were found there */
    uint64_t filter_hits; /* ... or in the filter */
    uint64_t lost;        /* ... or dropped */
};

/* What DRAIN appends to, in the guest's memory. The guest may append entries of its own meanwhile:
 * the machine takes head from there. */
struct machine_path_ring {
    uint64_t head; /* entries ever appended; the next is at head mod ring_entries */
    uint64_t lost; /* machine writes: machine_path.lost */
    uint64_t tail; /* guest writes: entries it is done with; looked at where the unit spills */
    uint64_t reserved[13];
    uint64_t entry[];
};

/* ---- The disk
 * ----------------------------------------------------------------------------------------------
 */

/*
 * A disk whose time is model time. A request stored at time t is done at
 *
 *     max(t + latency_cycles, when the request before it is done) + count * page_cycles
 *
 * so any number of accesses overlap, and transfers follow each other on one channel; with
 * page_cycles 0 the channel takes no time. At that moment, not before, the pages are copied, the
 * completion is appended to the ring, and the message is sent. Requests take effect in the order in
 * which they are done. Transfers are coherent: what is written to memory is in no cache
 * afterwards.
 *
 * One for the machine, used by any CPU: the guest lets one at a time store to submit and load
 * result.
 */
#define MACHINE_DISK_SLOTS     64 /* requests in flight at most */
#define MACHINE_DISK_PAGES_MAX 32 /* of one request */
#define MACHINE_DISK_ALIGN     64 /* of a request and of the ring, in bytes */

struct machine_disk {
    /* machine writes before the first instruction, as the next four: 4 KB each */
    uint64_t pages;
    uint64_t latency_cycles; /* of an access */
    uint64_t page_cycles;    /* of the channel, a page; 0: no limit */
    uint32_t read_only;      /* writes are refused */
    uint32_t reserved0;

    /* Guest writes, taken by a store to reset: physical address of struct machine_disk_ring, in
     * memory, and how many completions it holds: a power of two, at least MACHINE_DISK_SLOTS; or 0:
     * the disk takes no requests. */
    uint64_t ring_base;
    uint32_t ring_entries;

    /* Guest writes any value: all requests in flight are forgotten, and their frames not touched
     * any more; the ring begins anew, with head 0. result -22: this ring cannot be, and there is
     * none. */
    uint32_t reset;
    /* Guest writes the physical address of struct machine_disk_request, in memory: it begins, and
     * the machine has no more use for the struct. result 0; -11: as many as there are slots are in
     * flight; -22: it asks for what cannot be, or a frame is no memory. */
    uint64_t submit;
    int32_t result;     /* machine writes, at a store to reset or submit */
    uint32_t in_flight; /* machine writes, at a store to reset or submit: how many are */
};

#define MACHINE_DISK_WRITE (1u << 0) /* to the disk */

/* In the guest's memory, aligned to MACHINE_DISK_ALIGN. */
struct machine_disk_request {
    uint64_t page;  /* the first, on the disk */
    uint32_t count; /* 1 to MACHINE_DISK_PAGES_MAX */
    uint32_t flags; /* MACHINE_DISK_WRITE or 0 */
    uint64_t token; /* comes back in the completion */
    /* where the machine writes irq_data when it is done (an MSI); 0: nowhere */
    uint64_t irq_address;
    uint32_t irq_data;
    uint32_t reserved0;
    uint64_t reserved1[3];
    /* physical address of each page, a multiple of 4096; the first `count` are read */
    uint64_t frame[MACHINE_DISK_PAGES_MAX];
};

/* In the guest's memory, written by the machine alone, aligned to MACHINE_DISK_ALIGN. */
struct machine_disk_done {
    uint64_t token, time; /* of the request; when it was done, in model cycles */
    uint64_t reserved[2];
};
struct machine_disk_ring {
    uint64_t head; /* requests ever done since reset; the n-th, from 0, is at n mod ring_entries */
    uint64_t reserved[7];
    struct machine_disk_done done[];
};

_Static_assert(sizeof(struct machine_disk) <= 4096, "the disk");
_Static_assert(sizeof(struct machine_disk_request) == 64 + 8 * MACHINE_DISK_PAGES_MAX, "a request");
_Static_assert(sizeof(struct machine_disk_done) == 32 && sizeof(struct machine_disk_ring) == 64,
               "no padding");
_Static_assert(sizeof(struct machine_id) <= 4096, "page 0");
_Static_assert(sizeof(struct machine_path) <= 4096, "a CPU's tracker");
_Static_assert(sizeof(struct machine_path_ring) == 128, "a line");
_Static_assert(MACHINE_PATH_OFFSET + MACHINE_CPUS * 4096 <= MACHINE_DISK_OFFSET, "pages");
_Static_assert(sizeof(struct machine_cpu) <= 4096, "a CPU's page");
_Static_assert(sizeof(struct machine_record) == MACHINE_RECORD_BYTES, "a record");
_Static_assert(sizeof(struct machine_counter) == 32, "no padding");
_Static_assert(offsetof(struct machine_cpu, counter) % 8 == 0, "aligned");
_Static_assert(MACHINE_EVENTS <= 64, "counter_mask, MACHINE_TURN_EVENT");
_Static_assert(MACHINE_CPU_OFFSET + MACHINE_CPUS * 4096 <= MACHINE_PATH_OFFSET, "pages");
