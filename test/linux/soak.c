/*
 * Many connections over loopback, one after another, each echoed:
 *
 *   soak N        N connections by eight threads; half of them end by a reset
 *
 * Begins with a tenth as many more. Waits each time until TIME_WAIT is over, and fails if memory is
 * less at the end than after that beginning.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 8, SERVERS = 4, PARTS = 10, WAIT_S = 65, LEAK_KB = 512 };

static struct sockaddr_in at;
static unsigned each; /* connections of a client */

static long free_kb(void)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/meminfo", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemFree: %ld kB", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

static void *serve(void *arg)
{
    int s;

    while ((s = accept(*(int *)arg, NULL, NULL)) >= 0) {
        char b[256];
        for (ssize_t n; (n = read(s, b, sizeof b)) > 0;)
            if (write(s, b, (size_t)n) != n)
                break;
        close(s);
    }
    return NULL;
}

static void *talk(void *wrong)
{
    const struct linger now = {1, 0};

    for (unsigned i = 0; i < each; i++) {
        char sent[256], got[256];
        int s = socket(AF_INET, SOCK_STREAM, 0);
        ssize_t length = 1 + i % sizeof sent;
        memset(sent, (int)i, sizeof sent);
        if (connect(s, (struct sockaddr *)&at, sizeof at) ||
            write(s, sent, (size_t)length) != length ||
            recv(s, got, (size_t)length, MSG_WAITALL) != length ||
            memcmp(sent, got, (size_t)length))
            ++*(unsigned *)wrong;
        if (i % 2)
            setsockopt(s, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close(s);
    }
    return NULL;
}

/* Returns how many connections went wrong. */
static unsigned talk_all(void)
{
    pthread_t clients[CLIENTS];
    unsigned wrong[CLIENTS] = {0}, all = 0;

    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, talk, &wrong[i]);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i], NULL);
        all += wrong[i];
    }
    return all;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000000, wrong = 0;
    socklen_t bytes = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t servers[SERVERS];

    setvbuf(stdout, NULL, _IOLBF, 0);
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 128) ||
        getsockname(listener, (struct sockaddr *)&at, &bytes))
        return 1;
    for (int i = 0; i < SERVERS; i++)
        pthread_create(&servers[i], NULL, serve, &listener);
    each = n / PARTS / CLIENTS;
    wrong += talk_all();
    sleep(WAIT_S);
    /* What is made once is made, for as many in TIME_WAIT as there can be. */
    long before = free_kb();
    for (int part = 1; part <= PARTS; part++) {
        wrong += talk_all();
        printf("SOAK connections=%u wrong=%u less_kb=%ld\n", part * each * CLIENTS, wrong,
               before - free_kb());
    }
    sleep(WAIT_S);
    long less = before - free_kb();
    printf("SOAK end wrong=%u less_kb=%ld\n", wrong, less);
    return wrong || less > LEAK_KB;
}
