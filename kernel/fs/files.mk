KERNEL_SRC += $(call files,dev.c fs.c path.c pseudo.c sys.c tar.c tree.c tree_archive.c tree_write.c vnode.c)
