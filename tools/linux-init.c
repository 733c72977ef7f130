/*
 * The first and only process of the Linux guest (tools/linux-guest.sh): runs the programs named on
 * the kernel's command line behind "--", one after the other, and ends QEMU with an exit status.
 *
 *   ... NAME=value ... -- scoreboard ms=500 ; private threads=8
 *
 * The kernel passes the words behind "--" as arguments and the settings before it as environment,
 * so neither is parsed here. A program is /bin/NAME. Lines about the guest itself start with
 * "GUEST"; a program's own output is left as it is. The status is that of the first program that
 * failed, or 0.
 *
 * Settings of its own:
 *   HPM_SWAP=1                      swaps to the simulated machine's disk, by the driver of
 *                                   tools/linux-disk.c
 *   HPM_DISK=1                      has that disk as /dev/model0, and does not swap
 *   HPM_FREE=KB                     takes memory away until KB are available
 *   HPM_WRITE=FILE:TEXT,FILE:TEXT   writes TEXT to FILE, to tune the kernel
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum {
    EXIT_PORT = 0xf4, /* isa-debug-exit: QEMU ends with 2 * value + 1 */
    EXIT_BIAS = 16,   /* value = exit status + 16, as tools/qemu.sh expects it */
    EXIT_GUEST = 99,  /* the guest itself could not be set up */
    TEXT_BYTES = 256,
    PAGE_BYTES = 4096,
    SWAP_HEADER = 1024, /* bytes before the version, last page and bad pages of a swap header */
    SLACK_KIB = 64,     /* available memory is known no more exactly */
};

#define DEVICES "/sys/bus/pci/devices"
#define DISK    "/dev/model0"
#define DOMAINS "/sys/kernel/debug/sched/domains/cpu0"
#define CLOCK   "/sys/devices/system/clocksource/clocksource0"
#define CPU0    "/sys/devices/system/cpu/cpu0/topology"

static _Noreturn void power_off(int status)
{
    fflush(stdout);
    tcdrain(STDOUT_FILENO);
    if (ioperm(EXIT_PORT, 4, 1) == 0)
        outl((unsigned)(status + EXIT_BIAS), EXIT_PORT);
    reboot(RB_POWER_OFF); /* no such device: QEMU ends without this status */
    for (;;)
        pause();
}

static _Noreturn void give_up(const char *what)
{
    printf("GUEST error: %s: %s\n", what, strerror(errno));
    power_off(EXIT_GUEST);
}

/* Returns the first line of the file dir/name without its newline; "?" if there is none. */
static const char *first_line(const char *dir, const char *name, char line[TEXT_BYTES])
{
    char path[2 * TEXT_BYTES];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "r");
    if (!f || !fgets(line, TEXT_BYTES, f))
        strcpy(line, "?");
    if (f)
        fclose(f);
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static void mount_all(void)
{
    static const struct {
        const char *type, *where;
    } mounts[] = {{"devtmpfs", "/dev"},
                  {"proc", "/proc"},
                  {"sysfs", "/sys"},
                  {"debugfs", "/sys/kernel/debug"}};

    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++)
        if (mount(mounts[i].type, mounts[i].where, mounts[i].type, 0, NULL) != 0 && errno != EBUSY)
            give_up(mounts[i].where);
}

static void open_console(void)
{
    struct termios plain;
    int fd = open("/dev/ttyS0", O_RDWR);

    if (fd < 0)
        power_off(EXIT_GUEST);
    for (int i = 0; i < 3; i++)
        dup2(fd, i);
    if (tcgetattr(fd, &plain) == 0) {
        cfmakeraw(&plain);
        tcsetattr(fd, TCSANOW, &plain);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Sets HPM_MACHINE to the register BAR of the simulated multiprocessor. Without one marks do
 * nothing. */
static bool find_machine(void)
{
    char device[2 * TEXT_BYTES], text[TEXT_BYTES], registers[3 * TEXT_BYTES];
    DIR *dir = opendir(DEVICES);
    bool found = false;

    for (struct dirent *d; dir && !found && (d = readdir(dir));) {
        snprintf(device, sizeof device, DEVICES "/%s", d->d_name);
        found = strcmp(first_line(device, "vendor", text), "0x1af4") == 0 &&
                strcmp(first_line(device, "device", text), "0x1110") == 0;
    }
    if (dir)
        closedir(dir);
    if (!found)
        return false;
    snprintf(registers, sizeof registers, "%s/resource2", device);
    return setenv("HPM_MACHINE", registers, 1) == 0;
}

/* Waits until Linux has calibrated its clock: it does so in the background and then stops all CPUs
 * for a moment to change over, which must not fall into a measurement. */
static void await_clock(void)
{
    char text[TEXT_BYTES];

    for (int tenths = 0;
         tenths < 50 && strcmp(first_line(CLOCK, "current_clocksource", text), "tsc") != 0;
         tenths++)
        usleep(100000);
}

/* Prints which kernel this is and what its scheduler knows of the machine, to qualify
 * comparisons. */
static void introduce(bool machine)
{
    struct utsname name;
    char text[TEXT_BYTES], domain[TEXT_BYTES];

    uname(&name);
    printf("GUEST linux=%s cpus=%ld machine=%s", name.release, sysconf(_SC_NPROCESSORS_ONLN),
           machine ? "simulated" : "none");
    printf(" core=%s", first_line(CPU0, "core_cpus_list", text));
    printf(" chip=%s domains=", first_line(CPU0, "package_cpus_list", text));
    for (int i = 0;; i++) {
        snprintf(domain, sizeof domain, "domain%d/name", i);
        if (strcmp(first_line(DOMAINS, domain, text), "?") == 0)
            break;
        printf("%s%s", i ? "," : "", text);
    }
    printf(" clock=%s\n", first_line(CLOCK, "current_clocksource", text));
}

/* ---- Swapping -------------------------------------------------------------------------------- */

/* Returns the number behind "NAME" in a file of such lines; 0: there is none. */
static unsigned long long figure(const char *file, const char *name)
{
    char line[TEXT_BYTES];
    size_t length = strlen(name);
    unsigned long long number = 0;
    FILE *f = fopen(file, "r");

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == ':'))
            number = strtoull(line + length + 1, NULL, 10);
    if (f)
        fclose(f);
    return number;
}

/* Writes the header that mkswap writes: a first page with the version, the last page and a name at
 * its end (Linux, include/linux/swap.h). */
static void make_swap(const char *device)
{
    static char page[PAGE_BYTES];
    unsigned *head = (unsigned *)(page + SWAP_HEADER);
    int fd = open(device, O_RDWR);
    off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

    if (bytes < 0)
        give_up(device);
    head[0] = 1;
    head[1] = (unsigned)(bytes / PAGE_BYTES - 1);
    memcpy(page + PAGE_BYTES - 10, "SWAPSPACE2", 10);
    if (pwrite(fd, page, sizeof page, 0) != sizeof page || fsync(fd) != 0)
        give_up(device);
    close(fd);
}

static void start_disk(void)
{
    int module = open("/model.ko", O_RDONLY);

    if (module < 0 || syscall(SYS_finit_module, module, "", 0) != 0)
        give_up("/model.ko");
    close(module);
}

static void start_swap(void)
{
    start_disk();
    make_swap(DISK);
    if (swapon(DISK, 0) != 0)
        give_up("swapon " DISK);
}

/* Locks memory until kib KB are available. */
static void hold_memory(unsigned long long kib)
{
    for (;;) {
        unsigned long long have = figure("/proc/meminfo", "MemAvailable");
        if (have < kib + SLACK_KIB)
            return;
        size_t bytes = (have - kib) / 2 / (PAGE_BYTES / 1024) * PAGE_BYTES + PAGE_BYTES;
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED || madvise(at, bytes, MADV_NOHUGEPAGE) != 0 || mlock(at, bytes) != 0)
            give_up("HPM_FREE");
    }
}

/* Leaves kib KB available. A process of its own holds the rest: a program's memory charge begins
 * with its parent's. */
static void leave_free(unsigned long long kib)
{
    int done[2];
    char byte = 0;

    if (pipe(done) != 0)
        give_up("pipe");
    pid_t pid = fork();
    if (pid < 0)
        give_up("fork");
    if (pid == 0) {
        hold_memory(kib);
        if (write(done[1], &byte, 1) != 1)
            give_up("pipe");
        for (;;)
            pause();
    }
    if (read(done[0], &byte, 1) != 1)
        give_up("pipe");
}

static void write_all(char *settings)
{
    for (char *next, *file = settings; file; file = next) {
        next = strchr(file, ',');
        if (next)
            *next++ = '\0';
        char *text = strchr(file, ':');
        if (!text)
            give_up(file);
        *text++ = '\0';
        int fd = open(file, O_WRONLY);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
            give_up(file);
        close(fd);
    }
}

/* Prints how Linux swaps. */
static void introduce_memory(void)
{
    char text[TEXT_BYTES];

    printf("GUEST swap=%llu page_cluster=%s", figure("/proc/meminfo", "SwapTotal"),
           first_line("/proc/sys/vm", "page-cluster", text));
    printf(" lru_gen=%s", first_line("/sys/kernel/mm/lru_gen", "enabled", text));
    printf(" by_address=%s", first_line("/sys/kernel/mm/swap", "vma_ra_enabled", text));
    printf(" available_kb=%llu", figure("/proc/meminfo", "MemAvailable"));
    printf(" huge='%s'\n", first_line("/sys/kernel/mm/transparent_hugepage", "enabled", text));
}

static void set_up_memory(void)
{
    char *settings = getenv("HPM_WRITE"), *kib = getenv("HPM_FREE");

    if (getenv("HPM_DISK"))
        start_disk();
    if (getenv("HPM_SWAP"))
        start_swap();
    if (settings)
        write_all(settings);
    if (kib)
        leave_free(strtoull(kib, NULL, 10));
    if (getenv("HPM_SWAP"))
        introduce_memory();
}

/* Prints the memory figures of a program's life. */
static void tell_memory(const char *program, const struct rusage *use, unsigned long long in,
                        unsigned long long out)
{
    printf("GUEST memory: %s: most_kb=%ld major=%ld in=%llu out=%llu\n", program, use->ru_maxrss,
           use->ru_majflt, figure("/proc/vmstat", "pswpin") - in,
           figure("/proc/vmstat", "pswpout") - out);
}

/* Runs a program. Returns its exit status, or 128 + the signal that ended it. */
static int run_program(char **argv)
{
    unsigned long long in = figure("/proc/vmstat", "pswpin"),
                       out = figure("/proc/vmstat", "pswpout");
    char path[TEXT_BYTES];
    struct rusage use;
    int status;

    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        give_up("fork");
    if (pid == 0) {
        snprintf(path, sizeof path, "/bin/%s", argv[0]);
        execv(path, argv);
        fprintf(stderr, "GUEST error: %s: %s\n", path, strerror(errno));
        _exit(127);
    }
    while (wait4(pid, &status, 0, &use) != pid)
        if (errno != EINTR)
            give_up("wait");
    if (getenv("HPM_SWAP"))
        tell_memory(argv[0], &use, in, out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    int status = 0;

    mount_all();
    open_console();
    await_clock();
    introduce(find_machine());
    set_up_memory();
    for (int i = 1; i < argc;) {
        char **first = &argv[i];
        while (i < argc && strcmp(argv[i], ";") != 0)
            i++;
        argv[i++] = NULL;
        if (!*first)
            continue;
        int ended = run_program(first);
        if (ended != 0)
            printf("GUEST %s: status %d\n", *first, ended);
        status = status ? status : ended;
    }
    power_off(status);
}
