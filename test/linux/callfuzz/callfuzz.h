/*
 * Seeded system calls, to find what a kernel does wrong with them. The parts of one program:
 *
 *   callfuzz calls seed=N calls=N jobs=N threads=N sockets=N    calls with random and half-right
 *                                        arguments, by `jobs` processes at a time, beside a
 *                                        neighbour; of 16 calls N are of sockets
 *   callfuzz frames seed=N frames=N      signal frames that are returned to broken
 *   callfuzz twins seed=N rounds=N       calls whose results are printed, to be compared
 *   callfuzz found                       what these have found, a check each
 *
 * What fuzzes uses no C library and no thread-local storage while it does so: its calls may take
 * away either.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE 4096ul
/* Memory that calls may change, unmap, protect: pages of several kinds, then none. */
#define ARENA       0x100000000000ul
#define ARENA_PAGES 28ul
#define ARENA_END   (ARENA + ARENA_PAGES * PAGE)
/* Memory for right structures: 64 KB for each thread, then a hole of as much. No call is made to
 * unmap it. */
#define SAFE       0x0f0000000000ul
#define SAFE_PAGES 16ul
#define THREADS    16u

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static inline uint64_t random_below(struct random *r, uint64_t n)
{
    return random_next(r) % n;
}

static inline bool random_one_in(struct random *r, uint64_t n)
{
    return !random_below(r, n);
}

/* ---- Calls (kinds.c, arguments.c, surroundings.c) -------------------------------------------- */

/* A call: its number, its name, what its arguments are, a letter each. */
struct row {
    int number;
    const char *name, *kinds;
};

/* Who makes calls. */
struct maker {
    struct random random;
    uint64_t safe;    /* its part of the safe memory */
    int pid, tid;     /* its own */
    unsigned sockets; /* of 16 calls, those of sockets */
    bool twins;       /* nothing but what two kernels have alike */
    bool relative;    /* paths lead to its own files */
};

struct made {
    const struct row *row;
    int number;
    uint64_t a[6];
};

extern const struct row linux_rows[];
extern const unsigned linux_row_count;
/* Completes the rows. */
void rows_start(void);
/* Returns one of the rows whose arguments are described, or NULL: there is no such call here. */
const struct row *row_described(uint64_t n);
/* Makes a call; `row` NULL: any, also one that there is not. */
void make_call(struct maker *m, const struct row *row, struct made *out);
/* Maps the arena and the safe memory anew, with raw calls. */
void map_arena(void);
/* A handler that does nothing, and ends the process if it is for a fault of its own. */
void handle_signal(int number, siginfo_t *info, void *context);
/* Opens what descriptors lead to: 3 to 15. Closes all above 2 before. `folder`: where the program
 * may write. */
void open_files(const char *folder);
#define FILES_FIRST 3
#define FILES_END   16
/* Opens sockets behind these; some have a name or port that the seed chooses. */
void open_sockets(uint64_t seed);
#define SOCKETS_FIRST FILES_END
#define SOCKETS_END   32

/* ---- Instruction set (ISA/isa.c) ------------------------------------------------------------- */

/* Makes a system call. A child that it makes ends at once. */
int64_t raw_call(int64_t number, const uint64_t a[6]);
#define RAW(number, ...) raw_call(number, (const uint64_t[6]){__VA_ARGS__})
/* Ends the calling thread; where a new thread may begin. */
__attribute__((noreturn)) void thread_end(void);
/* What handlers return to, as the call for them takes it. */
void signal_restorer(void);
/* Returns from a signal with the frame at sp. */
__attribute__((noreturn)) void frame_return(uint64_t sp);
/* Where a frame is sent to that shall survive: takes a good stack and calls frame_landed(). */
void frame_landing(void);
void frame_landed(void);
/* Bytes from a handler's context to the end of what its return reads, and before it. */
size_t frame_bytes(const void *context);
extern const size_t frame_before;
/* Makes the context return to frame_landing(). */
void frame_mend(void *context);
/* ... and without anything that would trap on the way. */
void frame_calm(void *context);
/* Copies the frame of `context` to `to` so that it can be returned to there. Returns the stack
 * pointer for frame_return. */
uint64_t frame_copy(const void *context, void *to);
/* Writes something half-right into the context, as r says. */
void frame_half_right(void *context, struct random *r);
/* Returns what the caller may do that a program must not, or NULL. */
const char *privileges_wrong(void);

/* ---- Parts ----------------------------------------------------------------------------------- */

struct options {
    uint64_t seed, calls, jobs, threads, frames, rounds, sockets, only;
};
int calls_child(const struct options *o);
int calls_supervise(const struct options *o, const char *self);
int frames_child(const struct options *o);
int frames_supervise(const struct options *o, const char *self);
int neighbour(const struct options *o);
int twins(const struct options *o);
int found(void);
