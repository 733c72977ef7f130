/* Watches of threads: random families of processes, against a reference that looks for each
 * thread's forebears. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "apps/common/prng.h"
#include "hpm/watch.h"

enum { THREADS = 50, STEPS = 200000 };

static struct hpm_thread thread[THREADS];
/* Reference: watches in the order of their opening, and those that have a thread by its family. */
static struct {
    struct hpm_watch *watch;
    uint32_t pid;
    bool family, member[THREADS];
} ref[HPM_WATCHES_MAX];
static uint32_t processes;

static bool is_watched(unsigned w, unsigned t)
{
    return !ref[w].pid || ref[w].member[t] || thread[t].pid == ref[w].pid;
}

/* A thread ends, and another one starts in its place, in the parent's process or a new one. */
static void start_thread(unsigned t, unsigned parent, bool forked)
{
    uint32_t pid = forked ? ++processes : thread[parent].pid;

    for (unsigned w = 0; w < HPM_WATCHES_MAX; w++)
        ref[w].member[t] = ref[w].watch && ref[w].pid && ref[w].family && is_watched(w, parent);
    thread[t] = (struct hpm_thread){.tid = t + 1, .pid = pid};
    hpm_watch_inherit(&thread[t], &thread[parent]);
}

static void turn(unsigned w, struct prng *prng)
{
    if (ref[w].watch) {
        watch_close(ref[w].watch);
        ref[w].watch = NULL;
        return;
    }
    memset(&ref[w], 0, sizeof(ref[w]));
    ref[w].pid = prng_below(prng, 6) ? thread[prng_below(prng, THREADS)].pid : 0;
    ref[w].family = prng_below(prng, 2);
    ref[w].watch = watch_open(ref[w].pid, ref[w].family);
    assert_non_null(ref[w].watch);
}

static void families_are_watched(void **state)
{
    struct prng prng = prng_seeded(7, 1);
    unsigned watched = 0, by_family = 0;

    (void)state;
    for (unsigned t = 0; t < THREADS; t++)
        thread[t] = (struct hpm_thread){.tid = t + 1, .pid = ++processes};
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned t = prng_below(&prng, THREADS), parent = prng_below(&prng, THREADS);
        if (!prng_below(&prng, 400))
            turn(prng_below(&prng, HPM_WATCHES_MAX), &prng);
        else if (t != parent)
            start_thread(t, parent, prng_below(&prng, 2));
        for (unsigned w = 0; w < HPM_WATCHES_MAX; w++) {
            if (!ref[w].watch)
                continue;
            assert_int_equal(watch_has(ref[w].watch, &thread[t]), is_watched(w, t));
            assert_int_equal(watch_has(ref[w].watch, NULL), !ref[w].pid);
            watched += is_watched(w, t);
            by_family += ref[w].member[t] && thread[t].pid != ref[w].pid;
        }
    }
    print_message("watched %u, by family %u\n", watched, by_family);
    assert_true(watched > STEPS / 10 && by_family > STEPS / 100);
    for (unsigned w = 0; w < HPM_WATCHES_MAX; w++)
        watch_close(ref[w].watch);
}

static void there_are_as_many_as_are_said(void **state)
{
    struct hpm_watch *w[HPM_WATCHES_MAX];

    (void)state;
    for (unsigned i = 0; i < HPM_WATCHES_MAX; i++)
        assert_non_null(w[i] = watch_open(1, true));
    assert_null(watch_open(1, true));
    watch_close(w[3]);
    assert_ptr_equal(watch_open(2, false), w[3]);
    watch_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_watched),
        cmocka_unit_test(there_are_as_many_as_are_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
