/*
 * Threads that share with others than the sharing detector has reason to expect.
 *
 *   fickle mood=calm        all share with all for the first part of the run, up to `steady`, then
 *                           none with any: the stalls for which a detection began are over
 *   fickle mood=contrary    groups that share little, each spread over both halves of the CPUs at
 *                           first; for as long as every group is together on one half, all share
 *                           with all, and much more: a placement of the groups makes stalls grow
 *
 * Only the machine's own time and the threads' places decide, not chance.
 */
#include <stdatomic.h>
#include "apps/common/team.h"
#include "test/qemu/apps/halves.h"

enum mood { MOOD_CALM, MOOD_CONTRARY };
enum {
    GROUPS = 2,
    PER_GROUP = 4,
    THREADS = GROUPS * PER_GROUP,
    BOARDS = GROUPS + 1, /* one of each group, and that of all */
    BOARD_LINES = 16,
    OWN_ROUNDS = 512,  /* of an operation, without a shared line */
    SHARED_LITTLE = 5, /* lines that an operation writes */
    SHARED_MUCH = 64,
};

struct line {
    alignas(ARENA_LINE) _Atomic uint64_t sum;
};

/* Where a thread runs. Written only when that changes. */
struct spot {
    alignas(ARENA_LINE) _Atomic unsigned half;
};

static struct line board[BOARDS][BOARD_LINES];
static struct spot spot[THREADS];
static unsigned mood;
static long cpus;

static void prepare(void *context, struct team_member *member)
{
    (void)context;
    half_run_on(member->index % 2);
    atomic_store_explicit(&spot[member->index].half, member->index % 2, memory_order_relaxed);
}

static void note_spot(const struct team_member *member)
{
    _Atomic unsigned *half = &spot[member->index].half;
    unsigned now = half_now(cpus);

    if (atomic_load_explicit(half, memory_order_relaxed) != now)
        atomic_store_explicit(half, now, memory_order_relaxed);
}

/* Returns whether each group is on one half. */
static bool groups_are_together(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (atomic_load_explicit(&spot[i].half, memory_order_relaxed) !=
            atomic_load_explicit(&spot[i / PER_GROUP * PER_GROUP].half, memory_order_relaxed))
            return false;
    return true;
}

static void work_alone(struct team_member *member)
{
    for (unsigned i = 0; i < OWN_ROUNDS; i++)
        prng_next(&member->prng);
}

static void write_lines(struct team_member *member, struct line *lines, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        atomic_fetch_add_explicit(&lines[(prng_next(&member->prng) >> 32) % BOARD_LINES].sum, 1,
                                  memory_order_relaxed);
}

static void operate(void *context, struct team_member *member)
{
    bool all;

    (void)context;
    if (!member->ops)
        half_run_on(HALF_BOTH);
    note_spot(member);
    work_alone(member);
    if (mood == MOOD_CALM)
        all = !member->ops_before_steady;
    else
        all = groups_are_together();
    if (all)
        write_lines(member, board[GROUPS], SHARED_MUCH);
    else if (mood == MOOD_CONTRARY)
        write_lines(member, board[member->group], SHARED_LITTLE);
}

int main(int argc, char **argv)
{
    static const char *const moods[] = {"calm", "contrary", NULL};
    static struct team_plan plan = {
        .seed = 1, .run_ms = 100, .steady_percent = 25, .prepare = prepare, .operate = operate};
    static struct team_result result;
    static struct arena arena;
    static const struct args_entry entries[] = {
        {"mood", ARGS_CHOICE, &mood, 0, 0, moods,
         "when all share with all: at first, or once the "
         "groups are together"},
        TEAM_ARGS(plan),
    };
    static const struct args_table table = {"fickle", "threads that change what they share",
                                            entries, sizeof entries / sizeof entries[0]};

    args_parse_or_exit(&table, argc, argv);
    cpus = sysconf(_SC_NPROCESSORS_ONLN);
    team_form_equal(&plan, GROUPS, PER_GROUP);
    struct team_member *members = team_members_new(&arena, &plan);
    team_run(&plan, members, &result);
    return team_report("fickle", &plan, &result, NULL);
}
