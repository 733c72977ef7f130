/* See intel_kinds.h. */
#include "intel_kinds.h"

#define CTRL_EXT_DRV_LOAD (1u << 28)

/* 82574: 10.2.4 (interrupts), 10.2.5 (RFCTL). Causes: RxQ0 20, RxQ1 21, TxQ0 22, TxQ1 23. IVAR has
 * four bits for RxQ0, RxQ1, TxQ0, TxQ1; bit 31: an interrupt for each frame sent. */
static const struct intel_write start_82574[] = {
    {0x5008, 1u << 15},                     /* RFCTL.EXSTEN: extended descriptors */
    {0x00e4, 0x80000000u | 0x9898},         /* IVAR: 0, 1, 0, 1, all valid */
    {0x00dc, 0x00f00000},                   /* EIAC: causes that clear themselves */
    {0x0018, CTRL_EXT_DRV_LOAD | 1u << 31}, /* CTRL_EXT.PBA_support */
    {0x0410, 0x00602008},                   /* TIPG */
    {0, 0},
};
/* 82576: 8.8 (interrupts), 8.10.2 (SRRCTL). IVAR of queue n has a byte for its receive ring and one
 * for its transmit ring. */
#define IVAR_82576(n)                              \
    {                                              \
        0x1700 + 4 * (n), 0x8080u | (n) | (n) << 8 \
    }
#define SRRCTL_82576(n)                              \
    {                                                \
        0xc00c + 0x40 * (n), 1u << 31 | 1u << 25 | 2 \
    } /* Drop_En, advanced, 2 KB */
static const struct intel_write start_82576[] = {
    {0x1514, 1u << 31 | 1u << 30 | 1u << 4 | 1}, /* GPIE: PBA, EIAME, Multiple_MSIX, NSICR */
    {0x152c, 0xff},                              /* EIAC */
    {0x1530, 0xff},                              /* EIAM: an interrupt masks itself */
    {0x0018, CTRL_EXT_DRV_LOAD},
    IVAR_82576(0),
    IVAR_82576(1),
    IVAR_82576(2),
    IVAR_82576(3),
    IVAR_82576(4),
    IVAR_82576(5),
    IVAR_82576(6),
    IVAR_82576(7),
    SRRCTL_82576(0),
    SRRCTL_82576(1),
    SRRCTL_82576(2),
    SRRCTL_82576(3),
    SRRCTL_82576(4),
    SRRCTL_82576(5),
    SRRCTL_82576(6),
    SRRCTL_82576(7),
    {0, 0},
};

const struct intel_kind intel_kinds[INTEL_KINDS] = {
    {
        .name = "e1000e",
        .ids = {0x10d3, 0x10f6},
        .queues = 2,
        .in = 0x2800,
        .out = 0x3800,
        .stride = 0x100,
        .in_control = 1u << 24,             /* RXDCTL.GRAN */
        .out_control = 1u << 24 | 1u << 22, /* TXDCTL.GRAN, and a bit that must be set */
        .spread = 1,
        .entry_shift = 7,
        .mask = 0x00d8,   /* IMC */
        .unmask = 0x00d0, /* IMS */
        .cause = {1u << 20 | 1u << 22, 1u << 21 | 1u << 23},
        .sending = &intel_82574_sending,
        .start = start_82574,
    },
    {
        .name = "igb",
        .ids = {0x10c9, 0x10e8, 0x150a, 0x1526},
        .queues = 8,
        .in = 0xc000,
        .out = 0xe000,
        .stride = 0x40,
        .in_control = 1u << 25,  /* RXDCTL.ENABLE */
        .out_control = 1u << 25, /* TXDCTL.ENABLE */
        .enabled = 1u << 25,
        .spread = 2,
        .entry_shift = 0,
        .mask = 0x1528,   /* EIMC */
        .unmask = 0x1524, /* EIMS */
        .cause = {1, 2, 4, 8, 16, 32, 64, 128},
        .sending = &intel_82576_sending,
        .start = start_82576,
    },
};
