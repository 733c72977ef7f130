/* Pseudo-terminals of sessions: jobs in front and behind, signals, hanging up. Prints TAP; the same
 * under Linux. */
#include "test/linux/terminals.h"

static volatile sig_atomic_t caught[NSIG];

static void note(int number)
{
    caught[number]++;
}

static void catch (int number)
{
    sigaction(number, &(struct sigaction){.sa_handler = note, .sa_flags = SA_RESTART}, NULL);
}

/* Runs a child that leads a session of its own, with a way to write to it. Returns its status. */
static int in_session(int (*run)(int master, int to_parent),
                      void (*meanwhile)(int master, int from))
{
    int master = make(), pipes[2], status = -1;

    if (pipe(pipes))
        return -1;
    pid_t pid = fork();
    if (!pid) {
        setsid();
        close(pipes[0]);
        _exit(run(master, pipes[1]));
    }
    close(pipes[1]);
    meanwhile(master, pipes[0]);
    waitpid(pid, &status, 0);
    close(pipes[0]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void close_master(int master, int from)
{
    char c;

    while (read(from, &c, 1) == 1)
        ;
    close(master);
}

/* Which steps fail, as bits. */
static int controls(int master, int to_parent)
{
    int wrong = 0, own, number;
    struct stat s;

    wrong |= !fails(open("/dev/tty", O_RDWR), ENXIO) << 0;
    int slave = open(name, O_RDWR | O_NOCTTY);
    wrong |= !fails(open("/dev/tty", O_RDWR), ENXIO) << 1;
    wrong |= !fails(tcgetpgrp(slave), ENOTTY) << 1;
    wrong |= (ioctl(slave, TIOCSCTTY, 0) != 0) << 2;
    own = open("/dev/tty", O_RDWR);
    wrong |= (own < 0 || fstat(own, &s) || s.st_rdev != makedev(5, 0) || !isatty(own)) << 3;
    wrong |= (tcgetpgrp(own) != getpid() || tcgetsid(slave) != getpid()) << 4;
    wrong |= (ioctl(master, TIOCGPGRP, &number) || number != getpid() ||
              ioctl(master, TIOCGSID, &number) || number != getpid())
             << 5;
    wrong |= (!types(own, "hello\n") || !reads(master, "hello\r\n")) << 6;
    catch (SIGHUP);
    wrong |=
        (ioctl(own, TIOCNOTTY) != 0 || !caught[SIGHUP] || !fails(open("/dev/tty", O_RDWR), ENXIO))
        << 7;
    (void)to_parent;
    return wrong;
}

static int opens(int master, int to_parent)
{
    int slave = open(name, O_RDWR), second = make(), other;

    (void)to_parent;
    if (open("/dev/tty", O_RDWR) < 0 || tcgetsid(slave) != getpid())
        return 1;
    other = open(name, O_RDWR);
    if (other < 0 || !fails(tcgetsid(other), ENOTTY) || !fails(ioctl(other, TIOCSCTTY, 0), EPERM))
        return 2;
    if (!fork()) {
        setsid();
        _exit(fails(open("/dev/tty", O_RDWR), ENXIO) ? 0 : 1);
    }
    int status = -1;
    wait(&status);
    if (status)
        return 3;
    close(second);
    close(master);
    return 0;
}

/* ^C, and a window that changes: signals for the group in front. */
static int is_signalled(int master, int to_parent)
{
    int slave = open(name, O_RDWR);

    catch (SIGINT);
    catch (SIGWINCH);
    catch (SIGQUIT);
    if (!types(master, "lost") || !reads(master, "lost") || !types(master, "\x03"))
        return 1;
    for (unsigned i = 0; i < 1000 && !caught[SIGINT]; i++)
        wait_ms(1);
    if (caught[SIGINT] != 1 || !reads(master, "^C") || !types(master, "\n") || !reads(slave, "\n"))
        return 1;
    ioctl(master, TIOCSWINSZ, &(struct winsize){24, 80, 0, 0});
    for (unsigned i = 0; i < 1000 && !caught[SIGWINCH]; i++)
        wait_ms(1);
    struct winsize w = {0};
    if (caught[SIGWINCH] != 1 || ioctl(slave, TIOCGWINSZ, &w) || w.ws_row != 24 || w.ws_col != 80)
        return 2;
    ioctl(slave, TIOCSWINSZ, &w);
    wait_ms(20);
    if (caught[SIGWINCH] != 1)
        return 3;
    if (ioctl(master, TIOCSIG, SIGQUIT))
        return 4;
    for (unsigned i = 0; i < 1000 && !caught[SIGQUIT]; i++)
        wait_ms(1);
    (void)to_parent;
    return caught[SIGQUIT] == 1 ? 0 : 5;
}

static int is_behind(int master, int to_parent)
{
    int slave = open(name, O_RDWR), status = 0;
    pid_t pid = fork();

    (void)master, (void)to_parent;
    if (!pid) {
        char c;
        setpgid(0, 0);
        _exit(read(slave, &c, 1) == 1 && c == 'x' ? 0 : 1);
    }
    if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
        WSTOPSIG(status) != SIGTTIN)
        return 1;
    signal(SIGTTOU, SIG_IGN);
    if (tcsetpgrp(slave, pid))
        return 2;
    types(master, "x\n");
    kill(pid, SIGCONT);
    if (waitpid(pid, &status, 0) != pid || status || tcsetpgrp(slave, getpgrp()))
        return 3;
    pid = fork();
    if (!pid) {
        signal(SIGTTOU, SIG_DFL);
        setpgid(0, 0);
        write(slave, "y", 1); /* without TOSTOP it may */
        struct termios t;
        tcgetattr(slave, &t);
        tcsetattr(slave, TCSANOW, &t);
        _exit(0);
    }
    if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
        WSTOPSIG(status) != SIGTTOU)
        return 4;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    pid = fork();
    if (!pid) {
        char c;
        signal(SIGTTIN, SIG_IGN);
        setpgid(0, 0);
        _exit(fails(read(slave, &c, 1), EIO) ? 0 : 1);
    }
    return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 5;
}

/* Waits until the parent hangs up. Its child, in front, is told when it has ended. */
static int is_hung_up(int master, int to_parent)
{
    int slave = open(name, O_RDWR);

    close(master);
    signal(SIGTTOU, SIG_IGN);
    catch (SIGHUP);
    catch (SIGCONT);
    pid_t pid = fork();
    if (!pid) {
        setpgid(0, 0);
        tcsetpgrp(slave, getpid());
        signal(SIGHUP, SIG_DFL);
        write(to_parent, "r", 1); /* ready */
        for (;;)
            pause();
    }
    for (unsigned i = 0; i < 3000 && !(caught[SIGHUP] && caught[SIGCONT]); i++)
        wait_ms(1);
    if (caught[SIGHUP] != 1 || caught[SIGCONT] != 1)
        return 1;
    wait_ms(50);
    if (waitpid(pid, NULL, WNOHANG) != 0)
        return 2;
    return fails(open("/dev/tty", O_RDWR), ENXIO) ? 0 : 3;
}

static bool child_has_ended;

static void hang_up(int master, int from)
{
    char c;

    read(from, &c, 1);
    close(master);
    /* Both writers end: the leader, then by SIGHUP its child. */
    child_has_ended = (readable(from, 5000) & POLLHUP) && read(from, &c, 1) == 0;
}

/* A leader that ends tells the group in front. */
static int ends(int master, int to_parent)
{
    int slave = open(name, O_RDWR);

    signal(SIGTTOU, SIG_IGN);
    pid_t pid = fork();
    if (!pid) {
        close(master);
        setpgid(0, 0);
        tcsetpgrp(slave, getpid());
        write(to_parent, "r", 1);
        for (;;)
            pause();
    }
    while (tcgetpgrp(slave) != pid)
        wait_ms(1);
    return 0;
}

static void watch_end(int master, int from)
{
    char c;

    read(from, &c, 1);
    child_has_ended = (readable(from, 5000) & POLLHUP) && read(from, &c, 1) == 0;
    close(master);
}

static void test_sessions(void)
{
    check(in_session(controls, close_master) == 0,
          "TIOCSCTTY makes it the session's terminal, /dev/tty; TIOCNOTTY gives it up");
    check(in_session(opens, close_master) == 0, "so does opening it, once, without O_NOCTTY");
    check(in_session(is_signalled, close_master) == 0,
          "^C, SIGWINCH and TIOCSIG reach the group in front");
    check(in_session(is_behind, close_master) == 0, "a group behind is stopped: SIGTTIN, SIGTTOU");
    check(in_session(is_hung_up, hang_up) == 0, "the leader gets SIGHUP when it hangs up");
    check(child_has_ended, "... and the group in front, when the leader has ended");
    check(in_session(ends, watch_end) == 0 && child_has_ended,
          "the group in front gets SIGHUP when the leader ends");
}

int main(void)
{
    alarm(100);
    test_sessions();
    return done();
}
