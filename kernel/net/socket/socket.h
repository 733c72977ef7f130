/*
 * Sockets: what families of them have in common. A socket is a vnode with an opening (struct file);
 * socket calls and reads and writes come here, and go on in the operations of its family.
 *
 * A family's structure begins with a struct socket. Operations run in thread context with no lock
 * held, may sleep, and return negative error numbers, those of Linux in its order of checks. [S] =
 * the socket's lock, [A] = atomic, [-] = fixed after creation.
 *
 * No user memory is touched with the lock held: data is copied by socket_take() and socket_give(),
 * to and from memory of the kernel.
 */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/file/file.h"
#include "kernel/mem/account.h"
#include "kernel/net/socket/linux_socket.h"
#include "sched/sched.h"

struct socket_family;
struct socket_ops;

/* Options of level SOL_SOCKET, which all sockets have. */
struct socket_options {
    bool reuse_address, reuse_port, keep_alive, broadcast, dont_route, out_of_band_inline;
    bool pass_credentials;
    bool stamps, stamps_ns; /* SO_TIMESTAMP, SO_TIMESTAMPNS */
    bool lingers;
    uint32_t linger_s;
    uint64_t receive_ns, send_ns;       /* longest wait; UINT64_MAX: none */
    uint32_t receive_least;             /* bytes: SO_RCVLOWAT */
    uint32_t receive_bytes, send_bytes; /* of buffers */
    uint32_t priority, mark;
};

/* Who makes a call. Valid during the call. */
struct socket_caller {
    struct files *files;
    struct memory_account *account;
    struct socket_credentials is;
};

struct socket {
    struct vnode v;
    struct list in_made;                /* socket.c: all sockets */
    uint16_t made_on;                   /* [-] CPU whose list it is in */
    const struct socket_family *family; /* [-] */
    const struct socket_ops *ops;       /* [-] by type */
    int type, protocol;                 /* [-] */
    struct memory_account *account;     /* [-] of its maker, referenced */
    struct spinlock lock;               /* LOCK_SOCKET */
    struct wait_queue waiting;          /* [S] for whatever changes */
    struct poll_source changes;
    struct socket_options options;  /* [S] */
    int error;                      /* [S] pending: 0 or a negative number; socket_error() */
    bool listens;                   /* [S] SO_ACCEPTCONN */
    struct socket_credentials peer; /* [S] SO_PEERCRED */
    uint32_t connector; /* of an accepted one: pid of the process that connected, 0: elsewhere */
};

struct socket_address {
    struct __kernel_sockaddr_storage is; /* any family's */
    uint32_t bytes;                      /* 0: none */
};

/* ---- Messages -------------------------------------------------------------------------------- */

/* Where a message's data comes from or goes to. */
struct socket_data {
    const struct iovec *parts; /* of user memory; NULL: `kernel` */
    unsigned part;             /* at which it goes on ... */
    uint64_t in_part;          /* ... with this byte */
    char *kernel;
    uint64_t left; /* bytes */
};

/* Descriptors in a message. */
#define RIGHTS_MAX 253
struct socket_rights {
    unsigned n;
    struct file *file[RIGHTS_MAX]; /* referenced */
};

struct socket_message {
    const struct socket_caller *caller;
    struct socket_data data;
    /* Sent: where to, bytes 0: none given. Received: the family says where from. */
    struct socket_address address;
    /* Of families that pass them. Sent: the family takes what it keeps of `rights`, sets it to
     * NULL. Received: given by the family, with a reference to each file. */
    struct socket_rights *rights;
    struct socket_credentials credentials;
    bool has_credentials;
    /* Control data. Sent: what is none of the above, as it lay in user memory; the family reads
     * it.     * Received: room, which socket_put_control() fills. */
    char *control;
    size_t control_bytes; /* in use */
    size_t control_room;
    uint64_t stamp_ns; /* received: when, by the clock of the date; 0: not known */
    unsigned flags;    /* received: MSG_TRUNC, MSG_CTRUNC, MSG_EOR hold */
};

/* Copy n bytes, at most data.left, out of what is sent, and into what is received. Return 0 or
 * -EFAULT. No lock held. */
int socket_take(struct socket_message *m, void *to, size_t n);
int socket_give(struct socket_message *m, const void *from, size_t n);
/* Appends a part to the control data received; without room MSG_CTRUNC is set. Any context. */
void socket_put_control(struct socket_message *m, int level, int type, const void *from, size_t n);

/* ---- Families -------------------------------------------------------------------------------- */

/* None is NULL: socket_no_*() stand for those that a kind of socket lacks. `nonblock`: the call
 * must not sleep. */
struct socket_ops {
    bool breaks; /* a send that the other does not take any more makes a SIGPIPE */
    int (*pair)(struct socket *a, struct socket *b, const struct socket_caller *by);
    int (*bind)(struct socket *s, const struct socket_address *at, const struct socket_caller *by);
    int (*connect)(struct socket *s, const struct socket_address *to, bool nonblock,
                   const struct socket_caller *by);
    int (*listen)(struct socket *s, unsigned backlog, const struct socket_caller *by);
    /* Takes a connection: *out has the caller's reference, as of socket_make(). */
    int (*accept)(struct socket *s, bool nonblock, const struct socket_caller *by,
                  struct socket **out);
    /* Send and receive; `flags`: MSG_*, with MSG_DONTWAIT if the call must not sleep. Return the
     * number of bytes. -EPIPE makes a SIGPIPE if `breaks`, without MSG_NOSIGNAL. */
    int64_t (*send)(struct socket *s, struct socket_message *m, unsigned flags);
    int64_t (*receive)(struct socket *s, struct socket_message *m, unsigned flags);
    int (*shutdown)(struct socket *s, unsigned how); /* SHUT_* */
    /* Store the own and the other's address. */
    int (*name)(struct socket *s, struct socket_address *out);
    int (*peer)(struct socket *s, struct socket_address *out);
    /* Options of other levels than SOL_SOCKET. *bytes: room, then what was stored. */
    int (*get_option)(struct socket *s, int level, int name, void *out, unsigned *bytes);
    int (*set_option)(struct socket *s, int level, int name, const void *value, unsigned bytes);
    /* An option of SOL_SOCKET has been set: SO_*. */
    void (*option_set)(struct socket *s, int name);
    unsigned (*poll)(struct socket *s); /* what of POLL* holds now */
    int64_t (*ioctl)(struct socket *s, uint32_t request, vaddr_t arg);
    /* The last descriptor is closed, or it never had one. Others may still reference it. */
    void (*close)(struct socket *s);
    /* Waits, after close, until what was sent has arrived: SO_LINGER. A signal ends that. */
    void (*linger)(struct socket *s);
    /* Frees what the family added: queues, names, rights. The last reference is gone. */
    void (*release)(struct socket *s);
};

struct socket_family {
    int domain; /* AF_* */
    const char *name;
    size_t bytes; /* of its structure, charged to the maker */
    bool passes;  /* descriptors and credentials: SCM_RIGHTS, SCM_CREDENTIALS */
    /* Sets s->ops, and what the structure needs. s has domain, type and protocol as asked; 0 or
     * -ESOCKTNOSUPPORT, -EPROTONOSUPPORT, -EPROTOTYPE, ... */
    int (*create)(struct socket *s, const struct socket_caller *by);
};

/* families.c: all that are built, up to NULL. */
extern const struct socket_family *const socket_families[];

/* ---- socket.c -------------------------------------------------------------------------------- */
/* Makes a socket that has no file; type without SOCK_NONBLOCK and so on. Its reference is dropped
 * by socket_drop(), or becomes that of a file (socket_open()). Returns 0; -EAFNOSUPPORT; -EINVAL;
 * -ENOBUFS: mem.kernel; -ENOMEM; or the family's error. */
int socket_make(int domain, int type, int protocol, const struct socket_caller *by,
                struct socket **out);
/* Makes one of the same family, type, protocol and options as another, for a connection that is
 * accepted. Charged to the account of `like`. */
int socket_make_like(const struct socket *like, const struct socket_caller *by,
                     struct socket **out);
/* Closes a socket that has no file. */
void socket_drop(struct socket *s);
/* Opens it: its reference becomes the file's, also after an error. `flags`: O_NONBLOCK. */
int socket_open(struct socket *s, uint32_t flags, struct file **out);
struct socket *socket_of(const struct file *f); /* NULL: it is none */
static inline struct socket *socket_get(struct socket *s)
{
    vnode_get(&s->v);
    return s;
}
/* Returns the next of all sockets behind s, of NULL the first, in any order, with a reference, or
 * NULL. Drops the caller's reference to s. Any context without a spinlock. */
struct socket *socket_next(struct socket *s);
static inline void socket_put(struct socket *s)
{
    vnode_put(s ? &s->v : NULL);
}

/* Wakes those that wait for it: what poll returns may have changed for `mask`. Lock held. */
void socket_changed(struct socket *s, unsigned mask);
/* Deadlines of a call that begins: UINT64_MAX: none; 0: it must not sleep. Take the lock. */
uint64_t socket_receive_deadline(struct socket *s, bool nonblock);
uint64_t socket_send_deadline(struct socket *s, bool nonblock);
/* Sleeps until socket_changed(). Lock held, with its interrupt state in irq. Returns 0; -EAGAIN:
 * the deadline; -ERESTARTSYS, or -EINTR if there is a deadline. */
int socket_wait(struct socket *s, bool *irq, uint64_t deadline_ns);
/* The same in another queue, which the lock guards. */
int socket_wait_in(struct wait_queue *q, struct socket *s, bool *irq, uint64_t deadline_ns);
/* Takes the pending error. Lock held. Returns 0 or a negative number. */
int socket_error(struct socket *s);

/* For families that lack them: -EOPNOTSUPP, but for ioctl, -ENOTTY. */
int socket_no_pair(struct socket *a, struct socket *b, const struct socket_caller *by);
int socket_no_listen(struct socket *s, unsigned backlog, const struct socket_caller *by);
int socket_no_accept(struct socket *s, bool nonblock, const struct socket_caller *by,
                     struct socket **out);
int socket_no_get_option(struct socket *s, int level, int name, void *out, unsigned *bytes);
int socket_no_set_option(struct socket *s, int level, int name, const void *value, unsigned bytes);
void socket_no_option_set(struct socket *s, int name);
void socket_no_linger(struct socket *s);
int64_t socket_no_ioctl(struct socket *s, uint32_t request, vaddr_t arg);

/* interfaces.c. Answers requests of ioctl about network interfaces. Returns 0; -ENOTTY: it is none;
 * -ENODEV; -EADDRNOTAVAIL; -EFAULT. Thread context, no lock held. */
int64_t socket_interface_ioctl(const struct socket *s, uint32_t request, vaddr_t arg);

/* ---- options.c ------------------------------------------------------------------------------- */
void socket_init_options(struct socket_options *o); /* as of a new socket */
/* Stores the n bytes of an option's value, or what there is room for. Returns 0. */
int socket_put_option(void *out, unsigned *bytes, const void *from, unsigned n);
#define SOCKET_OPTION_MAX 512 /* bytes of a value */
/* Get and set an option. *bytes: room, then what was stored. Values lie in the kernel. */
int socket_get_option(struct socket *s, int level, int name, void *out, unsigned *bytes);
int socket_set_option(struct socket *s, int level, int name, const void *value, unsigned bytes);
