/*
 * The registers of the simulated multiprocessor (test/machine), for guests and for the machine
 * itself. They are the memory of an ivshmem-plain PCI device: BAR 2, MACHINE_BYTES long. A plain
 * QEMU has no such device, or one without MACHINE_MAGIC in its first page. The pages:
 * - 0: struct machine_id: identity, costs, topology, the mark register
 * - MACHINE_CPU_OFFSET + n * 4096: struct machine_cpu: performance monitor of CPU n
 * - MACHINE_PATH_OFFSET + n * 4096: struct machine_path: page-access tracker of CPU n, with
 *   MACHINE_CAP_PATH
 * - MACHINE_DISK_OFFSET: struct machine_disk: a disk in model time, with MACHINE_CAP_DISK
 * - MACHINE_WIRE_OFFSET + n * 4096: struct machine_wire: port n of a network wire in model time,
 *   with MACHINE_CAP_WIRE
 * - MACHINE_USER_OFFSET + n * 4096: struct machine_user: the counters of CPU n, for user mode
 *
 * CPU n is the nth in the order of APIC ids (of affinity on AArch64), boot CPU first. A CPU uses
 * its own page only: a store to another CPU's page has no effect on the machine.
 *
 * The register pages are uncached: each load and store costs machine_id.register_cycles, whatever
 * its size, unless a field's comment says "free". A store to a command register acts at once: the
 * next load from the page reads the answer. Fields are little-endian and naturally aligned; access
 * each with one access of its own size. "guest writes" means that the machine only reads the field,
 * and vice versa.
 */
#pragma once
#include "kernel/lib/base.h"

#define MACHINE_PCI_VENDOR 0x1af4
#define MACHINE_PCI_DEVICE 0x1110
#define MACHINE_PCI_BAR    2

#define MACHINE_MAGIC   0x3168634d6c676956ull /* "ViglMch1" in memory */
#define MACHINE_VERSION 7

#define MACHINE_CPUS        64
#define MACHINE_CPU_OFFSET  0x10000
#define MACHINE_PATH_OFFSET 0x50000
#define MACHINE_DISK_OFFSET 0x90000
#define MACHINE_WIRE_OFFSET 0x91000
#define MACHINE_USER_OFFSET 0xc0000
#define MACHINE_BYTES       0x100000

/* ---- Events ---------------------------------------------------------------------------------- */

/* The level that served a data access. A load or a read-for-ownership counts once. */
enum machine_source {
    MACHINE_L1, /* not a miss */
    MACHINE_LOCAL_L2,
    MACHINE_LOCAL_L3,
    /* A cache of another chip; also an upgrade that had to invalidate copies there. */
    MACHINE_REMOTE_L2,
    MACHINE_REMOTE_L3,
    MACHINE_LOCAL_MEMORY,
    MACHINE_REMOTE_MEMORY,
    MACHINE_SOURCES
};

/*
 * Event codes. Always: CYCLES = COMPLETION + the five STALL_* causes; DCACHE = the sum of its
 * sources. None of these counts while the CPU is halted; IDLE counts only then.
 */
enum machine_event {
    MACHINE_EVENT_NONE,
    MACHINE_EVENT_CYCLES,
    MACHINE_EVENT_INSTRUCTIONS,
    MACHINE_EVENT_LOADS, /* data loads; an atomic read-modify-write is a store only */
    MACHINE_EVENT_STORES,
    /* Loads, stores and atomics that L1D could not serve: the sum of SERVED_*. */
    MACHINE_EVENT_L1D_MISSES,
    MACHINE_EVENT_L1I_MISSES,
    MACHINE_EVENT_MISPREDICTS,
    MACHINE_EVENT_TLB_MISSES,      /* data and instructions */
    MACHINE_EVENT_SERVED_LOCAL_L2, /* the six SERVED_* are in the order of enum machine_source */
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
    /* Store buffer, exceptions, register and device accesses, pauses. */
    MACHINE_EVENT_STALL_OTHER,
    /* The six DCACHE_* are parts of STALL_DCACHE, in the order of enum machine_source. */
    MACHINE_EVENT_DCACHE_LOCAL_L2,
    MACHINE_EVENT_DCACHE_LOCAL_L3,
    MACHINE_EVENT_DCACHE_REMOTE_L2,
    MACHINE_EVENT_DCACHE_REMOTE_L3,
    MACHINE_EVENT_DCACHE_LOCAL_MEMORY,
    MACHINE_EVENT_DCACHE_REMOTE_MEMORY,
    MACHINE_EVENT_IDLE,       /* cycles halted; no privilege filter */
    MACHINE_EVENT_EXCEPTIONS, /* taken: interrupts, faults, system calls */
    MACHINE_EVENT_BRANCHES, /* executed: jumps, calls and returns, conditional ones taken or not */
    /* L1D_MISSES of loads alone; atomics are stores. */
    MACHINE_EVENT_L1D_LOAD_MISSES,
    /* The three parts of TLB_MISSES: walks for loads, for stores and atomics, for instructions. */
    MACHINE_EVENT_DTLB_LOAD_MISSES,
    MACHINE_EVENT_DTLB_STORE_MISSES,
    MACHINE_EVENT_ITLB_MISSES,
    /* Loads that asked the chip's last level, the L3 or, without one, the L2; and those of them
     * that no cache of the chip served. */
    MACHINE_EVENT_LLC_LOADS,
    MACHINE_EVENT_LLC_LOAD_MISSES,
    MACHINE_EVENTS
};

/* ---- Page 0 ---------------------------------------------------------------------------------- */

/*
 * P-states: how long a core's cycle takes. All costs are in cycles of the core and take longer in a
 * slower P-state, but for what is beyond the chip: accesses that other chips' caches or a memory
 * serve take the same time, so fewer cycles. Counters count cycles of the core, the clock does not
 * change; in P-state 0 they are the same.
 */
#define MACHINE_PSTATES 4

#define MACHINE_CAP_PMU  (1u << 0)
#define MACHINE_CAP_PATH (1u << 1)
#define MACHINE_CAP_DISK (1u << 2)
#define MACHINE_CAP_WIRE (1u << 3)

struct machine_place {
    /* from 0: chip in the machine, core in the chip, thread in the core */
    uint8_t chip, core, thread;
    uint8_t reserved;
};

struct machine_id {
    /* The machine writes all of this before the first instruction, except the last block. */
    uint64_t magic;   /* MACHINE_MAGIC */
    uint32_t version; /* MACHINE_VERSION */
    uint32_t caps;    /* MACHINE_CAP_* */
    char name[32];    /* of the topology, NUL-terminated: "openpower720" */
    /* Model cycles in a second of guest time: 10^9, so 1 cycle = 1 ns = 1 TSC tick. */
    uint64_t cycles_hz;
    /* Clock of the processor that the latencies were published for; for information. */
    uint32_t clock_mhz;
    uint32_t cpus; /* entries of place[], CPU pages in use */
    uint32_t chips, cores_per_chip, threads_per_core;
    uint32_t line_bytes; /* coherence line */
    /* Memory at address a belongs to chip (a / home_block_bytes) mod chips. */
    uint64_t home_block_bytes;
    uint32_t l1d_bytes, l1d_ways;   /* per core */
    uint32_t l1i_bytes, l1i_ways;   /* per core */
    uint32_t l2_bytes, l2_ways;     /* per chip */
    uint32_t l3_bytes, l3_ways;     /* per chip, victims of the L2; 0 0: no L3 */
    uint32_t tlb_entries, tlb_ways; /* per thread, 4 KB pages, data and instructions */
    uint32_t latency[8];            /* cycles, by enum machine_source */

    /* Fixed costs in cycles. */
    uint32_t walk_cycles; /* a TLB miss */
    uint32_t mispredict_cycles;
    uint32_t exception_entry_cycles;
    uint32_t exception_return_cycles;
    uint32_t register_cycles; /* one access to a register page or to another device */
    uint32_t ipi_cycles;      /* to send one; it arrives after the same time again */
    uint32_t tlb_invalidate_cycles;
    uint32_t context_sync_cycles;
    uint32_t record_cycles;      /* one precise record, in addition to the store of its line */
    uint32_t completion_cpi_256; /* completion cycles per instruction, in 1/256 */
    /* Completion time while another thread of the core runs, in 1/256. */
    uint32_t smt_factor_256;
    uint32_t pause_cycles; /* one PAUSE, YIELD, WFE */
    /* By P-state: model time that a core's cycle takes, in 1/256 of a cycle of the clock. P-state
     * 0 has 256, the others more. */
    uint32_t pstate_cycle_256[MACHINE_PSTATES];

    /* The counters that can count an event: bit c of counter_mask[event] for counter c. */
    uint8_t counter_mask[64];
    uint32_t sample_sources; /* 1 << enum machine_source that can be sampled */
    uint32_t sample_kinds;   /* MACHINE_KIND_* that can be sampled */
    uint32_t ring_records_max;

    struct machine_place place[MACHINE_CPUS];

    /*
     * Ground truth: an instrument, not hardware. Free, and nothing in the guest may depend on it. A
     * store to mark writes all true counts to the truth file under mark_label. Any CPU; the guest
     * serialises.
     */
    char mark_label[48]; /* guest writes: NUL-terminated, no blanks */
    uint32_t mark;       /* guest writes any value, after the label */
    /* Ground truth as well: appends output_bytes at physical address output_at to a file on the
     * host (plug-in argument output). */
    uint32_t output_bytes; /* guest writes, acts at once */
    uint64_t output_at;    /* guest writes */
};

/* ---- A CPU's performance monitor ------------------------------------------------------------- */

/*
 * Counters 0 to 3 are programmable, within machine_id.counter_mask; counter 4 counts instructions
 * and counter 5 cycles, and nothing else. All are 64 bits wide and count up.
 */
#define MACHINE_COUNTERS             6
#define MACHINE_COUNTER_INSTRUCTIONS 4
#define MACHINE_COUNTER_CYCLES       5

/* Counts while the program counter is in the lower half of the address space ... */
#define MACHINE_COUNT_USER   (1u << 0)
#define MACHINE_COUNT_KERNEL (1u << 1) /* ... in the upper half */
#define MACHINE_COUNT_IRQ    (1u << 2) /* overflow raises the interrupt */
#define MACHINE_COUNT_SAMPLE (1u << 3) /* overflow writes a record; SERVED_* and L1D_MISSES only */

struct machine_counter {
    uint32_t event; /* guest writes, taken by CONFIGURE: enum machine_event, NONE = off */
    uint32_t flags; /* guest writes, taken by CONFIGURE: MACHINE_COUNT_* */
    /* Guest writes, taken by CONFIGURE: the number of events from one overflow to the next; 0:
     * none. */
    uint64_t period;
    /* Events until the next overflow: written by READ, taken by WRITE, where 0 means a whole
     * period. */
    uint64_t left;
    uint64_t value; /* written by READ, taken by WRITE */
};

/* The values of machine_cpu.command. */
enum machine_command {
    MACHINE_CMD_NONE,
    /* Takes event, flags and period of all counters. Values stay; a whole period begins for each
     * counter, and pending overflows are forgotten. -22 and bad_counter: an event that the counter
     * cannot count, or an unknown flag. */
    MACHINE_CMD_CONFIGURE,
    MACHINE_CMD_START, /* starts the counters */
    MACHINE_CMD_STOP,  /* stops the counters, which keep their values */
    /* stores value and left of all counters, time and data_address in the page */
    MACHINE_CMD_READ,
    MACHINE_CMD_WRITE, /* loads value and left of all counters from the page */
    /* Forgets the overflows that have a bit in `ack`, and allows the next interrupt. */
    MACHINE_CMD_ACK,
    /* Takes ring_base, ring_records and ring_irq_at. All samplers are off, and head, tail and all
     * counts of lost records restart at 0. -22: a ring that is not aligned, not in memory, or has a
     * size that is no power of two. */
    MACHINE_CMD_RING,
    /* Takes the fields of sampler n = command >> 8, and begins a new distance for it; the others
     * and the ring go on. kinds 0: off. -22: no such sampler, a kind, source or flag that cannot be
     * sampled, no source for MACHINE_KIND_ACCESS, an impossible period or jitter, or no ring. */
    MACHINE_CMD_SAMPLE,
    /* Makes counter c = command >> 8, which must have an event, overflow and interrupt once when
     * its value reaches `due`; at once if it has. Until then, or until the next CONFIGURE or turn,
     * its period and flag are ignored. -22: no such counter, or it has no event. */
    MACHINE_CMD_ARM,
    MACHINE_COMMANDS
};
#define MACHINE_COMMAND_ARM(c)    (MACHINE_CMD_ARM | (c) << 8)
#define MACHINE_COMMAND_SAMPLE(n) (MACHINE_CMD_SAMPLE | (n) << 8)

/*
 * A turn reads counters 0 to 3 and changes their events at one moment, so that nothing is counted
 * for the wrong event, by one store to machine_cpu.turn: a byte for each counter, as in POWER5's
 * MMCR1, with event and mode. With MACHINE_TURN_SELECT:
 * - the counters count these events from then on, without period and flags
 * - counters 4 and 5 begin a whole period
 * - pending overflows are forgotten, but MACHINE_STATUS_RING stays
 * - the next interrupt is allowed, as by ACK
 *
 * Without it only the values are read. machine_cpu.result is set as by a command; if it is an
 * error, nothing has changed, pair included.
 */
#define MACHINE_TURN_EVENT(c, event, modes) \
    ((uint64_t)((event) | (modes) << 6) << 8 * (c)) /* MACHINE_COUNT_USER, KERNEL */
#define MACHINE_TURN_SELECT (1ull << 32)

#define MACHINE_STATUS_RING (1u << 31) /* in overflow: at least ring_irq_at records are waiting */

/*
 * Precise records. Each of a CPU's samplers watches accesses by itself: one in `period` of those
 * that it watches leaves a record in the CPU's ring, without an interrupt. Samplers that reach
 * their distance at the same access share its record. A record is decided when its access is done,
 * so it has the source of the data and the walk of the translation together.
 */
#define MACHINE_SAMPLERS 4

/* What a sampler watches. Of a mask, each access counts once. */
#define MACHINE_KIND_ACCESS (1u << 0) /* data accesses that one of `sources` served */
/* Data accesses whose translation was not in the TLB, whatever served them. */
#define MACHINE_KIND_WALK (1u << 1)
/* Translations of instructions that were not in the TLB. The record has the instruction's address
 * in pc and in data. */
#define MACHINE_KIND_FETCH (1u << 2)

struct machine_sampler {
    uint32_t kinds;   /* guest writes: MACHINE_KIND_*; 0: off */
    uint32_t sources; /* guest writes: mask of 1 << enum machine_source, for KIND_ACCESS */
    uint32_t flags;   /* guest writes: MACHINE_COUNT_USER, MACHINE_COUNT_KERNEL */
    /* Guest writes: cycles that an access takes at least, latency and walk together, to be
     * watched. */
    uint32_t min_latency;
    uint32_t period; /* guest writes: N, at least 1 */
    /* Guest writes: each distance is N + r + b - (jitter + 1) / 2 with r random in 0..jitter and b
     * in 0..1, so N on average; jitter is a power of two minus 1, less than N; 0: exactly N. */
    uint32_t jitter;
    /* Machine writes, at SAMPLE: watched accesses until the record that SAMPLE cancelled; 0: the
     * sampler was off. */
    uint32_t left;
    uint32_t reserved;
    uint64_t lost; /* machine writes: records dropped because the ring was full */
};

/* One sampled access, MACHINE_RECORD_BYTES in the ring. */
#define MACHINE_RECORD_USER     (1u << 0)
#define MACHINE_RECORD_STORE    (1u << 1)
#define MACHINE_RECORD_ATOMIC   (1u << 2)
#define MACHINE_RECORD_MODIFIED (1u << 3) /* the cache that served it had the line modified */

struct machine_record {
    uint64_t time;      /* model cycles, as the CPU's clock */
    uint64_t pc;        /* of the instruction that made the access */
    uint64_t data;      /* virtual address */
    uint64_t data_phys; /* physical address */
    uint32_t latency;   /* cycles until `source` had served it; the walk came before */
    uint8_t source;     /* enum machine_source */
    uint8_t flags;      /* MACHINE_RECORD_* */
    uint16_t cpu;
    /* Bit n: sampler n took it; 0: a counter with MACHINE_COUNT_SAMPLE did. */
    uint8_t samplers;
    uint8_t fetch;  /* 1: MACHINE_KIND_FETCH; source is MACHINE_L1, latency 0 */
    uint16_t walk;  /* cycles of the page walk; 0: the TLB had the translation */
    uint16_t bytes; /* of the access that are in data's line; 0: a machine that does not tell */
    uint16_t reserved0;
    uint64_t reserved[2];
};
#define MACHINE_RECORD_BYTES 64

struct machine_cpu {
    uint32_t command;     /* guest writes: enum machine_command, acts at once */
    int32_t result;       /* machine writes: 0 or a negative errno, of the last command */
    uint32_t bad_counter; /* machine writes: the counter that CONFIGURE refused */
    uint32_t running;     /* machine writes: the counters are started */

    /* Machine writes, at READ: this CPU's clock, model cycles since power-on, idle time
     * included. */
    uint64_t time;
    /* Machine writes, at READ and at an overflow: virtual address of the last L1D miss. */
    uint64_t data_address;

    /* Interrupt: when overflow gets the bit of a counter with MACHINE_COUNT_IRQ, or the ring's bit,
     * the machine writes irq_data to irq_address (an MSI), once until ACK. irq_address 0: never. */
    uint64_t irq_address; /* guest writes */
    uint32_t irq_data;    /* guest writes */
    uint32_t overflow;    /* machine writes: a bit per counter, and MACHINE_STATUS_RING */
    uint32_t ack;         /* guest writes, taken by ACK */
    uint32_t reserved0;

    /* The ring of precise records. Guest writes, taken by RING: physical address, aligned to
     * MACHINE_RECORD_BYTES, in RAM. */
    uint64_t ring_base;
    /* Guest writes, taken by RING: a power of two, at most machine_id.ring_records_max; 0: no
     * ring. */
    uint32_t ring_records;
    /* Guest writes, taken by RING: interrupt when this number of records waits; 0: never. */
    uint32_t ring_irq_at;
    /* Machine writes: number of records written so far; record i is at i mod ring_records. */
    uint64_t ring_head;
    uint64_t ring_tail; /* guest writes: number of records taken out so far */
    uint64_t ring_lost; /* machine writes: number of records dropped because the ring was full */

    struct machine_counter counter[MACHINE_COUNTERS];

    /* Ground truth: an instrument, not hardware. Free. The kernel stores the id of the thread that
     * runs from now on, 0 for idle; true counts are kept for each. */
    uint32_t tag; /* guest writes */
    uint32_t reserved1;

    uint64_t due; /* guest writes, taken by ARM */

    uint64_t turn; /* guest writes: MACHINE_TURN_*, acts at once */
    /* Machine writes, at a turn: the low 32 bits of the values of two counters each, the even one's
     * in the low half. */
    uint64_t pair[MACHINE_COUNTERS / 2];

    struct machine_sampler sampler[MACHINE_SAMPLERS]; /* taken by SAMPLE, each by its own */

    /* Guest writes, acts at once: user mode may have the values of the counters (struct
     * machine_user); 0: it gets zeros. */
    uint32_t user_open;
    /* Guest writes, acts at once: P-state of the CPU's core, with all its threads, the registers of
     * which the machine writes. A number that is none changes nothing, and is replaced by the
     * present one. */
    uint32_t pstate;
};

/* ---- A CPU's counters, for user mode --------------------------------------------------------- */

/*
 * A page that a kernel can map for user mode, which reads all counters as of one moment: it stores
 * to latch, which is free, and loads what it wants to know, each at the cost of a register. Stores
 * to another CPU's page do nothing.
 */
struct machine_user {
    /* User mode writes any value: the machine stores value and time, or, if machine_cpu.user_open
     * is 0, zeros. */
    uint32_t latch;
    uint32_t reserved;
    uint64_t value[MACHINE_COUNTERS]; /* machine writes: as machine_counter.value */
    uint64_t time;                    /* machine writes: this CPU's clock, as machine_cpu.time */
};

/* ---- A CPU's page-access tracker ------------------------------------------------------------- */

/*
 * The tracker sits behind the TLB: at every TLB miss of the CPU in the lower half of the address
 * space, for data and instructions, in any mode, it looks the page up in the page access buffer
 * (PAB). A page that is not there is entered, and looked up in a small, fully associative filter,
 * which hides short conflicts within the PAB's sets. A page that is not in the filter either is
 * appended to the page access log (PAL). The PAB replaces the least recent entry of the page's set,
 * the filter its least recent entry. So a page that is used all the time is logged once, and others
 * in the order of their use. The unit works in parallel with the page walk and delays nothing.
 *
 * Entries contain the number of the address space that the guest has set. When the log is full, a
 * page is dropped and counted, and enters neither the PAB nor the filter, so that it is logged at a
 * later miss.
 *
 * State at the largest size in use, 2,048 entries: 2,048 x (28 bits of page, 12 of space, 4 of
 * recency, used, valid), 64 x 54 bits, 128 x 48 bits: 13 KB.
 */
#define MACHINE_PATH_WAYS       16
#define MACHINE_PATH_PAB_MIN    128 /* entries: a power of two */
#define MACHINE_PATH_PAB_MAX    32768
#define MACHINE_PATH_FILTER_MAX 64
#define MACHINE_PATH_LOG_MAX    128
#define MACHINE_PATH_SPACES     4096 /* numbers of address spaces; 0: nothing is tracked */
/* cost of DRAIN for each line that it writes, in addition to the store */
#define MACHINE_PATH_LINE_CYCLES 50

/* An entry of the log: page number, store bit, number of the space. The highest bit is never
 * set. */
#define MACHINE_PATH_PAGE        (((uint64_t)1 << 36) - 1)
#define MACHINE_PATH_WRITE       ((uint64_t)1 << 36)
#define MACHINE_PATH_SPACE_SHIFT 48

#define MACHINE_PATH_SAMPLE_SHIFT_MAX 16
/* Whether a page number is logged at a sample_shift. A multiplicative hash (Knuth 3, 6.4). */
#define MACHINE_PATH_SAMPLED(page, shift) \
    (((uint64_t)(uint32_t)(page)*2654435769u & 0xffffffff) << (shift) >> 32 == 0)

/* The values of machine_path.command. */
enum machine_path_command {
    MACHINE_PATH_CMD_NONE,
    /* Takes the sizes, the threshold and the ring; forgets all pages and empties the log.
     * pab_entries 0 switches the unit off. -22: an invalid size, a threshold larger than the log,
     * or a ring that is too small or not aligned. */
    MACHINE_PATH_CMD_CONFIGURE,
    /* Appends the log to the ring in memory, which must have room, empties the log, and allows the
     * next interrupt. result: the number of entries. */
    MACHINE_PATH_CMD_DRAIN,
    /* The following three act on the units of all CPUs, as a broadcast TLB invalidation does, and
     * cost machine_id.tlb_invalidate_cycles in addition to the registers. */
    /* Looks up the page `operand`. result: MACHINE_PATH_IS_* of all units combined. The page then
     * counts as unused again. */
    MACHINE_PATH_CMD_PROBE,
    MACHINE_PATH_CMD_FORGET_PAGE,  /* removes `operand` from all PABs and filters */
    MACHINE_PATH_CMD_FORGET_SPACE, /* removes all pages of the space in `operand` */
    MACHINE_PATH_COMMANDS
};

#define MACHINE_PATH_IS_KEPT 1 /* in a PAB */
/* Hit in a PAB since it was entered or probed, or in the TLB of a CPU that runs the space. */
#define MACHINE_PATH_IS_USED 2

struct machine_path {
    uint32_t command; /* guest writes: enum machine_path_command, acts at once */
    int32_t result;   /* machine writes: of the last command, negative: an errno */
    /* guest writes, acts at once: the number of the address space that runs from now on */
    uint32_t space;
    /* Guest writes, acts at once, 0 to 16: one in 2^sample_shift pages is logged; others do not
     * leave the filter. MACHINE_PATH_SAMPLED() selects the pages; a page that is logged at a shift
     * is logged at every smaller one. */
    uint32_t sample_shift;
    /* Guest writes, taken by commands: space << MACHINE_PATH_SPACE_SHIFT | page. */
    uint64_t operand;

    uint32_t pab_entries, filter_entries, log_entries; /* guest writes, taken by CONFIGURE */
    /* Guest writes, taken by CONFIGURE: entries in the log that cause an interrupt; 0: never. */
    uint32_t threshold;
    /* Guest writes, taken by CONFIGURE: physical address of struct machine_path_ring, aligned to
     * 128, and its number of entries: a power of two, at least log_entries. */
    uint64_t ring_base;
    uint32_t ring_entries;

    /* When the log reaches the threshold the machine writes irq_data to irq_address (an MSI), once
     * until the log is drained. irq_address 0: never. */
    uint32_t irq_data;    /* guest writes */
    uint64_t irq_address; /* guest writes */

    uint32_t waiting; /* machine writes: entries in the log */
    /* Guest writes, taken by CONFIGURE. If not 0, the unit itself appends the log to the ring at
     * the threshold, as by DRAIN, if there is room, and interrupts only after `spill` entries since
     * the last DRAIN or when there is no room. 0: it interrupts at the threshold. */
    uint32_t spill;
    /* Machine writes, at any command; counts since power-on. */
    uint64_t walks;       /* TLB misses that looked up the PAB */
    uint64_t pab_hits;    /* ... and hit there */
    uint64_t filter_hits; /* ... or hit in the filter */
    uint64_t lost;        /* ... or were dropped */
};

/* The ring in the guest's memory that DRAIN appends to. The guest may append entries of its own:
 * the machine reads head from here. */
struct machine_path_ring {
    uint64_t head; /* number of entries appended so far; the next is at head mod ring_entries */
    uint64_t lost; /* machine writes: machine_path.lost */
    uint64_t tail; /* guest writes: number of entries processed; read if the unit spills */
    uint64_t reserved[13];
    uint64_t entry[];
};

/* ---- The disk -------------------------------------------------------------------------------- */

/*
 * A disk in model time. A request stored at time t is done at
 *
 * max(t + latency_cycles, when the request before it is done) + count * page_cycles
 *
 * so the access times of any number of requests overlap, and transfers follow each other on one
 * channel. With page_cycles 0 transfers take no time. At that moment, and not before, the pages are
 * copied, the completion is appended to the ring, and the message is sent. Requests take effect in
 * the order in which they are done. Transfers are coherent: afterwards no cache contains the memory
 * that was written.
 *
 * There is one disk for the machine, for all CPUs: the guest lets one CPU at a time store to submit
 * and load result.
 */
#define MACHINE_DISK_SLOTS     64 /* requests in flight at most */
#define MACHINE_DISK_PAGES_MAX 32 /* of one request */
#define MACHINE_DISK_ALIGN     64 /* of a request and of the ring, in bytes */

struct machine_disk {
    /* Machine writes before the first instruction, as the next four: size in pages of 4 KB. */
    uint64_t pages;
    uint64_t latency_cycles; /* of an access */
    uint64_t page_cycles;    /* of a page on the channel; 0: no time */
    uint32_t read_only;      /* writes are refused */
    uint32_t reserved0;

    /* Guest writes, taken by a store to reset: physical address of struct machine_disk_ring, in
     * memory, and its number of completions: a power of two, at least MACHINE_DISK_SLOTS; or 0: the
     * disk takes no requests. */
    uint64_t ring_base;
    uint32_t ring_entries;

    /* Guest writes any value: forgets all requests in flight, so that their frames are no longer
     * accessed, and starts the ring with head 0. result -22: the ring is invalid; the disk then has
     * none. */
    uint32_t reset;
    /* Guest writes the physical address of struct machine_disk_request, in memory: starts the
     * request; the machine has copied the struct. result 0; -11: all slots are in use; -22: an
     * invalid request, or a frame that is not memory. */
    uint64_t submit;
    int32_t result;     /* machine writes, at a store to reset or submit */
    uint32_t in_flight; /* machine writes, at a store to reset or submit: requests in flight */
};

#define MACHINE_DISK_WRITE (1u << 0) /* to the disk */

/* In the guest's memory, aligned to MACHINE_DISK_ALIGN. */
struct machine_disk_request {
    uint64_t page;  /* the first, on the disk */
    uint32_t count; /* 1 to MACHINE_DISK_PAGES_MAX */
    uint32_t flags; /* MACHINE_DISK_WRITE or 0 */
    uint64_t token; /* comes back in the completion */
    /* Where the machine writes irq_data when the request is done (an MSI); 0: nowhere. */
    uint64_t irq_address;
    uint32_t irq_data;
    uint32_t reserved0;
    uint64_t reserved1[3];
    /* Physical address of each page, a multiple of 4096; the first `count` are read. */
    uint64_t frame[MACHINE_DISK_PAGES_MAX];
};

/* In the guest's memory, written by the machine only, aligned to MACHINE_DISK_ALIGN. */
struct machine_disk_done {
    uint64_t token, time; /* of the request; when it was done, in model cycles */
    uint64_t reserved[2];
};
struct machine_disk_ring {
    /* number of requests done since reset; the nth, from 0, is at n mod ring_entries */
    uint64_t head;
    uint64_t reserved[7];
    struct machine_disk_done done[];
};

/* ---- The wire -------------------------------------------------------------------------------- */

/*
 * Two network ports that a wire joins, in model time. Frames are Ethernet's, without preamble and
 * checksum. What one port sends the other receives, each direction by itself. A frame that is
 * offered at time t leaves, and arrives, at
 *
 * leaves = max(t, when the frame before it has left) + (max(bytes, MACHINE_WIRE_BYTES_MIN) +
 *          MACHINE_WIRE_BYTES_MORE) * 8000 / mbps; arrives = leaves + latency_cycles
 *
 * so a megabit a second is a bit in 1000 cycles. A port has queues, each with two rings of struct
 * machine_wire_entry in the guest's memory: `out` for frames to be sent, `in` for room for received
 * ones. Entries are numbered from 0 on, without end; number n is at n mod the ring's size. The
 * guest fills entries and stores the number of the first that it has not filled to out_end or
 * in_end: a doorbell.
 *
 * A frame to be sent is the parts of one or more entries, the last of which has MACHINE_WIRE_LAST.
 * When it leaves, and not before, its bytes are read and MACHINE_WIRE_DONE is stored in all of its
 * entries. Queues share the wire in the order of their doorbells.
 *
 * A frame that arrives goes to queue spread[h mod 128], with h the Toeplitz hash, by `key`, of what
 * it has of these: for TCP over IPv4, not cut into fragments, source address, destination address,
 * source port, destination port; for other IPv4 the addresses; for anything else h is 0 and not
 * told. It is written to the next entry of that queue's `in`, whole. A frame for which there is no
 * entry is dropped, and counted in `missed`; one to another address, which is neither the port's
 * nor a group's, in `foreign`. Memory that the machine has written is in no cache.
 *
 * A queue whose guest breaks these rules is stopped, until a reset: its bit in `stopped` is set,
 * `wrong` counts, and its entries are not accessed any more. That are: a doorbell beyond the ring's
 * size; parts that are empty, not in memory, or more than MACHINE_WIRE_PARTS_MAX; a frame of fewer
 * than 14 bytes or more than bytes_max, or without a last part at the doorbell; room that is not in
 * memory, or not enough for the frame.
 */
#define MACHINE_WIRE_PORTS       2
#define MACHINE_WIRE_QUEUES      8
#define MACHINE_WIRE_PARTS_MAX   17
#define MACHINE_WIRE_ENTRIES_MAX 1024
#define MACHINE_WIRE_ALIGN       128 /* of rings, in bytes */
#define MACHINE_WIRE_KEY_BYTES   40
#define MACHINE_WIRE_SPREAD      128
#define MACHINE_WIRE_BYTES_MIN   60 /* a shorter frame takes as long as one of these */
/* What Ethernet sends besides: preamble, checksum, the gap between frames. */
#define MACHINE_WIRE_BYTES_MORE 24

/* Flags of an entry. Guest writes those of `out` but DONE, and 0 to those of `in`. */
#define MACHINE_WIRE_LAST    (1u << 0) /* out: the frame's last part */
#define MACHINE_WIRE_TELL    (1u << 1) /* out, with LAST: interrupts when it has left */
#define MACHINE_WIRE_DONE    (1u << 2) /* machine writes: the frame has left, or is there */
#define MACHINE_WIRE_HASHED  (1u << 3) /* in: `hash` is that of the frame */
#define MACHINE_WIRE_CHECKED (1u << 4) /* in: the checksum of TCP or UDP is there and right */

struct machine_wire_entry {
    uint64_t at;    /* guest writes: physical address, any alignment */
    uint32_t bytes; /* guest writes: of the part, of the room; machine writes, in: of the frame */
    uint32_t flags;
    uint64_t time; /* machine writes, with DONE: when it left, or arrived, in model cycles */
    uint32_t hash; /* machine writes, in */
    uint32_t reserved;
};

struct machine_wire_queue {
    /* Guest writes, taken by a store to reset: physical addresses of the rings, aligned to
     * MACHINE_WIRE_ALIGN, in memory, and their sizes in entries: powers of two, at most
     * MACHINE_WIRE_ENTRIES_MAX. */
    uint64_t out_base, in_base;
    uint32_t out_entries, in_entries;
    uint32_t out_end, in_end; /* guest writes, act at once */
    /* The machine writes irq_data to irq_address (an MSI) when a frame has arrived or one with TELL
     * has left, if `armed` is not 0, and stores 0 there: once, until the guest arms it again.
     * Nothing is remembered meanwhile, so the guest looks at its rings after it has armed it. */
    uint64_t irq_address; /* guest writes, taken by a store to reset */
    uint32_t irq_data;    /* guest writes, taken by a store to reset */
    uint32_t armed;       /* guest and machine write; 0 after a reset */
};

struct machine_wire {
    /* Machine writes before the first instruction, up to latency_cycles. */
    uint8_t mac[6];
    uint16_t queues_max;
    uint32_t bytes_max; /* of a frame */
    uint32_t mbps;      /* megabits a second; 0: a frame takes no time on the wire */
    uint64_t latency_cycles;

    /* Guest writes any value: forgets frames that have not left, and takes the number of queues,
     * their rings and messages, key and spread; doorbells begin at 0. result -22: one of them is
     * impossible; then, and with 0 queues, the port sends and receives nothing. */
    uint32_t reset;
    uint32_t queues; /* guest writes, taken by reset: 0 to queues_max */
    int32_t result;  /* machine writes, at a store to reset */
    uint32_t stopped;
    uint8_t key[MACHINE_WIRE_KEY_BYTES]; /* guest writes, taken by reset */
    uint8_t spread[MACHINE_WIRE_SPREAD]; /* the same: numbers of queues */

    /* Machine writes: counts since power-on, of frames, and bytes of frames. */
    uint64_t sent, sent_bytes, received, received_bytes;
    uint64_t missed, foreign, wrong;

    struct machine_wire_queue queue[MACHINE_WIRE_QUEUES];
};

_Static_assert(sizeof(struct machine_wire) <= 4096, "a port");
_Static_assert(sizeof(struct machine_wire_entry) == 32, "four in a line");
_Static_assert(sizeof(struct machine_wire_queue) == 48, "no padding");
_Static_assert(offsetof(struct machine_wire, queue) % 8 == 0, "aligned");
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
_Static_assert(sizeof(struct machine_sampler) == 40, "no padding");
_Static_assert(MACHINE_WIRE_OFFSET + MACHINE_WIRE_PORTS * 4096 <= MACHINE_USER_OFFSET &&
                   MACHINE_USER_OFFSET + MACHINE_CPUS * 4096 <= MACHINE_BYTES,
               "pages");
_Static_assert(offsetof(struct machine_cpu, counter) % 8 == 0, "aligned");
_Static_assert(MACHINE_EVENTS <= 64, "counter_mask, MACHINE_TURN_EVENT");
_Static_assert(MACHINE_CPU_OFFSET + MACHINE_CPUS * 4096 <= MACHINE_PATH_OFFSET, "pages");
