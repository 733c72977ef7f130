/* See socket_kernel.c. */
#pragma once
#include "kernel/fs/vnode.h"
#include "test/host/double/fs_kernel.h"

extern unsigned socket_told;      /* times that pollers were told */
extern struct vnode *socket_root; /* of paths */
