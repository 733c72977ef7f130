/*
 * An interpreter (vm.h) of four programs, a phase each: "sieve", Eratosthenes', mostly stores;
 * "fib", a recursion, all calls; "hash", arithmetic on registers; "sort", a bubble sort, loads and
 * branches. Then "check".
 *
 * Law: each gives the result of the same computation in C.
 */
#include <string.h>
#include "apps/workloads/phases/job.h"
#include "apps/workloads/phases/vm.h"

enum { STEPS_PER_SIZE = 100, STEPS_LEAST = 10000 };

/* ---- The programs: r1 is what they are given, r0 what they give, r15 stays 0 ----------------- */

/* Counts the primes below r1, which is at least 1; needs as many words of memory. */
enum {
    SIEVE_CLEAR = 1,
    SIEVE_NEXT = 6,
    SIEVE_LOOK = 8,
    SIEVE_STRIKE = 13,
    SIEVE_TEST = 15,
    SIEVE_STEP = 16
};
static const struct vm_code sieve_code[] = {
    {VM_SET, 2, 0, 0, 0},
    [SIEVE_CLEAR] = {VM_STORE, 15, 2, 0, 0},
    {VM_ADDI, 2, 2, 0, 1},
    {VM_LESS, 2, 1, 0, SIEVE_CLEAR},
    {VM_SET, 3, 0, 0, 1},
    {VM_SET, 2, 0, 0, 2},
    [SIEVE_NEXT] = {VM_LESS, 2, 1, 0, SIEVE_LOOK},
    {VM_HALT, 0, 0, 0, 0},
    [SIEVE_LOOK] = {VM_LOAD, 4, 2, 0, 0},
    {VM_EQUAL, 4, 3, 0, SIEVE_STEP},
    {VM_ADDI, 0, 0, 0, 1},
    {VM_ADD, 5, 2, 2, 0},
    {VM_JUMP, 0, 0, 0, SIEVE_TEST},
    [SIEVE_STRIKE] = {VM_STORE, 3, 5, 0, 0},
    {VM_ADD, 5, 5, 2, 0},
    [SIEVE_TEST] = {VM_LESS, 5, 1, 0, SIEVE_STRIKE},
    [SIEVE_STEP] = {VM_ADDI, 2, 2, 0, 1},
    {VM_JUMP, 0, 0, 0, SIEVE_NEXT},
};

/* Computes the Fibonacci number of r1. */
enum { FIB = 2, FIB_LEAF = 14 };
static const struct vm_code fib_code[] = {
    {VM_CALL, 0, 0, 0, FIB},      {VM_HALT, 0, 0, 0, 0},   [FIB] = {VM_SET, 2, 0, 0, 2},
    {VM_LESS, 1, 2, 0, FIB_LEAF}, {VM_PUSH, 1, 0, 0, 0},   {VM_ADDI, 1, 1, 0, -1},
    {VM_CALL, 0, 0, 0, FIB},      {VM_POP, 1, 0, 0, 0},    {VM_PUSH, 0, 0, 0, 0},
    {VM_ADDI, 1, 1, 0, -2},       {VM_CALL, 0, 0, 0, FIB}, {VM_POP, 2, 0, 0, 0},
    {VM_ADD, 0, 0, 2, 0},         {VM_RETURN, 0, 0, 0, 0}, [FIB_LEAF] = {VM_ADD, 0, 1, 15, 0},
    {VM_RETURN, 0, 0, 0, 0},
};

/* Sums r1 random numbers. */
enum { HASH_SEED = 1234567, HASH_FACTOR = 0x5bd1e995, HASH_NEXT = 2 };
static const struct vm_code hash_code[] = {
    {VM_SET, 2, 0, 0, HASH_SEED},
    {VM_SET, 4, 0, 0, HASH_FACTOR},
    [HASH_NEXT] = {VM_SHR, 3, 2, 0, 12},
    {VM_XOR, 2, 2, 3, 0},
    {VM_SHL, 3, 2, 0, 25},
    {VM_XOR, 2, 2, 3, 0},
    {VM_SHR, 3, 2, 0, 27},
    {VM_XOR, 2, 2, 3, 0},
    {VM_MUL, 3, 2, 4, 0},
    {VM_ADD, 0, 0, 3, 0},
    {VM_ADDI, 1, 1, 0, -1},
    {VM_LESS, 15, 1, 0, HASH_NEXT},
    {VM_HALT, 0, 0, 0, 0},
};

/* Sums the first r1 words, at least 2, each times its rank. */
enum { SORT_OUTER = 1, SORT_INNER = 4, SORT_STEP = 9, SORT_SUM = 12, SORT_ADD = 13 };
static const struct vm_code sort_code[] = {
    {VM_ADDI, 2, 1, 0, 0},
    [SORT_OUTER] = {VM_SET, 3, 0, 0, 0},
    {VM_ADDI, 2, 2, 0, -1},
    {VM_EQUAL, 2, 15, 0, SORT_SUM},
    [SORT_INNER] = {VM_LOAD, 4, 3, 0, 0},
    {VM_LOAD, 5, 3, 0, 1},
    {VM_LESS, 4, 5, 0, SORT_STEP},
    {VM_STORE, 5, 3, 0, 0},
    {VM_STORE, 4, 3, 0, 1},
    [SORT_STEP] = {VM_ADDI, 3, 3, 0, 1},
    {VM_LESS, 3, 2, 0, SORT_INNER},
    {VM_JUMP, 0, 0, 0, SORT_OUTER},
    [SORT_SUM] = {VM_SET, 3, 0, 0, 0},
    [SORT_ADD] = {VM_LOAD, 4, 3, 0, 0},
    {VM_MUL, 5, 4, 3, 0},
    {VM_ADD, 0, 0, 5, 0},
    {VM_ADDI, 3, 3, 0, 1},
    {VM_LESS, 3, 1, 0, SORT_ADD},
    {VM_HALT, 0, 0, 0, 0},
};

/* ---- What they are given, for about three steps each for one of the job's size, and what they
 * must give ---- */

static uint64_t sieve_argument(uint64_t size)
{
    return size / 4 + 1;
}

static uint64_t sieve_expected(uint64_t below, const uint64_t *original, uint64_t *scratch)
{
    uint64_t primes = below > 2;

    (void)original;
    memset(scratch, 0, below * sizeof *scratch);
    for (uint64_t odd = 3; odd < below; odd += 2) {
        primes += !scratch[odd];
        for (uint64_t n = odd * odd; !scratch[odd] && n < below; n += 2 * odd)
            scratch[n] = 1;
    }
    return primes;
}

static uint64_t fib_expected(uint64_t k, const uint64_t *original, uint64_t *scratch)
{
    uint64_t fib = 0, next = 1;

    (void)original;
    (void)scratch;
    for (; k; k--) {
        uint64_t sum = fib + next;
        fib = next;
        next = sum;
    }
    return fib;
}

static uint64_t fib_argument(uint64_t size)
{
    uint64_t k = 1;

    while (fib_expected(k + 1, NULL, NULL) <= size / 8)
        k++;
    return k;
}

static uint64_t hash_argument(uint64_t size)
{
    return size / 4 + 1;
}

static uint64_t hash_expected(uint64_t count, const uint64_t *original, uint64_t *scratch)
{
    uint64_t x = HASH_SEED, sum = 0;

    (void)original;
    (void)scratch;
    for (; count; count--) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        sum += x * HASH_FACTOR;
    }
    return sum;
}

static uint64_t sort_argument(uint64_t size)
{
    uint64_t count = 2;

    while ((count + 1) * (count + 1) <= size)
        count++;
    return count;
}

/* Computes it without sorting: a word's rank is the number of words before it. */
static uint64_t sort_expected(uint64_t count, const uint64_t *original, uint64_t *scratch)
{
    uint64_t sum = 0;

    (void)scratch;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t place = 0;
        for (uint64_t j = 0; j < count; j++)
            place += original[j] < original[i] || (original[j] == original[i] && j < i);
        sum += place * original[i];
    }
    return sum;
}

#define PROGRAM(name)                                                                  \
    {                                                                                  \
#name, name##_code, sizeof name##_code / sizeof *name##_code, name##_argument, \
            name##_expected                                                            \
    }
static const struct program {
    const char *name;
    const struct vm_code *code;
    size_t count;
    uint64_t (*argument)(uint64_t size);
    uint64_t (*expected)(uint64_t argument, const uint64_t *original,
                         uint64_t *scratch); /* scratch: room for as many words */
} programs[] = {PROGRAM(sieve), PROGRAM(fib), PROGRAM(hash), PROGRAM(sort)};

enum { PROGRAMS = sizeof programs / sizeof *programs };

/* ---- The kind -------------------------------------------------------------------------------- */

struct interp {
    struct vm vm;
    uint64_t *original; /* a copy of the machine's words */
    bool halted;        /* all programs have halted */
    uint64_t result[PROGRAMS];
};

static void run(struct phases_job *job, struct interp *in, unsigned which)
{
    const struct program *program = &programs[which];

    memcpy(in->vm.memory, in->original, in->vm.words * sizeof *in->original);
    memset(in->vm.reg, 0, sizeof in->vm.reg);
    in->vm.reg[1] = program->argument(job->size);
    if (vm_run(&in->vm, program->code, program->count, job->size * STEPS_PER_SIZE + STEPS_LEAST))
        in->halted = false;
    in->result[which] = in->vm.reg[0];
}

static const char *check(struct phases_job *job, const struct interp *in)
{
    if (!in->halted)
        return "programs_halt";
    for (unsigned p = 0; p < PROGRAMS; p++) {
        if (in->result[p] !=
            programs[p].expected(programs[p].argument(job->size), in->original, in->vm.memory))
            return "programs_are_right";
        phases_result(job, in->result[p]);
    }
    return NULL;
}

static const char *round_of(struct phases_job *job)
{
    struct interp *in = job->data;

    phases_enter(job, "fill");
    for (size_t i = 0; i < in->vm.words; i++)
        in->original[i] = prng_next(&job->prng);
    in->halted = true;
    for (unsigned p = 0; p < PROGRAMS; p++) {
        phases_enter(job, programs[p].name);
        run(job, in, p);
    }
    phases_enter(job, "check");
    return check(job, in);
}

static void prepare(struct phases_job *job)
{
    struct interp *in = phases_alloc(job, sizeof *in);

    in->vm.words = sieve_argument(job->size);
    if (in->vm.words < sort_argument(job->size))
        in->vm.words = sort_argument(job->size);
    in->vm.memory = phases_alloc(job, in->vm.words * sizeof *in->vm.memory);
    in->original = phases_alloc(job, in->vm.words * sizeof *in->original);
    job->data = in;
    job->product = in->result;
    job->product_bytes = sizeof in->result;
}

const struct phases_kind phases_interp = {
    "interp", "a third of a program's steps", 300000, 1, 16777216, prepare, round_of};
