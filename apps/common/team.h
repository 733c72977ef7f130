/*
 * A measured run: threads that repeat an operation for a given time, in sharing groups, created in
 * a chosen order, with marks at fixed moments and one summary line at the end.
 *
 * Every thread prepares its data, waits for all others, and then repeats plan->operate. An
 * operation counts for the part of the run in which it ends. An operation that ends after "end" is
 * not counted.
 */
#pragma once
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include "apps/common/arena.h"
#include "apps/common/args.h"
#include "apps/common/histogram.h"
#include "apps/common/prng.h"

enum { TEAM_MAX = 512 };

struct team;

/* One thread. Only that thread uses it from its creation to the end of the run. */
struct team_member {
    /* 0 to count - 1; the members of a group follow one another at first. */
    alignas(ARENA_LINE) unsigned index;
    unsigned group;
    bool regrouped; /* this member has changed its partners */
    struct prng prng;
    void *data; /* the application's */

    struct team *team;
    unsigned moment; /* the next moment it has to pass */
    uint64_t ops;
    uint64_t ops_before_steady;
    struct histogram latency;
};

/* The order in which threads are created, which an initial placement by creation order follows. */
enum team_order {
    TEAM_SHUFFLED, /* at random, by seed */
    TEAM_GROUPED,  /* one group after the other */
    TEAM_STRIPED,  /* the first of every group, then the second of every group, ... */
};
extern const char *const team_order_names[];

struct team_plan {
    unsigned count;           /* threads, 1..TEAM_MAX */
    unsigned group[TEAM_MAX]; /* of each thread, ascending */
    unsigned groups;          /* number of groups */
    unsigned order;           /* enum team_order */
    uint64_t seed;            /* of the order, and of every thread's prng */
    uint64_t run_ms;          /* from start to end */
    uint64_t steady_percent;  /* of the run, when placement counts as settled */
    uint64_t change_percent;  /* of the run, when partners change; 0: never */
    void *context;            /* passed to the functions below */
    /* Runs in the thread, before the start. */
    void (*prepare)(void *context, struct team_member *member);
    void (*operate)(void *context, struct team_member *member); /* does one operation */
    /* Runs in the thread, after its last operation; or NULL. */
    void (*finish)(void *context, struct team_member *member);
};

struct team_result {
    uint64_t ops, ns;               /* from start to end */
    uint64_t ops_steady, ns_steady; /* from steady to end */
    struct histogram latency;       /* of operations */
};

/* The arguments of every measured application, for the end of its table. */
#define TEAM_ARGS(plan)                                                                     \
    {"ms", ARGS_NUMBER, &(plan).run_ms, 1, 3600000, NULL, "duration in milliseconds"},      \
        {"steady",                                                                          \
         ARGS_NUMBER,                                                                       \
         &(plan).steady_percent,                                                            \
         1,                                                                                 \
         99,                                                                                \
         NULL,                                                                              \
         "percent of the run after which it counts as settled"},                            \
        {"seed", ARGS_NUMBER, &(plan).seed, 0, UINT32_MAX, NULL, "of every random choice"}, \
    {                                                                                       \
        "order", ARGS_CHOICE, &(plan).order, 0, 0, team_order_names,                        \
            "in which threads are created"                                                  \
    }

/* Forms `groups` groups of `per_group` threads. */
void team_form_equal(struct team_plan *plan, unsigned groups, unsigned per_group);

/* Forms one group for each size of the list. */
void team_form_sized(struct team_plan *plan, const struct args_list *sizes);

/*
 * Runs the plan to its end. `members`: plan->count of them, zeroed; their counts may be read after
 * the return. Ends the program with a message if threads cannot be created.
 */
void team_run(const struct team_plan *plan, struct team_member *members,
              struct team_result *result);

/* Returns zeroed members for team_run(), on lines of their own. */
struct team_member *team_members_new(struct arena *arena, const struct team_plan *plan);

/* Writes the indices of a plan's threads in the order of their creation; `order` has room for
 * plan->count. */
void team_creation_order(const struct team_plan *plan, unsigned *order);

/*
 * Writes the group of each thread after the change, to `group`, which has room for plan->count.
 * Sizes stay; members of an old group are spread over the new ones as evenly as sizes allow.
 */
void team_changed_groups(const struct team_plan *plan, unsigned *group);

/*
 * Prints "RESULT app=... check=...". `violation`: NULL if every invariant of the application held,
 * else its name, one word. Returns the exit status for main(): 0, or 1 on a violation.
 */
int team_report(const char *app, const struct team_plan *plan, const struct team_result *result,
                const char *violation);
