/*
 * Work with different phases, to measure how well tools observe them: kinds of work (job.h), each
 * thread with data of its own. A round is all phases of a kind once. Rounds are limited by number,
 * by time, or by both.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps/common/args.h"
#include "apps/libc/hpm.h"
#include "apps/workloads/phases/job.h"

enum { THREADS_MAX = 64, KINDS_MAX = 16, NS_PER_MS = 1000000 };

static const char *kind_names[KINDS_MAX]; /* NULL at the end */

struct program {
    unsigned kind_index;
    uint64_t size, rounds, threads, seed, run_ms, marks, spoil;
    const struct phases_kind *kind;
    pthread_barrier_t ready, go; /* all threads have prepared; the clock is started */
    uint64_t start_ns;
};

struct member {
    alignas(ARENA_LINE) struct program *program;
    struct phases_job job;
    pthread_t thread;
    uint64_t rounds; /* rounds done */
    const char *violation;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool more_rounds(const struct member *member)
{
    const struct program *program = member->program;

    return member->rounds < program->rounds ||
           now_ns() - program->start_ns < program->run_ms * NS_PER_MS;
}

static void *member_main(void *argument)
{
    struct member *member = argument;
    struct program *program = member->program;

    program->kind->prepare(&member->job);
    if (pthread_barrier_wait(&program->ready) == PTHREAD_BARRIER_SERIAL_THREAD) {
        hpm_mark("start");
        program->start_ns = now_ns();
    }
    pthread_barrier_wait(&program->go);
    while (!member->violation && more_rounds(member)) {
        member->violation = program->kind->round(&member->job);
        member->rounds++;
    }
    return NULL;
}

static void must(int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "phases: %s: %s\n", what, strerror(error));
    exit(1);
}

static void run(struct program *program, struct member *members)
{
    must(pthread_barrier_init(&program->ready, NULL, (unsigned)program->threads), "barrier");
    must(pthread_barrier_init(&program->go, NULL, (unsigned)program->threads), "barrier");
    for (unsigned i = 0; i < program->threads; i++) {
        struct member *member = &members[i];
        member->program = program;
        member->job.size = program->size;
        member->job.prng = prng_seeded(program->seed, i);
        member->job.marks = program->marks && i == 0; /* one thread sets the marks */
        member->job.spoil = program->spoil;
        must(pthread_create(&member->thread, NULL, member_main, member), "creation of a thread");
    }
    for (unsigned i = 0; i < program->threads; i++)
        must(pthread_join(members[i].thread, NULL), "join of a thread");
}

/* One string and one write, so that the line stays whole on a console with other writers. */
static int print_report(const struct program *program, const struct member *members, uint64_t ns)
{
    struct phases_job all = {0};
    const char *violation = NULL;
    uint64_t rounds = 0;
    char line[256];

    for (unsigned i = 0; i < program->threads; i++) {
        phases_result(&all, members[i].job.sum);
        rounds += members[i].rounds;
        if (!violation)
            violation = members[i].violation;
    }
    snprintf(line, sizeof line,
             "RESULT app=phases kind=%s threads=%" PRIu64 " size=%" PRIu64 " seed=%" PRIu64
             " rounds=%" PRIu64 " ns=%" PRIu64 " sum=%016" PRIx64 " check=%s\n",
             program->kind->name, program->threads, program->size, program->seed, rounds, ns,
             all.sum, violation ? violation : "ok");
    fputs(line, stdout);
    fflush(stdout);
    return violation ? 1 : 0;
}

static void choose_kind(const struct args_table *table, struct program *program)
{
    const struct phases_kind *kind = phases_kinds[program->kind_index];

    program->kind = kind;
    if (!program->size)
        program->size = kind->size_default;
    if (program->size < kind->size_min || program->size > kind->size_max)
        args_refuse(table, "size", "range",
                    "'%" PRIu64 "' is not accepted for %s; use %" PRIu64 "..%" PRIu64 " (%s)",
                    program->size, kind->name, kind->size_min, kind->size_max, kind->unit);
}

int main(int argc, char **argv)
{
    static struct program program = {.rounds = 3, .threads = 1, .seed = 1};
    static const struct args_entry entries[] = {
        {"kind", ARGS_CHOICE, &program.kind_index, 0, 0, kind_names, "of work"},
        {"size", ARGS_NUMBER, &program.size, 0, 16777216, NULL,
         "of the work, in the kind's unit; 0: the kind's default"},
        {"rounds", ARGS_NUMBER, &program.rounds, 1, 1000000, NULL,
         "times that each thread does it, at least"},
        {"threads", ARGS_NUMBER, &program.threads, 1, THREADS_MAX, NULL,
         "threads, each with data of its own"},
        {"seed", ARGS_NUMBER, &program.seed, 0, UINT32_MAX, NULL, "of every random choice"},
        {"ms", ARGS_NUMBER, &program.run_ms, 0, 3600000, NULL,
         "milliseconds until which further rounds are begun"},
        {"marks", ARGS_NUMBER, &program.marks, 0, 1, NULL,
         "1: the first thread names each phase by a mark"},
        {"spoil", ARGS_NUMBER, &program.spoil, 0, 1, NULL,
         "1: a bit of each result is flipped before it is checked"},
    };
    static const struct args_table table = {"phases", "work in phases that differ, checked",
                                            entries, sizeof entries / sizeof entries[0]};
    static struct member members[THREADS_MAX];
    int status;

    for (unsigned k = 0; phases_kinds[k]; k++)
        kind_names[k] = phases_kinds[k]->name;
    args_parse_or_exit(&table, argc, argv);
    choose_kind(&table, &program);
    run(&program, members);
    uint64_t ns = now_ns() - program.start_ns;
    hpm_mark("end");
    status = print_report(&program, members, ns);
    for (unsigned i = 0; i < program.threads; i++)
        arena_free(&members[i].job.arena);
    return status;
}
