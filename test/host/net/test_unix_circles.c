/*
 * Descriptors of sockets in flight, sent around in circles, against a model of what can be reached:
 * the rest is closed, and no memory is left.
 */
#include "kernel/mem/mem.h"
#include "kernel/net/socket/unix.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/random.h"
#include "test/host/double/socket_kernel.h"

const struct socket_family *const socket_families[] = {&unix_family, NULL};

static uint64_t seed;
static struct memory_account *account;
static struct files *files;
static struct socket_caller by;

static unsigned below(unsigned n)
{
    return (unsigned)(test_random(&seed) % n);
}

static void begin(void)
{
    account = memory_account_make(NULL);
    files = kmalloc(sizeof(*files));
    files->limit = 1 << 20;
    by = (struct socket_caller){files, account, {1, 0, 0}};
}

static void end(void)
{
    kfree(files);
    memory_account_put(account);
}

#define PAIRS   10
#define ENDS    (2 * PAIRS)
#define WAITING 6 /* messages in a queue */

/* A model of ends of connections: those that a descriptor leads to, or a message in the queue of
 * such a one, and so on, are open. */
static struct end {
    struct unix_socket *u; /* referenced by the test */
    struct file *f;        /* its file, as often as `held` */
    unsigned held;         /* descriptors */
    unsigned queue[WAITING], queued;
} ends[ENDS];

static void mark(bool open[ENDS], unsigned i)
{
    if (open[i])
        return;
    open[i] = true;
    for (unsigned n = 0; n < ends[i].queued; n++)
        mark(open, ends[i].queue[n]);
}

/* Nothing is open but what can be reached, after circles were looked for. */
static void check_open(void)
{
    bool open[ENDS] = {false};

    for (unsigned i = 0; i < ENDS; i++)
        if (ends[i].held)
            mark(open, i);
    unix_collect();
    for (unsigned i = 0; i < ENDS; i++) {
        assert_int_equal(!ends[i].u->dead, open[i]);
        if (!open[i])
            ends[i].queued = 0;
    }
}

static void send_end(unsigned from, unsigned passed)
{
    unsigned to = from ^ 1;
    struct socket *s = &ends[from].u->s;
    struct socket_message m = {.caller = &by, .data = {.kernel = "x", .left = 1}};

    if (!ends[from].held || !ends[passed].held || ends[to].u->dead || ends[to].queued == WAITING)
        return;
    m.rights = kmalloc(sizeof(*m.rights));
    m.rights->n = 1;
    m.rights->file[0] = file_get(ends[passed].f);
    assert_int_equal(s->ops->send(s, &m, MSG_DONTWAIT), 1);
    assert_null(m.rights);
    ends[to].queue[ends[to].queued++] = passed;
}

static void receive_end(unsigned at)
{
    struct end *e = &ends[at];
    struct socket *s = &e->u->s;
    char byte;
    struct socket_message m = {.caller = &by, .data = {.kernel = &byte, .left = 1}};

    if (!e->held || !e->queued)
        return;
    assert_int_equal(s->ops->receive(s, &m, MSG_DONTWAIT), 1);
    struct end *got = &ends[e->queue[0]];
    assert_ptr_equal(m.rights->file[0], got->f);
    got->held++;
    kfree(m.rights);
    e->queued--;
    memmove(e->queue, e->queue + 1, e->queued * sizeof(e->queue[0]));
}

static void close_end(unsigned i)
{
    if (!ends[i].held)
        return;
    ends[i].held--;
    file_put(ends[i].f);
}

static void make_ends(int type)
{
    for (unsigned i = 0; i < ENDS; i += 2) {
        struct socket *s[2];
        for (unsigned n = 0; n < 2; n++) {
            assert_int_equal(socket_make(AF_UNIX, type, 0, &by, &s[n]), 0);
            ends[i + n] = (struct end){.u = unix_of(s[n]), .held = 1};
        }
        assert_int_equal(s[0]->ops->pair(s[0], s[1], &by), 0);
        for (unsigned n = 0; n < 2; n++) {
            socket_get(s[n]);
            assert_int_equal(socket_open(s[n], 0, &ends[i + n].f), 0);
        }
    }
}

static void test_circles(void **state)
{
    (void)state;
    begin();
    for (uint64_t run = 1; run <= 60; run++) {
        seed = run * 104729;
        make_ends(run % 2 ? SOCK_STREAM : SOCK_DGRAM);
        for (unsigned n = 0; n < 400; n++) {
            unsigned what = below(10);
            if (what < 6)
                send_end(below(ENDS), below(ENDS));
            else if (what < 8)
                receive_end(below(ENDS));
            else
                close_end(below(ENDS));
            check_open();
        }
        for (unsigned i = 0; i < ENDS; i++)
            while (ends[i].held)
                close_end(i);
        check_open();
        for (unsigned i = 0; i < ENDS; i++)
            socket_put(&ends[i].u->s);
        assert_int_equal(account->used, 0);
        assert_int_equal(account->passed, 0);
        assert_int_equal(fs_allocated, 2);
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_circles)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
