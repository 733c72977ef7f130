KERNEL_SRC += $(call files,epoll.c event.c file.c files.c keyboard.c lock.c open.c pipe.c poll.c ranges.c timer.c tty.c)
