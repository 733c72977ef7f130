/*
 * Groups of threads that share a scoreboard each ([Azimi 2007, 3.4.2], synthetic microbenchmark).
 * Every thread alternates between a private chunk of data, larger than the first-level cache, and
 * its group's scoreboard, of which it reads and modifies some lines. The private part causes local
 * misses; the shared part causes misses across chips while the members of a group run on several.
 *
 * Invariants, checked at the end:
 * - the slots of a scoreboard add up to the updates of its members;
 * - the words of a chunk add up to the lines that its thread worked on.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include "apps/common/team.h"

enum { WORDS_PER_LINE = ARENA_LINE / sizeof(uint64_t) };

struct private_line {
    alignas(ARENA_LINE) uint64_t word[WORDS_PER_LINE];
};

struct shared_line {
    alignas(ARENA_LINE) _Atomic uint64_t slot[WORDS_PER_LINE];
};

/* One thread's data and results. Only that thread uses it during the run. */
struct worker {
    alignas(ARENA_LINE) struct private_line *chunk;
    size_t next_line; /* of the chunk */
    uint64_t lines_worked;
    /* Of the first group's scoreboard, and, after the change, of the second's. */
    uint64_t updates[2];
    uint64_t seen; /* keeps the reads alive */
};

struct program {
    uint64_t groups, threads;
    struct args_list sizes;
    uint64_t chunk_kib, private_lines, shared_lines, board_lines;
    struct shared_line **board; /* one array of board_lines for each group */
    struct arena arena;
};

static void prepare(void *context, struct team_member *member)
{
    struct program *program = context;
    struct worker *worker = member->data;
    size_t lines = program->chunk_kib * 1024 / ARENA_LINE;

    for (size_t i = 0; i < lines; i++)
        worker->chunk[i].word[0] = 0;
}

static void work_on_chunk(const struct program *program, struct worker *worker)
{
    size_t lines = program->chunk_kib * 1024 / ARENA_LINE;

    for (uint64_t i = 0; i < program->private_lines; i++) {
        struct private_line *line = &worker->chunk[worker->next_line];
        for (unsigned w = 0; w < WORDS_PER_LINE; w++)
            line->word[w]++;
        worker->next_line = worker->next_line + 1 < lines ? worker->next_line + 1 : 0;
    }
    worker->lines_worked += program->private_lines;
}

static void use_scoreboard(const struct program *program, struct team_member *member)
{
    struct worker *worker = member->data;
    struct shared_line *board = program->board[member->group];
    uint64_t seen = 0;

    for (uint64_t i = 0; i < program->shared_lines; i++) {
        uint64_t random = prng_next(&member->prng);
        struct shared_line *line = &board[(random >> 32) % program->board_lines];
        for (unsigned s = 0; s < WORDS_PER_LINE; s++)
            seen += atomic_load_explicit(&line->slot[s], memory_order_relaxed);
        atomic_fetch_add_explicit(&line->slot[random % WORDS_PER_LINE], 1, memory_order_relaxed);
    }
    worker->seen += seen;
    worker->updates[member->regrouped] += program->shared_lines;
}

static void operate(void *context, struct team_member *member)
{
    work_on_chunk(context, member->data);
    use_scoreboard(context, member);
}

static uint64_t board_sum(const struct program *program, unsigned group)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < program->board_lines; i++) {
        for (unsigned s = 0; s < WORDS_PER_LINE; s++)
            sum += program->board[group][i].slot[s];
    }
    return sum;
}

static uint64_t chunk_sum(const struct program *program, const struct worker *worker)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < program->chunk_kib * 1024 / ARENA_LINE; i++) {
        for (unsigned w = 0; w < WORDS_PER_LINE; w++)
            sum += worker->chunk[i].word[w];
    }
    return sum;
}

/* Returns NULL, or the name of a broken invariant. */
static const char *check(const struct program *program, const struct team_plan *plan,
                         const struct team_member *members)
{
    uint64_t expected[ARGS_LIST_MAX] = {0};
    unsigned changed[TEAM_MAX];

    team_changed_groups(plan, changed);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct worker *worker = members[i].data;
        expected[plan->group[i]] += worker->updates[0];
        expected[changed[i]] += worker->updates[1];
        if (chunk_sum(program, worker) != worker->lines_worked * WORDS_PER_LINE)
            return "chunk_sum";
    }
    for (unsigned g = 0; g < plan->groups; g++) {
        if (board_sum(program, g) != expected[g])
            return "scoreboard_sum";
    }
    return NULL;
}

static void build(struct program *program, const struct team_plan *plan,
                  struct team_member *members)
{
    struct arena *arena = &program->arena;

    arena->block_size = 1 << 18;
    program->board = arena_alloc(arena, plan->groups * sizeof(struct shared_line *), ARENA_LINE);
    for (unsigned g = 0; g < plan->groups; g++)
        program->board[g] =
            arena_alloc(arena, program->board_lines * sizeof(struct shared_line), ARENA_LINE);
    for (unsigned i = 0; i < plan->count; i++) {
        struct worker *worker = arena_alloc(arena, sizeof *worker, alignof(struct worker));
        worker->chunk = arena_alloc(arena, program->chunk_kib * 1024, ARENA_LINE);
        members[i].data = worker;
    }
}

static void form(const struct args_table *table, const struct program *program,
                 struct team_plan *plan)
{
    uint64_t total = program->groups * program->threads;

    if (program->sizes.count) {
        total = 0;
        for (unsigned g = 0; g < program->sizes.count; g++)
            total += program->sizes.item[g];
    }
    if (total > TEAM_MAX)
        args_refuse(table, "groups,threads,sizes", "range", "%u threads in all; use 1..%d",
                    (unsigned)total, TEAM_MAX);
    if (program->sizes.count)
        team_form_sized(plan, &program->sizes);
    else
        team_form_equal(plan, (unsigned)program->groups, (unsigned)program->threads);
    if (plan->change_percent && plan->change_percent >= plan->steady_percent)
        args_refuse(table, "change", "range", "it must be less than steady (%u)",
                    (unsigned)plan->steady_percent);
}

int main(int argc, char **argv)
{
    static struct team_plan plan = {
        .seed = 1, .run_ms = 1000, .steady_percent = 50, .prepare = prepare, .operate = operate};
    static struct program program = {.groups = 4,
                                     .threads = 4,
                                     .chunk_kib = 128,
                                     .private_lines = 64,
                                     .shared_lines = 16,
                                     .board_lines = 32};
    static const struct args_entry entries[] = {
        {"groups", ARGS_NUMBER, &program.groups, 1, ARGS_LIST_MAX, NULL, "scoreboards"},
        {"threads", ARGS_NUMBER, &program.threads, 1, TEAM_MAX, NULL, "threads of each group"},
        {"sizes", ARGS_LIST, &program.sizes, 1, TEAM_MAX, NULL,
         "threads of each group, instead of groups and threads"},
        {"chunk", ARGS_NUMBER, &program.chunk_kib, 1, 65536, NULL,
         "private data of a thread in KiB"},
        {"private", ARGS_NUMBER, &program.private_lines, 0, 100000, NULL,
         "private lines an operation works on"},
        {"shared", ARGS_NUMBER, &program.shared_lines, 0, 100000, NULL,
         "scoreboard lines an operation reads and modifies"},
        {"lines", ARGS_NUMBER, &program.board_lines, 1, 65536, NULL, "lines of a scoreboard"},
        {"change", ARGS_NUMBER, &plan.change_percent, 0, 98, NULL,
         "percent of the run after which partners change, 0 for never"},
        TEAM_ARGS(plan),
    };
    static const struct args_table table = {"scoreboard",
                                            "groups of threads that share a scoreboard each",
                                            entries, sizeof entries / sizeof entries[0]};
    static struct team_result result;
    struct team_member *members;
    int status;

    args_parse_or_exit(&table, argc, argv);
    form(&table, &program, &plan);
    plan.context = &program;
    members = team_members_new(&program.arena, &plan);
    build(&program, &plan, members);
    team_run(&plan, members, &result);
    status = team_report("scoreboard", &plan, &result, check(&program, &plan, members));
    arena_free(&program.arena);
    return status;
}
