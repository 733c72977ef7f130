/*
 * Finds hosts by name, as every program of glibc does, with a server for names of its own at
 * 127.0.0.1:53. Prints TAP. Boot with net.dns=127.0.0.1.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 12, PACKET = 512, TYPE_A = 1 };

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

/* Returns where the question's name ends. */
static size_t end_of_name(const unsigned char *p, size_t n)
{
    size_t at = HEAD;

    while (at < n && p[at])
        at += p[at] + 1u;
    return at + 1;
}

/* Makes an answer of a question: 10.1.2.3 for far.test, nothing for others. */
static size_t answer(unsigned char *p, size_t n)
{
    static const unsigned char far_test[] = "\3far\4test",
                               record[] = {0xc0, HEAD, 0, TYPE_A, 0,  1, 0, 0,
                                           0,    60,   0, 4,      10, 1, 2, 3};
    size_t end = end_of_name(p, n) + 4;
    bool known = end <= n && !memcmp(p + HEAD, far_test, sizeof far_test), a = p[end - 3] == TYPE_A;

    p[2] |= 0x80;
    p[3] = (unsigned char)(0x80 | (known ? 0 : 3)); /* it is an answer; 3: no such name */
    p[7] = known && a;
    memset(p + 8, 0, 4);
    if (known && a)
        memcpy(p + end, record, sizeof record);
    return end + (known && a ? sizeof record : 0);
}

static void *serve(void *arg)
{
    unsigned char packet[PACKET + 32];
    struct sockaddr_in from;
    socklen_t size = sizeof from;

    for (ssize_t n;
         (n = recvfrom(*(int *)arg, packet, PACKET, 0, (struct sockaddr *)&from, &size)) > HEAD + 5;
         size = sizeof from)
        sendto(*(int *)arg, packet, answer(packet, (size_t)n), 0, (struct sockaddr *)&from, size);
    return NULL;
}

static bool finds(const char *name, const char *address)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found;
    char text[INET_ADDRSTRLEN] = "";
    int err = getaddrinfo(name, "80", &hints, &found);

    if (err) {
        printf("# %s: %s\n", name, gai_strerror(err));
        return !address;
    }
    if (found->ai_family == AF_INET)
        inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr, text,
                  sizeof text);
    freeaddrinfo(found);
    printf("# %s: %s\n", name, text);
    return address && !strcmp(text, address);
}

int main(void)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    pthread_t thread;

    if (bind(s, (struct sockaddr *)&at, sizeof at) || pthread_create(&thread, NULL, serve, &s)) {
        perror("names");
        return 1;
    }
    check(finds("far.test", "10.1.2.3"), "a name that the server knows");
    check(finds("far.test.", "10.1.2.3"), "... and with its last dot");
    check(finds("none.test", NULL), "one that it does not know");
    check(finds("localhost", "127.0.0.1"), "localhost, by /etc/hosts");
    check(finds("10.9.8.7", "10.9.8.7"), "an address is its own name");
    printf("1..%u\n", count);
    return failed != 0;
}
