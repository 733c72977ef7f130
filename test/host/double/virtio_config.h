/* Configuration space of a virtio device, for tests. */
#pragma once
#include "kernel/dev/virtio/virtio_layout.h"

enum { CAP_COMMON = 1, CAP_NOTIFY = 2, CAP_ISR = 3, CAP_DEVICE = 4, CAP_PCI = 5 };
static uint32_t config[VIRTIO_CONFIG_WORDS];

static void capability(unsigned at, unsigned next, unsigned bytes, unsigned kind, unsigned bar,
                       uint32_t offset, uint32_t length)
{
    config[at / 4] = 0x09 | next << 8 | bytes << 16 | kind << 24;
    config[at / 4 + 1] = bar;
    config[at / 4 + 2] = offset;
    config[at / 4 + 3] = length;
}

/* As QEMU's virtio-serial-pci has it: MSI-X, then five capabilities in BAR 4. */
static void make_device(void)
{
    memset(config, 0, sizeof(config));
    config[1] = 1 << 20;
    config[0x34 / 4] = 0x98;
    config[0x98 / 4] = 0x11 | 0x84 << 8;
    capability(0x84, 0x70, 20, CAP_PCI, 0, 0, 0);
    capability(0x70, 0x60, 20, CAP_NOTIFY, 4, 0x3000, 0x1000);
    config[0x80 / 4] = 4;
    capability(0x60, 0x50, 16, CAP_DEVICE, 4, 0x2000, 0x1000);
    capability(0x50, 0x40, 16, CAP_ISR, 4, 0x1000, 0x1000);
    capability(0x40, 0, 16, CAP_COMMON, 4, 0, 0x1000);
}
