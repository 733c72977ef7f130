LIBC_SRC := $(call files,\
	allocation_log.c cond.c errno.c files.c futex.c hpm.c hpm_region.c malloc.c malloc_map.c memory.c mman.c mutex.c newlib_locks.c \
	signal.c socket.c start.c state.c string.c stubs.c thread.c time.c vdso.c $(ARCH)/start.S)
LIBC_SRC_x86_64 := $(call files,$(addprefix x86_64/,string.c string_avx2.c string_sse2.c))
LIBC_SRC_aarch64 := $(call files,$(addprefix aarch64/,auxv.c string.c strtold.c))
LIBC_SRC += $(LIBC_SRC_$(ARCH))
