/* The hash by which devices spread frames over their queues. See net_device.h. */
#include "net_device.h"

/* The key that the receive-side scaling specification verifies hashes with, as other systems use
 * it. */
const uint8_t net_rss_key[NET_RSS_KEY_BYTES] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

uint32_t net_hash(const uint8_t *bytes, size_t n)
{
    uint64_t window = 0; /* the 32 bits of the key that the next bit is multiplied by, and more */
    uint32_t hash = 0;

    ASSERT(n <= NET_RSS_KEY_BYTES - 4);
    for (unsigned i = 0; i < 4; i++)
        window = window << 8 | net_rss_key[i];
    for (size_t i = 0; i < n; i++) {
        window = window << 8 | net_rss_key[i + 4];
        for (unsigned bit = 0; bit < 8; bit++)
            if (bytes[i] & (0x80 >> bit))
                hash ^= (uint32_t)(window >> (8 - bit));
    }
    return hash;
}

unsigned net_hash_queue(uint32_t hash, unsigned queues)
{
    return hash % NET_RSS_ENTRIES % queues;
}
