/*
 * Where lwIP finds its connections, in place of walks over lists: by their ends, by their port, by
 * what its timers have to do. lwip.patch makes lwIP call these; the instance's lock is held.
 *
 * A connection that waits for nothing but its peer and its program is in no timer's list: see
 * tcp_due().
 */
#pragma once
#include "kernel/lib/list.h"
#include "kernel/net/lwip/demux.h"
#include "kernel/net/lwip/half_open.h"

struct netif;
struct tcp_pcb;
struct tcp_pcb_listen;

/* Part of a connection or a listener. */
struct tcp_links {
    struct tcp_pcb **link;           /* what points to it in lwIP's list */
    struct demux_node ends, at_port; /* those that listen or are bound: by their port only */
    struct list due;                 /* timers look at it; or it is in TIME_WAIT */
};

/* Puts one into a list of lwIP, takes it out, unless it is out: TCP_REG, TCP_RMV. Its state, its
 * ends are known. */
void tcp_list_put(struct tcp_pcb **list, struct tcp_pcb *pcb);
void tcp_list_drop(struct tcp_pcb **list, struct tcp_pcb *pcb);

/* Returns the connection with these ends that packets of an interface are for (NULL: any
 * interface), in TIME_WAIT or not, or NULL. */
struct tcp_pcb *tcp_with_ends(const struct demux_ends *e, const struct netif *in, bool time_wait);
/* Return all that have a port, one by one, then NULL: those that listen or are bound first. */
struct tcp_pcb *tcp_first_at_port(uint16_t port);
struct tcp_pcb *tcp_next_at_port(const struct tcp_pcb *pcb);
/* Returns the listener at a port that follows `l`, the first one for NULL, or NULL. */
struct tcp_pcb_listen *tcp_next_listener(uint16_t port, struct tcp_pcb_listen *l);
/* Returns which of the listeners that share a port with one, which may be NULL, a connection from
 * an end is for: always the same, while none begins or ends. */
struct tcp_pcb_listen *tcp_listener_of(struct tcp_pcb_listen *l, uint32_t ip, uint16_t port);
/* Returns whether a port may be given to what is to connect, or to be bound (NULL). Two that
 * connect to different places may have the same. What waits in TIME_WAIT is ended, if its
 * connection was with this host itself: no packet of it is on its way. */
bool tcp_port_is_free(uint16_t port, struct tcp_pcb *pcb);
/* Returns the port that lwIP tries after another one that it draws. */
uint16_t tcp_next_port(uint16_t port);
/* Has it draw ports that none draws that has another number below `count`. */
void tcp_share_ports(unsigned number, unsigned count);

/* A timer begins: tcp_next_due() returns each connection that it has to look at once, then NULL. In
 * between, connections may begin and end. */
void tcp_turn(void);
struct tcp_pcb *tcp_next_due(void);
/* Bytes of the window that a segment (struct tcp_seg) needs, a FIN's among them if it is alone. */
#define tcp_room(seg) ((seg)->len ? (seg)->len : !!(TCPH_FLAGS((seg)->tcphdr) & TCP_FIN))
/* Something happens in a connection: timers look at it until it rests. */
void tcp_due(struct tcp_pcb *pcb);
/* Returns the one that has been in TIME_WAIT for longest; lets one begin again to wait. */
struct tcp_pcb *tcp_oldest_waiting(void);
void tcp_wait_again(struct tcp_pcb *pcb);
