/*
 * The program: a server of auction sites and its users, as two processes, or one of the two. See
 * site.h. An operation is a request and its reply.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/common/served.h"
#include "apps/common/team.h"
#include "apps/libc/hpm.h"
#include "apps/workloads/auction/site.h"

struct program {
    uint64_t sites, users, items, people, seed;
    struct served served;
    struct arena arena;
    struct site *site; /* array */
};

/* ---- The server: a thread for each connection ------------------------------------------------ */

struct connection {
    alignas(ARENA_LINE) const struct program *program;
    int fd;
    uint32_t site;
    uint64_t answered[KINDS];
    pthread_t thread;
};

static bool accepts(const struct program *program, const struct request *q)
{
    return q->kind < KINDS && q->person >= 1 && q->person <= program->people &&
           (q->kind != SELL || (q->target < CATEGORIES && q->amount > 0)) &&
           (q->kind != BID || q->amount > 0);
}

static void *serve(void *argument)
{
    struct connection *c = argument;
    struct site *site = &c->program->site[c->site];
    struct request request;
    struct reply reply;

    hpm_group((int)c->site);
    while (receive_all(c->fd, &request, sizeof request) && accepts(c->program, &request)) {
        site_answer(site, &request, &reply);
        c->answered[request.kind]++;
        if (!send_all(c->fd, &reply, sizeof reply))
            break;
    }
    close(c->fd);
    return NULL;
}

static _Noreturn void fail(const char *event, unsigned which)
{
    fprintf(stderr, "auction: event=%s connection=%u: the server ends: %s\n", event, which,
            strerror(errno));
    exit(1);
}

static void accept_all(const struct program *program, int listening, struct connection *c,
                       unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct request first;
        c[i].program = program;
        c[i].fd = address_accept(&program->served.served, listening);
        if (c[i].fd < 0 || !receive_all(c[i].fd, &first, sizeof first) || first.kind != KINDS ||
            first.target >= program->sites)
            fail("refused", i);
        c[i].site = first.target;
        if (pthread_create(&c[i].thread, NULL, serve, &c[i]))
            fail("no_thread", i);
    }
    close(listening);
}

static int run_server(struct program *program, int argc, char **argv)
{
    unsigned count = (unsigned)(program->sites * program->users);
    struct connection *c =
        arena_alloc(&program->arena, count * sizeof *c, alignof(struct connection));
    const char *broken = NULL;
    uint64_t requests = 0, changes = 0;

    program->site =
        arena_alloc(&program->arena, program->sites * sizeof(struct site), alignof(struct site));
    for (unsigned i = 0; i < program->sites; i++)
        site_init(&program->site[i], (unsigned)program->items, (unsigned)program->people,
                  program->seed + i);
    accept_all(program, served_listen(&program->served, count, argc, argv), c, count);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(c[i].thread, NULL);
        for (unsigned kind = 0; kind < KINDS; kind++) {
            requests += c[i].answered[kind];
            changes += kind >= BID ? c[i].answered[kind] : 0;
        }
    }
    for (unsigned i = 0; i < program->sites && !broken; i++)
        broken = site_check(&program->site[i]);
    printf("auction: sites=%u users=%u requests=%" PRIu64 " changes=%" PRIu64 " check=%s\n",
           (unsigned)program->sites, (unsigned)program->users, requests, changes,
           broken ? broken : "ok");
    fflush(stdout);
    return served_end(&program->served, broken);
}

/* ---- The users: a thread each ---------------------------------------------------------------- */

struct user {
    alignas(ARENA_LINE) int fd;
    uint32_t person;
    struct reply last;
    const char *broken; /* the first law that does not hold, one word; NULL: none */
};

static void prepare(void *context, struct team_member *member)
{
    const struct program *program = context;
    struct request first = {.kind = KINDS, .target = member->group};
    struct user *u = member->data;

    u->person = 1 + prng_below(&member->prng, (uint32_t)program->people);
    u->fd = address_connect(&program->served.served);
    if (u->fd < 0 || !send_all(u->fd, &first, sizeof first)) {
        fprintf(stderr, "auction: event=no_server user=%u: no connection: %s\n", member->index,
                strerror(errno));
        exit(1);
    }
}

static void operate(void *context, struct team_member *member)
{
    const struct program *program = context;
    struct user *u = member->data;
    struct request request;

    request_draw(&member->prng, &u->last, (unsigned)program->items, (unsigned)program->people,
                 u->person, &request);
    if (!send_all(u->fd, &request, sizeof request) ||
        !receive_all(u->fd, &u->last, sizeof u->last)) {
        u->last.rows = 0;
        u->broken = "connection";
    } else if (!u->broken) {
        u->broken = reply_check(&request, &u->last);
    }
    if (u->last.rows > ROWS)
        u->last.rows = 0;
}

static int run_users(struct program *program, struct team_plan *plan)
{
    static struct team_result result;
    const char *broken = NULL;

    team_form_equal(plan, (unsigned)program->sites, (unsigned)program->users);
    plan->context = program;
    struct team_member *members = team_members_new(&program->arena, plan);
    for (unsigned i = 0; i < plan->count; i++)
        members[i].data = arena_alloc(&program->arena, sizeof(struct user), alignof(struct user));
    team_run(plan, members, &result);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct user *u = members[i].data;
        close(u->fd);
        broken = broken ? broken : u->broken;
    }
    return team_report("auction", plan, &result, broken);
}

int main(int argc, char **argv)
{
    static struct team_plan plan = {
        .seed = 1, .run_ms = 1000, .steady_percent = 50, .prepare = prepare, .operate = operate};
    static struct program program = {.sites = 2,
                                     .users = 8,
                                     .items = 3000,
                                     .people = 1000,
                                     .served = {.program = "auction", .port = 8041}};
    static const struct args_entry entries[] = {
        {"sites", ARGS_NUMBER, &program.sites, 1, SITES_MAX, NULL, "auction sites"},
        {"users", ARGS_NUMBER, &program.users, 1, 64, NULL, "users of each site"},
        {"items", ARGS_NUMBER, &program.items, 100, 1000000, NULL, "items of each site"},
        {"people", ARGS_NUMBER, &program.people, 100, 1000000, NULL, "people that a site knows"},
        SERVED_ARGS(program.served),
        TEAM_ARGS(plan),
    };
    static const struct args_table table = {"auction", "auction sites and their users", entries,
                                            sizeof entries / sizeof entries[0]};

    args_parse_or_exit(&table, argc, argv);
    served_begin(&program.served);
    program.seed = plan.seed;
    return program.served.role == ROLE_USERS ? run_users(&program, &plan)
                                             : run_server(&program, argc, argv);
}
