/*
 * The whole difference between instruction sets. Each comment says in which state of the CPU the
 * call is made, and its result. No code outside of the instruction sets' folders depends on an
 * architecture, and nothing here calls code above it: the architecture reports through the handlers
 * that main attaches.
 *
 * Words:
 * - "any context": any CPU, thread or interrupt, interrupts on or off, locks held or not
 * - "thread context": a thread, interrupts on, no spinlock held
 * - "at boot": the boot CPU, one call at a time, before other CPUs run
 *
 * A call that returns nothing cannot fail.
 *
 * Small operations that must be inline are in arch_inline.h, which the include path finds in
 * kernel/arch/<isa>/. Any context:
 *   bool  arch_irq_save(void)            disables interrupts; returns whether they were on
 *   void  arch_irq_restore(bool on)
 *   bool  arch_irq_enabled(void)
 *   void  arch_zero_page(void *page)     aligned, of cacheable memory
 *   void  arch_cpu_relax(void)           for every spin loop
 *   void  arch_halt(void)                called with interrupts off: enables them and waits for
 *                                        one, atomically; returns with them off
 *   struct cpu *arch_this_cpu(void)      per-CPU data of this CPU (GS base, TPIDR_EL1); valid only
 *                                        while not preemptible
 *   uint64_t arch_ticks(void)            the free-running clock behind arch_clock_ns(): monotonic
 *                                        across CPUs, ordered with other instructions
 *   uint64_t arch_ticks_near(void)       the same, not ordered and nearly free
 *   uint8_t  arch_io_read8(const volatile void *reg), uint16_t arch_io_read16(reg),
 *   uint32_t arch_io_read32(reg), uint64_t arch_io_read64(reg)
 *                                        one load of a device register, before what follows
 *   void  arch_io_write8(reg, v), arch_io_write16, arch_io_write32, arch_io_write64
 *                                        one store, after what precedes
 *   void  arch_loop(uint64_t rounds)     exactly ten instructions a round, and a few more; at least
 *                                        one round
 *   void  arch_user_access_begin(void)   allows the kernel to access user pages (STAC, PAN off) ...
 *   void  arch_user_access_end(void)     ... and forbids it again; used only in kernel/arch and by
 *                                        the no-fault accessors
 */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/firmware/pci_host.h"
#include "kernel/lib/base.h"

/* Portable per-CPU data; its first member is struct arch_cpu (kernel/core/cpu.h). */
struct cpu;
struct boot_info; /* kernel/boot/boot_info.h */

/* struct arch_cpu, arch_context, arch_space: embedded; their members are private to kernel/arch */
#include "arch_types.h"
#include "arch_inline.h"

#define CPU_MAX 64

/* ---- Layout (both ISAs: 48-bit, upper half is the kernel's) ---------------------------------- */
/* All of RAM is mapped writable, never executable, at DIRECT_BASE; the image at KERNEL_BASE, where
 * no page is both writable and executable. */
#define DIRECT_BASE ((vaddr_t)0xffff800000000000)
#define DEVICE_BASE ((vaddr_t)0xffffc00000000000) /* uncached device mappings */
/* The framebuffer, at the same offset from here as from a multiple of 2 MB. */
#define FRAMEBUFFER_BASE ((vaddr_t)0xffffc10000000000)
#define VMAP_BASE        ((vaddr_t)0xffffd00000000000) /* kernel stacks with guard pages */
#define KERNEL_BASE      ((vaddr_t)0xffffffff80000000)
/* Every kernel stack is in a slot of this size, aligned to it; the slot's first page is not
 * mapped. */
#define KSTACK_SLOT (64 * KIB)
#define USER_MIN    ((vaddr_t)0x0000000000010000)
#define USER_MAX    ((vaddr_t)0x00007fffffbaf000) /* first address above user space */
/* From SHOWN_BASE on, pages that the kernel shows to user mode: programs cannot map, change or
 * unmap them. First the CPUs' counters, where they are read in memory, and the vDSO
 * (kernel/vdso/vdso.h), in the 2 MB of the first thread's stack, so that they need no page table of
 * their own, then threads' counts (kernel/proc/count_session.c). */
#define SHOWN_BASE     ((vaddr_t)0x00007fffffbb0000)
#define SHOWN_COUNTERS SHOWN_BASE /* a page for each CPU */
#define SHOWN_VDSO     ((vaddr_t)0x00007fffffbf0000)
#define SHOWN_COUNTS   ((vaddr_t)0x00007fffffc00000)
#define SHOWN_MAX      ((vaddr_t)0x00007ffffffff000)

static inline void *phys_to_virt(paddr_t pa)
{
    return (void *)(DIRECT_BASE + pa);
}
/* Only for addresses in the direct map. */
static inline paddr_t virt_to_phys(const void *va)
{
    return (vaddr_t)va - DIRECT_BASE;
}
/* Returns where the byte at `pa` of boot_info's framebuffer is mapped; valid from the start. */
static inline void *framebuffer_at(paddr_t pa)
{
    return (void *)(FRAMEBUFFER_BASE + (pa & (2 * MIB - 1)));
}

/* ---- Handlers of what the architecture reports ----------------------------------------------- */
enum arch_ipi {
    IPI_RESCHED, /* run sched_point() soon */
    IPI_TLB,     /* answer a TLB shootdown */
    IPI_CALL,    /* run the function another CPU queued */
    /* a panic on another CPU: prints this CPU's backtrace when asked, then halts for ever */
    IPI_STOP,
    IPI_KINDS
};

enum fault_access { FAULT_READ, FAULT_WRITE, FAULT_EXEC };

enum user_fault {
    USER_FAULT_MEMORY,     /* the page-fault handler refused */
    USER_FAULT_ILLEGAL,    /* undefined instruction */
    USER_FAULT_PRIVILEGED, /* privileged instruction, #GP */
    USER_FAULT_ARITHMETIC, /* division, floating point */
    USER_FAULT_ALIGNMENT,
    USER_FAULT_BREAKPOINT,
    USER_FAULT_OTHER
};

struct arch_frame; /* saved registers of an interrupted context */

struct arch_handlers {
    /* All but syscall and page_fault are called with interrupts off, on the interrupted thread's
     * kernel stack. */
    void (*timer)(const struct arch_frame *); /* the deadline of arch_timer_arm has passed */
    void (*ipi)(enum arch_ipi kind);
    /* Counter overflow or record buffer; only PC and mode are valid. */
    void (*pmu)(struct arch_frame *);
    void (*path)(void); /* the log of a page-access tracker is full */
    /* Enclose timer, ipi and device interrupt handlers; interrupt_end() gets the result of
     * interrupt_begin(). */
    unsigned (*interrupt_begin)(void);
    void (*interrupt_end)(unsigned begin);
    /* A page fault at `va` from user mode or a user copy. Interrupts as they were. May sleep if
     * `from_user` or if no spinlock is held. Returns 0: retry; -EFAULT: no such mapping (from user
     * mode, user_fault() follows; a copy fails). */
    int (*page_fault)(vaddr_t va, enum fault_access access, bool from_user);
    /* A user-mode exception that cannot be repaired. Interrupts on. If it returns, the program
     * goes on at `frame`, which user_return() may change. */
    void (*user_fault)(enum user_fault kind, vaddr_t pc, vaddr_t addr, struct arch_frame *);
    /* A system call. Interrupts on. The result goes to the caller's result register. The frame has
     * the caller's registers, which the handler may change. */
    int64_t (*syscall)(uint64_t number, const uint64_t args[6], struct arch_frame *);
    /* Called last before each return to user mode; may enable interrupts, sleep, and disable them
     * again. The frame has the registers of the context that continues, which the handler may
     * change. begins: it is a thread's first entry into user mode. */
    void (*user_return)(struct arch_frame *, bool begins);
};

/* Sets the handlers. Boot CPU, once, before interrupts are first enabled. */
void arch_attach(const struct arch_handlers *handlers);

/* ---- Start ----------------------------------------------------------------------------------- */
/*
 * The ISA's entry code calls kernel_main(info), in kernel/main.c, on the boot CPU, interrupts off,
 * on the boot stack. Mapped then are the image at KERNEL_BASE; the image and the memory below
 * boot_early_end() at DIRECT_BASE; and a framebuffer at FRAMEBUFFER_BASE, possibly with a slow
 * memory type.
 */
NORETURN void kernel_main(const struct boot_info *info);
/* Called on each other CPU after arch_cpus_start() has brought it up: own stack, own per-CPU
 * register, interrupts off. */
NORETURN void kernel_secondary_main(struct cpu *cpu);

/* Sets up descriptor tables, control registers (NX, SMEP, SMAP, WP) and the per-CPU register of the
 * boot CPU. At boot, interrupts off, when only arch_console_init() was called. */
void arch_init_early(struct cpu *boot_cpu);
/*
 * Builds the final kernel page tables (W^X, direct map of all RAM, guard page below the boot stack,
 * framebuffer) and switches to them. Until it returns, all available frames are below
 * boot_early_end(). From now on the kernel's tables use `frames`. Panics if they do not suffice. At
 * boot, interrupts off.
 */
struct arch_frames;
void arch_init_memory(const struct boot_info *info, const struct arch_frames *frames);
/* Returns the number of bits of a physical address, at most 52; memory and registers above cannot
 * be accessed. Any context, from kernel_main() on. */
unsigned arch_physical_bits(void);
/* Initialises the interrupt controller, and calibrates clock and timer. `alloc` returns 1 << order
 * contiguous frames, aligned to their size, contents undefined, for the controller's tables, now
 * and later; any context; 0 or -ENOMEM. At boot, interrupts off, after arch_attach(). Returns 0, or
 * -ENODEV after a line that says what is missing. */
typedef int arch_alloc_fn(unsigned order, paddr_t *out);
int arch_init_irq(const struct boot_info *info, arch_alloc_fn *alloc);
/* Position of a CPU. Numbers are dense from 0; cores are numbered within the chip, threads within
 * the core. */
struct cpu_place {
    uint16_t chip, core, thread;
    uint16_t node; /* memory node, kernel/firmware/numa.h */
};
/* What a simulated machine says of itself, in place of firmware and processor. */
struct arch_shape {
    unsigned cpus, chips;
    uint64_t home_block_bytes;       /* memory nodes own blocks of this size in turn */
    struct cpu_place place[CPU_MAX]; /* of CPUs in the order of hardware ids, boot CPU first */
};
/* Finds the CPUs and their positions, as `shape` says or, if it is NULL, firmware and processor.
 * Fills cpus[i].hwid and .place in the order of hardware ids, boot CPU first; at most `max`. At
 * boot, interrupts off, after arch_init_irq(). Returns their number, at least 1. */
unsigned arch_cpus_find(const struct boot_info *info, const struct arch_shape *shape,
                        struct cpu *cpus, unsigned max);
/* Returns the memory nodes that .place.node refers to, at least one, and the memory of each. Any
 * context, after arch_cpus_find(). */
struct numa; /* kernel/firmware/numa.h */
const struct numa *arch_numa(void);
/* Starts cpus[1..n-1], each on the kernel stack of cpu->boot_stack_top. Returns the number of
 * running CPUs, including this one; prints which did not start. The first thread, on the boot CPU,
 * once. */
unsigned arch_cpus_start(struct cpu *cpus, unsigned n);
extern uint64_t cpus_late; /* boot argument cpus.late */

/* ---- Console, end of the run ----------------------------------------------------------------- */
/* Initialises the serial console. Returns whether firmware names a serial port as its console, or
 * one was merely found, which may not be connected. At boot, before everything else, interrupts
 * off. */
enum arch_serial { SERIAL_NONE, SERIAL_FOUND, SERIAL_NAMED };
enum arch_serial arch_console_init(void);
/* Sends the part of the text that the transmitter takes at once. Returns its length: all of it if
 * there is no console. Takes no lock. Any context. */
size_t arch_console_write(const char *s, size_t n);
/* Returns the next byte typed, or -1. Any context, one call at a time. */
int arch_console_read(void);
/* Switches the machine off. `code`, 127 if it is larger, becomes its exit status where it has one.
 * If the machine stays on, this CPU stops. Any context, also during a panic. */
NORETURN void arch_poweroff(unsigned code);
/* Stops this CPU for ever. Any context. */
NORETURN void arch_stop(void);

/* ---- Clock and timer ------------------------------------------------------------------------- */
/* Returns the time since boot, monotonic over all CPUs; 0 before arch_init_irq(). Any context. */
uint64_t arch_clock_ns(void);
/* Converts a value of arch_ticks() to the time of arch_clock_ns(). */
uint64_t arch_ticks_ns(uint64_t ticks);
/* Returns the frequency of arch_ticks(). Any context, after arch_init_irq(). */
uint64_t arch_ticks_hz(void);
/* Measures that frequency by another clock of the machine, for about ten milliseconds. Thread
 * context, one at a time. Returns 0, or -ENODEV: there is no other clock. */
int arch_clock_check(const char **name, uint64_t *hz);
/* Returns the largest difference of a CPU's clock to the boot CPU's when it started, in ticks. Any
 * context, after arch_cpus_start(). */
uint64_t arch_clocks_differ(void);
/* How ticks become that time: (ticks - base) * to_ns >> ARCH_CLOCK_SHIFT, over 128 bits. Any
 * context, after arch_init_irq(). */
#define ARCH_CLOCK_SHIFT 32
void arch_clock_scale(uint64_t *base, uint64_t *to_ns);
/* Returns whether user mode may read the clock. Any context, after arch_init_irq(). */
bool arch_ticks_user(void);
/* Reads the machine's clock of the date: seconds since 1970. At boot, after arch_init_irq().
 * Returns 0, or -ENODEV: there is none that is known, or it is not set. */
int arch_rtc_read(uint64_t *seconds);
/* Draws 64 bits from this CPU's generator of random numbers. Returns false: it has none, or none
 * that works. Any context, after arch_init_irq(). */
bool arch_random(uint64_t *out);
/* Arms this CPU's one-shot timer; past deadlines fire at once; UINT64_MAX disarms it. Interrupts
 * off, after arch_init_irq(). */
void arch_timer_arm(uint64_t deadline_ns);

/* ---- Interrupts between processors, message interrupts --------------------------------------- */
/* Sends an interrupt to another running CPU. Any context. */
void arch_ipi_send(struct cpu *target, enum arch_ipi kind);

/* A message interrupt: the data that a device must write, and the address. */
struct arch_msi {
    paddr_t address;
    uint32_t data;
};
/* Returns the message that raises the PMU interrupt on this CPU; panics if there is none.
 * Interrupts off, after arch_init_irq(). The CPU's own counters raise that interrupt without a
 * message, on each CPU that has initialised its part of the interrupt controller. */
void arch_pmu_msi(struct cpu *cpu, struct arch_msi *msi);
/* Returns the message that raises the page-access tracker's interrupt on this CPU. Interrupts off,
 * after arch_init_irq(). Returns 0, or -ENOTSUP: none can. */
int arch_path_msi(struct cpu *cpu, struct arch_msi *msi);

/* ---- Message interrupts of devices. After arch_init_irq; any context but an interrupt. ------- */
#define ARCH_MSI_MAX 128 /* allocated at the same time */
/*
 * Allocates a message that the PCI function with this requester id (bus << 8 | slot << 3 |
 * function) may send, and that calls handler(arg) on `target`, interrupts off. *id: its number.
 * Returns 0; -ENODEV: no controller delivers messages, or none delivers those of this function;
 * -ENOSPC: none is free; -ENOMEM; -ERANGE: the CPU or the address cannot be reached; -EIO: a device
 * failed.
 */
int arch_msi_alloc(uint32_t requester, struct cpu *target, void (*handler)(void *arg), void *arg,
                   unsigned *id);
/* Returns the message to program into the function. */
void arch_msi_message(unsigned id, struct arch_msi *out);
/* Moves the message to another CPU; arch_msi_message() may change. Returns 0 or an error as
 * above. */
int arch_msi_move(unsigned id, struct cpu *target);
/* Raises the interrupt as if the function had sent the message. */
void arch_msi_raise_for_test(unsigned id);
/* Frees a message that the function no longer sends. One that is in flight may still call the
 * handler. */
void arch_msi_free(unsigned id);

/* ---- Threads --------------------------------------------------------------------------------- */
/* Prepares `ctx` so that the first arch_switch() to it calls entry(arg) on the given stack,
 * interrupts off. While it runs, traps from user mode begin at stack_top. Any context; `ctx` does
 * not run. */
void arch_context_init(struct arch_context *ctx, void *stack_top, void (*entry)(void *), void *arg);
/* Saves the running context in `out` and resumes `in`, with FP state, TLS register and trap stack.
 * Returns when `out` runs again. Interrupts off. */
void arch_switch(struct arch_context *out, struct arch_context *in);
struct arch_user; /* arch_types.h: the registers that a thread enters user mode with */
/* Fills `u` with the registers of a program's first thread: all are zero but pc, below USER_MAX, sp
 * and `arg`, the first argument; `tls` is for the TLS register. Any context. */
void arch_user_init(struct arch_user *u, vaddr_t pc, vaddr_t sp, uint64_t arg, vaddr_t tls);
/* Fills `u` with a copy of the caller's registers, those of `frame` and its FP state and TLS
 * register, for a thread in which the system call returns 0. sp and tls replace those of the
 * caller; 0 and false: they do not. Thread context, in a system call. */
void arch_user_copy(struct arch_user *u, const struct arch_frame *frame, vaddr_t sp, bool set_tls,
                    vaddr_t tls);
/* Makes `u` the registers that the calling thread, which has never been in user mode, enters it
 * with. Thread context. */
void arch_user_load(const struct arch_user *u);
/* Enters user mode for the first time in this thread. Thread context, in a space, after
 * arch_user_load(). */
NORETURN void arch_user_enter(void);
/* Makes a thread in a system call go on as a program's first thread: at pc, with sp; all other
 * registers, FP state and TLS register as arch_user_init() has them. Thread context. */
void arch_user_restart(struct arch_frame *frame, vaddr_t pc, vaddr_t sp);
/* ---- Signals: Linux's frames of them (rt_sigframe) on the stack of a program ----------------- */
#define ARCH_SIGNAL_INFO 128 /* bytes of Linux's siginfo_t */
/* A handler that is to be called. */
struct arch_signal {
    int number;
    vaddr_t handler, restorer; /* the handler returns to `restorer` */
    vaddr_t stack_end;         /* of the alternate stack that it runs on; 0: on the thread's */
    vaddr_t stack_low;         /* the frame may not reach below this */
    const void *info;          /* Linux's siginfo_t */
    /* What arch_signal_return() gives back: the signals blocked now, and the alternate stack, a
     * stack_t. */
    uint64_t mask;
    vaddr_t alt_sp;
    uint64_t alt_bytes;
    uint32_t alt_flags;
    bool fault;         /* an exception of the program, whose registers are still in the frame */
    vaddr_t fault_addr; /* of the last memory access refused */
};
/* Puts a frame of this signal, with the registers of `frame` and the FP state, on the program's
 * stack, and makes `frame` call the handler. Thread context, interrupts on. Returns 0, or -EFAULT:
 * there is no room; then `frame` is as before. */
int arch_signal_push(struct arch_frame *frame, const struct arch_signal *s);
/* Takes registers and FP state from the frame of a signal on which the stack pointer stands, and
 * mask and alternate stack into *s. Nothing in it is trusted. Thread context, interrupts on, in a
 * system call. Returns 0 or an error; then nothing has changed. */
int arch_signal_return(struct arch_frame *frame, struct arch_signal *s);
/* Says which of Linux's signals an exception is, and its si_code. Any context. */
void arch_fault_signal(enum user_fault kind, const struct arch_frame *frame, int *number,
                       int *code);
/* Sets the result of a system call that is returning. */
void arch_call_result(struct arch_frame *frame, int64_t result);
/* Makes the program make the system call, which is returning, again; `first`: its first argument
 * was this. */
void arch_call_again(struct arch_frame *frame, uint64_t number, uint64_t first);
/* Returns the value of the result register. */
int64_t arch_call_result_of(const struct arch_frame *frame);
vaddr_t arch_frame_sp(const struct arch_frame *frame); /* user mode's stack pointer */

/* ---- Registers of programs ------------------------------------------------------------------- */
/* Makes Linux's system call arch_prctl(2) for the running thread, on the ISA that has it. Thread
 * context. */
int64_t arch_prctl(uint64_t operation, uint64_t argument);
/* Returns what the CPUs offer to user mode, as bits of Linux's AT_HWCAP. Any context. */
uint64_t arch_user_hwcap(void);
uint64_t arch_user_hwcap2(void); /* the same of AT_HWCAP2 */

/* ---- Address spaces -------------------------------------------------------------------------- */
/* Rights and memory types. PROT_USER alone: the page stays mapped, but every access faults, the
 * kernel's copies included. PROT_DEVICE: uncached and ordered. PROT_GATHER: uncached, but writes
 * may be combined and reads done early: for a framebuffer. */
enum arch_prot {
    PROT_R = 1,
    PROT_W = 2,
    PROT_X = 4,
    PROT_USER = 8,
    PROT_DEVICE = 16,
    PROT_GATHER = 32
};
/* For mapping a program's page that counts as written from the start. */
#define PROT_WRITTEN 64
/* Accesses to a program's page since the mark was last cleared. The processor sets marks, or a
 * fault does where it cannot: then the first access that is to be marked faults. */
enum arch_mark { ARCH_USED = 1, ARCH_WRITTEN = 2 };
/* The contents of a page of a space: nothing, a page, or the number of a page that is elsewhere. */
enum arch_page_kind { ARCH_PAGE_NONE, ARCH_PAGE_HERE, ARCH_PAGE_OUT };
struct arch_page {
    enum arch_page_kind kind;
    unsigned marks, prot; /* of a page */
    uint32_t number;
    paddr_t pa;
};

/* The caller provides page-table frames: kernel/arch allocates no memory itself. */
struct arch_frames {
    /* Allocates a zeroed frame. Returns 0, -ENOMEM, or -EDQUOT: the owner of the tables may have no
     * more. self: this structure. */
    int (*alloc)(const struct arch_frames *self, paddr_t *out);
    void (*free)(const struct arch_frames *self, paddr_t frame);
};

/* Up to arch_space_skip(): the caller holds the space's lock, if others know the space, and
 * invalidates TLBs itself. */
/* Initialises a space with the kernel's upper half. Returns 0 or -ENOMEM. */
int arch_space_init(struct arch_space *space, const struct arch_frames *frames);
/* Frees tables, but not pages; no CPU runs in the space. */
void arch_space_destroy(struct arch_space *space);
/* Maps one 4 KB page, marked as used but not as written, where nothing or a number was. `space`
 * NULL: the kernel's own. Returns 0, -ENOMEM, -EEXIST, or -ERANGE: above physical addresses. */
int arch_space_map(struct arch_space *space, vaddr_t va, paddr_t pa, unsigned prot);
/* Unmaps a page. Returns 0 and the page; -ENOENT; or -EINVAL: part of a larger page, as the
 * kernel's own space has. */
int arch_space_unmap(struct arch_space *space, vaddr_t va, paddr_t *pa);
/* Changes the rights of a page. Returns 0 or an error as above. */
int arch_space_protect(struct arch_space *space, vaddr_t va, unsigned prot);
/* Returns the physical address of `va`, and the rights to its page of any size. Returns 0 or
 * -ENOENT. */
int arch_space_query(struct arch_space *space, vaddr_t va, paddr_t *pa, unsigned *prot);
/* Returns the contents of `n` pages of a program from `va` on, in one aligned block of 2 MB, and
 * how many are not ARCH_PAGE_NONE. */
unsigned arch_space_look(struct arch_space *space, vaddr_t va, unsigned n, struct arch_page *out);
/* Replaces a page by a number, atomically, and returns the page and its marks. Until the TLBs have
 * forgotten it other CPUs may still access it, and write to it if it is marked as written. Returns
 * 0 or -ENOENT. */
int arch_space_evict(struct arch_space *space, vaddr_t va, uint32_t number, paddr_t *pa,
                     unsigned *marks);
/* Clears and sets marks of a page. Returns the previous marks, or none if there is no page. Where
 * marks are set by faults, a cleared mark takes effect only after the TLBs have forgotten the page;
 * elsewhere it may take effect late. */
unsigned arch_space_mark(struct arch_space *space, vaddr_t va, unsigned clear, unsigned set);
/* Removes the number at `va`. Returns 0 or -ENOENT. */
int arch_space_forget(struct arch_space *space, vaddr_t va);
/* Makes the tables for the page at `va`, so that mapping it, or putting a number there, cannot
 * fail. Returns 0, -ENOMEM or -EDQUOT. */
int arch_space_reserve(struct arch_space *space, vaddr_t va);
/* Puts a number where nothing is, and tables are. Returns 0, -ENOENT or -EEXIST. */
int arch_space_put_number(struct arch_space *space, vaddr_t va, uint32_t number);
/* Returns the first address from va on, at most `end`, that may have a page or a number: skips what
 * has no tables. */
vaddr_t arch_space_skip(struct arch_space *space, vaddr_t va, vaddr_t end);
/* Makes this CPU run in `space`; NULL: the kernel's alone. Interrupts off. */
void arch_space_switch(struct arch_space *space);
/* Forgets `n` pages from `va` on, on this CPU; n == 0: the whole space. Interrupts off. */
void arch_tlb_flush(struct arch_space *space, vaddr_t va, size_t n);
/* Does the same on all CPUs before it returns. Returns false if the processor cannot, and nothing
 * was done: each CPU that runs in the space must be asked. Any context that stays on this CPU. */
bool arch_tlb_flush_everywhere(struct arch_space *space, vaddr_t va, size_t n);
/* Boot argument mem.space_ids: where the TLB distinguishes spaces by identifiers, their number.
 * Before arch_init_memory(). */
/* Each CPU may keep one in use; beside these, identifier 0 belongs to no space, and one must be
 * free. */
#define ARCH_SPACE_IDS_MIN 66
#define ARCH_SPACE_IDS_MAX 65536
extern uint64_t mem_space_ids;
/* Maps device registers, uncached, for ever; the size is rounded to pages. Thread context, at boot.
 * Returns NULL before arch_init_memory(), without memory, and for addresses that the CPU cannot
 * reach, after a line that says so. */
void *arch_map_device(paddr_t pa, uint64_t size);

/* Makes user code that was stored to this frame, an address in the direct map, visible to
 * instruction fetches of any CPU that enters user mode from now on. Called before it is mapped
 * executable. Any context. */
void arch_code_written(const void *frame);

/* ---- User memory ----------------------------------------------------------------------------- */
/* Returns whether n bytes from va on lie in user space, mapped or not; true for 0 bytes up to its
 * end. Any context. */
bool arch_user_range(vaddr_t va, uint64_t n);
/* Copy between kernel and user memory; any address is allowed and checked. Thread context, no
 * spinlock held; may fault and sleep. Return 0 or -EFAULT. */
int arch_copy_from_user(void *dst, vaddr_t src, size_t n);
int arch_copy_to_user(vaddr_t dst, const void *src, size_t n);
/* Reads an aligned word without a page fault. Any context. Returns 0, or -EFAULT if it is not
 * resident. */
int arch_peek_user32(vaddr_t src, uint32_t *out);
int arch_peek_user64(vaddr_t src, uint64_t *out);
/* The same of the kernel's memory. */
int arch_peek64(vaddr_t src, uint64_t *out);
/* Stores `new` in an aligned word if it is `old`, atomically, and its value before in *seen. Thread
 * context, no spinlock held; may fault and sleep. Returns 0 or -EFAULT. */
int arch_swap_user32(vaddr_t at, uint32_t old, uint32_t new, uint32_t *seen);

/* ---- PCI, where only the ISA knows it -------------------------------------------------------- */
/* Finds the host bridge if firmware describes it by other means than ACPI's MCFG. Boot CPU, after
 * arch_init_irq(). Returns 0 or -ENODEV. */
struct pci_host; /* kernel/firmware/pci_host.h */
int arch_pci_host(const struct boot_info *info, struct pci_host *out);
/* Access configuration space on machines without ECAM. `reg` is a multiple of 4. At boot, or with
 * the caller's own lock. Return 0, or -ENODEV: there are no such means. */
int arch_pci_read(unsigned bus, unsigned slot, unsigned function, unsigned reg, uint32_t *v);
int arch_pci_write(unsigned bus, unsigned slot, unsigned function, unsigned reg, uint32_t v);

/* ---- Backtraces. Any context, panics included; a frame is valid during its handler ----------- */
/* Calls `step` for each return address, innermost first, at most 64. `frame` NULL: begins with the
 * caller. A corrupt stack ends it. */
void arch_backtrace(const struct arch_frame *frame, void (*step)(vaddr_t pc, void *arg), void *arg);
void arch_frame_print(const struct arch_frame *frame); /* prints all registers with their names */
/* arch_inline.h: vaddr_t arch_frame_pc(const struct arch_frame *); bool arch_frame_user(const
 * struct arch_frame *): whether user mode was interrupted; uint64_t arch_frame_link(const struct
 * arch_frame *): the address of the interrupted code's record of its caller, if it keeps one;
 * uint64_t arch_frame_caller(const struct arch_frame *): its link register, 0 where there is none;
 * uint64_t arch_frame_kept(const struct arch_frame *), arch_frame_scratch(...): the registers RBX
 * and R10, by which some code finds its frame, 0 where none does;
 * const struct arch_frame *arch_record_frame(uint64_t at): the frame of an entry into the kernel
 * that made the record at this address; ARCH_REGISTERS: what arch_frame_registers stores. */
/* Stores the registers of user mode in the order of Linux's asm/perf_regs.h. */
void arch_frame_registers(const struct arch_frame *frame, uint64_t *out);
/* Returns the frame of the running thread's latest entry from user mode, or its first into it.
 * Interrupts off; the thread is a program's. */
const struct arch_frame *arch_user_frame(void);

/* ---- Descriptions of the machine, for reports ------------------------------------------------ */
#define ARCH_WORDS_MAX    32
#define ARCH_CPU_NAME_MAX 64
/* Returns the registers that identify what this CPU can do, with the names of its manual, without
 * those that differ between CPUs of a machine; always the same registers in the same order. Any
 * context. */
struct arch_word {
    const char *name;
    uint64_t value;
};
unsigned arch_identity(struct arch_word out[ARCH_WORDS_MAX]);
/* Returns the model of this CPU as text. Any context. */
void arch_cpu_name(char out[ARCH_CPU_NAME_MAX]);
#define ARCH_CPUINFO_MAX 768
/* Describes this CPU as lines of /proc/cpuinfo, with a NUL, without its number and place. Thread
 * context. */
void arch_cpuinfo(char out[ARCH_CPUINFO_MAX]);
enum arch_cache_kind { ARCH_CACHE_DATA, ARCH_CACHE_CODE, ARCH_CACHE_BOTH };
struct arch_cache {
    unsigned level;
    enum arch_cache_kind kind;
    uint32_t bytes, ways, line; /* of a line: bytes */
    unsigned id_bits; /* CPUs whose hardware ids differ in these low bits alone share it */
};
/* Describes a cache of this CPU, numbered from 0 on. Returns false if there is none of the number,
 * or the CPU does not tell. Any context. */
bool arch_cache(unsigned index, struct arch_cache *out);
/* Returns the name that firmware gives the machine outside SMBIOS, or NULL. Any context, after
 * arch_init_irq(). */
const char *arch_machine(void);
/* A possible peculiarity of the machine: is_so() returns whether it applies, and describes it as
 * " KEY=VALUE...: text", of which the keys may be missing. Thread context, all CPUs started. The
 * list ends with name NULL. */
struct arch_quirk {
    const char *name;
    bool (*is_so)(char *text, size_t size);
};
extern const struct arch_quirk arch_quirks[];

/* Name of the ISA in RESULT lines and at boot: "x86_64", "aarch64". */
extern const char arch_name[];
