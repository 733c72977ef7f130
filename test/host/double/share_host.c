/* See share_host.h. A file's number is made of its folder's and its name: names that begin with 'd'
 * are folders, with 'l' links, with '-' nothing, others files. */
#include "test/host/double/share_host.h"
#include <stdlib.h>
#include <string.h>
#include "kernel/core/cpu.h"
#include "kernel/fs/p9_message.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"
#include "kernel/dev/virtio/virtio_9p.h"
#include "test/host/double/fs_kernel.h"
#include "test/host/double/random.h"

#define WAITING_MAX 32
#define FRAMES_MAX  64
#define FIDS_MAX    4096

unsigned host_refuses, host_kills, host_fids, host_lines;
const uint8_t *host_bytes;
size_t host_bytes_left;
struct cpu cpus[CPU_MAX], *host_cpu = cpus;

static struct request {
    const uint8_t *message;
    uint8_t *reply;
    uint32_t bytes, room;
    void *token;
} waiting[WAITING_MAX], answered[WAITING_MAX];
static unsigned waiting_count, answered_count, frame_count;
static void *frames[FRAMES_MAX];
static uint64_t fids[FIDS_MAX]; /* what each stands for; 0: unknown */
static uint64_t seed;
static void (*wake)(void *arg);
static void *wake_arg;

struct share_device {
    int unused;
};
static struct share_device device;

/* ---- The kernel ------------------------------------------------------------------------------ */

void kprintf(const char *fmt, ...)
{
    (void)fmt;
    host_lines++;
}

int frame_alloc(unsigned order, paddr_t *out)
{
    if (frame_count == FRAMES_MAX)
        return -ENOMEM;
    void *p = frames[frame_count++] = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);
    *out = virt_to_phys(p);
    return 0;
}

void host_free_frames(void)
{
    while (frame_count)
        free(frames[--frame_count]);
}

void wait_init(struct wait_queue *q)
{
    list_init(&q->waiters);
}

unsigned wait_wake(UNUSED struct wait_queue *q, UNUSED unsigned max)
{
    return 0;
}

static void answer_one(void);

int wait_sleep(UNUSED struct wait_queue *q, struct spinlock *guard, bool *irq,
               UNUSED uint64_t deadline_ns)
{
    if (test_random(&seed) % 1000 < host_kills)
        return -EINTR;
    spin_unlock(guard, *irq);
    answer_one();
    *irq = spin_lock(guard);
    return 0;
}

void wait_sleep_through(UNUSED struct wait_queue *q, struct spinlock *guard, bool *irq)
{
    spin_unlock(guard, *irq);
    answer_one();
    *irq = spin_lock(guard);
}

static uint32_t answer(const struct request *r);
static uint32_t answer_bytes(const struct request *r);

/* ---- The device ------------------------------------------------------------------------------ */

int share_device_open(UNUSED const char *tag, UNUSED struct cpu *target, void (*to)(void *arg),
                      void *arg, struct share_device **out)
{
    wake = to;
    wake_arg = arg;
    *out = &device;
    return 0;
}

int share_device_send(UNUSED struct share_device *d, paddr_t message, uint32_t bytes, paddr_t reply,
                      uint32_t room, void *token)
{
    if (waiting_count == WAITING_MAX)
        abort();
    struct request *r = &waiting[waiting_count++];
    *r = (struct request){phys_to_virt(message), phys_to_virt(reply), bytes, room, token};
    bool begins = r->message[4] == P9_VERSION || r->message[4] == P9_ATTACH;
    r->bytes = host_bytes && !begins ? answer_bytes(r) : answer(r);
    return 0;
}

int share_device_take(UNUSED struct share_device *d, void **token, uint32_t *bytes)
{
    if (!answered_count)
        return -EAGAIN;
    *token = answered[--answered_count].token;
    *bytes = answered[answered_count].bytes;
    return 0;
}

/* ---- The server ------------------------------------------------------------------------------ */

static uint64_t *fid_of(uint64_t number, bool known)
{
    if (number >= FIDS_MAX || !fids[number] == known)
        abort();
    return &fids[number];
}

/* Numbers of files: the lower two bits are the type. */
enum { FILE_ = 1, FOLDER = 2, LINK = 3 };

static uint64_t child_of(uint64_t folder, const char *name, size_t n)
{
    uint64_t h = folder * 0x9e3779b97f4a7c15ull;

    if (folder % 4 != FOLDER || !n || name[0] == '-')
        return 0;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)name[i]) * 0x100000001b3ull;
    return (h & ~3ull) | (name[0] == 'd' ? FOLDER : name[0] == 'l' ? LINK : FILE_);
}

static void put_qid(struct p9_out *o, uint64_t file)
{
    p9_put(o, file % 4 == FOLDER ? 0x80 : file % 4 == LINK ? 0x02 : 0, 1);
    p9_put(o, 0, 4);
    p9_put(o, file, 8);
}

static void put_attributes(struct p9_out *o, uint64_t file)
{
    p9_put(o, 0x7ff, 8);
    put_qid(o, file);
    p9_put(o, (file % 4 == FOLDER ? 0040000 : file % 4 == LINK ? 0120000 : 0100000) | 0644, 4);
    for (unsigned i = 0; i < 2; i++)
        p9_put(o, 0, 4);
    for (unsigned i = 0; i < 15; i++)
        p9_put(o, 3, 8);
}

static void put_entries(struct p9_out *o, uint64_t at)
{
    static const char *const names[] = {".", "..", "f", "d", "l"};
    uint8_t *count = o->at;

    p9_put(o, 0, 4);
    for (; at < ARRAY_SIZE(names); at++) {
        put_qid(o, FILE_);
        p9_put(o, at + 1, 8);
        p9_put(o, 8, 1);
        p9_put_text(o, names[at], strlen(names[at]));
    }
    *count = (uint8_t)(o->at - count - 4);
}

/* Answers a request. Returns 0 or an error. */
static int serve(struct p9_in *in, enum p9_type type, struct p9_out *o)
{
    uint64_t number = type == P9_VERSION ? 0 : p9_get(in, 4), file = 0, *to;
    const char *name;
    size_t n;

    if (type != P9_VERSION && type != P9_ATTACH)
        file = *fid_of(number, true);
    switch (type) {
    case P9_VERSION:
        p9_put(o, p9_get(in, 4), 4);
        p9_put_text(o, "9P2000.L", 8);
        return 0;
    case P9_ATTACH:
        *fid_of(number, false) = FOLDER;
        host_fids++;
        put_qid(o, FOLDER);
        return 0;
    case P9_WALK:
        to = fid_of(p9_get(in, 4), false);
        if (p9_get(in, 2)) {
            name = p9_get_text(in, &n);
            file = child_of(file, name, n);
            p9_put(o, 1, 2);
            put_qid(o, file);
        } else {
            p9_put(o, 0, 2);
        }
        *to = file;
        host_fids += file != 0;
        return file ? 0 : -ENOENT;
    case P9_CLUNK:
        *fid_of(number, true) = 0;
        host_fids--;
        return 0;
    case P9_GETATTR:
        put_attributes(o, file);
        return 0;
    case P9_CREATE:
        name = p9_get_text(in, &n);
        file = child_of(file, name, n);
        if (!file)
            return -EACCES;
        fids[number] = file;
        /* fall through */
    case P9_OPEN:
        put_qid(o, file);
        p9_put(o, 0, 4);
        return 0;
    case P9_MKDIR:
    case P9_SYMLINK:
        put_qid(o, file);
        return 0;
    case P9_READ: /* a byte more than its attributes tell */
        n = (size_t)p9_get(in, 8);
        n = MIN(n, (size_t)4);
        p9_put(o, 4 - n, 4);
        p9_put_data(o, &"abcd"[n], 4 - n);
        return 0;
    case P9_WRITE:
        p9_get(in, 8);
        p9_put(o, p9_get(in, 4), 4);
        return 0;
    case P9_READDIR:
        put_entries(o, p9_get(in, 8));
        return 0;
    case P9_READLINK:
        p9_put_text(o, "f", 1);
        return file % 4 == LINK ? 0 : -EINVAL;
    case P9_STATFS:
        p9_put(o, 1, 4);
        p9_put(o, 4096, 4);
        for (unsigned i = 0; i < 6; i++)
            p9_put(o, 7, 8);
        p9_put(o, 255, 4);
        return 0;
    default:
        return 0;
    }
}

static uint32_t answer(const struct request *r)
{
    struct p9_in in = {.at = r->message, .left = r->bytes};
    struct p9_out o;

    if (p9_get(&in, 4) != r->bytes)
        abort();
    uint64_t type = p9_get(&in, 1), tag = p9_get(&in, 2);
    p9_begin(&o, r->reply, r->room, (enum p9_type)(type + 1), (uint16_t)tag);
    int err = type != P9_VERSION && type != P9_ATTACH && type != P9_CLUNK &&
                      test_random(&seed) % 1000 < host_refuses
                  ? -ENOSPC
                  : serve(&in, (enum p9_type)type, &o);
    if (err) {
        p9_begin(&o, r->reply, r->room, (enum p9_type)(P9_ERROR + 1), (uint16_t)tag);
        p9_put(&o, (uint64_t)-err, 4);
    }
    return p9_complete(&o);
}

/* The header may be right, so that more than it is tried. */
static uint32_t answer_bytes(const struct request *r)
{
    size_t n = host_bytes_left ? MIN((size_t)*host_bytes % 200, host_bytes_left - 1) : 0;

    if (host_bytes_left) {
        memcpy(r->reply, host_bytes + 1, n);
        host_bytes += n + 1;
        host_bytes_left -= n + 1;
    }
    if (n >= P9_HEADER && !(r->reply[0] & 1)) {
        memcpy(r->reply, (uint32_t[]){(uint32_t)n}, 4);
        memcpy(r->reply + 5, r->message + 5, 2);
        if (!(r->reply[4] & 1))
            r->reply[4] = (uint8_t)(r->message[4] + 1);
    }
    return (uint32_t)n;
}

static void answer_one(void)
{
    if (!waiting_count)
        abort(); /* a thread would sleep for ever */
    unsigned i = (unsigned)(test_random(&seed) % waiting_count);
    struct request r = waiting[i];
    waiting[i] = waiting[--waiting_count];
    answered[answered_count++] = r;
    wake(wake_arg);
}

void host_finish(void)
{
    while (waiting_count)
        answer_one();
}

void host_restart(uint64_t s)
{
    seed = s;
    memset(fids, 0, sizeof(fids));
    waiting_count = answered_count = host_fids = host_lines = 0;
    host_refuses = host_kills = 0;
    host_bytes = NULL;
    host_bytes_left = 0;
}
