/* See spmd.h. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "apps/common/spmd.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps/libc/hpm.h"
#include "apps/libc/memory.h"

enum { ENTRIES_MAX = 16, MB_MAX = 65536, EXIT_BAD_ARGUMENT = 2 };
#define PAGE     4096u
#define MEBIBYTE ((uint64_t)1 << 20)

static _Noreturn void fail(const struct spmd_run *run, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", run->program->name, what, why);
    exit(1);
}

static void must(const struct spmd_run *run, int error, const char *what)
{
    if (error)
        fail(run, what, strerror(error));
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- For programs ---------------------------------------------------------------------------- */

void *spmd_array(struct spmd_run *run, const char *name, size_t bytes)
{
    assert(run->arrays < SPMD_ARRAYS_MAX);
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void *at = memory_map(name, whole);

    if (!at) {
        char why[80];
        snprintf(why, sizeof why, "%zu bytes were refused", whole);
        fail(run, name, why);
    }
    run->array[run->arrays++] = (struct spmd_array){at, whole};
    run->bytes += bytes;
    return at;
}

void spmd_barrier(struct spmd_thread *t)
{
    pthread_barrier_wait(&t->run->barrier);
}

void spmd_phase(struct spmd_thread *t, const char *name)
{
    spmd_barrier(t);
    if (t->index == 0 && t->run->marks)
        hpm_mark(name);
}

static size_t chunk_start(size_t n, unsigned chunk)
{
    return (size_t)((unsigned __int128)n * chunk / SPMD_CHUNKS);
}

/* Returns the first chunk of a thread; for the thread behind the last, the end. */
static unsigned first_chunk(unsigned index, unsigned count)
{
    return SPMD_CHUNKS * index / count;
}

void spmd_share(const struct spmd_thread *t, size_t n, size_t *from, size_t *to)
{
    *from = chunk_start(n, first_chunk(t->index, t->count));
    *to = chunk_start(n, first_chunk(t->index + 1, t->count));
}

/* Two sets of partial sums alternate. A thread writes to one set only after all threads have read
 * it, as the other set's barrier lies in between. */
double spmd_sum(struct spmd_thread *t, size_t n, double (*part)(void *arg, size_t from, size_t to),
                void *arg)
{
    double *partial = t->run->partial[t->sums++ % 2], sum = 0;

    for (unsigned c = first_chunk(t->index, t->count); c < first_chunk(t->index + 1, t->count); c++)
        partial[c] = part(arg, chunk_start(n, c), chunk_start(n, c + 1));
    spmd_barrier(t);
    for (unsigned c = 0; c < SPMD_CHUNKS; c++)
        sum += partial[c];
    return sum;
}

/* FNV-1a's multiplication, by words. */
void spmd_result(struct spmd_run *run, uint64_t value)
{
    run->sum = (run->sum ^ value) * 0x100000001b3u;
    run->sum ^= run->sum >> 32;
}

void spmd_results(struct spmd_run *run, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        spmd_result(run, bits);
    }
}

void spmd_spoil(double *values, size_t count, struct prng *prng)
{
    values[prng_next(prng) % count] += 1.0 / 1024;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* Joins the program's own arguments and the common ones. */
static size_t all_entries(struct spmd_run *run, struct args_entry *out)
{
    const struct args_entry common[] = {
        {"mb", ARGS_NUMBER, &run->mb, 0, MB_MAX, NULL,
         "the largest size whose arrays take no more MiB than this; 0: the size given"},
        {"threads", ARGS_NUMBER, &run->threads, 1, SPMD_THREADS_MAX, NULL, "threads"},
        {"rounds", ARGS_NUMBER, &run->rounds, 1, 1000000, NULL, "times that the work is done"},
        {"seed", ARGS_NUMBER, &run->seed, 0, UINT32_MAX, NULL, "of all data"},
        {"marks", ARGS_NUMBER, &run->marks, 0, 1, NULL, "1: each phase is named by a mark"},
        {"spoil", ARGS_NUMBER, &run->spoil, 0, 1, NULL,
         "1: an element of the result is changed before it is checked"},
    };
    const struct spmd_program *program = run->program;

    assert(program->entry_count + sizeof common / sizeof *common <= ENTRIES_MAX);
    memcpy(out, program->entries, program->entry_count * sizeof *out);
    memcpy(out + program->entry_count, common, sizeof common);
    return program->entry_count + sizeof common / sizeof *common;
}

static uint64_t bytes_at(const struct spmd_run *run, uint64_t size)
{
    *(uint64_t *)run->program->entries[0].value = size;
    return run->program->bytes(run);
}

/* Chooses the largest multiple of the step that fits into mb. */
static int choose_size(const struct spmd_run *run, char *why, size_t size)
{
    const struct args_entry *entry = &run->program->entries[0];
    uint64_t step = *run->program->size_step, limit = run->mb * MEBIBYTE;
    uint64_t low = (entry->min + step - 1) / step, high = entry->max / step;

    if (bytes_at(run, low * step) > limit) {
        snprintf(why, size,
                 "argument=mb reason=range: %" PRIu64 " is too little: %s=%" PRIu64
                 " takes %" PRIu64 " bytes",
                 run->mb, entry->name, low * step, bytes_at(run, low * step));
        return -1;
    }
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (bytes_at(run, middle * step) <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    *(uint64_t *)entry->value = low * step;
    return 0;
}

static int accept_size(const struct spmd_run *run, char *why, size_t size)
{
    const struct args_entry *entry = &run->program->entries[0];
    uint64_t value = *(uint64_t *)entry->value, step = *run->program->size_step;

    if (run->mb)
        return choose_size(run, why, size);
    if (value % step == 0)
        return 0;
    snprintf(why, size,
             "argument=%s reason=value: '%" PRIu64 "' is not accepted; use a multiple of %" PRIu64,
             entry->name, value, step);
    return -1;
}

int spmd_begin(struct spmd_run *run, const struct spmd_program *program, int argc, char **argv,
               char *why, size_t size)
{
    struct args_entry entries[ENTRIES_MAX];
    struct args_table table = {program->name, program->what, entries, 0};

    memset(run, 0, sizeof *run);
    run->program = program;
    run->threads = run->seed = run->rounds = 1;
    run->defaults = malloc(program->context_bytes);
    if (!run->defaults)
        fail(run, "defaults", "out of memory");
    memcpy(run->defaults, program->context, program->context_bytes);
    table.count = all_entries(run, entries);
    if (args_asks_for_help(argc, argv)) {
        args_help(&table);
        exit(0);
    }
    if (args_parse(&table, argc, argv, why, size) != 0 || accept_size(run, why, size) != 0)
        return -1;
    return program->accept(run, why, size);
}

/* ---- The run --------------------------------------------------------------------------------- */

static void *thread_main(void *argument)
{
    struct spmd_thread *t = argument;
    struct spmd_run *run = t->run;

    run->program->fill(t);
    spmd_barrier(t);
    if (t->index == 0) {
        hpm_mark("start");
        run->start_ns = now_ns();
    }
    for (t->round = 0; t->round < run->rounds; t->round++) {
        spmd_barrier(t);
        run->program->round(t);
    }
    return NULL;
}

void spmd_work(struct spmd_run *run)
{
    run->program->prepare(run);
    assert(run->bytes == run->program->bytes(run)); /* as documented */
    must(run, pthread_barrier_init(&run->barrier, NULL, (unsigned)run->threads), "barrier");
    for (unsigned i = 0; i < run->threads; i++) {
        struct spmd_thread *t = &run->thread[i];
        t->run = run;
        t->index = i;
        t->count = (unsigned)run->threads;
        must(run, pthread_create(&t->handle, NULL, thread_main, t), "creation of a thread");
    }
    for (unsigned i = 0; i < run->threads; i++)
        must(run, pthread_join(run->thread[i].handle, NULL), "join of a thread");
    run->ns = now_ns() - run->start_ns;
    hpm_mark("end");
    pthread_barrier_destroy(&run->barrier);
}

void spmd_check(struct spmd_run *run)
{
    struct prng prng = prng_seeded(run->seed, SPMD_THREADS_MAX);

    if (run->marks)
        hpm_mark("check");
    if (run->spoil)
        run->program->spoil(run, &prng);
    run->violation = run->program->check(run);
}

void spmd_end(struct spmd_run *run)
{
    for (unsigned i = 0; i < run->arrays; i++)
        memory_unmap(run->array[i].at, run->array[i].bytes);
    run->arrays = 0;
    memcpy(run->program->context, run->defaults, run->program->context_bytes);
    free(run->defaults);
}

/* ---- main ------------------------------------------------------------------------------------ */

/* Writes the program's own arguments with their values. */
static void print_arguments(const struct spmd_run *run, char *out, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < run->program->entry_count && used < size; i++) {
        const struct args_entry *entry = &run->program->entries[i];
        int n = entry->kind == ARGS_CHOICE
                    ? snprintf(out + used, size - used, "%s=%s ", entry->name,
                               entry->choices[*(unsigned *)entry->value])
                    : snprintf(out + used, size - used, "%s=%" PRIu64 " ", entry->name,
                               *(uint64_t *)entry->value);
        used += (size_t)n;
    }
}

/* One string and one write, so that the line stays whole on a console with other writers. */
static void print_result(const struct spmd_run *run)
{
    char line[512], arguments[200] = "";

    print_arguments(run, arguments, sizeof arguments);
    snprintf(line, sizeof line,
             "RESULT app=%s %sthreads=%" PRIu64 " seed=%" PRIu64 " rounds=%" PRIu64
             " bytes=%" PRIu64 " ops=%" PRIu64 " ns=%" PRIu64 " error=%.2e sum=%016" PRIx64
             " check=%s\n",
             run->program->name, arguments, run->threads, run->seed, run->rounds, run->bytes,
             run->program->ops(run) * run->rounds, run->ns, run->error, run->sum,
             run->violation ? run->violation : "ok");
    fputs(line, stdout);
    fflush(stdout);
}

int spmd_main(const struct spmd_program *program, int argc, char **argv)
{
    static struct spmd_run run;
    char why[512];
    int status = EXIT_BAD_ARGUMENT;

    if (spmd_begin(&run, program, argc, argv, why, sizeof why) != 0) {
        fprintf(stderr, "%s: %s\n", program->name, why);
    } else {
        spmd_work(&run);
        spmd_check(&run);
        print_result(&run);
        status = run.violation ? 1 : 0;
    }
    return status; /* arrays stay until the process has ended, for observers of its memory */
}
