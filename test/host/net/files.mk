UNIX_TESTED := $(addprefix kernel/fs/,path.c tar.c tree.c tree_archive.c tree_object.c tree_write.c vnode.c) \
	$(addprefix kernel/file/,file.c lock.c ranges.c) kernel/mem/account.c $(addprefix kernel/net/socket/,data.c options.c socket.c) \
	$(filter kernel/net/socket/unix%,$(KERNEL_SRC)) $(call double,fs_kernel.c objects.c socket_kernel.c)
test_unix_SRC := $(UNIX_TESTED)
test_unix_circles_SRC := $(UNIX_TESTED)
test_net_frame_SRC := kernel/net/lwip/frame.c kernel/dev/net/net_hash.c
test_lwip_wire_SRC = $(LWIP_TESTED) $(call double,lossy.c)
test_lwip_script_SRC = $(LWIP_TESTED) $(call double,packet_script.c)
LWIP_TESTS += $(call files,test_lwip_script.c)
test_lwip_timers_SRC = $(LWIP_TESTED)
LWIP_TESTS += $(call files,test_lwip_timers.c)
test_demux_SRC := kernel/net/lwip/demux.c
test_lwip_connections_SRC = $(LWIP_TESTED)
LWIP_TESTS += $(call files,test_lwip_connections.c)
test_cookie_SRC := kernel/net/lwip/cookie.c kernel/lib/siphash.c
test_lwip_flood_SRC = $(LWIP_TESTED) kernel/net/lwip/frame.c kernel/dev/net/net_hash.c
LWIP_TESTS += $(call files,test_lwip_flood.c)
