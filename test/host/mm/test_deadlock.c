/* Threads on fibers that wait for ever, while no disk is at work for them: this is reported at
 * once, with each thread and its wait. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/in_child.h"
#include "test/host/double/mm_double.h"

static int out[2]; /* a pipe */

/* A thread that no thread wakes, while a kernel thread looks at something every millisecond. */
static struct {
    struct spinlock lock;
    struct wait_queue queue;
} never = {.lock = SPINLOCK(LOCK_THREAD, "never")};

static void wait_in_vain(void *arg)
{
    bool irq = spin_lock(&never.lock);

    (void)arg;
    wait_sleep(&never.queue, &never.lock, &irq, UINT64_MAX);
    abort();
}

static void look_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        sched_sleep_until(host_ticks + NS_PER_MS);
}

static void play_deadlock(uint64_t seed)
{
    struct thread_params params = {.entry = look_for_ever};
    struct thread *t;

    dup2(out[1], 2);
    mm_double_boot(seed);
    wait_init(&never.queue);
    INSIST(!thread_create(&params, &t));
    thread_start(t);
    fiber_start(wait_in_vain, NULL, 0);
    fibers_run();
}

static void a_deadlock_is_reported_at_once(void **state)
{
    char text[1024] = "";
    size_t n = 0;
    ssize_t more;

    (void)state;
    assert_int_equal(pipe(out), 0);
    int status = in_child(play_deadlock, 1, 60);
    close(out[1]);
    while ((more = read(out[0], text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)more;
    close(out[0]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "deadlock: no disk is at work"));
    assert_non_null(strstr(text, "waits since 100"));
    assert_non_null(strstr(text, "for never: wait_in_vain"));
    assert_non_null(strstr(text, "(kernel): waits"));
}

int main(void)
{
    in_child_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadlock_is_reported_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
