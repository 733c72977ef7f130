/*
 * The hpm calls of the applications under Linux, to compare its scheduler on the same machine. The
 * environment controls them, so that the programs and their arguments are the same everywhere:
 *   HPM_PIN=good   hpm_group binds the calling thread to the chip of its group: group modulo chips
 *   HPM_PIN=bad    the members of a group are spread over the chips in turn
 *   HPM_CHIPS=n    number of chips, each of equally many neighbouring CPUs; 2 if unset
 *   HPM_MACHINE=f  marks go to the simulated multiprocessor; f is its register BAR, the file
 *                  resource2 of the PCI device 1af4:1110 in sysfs; opening it takes root
 * Without HPM_PIN Linux places the threads; without HPM_MACHINE marks do nothing. A setting that is
 * malformed or cannot be applied ends the program, so that no run silently measures something else.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "kernel/dev/model/machine.h"

enum pinning { PIN_NONE, PIN_GOOD, PIN_BAD };

enum { GROUPS_MAX = 512, CHIPS_DEFAULT = 2, EXIT_BAD_SETTING = 2 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum pinning pinning;
static int cpus, chips;
static atomic_int members_seen[GROUPS_MAX];
static pthread_mutex_t mark_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile struct machine_id *machine; /* NULL: marks do nothing */

static _Noreturn void refuse_setting(const char *name, const char *value, const char *reason)
{
    fprintf(stderr, "environment variable %s: '%s' cannot be used: %s\n", name, value, reason);
    exit(EXIT_BAD_SETTING);
}

static void read_pinning(void)
{
    const char *pin = getenv("HPM_PIN"), *number = getenv("HPM_CHIPS");
    char reason[80], *end = NULL;

    cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (pin && strcmp(pin, "good") != 0 && strcmp(pin, "bad") != 0)
        refuse_setting("HPM_PIN", pin, "accepted are good, bad");
    if (pin)
        pinning = strcmp(pin, "good") == 0 ? PIN_GOOD : PIN_BAD;
    chips = number ? (int)strtol(number, &end, 10) : CHIPS_DEFAULT;
    if (pinning == PIN_NONE || (chips >= 1 && chips <= cpus && cpus % chips == 0 && !(end && *end)))
        return;
    snprintf(reason, sizeof reason, "must be a divisor of the number of CPUs, %d", cpus);
    refuse_setting("HPM_CHIPS", number ? number : "2", reason);
}

static void map_machine(void)
{
    const char *path = getenv("HPM_MACHINE");

    if (!path)
        return;
    int fd = open(path, O_RDWR);
    if (fd < 0)
        refuse_setting("HPM_MACHINE", path, strerror(errno));
    machine = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (machine == MAP_FAILED)
        refuse_setting("HPM_MACHINE", path, strerror(errno));
    if (machine->magic != MACHINE_MAGIC || machine->version != MACHINE_VERSION)
        refuse_setting("HPM_MACHINE", path,
                       "these are not the registers of a simulated multiprocessor of this version");
}

static void read_environment(void)
{
    read_pinning();
    map_machine();
}

static void bind_to_chip(int chip)
{
    int per_chip = cpus / chips;
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int cpu = chip * per_chip; cpu < (chip + 1) * per_chip; cpu++)
        CPU_SET(cpu, &set);
    int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (error) {
        fprintf(stderr, "a thread cannot be bound to chip %d: %s\n", chip, strerror(error));
        exit(1);
    }
}

void hpm_group(int group)
{
    pthread_once(&once, read_environment);
    if (pinning == PIN_GOOD)
        bind_to_chip(group % chips);
    else if (pinning == PIN_BAD)
        bind_to_chip(atomic_fetch_add(&members_seen[group % GROUPS_MAX], 1) % chips);
}

void hpm_mark(const char *label)
{
    pthread_once(&once, read_environment);
    if (!machine)
        return;
    pthread_mutex_lock(&mark_lock);
    for (size_t i = 0; i < sizeof machine->mark_label; i++) {
        bool last = i == sizeof machine->mark_label - 1;
        machine->mark_label[i] = last ? '\0' : *label;
        label += *label != '\0';
    }
    machine->mark = 1;
    pthread_mutex_unlock(&mark_lock);
}
