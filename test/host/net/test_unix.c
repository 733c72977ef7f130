/*
 * Sockets of AF_UNIX against those of the kernel that runs the test: the same random calls, none of
 * which waits, give the same results, bytes, descriptors and readiness. At the end no memory is
 * left.
 *
 * No more waits in queues than both kernels take: they count their memory differently.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "kernel/mem/mem.h"
#include "kernel/net/socket/unix.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/random.h"
#include "test/host/double/socket_kernel.h"

#define SLOTS   12
#define BYTES   600
#define CALLS   3000
#define NAMES   5
#define SENDS   40 /* between emptyings of all queues */
#define CONTROL 256

const struct socket_family *const socket_families[] = {&unix_family, NULL};

/* A descriptor of the host, and the same of ours. */
static struct slot {
    int fd;         /* -1: free */
    struct file *f; /* may be the file of other slots also */
    bool passed;    /* it was received: nothing is done with it, so that there are no circles */
} slots[SLOTS];
static uint64_t seed;
static unsigned sends, calls;
static const char *call;
static int call_type;
static struct memory_account *account;
static struct files *files;
static struct socket_caller by;

static unsigned below(unsigned n)
{
    return (unsigned)(test_random(&seed) % n);
}

static void same(int64_t host, int64_t ours)
{
    if (host != ours)
        printf("call %u, %s of type %d: %lld here, %lld of ours\n", calls, call, call_type,
               (long long)host, (long long)ours);
    assert_int_equal(host, ours);
}

static int64_t result(int64_t host)
{
    return host < 0 ? -errno : host;
}

static struct socket *socket_in(const struct slot *s)
{
    return socket_of(s->f);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static struct slot *free_slot(void)
{
    for (unsigned i = 0; i < SLOTS; i++)
        if (slots[i].fd < 0)
            return &slots[i];
    return NULL;
}

static struct slot *any_slot(void)
{
    for (unsigned tries = 0; tries < 100; tries++) {
        struct slot *s = &slots[below(SLOTS)];
        if (s->fd >= 0 && !s->passed)
            return s;
    }
    return NULL;
}

static void close_slot(struct slot *s)
{
    call = "close";
    close(s->fd);
    file_put(s->f);
    *s = (struct slot){.fd = -1};
}

static int draw_type(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};

    return types[below(4)];
}

static void make_socket(void)
{
    struct slot *slot = free_slot();
    struct socket *s;

    call = "socket";
    if (!slot)
        return;
    bool odd = calls && !below(10);
    int type = odd ? (int)below(12) : draw_type(), protocol = odd ? (int)below(3) : 0;
    int host = socket(AF_UNIX, type | SOCK_NONBLOCK, protocol);
    int err = socket_make(AF_UNIX, type, protocol, &by, &s);
    same(host < 0 ? result(host) : 0, err);
    if (err)
        return;
    slot->fd = host;
    assert_int_equal(socket_open(s, SOCK_NONBLOCK, &slot->f), 0);
}

static void make_pair(void)
{
    struct slot *a = free_slot(), *b;
    struct socket *s[2];
    int host[2], type = draw_type();

    call = "socketpair";
    if (!a)
        return;
    a->fd = 0;
    b = free_slot();
    a->fd = -1;
    if (!b)
        return;
    assert_int_equal(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, host), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(socket_make(AF_UNIX, type, 0, &by, &s[i]), 0);
    assert_int_equal(s[0]->ops->pair(s[0], s[1], &by), 0);
    a->fd = host[0];
    b->fd = host[1];
    assert_int_equal(socket_open(s[0], SOCK_NONBLOCK, &a->f), 0);
    assert_int_equal(socket_open(s[1], SOCK_NONBLOCK, &b->f), 0);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static socklen_t draw_address(struct socket_address *a)
{
    struct sockaddr_un *is = (struct sockaddr_un *)&a->is;
    unsigned number = below(NAMES);

    memset(a, 0, sizeof(*a));
    is->sun_family = below(60) ? AF_UNIX : AF_UNSPEC;
    snprintf(is->sun_path + 1, 40, "vigil-test-%d-%u", getpid(), number);
    a->bytes = (uint32_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(is->sun_path + 1));
    if (!below(60))
        a->bytes = below(sizeof(a->is));
    return a->bytes;
}

static void bind_socket(struct slot *s)
{
    struct socket_address a;
    socklen_t n = draw_address(&a);

    call = "bind";
    if (n == sizeof(sa_family_t) && a.is.ss_family == AF_UNIX)
        return; /* each kernel has its own names */
    int64_t host = result(bind(s->fd, (struct sockaddr *)&a.is, n));
    same(host, socket_in(s)->ops->bind(socket_in(s), &a, &by));
}

static void connect_socket(struct slot *s)
{
    struct socket_address a;
    socklen_t n = draw_address(&a);

    call = "connect";
    int64_t host = result(connect(s->fd, (struct sockaddr *)&a.is, n));
    same(host, socket_in(s)->ops->connect(socket_in(s), &a, true, &by));
}

static void tell_names(struct slot *s)
{
    struct socket_address host, ours;

    for (unsigned peer = 0; peer < 2; peer++) {
        socklen_t n = sizeof(host.is);
        call = peer ? "getpeername" : "getsockname";
        struct sockaddr *to = (struct sockaddr *)&host.is;
        int64_t err = result(peer ? getpeername(s->fd, to, &n) : getsockname(s->fd, to, &n));
        const struct socket_ops *ops = socket_in(s)->ops;
        same(err, (peer ? ops->peer : ops->name)(socket_in(s), &ours));
        if (err)
            continue;
        same(n, ours.bytes);
        assert_memory_equal(&host.is, &ours.is, n);
    }
}

static void accept_socket(struct slot *s)
{
    struct slot *to = free_slot();
    struct socket *new;

    call = "accept";
    if (!to)
        return;
    int host = accept(s->fd, NULL, NULL);
    int err = socket_in(s)->ops->accept(socket_in(s), true, &by, &new);
    same(host < 0 ? result(host) : 0, err);
    if (err)
        return;
    to->fd = host;
    assert_int_equal(socket_open(new, SOCK_NONBLOCK, &to->f), 0);
}

static void listen_socket(struct slot *s)
{
    unsigned backlog = below(4);

    call = "listen";
    int64_t host = result(listen(s->fd, (int)backlog));
    same(host, socket_in(s)->ops->listen(socket_in(s), backlog, &by));
}

/* ---- Messages -------------------------------------------------------------------------------- */

static union {
    char bytes[CONTROL];
    struct cmsghdr align;
} control;

/* Puts a descriptor into what is sent. */
static void pass_slot(struct msghdr *h, struct socket_message *m, const struct slot *passed)
{
    h->msg_control = control.bytes;
    h->msg_controllen = CMSG_SPACE(sizeof(int));
    struct cmsghdr *head = CMSG_FIRSTHDR(h);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &passed->fd, sizeof(int));
    m->rights = kmalloc(sizeof(*m->rights));
    m->rights->n = 1;
    m->rights->file[0] = file_get(passed->f);
}

static void drop_rights(struct socket_rights *r)
{
    for (unsigned i = 0; r && i < r->n; i++)
        file_put(r->file[i]);
    kfree(r);
}

static void send_to(struct slot *s)
{
    static char data[BYTES];
    bool empty = !below(3) && socket_in(s)->type != SOCK_SEQPACKET; /* lost: no error of Linux's */
    struct iovec part = {data, empty ? 0 : 1 + below(BYTES - 1)};
    struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1};
    struct socket_message m = {.caller = &by, .data = {.parts = &part, .left = part.iov_len}};
    int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (below(50) ? 0 : MSG_OOB);

    call = "sendmsg";
    if (flags & MSG_OOB && socket_in(s)->type == SOCK_STREAM)
        return; /* not built */
    if (unix_of(socket_in(s))->shut && !unix_of(socket_in(s))->peer)
        return; /* later Linux looks at that first */
    for (unsigned i = 0; i < part.iov_len; i++)
        data[i] = (char)below(256);
    if (!below(3)) {
        h.msg_namelen = draw_address(&m.address);
        h.msg_name = &m.address.is;
    }
    const struct slot *passed = &slots[0];
    if (!below(4))
        pass_slot(&h, &m, passed);
    int64_t host = result(sendmsg(s->fd, &h, flags));
    same(host, socket_in(s)->ops->send(socket_in(s), &m, (unsigned)flags));
    drop_rights(m.rights);
    sends++;
}

/* Returns how many datagrams wait in the host's queues. */
static unsigned host_queue(void)
{
    unsigned n = 0;
    FILE *f = fopen("/proc/sys/net/unix/max_dgram_qlen", "r");

    if (f && fscanf(f, "%u", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

/* Sends once, or now and then enough to fill a queue, if the host's are as long as ours. */
static void send_often(struct slot *s)
{
    unsigned times = below(30) || host_queue() != UNIX_QUEUE ? 1 : UNIX_QUEUE + 2;

    while (times--)
        send_to(s);
}

/* Takes the descriptors that came on both sides. */
static void take_passed(struct msghdr *h, struct socket_message *m)
{
    struct cmsghdr *head = CMSG_FIRSTHDR(h);
    struct slot *to = free_slot();
    int fd;

    assert_true((head != NULL) == (m->rights != NULL));
    if (!head)
        return;
    assert_int_equal(m->rights->n, 1);
    assert_int_equal(head->cmsg_len, CMSG_LEN(sizeof(int)));
    memcpy(&fd, CMSG_DATA(head), sizeof(fd));
    if (to) {
        *to = (struct slot){fd, file_get(m->rights->file[0]), true};
    } else {
        close(fd);
    }
    drop_rights(m->rights);
}

static int64_t receive_from(struct slot *s, size_t n, int flags)
{
    static char here[BYTES], ours[BYTES];
    struct socket_address name;
    struct iovec part = {here, n}, our_part = {ours, n};
    struct msghdr h = {&name.is, sizeof(name.is), &part, 1, control.bytes, CONTROL, 0};
    struct socket_message m = {.caller = &by, .data = {.parts = &our_part, .left = n}};

    call = "recvmsg";
    int64_t host = result(recvmsg(s->fd, &h, flags));
    same(host, socket_in(s)->ops->receive(socket_in(s), &m, (unsigned)flags | MSG_DONTWAIT));
    if (host < 0)
        return host;
    same((unsigned)h.msg_flags & MSG_TRUNC, m.flags & MSG_TRUNC);
    assert_memory_equal(here, ours, MIN((size_t)host, n));
    same(h.msg_namelen, m.address.bytes);
    assert_memory_equal(&name.is, &m.address.is, m.address.bytes);
    take_passed(&h, &m);
    return host;
}

static void receive_some(struct slot *s)
{
    static const int flags[] = {0, 0, 0, MSG_PEEK, MSG_TRUNC, MSG_PEEK | MSG_TRUNC, MSG_WAITALL};

    receive_from(s, 1 + below(BYTES - 1), flags[below(ARRAY_SIZE(flags))] | MSG_DONTWAIT);
}

static void empty_queues(void)
{
    for (unsigned i = 0; i < SLOTS; i++)
        if (slots[i].fd >= 0 && !slots[i].passed)
            for (unsigned n = 0; n < 2 * SENDS && receive_from(&slots[i], BYTES, MSG_DONTWAIT) >= 0;
                 n++)
                ;
    sends = 0;
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void shut_socket(struct slot *s)
{
    unsigned how = below(3);

    call = "shutdown";
    int64_t host = result(shutdown(s->fd, (int)how));
    same(host, socket_in(s)->ops->shutdown(socket_in(s), how));
}

static void look_at(struct slot *s)
{
    struct pollfd p = {.fd = s->fd, .events = 0x7fff};
    unsigned ours = socket_in(s)->ops->poll(socket_in(s));

    call = "poll";
    poll(&p, 1, 0);
    same((unsigned)p.revents & 0x3fff, ours & 0x3fff);
    int error = 0, n = 0, our_n = 0, our_error = 0;
    socklen_t bytes = sizeof(error);
    unsigned our_bytes = sizeof(our_error);
    call = "FIONREAD";
    int64_t host = result(ioctl(s->fd, FIONREAD, &n));
    same(host, socket_in(s)->ops->ioctl(socket_in(s), FIONREAD, (vaddr_t)&our_n));
    same(n, our_n);
    call = "SO_ERROR";
    getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
    assert_int_equal(socket_get_option(socket_in(s), SOL_SOCKET, SO_ERROR, &our_error, &our_bytes),
                     0);
    same(error, our_error);
}

/* Returns any descriptor but the first, which is passed around. */
static struct slot *slot_to_close(void)
{
    struct slot *s;

    do
        s = &slots[1 + below(SLOTS - 1)];
    while (s->fd < 0);
    return s;
}

static void make_call(void)
{
    struct slot *s = any_slot();
    unsigned n = below(100);

    calls++;
    call_type = s ? socket_in(s)->type : 0;
    if (n < 8 || !s)
        make_socket();
    else if (n < 14)
        make_pair();
    else if (n < 22)
        bind_socket(s);
    else if (n < 27)
        listen_socket(s);
    else if (n < 37)
        connect_socket(s);
    else if (n < 43)
        accept_socket(s);
    else if (n < 63)
        send_often(s);
    else if (n < 81)
        receive_some(s);
    else if (n < 83)
        shut_socket(s);
    else if (n < 90)
        close_slot(below(2) ? s : slot_to_close());
    else if (n < 95)
        tell_names(s);
    else
        look_at(s);
    if (sends >= SENDS)
        empty_queues();
}

static void make_calls(uint64_t with)
{
    seed = with;
    calls = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        slots[i].fd = -1;
    make_socket(); /* the one that is passed */
    slots[0].passed = true;
    for (unsigned i = 0; i < CALLS; i++)
        make_call();
    for (unsigned i = 0; i < SLOTS; i++)
        if (slots[i].fd >= 0)
            close_slot(&slots[i]);
}

static void begin(void)
{
    account = memory_account_make(NULL);
    files = kmalloc(sizeof(*files));
    files->limit = 1 << 20;
    by = (struct socket_caller){files, account, {(uint32_t)getpid(), 0, 0}};
}

static void end(void)
{
    kfree(files);
    memory_account_put(account);
}

static void test_same_as_host(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 1; i <= 40; i++) {
        make_calls(i * 7919);
        unix_collect();
        assert_int_equal(account->used, 0);
        assert_int_equal(account->passed, 0);
        assert_int_equal(fs_allocated, 2);
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_host)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
