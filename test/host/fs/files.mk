FS_TESTED := $(addprefix kernel/fs/,path.c tar.c tree.c tree_archive.c tree_object.c tree_write.c vnode.c) \
	$(call double,fs_kernel.c objects.c)
test_tar_SRC := kernel/fs/tar.c
test_tree_SRC := $(FS_TESTED)
test_walk_SRC := $(FS_TESTED)
P9_TESTED := $(addprefix kernel/fs/,p9.c p9_change.c p9_client.c p9_contents.c p9_file.c p9_message.c path.c \
	vnode.c) $(call double,fs_kernel.c objects.c share_host.c)
test_p9_SRC := $(P9_TESTED)
