/* Queues of signals, compared with a plain list of what was sent. */
#include "test/host/double/expect_panic.h"
#include "kernel/proc/signal_queue.h"

#define ENTRIES 256
#define ROUNDS  200000

static struct signal_entry pool[ENTRIES];
static bool used[ENTRIES];
static struct {
    int number;
    struct signal_entry *entry;
} sent[2 * ENTRIES]; /* in order of arrival */
static unsigned sent_count;
static uint64_t seed;

static unsigned draw(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((seed >> 33) % n);
}

static bool is_caused(int number)
{
    return number == 4 || number == 5 || number == 7 || number == 8 || number == 11 || number == 31;
}

/* Returns the signal of `set` that comes next, looking at each. */
static int expect_next(uint64_t set)
{
    int best = 0;

    for (unsigned i = 0; i < sent_count; i++) {
        int n = sent[i].number;
        if (!(set & SIGNAL_BIT(n)))
            continue;
        if (!best || is_caused(n) > is_caused(best) ||
            (is_caused(n) == is_caused(best) && n < best))
            best = n;
    }
    return best;
}

static unsigned sent_of(int number)
{
    unsigned n = 0;

    for (unsigned i = 0; i < sent_count; i++)
        n += sent[i].number == number;
    return n;
}

/* Forgets the first of the signals `number`. Returns its entry. */
static struct signal_entry *expect_take(int number)
{
    struct signal_entry *entry = NULL;
    unsigned at = 0;

    while (sent[at].number != number)
        at++;
    entry = sent[at].entry;
    sent_count--;
    for (; at < sent_count; at++)
        sent[at] = sent[at + 1];
    return entry;
}

static void send_one(struct signal_queue *q)
{
    unsigned i = draw(ENTRIES);
    int number = (int)draw(SIGNALS) + 1;
    /* Without an entry, a signal is not counted. */
    struct signal_entry *e = used[i] ? NULL : &pool[i];
    bool waits = sent_of(number);

    if (!e && number >= SIGNAL_REALTIME)
        return;
    bool added = signal_queue_add(q, number, e);
    assert_int_equal(added, number >= SIGNAL_REALTIME || !waits);
    if (!added)
        return;
    if (e)
        used[i] = true;
    sent[sent_count].number = number;
    sent[sent_count++].entry = e;
}

static void take_one(struct signal_queue *q)
{
    uint64_t set = seed * 0x9e3779b97f4a7c15;
    int number = signal_queue_next(q, set);

    assert_int_equal(number, expect_next(set));
    if (!number)
        return;
    struct signal_entry *e = signal_queue_take(q, number);
    assert_ptr_equal(e, expect_take(number));
    if (e)
        used[e - pool] = false;
}

static void signals_come_in_their_order(void **state)
{
    struct signal_queue q;

    (void)state;
    signal_queue_init(&q);
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (draw(100) < 52)
            send_one(&q);
        else
            take_one(&q);
        uint64_t set = 0;
        for (unsigned j = 0; j < sent_count; j++)
            set |= SIGNAL_BIT(sent[j].number);
        assert_int_equal(q.set, set);
    }
}

static void dropped_signals_are_gone(void **state)
{
    struct signal_queue q;
    struct list out;

    (void)state;
    signal_queue_init(&q);
    list_init(&out);
    signal_queue_add(&q, 40, &pool[0]);
    signal_queue_add(&q, 10, &pool[1]);
    signal_queue_add(&q, 40, &pool[2]);
    signal_queue_add(&q, 12, NULL);
    signal_queue_drop(&q, SIGNAL_BIT(40) | SIGNAL_BIT(12), &out);
    assert_int_equal(q.set, SIGNAL_BIT(10));
    assert_ptr_equal(list_pop_front(&out), &pool[0].link);
    assert_ptr_equal(list_pop_front(&out), &pool[2].link);
    assert_true(list_empty(&out));
}

static void take_nothing(struct process *p, struct signal_entry *e, siginfo_t *info)
{
    (void)p, (void)e, (void)info;
}

/* Entries that have an owner wait each, and can be taken out of the middle. */
static void owners_entries_wait_each(void **state)
{
    struct signal_queue q;
    struct signal_entry owned[3] = {
        {.taken = take_nothing}, {.taken = take_nothing}, {.taken = take_nothing}};
    struct signal_entry plain = {.taken = NULL};

    (void)state;
    signal_queue_init(&q);
    assert_true(signal_queue_add(&q, 14, &owned[0]));
    assert_false(signal_queue_add(&q, 14, &plain));
    assert_true(signal_queue_add(&q, 14, &owned[1]));
    assert_true(signal_queue_add(&q, 14, &owned[2]));
    signal_queue_remove(&owned[1]);
    assert_null(owned[1].queue);
    assert_int_equal(q.set, SIGNAL_BIT(14));
    assert_ptr_equal(signal_queue_take(&q, 14), &owned[0]);
    assert_int_equal(q.set, SIGNAL_BIT(14));
    signal_queue_remove(&owned[1]); /* it waits no more */
    signal_queue_remove(&owned[2]);
    assert_int_equal(q.set, 0);
    assert_true(list_empty(&q.entries));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_come_in_their_order),
        cmocka_unit_test(dropped_signals_are_gone),
        cmocka_unit_test(owners_entries_wait_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
