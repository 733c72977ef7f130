/*
 * A web server of a few pages, and its opposite, for tests of the network from outside.
 *
 *   web serve                 port 80: / a line; /large 4 MB; a POST: the sum of what came; /end
 *   web fetch IP PORT PATH    prints how many bytes came, and their sum
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGE (4 << 20)

/* Adler-32 without its modulus, which 64 bits do not need here. */
static uint64_t sum_of(uint64_t sum, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + (unsigned char)p[i];
    return sum;
}

static void send_all(int s, const char *p, size_t n)
{
    while (n) {
        ssize_t sent = write(s, p, n);
        if (sent <= 0)
            return;
        p += sent;
        n -= (size_t)sent;
    }
}

static void answer(int s, const char *body, size_t n)
{
    char head[128];

    snprintf(head, sizeof(head), "HTTP/1.0 200 OK\r\nContent-Length: %zu\r\n\r\n", n);
    send_all(s, head, strlen(head));
    send_all(s, body, n);
}

/* Sums a body of which `here` bytes have come. */
static void answer_sum(int s, const char *head, const char *body, size_t here)
{
    static char more[65536];
    const char *length = strstr(head, "Content-Length: ");
    size_t left = length ? strtoul(length + 16, NULL, 10) : 0, all = left;
    uint64_t sum = sum_of(0, body, here);
    char text[64];

    left -= here;
    for (ssize_t n; left && (n = read(s, more, sizeof(more))) > 0; left -= (size_t)n)
        sum = sum_of(sum, more, (size_t)n);
    snprintf(text, sizeof(text), "%zu %llu\n", all - left, (unsigned long long)sum);
    answer(s, text, strlen(text));
}

static int serve(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(80)};
    static char large[LARGE], request[8192];
    int l = socket(AF_INET, SOCK_STREAM, 0), s, ends = 0;

    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)('a' + i * 7 % 26);
    if (bind(l, (struct sockaddr *)&any, sizeof(any)) || listen(l, 64)) {
        perror("web");
        return 1;
    }
    puts("web: listens");
    fflush(stdout);
    while (!ends && (s = accept(l, NULL, NULL)) >= 0) {
        size_t n = 0;
        char *body = NULL;
        for (ssize_t r; !body && (r = read(s, request + n, sizeof(request) - 1 - n)) > 0;) {
            request[n += (size_t)r] = '\0';
            body = strstr(request, "\r\n\r\n");
        }
        ends = !strncmp(request, "GET /end", 8);
        if (body && !strncmp(request, "POST", 4))
            answer_sum(s, request, body + 4, n - (size_t)(body + 4 - request));
        else if (!strncmp(request, "GET /large", 10))
            answer(s, large, LARGE);
        else
            answer(s, "vigil\n", 6);
        close(s);
    }
    close(l);
    return 0;
}

static int fetch(const char *ip, const char *port, const char *path)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(port)),
                             .sin_addr.s_addr = inet_addr(ip)};
    static char got[65536];
    int s = socket(AF_INET, SOCK_STREAM, 0);
    uint64_t sum = 0;
    size_t all = 0;

    if (connect(s, (struct sockaddr *)&to, sizeof(to))) {
        perror("web: connect");
        return 1;
    }
    snprintf(got, sizeof(got), "GET %s HTTP/1.0\r\n\r\n", path);
    send_all(s, got, strlen(got));
    size_t n = 0;
    char *body = NULL;
    for (ssize_t r; !body && (r = read(s, got + n, sizeof(got) - 1 - n)) > 0;) {
        got[n += (size_t)r] = '\0';
        body = strstr(got, "\r\n\r\n");
    }
    if (body) {
        all = n - (size_t)(body + 4 - got);
        sum = sum_of(0, body + 4, all);
    }
    for (ssize_t r; (r = read(s, got, sizeof(got))) > 0; all += (size_t)r)
        sum = sum_of(sum, got, (size_t)r);
    printf("web: bytes=%zu sum=%llu\n", all, (unsigned long long)sum);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "serve"))
        return serve();
    if (argc == 5 && !strcmp(argv[1], "fetch"))
        return fetch(argv[2], argv[3], argv[4]);
    fputs("web: expected serve, or fetch IP PORT PATH\n", stderr);
    return 2;
}
