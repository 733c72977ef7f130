/*
 * The interrupt controller, GICv2 (IHI 0048) or GICv3 (IHI 0069), and the handlers of its
 * interrupts.
 */
#pragma once
#include "kernel/firmware/platform.h"

struct arch_frame;
struct cpu;

/* Called by the entry code at an IRQ, with interrupts and FIQs off, on the interrupted thread's
 * stack; the frame has only the registers that are needed to continue and that describe the
 * interrupted code. Returns 0: it was an interrupt of the counters, and was handled; otherwise the
 * argument of gic_interrupt(), to be called with a complete frame. */
uint64_t gic_quick_interrupt(struct arch_frame *frame);
/* Handles the interrupt. Returns false if no work is to be done before the interrupted code
 * continues. */
bool gic_interrupt(struct arch_frame *frame, uint64_t acknowledged);
/* Handles an FIQ, with everything masked; panics if it is not IPI_STOP. */
void gic_fast_interrupt(const struct arch_frame *frame);

/* Finds the controller and maps it. Boot CPU, after arch_init_memory(). Returns 0, or -ENODEV after
 * a line that says why. */
int gic_init(const struct platform_gic *gic);
/* Returns whether there is an interface for the CPU with this MPIDR affinity. Boot CPU, before that
 * CPU is started. */
bool gic_has_cpu(uint64_t hwid);
/* Initialises this CPU's part: private interrupts are off but for inter-processor ones. Each CPU,
 * interrupts off. */
void gic_init_cpu(void);

enum { GIC_SGIS = 16, GIC_PRIVATE = 32, GIC_SHARED_MAX = 1020 };

/* Makes `count` interrupts from `first` on call the handler, with interrupts off. Boot CPU, before
 * the interrupts are enabled. */
void gic_attach(uint32_t first, uint32_t count,
                void (*handler)(uint32_t irq, struct arch_frame *frame));
/* Does the same for the counters' interrupts, which go to arch_handlers.pmu: frequent ones that
 * wake no thread and end nothing. The interrupts attached last have the shortest path. */
void gic_attach_counters(uint32_t first, uint32_t count);
/* Enable an interrupt: a private one of this CPU, or a shared one, a message, for `target`. */
void gic_enable_private(uint32_t irq);
void gic_enable_message(uint32_t irq, const struct cpu *target);
void gic_move_message(uint32_t irq, const struct cpu *target); /* moves it to that CPU */
/* Disables a message's interrupt, and clears a pending one. */
void gic_disable_message(uint32_t irq);
/* Returns the address and data by which a device raises a private interrupt of a CPU. Returns false
 * if that is not possible. */
bool gic_private_message(const struct cpu *target, uint32_t irq, paddr_t *address, uint32_t *data);

/*
 * A version of the controller. Probed in the order of gic_versions; all other functions are called
 * after probe() has succeeded, with interrupts off.
 */
struct gic_ops {
    const char *name;
    /* maps and resets it; 0, -ENODEV: not this version, -ENOMEM */
    int (*probe)(const struct platform_gic *gic);
    bool (*has_cpu)(uint64_t hwid);
    void (*init_cpu)(uint64_t hwid, unsigned index); /* on that CPU; index: as in cpus[] */
    /* token of the most urgent interrupt; its low 24 bits are the INTID */
    uint32_t (*acknowledge)(void);
    void (*end)(uint32_t token);
    void (*send)(const struct cpu *target, unsigned sgi); /* after all earlier stores */
    /* Returns whether the FIQ that was taken is IPI_STOP. Called once for each FIQ. */
    bool (*fiq_is_stop)(void);
    /* Registers of this CPU's private interrupts. */
    char *(*private_bank)(void);
    char *(*shared_bank)(void); /* ... and of the shared ones */
    void (*route)(uint32_t spi, const struct cpu *target);
    /* As gic_private_message(). */
    bool (*private_message)(const struct cpu *target, uint32_t irq, paddr_t *address,
                            uint32_t *data);
};
extern const struct gic_ops gic_v2, gic_v3;

/* ---- Banks: registers common to distributors and redistributors (IHI 0069, 12.9) ------------- */
/* Resets the distributor's shared interrupts. Returns the number of interrupts, private ones
 * included. */
uint32_t gic_reset_shared(char *distributor);
/* Resets interrupts from..to-1: off, not pending, all of one priority, level-sensitive. */
void gic_bank_reset(char *bank, uint32_t from, uint32_t to);
void gic_bank_enable_sgis(char *bank);
void gic_bank_set_priority(char *bank, uint32_t irq, uint8_t priority);
enum { GICD_CTLR = 0x0, GICD_TYPER = 0x4, GIC_ISPENDR = 0x200 };
enum { GIC_PRIORITY_LOWEST = 0xff }; /* for a CPU interface's mask: admits all interrupts */
