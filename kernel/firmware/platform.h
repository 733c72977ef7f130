/*
 * What firmware says of a machine that cannot be probed: CPUs, interrupt controller, timer, serial
 * port, the way to call firmware. A device tree (devtree.h) and ACPI (acpi_platform.h) fill the
 * same structure; drivers read it and do not know its origin. All addresses are physical; interrupt
 * numbers are the controller's own (GIC INTIDs).
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/firmware/pci_host.h"

#define PLATFORM_CPUS_MAX    512
#define PLATFORM_REDISTS_MAX 64 /* redistributor regions; some machines have one for each CPU */
#define PLATFORM_MSI_MAX     8
#define PLATFORM_MODEL_MAX   64
#define PLATFORM_MSI_MAPS    16

/* The bits of MPIDR_EL1 that identify a CPU: Aff3 in bits 39:32, Aff2 to Aff0 in 23:0 (DDI 0487,
 * D17.2.101). */
#define MPIDR_FIELDS ((uint64_t)0xff00ffffff)

struct platform_cpu {
    uint64_t hwid; /* MPIDR_FIELDS of its MPIDR */
    uint32_t uid;  /* ACPI processor id; the device-tree node's phandle */
    bool enabled;
    /* Where firmware says the CPU is: sparse numbers below 2^20; equal numbers mean the same chip
     * or core. Valid if platform.has_places. */
    uint32_t chip, core, thread;
};

/* Size 0: none. */
struct platform_region {
    paddr_t base;
    uint64_t size;
};

struct platform_gic {
    unsigned version; /* 2, 3 or 4 (which is driven as 3); 0: no known controller */
    struct platform_region distributor;
    struct platform_region cpu_interface; /* version 2 */
    unsigned redist_count;                /* version 3 */
    struct platform_region redist[PLATFORM_REDISTS_MAX];
    uint64_t redist_stride; /* bytes between redistributors; 0: as the registers say */
    unsigned frame_count;   /* GICv2m message frames */
    struct platform_frame {
        struct platform_region region;
        uint32_t first_spi, spis; /* 0: as the frame's own register says */
    } frame[PLATFORM_MSI_MAX];
    unsigned its_count; /* interrupt translation services */
    struct platform_its {
        struct platform_region region;
        /* the id that mappings refer to: ACPI's, or the phandle of the device-tree node */
        uint32_t id;
    } its[PLATFORM_MSI_MAX];
};

/* Maps PCI requesters (bus << 8 | slot << 3 | function) from `first` on to devices from `device` on
 * of an ITS. */
struct platform_msi_map {
    uint32_t first, count, device, its;
};

struct platform_timer {
    uint32_t virtual_irq, physical_irq; /* of EL1; 0: not wired */
    /* Frequency to use if the counter does not have one; 0: unknown. */
    uint32_t hz;
};

enum platform_uart_kind { UART_NONE, UART_PL011 };
struct platform_uart {
    enum platform_uart_kind kind;
    paddr_t base;
    uint32_t irq; /* 0: none */
};

/* The instruction that calls PSCI (DEN 0022, 5.2.1). */
enum psci_conduit { PSCI_NONE, PSCI_HVC, PSCI_SMC };

struct platform {
    const char *source; /* "device tree" or "ACPI", for messages */
    /* The machine's name in a device tree, printable; else empty. */
    char model[PLATFORM_MODEL_MAX];
    enum psci_conduit psci;
    struct platform_gic gic;
    struct platform_timer timer;
    struct platform_uart uart;
    paddr_t rtc;         /* PL031; 0: none */
    uint32_t pmu_irq;    /* overflow interrupt of the CPUs' counters; 0: none */
    uint32_t spe_irq;    /* buffer interrupt of statistical profiling; 0: none */
    struct pci_host pci; /* of segment 0; no ECAM: none, or described by ACPI's MCFG */
    /* Requesters of segment 0, masked, are mapped to devices; false: firmware does not say. */
    bool msi_mapped;
    uint32_t msi_requester_mask;
    /* Mappings listed here; mappings found beyond PLATFORM_MSI_MAPS. */
    unsigned msi_map_count, msi_maps_ignored;
    struct platform_msi_map msi_map[PLATFORM_MSI_MAPS];
    bool has_places;
    unsigned cpu_count, cpus_ignored; /* CPUs listed here; CPUs found beyond PLATFORM_CPUS_MAX */
    struct platform_cpu cpu[PLATFORM_CPUS_MAX];
};

/* Adds an entry that is zero but for hwid. Returns NULL if that CPU is already listed or the table
 * is full (which is counted). */
struct platform_cpu *platform_add_cpu(struct platform *p, uint64_t hwid);
void platform_add_msi_map(struct platform *p, struct platform_msi_map map);
/* Finds the device of a requester, and its ITS, an index of gic.its[]. Without a mapping from
 * firmware, it is the device of the requester's number of the first ITS. Returns 0, or -ENODEV: no
 * mapping has it, or the ITS does not exist. */
int platform_msi_device(const struct platform *p, uint32_t requester, uint32_t *device,
                        unsigned *its);
