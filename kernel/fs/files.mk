KERNEL_SRC += $(call files,dev.c fs.c p9.c p9_change.c p9_client.c p9_contents.c p9_file.c p9_message.c path.c pseudo.c share.c sys.c tar.c tree.c tree_archive.c tree_object.c tree_write.c vnode.c)
