/*
 * See malloc_map.h.
 *
 * A program soon takes memory again that it has freed. So mappings up to 32 MB are kept, up to a
 * total of twice the largest one freed so far; glibc adapts its thresholds like this
 * (malloc/malloc.c, "dynamic mmap threshold"). Each thread keeps the last one of up to 1 MB that it
 * freed, and needs no lock for it.
 *
 * The kernel maps more than it has memory for, and ends the process that touches too much. So that
 * malloc can refuse, it asks the kernel how much the process can still fill, and asks again when
 * half of the last answer is mapped. It does not know mappings that are made otherwise and not
 * touched yet, nor memory that other processes will fill.
 */
#include "apps/libc/malloc_map.h"
#include "apps/libc/libc.h"

#define KEPT       16
#define KEPT_BYTES ((size_t)32 << 20) /* a larger mapping is never kept */
/* nor, by a thread, one of more than 1 MB and its overhead */
#define THREAD_BYTES ((size_t)5 << 18)
#define KEPT_PART    8 /* of the memory that can be filled: all mappings kept */
/* Memory left for the stack and malloc's reserve, and the part left for page tables. */
#define SLACK      ((size_t)196608)
#define TABLE_PART 256

static size_t held;         /* atomic: bytes mapped, kept mappings included */
static size_t looked_until; /* atomic: when `held` exceeds it the kernel is asked again */

static struct {
    uint32_t lock;
    struct {
        char *at;
        size_t size;
    } one[KEPT];    /* lock; unordered */
    unsigned count; /* lock */
    size_t bytes;   /* lock: of all kept mappings */
    size_t largest; /* lock: size of the largest one freed so far */
    size_t most;    /* atomic: bytes that may be kept, by the memory that can be filled */
} kept = {.most = SIZE_MAX};

static void unmap(char *at, size_t size)
{
    syscall2(SYS_munmap, at, size);
    __atomic_sub_fetch(&held, size, __ATOMIC_RELAXED);
}

/* ---- Kept mappings --------------------------------------------------------------------------- */

/* kept.lock held. */
static struct mapping take_locked(unsigned i)
{
    struct mapping m = {kept.one[i].at, kept.one[i].size, true};

    kept.bytes -= m.size;
    kept.one[i] = kept.one[--kept.count];
    return m;
}

static bool fits(size_t has, size_t wanted)
{
    return has >= wanted && has - wanted <= wanted / 4;
}

static struct mapping take_kept(size_t size)
{
    struct mapping m = {0};
    unsigned best = KEPT;

    lock_take(&kept.lock);
    for (unsigned i = 0; i < kept.count; i++)
        if (fits(kept.one[i].size, size) &&
            (best == KEPT || kept.one[i].size < kept.one[best].size))
            best = i;
    if (best < KEPT)
        m = take_locked(best);
    lock_give(&kept.lock);
    return m;
}

/* Returns the bytes that may be kept now. kept.lock held. */
static size_t limit_locked(void)
{
    size_t adapted = 2 * kept.largest, most = __atomic_load_n(&kept.most, __ATOMIC_RELAXED);

    return adapted < most ? adapted : most;
}

/* Unmaps kept mappings until another one of `size` bytes may be kept; all of them if `size` is
 * SIZE_MAX. */
static void make_room(size_t size)
{
    for (;;) {
        struct mapping m = {0};
        lock_take(&kept.lock);
        if (kept.count &&
            (kept.count == KEPT || size > limit_locked() || kept.bytes > limit_locked() - size))
            m = take_locked(0);
        lock_give(&kept.lock);
        if (!m.at)
            return;
        unmap(m.at, m.size);
    }
}

static bool keep_mapping(char *at, size_t size)
{
    bool is = false;

    if (size > KEPT_BYTES)
        return false;
    lock_take(&kept.lock);
    kept.largest = size > kept.largest ? size : kept.largest;
    lock_give(&kept.lock);
    make_room(size);
    lock_take(&kept.lock);
    if (kept.count < KEPT && size <= limit_locked()) {
        kept.one[kept.count].at = at;
        kept.one[kept.count++].size = size;
        kept.bytes += size;
        is = true;
    }
    lock_give(&kept.lock);
    return is;
}

/* ---- What there is room for ------------------------------------------------------------------ */

/* Asks the kernel whether `size` more bytes can be filled, and how many beyond them. */
static bool ask_for(size_t size)
{
    size_t now = __atomic_load_n(&held, __ATOMIC_RELAXED);
    struct sys_memory m = {0};

    if (syscall3(SYS_MEMORY, 0, &m, sizeof m))
        return true; /* the kernel does not know: go on as before */
    size_t filled = m.resident_bytes + m.swapped_bytes, unfilled = now > filled ? now - filled : 0;
    size_t room = m.room_bytes - m.room_bytes / TABLE_PART;
    room = room > SLACK ? room - SLACK : 0;
    __atomic_store_n(&kept.most, (filled + room) / KEPT_PART, __ATOMIC_RELAXED);
    if (size > room || unfilled > room - size)
        return false;
    __atomic_store_n(&looked_until, now + size + (room - size - unfilled) / 2, __ATOMIC_RELAXED);
    return true;
}

static bool has_room(size_t size)
{
    if (__atomic_load_n(&held, __ATOMIC_RELAXED) + size <=
            __atomic_load_n(&looked_until, __ATOMIC_RELAXED) ||
        ask_for(size))
        return true;
    make_room(SIZE_MAX);
    return ask_for(size);
}

/* Maps at a multiple of SPAN, and unmaps what alignment has cost. */
static char *map_aligned(size_t size)
{
    char *got = has_room(size) ? pages_map(size + SPAN, "malloc", 0) : NULL;
    if (!got)
        return NULL;
    char *start = (char *)(((size_t)got + SPAN - 1) & ~(SPAN - 1));
    if (start > got)
        syscall2(SYS_munmap, got, start - got);
    if (start + size < got + size + SPAN)
        syscall2(SYS_munmap, start + size, got + SPAN - start);
    __atomic_add_fetch(&held, size, __ATOMIC_RELAXED);
    return start;
}

/* ---- For malloc ------------------------------------------------------------------------------ */

struct mapping mapping_take(size_t size)
{
    struct pthread *self = thread_self();
    struct mapping m = {self->kept, self->kept_size, true};

    if (fits(m.size, size)) {
        self->kept = NULL;
        self->kept_size = 0;
        return m;
    }
    m = take_kept(size);
    if (!m.at)
        m = (struct mapping){map_aligned(size), size, false};
    return m;
}

void mapping_give(char *at, size_t size)
{
    struct pthread *self = thread_self();

    if (size <= THREAD_BYTES) {
        char *last = self->kept;
        size_t last_size = self->kept_size;
        self->kept = at;
        self->kept_size = size;
        at = last;
        size = last_size;
    }
    if (at && !keep_mapping(at, size))
        unmap(at, size);
}

void mappings_thread_exit(struct pthread *self)
{
    if (self->kept)
        unmap(self->kept, self->kept_size);
    self->kept = NULL;
    self->kept_size = 0;
}
