/*
 * The control: threads that share nothing. Every thread walks data of its own, larger than the
 * first-level cache; for some threads larger than the second-level cache. A scheduler that detects
 * sharing here is wrong, and moving these threads for it can only cost time.
 *
 * Invariant, checked at the end: the words of a chunk add up to the lines that its thread worked
 * on.
 */
#include <stdint.h>
#include "apps/common/team.h"

enum { WORDS_PER_LINE = ARENA_LINE / sizeof(uint64_t) };

struct line {
    alignas(ARENA_LINE) uint64_t word[WORDS_PER_LINE];
};

/* One thread's data and results. */
struct worker {
    alignas(ARENA_LINE) struct line *chunk;
    size_t lines;
    size_t next_line;
    uint64_t lines_worked;
    struct arena arena; /* of its chunk, so that no two threads use the same page */
};

struct program {
    uint64_t threads;
    uint64_t chunk_kib;
    uint64_t big_every, big_kib; /* every big_every-th thread has big_kib */
    uint64_t lines_per_op;
    struct arena arena;
};

static uint64_t kib_of(const struct program *program, unsigned index)
{
    bool big = program->big_every && (index + 1) % program->big_every == 0;

    return big ? program->big_kib : program->chunk_kib;
}

static void prepare(void *context, struct team_member *member)
{
    struct worker *worker = member->data;
    uint64_t bytes = kib_of(context, member->index) * 1024;

    worker->arena.block_size = bytes;
    worker->chunk = arena_alloc(&worker->arena, bytes, ARENA_LINE);
    worker->lines = bytes / ARENA_LINE;
}

static void operate(void *context, struct team_member *member)
{
    const struct program *program = context;
    struct worker *worker = member->data;

    for (uint64_t i = 0; i < program->lines_per_op; i++) {
        struct line *line = &worker->chunk[worker->next_line];
        for (unsigned w = 0; w < WORDS_PER_LINE; w++)
            line->word[w]++;
        worker->next_line = worker->next_line + 1 < worker->lines ? worker->next_line + 1 : 0;
    }
    worker->lines_worked += program->lines_per_op;
}

/* Returns NULL, or the name of a broken invariant. */
static const char *check(const struct team_plan *plan, const struct team_member *members)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct worker *worker = members[i].data;
        uint64_t sum = 0;
        for (size_t l = 0; l < worker->lines; l++) {
            for (unsigned w = 0; w < WORDS_PER_LINE; w++)
                sum += worker->chunk[l].word[w];
        }
        if (sum != worker->lines_worked * WORDS_PER_LINE)
            return "chunk_sum";
    }
    return NULL;
}

/* Every thread is a group of its own, for placement by hand. */
static void form(struct team_plan *plan, const struct program *program)
{
    plan->count = plan->groups = (unsigned)program->threads;
    for (unsigned i = 0; i < plan->count; i++)
        plan->group[i] = i;
}

int main(int argc, char **argv)
{
    static struct team_plan plan = {
        .seed = 1, .run_ms = 1000, .steady_percent = 50, .prepare = prepare, .operate = operate};
    static struct program program = {
        .threads = 16, .chunk_kib = 128, .big_every = 4, .big_kib = 2560, .lines_per_op = 64};
    static const struct args_entry entries[] = {
        {"threads", ARGS_NUMBER, &program.threads, 1, ARGS_LIST_MAX, NULL, "threads"},
        {"chunk", ARGS_NUMBER, &program.chunk_kib, 1, 65536, NULL, "data of a thread in KiB"},
        {"big_every", ARGS_NUMBER, &program.big_every, 0, ARGS_LIST_MAX, NULL,
         "one of this number of threads has big data; 0: none"},
        {"big", ARGS_NUMBER, &program.big_kib, 1, 65536, NULL, "data of such a thread in KiB"},
        {"lines", ARGS_NUMBER, &program.lines_per_op, 1, 100000, NULL,
         "lines an operation works on"},
        TEAM_ARGS(plan),
    };
    static const struct args_table table = {"private", "threads that share nothing", entries,
                                            sizeof entries / sizeof entries[0]};
    static struct team_result result;
    struct team_member *members;
    const char *violation;

    args_parse_or_exit(&table, argc, argv);
    form(&plan, &program);
    plan.context = &program;
    members = team_members_new(&program.arena, &plan);
    for (unsigned i = 0; i < plan.count; i++)
        members[i].data =
            arena_alloc(&program.arena, sizeof(struct worker), alignof(struct worker));
    team_run(&plan, members, &result);
    violation = check(&plan, members);
    for (unsigned i = 0; i < plan.count; i++)
        arena_free(&((struct worker *)members[i].data)->arena);
    arena_free(&program.arena);
    return team_report("private", &plan, &result, violation);
}
