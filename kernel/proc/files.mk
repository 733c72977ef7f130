KERNEL_SRC += $(call files,\
	applications.c bundle.c children.c code_images.c count_log.c count_session.c elf.c exec.c exec_command.c execve.c \
	family.c \
	family_sum.c figures.c fork.c futex.c ipc.c jobs.c kin.c messages.c pid_file.c limits.c \
	machine_name.c perf.c perf_count.c perf_file.c perf_ring.c perf_sample.c perf_signal.c perf_task.c perf_told.c process.c \
	procfs.c procfs_machine.c procfs_net.c procfs_process.c procfs_stat.c process_counts.c \
	program_stack.c proctree.c \
	sample_session.c semaphores.c session.c signal.c signal_deliver.c signal_file.c signal_queue.c signal_stop.c sleepers.c \
	stdio.c symbolize.c sysinfo.c timers.c user.c userfault.c uthread.c visible.c \
	words_file.c)
PURE_SRC += $(call files,kin.c)
