/*
 * lwIP's options. It is built without threads (NO_SYS): its caller holds the instance's lock.
 * Its own sockets are not built: one of them serves one thread.
 */
#pragma once

#define NO_SYS                    1
#define LWIP_SOCKET               0
#define LWIP_NETCONN              0
#define SYS_LIGHTWEIGHT_PROT      0
#define LWIP_ERRNO_STDINCLUDE     0
#define LWIP_ASSERT_CORE_LOCKED() ((void)0)
#define LWIP_TIMERS_CUSTOM        1 /* timers.c */

/* ---- Memory: memory.c bounds it, for all kinds of objects together ---- */
#define MEM_ALIGNMENT            16
#define MEM_CUSTOM_ALLOCATOR     1
#define MEM_CUSTOM_FREE          lwip_free
#define MEM_CUSTOM_MALLOC        lwip_malloc
#define MEM_CUSTOM_CALLOC        lwip_calloc
#define MEMP_MEM_MALLOC          1
#define LWIP_SUPPORT_CUSTOM_PBUF 1

/* ---- Protocols ---- */
#define LWIP_IPV4                1
#define LWIP_IPV6                0
#define LWIP_ARP                 1
#define LWIP_ETHERNET            1
#define LWIP_ICMP                1
#define LWIP_RAW                 0
#define LWIP_DHCP                1
#define LWIP_DNS                 0 /* programs ask; /proc/net/pnp has the servers */
#define LWIP_UDP                 1
#define LWIP_TCP                 1
#define ARP_TABLE_SIZE           32
#define ARP_QUEUEING             1
#define IP_REASSEMBLY            1
#define IP_REASS_MAX_PBUFS       64
#define IP_FRAG                  1
#define IP_SOF_BROADCAST         1
#define IP_SOF_BROADCAST_RECV    1
#define LWIP_DHCP_DOES_ACD_CHECK 0
/* Takes an option of a DHCP server that lwIP has no use for, at byte `at` of its packet. */
struct pbuf;
void lwip_dhcp_option(unsigned option, unsigned bytes, const struct pbuf *p, unsigned at);
#define LWIP_HOOK_DHCP_PARSE_OPTION(netif, dhcp, state, msg, type, option, bytes, p, at) \
    lwip_dhcp_option(option, bytes, p, at)

/* An option of a PCB besides lwIP's own, SOF_*: SO_REUSEPORT. */
#define SOF_REUSEPORT 0x40u
/* Returns which of the ports that share a port with one, which may be NULL, a datagram is for. */
struct udp_pcb;
struct udp_pcb *udp_receiver_of(struct udp_pcb *pcb, unsigned ip, unsigned port);
/* ICMP tells that a port refuses datagrams; p: its header, then the first bytes of the datagram. */
void lwip_refused(const struct pbuf *p);

/* ---- TCP ---- */
/* A peer's, and an interface's MTU, make it smaller. */
#define TCP_MSS             8192
#define LWIP_WND_SCALE      1
#define TCP_RCV_SCALE       3
#define TCP_WND             (256 * 1024)
#define TCP_SND_BUF         (256 * 1024)
#define TCP_SND_QUEUELEN    512
#define TCP_SNDLOWAT        8192
#define TCP_SNDQUEUELOWAT   256
#define TCP_QUEUE_OOSEQ     1
#define TCP_OOSEQ_MAX_BYTES 65536
#define TCP_OOSEQ_MAX_PBUFS 64
#define LWIP_TCP_SACK_OUT   1
/* They would serve for nothing but echoes, and put payloads at addresses that are multiples of 4
 * only. */
#define LWIP_TCP_TIMESTAMPS 0
/* ms. A retransmission waits for ticks of twice that. */
#define TCP_TMR_INTERVAL               50
#define LWIP_TCP_RTO_TIME              1000
#define TCP_MSL                        30000
#define LWIP_TCP_KEEPALIVE             1
#define SO_REUSE                       1
#define TCP_LISTEN_BACKLOG             1
#define TCP_DEFAULT_LISTEN_BACKLOG     0xff
#define LWIP_DISABLE_TCP_SANITY_CHECKS 1
#define LWIP_HOOK_TCP_ISN(own, own_port, remote, remote_port) \
    tcp_isn(ip_2_ip4(own)->addr, own_port, ip_2_ip4(remote)->addr, remote_port)
/* Ports that are drawn; instances share them. */
#define TCP_LOCAL_PORT_RANGE_START        0x8000
#define TCP_LOCAL_PORT_RANGE_END          0xffff
#define TCP_ENSURE_LOCAL_PORT_RANGE(port) ((u16_t)((port) | TCP_LOCAL_PORT_RANGE_START))

/* ---- Interfaces ---- */
#define LWIP_HAVE_LOOPIF             1
#define LWIP_NETIF_LOOPBACK          1
#define LWIP_LOOPBACK_MAX_PBUFS      0
#define LWIP_CHECKSUM_CTRL_PER_NETIF 1
#define LWIP_NETIF_STATUS_CALLBACK   1
#define LWIP_NETIF_HOSTNAME          1
#define LWIP_SINGLE_NETIF            0
#define ETH_PAD_SIZE                 0

#define LWIP_STATS       1
#define LWIP_STATS_LARGE 1
#define MEM_STATS        0
#define MEMP_STATS       0
#define SYS_STATS        0
#define MIB2_STATS       1 /* packets over loopback, segments sent again */
