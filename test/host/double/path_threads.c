/* See path_threads.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "test/host/double/path_threads.h"
#include "test/host/double/random.h"

struct thread_log threads[THREADS];
int on_cpu[PATH_DOUBLE_CPUS];
uint64_t random_state, logged, refused, taken, ran, ran_since[PATH_DOUBLE_CPUS];
bool watched[SPACES];
struct path_caps unit_caps;

uint32_t below(uint32_t n)
{
    return (uint32_t)(test_random(&random_state) % n);
}

uint16_t space_of(unsigned thread)
{
    static const uint16_t number[SPACES] = {1, 2, 1000, PAGE_SPACES - 2, PAGE_SPACES - 1};

    return number[thread % SPACES];
}

uint32_t tid_of(unsigned thread)
{
    return 100 + thread;
}

vaddr_t some_page(void)
{
    uint32_t n = below(PAGES);

    return n == 0   ? 0
           : n == 1 ? (vaddr_t)MACHINE_PATH_PAGE << PAGE_SHIFT
                    : (vaddr_t)n * n << PAGE_SHIFT;
}

/* ---- The scheduler --------------------------------------------------------------------------- */

static bool counts(int thread)
{
    return thread != NO_THREAD && watched[(unsigned)thread % SPACES];
}

void run_thread(int thread)
{
    unsigned cpu = host_cpu->index;

    if (counts(on_cpu[cpu]))
        ran += host_ticks - ran_since[cpu];
    ran_since[cpu] = host_ticks;
    on_cpu[cpu] = thread;
    bool irq = arch_irq_save();
    path_switch(thread == NO_THREAD ? 7 : tid_of((unsigned)thread),
                thread == NO_THREAD ? 0 : space_of((unsigned)thread));
    arch_irq_restore(irq);
}

bool is_running(int thread)
{
    bool is = false;

    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++)
        is |= on_cpu[c] == thread;
    return is;
}

static void idle_everywhere(void)
{
    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++) {
        path_on(c);
        run_thread(NO_THREAD);
    }
    path_on(0);
}

enum path_double_use access_page(vaddr_t va, bool write)
{
    int thread = on_cpu[host_cpu->index];
    struct thread_log *t = &threads[thread];
    uint32_t at = t->count;

    assert_true(thread != NO_THREAD && at < SEEN_MAX);
    t->entry[at] = (uint64_t)space_of((unsigned)thread) << PAGE_ENTRY_SPACE_SHIFT |
                   va >> PAGE_SHIFT | (write ? PAGE_ENTRY_WRITE : 0);
    t->count++; /* its interrupt may hand the entry out at once */
    enum path_double_use is = path_double_access(va, write);
    logged += is == PATH_LOGGED;
    if (is != PATH_LOGGED)
        t->count--;
    return is;
}

/* ---- The consumer ---------------------------------------------------------------------------- */

/* Checks that the entry is the thread's next one. Entries in between may have been lost; none comes
 * twice or from elsewhere. */
static void expect(struct thread_log *t, uint64_t entry)
{
    while (t->out < t->count && t->entry[t->out] != entry)
        t->out++;
    if (t->out == t->count)
        fail_msg("thread %d has not accessed %#lx, or long ago", (int)(t - threads),
                 (unsigned long)entry);
    t->out++;
    taken++;
}

bool take_one(void)
{
    unsigned count;
    struct page_log *const *logs = path_logs(&count),
                           *l = page_log_earliest(logs, count, UINT64_MAX);
    struct page_run r;

    if (!l)
        return false;
    page_log_next(l, &r);
    assert_in_range(r.tid, tid_of(0), tid_of(THREADS - 1));
    unsigned thread = r.tid - tid_of(0);
    assert_int_equal(r.space, space_of(thread));
    assert_in_range(r.time, 1, host_ticks);
    for (unsigned part = 0; part < 2; part++)
        for (size_t i = 0; i < r.count[part]; i++)
            expect(&threads[thread], r.entry[part][i]);
    page_log_taken(l);
    return true;
}

void take_all(void)
{
    while (take_one())
        ;
}

void check_logs(void)
{
    unsigned count;
    struct page_log *const *logs = path_logs(&count);

    assert_int_equal(count, PATH_DOUBLE_CPUS);
    for (unsigned i = 0; i < count; i++)
        page_log_check(logs[i]);
}

struct path_account log_account(void)
{
    struct path_account a;

    path_account(&a);
    return a;
}

void expect_nothing_uncounted(void)
{
    idle_everywhere();
    take_all();
    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++) { /* units without room have some now */
        path_on(c);
        path_double_spurious();
    }
    take_all();
    check_logs();
    assert_int_equal(path_double_waiting(), 0);
    assert_int_equal(log_account().lost, path_double_lost() + refused + logged - taken);
    assert_int_equal(log_account().entries, taken);
    assert_int_equal(log_account().ran, ran);
}

void expect_nothing_lost(void)
{
    expect_nothing_uncounted();
    assert_int_equal(log_account().lost, 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(threads[i].out, threads[i].count);
}

/* ---- Set-up ---- */

const struct path_config unit_config = {
    .pab_entries = 128, .filter_entries = 64, .threshold = ENTRIES_MAX - 16, .spill = 2048};

void watch_space(unsigned space, bool on)
{
    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++) {
        if (counts(on_cpu[c]) && (unsigned)on_cpu[c] % SPACES == space)
            ran += host_ticks - ran_since[c];
        if (on_cpu[c] != NO_THREAD && (unsigned)on_cpu[c] % SPACES == space)
            ran_since[c] = host_ticks;
    }
    watched[space] = on;
    path_watch(space_of(space), on);
}

void begin(void)
{
    path_kernel_boot();
    memset(threads, 0, sizeof threads);
    memset(ran_since, 0, sizeof ran_since);
    logged = refused = taken = ran = 0;
    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++)
        on_cpu[c] = NO_THREAD;
    random_state = 1;
    assert_int_equal(path_logs_init(), 0);
    assert_non_null(path_hardware(&unit_caps));
    path_sample(0);
}

int boot_threads(void **state)
{
    (void)state;
    begin();
    return 0;
}

int start_threads(void **state)
{
    (void)state;
    begin();
    for (unsigned s = 0; s < SPACES; s++)
        watch_space(s, true);
    assert_int_equal(path_hardware_start(&unit_config), 0);
    return 0;
}

int end_threads(void **state)
{
    (void)state;
    path_double_no_msi = path_calls_dead = false;
    path_double_refuses = -1;
    path_frames_max = 256;
    host_irqs_on = true;
    for (unsigned s = 0; s < SPACES; s++)
        watch_space(s, false);
    path_hardware_stop();
    path_kernel_end();
    return 0;
}
