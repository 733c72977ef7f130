/*
 * Arm's Statistical Profiling Extension, register by register, for host tests (Arm ARM DDI 0487,
 * D17, D18, D19.7). CPUs execute nothing: a test tells which operations there are, on which CPU. A
 * write to a register takes effect only at the next synchronization, changes by the hardware are
 * visible only then, and records are held back until they are asked for or too many.
 *
 * Aborts if the driver does what is undefined or unpredictable: trapped registers, reserved bits,
 * changes while it samples, a buffer without room for a record or removed under records.
 */
#pragma once
#include "hpm/pmu/arm/armv8_spe_regs.h"
#include "kernel/lib/base.h"

/* A kind of CPU. */
struct spe_kind {
    unsigned version;                      /* 0: without the extension */
    bool foreign;                          /* the buffer belongs to a higher exception level */
    unsigned interval, max, align, format; /* fields of the two identification registers */
    uint64_t features;                     /* bits of PMSIDR_EL1 */
    /* The last record is written as far as there is room; else sampling stops while there is room
     * for one. */
    bool cuts;
};

/* An operation. */
struct spe_op {
    bool load, store; /* neither: a branch */
    uint8_t level;    /* exception level */
    bool coded;       /* the record tells the source by a code */
    uint8_t code;
    uint8_t broken; /* a header within the record; 0: none */
    bool placeless; /* without an address of the data */
    bool bare;      /* nothing but its end */
    uint16_t events, latency;
    uint16_t translation; /* part of the latency; 0: not in the record */
    uint64_t pc, data, phys;
};

struct spe_control {
    uint64_t cr, irr, fcr, evfr, latfr, limitr;
};

enum { SPE_HELD = 4, SPE_RECORD_MAX = 2048 };

struct spe_double {
    struct spe_kind kind;
    struct spe_control written, now; /* in effect */
    uint64_t ptr, sr;                /* actual values */
    uint64_t ptr_seen, sr_seen;      /* values that reads see */
    uint64_t count, delay, interval; /* rest of the count and of a delay; the present interval */
    unsigned held;                   /* records that are not in memory yet */
    struct spe_op held_op[SPE_HELD];
    uint64_t held_time[SPE_HELD];
    uint64_t random;
    unsigned collide;            /* following samples that are due too early */
    uint64_t fault;              /* status set by the next write; 0: none */
    uint64_t operations, taken;  /* executed while it sampled; tagged ones of them */
    uint64_t left_out, recorded; /* left out by filters; records complete in memory */
    uint64_t stops, collisions;  /* times its status was set for this */
};
extern struct spe_double spe_double[];

/* Resets every CPU, as the processor's start code leaves it. */
void spe_machine(unsigned cpu, const struct spe_kind *kind);
/* Executes n equal operations on the executing CPU. */
void spe_operate(uint64_t n, const struct spe_op *op);
/* Executes one operation in kernel mode, with data at SPE_OWN_DATA, while a register is
 * accessed. */
#define SPE_OWN_DATA 0xffff800000004440
void spe_operate_own(void);
/* Returns whether its interrupt is due. */
bool spe_due(void);
/* Lets a context synchronization take effect. */
void spe_context(void);
