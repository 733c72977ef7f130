/*
 * The line discipline, compared with Linux's own: a pseudo-terminal of this machine gets the same
 * settings, keys and text at random, and reads and shows the same.
 */
#include "test/host/double/expect_panic.h"
#include "kernel/file/discipline.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define STEPS     6000
#define PATIENCE  200 /* ms that Linux may take: it types in another thread */
#define LINE_LEFT 300 /* bytes typed between reads, so that no ring is ever full */

static struct discipline ours;
static int master, slave;
static unsigned step_number;
static const char *last_step;
static char last_text[24];
static size_t last_n;

static void wait_a_bit(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void open_linux(void)
{
    int unlocked = 0, number;
    char name[32];

    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (master < 0)
        skip();
    assert_int_equal(ioctl(master, TIOCSPTLCK, &unlocked), 0);
    assert_int_equal(ioctl(master, TIOCGPTN, &number), 0);
    snprintf(name, sizeof(name), "/dev/pts/%d", number);
    slave = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (slave < 0)
        skip();
}

static void show_bytes(const char *what, const char *text, size_t n)
{
    fprintf(stderr, "%s [", what);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, text[i] >= ' ' && text[i] < 0x7f ? "%c" : "\\x%02x", (uint8_t)text[i]);
    fprintf(stderr, "]\n");
}

static void same(const char *what, const char *is, size_t n, const char *right, size_t right_n)
{
    if (n == right_n && !memcmp(is, right, n))
        return;
    fprintf(stderr, "step %u, %s: c_iflag %x c_oflag %x c_lflag %x\n", step_number, last_step,
            ours.settings.c_iflag, ours.settings.c_oflag, ours.settings.c_lflag);
    show_bytes("text ", last_text, last_n);
    show_bytes("ours ", is, n);
    show_bytes("Linux", right, right_n);
    fail_msg("%s differs", what);
}

/* What the terminal shows. */
static void compare_shown(void)
{
    static char is[2 * DISCIPLINE_ROOM], right[2 * DISCIPLINE_ROOM];
    size_t n = discipline_show(&ours, is, sizeof(is)), right_n = 0;
    uint64_t until = now_ms() + PATIENCE;

    do {
        ssize_t got = read(master, right + right_n, sizeof(right) - right_n);
        if (got > 0)
            right_n += (size_t)got;
        else if (right_n < n)
            wait_a_bit();
    } while (right_n < n && now_ms() < until);
    ssize_t more = read(master, right + right_n, sizeof(right) - right_n);
    same("what is shown", is, n, right, right_n + (more > 0 ? (size_t)more : 0));
}

static void compare_bytes(void)
{
    int n = -1, is = (int)discipline_bytes(&ours);
    uint64_t until = now_ms() + PATIENCE;

    for (;;) {
        ioctl(slave, FIONREAD, &n);
        if (n == is || now_ms() > until)
            break;
        wait_a_bit();
    }
    if (n != is)
        fprintf(stderr, "step %u, %s: c_iflag %x c_lflag %x\n", step_number, last_step,
                ours.settings.c_iflag, ours.settings.c_lflag);
    assert_int_equal(is, n);
}

static uint64_t pick(uint64_t *seed, uint64_t n)
{
    return test_random(seed) % n;
}

/* A byte that is often one that the discipline knows. */
static char key(uint64_t *seed)
{
    static const char known[] = "\x7f\x15\x17\x04\x16\x12\r\n\t\x03\x1c\x1a\b;\x01\x11\x13";
    static const char others[] = "abcXYZ 19_.-\xc3\xa9\x7e";

    return pick(seed, 3) ? others[pick(seed, sizeof(others) - 1)]
                         : known[pick(seed, sizeof(known) - 1)];
}

/* Waits until Linux has typed: it does so in another thread. With an incomplete line and no echo
 * nothing tells of that. */
static void let_it_type(void)
{
    bool untold = (ours.settings.c_lflag & ICANON) && ours.lines;

    poll(&(struct pollfd){.fd = slave, .events = POLLIN}, 1, 0);
    nanosleep(&(struct timespec){.tv_nsec = untold ? 1000000 : 0}, NULL);
}

static void type(uint64_t *seed)
{
    char text[24];
    size_t n = 1 + pick(seed, sizeof(text));

    last_step = "typed";
    for (size_t i = 0; i < n; i++) {
        text[i] = key(seed);
        /* Stopped text would have to be waited for. */
        if (text[i] == 0x13 || text[i] == 0x11)
            text[i] = 'q';
        /* Linux forgets the echo of what is typed at one stroke with the signal. */
        if (i && discipline_signal(&ours, text[i]))
            text[i] = 's';
        discipline_type(&ours, text[i]);
    }
    memcpy(last_text, text, last_n = n);
    assert_int_equal(write(master, text, n), n);
    let_it_type();
}

static void write_text(uint64_t *seed)
{
    char text[24];
    size_t n = 1 + pick(seed, sizeof(text));

    last_step = "written";
    for (size_t i = 0; i < n; i++)
        text[i] = key(seed);
    memcpy(last_text, text, last_n = n);
    assert_int_equal(discipline_write(&ours, text, n), n);
    assert_int_equal(write(slave, text, n), n);
}

static void read_typed(uint64_t *seed)
{
    char is[400], right[400];
    size_t n = 1 + pick(seed, pick(seed, 2) ? 8 : sizeof(is));
    int64_t got = discipline_read(&ours, is, n);
    ssize_t right_got = read(slave, right, n);

    last_step = "read";
    if (got == -EAGAIN)
        assert_int_equal(right_got, -1);
    else
        same("what is read", is, (size_t)got, right, right_got < 0 ? 0 : (size_t)right_got);
}

static void set(uint64_t *seed, struct termios *s)
{
    static const tcflag_t input[] = {ISTRIP, INLCR, IGNCR, ICRNL, IUCLC, IXON, IXANY, IUTF8};
    static const tcflag_t output[] = {OPOST, ONLCR, OCRNL, ONOCR, ONLRET, OLCUC, XTABS};
    static const tcflag_t local[] = {ISIG,   ICANON, ECHO,    ECHOE,  ECHOK,
                                     ECHONL, NOFLSH, ECHOCTL, ECHOKE, IEXTEN};
    bool odd = pick(seed, 3) == 0; /* else mostly what is usual */

    for (unsigned i = 0; i < ARRAY_SIZE(input); i++)
        if (pick(seed, odd ? 2 : 12) == 0)
            s->c_iflag ^= input[i];
    for (unsigned i = 0; i < ARRAY_SIZE(output); i++)
        if (pick(seed, odd ? 2 : 12) == 0)
            s->c_oflag ^= output[i];
    for (unsigned i = 0; i < ARRAY_SIZE(local); i++)
        if (pick(seed, odd ? 2 : 12) == 0)
            s->c_lflag ^= local[i];
    s->c_cc[VEOL] = pick(seed, 4) ? 0 : ';';
    s->c_cc[VEOL2] = pick(seed, 4) ? 0 : 1;
}

static void change_settings(uint64_t *seed)
{
    struct termios s = ours.settings;
    bool forgets = pick(seed, 2);

    last_step = "set";
    if (pick(seed, 4) == 0) {
        s = (struct termios){0};
        struct discipline *d = calloc(1, sizeof(*d));
        discipline_init(d);
        s = d->settings;
        free(d);
    }
    set(seed, &s);
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL); /* what is typed, is by now */
    if (forgets)
        discipline_forget(&ours);
    discipline_set(&ours, &s);
    assert_int_equal(ioctl(slave, forgets ? TCSETSF : TCSETS, &s), 0);
}

static void step(uint64_t *seed)
{
    switch (pick(seed, 12)) {
    case 0:
        change_settings(seed);
        break;
    case 1:
    case 2:
        write_text(seed);
        break;
    case 3:
    case 4:
    case 5:
        read_typed(seed);
        break;
    default:
        type(seed);
    }
    compare_shown();
    compare_bytes();
    if (ours.typed.put - ours.typed.taken > LINE_LEFT) {
        discipline_forget(&ours);
        assert_int_equal(ioctl(slave, TCFLSH, TCIFLUSH), 0);
    }
}

static void it_does_what_linux_does(void **state)
{
    uint64_t seed = 11;
    struct termios s;

    (void)state;
    open_linux();
    discipline_init(&ours);
    assert_int_equal(ioctl(slave, TCGETS, &s), 0);
    assert_memory_equal(&s.c_cc[0], &ours.settings.c_cc[0], VEOL2 + 1);
    assert_int_equal(s.c_lflag, ours.settings.c_lflag);
    assert_int_equal(s.c_iflag, ours.settings.c_iflag);
    assert_int_equal(s.c_oflag, ours.settings.c_oflag);
    for (step_number = 0; step_number < STEPS; step_number++)
        step(&seed);
    close(slave);
    close(master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_does_what_linux_does)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
