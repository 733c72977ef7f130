KERNEL_SRC += $(call files,data.c families.c inet.c inet_datagram.c inet_options.c \
	inet_stream.c interfaces.c netlink.c netlink_route.c options.c socket.c \
	unix.c unix_datagram.c unix_name.c unix_packet.c unix_rights.c unix_stream.c)
