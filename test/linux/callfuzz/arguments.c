/* What calls are made with. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/arguments.h"
#include "kernel/proc/abi.h"
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static const struct row unknown = {0, "unknown", "******"};

/* ---- Numbers --------------------------------------------------------------------------------- */

static uint64_t bad_pointer(struct maker *m)
{
    struct random *r = &m->random;

    switch (random_below(r, m->twins ? 8 : 12)) {
    case 0:
        return 0;
    case 1:
        return random_below(r, 65536);
    case 2:
        return ARENA + 20 * PAGE + random_below(r, 4 * PAGE); /* without rights */
    case 3:
        return ARENA_END + random_below(r, PAGE);
    case 4:
        return 0xffff800000000000ull | random_next(r) >> 17;
    case 5:
        return 0xffffffff80000000ull + random_below(r, 1 << 26);
    case 6:
        return 0x800000000000ull + random_next(r) % (1ull << 60); /* not canonical */
    case 7:
        return ~random_below(r, 5000);
    case 8:
        return 0x7fffffbaf000ull - random_below(r, 8192) + 4096;
    case 9:
        return random_next(r);
    case 10:
        return (uint64_t)(uintptr_t)thread_end & ~63ul;
    default:
        return 1ull << random_below(r, 64);
    }
}

uint64_t pointer(struct maker *m)
{
    struct random *r = &m->random;

    switch (random_below(r, 16)) {
    case 0:
        return bad_pointer(m);
    case 1:
        return ARENA_END - 1 - random_below(r, 64); /* at the end of a mapping */
    case 2:
        return ARENA + 16 * PAGE + random_below(r, 4 * PAGE); /* not to be written */
    case 3:
        return ARENA + 16 * PAGE - 1 - random_below(r, 64); /* its second part neither */
    case 4:
        return ARENA + random_below(r, 16 * PAGE); /* of any alignment */
    default:
        return ARENA + random_below(r, 16 * 32) * 128;
    }
}

uint64_t length(struct maker *m)
{
    static const uint64_t sizes[] = {
        0,         1,          2,          7,         8,         16,         63,
        100,       128,        255,        1024,      4095,      4096,       4097,
        8192,      65536,      1000,       10000,     1 << 20,   1ull << 30, 1ull << 32,
        INT64_MAX, UINT64_MAX, 1ull << 63, INT32_MAX, UINT32_MAX};
    struct random *r = &m->random;

    return random_one_in(r, 3) ? PICK(r, sizes) : random_below(r, 300);
}

static uint64_t map_length(struct maker *m)
{
    static const uint64_t sizes[] = {
        0,          1,          4095,      4097,       1 << 20,           1ull << 30,
        1ull << 40, 1ull << 47, INT64_MAX, UINT64_MAX, UINT64_MAX - 4095, 1ull << 63};
    struct random *r = &m->random;

    return random_one_in(r, 8) ? PICK(r, sizes) : PAGE * (1 + random_below(r, 12));
}

static uint64_t map_address(struct maker *m)
{
    struct random *r = &m->random;
    uint64_t page = ARENA + PAGE * random_below(r, ARENA_PAGES + 8);

    return random_one_in(r, 12)   ? bad_pointer(m)
           : random_one_in(r, 24) ? page + random_below(r, PAGE)
                                  : page;
}

static uint64_t offset(struct maker *m)
{
    static const uint64_t offsets[] = {
        0,          1,          4095,       4096,      65536, INT64_MAX, INT64_MAX - 4095,
        1ull << 63, UINT64_MAX, 1ull << 32, 1ull << 40};
    struct random *r = &m->random;

    return random_one_in(r, 4) ? PICK(r, offsets)
                               : random_below(r, 4) * PAGE + random_below(r, 2) * 10;
}

uint64_t number(struct maker *m)
{
    static const uint64_t numbers[] = {UINT64_MAX, INT32_MAX,  (uint64_t)INT32_MIN,
                                       INT64_MAX,  1ull << 63, UINT32_MAX,
                                       1024,       65,         1ull << 32};
    struct random *r = &m->random;

    return random_one_in(r, 10) ? PICK(r, numbers) : random_below(r, 12);
}

uint64_t flags(struct maker *m)
{
    struct random *r = &m->random;

    switch (random_below(r, 6)) {
    case 0:
        return random_next(r);
    case 1:
        return random_next(r) & 0xffff;
    case 2:
        return 1ull << random_below(r, 32);
    case 3:
        return random_below(r, 16);
    case 4:
        return 0x1000 + random_below(r, 4); /* arch_prctl's; of paths: AT_EMPTY_PATH */
    default:
        return 0;
    }
}

static uint64_t request(struct maker *m)
{
    static const uint64_t requests[] = {
        0x5401, 0x5402, 0x5403, 0x5404, 0x5405, 0x5406, 0x5408, 0x5409, 0x540a, 0x540b, 0x540e,
        0x5410, 0x5411, 0x5413, 0x5414, 0x541b, 0x5421, 0x5422, 0x5429, 0x5441, 0x5450, 0x5451,
        0x80045430, 0x40045431, 0x80045439, 0x40045436,
        /* of perf events */
        0x2400, 0x2401, 0x2402, 0x2403, 0x40082404, 0x2405, 0x40082406, 0x80082407, 0x40042408,
        0x40042409, 0xc008240a, 0x4008240b};
    struct random *r = &m->random;

    return random_one_in(r, 8) ? flags(m) : PICK(r, requests);
}

uint64_t descriptor(struct maker *m)
{
    static const uint64_t odd[] = {UINT64_MAX, (uint64_t)-100, INT32_MAX,  UINT32_MAX,
                                   1023,       1024,           1ull << 32, 1ull << 63};
    struct random *r = &m->random;
    unsigned end = m->sockets ? SOCKETS_END : FILES_END;

    return random_one_in(r, 10) ? PICK(r, odd)
                                : FILES_FIRST + random_below(r, end - FILES_FIRST + 3);
}

static uint64_t mapping_flags(struct maker *m)
{
    struct random *r = &m->random;
    uint64_t f = random_one_in(r, 20) ? random_next(r) : MAP_PRIVATE;

    if (!random_one_in(r, 3))
        f |= MAP_ANONYMOUS;
    if (!random_one_in(r, 4))
        f |= random_one_in(r, 6) ? MAP_FIXED_NOREPLACE : MAP_FIXED;
    if (random_one_in(r, 8))
        f |= 1ull << random_below(r, 22);
    return f;
}

static uint64_t thread(struct maker *m)
{
    struct random *r = &m->random;

    return random_one_in(r, 5)   ? number(m)
           : random_one_in(r, 2) ? 0
           : m->twins            ? (uint64_t)m->pid
                                 : (uint64_t)m->pid + random_below(r, THREADS);
}

static uint64_t futex_operation(struct maker *m)
{
    struct random *r = &m->random;

    return random_below(r, 14) | (random_one_in(r, 2) ? 128 : 0) | (random_one_in(r, 8) ? 256 : 0);
}

static uint64_t signal_number(struct maker *m)
{
    static const uint64_t deadly[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    struct random *r = &m->random;
    uint64_t n = random_one_in(r, 8) ? number(m) : random_below(r, 66);

    if (m->twins || random_one_in(r, 500))
        return n;
    for (unsigned k = 0; k < sizeof deadly / sizeof deadly[0]; k++)
        n = (int)n == (int)deadly[k] ? SIGUSR2 : n;
    return n;
}

static uint64_t open_flags(struct maker *m)
{
    struct random *r = &m->random;
    uint64_t f = random_below(r, 3) | O_NONBLOCK;

    if (random_one_in(r, 3))
        f |= O_CREAT;
    if (random_one_in(r, 4))
        f |= 1ull << random_below(r, 23);
    return f;
}

static uint64_t clone_flags(struct maker *m)
{
    struct random *r = &m->random;
    uint64_t f = 0x3d0f00;

    if (random_one_in(r, 2))
        f ^= 1ull << random_below(r, 32);
    return random_one_in(r, 8) ? random_next(r) : f;
}

static uint64_t make_argument(struct maker *m, char kind, unsigned i)
{
    struct random *r = &m->random;

    if (strchr(STRUCTURES, kind))
        return make_structure(m, kind, i);
    if (strchr(SOCKET_KINDS, kind))
        return make_socket_argument(m, kind, i);
    switch (kind) {
    case 'f':
        return descriptor(m);
    case 'd':
        return random_one_in(r, 3) ? descriptor(m) : (uint64_t)AT_FDCWD;
    case 'b':
        return pointer(m);
    case 'l':
        return length(m);
    case 'o':
        return offset(m);
    case 'a':
        return map_address(m);
    case 'L':
        return map_length(m);
    case 'P':
        return random_one_in(r, 10) ? flags(m) : random_one_in(r, 4) ? random_below(r, 8) : 3;
    case 'M':
        return mapping_flags(m);
    case 'F':
        return flags(m);
    case 'm':
        return random_one_in(r, 8) ? number(m) : 0700 | random_below(r, 512);
    case 's':
        return signal_number(m);
    case '8':
        return random_one_in(r, 16) ? number(m) : 8;
    case 't':
        return thread(m);
    case 'k': {
        uint64_t k = random_one_in(r, 3) ? number(m) : random_one_in(r, 2) ? 0 : (uint64_t)m->pid;
        return (int)k == -1 ? 0 : k; /* -1 is all processes, who supervises included */
    }
    case 'U':
        return random_one_in(r, 4) ? random_below(r, 5) : (uint64_t)-1;
    case 'X':
        return random_one_in(r, 3) ? descriptor(m) : (uint64_t)-1;
    case 'Z':
        return random_one_in(r, 4) ? flags(m) : 0;
    case 'c':
        return random_one_in(r, 8) ? flags(m) : random_below(r, 12);
    case 'x':
        return random_one_in(r, 4) ? pointer(m) : ARENA + 64 * random_below(r, 8);
    case 'q':
        return futex_operation(m);
    case 'O':
        return open_flags(m);
    case 'g':
        return clone_flags(m);
    case 'i':
    case 'n':
        return number(m);
    default:
        return random_one_in(r, 3)   ? pointer(m)
               : random_one_in(r, 2) ? number(m)
               : random_one_in(r, 2) ? length(m)
                                     : random_next(r);
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* What ends the caller, or takes its code, stack or safe memory from it, is made rarely. */
static bool is_deadly(const struct made *c)
{
    static const int64_t deadly[] = {SYS_exit_group, SYS_exit, SYS_rt_sigreturn, SYS_execve,
                                     SYS_execveat};

    for (unsigned i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        if (c->number == deadly[i])
            return true;
    return false;
}

static void spare_memory(struct maker *m, struct made *c)
{
    bool maps = c->number == SYS_mmap;
    uint64_t end = c->a[0] + c->a[1];

    if (c->row->kinds[0] == 'a' && (!maps || c->a[3] & MAP_FIXED)) {
        if (c->a[0] < ARENA && (end > 65536 || end < c->a[0]))
            c->a[1] = 1 + c->a[1] % PAGE;
        if (c->a[0] >= 65536 && c->a[0] < ARENA)
            c->a[0] = 0;
    }
    if (c->number == SYS_mremap && c->a[4] < ARENA)
        c->a[4] = ARENA_END;
    if (c->number == SYS_shmat && c->a[1] < ARENA)
        c->a[1] = 0;
    /* all of memory is taken now and then only */
    if (maps && c->a[1] > 1 << 20 && c->a[1] < 1ull << 46 && !random_one_in(&m->random, 32))
        c->a[1] %= 1 << 18;
    if (c->number == SYS_mlockall && !random_one_in(&m->random, 64))
        c->a[0] = 0;
}

static const struct row *pick_row(struct maker *m, int *call)
{
    struct random *r = &m->random;
    const struct row *row = &rows[random_below(r, linux_row_count)];

    *call = row->number;
    if (random_below(r, 16) < m->sockets) {
        row = &socket_rows[random_below(r, socket_row_count)];
        *call = row->number;
    } else if (random_one_in(r, 16)) {
        row = &unknown;
        *call = random_one_in(r, 4) ? (int)random_next(r) : (int)random_below(r, 600);
    } else if (random_one_in(r, 8)) {
        row = &own_rows[random_below(r, own_row_count)];
        *call = row->number;
    }
    return row;
}

static uint64_t argument_of(struct maker *m, const struct made *c, char kind, unsigned i)
{
    if (kind && kind != 'r' && (c->number == SYS_ioctl || c->number == SYS_fcntl) && i == 1)
        return c->number == SYS_ioctl ? request(m) : random_below(&m->random, 1040);
    return make_argument(m, kind, i);
}

void make_call(struct maker *m, const struct row *row, struct made *out)
{
    struct random *r = &m->random;

    do {
        *out = (struct made){.row = row};
        if (row)
            out->row = &rows[row - linux_rows], out->number = row->number;
        else
            out->row = pick_row(m, &out->number);
    } while (is_deadly(out) && !random_one_in(r, 1000));
    const char *kind = out->row->kinds;
    for (unsigned i = 0; i < 6; i++) {
        bool any = !m->twins && random_one_in(r, 40);
        if (*kind || !m->twins)
            out->a[i] = argument_of(m, out, any || !*kind ? '*' : *kind, i);
        kind += *kind != '\0';
    }
    spare_memory(m, out);
}
