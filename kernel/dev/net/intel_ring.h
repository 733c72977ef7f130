/*
 * Descriptors of Intel's gigabit controllers: 82574 (datasheet, 7.1 and 7.2) and 82576 (datasheet,
 * 7.1.5 and 7.2.2). Pure: what the device writes is checked here, and the host tests it.
 */
#pragma once
#include "net_ring.h"

/* 16 bytes; the device writes to received and sent ones. */
struct intel_descriptor {
    uint32_t word[4];
};

/* Fills a descriptor of a receive ring: extended on 82574, advanced on 82576, of one form. */
void intel_fill_received(volatile struct intel_descriptor *d, paddr_t at);
/* Reads a descriptor of a receive ring, whose buffer has `room` bytes. Returns false if the device
 * has not received a frame there. */
bool intel_read_received(const volatile struct intel_descriptor *d, uint32_t room,
                         struct net_frame *out);

/* How a kind of controller wants frames described. */
struct intel_sending {
    /* Fills a context descriptor for the frame's checksum. Returns false if the device cannot make
     * that checksum. */
    bool (*fill_context)(struct intel_descriptor *d, const struct net_send *s);
    /* Fills the data descriptor of part i. */
    void (*fill_part)(struct intel_descriptor *d, const struct net_send *s, unsigned i);
};
extern const struct intel_sending intel_82574_sending, intel_82576_sending;

/* Returns whether the device has sent the frame whose last descriptor this is. */
bool intel_was_sent(const volatile struct intel_descriptor *d);
