/* Pseudo-terminals: both ends, windows, closing. Prints TAP; the same under Linux. */
#include "test/linux/terminals.h"

/* ---- Two ends -------------------------------------------------------------------------------- */

static void test_making(void)
{
    int number = -1, locked = -1, master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    struct stat s;

    check(master >= 0 && !ioctl(master, TIOCGPTN, &number) && number >= 0,
          "opening /dev/ptmx makes a terminal with a number");
    snprintf(name, sizeof(name), "/dev/pts/%d", number);
    check(!ioctl(master, TIOCGPTLCK, &locked) && locked && fails(open(name, O_RDWR), EIO),
          "it is locked: it cannot be opened");
    check(fails(ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY), EIO), "... also by TIOCGPTPEER");
    locked = 0;
    check(!ioctl(master, TIOCSPTLCK, &locked), "TIOCSPTLCK unlocks it");
    int peer = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    check(peer >= 0 && fcntl(peer, F_GETFD) == FD_CLOEXEC && isatty(peer), "TIOCGPTPEER opens it");
    check(!strcmp(ttyname(peer) ?: "", name), "ttyname finds it");
    int slave = open(name, O_RDWR | O_NOCTTY);
    check(slave >= 0 && !fstat(slave, &s) && S_ISCHR(s.st_mode) && major(s.st_rdev) == 136 &&
              (int)minor(s.st_rdev) == number,
          "it can be opened, and is device 136:N");
    check(!stat("/dev/ptmx", &s) && S_ISCHR(s.st_mode) && s.st_rdev == makedev(5, 2) &&
              !fstat(master, &s) && s.st_rdev == makedev(5, 2),
          "its master is device 5:2");
    check(!fchmod(slave, 0600) && !stat(name, &s) && (s.st_mode & 07777) == 0600,
          "its permissions can be set");
    check(fails(ioctl(slave, TIOCGPTN, &number), ENOTTY), "it has no number to ask for itself");
    bool found = false;
    DIR *d = opendir("/dev/pts");
    for (struct dirent *e; d && (e = readdir(d));)
        found |= !strcmp(e->d_name, name + 9) && e->d_type == DT_CHR;
    check(found, "/dev/pts lists it");
    if (d)
        closedir(d);
    int other = open("/dev/ptmx", O_RDWR | O_NOCTTY), other_number = -1;
    check(!ioctl(other, TIOCGPTN, &other_number) && other_number != number,
          "another one has another number");
    close(other);
    check(fails(ioctl(master, TIOCSPTLCK, NULL), EFAULT) &&
              fails(ioctl(master, TIOCGPTN, NULL), EFAULT) &&
              fails(ioctl(slave, TCGETS, NULL), EFAULT) &&
              fails(ioctl(slave, TCSETS, NULL), EFAULT) &&
              fails(ioctl(slave, TIOCSWINSZ, NULL), EFAULT),
          "EFAULT without memory");
    check(fails(lseek(master, 0, SEEK_SET), ESPIPE) && fails(lseek(slave, 0, SEEK_SET), ESPIPE),
          "neither end has positions");
    close(peer);
    close(slave);
    close(master);
    check(fails(open(name, O_RDWR | O_NOCTTY), ENOENT) && fails(stat(name, &s), ENOENT),
          "it is gone with its master");
}

static void test_lines(void)
{
    struct termios t;
    int master = make(), slave = open(name, O_RDWR | O_NOCTTY), n = -1;
    char got[16];

    check(types(master, "first\nsec") && reads(slave, "first\n"), "a line is read that was typed");
    check(reads(master, "first\r\nsec"), "... and its echo");
    check(!has(slave) && !ioctl(slave, FIONREAD, &n) && n == 0, "a part of a line is not");
    check(types(master, "x\x7fond\x04") && reads(slave, "second"),
          "a character can be erased, and VEOF ends a line without a newline");
    check(reads(master, "x\b \bond"), "... which the echo shows");
    check(types(master, "\x04") && read(slave, got, sizeof(got)) == 0, "VEOF alone is read as end");
    check(types(slave, "a\tb\n") && reads(master, "a\tb\r\n"), "text has carriage returns");
    fcntl(slave, F_SETFL, O_RDWR | O_NONBLOCK);
    fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
    check(fails(read(slave, got, 1), EAGAIN) && fails(read(master, got, 1), EAGAIN),
          "EAGAIN where there is nothing");
    tcgetattr(slave, &t);
    cfmakeraw(&t);
    check(!tcsetattr(slave, TCSANOW, &t) && types(master, "raw\r\x03") &&
              reads(slave, "raw\r\x03") && !has(master),
          "raw: bytes as they are, no echo");
    struct termios of_master;
    struct { /* struct termio */
        unsigned short flags[4];
        unsigned char line, c[8];
    } old;
    check(!tcgetattr(master, &of_master) && of_master.c_lflag == t.c_lflag,
          "the master knows the settings");
    check(!ioctl(slave, TCGETA, &old) && old.flags[3] == (unsigned short)t.c_lflag &&
              (old.flags[3] |= ECHO) && !ioctl(slave, TCSETA, &old) && !tcgetattr(slave, &t) &&
              (t.c_lflag & ECHO) && t.c_iflag == of_master.c_iflag &&
              fails(ioctl(slave, TCSETAF, NULL), EFAULT),
          "settings in the old form");
    t.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(slave, TCSANOW, &t);
    check(types(slave, "x\n") && has(master) && !ioctl(master, FIONREAD, &n) && n == 2 &&
              reads(master, "x\n"),
          "FIONREAD of the master");
    types(master, "gone");
    has(slave);
    check(!tcflush(slave, TCIFLUSH) && !has(slave), "tcflush forgets what was typed");
    types(slave, "gone");
    check(!tcflush(master, TCIFLUSH) && !has(master), "... and text, at the master");
    close(slave);
    close(master);
}

static long ms_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void test_patience(void)
{
    struct termios t;
    int master = make(), slave = open(name, O_RDWR | O_NOCTTY);
    char got[16];

    tcgetattr(slave, &t);
    cfmakeraw(&t);
    t.c_cc[VMIN] = 0;
    t.c_cc[VTIME] = 0;
    tcsetattr(slave, TCSANOW, &t);
    check(read(slave, got, sizeof(got)) == 0, "VMIN 0: a read does not wait");
    t.c_cc[VTIME] = 2;
    tcsetattr(slave, TCSANOW, &t);
    long began = ms_now();
    check(read(slave, got, sizeof(got)) == 0 && ms_now() - began >= 150, "... or VTIME");
    t.c_cc[VMIN] = 3;
    t.c_cc[VTIME] = 0;
    tcsetattr(slave, TCSANOW, &t);
    types(master, "ab");
    check(!has(slave), "VMIN 3: two bytes do not wake a poller");
    if (!fork()) {
        wait_ms(100);
        types(master, "c");
        _exit(0);
    }
    check(read(slave, got, sizeof(got)) == 3, "... a read waits for the third");
    wait(NULL);
    t.c_cc[VTIME] = 1;
    tcsetattr(slave, TCSANOW, &t);
    types(master, "d");
    check(read(slave, got, sizeof(got)) == 1, "... but with VTIME not for long");
    close(slave);
    close(master);
}

static void test_full(void)
{
    struct termios t;
    int master = make(), slave = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK);
    char text[1024];
    size_t put = 0, got = 0;

    tcgetattr(slave, &t);
    cfmakeraw(&t);
    tcsetattr(slave, TCSANOW, &t);
    memset(text, 'x', sizeof(text));
    for (ssize_t n; put < 10000000 && (n = write(slave, text, sizeof(text))) > 0;)
        put += (size_t)n;
    check(put >= 4096 && put < 10000000 && errno == EAGAIN && !(ready(slave, 0) & POLLOUT),
          "text that is not read fills the terminal");
    fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
    for (ssize_t n; got < put && (readable(master, 1000) & POLLIN) &&
                    (n = read(master, text, sizeof(text))) > 0;)
        got += (size_t)n;
    check(got == put && (ready(slave, 1000) & POLLOUT), "... all of it can be read, then");
    pid_t pid = fork();
    if (!pid) {
        fcntl(slave, F_SETFL, O_RDWR);
        memset(text, 'y', sizeof(text));
        for (unsigned i = 0; i < 100; i++)
            if (write(slave, text, sizeof(text)) != sizeof(text))
                _exit(1);
        _exit(0);
    }
    for (got = 0; got < 100 * sizeof(text) && (readable(master, 2000) & POLLIN);) {
        ssize_t n = read(master, text, sizeof(text));
        got += n > 0 ? (size_t)n : 0;
    }
    int status = -1;
    waitpid(pid, &status, 0);
    check(got == 100 * sizeof(text) && status == 0, "a writer waits for the reader");
    close(slave);
    close(master);
}

static void test_stopping(void)
{
    int master = make(), slave = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK);

    types(master, "\x13");
    wait_ms(20);
    check(!(ready(slave, 0) & POLLOUT) || fails(write(slave, "x", 1), EAGAIN), "^S stops text");
    types(master, "\x11");
    check((ready(slave, 1000) & POLLOUT) && write(slave, "y", 1) == 1 && reads(master, "y"),
          "^Q lets it go on");
    check(!tcflow(slave, TCOOFF) && fails(write(slave, "x", 1), EAGAIN), "TCOOFF stops it, too");
    check(!tcflow(slave, TCOON) && write(slave, "z", 1) == 1 && reads(master, "z"), "... TCOON");
    check(!tcflow(slave, TCIOFF) && reads(master, "\x13") && !tcflow(slave, TCION) &&
              reads(master, "\x11"),
          "TCIOFF and TCION are for the other end");
    close(slave);
    close(master);
}

/* ---- Closing --------------------------------------------------------------------------------- */

static void test_closing(void)
{
    int master = make(), slave;
    char got[16];

    fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
    check(fails(read(master, got, 1), EAGAIN) && ready(master, 0) == POLLOUT,
          "a terminal that was not opened yet is not closed");
    slave = open(name, O_RDWR | O_NOCTTY);
    types(slave, "last");
    close(slave);
    check(readable(master, 1000) == (POLLIN | POLLHUP) && reads(master, "last"),
          "what was written before it was closed can be read");
    check(fails(read(master, got, 1), EIO) && (ready(master, 0) & POLLHUP), "... then EIO");
    slave = open(name, O_RDWR | O_NOCTTY);
    check(slave >= 0 && ready(master, 0) == POLLOUT && fails(read(master, got, 1), EAGAIN),
          "it can be opened again");
    close(slave);
    close(master);
}

static void test_hanging_up(void)
{
    int master = make(), slave = open(name, O_RDWR | O_NOCTTY);
    int epoll = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN};
    struct termios t;
    char got[16];

    epoll_ctl(epoll, EPOLL_CTL_ADD, slave, &e);
    check(epoll_wait(epoll, &e, 1, 0) == 0, "an epoll waits for a terminal");
    types(master, "typed\n");
    check(epoll_wait(epoll, &e, 1, 1000) == 1 && e.events == EPOLLIN && reads(slave, "typed\n"),
          "... is told of a line");
    types(master, "lost\n");
    has(slave);
    close(master);
    check(epoll_wait(epoll, &e, 1, 1000) == 1 && e.events == (EPOLLIN | EPOLLHUP | EPOLLERR),
          "... and that it has hung up");
    check(read(slave, got, sizeof(got)) == 0, "then an end is read");
    check(fails(write(slave, "x", 1), EIO), "EIO for what is written");
    check(fails(tcgetattr(slave, &t), EIO) && !isatty(slave), "... and its settings");
    check(ready(slave, 0) == (POLLIN | POLLOUT | POLLHUP | POLLERR), "all that poll knows holds");
    close(epoll);
    close(slave);

    master = make();
    slave = open(name, O_RDWR | O_NOCTTY);
    pid_t pid = fork();
    if (!pid) {
        close(master);
        ssize_t n = read(slave, got, sizeof(got));
        _exit(n == 0 || (n == -1 && errno == EIO) ? 0 : 1);
    }
    wait_ms(100);
    close(master);
    int status = -1;
    check(waitpid(pid, &status, 0) == pid && status == 0, "a reader that waits learns of it");
    close(slave);
}

static void test_many(void)
{
    int masters[64], last = -1;
    bool right = true;

    for (unsigned i = 0; i < 64; i++) {
        masters[i] = make();
        right &= masters[i] >= 0;
    }
    check(right, "there may be many");
    for (unsigned i = 0; i < 64; i += 2)
        close(masters[i]);
    int again = make();
    ioctl(again, TIOCGPTN, &last);
    check(again >= 0 && last >= 0 && last < 128, "a number is used again");
    close(again);
    for (unsigned i = 1; i < 64; i += 2)
        close(masters[i]);
}

int main(void)
{
    alarm(100);
    test_making();
    test_lines();
    test_patience();
    test_full();
    test_stopping();
    test_closing();
    test_hanging_up();
    test_many();
    return done();
}
