FS_TESTED := $(addprefix kernel/fs/,path.c tar.c tree.c tree_archive.c tree_write.c vnode.c) \
	$(call double,fs_kernel.c)
test_tar_SRC := kernel/fs/tar.c
test_tree_SRC := $(FS_TESTED)
test_walk_SRC := $(FS_TESTED)
