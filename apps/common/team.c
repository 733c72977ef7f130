/*
 * Runs a team. Threads agree on the moments of the run by the clock alone, so measuring adds no
 * shared data that is written meanwhile. The first thread to see that a moment has passed sets its
 * mark. Invariant: a member passes every moment exactly once, in order.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "apps/common/team.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps/libc/hpm.h"

enum { MOMENT_CHANGE, MOMENT_STEADY, MOMENT_END, MOMENTS, NS_PER_MS = 1000000 };

static const char *const moment_labels[MOMENTS] = {"change", "steady", "end"};

/* A planned moment, and when it was observed. */
struct moment {
    unsigned kind;
    uint64_t at_ns;
    atomic_flag marked;
    uint64_t marked_ns; /* written by the thread that set `marked` */
};

struct team {
    const struct team_plan *plan;
    unsigned changed_group[TEAM_MAX];
    pthread_barrier_t ready; /* all members have prepared */
    pthread_barrier_t go;    /* the moments are set */
    uint64_t start_ns;
    unsigned moments;
    struct moment moment[MOMENTS]; /* in order of time */
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void add_moment(struct team *team, unsigned kind, uint64_t percent)
{
    struct moment moment = {.kind = kind, .marked = ATOMIC_FLAG_INIT};
    unsigned place = team->moments++;

    moment.at_ns = team->start_ns + team->plan->run_ms * NS_PER_MS / 100 * percent;
    for (; place > 0 && team->moment[place - 1].at_ns > moment.at_ns; place--)
        team->moment[place] = team->moment[place - 1];
    team->moment[place] = moment;
}

static void set_moments(struct team *team)
{
    team->start_ns = now_ns();
    if (team->plan->change_percent)
        add_moment(team, MOMENT_CHANGE, team->plan->change_percent);
    add_moment(team, MOMENT_STEADY, team->plan->steady_percent);
    add_moment(team, MOMENT_END, 100);
}

static void apply_moment(struct team_member *member, unsigned kind)
{
    switch (kind) {
    case MOMENT_CHANGE:
        member->group = member->team->changed_group[member->index];
        member->regrouped = true;
        hpm_group((int)member->group);
        return;
    case MOMENT_STEADY:
        member->ops_before_steady = member->ops;
        return;
    }
}

/* Passes all moments up to `now`. Returns false once the end is among them. */
static bool pass_moments(struct team_member *member, uint64_t now)
{
    struct team *team = member->team;

    while (member->moment < team->moments && now >= team->moment[member->moment].at_ns) {
        struct moment *moment = &team->moment[member->moment++];
        if (!atomic_flag_test_and_set(&moment->marked)) {
            moment->marked_ns = now;
            hpm_mark(moment_labels[moment->kind]);
        }
        apply_moment(member, moment->kind);
    }
    return member->moment < team->moments;
}

static void work(struct team_member *member)
{
    const struct team_plan *plan = member->team->plan;
    uint64_t before = now_ns();

    for (;;) {
        plan->operate(plan->context, member);
        uint64_t now = now_ns();
        if (now >= member->team->moment[member->moment].at_ns && !pass_moments(member, now))
            return;
        member->ops++;
        histogram_record(&member->latency, now - before);
        before = now;
    }
}

static void *member_main(void *argument)
{
    struct team_member *member = argument;
    struct team *team = member->team;

    hpm_group((int)member->group);
    team->plan->prepare(team->plan->context, member);
    if (pthread_barrier_wait(&team->ready) == PTHREAD_BARRIER_SERIAL_THREAD) {
        hpm_mark("start");
        set_moments(team);
    }
    pthread_barrier_wait(&team->go);
    work(member);
    if (team->plan->finish)
        team->plan->finish(team->plan->context, member);
    return NULL;
}

static void fail(const char *what, unsigned which, int error)
{
    fprintf(stderr, "team: %s %u failed: %s\n", what, which, strerror(error));
    exit(1);
}

static void make_barrier(pthread_barrier_t *barrier, unsigned count)
{
    int error = pthread_barrier_init(barrier, NULL, count);

    if (error)
        fail("barrier of threads", count, error);
}

static void create_and_join(struct team *team, struct team_member *members)
{
    const struct team_plan *plan = team->plan;
    static pthread_t thread[TEAM_MAX];
    unsigned order[TEAM_MAX];

    team_creation_order(plan, order);
    for (unsigned i = 0; i < plan->count; i++) {
        unsigned index = order[i];
        struct team_member *member = &members[index];
        member->index = index;
        member->group = plan->group[index];
        member->prng = prng_seeded(plan->seed, index);
        member->team = team;
        int error = pthread_create(&thread[index], NULL, member_main, member);
        if (error)
            fail("creation of thread", i, error);
    }
    for (unsigned i = 0; i < plan->count; i++) {
        int error = pthread_join(thread[i], NULL);
        if (error)
            fail("join of thread", i, error);
    }
}

static uint64_t marked_ns(const struct team *team, unsigned kind)
{
    for (unsigned i = 0; i < team->moments; i++) {
        if (team->moment[i].kind == kind)
            return team->moment[i].marked_ns;
    }
    return 0;
}

static void sum_up(const struct team *team, const struct team_member *members,
                   struct team_result *result)
{
    uint64_t end = marked_ns(team, MOMENT_END);

    memset(result, 0, sizeof *result);
    result->ns = end - team->start_ns;
    result->ns_steady = end - marked_ns(team, MOMENT_STEADY);
    for (unsigned i = 0; i < team->plan->count; i++) {
        result->ops += members[i].ops;
        result->ops_steady += members[i].ops - members[i].ops_before_steady;
        histogram_merge(&result->latency, &members[i].latency);
    }
}

void team_run(const struct team_plan *plan, struct team_member *members, struct team_result *result)
{
    static struct team team;

    memset(&team, 0, sizeof team);
    team.plan = plan;
    team_changed_groups(plan, team.changed_group);
    make_barrier(&team.ready, plan->count);
    make_barrier(&team.go, plan->count);
    create_and_join(&team, members);
    pthread_barrier_destroy(&team.ready);
    pthread_barrier_destroy(&team.go);
    sum_up(&team, members, result);
}

struct team_member *team_members_new(struct arena *arena, const struct team_plan *plan)
{
    return arena_alloc(arena, plan->count * sizeof(struct team_member),
                       alignof(struct team_member));
}

static uint64_t per_second(uint64_t ops, uint64_t ns)
{
    return ns ? ops * 1000000 / (ns / 1000 ? ns / 1000 : 1) : 0;
}

int team_report(const char *app, const struct team_plan *plan, const struct team_result *result,
                const char *violation)
{
    char line[512];

    /* One string and one write, so that the line stays whole on a console with other writers. */
    snprintf(line, sizeof line,
             "RESULT app=%s threads=%u groups=%u order=%s seed=%" PRIu64 " ops=%" PRIu64
             " ns=%" PRIu64 " ops_per_s=%" PRIu64 " ops_steady=%" PRIu64 " ns_steady=%" PRIu64
             " ops_per_s_steady=%" PRIu64 " p50_ns=%" PRIu64 " p90_ns=%" PRIu64 " p99_ns=%" PRIu64
             " max_ns=%" PRIu64 " check=%s\n",
             app, plan->count, plan->groups, team_order_names[plan->order], plan->seed, result->ops,
             result->ns, per_second(result->ops, result->ns), result->ops_steady, result->ns_steady,
             per_second(result->ops_steady, result->ns_steady),
             histogram_permille_ns(&result->latency, 500),
             histogram_permille_ns(&result->latency, 900),
             histogram_permille_ns(&result->latency, 990), result->latency.max_ns,
             violation ? violation : "ok");
    fputs(line, stdout);
    fflush(stdout);
    return violation ? 1 : 0;
}
