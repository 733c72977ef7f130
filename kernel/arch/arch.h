/*
 * The whole difference between instruction sets. Every call says who calls it, in which CPU state,
 * and what comes back. Nothing above this line of the house mentions an architecture, and nothing
 * here calls up: what the architecture must report goes through the handlers that main attaches.
 *
 * Words: "any context" is any CPU, thread or interrupt, interrupts on or off, locks held or not.
 * "Thread context" is a thread, interrupts on, no spinlock held. "At boot" is the boot CPU, one
 * call at a time, before other CPUs run. What returns nothing cannot fail.
 *
 * Small operations that must be inline are in "arch_inline.h", found in kernel/arch/<isa>/ by the
 * include path:
 *
 * Any context:
 *   bool  arch_irq_save(void)            interrupts off; true if they were on
 *   void  arch_irq_restore(bool on)
 *   bool  arch_irq_enabled(void)
 *   void  arch_cpu_relax(void)           in every spin loop
 *   void  arch_halt(void)                called with interrupts off: enables them and waits for
 *   one, atomically; returns with them off
 *   struct cpu *arch_this_cpu(void)      per-CPU data of the calling CPU (GS base, TPIDR_EL1);
 *   stable only while not preemptible uint64_t arch_ticks(void)            the free-running clock
 *   behind arch_clock_ns, monotonic across CPUs, ordered uint64_t arch_ticks_near(void)       the
 *   same, but not ordered: what is around may be before or after it; costs next to nothing uint8_t
 *   arch_io_read8(const volatile void *reg), uint16_t arch_io_read16(...), uint32_t
 *   arch_io_read32(...), uint64_t arch_io_read64(...): one load of a device register, done before
 *   what follows; arch_io_write8, arch_io_write16,
 *                                arch_io_write32, arch_io_write64(reg, v): one store, after what
 *                                precedes
 *   void  arch_loop(uint64_t rounds)     exactly ten instructions a round, and a few more; rounds
 *   at least 1
 *   void  arch_user_access_begin(void)   lets the kernel touch user pages (STAC / PAN off) ...
 *   void  arch_user_access_end(void)     ... and forbids it again; used only inside arch/ and the
 *   no-fault accessors
 */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/firmware/pci_host.h"
#include "kernel/lib/base.h"

/* kernel/core/cpu.h: portable per-CPU data, whose first member is struct arch_cpu */
struct cpu;
struct boot_info; /* kernel/boot/boot_info.h */

/* struct arch_cpu, arch_context, arch_space: embedded, their members private to arch/ */
#include "arch_types.h"
#include "arch_inline.h"

#define CPU_MAX 64

/* ---- Layout (both ISAs: 48-bit, upper half is the kernel's) ---- */
/* All of RAM is mapped writable, never executable, at DIRECT_BASE; the image at KERNEL_BASE with
 * W^X. */
#define DIRECT_BASE ((vaddr_t)0xffff800000000000)
#define DEVICE_BASE ((vaddr_t)0xffffc00000000000) /* uncached device mappings */
/* A display's memory, as far from here as it is from a multiple of 2 MB. */
#define FRAMEBUFFER_BASE ((vaddr_t)0xffffc10000000000)
#define VMAP_BASE        ((vaddr_t)0xffffd00000000000) /* kernel stacks with guard pages */
#define KERNEL_BASE      ((vaddr_t)0xffffffff80000000)
/* Every kernel stack lies in a slot of this size, at a multiple of it; the slot's first page is not
 * mapped. */
#define KSTACK_SLOT (64 * KIB)
#define USER_MIN    ((vaddr_t)0x0000000000010000)
#define USER_MAX    ((vaddr_t)0x00007fffffbff000) /* first address beyond user space */
/* Behind it, pages that the kernel shows user mode and keeps for itself: programs cannot map,
 * change or unmap there. */
#define SHOWN_BASE ((vaddr_t)0x00007fffffc00000)
#define SHOWN_MAX  ((vaddr_t)0x00007ffffffff000)

static inline void *phys_to_virt(paddr_t pa)
{
    return (void *)(DIRECT_BASE + pa);
}
/* Only for addresses inside the direct map. */
static inline paddr_t virt_to_phys(const void *va)
{
    return (vaddr_t)va - DIRECT_BASE;
}
/* Where the byte at pa of boot_info's framebuffer is mapped, from the start on. */
static inline void *framebuffer_at(paddr_t pa)
{
    return (void *)(FRAMEBUFFER_BASE + (pa & (2 * MIB - 1)));
}

/* ---- What the architecture reports upward ---------------------------------------------------- */
enum arch_ipi {
    IPI_RESCHED, /* run sched_point() soon */
    IPI_TLB,     /* answer a TLB shootdown */
    IPI_CALL,    /* run the function another CPU queued */
    IPI_STOP,    /* panic elsewhere: print own backtrace once asked, then halt for good */
    IPI_KINDS
};

enum fault_access { FAULT_READ, FAULT_WRITE, FAULT_EXEC };

enum user_fault {
    USER_FAULT_MEMORY,     /* the page-fault handler said no */
    USER_FAULT_ILLEGAL,    /* undefined instruction */
    USER_FAULT_PRIVILEGED, /* privileged instruction, #GP */
    USER_FAULT_ARITHMETIC, /* division, floating point */
    USER_FAULT_ALIGNMENT,
    USER_FAULT_BREAKPOINT,
    USER_FAULT_OTHER
};

struct arch_frame; /* saved registers of an interrupted context */

struct arch_handlers {
    /* Interrupts off, on the interrupted thread's kernel stack, in every one but syscall and
     * page_fault. */
    void (*timer)(const struct arch_frame *); /* the deadline of arch_timer_arm has passed */
    void (*ipi)(enum arch_ipi kind);
    /* counter overflow or record buffer; only PC and mode are there */
    void (*pmu)(struct arch_frame *);
    void (*path)(void); /* a page-access tracker's log is full */
    /* Around timer, ipi and the handlers of devices' interrupts; end gets what begin returned. */
    unsigned (*interrupt_begin)(void);
    void (*interrupt_end)(unsigned begin);
    /* A page fault at va from user mode or from a user copy. Interrupts as they were. May sleep
     * when from_user or when no spinlock is held. 0: retry. -EFAULT: no such mapping (user:
     * user_fault follows; copy: it fails). */
    int (*page_fault)(vaddr_t va, enum fault_access access, bool from_user);
    /* User-mode exception that nobody can repair. Interrupts on. Does not return. */
    NORETURN void (*user_fault)(enum user_fault kind, vaddr_t pc, vaddr_t addr,
                                struct arch_frame *);
    /* System call. Interrupts on. The result goes to the caller's result register. */
    int64_t (*syscall)(uint64_t number, const uint64_t args[6]);
    /* Last thing before each return to user mode, and to that only; may enable interrupts, sleep,
     * and disable them again. The frame is what it returns to; NULL: a thread that begins. */
    void (*user_return)(const struct arch_frame *);
};

/* Boot CPU, once, before interrupts are first enabled. */
void arch_attach(const struct arch_handlers *handlers);

/* ---- Start ----------------------------------------------------------------------------------- */
/*
 * The ISA's entry code calls, on the boot CPU, interrupts off, on the boot stack, with the image
 * mapped at KERNEL_BASE and at DIRECT_BASE it, too, and the memory below boot_early_end(), and a
 * framebuffer at FRAMEBUFFER_BASE, slow as it may be: kernel_main(info). It lives in
 * kernel/main.c.
 */
NORETURN void kernel_main(const struct boot_info *info);
/* Each other CPU comes here once arch_cpus_start has brought it up: own stack, own per-CPU
 * register, interrupts off. */
NORETURN void kernel_secondary_main(struct cpu *cpu);

/* At boot, when nothing but arch_console_init was called, interrupts off: descriptor tables,
 * control registers (NX, SMEP, SMAP, WP), per-CPU register of the boot CPU. */
void arch_init_early(struct cpu *boot_cpu);
/*
 * At boot, interrupts off. Frames are available, all of them below boot_early_end() until this
 * returns: builds the final kernel page tables (W^X, direct map of all RAM, guard page below the
 * boot stack, framebuffer) and switches to them. The frames serve the kernel's tables from now on.
 * Panics where they do not suffice.
 */
struct arch_frames;
void arch_init_memory(const struct boot_info *info, const struct arch_frames *frames);
/* Physical addresses here have so many bits, at most 52: memory and registers beyond cannot be
 * reached. Any context, from kernel_main on. */
unsigned arch_physical_bits(void);
/* At boot, interrupts off, after arch_attach: interrupt controller, clock and timer calibration.
 * 0, or -ENODEV with a line saying what is missing. alloc: 1 << order frames in a row at a
 * multiple of their size, contents undefined, for the controller's tables, now and later; 0 or
 * -ENOMEM; any context. */
typedef int arch_alloc_fn(unsigned order, paddr_t *out);
int arch_init_irq(const struct boot_info *info, arch_alloc_fn *alloc);
/* Where a CPU sits. Numbers are dense from 0; cores are numbered within the chip, threads within
 * the core. */
struct cpu_place {
    uint16_t chip, core, thread;
    uint16_t node; /* memory node, kernel/firmware/numa.h */
};
/* What a simulated machine says of itself, in place of firmware and processor. */
struct arch_shape {
    unsigned cpus, chips;
    uint64_t home_block_bytes;       /* memory nodes take turns in blocks of this size */
    struct cpu_place place[CPU_MAX]; /* of CPUs in the order of hardware ids, the boot CPU first */
};
/* At boot, interrupts off, after arch_init_irq. Finds the CPUs and their places, as shape says or,
 * if it is NULL, firmware and processor; fills cpus[i].hwid and .place, index order = hardware id
 * order with the boot CPU first; at most max. Returns their number, at least 1. */
unsigned arch_cpus_find(const struct boot_info *info, const struct arch_shape *shape,
                        struct cpu *cpus, unsigned max);
/* The memory nodes that .place.node numbers and which memory is whose; any context, after
 * arch_cpus_find. At least one. */
struct numa; /* kernel/firmware/numa.h */
const struct numa *arch_numa(void);
/* Once, in the first thread, on the boot CPU. Starts cpus[1..n-1]; each gets the kernel stack in
 * cpu->boot_stack_top. Returns how many run, this one included; says which did not. */
unsigned arch_cpus_start(struct cpu *cpus, unsigned n);
extern uint64_t cpus_late; /* boot argument cpus.late */

/* ---- Console, end of the run ----------------------------------------------------------------- */
/* At boot, before everything else, interrupts off: what serial port there is. Firmware names one
 * as its console, or one was merely found, which does not say that anybody listens. */
enum arch_serial { SERIAL_NONE, SERIAL_FOUND, SERIAL_NAMED };
enum arch_serial arch_console_init(void);
/* Hands over what the transmitter takes at once, and returns how much that is: all of it where
 * there is no console. Any context; no lock of its own. */
size_t arch_console_write(const char *s, size_t n);
/* The next byte typed, or -1. Any context, one call at a time. */
int arch_console_read(void);
/* Switches the machine off; code, 127 if it is larger, becomes its exit status where it has one.
 * Any context, also in the midst of a panic; where the machine stays on, this CPU stops. */
NORETURN void arch_poweroff(unsigned code);
/* This CPU does nothing any more. Any context. */
NORETURN void arch_stop(void);

/* ---- Clock and timer ------------------------------------------------------------------------- */
/* Since boot, monotonic over all CPUs; 0 before arch_init_irq. Any context. */
uint64_t arch_clock_ns(void);
/* What it was when arch_ticks was so much. */
uint64_t arch_ticks_ns(uint64_t ticks);
/* Frequency of arch_ticks; any context, after arch_init_irq. */
uint64_t arch_ticks_hz(void);
/* The same, measured by another clock of the machine, for some ten milliseconds. 0, or -ENODEV:
 * there is no other. Thread context, one at a time. */
int arch_clock_check(const char **name, uint64_t *hz);
/* Ticks: by at most so much did a CPU's differ from the boot CPU's at its start. Any context,
 * after arch_cpus_start. */
uint64_t arch_clocks_differ(void);
/* May user mode read the clock itself? Any context, after arch_init_irq. */
bool arch_ticks_user(void);
/* This CPU's timer, one shot; past deadlines fire at once; UINT64_MAX disarms. Interrupts off,
 * after arch_init_irq. */
void arch_timer_arm(uint64_t deadline_ns);

/* ---- Inter-processor ---- */
/* To a CPU that runs, and not to oneself. Any context. */
void arch_ipi_send(struct cpu *target, enum arch_ipi kind);

/* A message interrupt: what a device must write where. */
struct arch_msi {
    paddr_t address;
    uint32_t data;
};
/* Message that raises the PMU interrupt on this CPU; panics where there is none. Interrupts off,
 * after arch_init_irq. The CPU's own counters raise that interrupt without a message, on each CPU
 * that has its part of the interrupt controller. */
void arch_pmu_msi(struct cpu *cpu, struct arch_msi *msi);
/* Message that raises the page-access tracker's interrupt on this CPU: 0, or -ENOTSUP: none can.
 * Interrupts off, after arch_init_irq. */
int arch_path_msi(struct cpu *cpu, struct arch_msi *msi);

/* ---- Message interrupts of devices. After arch_init_irq; any context but an interrupt. ------ */
#define ARCH_MSI_MAX 128 /* at the same time */
/*
 * A message that the PCI function with this requester id (bus << 8 | slot << 3 | function) may
 * send, and that calls handler(arg) on the CPU, interrupts off, whenever it has. It is known as
 * *id from now on. 0; -ENODEV: nothing delivers messages, or none of this function's; -ENOSPC:
 * none is left; -ENOMEM; -ERANGE: out of reach; -EIO: a device failed.
 */
int arch_msi_alloc(uint32_t requester, struct cpu *target, void (*handler)(void *arg), void *arg,
                   unsigned *id);
/* What the function is to be given. */
void arch_msi_message(unsigned id, struct arch_msi *out);
/* To another CPU from now on: arch_msi_message may say something else then. 0 or as above. */
int arch_msi_move(unsigned id, struct cpu *target);
/* As if the function had sent it. */
void arch_msi_raise_for_test(unsigned id);
/* The function sends it no more. One that is still on its way may call the handler. */
void arch_msi_free(unsigned id);

/* ---- Threads --------------------------------------------------------------------------------- */
/* Prepares ctx so that the first arch_switch to it calls entry(arg) on the given stack, interrupts
 * off; while ctx runs, traps from user mode begin at stack_top. Any context; ctx does not run. */
void arch_context_init(struct arch_context *ctx, void *stack_top, void (*entry)(void *), void *arg);
/* Saves into out, resumes in; interrupts off; FP state, TLS register and trap stack included.
 * Returns when out runs again. */
void arch_switch(struct arch_context *out, struct arch_context *in);
/* Goes to user mode for the first time in this thread: registers zero but for the argument. tls
 * goes to the TLS register. Thread context, in a space; pc below USER_MAX. */
NORETURN void arch_user_enter(vaddr_t pc, vaddr_t sp, uint64_t arg, vaddr_t tls);
/* TLS register of the running thread. Thread context. */
void arch_tls_set(vaddr_t tls);
/* What the CPUs offer to user mode, in Linux's bits of AT_HWCAP; 0 where programs can ask the CPU
 * themselves. Any context. */
uint64_t arch_user_hwcap(void);

/* ---- Address spaces -------------------------------------------------------------------------- */
/* PROT_USER alone: the page stays in its place, but every access to it faults, the kernel's copies
 * included. PROT_DEVICE: uncached, in order. PROT_GATHER: uncached, but writes may be gathered
 * and reads done early: a display's memory. */
enum arch_prot {
    PROT_R = 1,
    PROT_W = 2,
    PROT_X = 4,
    PROT_USER = 8,
    PROT_DEVICE = 16,
    PROT_GATHER = 32
};
/* To map a program's page that counts as written to from the start. */
#define PROT_WRITTEN 64
/* What has been done to a program's page since it was last looked at: by the processor, or by
 * faults where it does not say; then an access that is to be noticed faults, once. */
enum arch_mark { ARCH_USED = 1, ARCH_WRITTEN = 2 };
/* What is at a page of a space: nothing, a page, or a number in place of one that is elsewhere. */
enum arch_page_kind { ARCH_PAGE_NONE, ARCH_PAGE_HERE, ARCH_PAGE_OUT };
struct arch_page {
    enum arch_page_kind kind;
    unsigned marks, prot; /* of a page */
    uint32_t number;
    paddr_t pa;
};

/* Page-table frames come from and go back to the caller: mm hands these in, so arch takes no memory
 * by itself. */
struct arch_frames {
    /* One zeroed frame; 0, -ENOMEM or -EDQUOT: whose tables they are may have no more. self: this
     * structure. */
    int (*alloc)(const struct arch_frames *self, paddr_t *out);
    void (*free)(const struct arch_frames *self, paddr_t frame);
};

/* Up to arch_space_forget: caller holds the space's lock, if others know it; no TLB work is done
 * here, the caller invalidates. */
/* A space whose upper half is the kernel's. 0 or -ENOMEM. */
int arch_space_init(struct arch_space *space, const struct arch_frames *frames);
/* Frees tables, not pages; no CPU runs in it. */
void arch_space_destroy(struct arch_space *space);
/* Maps one 4 KB page, used but not written to, where nothing or a number was; 0, -ENOMEM, -EEXIST,
 * -ERANGE: beyond physical addresses. space NULL is the kernel's own. */
int arch_space_map(struct arch_space *space, vaddr_t va, paddr_t pa, unsigned prot);
/* 0 and the page that was there, -ENOENT, or -EINVAL: part of a larger one, which the kernel's own
 * space has. */
int arch_space_unmap(struct arch_space *space, vaddr_t va, paddr_t *pa);
/* Gives the page other rights; 0 or as above. */
int arch_space_protect(struct arch_space *space, vaddr_t va, unsigned prot);
/* Where va is, and the rights to its page, whatever its size; 0 or -ENOENT. */
int arch_space_query(struct arch_space *space, vaddr_t va, paddr_t *pa, unsigned *prot);
/* Of programs' pages only. What is at each of n pages from va on, inside one aligned block of 2
 * MB. How many are something. */
unsigned arch_space_look(struct arch_space *space, vaddr_t va, unsigned n, struct arch_page *out);
/* Number takes the page's place, atomically: the page and its marks; 0 or -ENOENT. Until the TLBs
 * have forgotten it others may still use it, and write to it if it is marked as written. */
int arch_space_evict(struct arch_space *space, vaddr_t va, uint32_t number, paddr_t *pa,
                     unsigned *marks);
/* Clears and sets marks of a page; those it had, or none where there is no page. Where a mark's
 * absence makes accesses fault it is noticed only after the TLBs have forgotten the page; elsewhere
 * it may be noticed late. */
unsigned arch_space_mark(struct arch_space *space, vaddr_t va, unsigned clear, unsigned set);
/* The number at va goes. 0 or -ENOENT. */
int arch_space_forget(struct arch_space *space, vaddr_t va);
/* This CPU runs in space from now on; NULL: kernel only. Interrupts off. */
void arch_space_switch(struct arch_space *space);
/* This CPU, pages from va on; n == 0: everything of the space. Interrupts off. */
void arch_tlb_flush(struct arch_space *space, vaddr_t va, size_t n);
/* The same on all CPUs, whatever they run, before this returns. False: this processor cannot, and
 * nothing was done: each CPU that runs in the space must be asked. Any context that stays on this
 * CPU. */
bool arch_tlb_flush_everywhere(struct arch_space *space, vaddr_t va, size_t n);
/* Boot argument mem.space_ids: where the TLB tells spaces apart by identifiers, use fewer than so
 * many. Before arch_init_memory. */
/* each CPU may keep one in use, besides one of nobody's and one to give away */
#define ARCH_SPACE_IDS_MIN 66
#define ARCH_SPACE_IDS_MAX 65536
extern uint64_t mem_space_ids;
/* Maps device registers, uncached, for good; size is rounded to pages. Thread context, at boot.
 * NULL before arch_init_memory; when out of memory, and for what the CPU cannot reach, with a line
 * that says so. */
void *arch_map_device(paddr_t pa, uint64_t size);

/* The frame at this address of the direct map has been stored to and is user code: any CPU that
 * goes to user mode from now on executes what was stored. Before it is mapped so that it could;
 * any context. */
void arch_code_written(const void *frame);

/* ---- User memory ----------------------------------------------------------------------------- */
/* Both: thread context, no spinlock held; may fault and sleep. 0 or -EFAULT (any address is
 * allowed and checked). */
int arch_copy_from_user(void *dst, vaddr_t src, size_t n);
int arch_copy_to_user(vaddr_t dst, const void *src, size_t n);
/* Reads one aligned word without faulting it in: 0, or -EFAULT if it is not resident. Any
 * context. */
int arch_peek_user32(vaddr_t src, uint32_t *out);

/* ---- PCI as only the ISA knows it ------------------------------------------------------------ */
/* Boot CPU, after arch_init_irq: the host bridge, where firmware describes it other than by ACPI's
 * MCFG. 0 or -ENODEV. */
struct pci_host; /* kernel/dev/pci/pci.h */
int arch_pci_host(const struct boot_info *info, struct pci_host *out);
/* Configuration space on machines without ECAM. reg is a multiple of 4. At boot, or with the
 * caller's own lock. 0, or -ENODEV where there is no such means. */
int arch_pci_read(unsigned bus, unsigned slot, unsigned function, unsigned reg, uint32_t *v);
int arch_pci_write(unsigned bus, unsigned slot, unsigned function, unsigned reg, uint32_t v);

/* ---- Looking back. Any context, panics included; a frame lasts as long as the handler that was
 * given it. ---- */
/* Calls step for each return address, innermost first, at most 64; frame NULL: from the caller on.
 * Broken stacks end it. */
void arch_backtrace(const struct arch_frame *frame, void (*step)(vaddr_t pc, void *arg), void *arg);
void arch_frame_print(const struct arch_frame *frame); /* all registers, by name */
/* arch_inline.h: vaddr_t arch_frame_pc(const struct arch_frame *); bool arch_frame_user(const
 * struct arch_frame *): did it interrupt user mode? */

/* ---- What the machine is, for reports -------------------------------------------------------- */
#define ARCH_WORDS_MAX    32
#define ARCH_CPU_NAME_MAX 64
/* This CPU's identification registers that say what it can do, by the names its manual gives them,
 * without what tells one CPU from another; always the same ones in the same order. Returns how
 * many. Any context. */
struct arch_word {
    const char *name;
    uint64_t value;
};
unsigned arch_identity(struct arch_word out[ARCH_WORDS_MAX]);
/* This CPU's model, for people. Any context. */
void arch_cpu_name(char out[ARCH_CPU_NAME_MAX]);
/* What firmware calls the machine outside of SMBIOS, or NULL. Any context, after arch_init_irq. */
const char *arch_machine(void);
/* What is peculiar: is_so writes what, for people; false: it is not so. Thread context, all CPUs
 * started. Ended by name NULL. */
struct arch_quirk {
    const char *name;
    bool (*is_so)(char *text, size_t size);
};
extern const struct arch_quirk arch_quirks[];

/* Name of the ISA as RESULT lines and the boot line print it: "x86_64", "aarch64". */
extern const char arch_name[];
