KERNEL_SRC += $(call files,epoll.c event.c file.c files.c open.c pipe.c poll.c timer.c tty.c)
