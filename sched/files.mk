KERNEL_SRC += $(call files,\
	balance.c gate.c load.c migrate.c mutex.c policies.c quanta.c runqueue.c sched.c thread.c timer.c topology.c wait.c \
	watchdog.c)
