/*
 * Interfaces and addresses by AF_NETLINK, as a program of Linux's asks for them. Prints TAP; the
 * same under Linux. An argument: a card that there is, with an address.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static void gives(long result, long wanted, int error, const char *what)
{
    int now = errno;
    bool right = result == wanted && (!error || now == error);

    if (!right)
        printf("# %ld, %s\n", result, result < 0 ? strerror(now) : "no error");
    check(right, what);
}

static struct {
    struct nlmsghdr head;
    union {
        struct rtgenmsg any;
        struct ifinfomsg link;
    };
} asked;

static union {
    struct nlmsghdr head;
    char bytes[32768];
} answer;

static long ask(int s, unsigned type, unsigned flags, size_t bytes)
{
    asked.head = (struct nlmsghdr){.nlmsg_len = (uint32_t)NLMSG_LENGTH(bytes),
                                   .nlmsg_type = (uint16_t)type,
                                   .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
                                   .nlmsg_seq = 77};
    return send(s, &asked, asked.head.nlmsg_len, 0);
}

static uint32_t port_of(int s)
{
    struct sockaddr_nl a = {0};
    socklen_t n = sizeof a;

    getsockname(s, (struct sockaddr *)&a, &n);
    return a.nl_family == AF_NETLINK && n == sizeof a ? a.nl_pid : 0;
}

static void test_sockets(void)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK}, other = kernel;
    int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), on = 1;
    int t = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE);

    check(s >= 0 && t >= 0, "sockets of both types");
    gives(socket(AF_NETLINK, SOCK_STREAM, 0), -1, ESOCKTNOSUPPORT, "no streams");
    gives(socket(AF_NETLINK, SOCK_RAW, 31), -1, EPROTONOSUPPORT, "no such protocol");
    check(!port_of(s), "a socket has no port at first");
    gives(bind(s, (struct sockaddr *)&kernel, 4), -1, EINVAL, "an address that is too short");
    gives(bind(s, (struct sockaddr *)&kernel, sizeof kernel), 0, 0, "bound");
    check(port_of(s), "... it has one");
    gives(setsockopt(s, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on), 0, 0, "an option");
    gives(setsockopt(s, SOL_NETLINK, 99, &on, sizeof on), -1, ENOPROTOOPT, "no such option");
    bind(t, (struct sockaddr *)&kernel, sizeof kernel);
    check(port_of(t) && port_of(s) != port_of(t), "each socket has its own");
    other.nl_pid = 12345;
    asked.head = (struct nlmsghdr){.nlmsg_len = sizeof asked.head, .nlmsg_type = RTM_GETLINK};
    gives(sendto(s, &asked, sizeof asked.head, 0, (struct sockaddr *)&other, sizeof other), -1,
          ECONNREFUSED, "no program is sent to");
    gives(recv(s, &answer, sizeof answer, MSG_DONTWAIT), -1, EAGAIN, "nothing was asked");
    close(s);
    close(t);
}

static void test_links(void)
{
    struct sockaddr_nl from;
    struct iovec part = {&answer, sizeof answer};
    struct msghdr m = {
        .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1};
    int s = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    struct pollfd polled = {.fd = s, .events = POLLIN};

    check(ask(s, RTM_GETLINK, NLM_F_DUMP, sizeof asked.any) > 0, "all interfaces are asked for");
    check(port_of(s), "... which gives the socket a port");
    check(poll(&polled, 1, 1000) == 1 && polled.revents == POLLIN, "... there is an answer");
    long all = recv(s, NULL, 0, MSG_PEEK | MSG_TRUNC);
    check(all > 200, "... whose length is told");
    gives(recvmsg(s, &m, 0), all, 0, "... it is received");
    check(from.nl_family == AF_NETLINK && !from.nl_pid, "... from the kernel");
    check(answer.head.nlmsg_type == RTM_NEWLINK && answer.head.nlmsg_flags & NLM_F_MULTI &&
              answer.head.nlmsg_seq == 77 && answer.head.nlmsg_pid == port_of(s),
          "... an interface, with the question's number and the socket's port");
    struct ifinfomsg *link = NLMSG_DATA(&answer.head);
    check(link->ifi_index == 1 && link->ifi_type == 772 && link->ifi_flags & IFF_LOOPBACK,
          "... the loopback one");
    while (answer.head.nlmsg_type == RTM_NEWLINK)
        recv(s, &answer, sizeof answer, 0);
    check(answer.head.nlmsg_type == NLMSG_DONE, "... and its end");
    asked.link = (struct ifinfomsg){.ifi_index = 1};
    ask(s, RTM_GETLINK, 0, sizeof asked.link);
    recv(s, &answer, sizeof answer, 0);
    check(answer.head.nlmsg_type == RTM_NEWLINK && !(answer.head.nlmsg_flags & NLM_F_MULTI),
          "one interface");
    asked.link = (struct ifinfomsg){.ifi_index = 4711};
    ask(s, RTM_GETLINK, 0, sizeof asked.link);
    recv(s, &answer, sizeof answer, 0);
    struct nlmsgerr *error = NLMSG_DATA(&answer.head);
    check(answer.head.nlmsg_type == NLMSG_ERROR && error->error == -ENODEV &&
              error->msg.nlmsg_seq == 77,
          "one that there is not");
    ask(s, 4000, 0, sizeof asked.any);
    recv(s, &answer, sizeof answer, 0);
    check(answer.head.nlmsg_type == NLMSG_ERROR && error->error == -EOPNOTSUPP,
          "a question that there is not");
    close(s);
}

static void test_ifaddrs(const char *card)
{
    struct ifaddrs *list = NULL;
    bool loopback = false, has_card = false;

    gives(getifaddrs(&list), 0, 0, "getifaddrs");
    for (struct ifaddrs *a = list; a; a = a->ifa_next) {
        const struct sockaddr_in *in = (void *)a->ifa_addr, *mask = (void *)a->ifa_netmask;
        if (!in || in->sin_family != AF_INET)
            continue;
        if (!strcmp(a->ifa_name, "lo"))
            loopback |= in->sin_addr.s_addr == htonl(INADDR_LOOPBACK) &&
                        mask->sin_addr.s_addr == htonl(0xff000000) && a->ifa_flags & IFF_LOOPBACK;
        if (card && !strcmp(a->ifa_name, card))
            has_card = in->sin_addr.s_addr && a->ifa_flags & IFF_BROADCAST && a->ifa_broadaddr;
    }
    check(loopback, "... knows loopback's address and mask");
    if (card)
        check(has_card, "... and the card's, with its broadcast address");
    freeifaddrs(list);
    struct if_nameindex *names = if_nameindex();
    check(names && names[0].if_index == 1 && !strcmp(names[0].if_name, "lo"), "if_nameindex");
    if_freenameindex(names);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_sockets();
    test_links();
    test_ifaddrs(argc > 1 ? argv[1] : NULL);
    printf("1..%u\n", count);
    return failed != 0;
}
