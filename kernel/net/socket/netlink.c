/* Sockets of AF_NETLINK; see netlink.h. */
#include "kernel/net/socket/netlink.h"
#include "kernel/mem/mem.h"
#include <linux/netlink.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>

#define ASKED_MAX   4096 /* bytes of messages that are sent at once */
#define SOL_NETLINK 270
#define OWN_PORTS   0x80000000u
#define OPTION_LAST NETLINK_GET_STRICT_CHK

struct netlink_socket {
    struct socket s;
    struct mutex reading; /* turn to take from the queue */
    uint32_t port;        /* [S] 0: it has none yet */
    uint32_t groups;      /* [S] */
    uint32_t options;     /* [S] bits of those that are on */
    uint64_t queued;      /* [S] bytes */
    struct list queue;    /* [S] of answers */
};

static struct netlink_socket *netlink_of(struct socket *s)
{
    return container_of(s, struct netlink_socket, s);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static void put_address(uint32_t port, uint32_t groups, struct socket_address *out)
{
    const struct sockaddr_nl a = {.nl_family = AF_NETLINK, .nl_pid = port, .nl_groups = groups};

    memcpy(&out->is, &a, sizeof(a));
    out->bytes = sizeof(a);
}

static int take_address(const struct socket_address *a, struct sockaddr_nl *out)
{
    if (a->bytes < sizeof(*out))
        return -EINVAL;
    memcpy(out, &a->is, sizeof(*out));
    return out->nl_family == AF_NETLINK ? 0 : -EINVAL;
}

/* Gives the socket a port, unless it has one. Returns it. */
static uint32_t own_port(struct netlink_socket *n, uint32_t wanted)
{
    bool irq = spin_lock(&n->s.lock);

    if (!n->port)
        n->port = wanted ? wanted : OWN_PORTS | (uint32_t)n->s.v.id;
    wanted = n->port;
    spin_unlock(&n->s.lock, irq);
    return wanted;
}

static int bind_netlink(struct socket *s, const struct socket_address *at,
                        UNUSED const struct socket_caller *by)
{
    struct sockaddr_nl a;
    int err = take_address(at, &a);

    if (err)
        return err;
    if (own_port(netlink_of(s), a.nl_pid) != a.nl_pid && a.nl_pid)
        return -EINVAL;
    netlink_of(s)->groups = a.nl_groups;
    return 0;
}

/* All that there is to be connected to is the kernel. */
static int connect_netlink(struct socket *s, const struct socket_address *to, UNUSED bool nonblock,
                           UNUSED const struct socket_caller *by)
{
    struct sockaddr_nl a;

    if (to->bytes >= sizeof(to->is.ss_family) && to->is.ss_family == AF_UNSPEC)
        return 0;
    int err = take_address(to, &a);
    if (!err && a.nl_pid)
        err = -ECONNREFUSED;
    if (!err)
        own_port(netlink_of(s), 0);
    return err;
}

static int name_netlink(struct socket *s, struct socket_address *out)
{
    put_address(netlink_of(s)->port, netlink_of(s)->groups, out);
    return 0;
}

static int peer_netlink(UNUSED struct socket *s, struct socket_address *out)
{
    put_address(0, 0, out);
    return 0;
}

/* ---- Answers --------------------------------------------------------------------------------- */

uint32_t netlink_begin(struct netlink_answer *a, const struct netlink_request *r, uint16_t type,
                       uint16_t flags, const void *first, size_t bytes)
{
    const struct nlmsghdr head = {
        .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = r->sequence, .nlmsg_pid = r->port};
    uint32_t begin = a->bytes;

    memcpy(a->data + begin, &head, sizeof(head));
    memcpy(a->data + begin + sizeof(head), first, bytes);
    a->bytes += (uint32_t)ALIGN_UP(sizeof(head) + bytes, (size_t)NLMSG_ALIGNTO);
    return begin;
}

void netlink_end(struct netlink_answer *a, uint32_t begin)
{
    uint32_t bytes = a->bytes - begin;

    memcpy(a->data + begin, &bytes, sizeof(bytes));
}

/* Puts an answer into the queue, which has it then, or loses it. */
static int queue_answer(struct netlink_socket *n, struct netlink_answer *a)
{
    bool irq = spin_lock(&n->s.lock);
    bool fits = n->queued + a->bytes <= n->s.options.receive_bytes;

    if (fits) {
        list_push_back(&n->queue, &a->in_queue);
        n->queued += a->bytes;
        socket_changed(&n->s, POLLIN | POLLRDNORM);
    }
    spin_unlock(&n->s.lock, irq);
    if (!fits)
        kfree(a);
    return fits ? 0 : -ENOBUFS;
}

static int answer_error(struct netlink_socket *n, const struct netlink_request *r,
                        const struct nlmsghdr *asked, int error)
{
    struct netlink_answer *a = kmalloc(sizeof(*a) + NETLINK_ANSWER_MAX);
    bool whole = error && !(n->options & 1u << NETLINK_CAP_ACK);
    size_t bytes =
        whole ? MIN((size_t)asked->nlmsg_len, (size_t)NETLINK_ANSWER_MAX / 2) : sizeof(*asked);

    if (!a)
        return -ENOBUFS;
    uint16_t flags = whole ? 0 : NLM_F_CAPPED;
    uint32_t begin = netlink_begin(a, r, NLMSG_ERROR, flags, &error, sizeof(error));
    memcpy(a->data + a->bytes, asked, bytes);
    a->bytes += (uint32_t)ALIGN_UP(bytes, (size_t)NLMSG_ALIGNTO);
    netlink_end(a, begin);
    return queue_answer(n, a);
}

static int answer_done(struct netlink_socket *n, const struct netlink_request *r)
{
    struct netlink_answer *a = kmalloc(sizeof(*a) + sizeof(struct nlmsghdr) + sizeof(int));
    const int error = 0;

    if (!a)
        return -ENOBUFS;
    netlink_end(a, netlink_begin(a, r, NLMSG_DONE, NLM_F_MULTI, &error, sizeof(error)));
    return queue_answer(n, a);
}

static int answer_route(struct netlink_socket *n, const struct netlink_request *r,
                        const struct nlmsghdr *asked)
{
    struct netlink_answer *a = kmalloc(sizeof(*a) + NETLINK_ANSWER_MAX);

    if (!a)
        return -ENOBUFS;
    int error = netlink_route(r, a);
    if (error || !a->bytes)
        kfree(a);
    if (error)
        return answer_error(n, r, asked, error);
    int err = a->bytes ? queue_answer(n, a) : 0;
    if (err)
        return err;
    if (r->dumps)
        return answer_done(n, r);
    return asked->nlmsg_flags & NLM_F_ACK ? answer_error(n, r, asked, 0) : 0;
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* Reads which interface a request of RTM_GETLINK names. */
static void read_link(struct netlink_request *r, const struct nlmsghdr *h)
{
    const size_t heads = sizeof(*h) + sizeof(struct ifinfomsg);
    const uint8_t *at = (const uint8_t *)h + heads;
    size_t left = h->nlmsg_len > heads ? h->nlmsg_len - heads : 0;
    struct rtattr part;

    if (h->nlmsg_len >= heads)
        r->index = (uint32_t)((const struct ifinfomsg *)(h + 1))->ifi_index;
    while (left >= sizeof(part)) {
        memcpy(&part, at, sizeof(part));
        if (part.rta_len < sizeof(part) || part.rta_len > left)
            return;
        if (part.rta_type == IFLA_IFNAME) {
            r->name = (const char *)at + sizeof(part);
            r->name_bytes = part.rta_len - (unsigned)sizeof(part);
        }
        size_t step = MIN(ALIGN_UP((size_t)part.rta_len, (size_t)RTA_ALIGNTO), left);
        at += step;
        left -= step;
    }
}

static int do_request(struct netlink_socket *n, const struct nlmsghdr *h)
{
    struct netlink_request r = {.port = own_port(n, 0),
                                .sequence = h->nlmsg_seq,
                                .type = h->nlmsg_type,
                                .dumps = (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP};

    if (!(h->nlmsg_flags & NLM_F_REQUEST) || h->nlmsg_type < NLMSG_MIN_TYPE)
        return h->nlmsg_flags & NLM_F_ACK ? answer_error(n, &r, h, 0) : 0;
    if (h->nlmsg_len > sizeof(*h))
        r.family = *(const uint8_t *)(h + 1);
    if (r.type == RTM_GETLINK && !r.dumps)
        read_link(&r, h);
    return answer_route(n, &r, h);
}

/* Does what the messages in a buffer ask for, up to one that is not whole. */
static int do_requests(struct netlink_socket *n, const uint8_t *at, size_t left)
{
    int err = 0;

    while (!err && left >= sizeof(struct nlmsghdr)) {
        const struct nlmsghdr *h = (const void *)at;
        if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > left)
            break;
        err = do_request(n, h);
        size_t step = MIN(ALIGN_UP((size_t)h->nlmsg_len, (size_t)NLMSG_ALIGNTO), left);
        at += step;
        left -= step;
        sched_point();
    }
    return err;
}

static int64_t send_netlink(struct socket *s, struct socket_message *m, unsigned flags)
{
    size_t bytes = m->data.left;
    struct sockaddr_nl to = {0};
    int err = flags & MSG_OOB     ? -EOPNOTSUPP
              : m->address.bytes  ? take_address(&m->address, &to)
              : bytes > ASKED_MAX ? -EMSGSIZE
                                  : 0;

    if (!err && to.nl_pid)
        err = -ECONNREFUSED;
    if (err || !bytes)
        return err ? err : -ENODATA;
    uint8_t *asked = kmalloc_unfilled(bytes);
    if (!asked)
        return -ENOBUFS;
    err = socket_take(m, asked, bytes) ?: do_requests(netlink_of(s), asked, bytes);
    kfree(asked);
    return err ? err : (int64_t)bytes;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* Waits for an answer, which stays in the queue. The turn to read is held, but while it waits. */
static int wait_for_answer(struct netlink_socket *n, uint64_t deadline_ns,
                           struct netlink_answer **out)
{
    struct socket *s = &n->s;
    int err = 0;

    for (;;) {
        bool irq = spin_lock(&s->lock), found = !list_empty(&n->queue);
        if (found)
            *out = container_of(n->queue.next, struct netlink_answer, in_queue);
        spin_unlock(&s->lock, irq);
        if (found || err)
            return found ? 0 : err;
        mutex_unlock(&n->reading);
        irq = spin_lock(&s->lock);
        while (!err && list_empty(&n->queue))
            err = socket_wait(s, &irq, deadline_ns);
        spin_unlock(&s->lock, irq);
        mutex_lock(&n->reading);
    }
}

static int64_t give_answer(struct netlink_socket *n, struct netlink_answer *a,
                           struct socket_message *m, unsigned flags)
{
    uint64_t bytes = MIN((uint64_t)a->bytes, m->data.left);
    int64_t result = flags & MSG_TRUNC ? a->bytes : (int64_t)bytes;

    put_address(0, 0, &m->address);
    if (bytes < a->bytes)
        m->flags |= MSG_TRUNC;
    if (socket_give(m, a->data, bytes))
        return -EFAULT;
    if (flags & MSG_PEEK)
        return result;
    bool irq = spin_lock(&n->s.lock);
    list_remove(&a->in_queue);
    n->queued -= a->bytes;
    spin_unlock(&n->s.lock, irq);
    kfree(a);
    return result;
}

static int64_t receive_netlink(struct socket *s, struct socket_message *m, unsigned flags)
{
    uint64_t deadline_ns = socket_receive_deadline(s, flags & MSG_DONTWAIT);
    struct netlink_socket *n = netlink_of(s);
    struct netlink_answer *a;

    if (flags & MSG_OOB)
        return -EOPNOTSUPP;
    mutex_lock(&n->reading);
    int64_t result = wait_for_answer(n, deadline_ns, &a) ?: give_answer(n, a, m, flags);
    mutex_unlock(&n->reading);
    return result;
}

/* ---- The rest -------------------------------------------------------------------------------- */

static int get_netlink_option(struct socket *s, int level, int name, void *out, unsigned *bytes)
{
    if (level != SOL_NETLINK || name < 1 || name > OPTION_LAST)
        return -ENOPROTOOPT;
    if (*bytes < sizeof(int))
        return -EINVAL;
    int on = netlink_of(s)->options >> name & 1;
    return socket_put_option(out, bytes, &on, sizeof(on));
}

static int set_netlink_option(struct socket *s, int level, int name, const void *value,
                              unsigned bytes)
{
    int on;

    if (level != SOL_NETLINK || name < 1 || name > OPTION_LAST)
        return -ENOPROTOOPT;
    if (bytes < sizeof(on))
        return -EINVAL;
    memcpy(&on, value, sizeof(on));
    bool irq = spin_lock(&s->lock);
    uint32_t bit = 1u << name, others = netlink_of(s)->options & ~bit;
    netlink_of(s)->options = others | (on ? bit : 0);
    spin_unlock(&s->lock, irq);
    return 0;
}

static unsigned poll_netlink(struct socket *s)
{
    bool irq = spin_lock(&s->lock);
    unsigned found = POLLOUT | POLLWRNORM | (s->error ? POLLERR : 0) |
                     (list_empty(&netlink_of(s)->queue) ? 0 : POLLIN | POLLRDNORM);

    spin_unlock(&s->lock, irq);
    return found;
}

static int shutdown_netlink(UNUSED struct socket *s, UNUSED unsigned how)
{
    return -EOPNOTSUPP;
}

static void close_netlink(UNUSED struct socket *s)
{
}

static void release_netlink(struct socket *s)
{
    struct list *l;

    while ((l = list_pop_front(&netlink_of(s)->queue)))
        kfree(container_of(l, struct netlink_answer, in_queue));
}

static const struct socket_ops netlink_ops = {
    .pair = socket_no_pair,
    .bind = bind_netlink,
    .shutdown = shutdown_netlink,
    .name = name_netlink,
    .peer = peer_netlink,
    .get_option = get_netlink_option,
    .set_option = set_netlink_option,
    .option_set = socket_no_option_set,
    .ioctl = socket_no_ioctl,
    .close = close_netlink,
    .linger = socket_no_linger,
    .release = release_netlink,
    .connect = connect_netlink,
    .listen = socket_no_listen,
    .accept = socket_no_accept,
    .send = send_netlink,
    .receive = receive_netlink,
    .poll = poll_netlink,
};

static int create_netlink(struct socket *s, UNUSED const struct socket_caller *by)
{
    struct netlink_socket *n = netlink_of(s);

    if (s->type != SOCK_RAW && s->type != SOCK_DGRAM)
        return -ESOCKTNOSUPPORT;
    if (s->protocol != NETLINK_ROUTE)
        return -EPROTONOSUPPORT;
    s->ops = &netlink_ops;
    list_init(&n->queue);
    mutex_init(&n->reading, "turn to receive");
    return 0;
}

const struct socket_family netlink_family = {
    .domain = AF_NETLINK,
    .name = "netlink",
    .bytes = sizeof(struct netlink_socket),
    .create = create_netlink,
};
