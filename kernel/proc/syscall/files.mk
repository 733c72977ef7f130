KERNEL_SRC += $(call files,\
	capability.c change.c clone.c epoll.c execve.c file.c futex.c hpm.c identity.c kin.c knob.c limits.c lock.c mapping.c memory.c msg.c path.c perf.c pidfd.c poll.c \
	process.c schedule.c sem.c sendfile.c shm.c signal.c stamp.c socket.c splice.c socket_control.c socket_message.c state.c table.c thread.c time.c timer.c transfer.c)
