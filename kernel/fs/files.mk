KERNEL_SRC += $(call files,fs.c path.c tar.c tree.c tree_archive.c vnode.c)
