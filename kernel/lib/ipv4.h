/* Addresses of IPv4 as text. Pure. */
#pragma once
#include "kernel/lib/base.h"

#define IPV4_TEXT_MAX 19 /* bytes of a text with its end: 255.255.255.255/32 */
/* An address in the order of the host in bits 0 to 31, the length of its network's prefix from bit
 * 32 on; 0 there: none. */
#define IPV4_PREFIX_SHIFT 32

/* Reads A.B.C.D, or with `prefix` A.B.C.D/N, N from 1 to 31. Returns whether the whole text is
 * that. */
bool ipv4_parse(const char *s, bool prefix, uint64_t *out);
/* Writes it as it may be read. Returns `out`. */
char *ipv4_format(uint64_t address, char out[IPV4_TEXT_MAX]);
