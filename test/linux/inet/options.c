/* Options. */
#include "inet.h"

void test_options(void)
{
    static const struct {
        int level, name, value, got;
        const char *what;
    } numbers[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1, 1, "TCP_NODELAY"},
        {IPPROTO_TCP, TCP_KEEPIDLE, 100, 100, "TCP_KEEPIDLE"},
        {IPPROTO_TCP, TCP_KEEPINTVL, 10, 10, "TCP_KEEPINTVL"},
        {IPPROTO_TCP, TCP_KEEPCNT, 5, 5, "TCP_KEEPCNT"},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 5000, 5000, "TCP_USER_TIMEOUT"},
        {IPPROTO_IP, IP_TTL, 33, 33, "IP_TTL"},
        {IPPROTO_IP, IP_TOS, 0x10, 0x10, "IP_TOS"},
        {SOL_SOCKET, SO_KEEPALIVE, 1, 1, "SO_KEEPALIVE"},
        {SOL_SOCKET, SO_REUSEADDR, 1, 1, "SO_REUSEADDR"},
    };
    int s = socket(AF_INET, SOCK_STREAM, 0);

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        gives(set(s, numbers[i].level, numbers[i].name, numbers[i].value), 0, 0, numbers[i].what);
        gives(option(s, numbers[i].level, numbers[i].name), numbers[i].got, 0, "... as it was set");
    }
    gives(set(s, IPPROTO_TCP, TCP_KEEPIDLE, 0), -1, EINVAL, "TCP_KEEPIDLE of 0");
    gives(set(s, IPPROTO_TCP, 12345, 0), -1, ENOPROTOOPT, "an option that TCP lacks");
    gives(set(s, IPPROTO_IP, IP_TTL, 300), -1, EINVAL, "IP_TTL of 300");
    gives(option(s, IPPROTO_TCP, 12345), -ENOPROTOOPT, 0, "... nor has");
    struct tcp_info info;
    socklen_t n = sizeof(info);
    gives(getsockopt(s, IPPROTO_TCP, TCP_INFO, &info, &n), 0, 0, "TCP_INFO");
    gives(info.tcpi_state, TCP_CLOSE, 0, "... of a new socket");
    close(s);
    int pair[2];
    make_pair(pair);
    n = sizeof(info);
    getsockopt(pair[0], IPPROTO_TCP, TCP_INFO, &info, &n);
    gives(info.tcpi_state, TCP_ESTABLISHED, 0, "... of a connection");
    check(option(pair[0], IPPROTO_TCP, TCP_MAXSEG) >= 536, "TCP_MAXSEG of a connection");
    close_pair(pair);
}
