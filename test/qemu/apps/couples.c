/*
 * Two processes that share nothing but connections: each thread of the server answers one user.
 * Every couple begins on two chips, the first and the last one, and may then run anywhere.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/common/served.h"
#include "apps/common/team.h"
#include "apps/libc/hpm.h"
#include "test/qemu/apps/halves.h"

enum { COUPLES_MAX = 16, MESSAGE_BYTES = 1024 };

struct user {
    int fd;
    bool apart; /* it still has to stay where it is */
    char message[MESSAGE_BYTES];
};

static struct program {
    uint64_t couples;
    struct served served;
    struct arena arena;
} program = {.couples = 4, .served = {.program = "couples", .port = 8050}};

static void *answer(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char message[MESSAGE_BYTES];
    uint32_t number;

    if (!receive_all(fd, &number, sizeof number))
        return NULL;
    hpm_group((int)number);
    half_run_on(number % 2);
    for (bool first = true; receive_all(fd, message, sizeof message); first = false) {
        for (unsigned i = 0; i < sizeof message; i++)
            message[i]++;
        if (!send_all(fd, message, sizeof message))
            break;
        if (first)
            half_run_on(HALF_BOTH);
    }
    close(fd);
    return NULL;
}

static int serve(int argc, char **argv)
{
    int listening = served_listen(&program.served, (unsigned)program.couples, argc, argv);
    pthread_t threads[COUPLES_MAX];

    for (unsigned i = 0; i < program.couples; i++) {
        int fd = address_accept(&program.served.served, listening);
        if (fd < 0 || pthread_create(&threads[i], NULL, answer, (void *)(intptr_t)fd)) {
            fprintf(stderr, "couples: event=no_thread: %s\n", strerror(errno));
            exit(1);
        }
    }
    for (unsigned i = 0; i < program.couples; i++)
        pthread_join(threads[i], NULL);
    return served_end(&program.served, NULL);
}

static void prepare(void *context, struct team_member *member)
{
    struct user *u = member->data;
    uint32_t number = member->group;

    (void)context;
    u->fd = address_connect(&program.served.served);
    if (u->fd < 0 || !send_all(u->fd, &number, sizeof number)) {
        fprintf(stderr, "couples: event=no_server: %s\n", strerror(errno));
        exit(1);
    }
    half_run_on(!(number % 2));
    u->apart = true;
}

static void operate(void *context, struct team_member *member)
{
    struct user *u = member->data;

    (void)context;
    if (!send_all(u->fd, u->message, sizeof u->message) ||
        !receive_all(u->fd, u->message, sizeof u->message))
        exit(1);
    if (u->apart)
        half_run_on(HALF_BOTH);
    u->apart = false;
}

int main(int argc, char **argv)
{
    static struct team_plan plan = {
        .seed = 1, .run_ms = 100, .steady_percent = 50, .prepare = prepare, .operate = operate};
    static struct team_result result;
    static const struct args_entry entries[] = {
        {"couples", ARGS_NUMBER, &program.couples, 1, COUPLES_MAX, NULL, "threads of each process"},
        SERVED_ARGS(program.served),
        TEAM_ARGS(plan),
    };
    static const struct args_table table = {"couples", "pairs of threads of two processes", entries,
                                            sizeof entries / sizeof entries[0]};

    args_parse_or_exit(&table, argc, argv);
    served_begin(&program.served);
    if (program.served.role != ROLE_USERS)
        return serve(argc, argv);
    team_form_equal(&plan, (unsigned)program.couples, 1);
    struct team_member *members = team_members_new(&program.arena, &plan);
    for (unsigned i = 0; i < plan.count; i++)
        members[i].data = arena_alloc(&program.arena, sizeof(struct user), alignof(struct user));
    team_run(&plan, members, &result);
    for (unsigned i = 0; i < plan.count; i++)
        close(((struct user *)members[i].data)->fd);
    return team_report("couples", &plan, &result, NULL);
}
