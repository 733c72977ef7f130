/* Datagrams. */
#include "inet.h"

void test_datagrams(void)
{
    int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in from, at;
    char buffer[64];
    socklen_t n = sizeof(from);

    bind_to(a, loopback(0));
    at = name_of(a);
    gives(send(b, "x", 1, 0), -1, EDESTADDRREQ, "a datagram to nowhere");
    gives(sendto(b, "first", 5, 0, (struct sockaddr *)&at, sizeof(at)), 5, 0, "a datagram");
    gives(sendto(b, "", 0, 0, (struct sockaddr *)&at, sizeof(at)), 0, 0, "an empty one");
    gives(polled(a, POLLIN, 1000), POLLIN, 0, "... poll tells");
    gives(recvfrom(a, buffer, 3, MSG_TRUNC, (struct sockaddr *)&from, &n), 5, 0, "cut short");
    check(from.sin_port == name_of(b).sin_port && from.sin_addr.s_addr == htonl(INADDR_LOOPBACK),
          "... with its source");
    gives(recv(a, buffer, sizeof(buffer), 0), 0, 0, "the empty one");
    gives(recv(a, buffer, sizeof(buffer), MSG_DONTWAIT), -1, EAGAIN, "no more");
    gives(connect_to(b, at), 0, 0, "connects");
    gives(send(b, "second", 6, 0), 6, 0, "... and sends");
    gives(recv(a, buffer, sizeof(buffer), 0), 6, 0, "... which arrives");
    gives(sendto(a, "other", 5, 0, (struct sockaddr *)&at, sizeof(at)), 5, 0, "to itself");
    gives(recv(a, buffer, sizeof(buffer), 0), 5, 0, "... arrives");
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    gives(connect(b, &none, sizeof(none)), 0, 0, "disconnects");
    gives(send(b, "x", 1, 0), -1, EDESTADDRREQ, "... and knows no other end");
    static char large[65508];
    gives(sendto(b, large, 65508, 0, (struct sockaddr *)&at, sizeof(at)), -1, EMSGSIZE,
          "a datagram that is too long");
    gives(sendto(b, large, 60000, 0, (struct sockaddr *)&at, sizeof(at)), 60000, 0, "a long one");
    gives(recv(a, large, sizeof(large), 0), 60000, 0, "... arrives");
    close(a);
    close(b);
}

void test_refused_datagrams(void)
{
    int to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
    struct sockaddr_in nowhere;
    char data[4];

    bind_to(to, loopback(0));
    nowhere = name_of(to);
    close(to);
    connect_to(from, nowhere);
    gives(send(from, "a", 1, 0), 1, 0, "a datagram to a port without a socket");
    gives(polled(from, POLLIN, 1000) & POLLERR, POLLERR, 0, "... is refused, as poll says");
    gives(option(from, SOL_SOCKET, SO_ERROR), ECONNREFUSED, 0, "... and SO_ERROR");
    gives(option(from, SOL_SOCKET, SO_ERROR), 0, 0, "... once");
    send(from, "a", 1, 0);
    gives(recv(from, data, sizeof(data), 0), -1, ECONNREFUSED, "... a call that receives ends");
    send(from, "a", 1, 0);
    polled(from, POLLIN, 1000);
    gives(send(from, "a", 1, 0), -1, ECONNREFUSED, "... the next that sends fails");
    close(from);
    from = socket(AF_INET, SOCK_DGRAM, 0);
    sendto(from, "a", 1, 0, (struct sockaddr *)&nowhere, sizeof(nowhere));
    gives(polled(from, POLLIN, 50) & POLLERR, 0, 0, "a socket without a peer does not hear of it");
    setsockopt(from, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
    sendto(from, "a", 1, 0, (struct sockaddr *)&nowhere, sizeof(nowhere));
    gives(polled(from, POLLIN, 1000) & POLLERR, POLLERR, 0, "... unless it asks for it");
    gives(option(from, SOL_SOCKET, SO_ERROR), ECONNREFUSED, 0, "... with that error");
    close(from);
}

void test_packet_info(void)
{
    struct sockaddr_in at = loopback(0);
    int on = 1, from = socket(AF_INET, SOCK_DGRAM, 0), to = socket(AF_INET, SOCK_DGRAM, 0);
    char data[8], control[CMSG_SPACE(sizeof(struct in_pktinfo))];
    struct iovec part = {data, sizeof(data)};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    struct in_pktinfo info = {0};

    bind(to, (struct sockaddr *)&at, sizeof(at));
    at = name_of(to);
    setsockopt(to, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
    sendto(from, "packet", 6, 0, (struct sockaddr *)&at, sizeof(at));
    gives(recvmsg(to, &m, 0), 6, 0, "a datagram with IP_PKTINFO");
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    check(c && c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO &&
              c->cmsg_len == CMSG_LEN(sizeof(info)),
          "... has control data of that kind");
    if (c)
        memcpy(&info, CMSG_DATA(c), sizeof(info));
    check(info.ipi_addr.s_addr == htonl(INADDR_LOOPBACK) &&
              info.ipi_spec_dst.s_addr == htonl(INADDR_LOOPBACK) && info.ipi_ifindex == 1,
          "... which tells where it was sent to, and the interface");
    close(from);
    close(to);
}
