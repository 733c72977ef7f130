KERNEL_SRC += $(call files,data.c families.c options.c socket.c \
	unix.c unix_datagram.c unix_name.c unix_packet.c unix_rights.c unix_stream.c)
