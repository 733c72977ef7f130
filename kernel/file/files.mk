KERNEL_SRC += $(call files,discipline.c epoll.c event.c file.c files.c keyboard.c lock.c open.c owner.c pipe.c poll.c pty.c ranges.c terminal.c timer.c \
	tty.c)
