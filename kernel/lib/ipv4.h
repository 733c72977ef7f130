/* Addresses of IPv4 as text. Pure. */
#pragma once
#include "kernel/lib/base.h"

#define IPV4_TEXT_MAX  19 /* bytes of a text with its end: 255.255.255.255/32 */
#define IPV4_HOSTS_MAX (2 * IPV4_TEXT_MAX)
/* An address in the order of the host in bits 0 to 31, the length of its network's prefix from bit
 * 32 on; 0 there: none. */
#define IPV4_PREFIX_SHIFT 32

/* Returns the mask of an address's network, in the order of the host. */
static inline uint32_t ipv4_mask(uint64_t address)
{
    return ~0u << (32 - (address >> IPV4_PREFIX_SHIFT));
}

/* Reads A.B.C.D, or with `prefix` A.B.C.D/N, N from 1 to 31. Returns whether the whole text is
 * that. */
bool ipv4_parse(const char *s, bool prefix, uint64_t *out);
/* Reads addresses of hosts, A.B.C.D or A.B.C.D,A.B.C.D: not 0.0.0.0, of no group. Returns whether
 * the whole text is that. The first is in bits 0 to 31, the second, or 0, in the others. */
bool ipv4_parse_hosts(const char *s, uint64_t *out);
char *ipv4_format_hosts(uint64_t hosts, char out[IPV4_HOSTS_MAX]);
/* Writes it as it may be read. Returns `out`. */
char *ipv4_format(uint64_t address, char out[IPV4_TEXT_MAX]);
