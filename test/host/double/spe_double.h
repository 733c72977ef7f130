/*
 * Arm's Statistical Profiling Extension, register by register, for host tests (Arm ARM DDI 0487,
 * D17, D18, D19.7). CPUs execute nothing: a test says which operations there are, on which CPU.
 * What is written to a register takes effect with the next synchronization only, what the hardware
 * changes is seen by then only, and records are held back until they are asked for or are too many.
 * It aborts where the driver does what is undefined or unpredictable: registers that are trapped,
 * reserved bits, changes while it samples, a buffer without room for a record or taken away under
 * records.
 */
#pragma once
#include "hpm/pmu/arm/armv8_spe_regs.h"
#include "kernel/lib/base.h"

/* What kind of CPU it is. */
struct spe_kind {
    unsigned version;                      /* 0: it has none */
    bool foreign;                          /* the buffer is a higher exception level's */
    unsigned interval, max, align, format; /* fields of the two identification registers */
    uint64_t features;                     /* bits of PMSIDR_EL1 */
    /* the last record goes as far as there is room; else it stops while there is room for one */
    bool cuts;
};

/* An operation. */
struct spe_op {
    bool load, store; /* neither: a branch */
    uint8_t level;    /* exception level */
    bool coded;       /* the record says the source by a code */
    uint8_t code;
    uint8_t broken; /* a header that stands in the midst of the record; 0: none */
    bool placeless; /* without an address of the data */
    bool bare;      /* nothing but its end */
    uint16_t events, latency;
    uint64_t pc, data, phys;
};

struct spe_control {
    uint64_t cr, irr, fcr, evfr, latfr, limitr;
};

enum { SPE_HELD = 4, SPE_RECORD_MAX = 2048 };

struct spe_double {
    struct spe_kind kind;
    struct spe_control written, now; /* in effect */
    uint64_t ptr, sr;                /* as they are */
    uint64_t ptr_seen, sr_seen;      /* as they are read */
    uint64_t count, delay, interval; /* operations left; of the interval under way */
    unsigned held;                   /* records that are not in memory yet */
    struct spe_op held_op[SPE_HELD];
    uint64_t held_time[SPE_HELD];
    uint64_t random;
    unsigned collide;            /* so many samples are due too early from now on */
    uint64_t fault;              /* status with which the next write ends; 0: none */
    uint64_t operations, taken;  /* while it sampled; of them tagged */
    uint64_t left_out, recorded; /* by filters; records that are whole in memory */
    uint64_t stops, collisions;  /* how often its status came to say so */
};
extern struct spe_double spe_double[];

/* Every CPU, as the processor's start code leaves it. */
void spe_machine(unsigned cpu, const struct spe_kind *kind);
/* On the CPU that executes: operations that are all alike. */
void spe_operate(uint64_t n, const struct spe_op *op);
/* One in kernel mode, SPE_OWN_DATA being its address, while a register is accessed. */
#define SPE_OWN_DATA 0xffff800000004440
void spe_operate_own(void);
/* Is its interrupt due? */
bool spe_due(void);
/* What a context synchronization does to it. */
void spe_context(void);
