# lwIP, which is fetched (tools/lwip.sh), and what joins it with the kernel. Only these see its
# headers, and a C library of three.
LWIP_SRC := $(addprefix $(LWIP)/src/core/,\
	def.c inet_chksum.c init.c ip.c mem.c memp.c netif.c pbuf.c stats.c tcp.c tcp_in.c tcp_out.c \
	timeouts.c udp.c \
	$(addprefix ipv4/,dhcp.c etharp.c icmp.c ip4.c ip4_addr.c ip4_frag.c)) \
	$(LWIP)/src/netif/ethernet.c
LWIP_INC := -Ikernel/net/lwip -I$(LWIP)/src/include
# What each instance has of its own: copy 0 under the names of the sources, others in objects of
# $(folder)n*.o, whose names begin so (tools/instances.sh).
INSTANCE_SRC := $(LWIP_SRC) \
	$(call files,card.c connections.c errors.c figures.c half_open.c instance.c memory.c ports.c \
	stream.c timers.c)
INSTANCE_COPIES := $(call files,$(addsuffix .o,$(addprefix n,1 2 3 4 5 6 7)))
LWIP_USERS := $(filter $(folder)%,$(INSTANCE_SRC)) $(call files,datagram.c interface.c streams.c)
KERNEL_SRC += $(LWIP_SRC) $(filter $(folder)%,$(LWIP_USERS)) $(call files,fusion.c instances.c)
# Pure, without headers of lwIP.
NET_PURE_SRC := $(call files,cookie.c demux.c frame.c)
PURE_SRC += $(NET_PURE_SRC)
KERNEL_SRC += $(NET_PURE_SRC)
