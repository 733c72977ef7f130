KERNEL_SRC += $(call files,event.c file.c files.c open.c pipe.c poll.c tty.c)
