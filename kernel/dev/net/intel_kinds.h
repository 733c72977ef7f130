/*
 * What differs between Intel's controllers: where rings' registers lie, what is written to which
 * register at the start, and how frames to be sent are described. The sections are those of the
 * datasheets that intel.c names.
 */
#pragma once
#include "intel_ring.h"
#include "net_core.h"

struct intel_write {
    uint32_t reg, value;
};

struct intel_kind {
    const char *name;
    uint16_t ids[6]; /* PCI device numbers; ended by 0 */
    unsigned queues;
    uint32_t in, out, stride;         /* registers of the first rings; bytes between two queues' */
    uint32_t in_control, out_control; /* RXDCTL, TXDCTL */
    uint32_t enabled;                 /* bit there that says when a ring works; 0: none */
    uint32_t spread;                  /* MRQC: hashes choose a queue */
    unsigned entry_shift;             /* a queue's number in an entry of RETA */
    uint32_t mask, unmask;            /* registers */
    uint32_t cause[NET_QUEUES_MAX];   /* each queue's bits there */
    const struct intel_sending *sending;
    const struct intel_write *start; /* ended by a write to register 0 */
};

#define INTEL_KINDS 2
extern const struct intel_kind intel_kinds[INTEL_KINDS];
