# lwIP, which is fetched (tools/lwip.sh), and what joins it with the kernel. Only these see its
# headers, and a C library of three.
LWIP_SRC := $(addprefix $(LWIP)/src/core/,\
	def.c inet_chksum.c init.c ip.c mem.c memp.c netif.c pbuf.c stats.c tcp.c tcp_in.c tcp_out.c \
	timeouts.c udp.c \
	$(addprefix ipv4/,dhcp.c etharp.c icmp.c ip4.c ip4_addr.c ip4_frag.c)) \
	$(LWIP)/src/netif/ethernet.c
LWIP_INC := -Ikernel/net/lwip -I$(LWIP)/src/include
LWIP_USERS := $(call files,connections.c datagram.c figures.c half_open.c instance.c interface.c \
	memory.c stream.c timers.c) \
	kernel/net/socket/inet_stream.c
KERNEL_SRC += $(LWIP_SRC) $(filter $(folder)%,$(LWIP_USERS))
# Pure, without headers of lwIP.
NET_PURE_SRC := $(call files,cookie.c demux.c frame.c)
PURE_SRC += $(NET_PURE_SRC)
KERNEL_SRC += $(NET_PURE_SRC)
