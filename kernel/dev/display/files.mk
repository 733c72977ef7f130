# The console's font comes out of a Debian package.
FONT_SRC := $(FONT)/font_data.c
KERNEL_SRC += $(call files,screen.c)
KERNEL_SRC += $(FONT_SRC)
