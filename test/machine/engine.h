/*
 * The state of the simulated machine, and the small functions on the path of every instruction.
 * QEMU runs all vCPUs on one thread, in turns (turn.c), so nothing here is locked. The idle thread
 * (clock.c) acts only while no vCPU can run.
 *
 * Time is kept by vCPU, in 1/256 of a model cycle. Instructions take completion time, and each
 * cause of a stall adds cycles. By construction, a vCPU's cycles are its completion and stall
 * cycles, and its clock adds idle ones.
 */
#pragma once
#include "kernel/dev/model/machine.h"
#include "test/machine/pmu_masks.h"
#include "test/machine/branch.h"
#include "test/machine/cache.h"
#include "test/machine/disk.h"
#include "test/machine/isa.h"
#include "test/machine/path.h"
#include "test/machine/qemu.h"
#include "test/machine/storebuf.h"
#include "test/machine/tlb.h"
#include "test/machine/wire.h"

#define CYCLE_SHIFT 8
#define NEVER       UINT64_MAX

/* By enum machine_event. COMPLETION is in 1/256 cycles. CYCLES and IDLE are not kept: see
 * event_count(). */
struct counts {
    uint64_t n[MACHINE_EVENTS];
};

enum mode { MODE_KERNEL, MODE_USER, MODES };

/* A translated block. Its bytes are in one page or in two. */
struct block {
    uint64_t pc;
    uint64_t line; /* number of its first line */
    uint32_t instructions;
    uint32_t bytes;
    uint8_t mode;         /* enum mode */
    uint8_t lines;        /* number of lines in the first page, at least 1 */
    uint8_t second_lines; /* number of lines in the second page */
    /* Ends in a branch that must be predicted; direct jumps and calls need not be. */
    bool predicted;
    bool branch; /* ends in a branch of any kind */
    uint64_t second_line;
    paddr_t page;
};

/* One access, or, with `fetch`, one translation of instructions, which the TLB did not have. */
struct access {
    uint64_t pc;
    vaddr_t va;
    paddr_t pa;
    uint8_t flags; /* MACHINE_RECORD_* */
    uint8_t source;
    bool fetch;
    uint32_t latency;
    uint32_t walk;  /* cycles of its page walk; 0: the TLB had the translation */
    uint16_t bytes; /* in the line of va; 0: no data */
};

/* A CPU's performance monitor; see pmu.c. */
struct pmu_counter {
    uint32_t event, flags;
    uint64_t period;
    uint64_t value, left; /* at the snapshot: its count, and the events until its overflow */
    uint64_t snapshot;    /* true count at the snapshot */
};

struct pmu_sampler {
    uint32_t kinds, sources, flags, min_latency, period, jitter;
    uint64_t left; /* watched accesses until the next record */
};

struct pmu {
    volatile struct machine_cpu *page;
    struct pmu_counter counter[MACHINE_COUNTERS];
    bool running, unacknowledged;
    /* A counter's event accrues with time instead of occurring one by one. */
    bool polls;
    uint64_t awaited;               /* bit per event that a counter waits for, to overflow ... */
    uint64_t until[MACHINE_EVENTS]; /* ... after this many more at the earliest */
    struct pmu_sampler sampler[MACHINE_SAMPLERS];
    bool samples; /* a sampler is on */
    uint64_t ring_base, ring_records, ring_irq_at, head;
    vaddr_t data_address;
};

/* A CPU's page-access tracker; see path_regs.c. */
struct tracker {
    volatile struct machine_path *page;
    struct path unit;
    uint32_t threshold;
    bool unacknowledged;
    uint64_t ring_base, ring_entries, lost_told;
    uint32_t spill, spilled;                     /* since the last drain */
    uint64_t logged, interrupts, drains, spills; /* since power-on */
};

struct vcpu {
    uint64_t now;             /* its clock, 1/256 cycles, idle time included */
    uint64_t stop;            /* time at which turn_stop() is to be called */
    struct counts *mode;      /* the one of count[] for its current mode */
    const struct block *last; /* block executed before; NULL after an exception */
    /* The lines fetched last, adjacent: still in the L1I. */
    uint64_t code_first, code_lines;
    vaddr_t data_line;  /* virtual number of the line accessed last: still in the L1D ... */
    bool data_writable; /* ... and modified */
    /* Lines that the string instruction accessed last; NEVER: none yet. */
    vaddr_t string_loaded, string_stored;
    vaddr_t traced_page; /* kept if page changes are traced */
    uint32_t cpi;        /* current 1/256 cycles per instruction */
    uint32_t cycle_256;  /* current model time of a cycle of the core, 1/256 cycles of the clock */
    uint32_t time_rest;  /* less than 1/256 cycles: of completion, in 1/65536 */
    uint32_t writer;     /* tag slot (truth.c), for the caches */
    uint16_t index, core;
    uint16_t space; /* PCID, ASID */
    bool globals;   /* kernel translations survive a change of address space */
    struct tlb tlb;
    uint32_t walked;       /* cycles of the page walk of the access that is under way */
    uint16_t access_bytes; /* of the access under way; 0: as many as QEMU says */
    vaddr_t code_page;
    struct storebuf stores;
    struct counts count[MODES];
    struct branch branch;

    /* Turns and idling (turn.c). */
    uint64_t slice_end; /* time at which its turn ends at the latest */
    uint64_t pmu_at;    /* time at which pmu_poll() is to be called */
    uint64_t cell_at;   /* time at which cells_end() is to be called; NEVER: no cells are wanted */
    bool started;       /* has executed something since power-on */
    bool idle;          /* halted; until it executes again */
    bool parks;         /* about to take the exception of a firmware call that halts it */
    uint64_t idle_since;
    uint64_t wake; /* time of the first interrupt since it halted, 1/256 cycles; 0: none */
    uint64_t idle_cycles;

    struct pmu pmu;
    struct tracker tracker;
    uint32_t pstate; /* of its core */
    uint64_t pstate_since,
        pstate_time[MACHINE_PSTATES]; /* of its clock, 1/256 cycles, idle or not */
    struct counts tagged;             /* totals when the current tag was set (truth.c) */
    uint64_t tagged_idle;
    struct {
        uint32_t tag;                        /* of the thread that runs */
        uint64_t pc, sp;                     /* where it was stopped */
    } calls;                                 /* calls.c */
    void *cpu;                               /* QEMU's CPUState */
    struct qemu_plugin_register **registers; /* by the ISA's numbering */

    /* Figures of the simulation itself. */
    uint64_t turns, blocks, unknown, checked, mismatches;
};

/* The whole machine. */
struct machine {
    const struct topology *topology;
    const struct isa *isa;
    struct cache *cache;
    struct vcpu *vcpus;
    unsigned cpus;
    unsigned line_shift;
    struct machine_id *id; /* page 0 */
    uint8_t *pages;        /* MACHINE_BYTES of registers */

    uint64_t quantum; /* length of a turn, 1/256 cycles */
    uint64_t random;  /* state of machine_random() */
    bool verify;      /* check every translation */
    /* page_trace_access() is called for TLB misses; for changes of the page. */
    bool trace_walks, trace_changes;
    bool calls; /* calls and returns of user mode are kept (calls.c) */
    /* The vCPU that executes or did last; NULL before the first block. */
    struct vcpu *running;
    /* No running vCPU's clock is behind this, 1/256 cycles. While all are idle, only the idle
     * thread changes it. */
    uint64_t time;
    uint64_t ticks_read; /* the latest time that any vCPU has read, model cycles */
};
extern struct machine machine;

/* Returns a pseudo-random number from the seed: the same run has the same numbers (Marsaglia,
 * "Xorshift RNGs", 2003; the * variant). */
static inline uint64_t machine_random(void)
{
    machine.random ^= machine.random >> 12;
    machine.random ^= machine.random << 25;
    machine.random ^= machine.random >> 27;
    return machine.random * 0x2545f4914f6cdd1dull;
}

/* Print to stderr; machine_error also ends QEMU with status 1. */
void machine_say(const char *fmt, ...) PRINTF(1, 2);
NORETURN void machine_error(const char *fmt, ...) PRINTF(1, 2);

/* Tells the PMU that an event, already counted, has happened n times. */
static inline void event_done(struct vcpu *v, enum machine_event e, uint64_t n)
{
    if (__builtin_expect(v->pmu.awaited >> e & 1, 0)) {
        if (v->pmu.until[e] <= n)
            v->pmu_at = v->stop = 0;
        else
            v->pmu.until[e] -= n;
    }
}

static inline void event(struct vcpu *v, enum machine_event e)
{
    v->mode->n[e]++;
    event_done(v, e, 1);
}

/* Lets the CPU wait for cycles of its core, of the given cause. */
static inline void stall(struct vcpu *v, enum machine_event cause, uint64_t cycles)
{
    v->now += cycles * v->cycle_256;
    v->mode->n[cause] += cycles;
    event_done(v, cause, cycles);
}

/* Lets the CPU wait for a time in cycles of the clock. Returns the cycles of its core, which are
 * counted. */
static inline uint64_t stall_time(struct vcpu *v, enum machine_event cause, uint64_t time)
{
    uint64_t cycles = time * 256 / v->cycle_256;

    v->now += time << CYCLE_SHIFT;
    v->mode->n[cause] += cycles;
    event_done(v, cause, cycles);
    return cycles;
}

/* Lets the CPU wait for what `source` serves: what is beyond the chip does not depend on the
 * P-state. Returns the cycles counted. */
static inline uint64_t stall_for(struct vcpu *v, enum machine_event cause, unsigned source,
                                 uint64_t latency)
{
    if (source > MACHINE_LOCAL_L3)
        return stall_time(v, cause, latency);
    stall(v, cause, latency);
    return latency;
}

static inline void stall_dcache(struct vcpu *v, unsigned source, uint64_t latency)
{
    enum machine_event part = MACHINE_EVENT_DCACHE_LOCAL_L2 + source - MACHINE_LOCAL_L2;
    uint64_t cycles = stall_for(v, MACHINE_EVENT_STALL_DCACHE, source, latency);

    v->mode->n[part] += cycles;
    event_done(v, part, cycles);
}

/* Notes that the contents of L1s and TLB may have changed: no access is known to hit without
 * looking. */
static inline void forget_hits(struct vcpu *v)
{
    v->data_line = v->code_first = NEVER;
    v->code_lines = 0;
}

static inline uint64_t vcpu_cycles(const struct vcpu *v)
{
    return v->now >> CYCLE_SHIFT;
}

/* Returns the true count of an event in one mode. IDLE has no mode: see vcpu.idle_cycles. */
uint64_t event_count(const struct counts *c, enum machine_event e);

/*
 * execute.c: the callbacks of every block and access. QEMU passes a vCPU's number first, but with
 * thread=single compiles in the number of the vCPU that translated the block, which is wrong for
 * all others. So execute_block() finds out which vCPU executes, and all code after it uses
 * machine.running.
 */
void execute_block(unsigned cpu, void *block);
void execute_load(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc);
void execute_store(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc);
void execute_atomic(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc);
/* The same for the elements of a repeated string instruction: only the first in a line is an
 * access. */
void execute_string_load(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc);
void execute_string_store(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc);
/* Effects of special instructions, for the ISAs. */
void execute_fence(struct vcpu *v); /* waits until the store buffer is empty */
/* Accesses a device that is not memory; its timers may be different afterwards. */
void execute_device(struct vcpu *v);
void execute_charge(struct vcpu *v, uint64_t cycles); /* fixed cost: a stall of cause "other" */
void execute_exception(struct vcpu *v); /* an interrupt, fault or system call is taken */
void execute_exception_return(struct vcpu *v);
/* Stores a whole aligned block in one instruction, which QEMU does without a callback. Called
 * before the instruction executes. */
void execute_block_store(struct vcpu *v, vaddr_t va, uint64_t bytes, vaddr_t pc);
/* Returns whether va has a translation, for data or instructions, in the current space. */
bool execute_translated(struct vcpu *v, vaddr_t va);
/* The TLB, which also holds translations of instructions. */
void execute_flush_all(struct vcpu *v);
void execute_flush_space(struct vcpu *v, uint16_t space);
void execute_flush_page(struct vcpu *v, vaddr_t va, uint16_t space);
void execute_flush_page_all(struct vcpu *v, vaddr_t va); /* in every space */
/* Returns the guest's register; only where insn.reads_registers. */
uint64_t execute_register(struct vcpu *v, int number);

/* turn.c: turns of the vCPUs. */
struct vcpu *turn_find(const void *cpu); /* QEMU's CPUState */
struct vcpu *turn_begin(void);           /* another vCPU executes than before; returns it */
void turn_stop(struct vcpu *v);          /* called from a block when v->now has reached v->stop */
void turn_pause(struct vcpu *v);         /* v spins: others get their turn */
void turn_halt(struct vcpu *v);          /* v is about to wait for an interrupt */
void turn_wake(struct vcpu *v);          /* v is about to execute, perhaps after having waited */
bool turn_can_run(const struct vcpu *v);
/* Returns the smallest clock of all running vCPUs but v; NEVER: there is none. */
uint64_t turn_others(const struct vcpu *v);

/* clock.c: model time is the guest's time. */
void clock_install(void); /* once, when QEMU's accelerator exists */
/* Returns the time of the next timer or of the machine's own devices, 1/256 cycles; NEVER: none. */
uint64_t clock_deadline(void);
void clock_run_timers(void);      /* runs timers that are due, and the machine's own devices */
void clock_idle(void);            /* the last running vCPU is about to halt */
void clock_thread_is_vcpus(void); /* the calling thread is the one that runs the vCPUs */

/* interrupt.c */
void interrupt_install(struct vcpu *v);               /* when its CPU exists */
void interrupt_send(uint64_t address, uint32_t data); /* sends an MSI now */
void interrupt_send_device(uint64_t address,
                           /* Sends an MSI from the PCI device, which must be bus master. */
                           uint32_t data);

/* regs.c: the register pages. */
void regs_init(const char *file); /* NULL: the guest has none */
void *regs_device(void);          /* QEMU's PCI device, NULL: none */
bool regs_contains(paddr_t pa);   /* called for every new translation */
/* Called when the guest has accessed a register; a stored value is in the page. */
void regs_access(struct vcpu *v, paddr_t pa, bool store);

/* pmu.c */
#define PMU_SAMPLE_SOURCES 0x7eu /* all but L1 */
#define PMU_SAMPLE_KINDS   (MACHINE_KIND_ACCESS | MACHINE_KIND_WALK | MACHINE_KIND_FETCH)
#define PMU_RING_RECORDS   65536
#define PMU_RECORD_CYCLES  50
void pmu_init(struct vcpu *v);
int pmu_command(struct vcpu *v, uint32_t command); /* 0 or a negative errno, for the guest */
int pmu_turn(struct vcpu *v, uint64_t turn);       /* the same */
/* User mode has stored to `latch`, or the guest to `user_open`. */
void pmu_user_latch(struct vcpu *v);
void pmu_user_open(struct vcpu *v);
void pmu_poll(struct vcpu *v); /* handles overflows up to now */
void pmu_mode_changed(struct vcpu *v);
/* An access has missed the L1D or the TLB, or a translation of instructions the TLB. */
void pmu_access(struct vcpu *v, const struct access *a);

/* path_regs.c: page-access trackers */
void path_regs_init(struct vcpu *v);
void path_missed(struct vcpu *v, vaddr_t va, bool store); /* the TLB missed, in the lower half */
void path_store(struct vcpu *v, size_t offset);           /* the guest has stored to a register */

/* page_trace.c. NULL: the file is not written. */
void page_trace_init(const char *truth_file, const char *output_file);
void page_trace_access(struct vcpu *v, vaddr_t va, bool store);
void page_trace_output(paddr_t at, uint32_t bytes);
void page_trace_end(void);

/* dma.c: the guest's memory, for devices. The first returns whether all of it is memory. */
bool dma_in_memory(paddr_t at, uint64_t bytes);
void dma_read(paddr_t at, void *to, uint64_t bytes);
void dma_write(paddr_t at, const void *from, uint64_t bytes); /* no cache has it afterwards */

/* disk_regs.c: the disk. The first two are called before disk_regs_init, or not at all. */
#define DISK_LATENCY_CYCLES 1000000
#define DISK_PAGE_CYCLES    4096
void disk_open(const char *size_or_file);
void disk_times(uint64_t latency_cycles, uint64_t page_cycles);
void disk_regs_init(void);
void disk_store(struct vcpu *v, size_t offset); /* the guest has stored to a register */
/* Returns the time when a request is done, 1/256 cycles; NEVER: none is in flight. */
uint64_t disk_deadline(void);
void disk_run(uint64_t now);         /* completes what is done by then; big lock held */
const struct disk *disk_state(void); /* for the ground truth */

/* wire_regs.c: the network wire. The first is called before wire_regs_init, or not at all. */
#define WIRE_LATENCY_CYCLES 5000
#define WIRE_MBPS           10000
void wire_open(unsigned queues, uint64_t latency_cycles, uint32_t mbps);
void wire_regs_init(void);
/* The guest has stored to a register of this port. */
void wire_store(struct vcpu *v, unsigned port, size_t offset);
/* Returns the time when a frame leaves or arrives, 1/256 cycles; NEVER: none is on its way. */
uint64_t wire_deadline(void);
/* For the ground truth: a port's registers, NULL: there is none; cycles that its frames took to
 * leave. */
const volatile struct machine_wire *wire_port(unsigned port);
uint64_t wire_busy(unsigned port);
void wire_run(uint64_t now); /* lets frames leave and arrive that do by then; big lock held */

/* cells.c: the ground truth by cells of `cycles` cycles (0: none), beside the truth file (NULL:
 * there is none). */
void cells_init(const char *truth, uint64_t cycles);
void cells_end(struct vcpu *v); /* v's clock has reached cell_at */

/* calls.c: the ground truth of calls, if `wanted`, beside the truth file (NULL: there is none). */
void calls_init(const char *truth, bool wanted);
/* Callbacks of a call and of a return of user mode, before it executes. data: its struct insn. */
void calls_call(unsigned cpu, void *data);
void calls_return(unsigned cpu, void *data);
/* An exception or interrupt may be about to be taken; it is. They do nothing if not wanted. */
void calls_stop(struct vcpu *v);
void calls_enter(struct vcpu *v);

/* truth.c: ground truth, for checks. */
void truth_init(const char *file); /* NULL: none is written */
void truth_tag(struct vcpu *v, uint32_t tag);
const char *truth_event_name(enum machine_event e);
void truth_served(const struct vcpu *v, const struct cache_result *r);
/* A data access has missed the L1D or the TLB. */
void truth_access(const struct access *a);
void truth_mark(const char *label);
