/*
 * The warehouse server (after SPECjbb2000, with several threads to a warehouse as in [Azimi 2007,
 * 3.4.2]). Threads run transactions against the warehouse they belong to. So the threads of one
 * warehouse share its districts, rows, trees and locks with one another, and almost nothing with
 * other threads.
 */
#include <inttypes.h>
#include <stdio.h>
#include "apps/common/team.h"
#include "apps/workloads/warehouse/company.h"

struct program {
    uint64_t warehouses, threads, scale, remote;
    uint64_t seed;
    struct company company;
    struct arena arena;
};

/* The first thread of each warehouse fills it. */
static void prepare(void *context, struct team_member *member)
{
    struct program *program = context;

    if (member->index % program->threads == 0)
        warehouse_load(&program->company, member->group, program->seed);
    terminal_init(member->data, &program->company, member->group, member->prng);
}

static void operate(void *context, struct team_member *member)
{
    (void)context;
    terminal_step(member->data);
}

/* Settles the terminals and prints their results. */
static void settle(const struct team_plan *plan, const struct team_member *members)
{
    uint64_t done[TRANSACTIONS] = {0};
    uint64_t rolled_back = 0;

    for (unsigned i = 0; i < plan->count; i++) {
        struct terminal *terminal = members[i].data;
        terminal_settle(terminal);
        rolled_back += terminal->rolled_back;
        for (unsigned kind = 0; kind < TRANSACTIONS; kind++)
            done[kind] += terminal->done[kind];
    }
    printf("warehouse: new_order=%" PRIu64 " payment=%" PRIu64 " order_status=%" PRIu64
           " delivery=%" PRIu64 " stock_level=%" PRIu64 " rolled_back=%" PRIu64 "\n",
           done[NEW_ORDER], done[PAYMENT], done[ORDER_STATUS], done[DELIVERY], done[STOCK_LEVEL],
           rolled_back);
}

int main(int argc, char **argv)
{
    static struct team_plan plan = {
        .seed = 1, .run_ms = 1000, .steady_percent = 50, .prepare = prepare, .operate = operate};
    static struct program program = {.warehouses = 2, .threads = 8, .scale = 10, .remote = 1};
    static const struct args_entry entries[] = {
        {"warehouses", ARGS_NUMBER, &program.warehouses, 1, WAREHOUSES_MAX, NULL, "warehouses"},
        {"threads", ARGS_NUMBER, &program.threads, 1, TEAM_MAX, NULL, "threads of each warehouse"},
        {"scale", ARGS_NUMBER, &program.scale, 1, 400, NULL,
         "size of a warehouse in percent of 25 MB"},
        {"remote", ARGS_NUMBER, &program.remote, 0, 100, NULL,
         "percent of order lines that another warehouse supplies"},
        TEAM_ARGS(plan),
    };
    static const struct args_table table = {"warehouse",
                                            "a wholesale company with threads for each warehouse",
                                            entries, sizeof entries / sizeof entries[0]};
    static struct team_result result;
    struct team_member *members;
    struct sizes sizes;
    int status;

    args_parse_or_exit(&table, argc, argv);
    if (program.warehouses * program.threads > TEAM_MAX)
        args_refuse(&table, "warehouses,threads", "range", "%u threads in all; use 1..%d",
                    (unsigned)(program.warehouses * program.threads), TEAM_MAX);
    team_form_equal(&plan, (unsigned)program.warehouses, (unsigned)program.threads);
    plan.context = &program;
    program.seed = plan.seed;
    sizes = company_sizes((unsigned)program.warehouses, (unsigned)program.scale,
                          (unsigned)program.remote);
    company_init(&program.company, &sizes);
    members = team_members_new(&program.arena, &plan);
    for (unsigned i = 0; i < plan.count; i++)
        members[i].data =
            arena_alloc(&program.arena, sizeof(struct terminal), alignof(struct terminal));

    team_run(&plan, members, &result);
    settle(&plan, members);
    status = team_report("warehouse", &plan, &result, company_check(&program.company));
    company_free(&program.company);
    arena_free(&program.arena);
    return status;
}
