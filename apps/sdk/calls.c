/*
 * Records calls and returns of functions, with what was counted, for programs built with
 * -finstrument-functions (docs/use/phases.md). Linked to the program; for any C library. It does
 * nothing unless the environment has
 *
 *     VIGIL_CALLS=FILE          the file that is written (calls.h)
 *     VIGIL_CALLS_COUNTS=NAMES  events, up to 8; the first is cycles
 *     VIGIL_CALLS_ONLY=FILE     lines that begin with a function's distance from the program's
 *                               first byte, in hexadecimal: others are not recorded; all are
 *                               without it
 *
 * Counts are the thread's own, so what other threads and processes do is not in them. They are read
 * without a call where the kernel shows them (hpm/pmu/user_page.h). What a record takes is
 * measured at start, with an empty function; writing the file is subtracted from the counts that
 * follow. Functions outside the program's own file, as of shared libraries, are not recorded.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/sdk/calls.h"
#include "apps/sdk/vigil.h"
#include "hpm/pmu/user_page.h"
#if __has_include(<sys/syscall.h>)
#include <sys/syscall.h> /* for isa.h */
#include "isa.h"
#define CAN_FORK
#else
#include "apps/libc/syscall.h"
#endif

#define BUFFER_WORDS (16u << 10) /* 128 KB a thread */
#define PIECE_WORDS  3
#define GRAIN        2 /* functions are at least 4 bytes apart */
#define TEXT_MAX     (64u << 20)

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
void vigil_calls_empty(void);
extern const char __executable_start[], etext[];

struct thread_calls {
    struct thread_calls *next;
    const volatile struct hpm_user_page *page; /* NULL: read by a call */
    uint64_t number;
    uint64_t beside[CALLS_COUNTS_MAX]; /* counted while the library worked: subtracted */
    uint32_t skipped, used;            /* words */
    bool ended;                        /* calls.lock: another thread may have it */
    uint64_t buffer[BUFFER_WORDS];
};

static struct {
    bool on; /* atomic: set once all below is; off: nothing is recorded any more */
    int file, session;
    unsigned counts;
    uint8_t *only; /* a bit for each GRAIN of the text; NULL: all */
    size_t text;
    pthread_mutex_t lock;
    pthread_key_t key;
    struct thread_calls *threads;      /* lock */
    uint64_t threads_number;           /* lock */
    uint64_t written;                  /* lock: bytes of records */
    bool full;                         /* lock: there were more, which are not recorded */
    uint64_t beside[CALLS_COUNTS_MAX]; /* lock: of all threads */
    uint64_t began[CALLS_COUNTS_MAX];  /* of the process */
} calls = {.file = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
static __thread struct thread_calls *mine;
static __thread bool busy; /* the library itself works */

/* ---- Counts ---------------------------------------------------------------------------------- */

/* Reads all counts as of one moment. Returns false if the kernel must be asked. */
static bool read_page(const volatile struct hpm_user_page *p, uint64_t *out)
{
    uint32_t before;
    bool valid;

    do {
        before = __atomic_load_n(&p->sequence, __ATOMIC_ACQUIRE);
        volatile struct hpm_user_latch *latch = (volatile void *)(uintptr_t)p->latch;
        valid = true;
        if (latch)
            latch->latch = 1;
        for (unsigned i = 0; i < calls.counts; i++) {
            const volatile struct hpm_user_count *c = &p->count[i];
            uint32_t index = c->now.index;
            valid = valid && c->valid && index;
            out[i] = c->count;
            if (latch && index)
                out[i] += latch->value[index - 1] - c->now.value;
            else if (index)
                out[i] += hpm_user_passed(p, index, &c->now, counter_read);
        }
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (before != __atomic_load_n(&p->sequence, __ATOMIC_RELAXED));
    return valid;
}

static void read_counts(const struct thread_calls *t, uint64_t *out)
{
    if (!t->page || !read_page(t->page, out))
        vigil_read(calls.session, VIGIL_THREAD, out, calls.counts);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void write_all(const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes) {
        ssize_t n = write(calls.file, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) { /* the file ends there; its reader says so */
            calls.on = false;
            calls.file = -1;
            return;
        }
        at += n;
        bytes -= (size_t)n;
    }
}

static void write_piece(enum calls_piece kind, uint64_t thread, uint64_t *piece, size_t words)
{
    piece[0] = kind;
    piece[1] = thread;
    piece[2] = words * sizeof *piece;
    write_all(piece, (PIECE_WORDS + words) * sizeof *piece);
}

/* Writes what the thread has recorded. calls.lock held. */
static void flush_locked(struct thread_calls *t)
{
    uint64_t bytes = (t->used - PIECE_WORDS) * sizeof *t->buffer;

    if (calls.written + bytes > CALLS_BYTES_MAX)
        calls.full = true;
    else if (bytes)
        write_piece(CALLS_PIECE_RECORDS, t->number, t->buffer, t->used - PIECE_WORDS);
    calls.written += bytes;
    t->used = PIECE_WORDS;
}

/* Adds what was counted since `from` to what the library took. calls.lock held. */
static void add_beside_locked(struct thread_calls *t, const uint64_t *from)
{
    uint64_t now[CALLS_COUNTS_MAX];

    read_counts(t, now);
    for (unsigned i = 0; i < calls.counts; i++) {
        t->beside[i] += now[i] - from[i];
        calls.beside[i] += now[i] - from[i];
    }
}

/* ---- Records --------------------------------------------------------------------------------- */

static inline void put(struct thread_calls *t, uint64_t what)
{
    uint64_t *to = &t->buffer[t->used];

    to[0] = what | (uint64_t)t->skipped << 32;
    read_counts(t, to + 1);
    for (unsigned i = 0; i < calls.counts; i++)
        to[1 + i] -= t->beside[i];
    t->used += 1 + calls.counts;
}

static void flush(struct thread_calls *t)
{
    uint64_t from[CALLS_COUNTS_MAX];
    int program_errno = errno;

    read_counts(t, from);
    pthread_mutex_lock(&calls.lock);
    flush_locked(t);
    add_beside_locked(t, from);
    calls.on = calls.on && !calls.full;
    pthread_mutex_unlock(&calls.lock);
    errno = program_errno;
}

static bool has_room(const struct thread_calls *t)
{
    return t->used + 1 + calls.counts <= BUFFER_WORDS;
}

/* Returns records, of a thread that has ended or new ones, or NULL without memory. */
static struct thread_calls *find_records(void)
{
    pthread_mutex_lock(&calls.lock);
    struct thread_calls *t = calls.threads;
    while (t && !t->ended)
        t = t->next;
    if (t)
        t->ended = false;
    pthread_mutex_unlock(&calls.lock);
    if (t || !(t = calloc(1, sizeof *t)))
        return t;
    pthread_mutex_lock(&calls.lock);
    t->next = calls.threads;
    calls.threads = t;
    t->used = PIECE_WORDS;
    pthread_mutex_unlock(&calls.lock);
    return t;
}

/* Makes the calling thread's records. Returns NULL without memory: it records nothing. */
static struct thread_calls *begin_thread(void)
{
    uint64_t from[CALLS_COUNTS_MAX];
    int program_errno = errno;

    vigil_read(calls.session, VIGIL_THREAD, from, calls.counts);
    struct thread_calls *t = find_records();
    if (!t)
        return NULL;
    long page = syscall(SYS_HPM_SHOW, calls.session);
    t->page = page > 0 ? (const volatile struct hpm_user_page *)page : NULL;
    t->skipped = 0;
    memset(t->beside, 0, sizeof t->beside);
    pthread_mutex_lock(&calls.lock);
    t->number = ++calls.threads_number;
    add_beside_locked(t, from);
    pthread_mutex_unlock(&calls.lock);
    pthread_setspecific(calls.key, t);
    mine = t;
    put(t, (uint64_t)CALLS_BEGIN << 1);
    errno = program_errno;
    return t;
}

static void end_thread(void *argument)
{
    struct thread_calls *t = argument;

    busy = true; /* nothing is recorded behind its end */
    if (has_room(t))
        put(t, (uint64_t)CALLS_END << 1);
    flush(t);
    pthread_mutex_lock(&calls.lock);
    t->ended = true;
    pthread_mutex_unlock(&calls.lock);
}

static size_t bitmap_bytes(void)
{
    return (calls.text >> GRAIN >> 3) + 1;
}

static inline bool is_selected(uint64_t at)
{
    return !calls.only || calls.only[at >> GRAIN >> 3] >> (at >> GRAIN & 7) & 1;
}

static inline void record(const void *function, unsigned is_exit)
{
    if (__builtin_expect(!calls.on, 0) || busy)
        return;
    uint64_t at = (uint64_t)((const char *)function - __executable_start);
    if (at >= calls.text)
        return;
    struct thread_calls *t = mine;
    if (!is_selected(at)) {
        if (t && !is_exit)
            t->skipped++;
        return;
    }
    busy = true;
    if (!t)
        t = begin_thread();
    if (t) {
        if (__builtin_expect(!has_room(t), 0))
            flush(t);
        put(t, at << 1 | is_exit);
    }
    busy = false;
}

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    record(function, 0);
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)site;
    record(function, 1);
}

/* ---- What a record takes --------------------------------------------------------------------- */

__attribute__((noinline)) static void plain_empty(void)
{
    __asm__ volatile("");
}

/* Counts `number` calls of `function`, for each count. */
static void count_calls(struct thread_calls *t, void (*function)(void), unsigned number,
                        uint64_t *out)
{
    uint64_t from[CALLS_COUNTS_MAX];
    void (*volatile called)(void) = function;

    read_counts(t, from);
    for (unsigned i = 0; i < number; i++)
        called();
    read_counts(t, out);
    for (unsigned i = 0; i < calls.counts; i++)
        out[i] -= from[i];
}

/* Writes the head: calls as many as the buffer has room for, so that each record has a new place
 * in it, as those of the program do; twice, as the first time memory is new. */
static void calibrate(struct thread_calls *t, const char *names)
{
    uint64_t piece[PIECE_WORDS + 2 + 3 * CALLS_COUNTS_MAX + 64] = {0}, *to = piece + PIECE_WORDS;
    uint64_t plain[CALLS_COUNTS_MAX], all[CALLS_COUNTS_MAX], skip[CALLS_COUNTS_MAX];
    unsigned n = calls.counts, number = (BUFFER_WORDS - PIECE_WORDS) / (1 + n) / 2;
    uint8_t *only = calls.only;

    calls.only = NULL;
    for (unsigned round = 0; round < 2; round++) {
        t->used = PIECE_WORDS;
        count_calls(t, plain_empty, number, plain);
        count_calls(t, vigil_calls_empty, number, all);
    }
    *to++ = CALLS_MAGIC;
    *to++ = n;
    for (unsigned i = 0; i < n; i++, to++)
        for (unsigned k = 0; k < number; k++) {
            const uint64_t *in = &t->buffer[PIECE_WORDS + 2 * k * (1 + n) + 1 + i];
            *to += in[1 + n] - in[0];
        }
    calls.only = calloc(1, bitmap_bytes()); /* none */
    for (unsigned round = 0; round < 2; round++)
        count_calls(t, calls.only ? vigil_calls_empty : plain_empty, number, skip);
    free(calls.only);
    calls.only = only;
    for (unsigned i = 0; i < n; i++)
        *to++ = all[i] - (plain[i] < all[i] ? plain[i] : all[i]);
    for (unsigned i = 0; i < n; i++)
        *to++ = skip[i] - (plain[i] < skip[i] ? plain[i] : skip[i]);
    for (uint64_t *p = piece + PIECE_WORDS + 2; p < to; p++)
        *p = *p * 1000 / number; /* thousandths */
    snprintf((char *)to, 64 * sizeof *to, "%s", names);
    t->used = PIECE_WORDS;
    t->skipped = 0;
    write_piece(CALLS_PIECE_HEAD, 0, piece,
                (size_t)(to - piece) - PIECE_WORDS + strlen((char *)to) / sizeof *to + 1);
}

/* ---- Start and end --------------------------------------------------------------------------- */

/* Reads which functions are recorded. Returns false if they cannot be. */
static bool read_only(const char *path)
{
    FILE *f = fopen(path, "r");
    unsigned long at;

    calls.only = calloc(1, bitmap_bytes());
    if (!f || !calls.only)
        return false;
    while (fscanf(f, "%lx%*[^\n]", &at) == 1)
        if (at < calls.text)
            calls.only[at >> GRAIN >> 3] |= (uint8_t)(1 << (at >> GRAIN & 7));
    fclose(f);
    return true;
}

static unsigned number_of(const char *names)
{
    unsigned n = 1;

    for (; *names; names++)
        n += *names == ',';
    return n;
}

static bool refuse(const char *what, const char *why)
{
    fprintf(stderr, "vigil-calls: %s: %s; calls are not recorded\n", what, why);
    return false;
}

#ifdef CAN_FORK
/* A child records nothing: neither counts nor the page that shows them are its own. */
static void begin_child(void)
{
    calls.on = false;
    calls.file = -1;
    mine = NULL;
    pthread_setspecific(calls.key, NULL);
}
#endif

static bool start(const char *path)
{
    const char *names = getenv("VIGIL_CALLS_COUNTS"), *only = getenv("VIGIL_CALLS_ONLY");
    char why[160] = "";

    names = names ? names : "cycles,instructions";
    calls.counts = number_of(names);
    calls.text = (size_t)(etext - __executable_start);
    if (calls.counts > CALLS_COUNTS_MAX || calls.text > TEXT_MAX)
        return refuse(names, "8 counts at most, and 64 MB of code");
    calls.session = vigil_open(names, why, sizeof why);
    if (calls.session < 0)
        return refuse(names, why[0] ? why : "this kernel is not Vigil");
    if (only && !read_only(only))
        return refuse(only, "cannot be read");
    calls.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (calls.file < 0)
        return refuse(path, strerror(errno));
    pthread_key_create(&calls.key, end_thread);
#ifdef CAN_FORK
    pthread_atfork(NULL, NULL, begin_child);
#endif
    return true;
}

/* Starts recording in front of the program's own constructors. */
__attribute__((constructor(101))) static void calls_start(void)
{
    const char *path = getenv("VIGIL_CALLS");
    uint64_t from[CALLS_COUNTS_MAX] = {0};

    busy = true;
    if (path && start(path)) {
        struct thread_calls *t = begin_thread();
        if (t) {
            read_counts(t, from);
            busy = false;
            calls.on = true;
            calibrate(t, getenv("VIGIL_CALLS_COUNTS") ?: "cycles,instructions");
            busy = true;
            pthread_mutex_lock(&calls.lock);
            add_beside_locked(t, from);
            memset(calls.beside, 0, sizeof calls.beside);
            pthread_mutex_unlock(&calls.lock);
            vigil_read(calls.session, VIGIL_PROCESS, calls.began, calls.counts);
            put(t, (uint64_t)CALLS_BEGIN << 1);
        }
    }
    busy = false;
}

/* Writes what is left of all threads. Those that still run are cut off here. */
__attribute__((destructor(101))) static void calls_end(void)
{
    uint64_t piece[PIECE_WORDS + 2 * CALLS_COUNTS_MAX + 1], *sums = piece + PIECE_WORDS;
    unsigned n = calls.counts;

    if (calls.file < 0)
        return;
    busy = true;
    vigil_read(calls.session, VIGIL_PROCESS, sums, n);
    if (mine && has_room(mine))
        put(mine, (uint64_t)CALLS_END << 1);
    pthread_mutex_lock(&calls.lock);
    calls.on = false;
    for (struct thread_calls *t = calls.threads; t; t = t->next)
        flush_locked(t);
    sums[2 * n] = calls.full;
    for (unsigned i = 0; i < n; i++) {
        sums[i] -= calls.began[i];
        sums[n + i] = calls.beside[i];
    }
    write_piece(CALLS_PIECE_END, 0, piece, 2 * n + 1);
    pthread_mutex_unlock(&calls.lock);
}
