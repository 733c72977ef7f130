/* The program: a server and its users, as two processes, or one of the two. See chat.h. */
#include <inttypes.h>
#include <stdio.h>
#include "apps/common/served.h"
#include "apps/common/team.h"
#include "apps/workloads/chat/users.h"

struct program {
    uint64_t rooms, users;
    unsigned layout;
    struct served served;
    struct arena arena;
};

static void prepare(void *context, struct team_member *member)
{
    const struct program *program = context;

    user_join(member->data, &program->served.served);
}

static void operate(void *context, struct team_member *member)
{
    (void)context;
    user_speak(member->data, prng_next(&member->prng));
}

static void finish(void *context, struct team_member *member)
{
    (void)context;
    user_part(member->data);
}

static const char *broken_of(const struct team_plan *plan, const struct team_member *members)
{
    const char *broken = NULL;

    for (unsigned i = 0; i < plan->count; i++)
        broken = broken ? broken : ((const struct user *)members[i].data)->broken;
    return broken;
}

static int run_users(struct program *program, struct team_plan *plan)
{
    static struct team_result result;

    team_form_equal(plan, (unsigned)program->rooms, (unsigned)program->users);
    plan->context = program;
    struct team_member *members = team_members_new(&program->arena, plan);
    for (unsigned i = 0; i < plan->count; i++) {
        struct user *u = members[i].data =
            arena_alloc(&program->arena, sizeof *u, alignof(struct user));
        u->room = plan->group[i];
        u->number = i % (unsigned)program->users;
    }
    team_run(plan, members, &result);
    return team_report("chat", plan, &result, broken_of(plan, members));
}

static int serve(struct program *program, int argc, char **argv)
{
    static struct house house;
    uint64_t said = 0, delivered = 0;

    house_init(&house, (unsigned)program->rooms, (unsigned)program->users,
               (enum layout)program->layout);
    server_run(&house, &program->served.served,
               served_listen(&program->served, house.rooms * house.users, argc, argv));
    const char *broken = house_check(&house);
    for (unsigned i = 0; i < house.rooms; i++) {
        said += house.room[i]->order;
        delivered += house.room[i]->delivered;
    }
    printf("chat: rooms=%u users=%u said=%" PRIu64 " delivered=%" PRIu64 " check=%s\n", house.rooms,
           house.users, said, delivered, broken ? broken : "ok");
    fflush(stdout);
    return served_end(&program->served, broken);
}

int main(int argc, char **argv)
{
    static const char *const layouts[] = {"room", "mixed", NULL};
    static struct team_plan plan = {.seed = 1,
                                    .run_ms = 1000,
                                    .steady_percent = 50,
                                    .prepare = prepare,
                                    .operate = operate,
                                    .finish = finish};
    static struct program program = {
        .rooms = 4, .users = 8, .served = {.program = "chat", .port = 8040}};
    static const struct args_entry entries[] = {
        {"rooms", ARGS_NUMBER, &program.rooms, 1, ROOMS_MAX, NULL, "rooms"},
        {"users", ARGS_NUMBER, &program.users, 1, USERS_MAX, NULL, "users of each room"},
        {"layout", ARGS_CHOICE, &program.layout, 0, 0, layouts,
         "which data the server keeps for each room, or for all"},
        SERVED_ARGS(program.served),
        TEAM_ARGS(plan),
    };
    static const struct args_table table = {"chat", "a chat server and its users", entries,
                                            sizeof entries / sizeof entries[0]};

    args_parse_or_exit(&table, argc, argv);
    served_begin(&program.served);
    return program.served.role == ROLE_USERS ? run_users(&program, &plan)
                                             : serve(&program, argc, argv);
}
