/*
 * The first process of a Linux guest whose root is a user's tree of files (tools/linux-guest.sh
 * tree=FILE): runs one command in it, prints its exact exit status, and switches the machine off.
 *
 * The folder /.vigil of the tree is the launcher's: `command` holds the working directory and the
 * words of the command, each with a zero byte behind it; `input`, if there is one, is its standard
 * input; the environment is that of /etc/environment. On the kernel's command line VIGIL_PIPES=1
 * has input and output be pipes in place of the console's terminal, and VIGIL_MARK=TEXT parts the
 * console: a byte 16, TEXT and 'P' stand in front of the command's output, the same with 'E' in
 * front of what it writes to standard error through a pipe, and with 'K' behind all. Then a line
 * "exit: status=N" follows, 128 + the signal for a command that a signal ended. Other lines begin
 * with "GUEST". The simulated machine gets the marks "run" and "ran".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include "tools/linux-machine.h"

enum {
    PAGE_BYTES = 4096,
    COMMAND_BYTES = 1 << 20,
    WORDS_MAX = 65536,
    ENVIRONMENT_MAX = 4096,
    NOT_EXECUTABLE = 126,
    NOT_FOUND = 127,
};

#define CLOCK "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define OWN   "/.vigil"
#define INPUT OWN "/input"

static _Noreturn void power_off(void)
{
    fflush(stdout);
    tcdrain(STDOUT_FILENO);
    sync();
    reboot(RB_POWER_OFF);
    for (;;)
        pause();
}

static _Noreturn void give_up(const char *what)
{
    printf("GUEST error: %s: %s\n", what, strerror(errno));
    power_off();
}

static void mount_all(void)
{
    static const struct {
        const char *type, *where, *options;
    } mounts[] = {{"devtmpfs", "/dev", NULL},
                  {"proc", "/proc", NULL},
                  {"sysfs", "/sys", NULL},
                  {"devpts", "/dev/pts", NULL},
                  {"tmpfs", "/dev/shm", "mode=1777"},
                  {"tmpfs", "/tmp", "mode=1777"},
                  {"tmpfs", "/run", "mode=755"}};

    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++) {
        mkdir(mounts[i].where, 0755);
        /* A program's own files in /tmp stay where they are seen. */
        if (strcmp(mounts[i].type, "tmpfs") == 0 && rmdir(mounts[i].where) != 0)
            continue;
        mkdir(mounts[i].where, 0755);
        if (mount(mounts[i].type, mounts[i].where, mounts[i].type, 0, mounts[i].options) != 0 &&
            errno != EBUSY)
            give_up(mounts[i].where);
    }
}

/* Switches the loopback device on, by which programs reach 127.0.0.1. */
static void start_loopback(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) != 0)
        give_up("lo");
    close(fd);
}

/* Bytes of the console pass as they are, in lines that the other side edits and echoes. */
static void open_console(void)
{
    struct termios plain;
    int fd = open("/dev/console", O_RDWR | O_NOCTTY);

    if (fd < 0)
        power_off();
    for (int i = 0; i < 3; i++)
        dup2(fd, i);
    if (fd > 2)
        close(fd);
    if (tcgetattr(0, &plain) == 0) {
        cfmakeraw(&plain);
        plain.c_lflag |= ICANON;
        plain.c_cc[VEOF] = 4;
        tcsetattr(0, TCSANOW, &plain);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Waits until an x86-64 kernel has calibrated its clock: it does so in the background and then
 * stops all CPUs for a moment to change over, which must not fall into the command. */
static void await_clock(void)
{
    char text[TEXT_BYTES];

    for (int tenths = 0; tenths < 50; tenths++) {
        first_line(CLOCK, text);
        if (strncmp(text, "tsc-early", 9) != 0 && strcmp(text, "refined-jiffies") != 0 &&
            strcmp(text, "jiffies") != 0)
            return;
        usleep(100000);
    }
}

/* Splits the command into the working directory and the words, NULL-terminated. */
static char **read_command(char **folder)
{
    static char text[COMMAND_BYTES], *words[WORDS_MAX + 2];
    int fd = open(OWN "/command", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    size_t n = 0;

    if (bytes < 0)
        give_up(OWN "/command");
    close(fd);
    for (char *at = text; at < text + bytes && n <= WORDS_MAX; at += strlen(at) + 1)
        words[n++] = at;
    if (n < 2)
        give_up(OWN "/command");
    *folder = words[0];
    return words + 1;
}

static char **read_environment(void)
{
    static char *environment[ENVIRONMENT_MAX + 1];
    FILE *f = fopen("/etc/environment", "re");
    char *line = NULL;
    size_t size = 0, n = 0;
    ssize_t length;

    while (f && n < ENVIRONMENT_MAX && (length = getline(&line, &size, f)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (strchr(line, '='))
            environment[n++] = strdup(line);
    }
    if (f)
        fclose(f);
    return environment;
}

static _Noreturn void become(char **words, char **environment, const char *folder)
{
    setsid();
    ioctl(0, TIOCSCTTY, 1);
    if (chdir(folder) != 0 && chdir("/") != 0)
        _exit(NOT_FOUND);
    execve(words[0], words + 1, environment);
    int status = errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
    dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
    _exit(status);
}

/* A file of the tree takes the place of the console's input. */
static void use_input(void)
{
    int fd = open(INPUT, O_RDONLY);

    if (fd > 0) {
        dup2(fd, 0);
        close(fd);
    }
}

/* ---- Pipes, where the command is not to see a terminal --------------------------------------- */

/* the command's input, output and standard error */
static int in[2] = {-1, -1}, out[2] = {-1, -1}, errors[2] = {-1, -1};

static void make_pipes(void)
{
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0 ||
        fcntl(in[1], F_SETFL, O_NONBLOCK) != 0 || fcntl(out[0], F_SETFL, O_NONBLOCK) != 0 ||
        fcntl(errors[0], F_SETFL, O_NONBLOCK) != 0)
        give_up("pipe");
    signal(SIGPIPE, SIG_IGN);
}

static void use_pipes(void)
{
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(errors[1], 2);
    signal(SIGPIPE, SIG_DFL);
}

static void write_all(const char *text, ssize_t n)
{
    for (ssize_t part; n > 0; text += part, n -= part)
        if ((part = write(1, text, (size_t)n)) < 0)
            return;
}

/* Says whose text follows on the console, a letter, unless it was said before. */
static void say_writer(char letter)
{
    static char writer = 'P';
    const char *text = getenv("VIGIL_MARK");

    if (letter == writer)
        return;
    writer = letter;
    printf("\20%s%c", text ? text : "", letter);
    fflush(stdout);
}

static void pass_from(int fd, char letter)
{
    char text[PAGE_BYTES];

    for (ssize_t n; (n = read(fd, text, sizeof text)) > 0;) {
        say_writer(letter);
        write_all(text, n);
    }
}

/* Passes on what the command has written so far. */
static void pass_output(void)
{
    pass_from(out[0], 'P');
    pass_from(errors[0], 'E');
}

static void close_input(void)
{
    close(in[1]);
    in[1] = -1;
}

/* Passes input and output on until the command ends. */
static void pass_on(pid_t pid)
{
    static char text[PAGE_BYTES];
    ssize_t n = 0, at = 0; /* input that waits */
    int end = (int)syscall(SYS_pidfd_open, pid, 0);

    if (end < 0)
        give_up("pidfd_open");
    close(in[0]);
    for (;;) {
        struct pollfd fds[] = {{.fd = end, .events = POLLIN},
                               {.fd = out[0], .events = POLLIN},
                               {.fd = errors[0], .events = POLLIN},
                               {.fd = in[1] < 0 || at < n ? -1 : 0, .events = POLLIN},
                               {.fd = at < n ? in[1] : -1, .events = POLLOUT}};
        if (poll(fds, 5, -1) < 0 && errno != EINTR)
            give_up("poll");
        pass_output();
        if (fds[0].revents)
            return;
        if (fds[3].revents) {
            n = read(0, text, sizeof text);
            at = 0;
            if (n <= 0)
                close_input();
        }
        if (fds[4].revents) {
            ssize_t part = write(in[1], text + at, (size_t)(n - at));
            at += part > 0 ? part : 0;
            if (part < 0 && errno != EAGAIN) {
                at = n;
                close_input();
            }
        }
    }
}

/* Runs the command: words[0] is the file, its words follow. Returns its exit status. */
static int run(char **words, char **environment, const char *folder, bool terminal)
{
    if (!terminal)
        make_pipes();
    pid_t pid = fork(), ended;
    int status;

    if (pid < 0)
        give_up("fork");
    if (pid == 0) {
        if (!terminal)
            use_pipes();
        use_input();
        become(words, environment, folder);
    }
    if (!terminal)
        pass_on(pid);
    do
        ended = wait(&status);
    while (ended != pid && (ended > 0 || errno == EINTR));
    if (!terminal)
        pass_output();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
    const char *text = getenv("VIGIL_MARK");
    struct utsname name;
    char *folder, **words, **environment;

    mount_all();
    open_console();
    start_loopback();
    await_clock();
    find_machine();
    words = read_command(&folder);
    environment = read_environment();
    uname(&name);
    printf("GUEST linux=%s cpus=%ld machine=%s\n", name.release, sysconf(_SC_NPROCESSORS_ONLN),
           machine ? "simulated" : "none");
    printf("\20%sP", text ? text : "");
    fflush(stdout);
    mark("run");
    int status = run(words, environment, folder, !getenv("VIGIL_PIPES"));
    mark("ran");
    tcdrain(STDOUT_FILENO);
    printf("\20%sK\nexit: status=%d\n", text ? text : "", status);
    power_off();
}
