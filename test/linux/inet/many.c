/* Many connections, and their memory. */
#include "inet.h"

static long free_kb(void)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/meminfo", "r");

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "MemFree: %ld kB", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

static void *echo(void *arg)
{
    int l = *(int *)arg, s;

    while ((s = accept(l, NULL, NULL)) >= 0) {
        char b[256];
        for (ssize_t n; (n = read(s, b, sizeof(b))) > 0;)
            write(s, b, (size_t)n);
        close(s);
    }
    return NULL;
}

/* Every `resets`-th connection ends by a reset. */
static unsigned talk(struct sockaddr_in at, unsigned times, unsigned resets)
{
    unsigned right = 0;

    for (unsigned i = 0; i < times; i++) {
        char sent[256], got[256];
        int s = socket(AF_INET, SOCK_STREAM, 0);
        size_t length = 1 + i % sizeof(sent), done = 0;
        struct linger now = {1, 0};
        memset(sent, (int)i, sizeof(sent));
        if (connect_to(s, at) || write(s, sent, length) != (ssize_t)length)
            printf("# connection %u: %s\n", i, strerror(errno));
        for (ssize_t n = 1; done < length && n > 0; done += n > 0 ? (size_t)n : 0)
            n = read(s, got + done, length - done);
        right += done == length && !memcmp(sent, got, length);
        if (i % resets == 0)
            setsockopt(s, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
        close(s);
    }
    return right;
}

#define TALKERS 8
#define TALKS   250 /* of each */
#define LEAK_KB 150 /* less than 100 bytes for each */

static struct sockaddr_in talks_to;

static void *talk_often(void *arg)
{
    *(unsigned *)arg = talk(talks_to, TALKS, 1);
    return NULL;
}

/* Returns how many connections were right. */
static unsigned talk_all(void)
{
    pthread_t talkers[TALKERS];
    unsigned right[TALKERS], all = 0;

    for (int i = 0; i < TALKERS; i++)
        pthread_create(&talkers[i], NULL, talk_often, &right[i]);
    for (int i = 0; i < TALKERS; i++) {
        pthread_join(talkers[i], NULL);
        all += right[i];
    }
    return all;
}

void test_many(void)
{
    int l = listener(128);
    pthread_t servers[4];

    talks_to = name_of(l);
    for (int i = 0; i < 4; i++)
        pthread_create(&servers[i], NULL, echo, &l);
    gives(talk(talks_to, 100, 2), 100, 0, "100 connections, each echoed");
    gives(talk_all(), TALKERS * TALKS, 0, "2,000 connections of 8 threads that end by resets");
    long before = free_kb(); /* what is made once is made */
    gives(talk_all(), TALKERS * TALKS, 0, "... again");
    long used = before - free_kb();
    printf("# %ld KB less\n", used);
    check(used < LEAK_KB, "... and their memory is free again");
    shutdown(l, SHUT_RDWR);
    for (int i = 0; i < 4; i++)
        pthread_join(servers[i], NULL);
    close(l);
}
