/*
 * Threads: creation, joining, detaching, keys, affinity.
 *
 * One mapping holds, from low to high: a guard page, the stack, thread-local storage and the
 * descriptor. The thread that joins frees a joinable thread's mapping. A later pthread_create()
 * frees a detached thread's, once the kernel has cleared its tid.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/libc.h"

#define STACK_DEFAULT (128 * 1024)
/* Limits of a stack and a guard: more than there can be, and small enough that sums do not wrap. */
#define STACK_MAX ((size_t)1 << 46)

/* A thread has all but its stack, thread pointer and registers in common with its process. */
#define THREAD_FLAGS                                                                             \
    (LINUX_CLONE_VM | LINUX_CLONE_FS | LINUX_CLONE_FILES | LINUX_CLONE_SIGHAND |                 \
     LINUX_CLONE_THREAD | LINUX_CLONE_SYSVSEM | LINUX_CLONE_SETTLS | LINUX_CLONE_PARENT_SETTID | \
     LINUX_CLONE_CHILD_CLEARTID)

static uint32_t alive = 1; /* threads that have not ended; atomic */
static uint32_t graveyard_lock;
static struct pthread *graveyard; /* detached threads with mappings to be freed */

static size_t pages(size_t n)
{
    return (n + LIBC_PAGE - 1) / LIBC_PAGE * LIBC_PAGE;
}

static void free_mapping(struct pthread *t)
{
    syscall2(SYS_munmap, t->map, t->map_size);
}

static void bury_the_dead(void)
{
    if (!__atomic_load_n(&graveyard, __ATOMIC_RELAXED))
        return;
    lock_take(&graveyard_lock);
    for (struct pthread **link = &graveyard; *link;) {
        struct pthread *t = *link;
        if (__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE) == 0) {
            *link = t->next;
            free_mapping(t);
        } else {
            link = &t->next;
        }
    }
    lock_give(&graveyard_lock);
}

static void add_to_graveyard(struct pthread *t)
{
    lock_take(&graveyard_lock);
    t->next = graveyard;
    graveyard = t;
    lock_give(&graveyard_lock);
}

static const pthread_attr_t default_attr = {.stack_size = STACK_DEFAULT, .guard_size = LIBC_PAGE};

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    if (!attr)
        attr = &default_attr;
    bury_the_dead();
    size_t guard = pages(attr->guard_size),
           size = guard + pages(attr->stack_size) + pages(tls_size());
    char *map = pages_map(size, NULL, LINUX_MAP_STACK);
    if (!map)
        return EAGAIN;
    char *top = map + guard + pages(attr->stack_size);
    if (guard && syscall3(SYS_mprotect, map, guard, 0) < 0) {
        syscall2(SYS_munmap, map, size);
        return EAGAIN;
    }
    uint64_t tp;
    struct pthread *t = tls_init(top, &tp);
    t->start = start;
    t->arg = arg;
    t->map = map;
    t->map_size = size;
    t->detached = attr->detached;
    if (attr->affinity_set)
        t->affinity = attr->affinity;
    t->tid = UINT32_MAX; /* the kernel replaces it before the thread's first instruction */
    *thread = t;
    bool detached = t->detached;
    __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
    int64_t tid = syscall_result(clone_thread(THREAD_FLAGS, top, &t->tid, tp, SYS_clone));
    if (tid < 0) {
        __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
        free_mapping(t);
        return tid == -ENOMEM || tid == -EDQUOT ? EAGAIN : (int)-tid;
    }
    if (detached)
        add_to_graveyard(t);
    return 0;
}

void thread_main(void) VIGIL(thread_main) __attribute__((noreturn));

void thread_main(void)
{
    struct pthread *self = thread_self();
    self->tid_value = self->tid;
    if (self->affinity.bits)
        syscall3(SYS_sched_setaffinity, 0, sizeof self->affinity, &self->affinity);
    pthread_exit(self->start(self->arg));
}

void pthread_exit(void *result)
{
    struct pthread *self = thread_self();
    self->result = result;
    keys_run_destructors(self);
    if (__atomic_sub_fetch(&alive, 1, __ATOMIC_ACQ_REL) == 0)
        exit(0); /* the program ends with its last thread */
    _reclaim_reent(&self->reent);
    malloc_thread_exit(self);
    for (;;)
        syscall1(SYS_exit, 0); /* clears self->tid and wakes it */
}

int pthread_join(pthread_t t, void **result)
{
    if (t == thread_self())
        return EDEADLK;
    if (__atomic_load_n(&t->detached, __ATOMIC_RELAXED))
        return EINVAL;
    for (uint32_t tid; (tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE)) != 0;)
        syscall4(SYS_futex, &t->tid, LINUX_FUTEX_WAIT, tid, 0);
    if (result)
        *result = t->result;
    if (t->map)
        free_mapping(t);
    return 0;
}

int pthread_detach(pthread_t t)
{
    if (__atomic_exchange_n(&t->detached, 1, __ATOMIC_RELAXED))
        return EINVAL;
    if (t->map)
        add_to_graveyard(t);
    return 0;
}

pthread_t pthread_self(void)
{
    return thread_self();
}

int pthread_equal(pthread_t a, pthread_t b)
{
    return a == b;
}

int pthread_attr_init(pthread_attr_t *attr)
{
    *attr = default_attr;
    return 0;
}

int pthread_attr_destroy(pthread_attr_t *attr)
{
    (void)attr;
    return 0;
}

int pthread_attr_setdetachstate(pthread_attr_t *attr, int state)
{
    if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED)
        return EINVAL;
    attr->detached = (uint32_t)state;
    return 0;
}

int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state)
{
    *state = (int)attr->detached;
    return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
{
    if (size < PTHREAD_STACK_MIN || size > STACK_MAX)
        return EINVAL;
    attr->stack_size = size;
    return 0;
}

int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *size)
{
    *size = attr->stack_size;
    return 0;
}

int pthread_attr_setguardsize(pthread_attr_t *attr, size_t size)
{
    if (size > STACK_MAX)
        return EINVAL;
    attr->guard_size = size;
    return 0;
}

int pthread_attr_setaffinity_np(pthread_attr_t *attr, size_t size, const cpu_set_t *set)
{
    if (size < sizeof *set)
        return EINVAL;
    attr->affinity = *set;
    attr->affinity_set = 1;
    return 0;
}

int pthread_setaffinity_np(pthread_t t, size_t size, const cpu_set_t *set)
{
    uint32_t tid = t->tid_value ? t->tid_value : t->tid;

    return (int)-syscall3(SYS_sched_setaffinity, tid, size, set);
}

int pthread_getaffinity_np(pthread_t t, size_t size, cpu_set_t *set)
{
    uint32_t tid = t->tid_value ? t->tid_value : t->tid;
    int64_t n = syscall3(SYS_sched_getaffinity, tid, size, set);

    if (n < 0)
        return (int)-n;
    memset((char *)set + n, 0, size - (size_t)n);
    return 0;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* A new key gets a new number, so that values of a deleted key do not appear under it. */
static struct {
    uint32_t number; /* odd: the key is in use; atomic */
    void (*destroy)(void *);
} keys[PTHREAD_KEYS_MAX];
static uint32_t keys_lock;

static bool key_in_use(uint32_t number)
{
    return number % 2;
}

static uint32_t key_number(pthread_key_t key)
{
    return key < PTHREAD_KEYS_MAX ? __atomic_load_n(&keys[key].number, __ATOMIC_ACQUIRE) : 0;
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    int error = EAGAIN;

    lock_take(&keys_lock);
    for (uint32_t k = 0; error && k < PTHREAD_KEYS_MAX; k++) {
        uint32_t number = key_number(k);
        if (key_in_use(number))
            continue;
        keys[k].destroy = destroy;
        __atomic_store_n(&keys[k].number, number + 1, __ATOMIC_RELEASE);
        *key = k;
        error = 0;
    }
    lock_give(&keys_lock);
    return error;
}

int pthread_key_delete(pthread_key_t key)
{
    lock_take(&keys_lock);
    uint32_t number = key_number(key);
    if (key_in_use(number))
        __atomic_store_n(&keys[key].number, number + 1, __ATOMIC_RELEASE);
    lock_give(&keys_lock);
    return key_in_use(number) ? 0 : EINVAL;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    uint32_t number = key_number(key);

    if (!key_in_use(number))
        return EINVAL;
    thread_self()->specific[key] = (struct key_value){value, number};
    return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
    uint32_t number = key_number(key);

    if (!key_in_use(number) || thread_self()->specific[key].number != number)
        return NULL;
    return (void *)thread_self()->specific[key].value;
}

/* Takes a thread's value of key `k` and its destructor out. Returns false if there is nothing to
 * destroy. */
static bool take_value(struct pthread *self, uint32_t k, void **value, void (**destroy)(void *))
{
    lock_take(&keys_lock);
    *value = pthread_getspecific(k);
    *destroy = keys[k].destroy;
    self->specific[k].value = NULL;
    lock_give(&keys_lock);
    return *value && *destroy;
}

void keys_run_destructors(struct pthread *self)
{
    void (*destroy)(void *);
    bool again = true;
    void *value;

    for (int round = 0; again && round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
        again = false;
        for (uint32_t k = 0; k < PTHREAD_KEYS_MAX; k++) {
            if (!self->specific[k].value || !take_value(self, k, &value, &destroy))
                continue;
            destroy(value);
            again = true;
        }
    }
}
