/* The caches of the kernel heap: the cost that CPUs which allocate at the same time have for each
 * other, and objects that other threads free. */
#include "kernel/core/cpu.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/core/printf.h"
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define WINDOW_NS (2 * NS_PER_MS)
#define HELD      8
#define MAILBOXES 64
#define ROUNDS    6000

static uint64_t until_ns, rounds[CPU_MAX];

/* Allocates and frees objects of a few sizes, and holds some meanwhile. */
static void allocate_for_a_while(void *arg)
{
    static const size_t sizes[] = {16, 64, 96, 256};
    void *held[HELD] = {0};
    uint64_t n = 0;

    while (arch_clock_ns() < until_ns)
        for (unsigned i = 0; i < HELD; i++, n++) {
            kfree(held[i]);
            held[i] = kmalloc(sizes[n % ARRAY_SIZE(sizes)]);
            CHECK(held[i] != NULL);
        }
    for (unsigned i = 0; i < HELD; i++)
        kfree(held[i]);
    rounds[(uint64_t)arg] = n;
    note_end();
}

/* Allocates on n CPUs of different cores, from the first one on. Returns the sum of their
 * rounds. */
static uint64_t allocations_of(unsigned n)
{
    uint64_t sum = 0;

    threads_begin();
    until_ns = arch_clock_ns() + WINDOW_NS;
    for (unsigned i = 0; i < n; i++)
        start_thread_on(2 * i, (struct thread_params){.entry = allocate_for_a_while,
                                                      .arg = (void *)(uint64_t)i});
    wait_for_ends(n);
    for (unsigned i = 0; i < n; i++)
        sum += rounds[i];
    return sum;
}

/* Measured in the machine's own time, because an emulator's is the host's. */
static void two_cpus_allocate_nearly_twice_as_much_as_one(void)
{
    if (!machine_id() || cpu_count() < 4) {
        suite_skip("needs a machine with a time of its own, and two cores");
        return;
    }
    allocations_of(2); /* afterwards the caches are full */
    uint64_t one = allocations_of(1), two = allocations_of(2);
    kprintf("# %llu allocations by one CPU, %llu by two at the same time\n",
            (unsigned long long)one, (unsigned long long)two);
    CHECK(two * 10 >= one * 17);
}

/* ---- What one CPU has taken another gives back ----------------------------------------------- */

static struct letter {
    size_t size;
    uint8_t filling;
    uint8_t text[];
} * mailbox[MAILBOXES];
static unsigned spoilt;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct letter *write_letter(uint64_t random)
{
    size_t size = 1 + random % 1900;
    struct letter *l = kmalloc(sizeof(*l) + size);

    if (!l)
        return NULL;
    for (size_t i = 0; i < size; i++)
        if (l->text[i])
            __atomic_add_fetch(&spoilt, 1, __ATOMIC_RELAXED);
    *l = (struct letter){.size = size, .filling = (uint8_t)(random >> 32 | 1)};
    memset(l->text, l->filling, size);
    return l;
}

static void read_letter(struct letter *l)
{
    for (size_t i = 0; l && i < l->size; i++)
        if (l->text[i] != l->filling)
            __atomic_add_fetch(&spoilt, 1, __ATOMIC_RELAXED);
    kfree(l);
}

static void exchange_letters(void *arg)
{
    uint64_t state = (uint64_t)arg + 1;

    for (unsigned i = 0; i < ROUNDS; i++) {
        struct letter **box = &mailbox[next_random(&state) % MAILBOXES];
        struct letter *mine = next_random(&state) % 8 ? write_letter(next_random(&state)) : NULL;
        read_letter(__atomic_exchange_n(box, mine, __ATOMIC_ACQ_REL));
        if (i % 512 == 0)
            heap_check();
    }
    heap_check();
    note_end();
}

static void objects_that_other_cpus_free_stay_whole(void)
{
    unsigned n = MIN(cpu_count(), 8u);

    spoilt = 0;
    threads_begin();
    for (unsigned i = 0; i < n; i++)
        start_thread_on(
            i, (struct thread_params){.entry = exchange_letters, .arg = (void *)(uint64_t)i});
    wait_for_ends(n);
    for (unsigned i = 0; i < MAILBOXES; i++) {
        read_letter(mailbox[i]);
        mailbox[i] = NULL;
    }
    CHECK(spoilt == 0);
    heap_check();
    frame_check();
}

static const struct suite_test tests[] = {
    {"objects that other CPUs free stay whole", objects_that_other_cpus_free_stay_whole},
    {"two CPUs allocate nearly twice as much as one",
     two_cpus_allocate_nearly_twice_as_much_as_one},
    {0},
};

const struct suite heap_suite = {"heap", tests};
