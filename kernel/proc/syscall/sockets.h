/* What the files of socket calls share. */
#pragma once
#include "kernel/net/socket/socket.h"
#include "kernel/proc/syscall/syscall.h"

/* Stores who makes a call. */
void socket_called_by(const struct call *c, struct socket_caller *out);
/* Finds the socket of a descriptor, whose file is referenced. Returns 0, -EBADF or -ENOTSOCK. */
int socket_find(const struct call *c, uint64_t fd, struct file **f, struct socket **out);
static inline bool socket_nonblocking(const struct file *f)
{
    return __atomic_load_n(&f->flags, __ATOMIC_RELAXED) & SOCK_NONBLOCK;
}
/* Copies an address from user memory; bytes 0: there is none. Returns 0, -EINVAL or -EFAULT. */
int socket_take_address(struct socket_address *a, vaddr_t from, int bytes);
/* Copies it to user memory, as far as there is room; the word at `length` says how much that is,
 * and gets the address's length. Returns 0, -EFAULT or -EINVAL. */
int socket_put_address(const struct socket_address *a, vaddr_t to, vaddr_t length);

/* ---- socket_message.c ------------------------------------------------------------------------ */
/* Parts of user memory are checked (parts_check()). Read and write f, a socket, as read(2) and
 * write(2) do. */
int64_t socket_transfer(const struct call *c, struct file *f, const struct iovec *parts, unsigned n,
                        bool writes);
/* Sends n bytes of the kernel's memory on a socket, as write(2) does. */
int64_t socket_send_kernel(const struct call *c, struct file *f, const void *from, uint64_t n);

/* Receives up to n bytes into the kernel's memory; `now`: does not wait. */
int64_t socket_receive_kernel(const struct call *c, struct file *f, void *to, uint64_t n, bool now);

/* ---- socket_control.c ------------------------------------------------------------------------ */
/* Takes descriptors and credentials from the control data of a message that is sent. Returns 0 or
 * an error; then nothing is held. */
int socket_take_passed(const struct call *c, struct socket_message *m);
/* Puts time, credentials and descriptors that were received into the control data; of those that
 * find no room, MSG_CTRUNC tells. Drops the rest. */
void socket_put_passed(const struct call *c, struct socket *s, struct socket_message *m,
                       bool closes);
void socket_drop_rights(struct socket_rights *r); /* of NULL: nothing */

/* ---- file.c ---------------------------------------------------------------------------------- */
/* Checks parts of user memory. Returns 0, -EINVAL or -EFAULT. */
int parts_check(const struct iovec *parts, uint64_t n);
/* Sends the caller SIGPIPE. */
void pipe_signal(const struct call *c);
