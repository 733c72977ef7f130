/*
 * Connections of which only the SYN has come, and first numbers. Half-open ones are bounded in
 * number, for all listeners together; SYNs beyond are answered by cookies (cookie.h). lwip.patch
 * makes lwIP call these; the instance's lock is held.
 */
#pragma once
#include "kernel/net/lwip/demux.h"

struct tcp_pcb;

#define TCP_HALF_OPEN_MAX 1024

/* One begins to be half-open, and is it no more (it may not have been). */
void tcp_half_open_begin(struct tcp_pcb *pcb);
void tcp_half_open_end(struct tcp_pcb *pcb);
/* Returns whether a SYN is to be answered by a cookie. */
bool tcp_half_open_is_full(void);

/* Returns the cookie that answers a SYN. */
uint32_t tcp_cookie(const struct demux_ends *e, uint32_t first, uint32_t segment);
/* Returns the length of segments of a connection whose cookie comes back, or 0: it is none. */
uint16_t tcp_cookie_segment(const struct demux_ends *e, uint32_t first, uint32_t cookie);
/* Between these a connection is made as by a SYN, with a cookie for a first number; its answer is
 * not sent, as the peer has it. */
void tcp_cookie_begin(uint32_t cookie);
bool tcp_cookie_opens(void);
void tcp_cookie_end(void);

/* Returns a connection's first number: one that only grows for the same ends, and that none else
 * can predict (RFC 6528). */
uint32_t tcp_isn(uint32_t own_ip, uint16_t own_port, uint32_t remote_ip, uint16_t remote_port);
