/*
 * The kernel's options for lwIP, but for what lwIP's own tests demand (test_lwip_unit.c).
 */
#pragma once
#include "kernel/net/lwip/lwipopts.h"

/* Tests look into lwIP. */
#define LWIP_TESTMODE 1
/* Tests count what is allocated and freed, fragments and ARP's packets. */
#undef MEM_STATS
#undef MEMP_STATS
#define MEM_STATS  1
#define MEMP_STATS 1
#define MIB2_STATS 1
/* test_timers.c tests lwIP's timers, not timers.c. */
#undef LWIP_TIMERS_CUSTOM
#define LWIP_TIMERS_CUSTOM 0
/* test_etharp.c and test_netif.c test them. */
#define ETHARP_SUPPORT_STATIC_ENTRIES  1
#define LWIP_NETIF_EXT_STATUS_CALLBACK 1
/* Tests count objects kind by kind, and fill pools: as in lwIP's own options for its tests. */
#undef MEM_CUSTOM_ALLOCATOR
#undef MEMP_MEM_MALLOC
#define MEM_CUSTOM_ALLOCATOR 0
#define MEMP_MEM_MALLOC      0
#define MEM_SIZE             17000
#define PBUF_POOL_SIZE       400
/* TCP's tests send streams that are a few times as long as these, and count segments. */
#undef TCP_MSS
#undef TCP_RCV_SCALE
#undef TCP_WND
#undef TCP_SND_BUF
#undef TCP_SND_QUEUELEN
#undef TCP_SNDLOWAT
#undef TCP_SNDQUEUELOWAT
#define TCP_MSS              536
#define TCP_RCV_SCALE        0
#define TCP_WND              (10 * TCP_MSS)
#define TCP_SND_BUF          (12 * TCP_MSS)
#define TCP_SND_QUEUELEN     40
#define MEMP_NUM_TCP_SEG     TCP_SND_QUEUELEN
#define MEMP_NUM_SYS_TIMEOUT (LWIP_NUM_SYS_TIMEOUT_INTERNAL + 8)
/* The tests of these limits do not compile (test_tcp_oos.c: tcp_oos_pbuf_count, local_ip). */
#undef TCP_OOSEQ_MAX_BYTES
#undef TCP_OOSEQ_MAX_PBUFS
#define TCP_OOSEQ_MAX_BYTES 0
#define TCP_OOSEQ_MAX_PBUFS 0
/* test_dhcp.c and test_ip4.c count frames as they are with checks for address conflicts. */
#undef LWIP_DHCP_DOES_ACD_CHECK
#define LWIP_DHCP_DOES_ACD_CHECK 1
/* test_udp.c sends and receives broadcasts without the option for it. */
#undef IP_SOF_BROADCAST
#undef IP_SOF_BROADCAST_RECV
#define IP_SOF_BROADCAST      0
#define IP_SOF_BROADCAST_RECV 0
/* test_tcp.c chooses first numbers by lwIP's clock. */
#undef LWIP_HOOK_TCP_ISN
/* test_tcp.c counts ticks up to the first retransmission: six of TCP's slow timer. */
#undef LWIP_TCP_RTO_TIME
#define LWIP_TCP_RTO_TIME (6 * 2 * TCP_TMR_INTERVAL)
