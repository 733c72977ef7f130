/*
 * The interrupt controller, GICv2 (IHI 0048) or GICv3 (IHI 0069), and what its interrupts mean
 * here.
 */
#pragma once
#include "kernel/firmware/platform.h"

struct arch_frame;
struct cpu;

/* The entry code's: an IRQ was taken. Interrupts off, FIQs as well, on the interrupted thread's
 * stack; of the frame only what it takes to go on and who was interrupted is there. 0: it was one
 * of the counters', which is served. Else what gic_interrupt wants, when the frame is whole. */
uint64_t gic_quick_interrupt(struct arch_frame *frame);
/* Serves it. false: it was one after which nothing has to be seen to before what was interrupted
 * goes on. */
bool gic_interrupt(struct arch_frame *frame, uint64_t acknowledged);
/* The same for an FIQ, all masked; panics if it is not IPI_STOP. */
void gic_fast_interrupt(const struct arch_frame *frame);

/* Boot CPU, after arch_init_memory: finds the controller and maps it; 0, or -ENODEV with a line
 * that says why. */
int gic_init(const struct platform_gic *gic);
/* Boot CPU, before a CPU is started: is there an interface for the one with this MPIDR affinity? */
bool gic_has_cpu(uint64_t hwid);
/* Each CPU, interrupts off: private interrupts off but for the inter-processor ones. */
void gic_init_cpu(void);

enum { GIC_SGIS = 16, GIC_PRIVATE = 32, GIC_SHARED_MAX = 1020 };

/* Before the interrupt is enabled, boot CPU: count interrupts from first on call the handler,
 * interrupts off. */
void gic_attach(uint32_t first, uint32_t count,
                void (*handler)(uint32_t irq, struct arch_frame *frame));
/* The same for the counters', which go to arch_handlers.pmu: frequent ones that wake nobody and end
 * nothing. The last that are attached have the shortest way. */
void gic_attach_counters(uint32_t first, uint32_t count);
/* Lets an interrupt through, a private one to this CPU, a shared one, which is a message, to the
 * CPU given. */
void gic_enable_private(uint32_t irq);
void gic_enable_message(uint32_t irq, const struct cpu *target);
void gic_move_message(uint32_t irq, const struct cpu *target); /* to that CPU from now on */
/* one that is pending is forgotten */
void gic_disable_message(uint32_t irq);
/* Where a device writes what to raise a private interrupt of a CPU; false: it cannot. */
bool gic_private_message(const struct cpu *target, uint32_t irq, paddr_t *address, uint32_t *data);

/*
 * A version of the controller. Probed in the order of gic_versions; every function is called, with
 * interrupts off, only after probe has succeeded.
 */
struct gic_ops {
    const char *name;
    int (*probe)(const struct platform_gic *gic); /* maps, resets; 0, -ENODEV: not mine, -ENOMEM */
    bool (*has_cpu)(uint64_t hwid);
    void (*init_cpu)(uint64_t hwid, unsigned index); /* on that CPU; index as in cpus[] */
    uint32_t (*acknowledge)(void); /* token of the most urgent; its low 24 bits are the INTID */
    void (*end)(uint32_t token);
    void (*send)(const struct cpu *target, unsigned sgi); /* after all earlier stores */
    /* an FIQ was taken: was it IPI_STOP? Once */
    bool (*fiq_is_stop)(void);
    /* registers of this CPU's private interrupts */
    char *(*private_bank)(void);
    char *(*shared_bank)(void); /* ... and of the shared ones */
    void (*route)(uint32_t spi, const struct cpu *target);
    /* As gic_private_message. */
    bool (*private_message)(const struct cpu *target, uint32_t irq, paddr_t *address,
                            uint32_t *data);
};
extern const struct gic_ops gic_v2, gic_v3;

/* ---- Registers that are the same in both distributors and in redistributors: a bank (IHI 0069,
 * 12.9) ---- */
/* Resets the distributor's shared interrupts; how many interrupts there are, private ones
 * included. */
uint32_t gic_reset_shared(char *distributor);
/* Interrupts from..to-1: off, not pending, all of one priority, level-sensitive. */
void gic_bank_reset(char *bank, uint32_t from, uint32_t to);
void gic_bank_enable_sgis(char *bank);
void gic_bank_set_priority(char *bank, uint32_t irq, uint8_t priority);
enum { GICD_CTLR = 0x0, GICD_TYPER = 0x4, GIC_ISPENDR = 0x200 };
enum { GIC_PRIORITY_LOWEST = 0xff }; /* in a CPU interface's mask: lets everything through */
