/* Files of /proc that describe the machine. */
#include "kernel/core/cpu.h"
#include "kernel/core/wall_clock.h"
#include "kernel/core/printf.h"
#include "kernel/fs/fs.h"
#include "kernel/mem/mem.h"
#include "kernel/lib/symbols.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/machine_name.h"
#include "kernel/proc/procfs.h"

#define TICK_NS (10 * NS_PER_MS) /* of the times that Linux tells: 1 / USER_HZ */

void procfs_cpuinfo(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    const struct sched_topology *s = sched_topology();
    char own[ARCH_CPUINFO_MAX];

    arch_cpuinfo(own);
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        pseudo_print(t,
                     "processor\t: %u\n%sphysical id\t: %u\nsiblings\t: %u\ncore id\t\t: %u\n"
                     "cpu cores\t: %u\n\n",
                     cpu, own, s->of[cpu].chip, s->cores_per_chip * s->threads_per_core,
                     cpus[cpu].place.core, s->cores_per_chip);
}

void procfs_meminfo(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    struct frame_stats f;
    struct space_stats files;

    frame_stats(&f);
    space_stats_of_files(&files);
    unsigned long long total = f.total_pages * PAGE_SIZE / KIB,
                       left = f.free_pages * PAGE_SIZE / KIB,
                       cached = files.resident_pages * PAGE_SIZE / KIB,
                       elsewhere = files.elsewhere_pages * PAGE_SIZE / KIB;
    pseudo_print(
        t,
        "MemTotal:       %8llu kB\nMemFree:        %8llu kB\nMemAvailable:   %8llu kB\n"
        "Buffers:               0 kB\nCached:         %8llu kB\nSwapCached:     "
        "       0 kB\nShmem:          %8llu kB\nSwapTotal:             0 kB\nSwapFree:             "
        " 0 kB\n"
        "HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n",
        total, left, left + elsewhere, cached, cached - elsewhere);
}

/* What all CPUs have counted since boot. */
struct events {
    uint64_t switches, faults, major_faults;
};

static struct events count_events(void)
{
    struct events sum = {0};

    for (const struct cpu *cpu = cpus; cpu < cpus + cpu_count(); cpu++) {
        sum.switches += __atomic_load_n(&cpu->switches, __ATOMIC_RELAXED);
        sum.faults += __atomic_load_n(&cpu->faults, __ATOMIC_RELAXED);
        sum.major_faults += __atomic_load_n(&cpu->major_faults, __ATOMIC_RELAXED);
    }
    return sum;
}

/* One CPU's line of /proc/stat, or the one of all. */
static void print_cpu(struct pseudo_text *t, const char *name, struct cpu_time time,
                      uint64_t all_ns)
{
    typedef unsigned long long ull;

    pseudo_print(t, "%s %llu 0 %llu %llu 0 0 0 0 0 0\n", name,
                 (ull)(cpu_time_user_ns(time) / TICK_NS), (ull)(time.system_ns / TICK_NS),
                 (ull)((all_ns - MIN(all_ns, time.run_ns)) / TICK_NS));
}

void procfs_stat(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    struct cpu_time sum = {0};
    struct procfs_threads threads = procfs_count_threads();
    typedef unsigned long long ull;

    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        sum = cpu_time_add(sum, sched_cpu_time(cpu));
    uint64_t now_ns = arch_clock_ns();
    print_cpu(t, "cpu ", sum, now_ns * cpu_count());
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        char name[16];
        ksnprintf(name, sizeof(name), "cpu%u", cpu);
        print_cpu(t, name, sched_cpu_time(cpu), now_ns);
    }
    pseudo_print(t,
                 "intr 0\nctxt %llu\nbtime %llu\nprocesses %llu\nprocs_running %u\n"
                 "procs_blocked 0\n",
                 (ull)count_events().switches, (ull)((wall_clock_ns() - now_ns) / NS_PER_S),
                 (ull)process_made(), threads.running);
}

void procfs_uptime(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    uint64_t busy_ns = 0;

    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        busy_ns += sched_cpu_time(cpu).run_ns;
    unsigned long long hundredths = arch_clock_ns() / TICK_NS,
                       idle = (arch_clock_ns() * cpu_count() - busy_ns) / TICK_NS;
    pseudo_print(t, "%llu.%02llu %llu.%02llu\n", hundredths / 100, hundredths % 100, idle / 100,
                 idle % 100);
}

void procfs_loadavg(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    struct procfs_threads threads = procfs_count_threads();
    struct loads l = sched_loads();

    for (unsigned i = 0; i < LOADS; i++)
        pseudo_print(t, "%u.%02u ", l.average[i] >> LOAD_SHIFT,
                     (l.average[i] & ((1u << LOAD_SHIFT) - 1)) * 100 >> LOAD_SHIFT);
    pseudo_print(t, "%u/%u %u\n", threads.running, threads.all, threads.latest);
}

void procfs_vmstat(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    struct frame_stats f;
    struct events e = count_events();

    frame_stats(&f);
    pseudo_print(t,
                 "nr_free_pages %llu\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\npgfault %llu\n"
                 "pgmajfault %llu\n",
                 (unsigned long long)f.free_pages, (unsigned long long)e.faults,
                 (unsigned long long)e.major_faults);
}

void procfs_mounts(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    char path[64];

    for (const struct mount *m = fs_mounts(); m; m = m->next)
        if (path_of(m->root, path, sizeof(path)) > 0)
            pseudo_print(t, "%s %s %s %s,relatime 0 0\n", m->of ?: m->type, path, m->type,
                         m->read_only ? "ro" : "rw");
}

void procfs_mountinfo(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    char path[64];

    for (const struct mount *m = fs_mounts(); m; m = m->next) {
        const struct mount *below = m->on ? m->on->mount : m;
        if (path_of(m->root, path, sizeof(path)) > 0)
            pseudo_print(t, "%u %u 0:%u / %s %s,relatime - %s %s %s\n", m->device, below->device,
                         m->device, path, m->read_only ? "ro" : "rw", m->type, m->of ?: m->type,
                         m->read_only ? "ro" : "rw");
    }
}

void procfs_applications(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    char name[PROCESS_APPLICATION_MAX + 1];
    uint64_t cursor = 0;

    while (process_next_application(&cursor, name))
        pseudo_print(t, "%s\n", name);
}

static void print_machine_name(struct pseudo_text *t, enum machine_name which)
{
    char name[MACHINE_NAME_BYTES];

    machine_name_get(which, name);
    pseudo_print(t, "%s\n", name);
}

void procfs_hostname(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    print_machine_name(t, MACHINE_HOST);
}

void procfs_domainname(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    print_machine_name(t, MACHINE_DOMAIN);
}

/* The kernel's functions and variables, by address; the names of the code's beginning and end are
 * Linux's. */
void procfs_kallsyms(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    struct symbols symbols;
    vaddr_t text, end, at;
    const char *name;
    bool ended = false;
    char kind;

    if (!symbols_open_kernel(&symbols, &text, &end))
        return;
    pseudo_print(t, "%016llx T _text\n%016llx T _stext\n", (unsigned long long)text,
                 (unsigned long long)text);
    for (uint32_t i = 0; symbols_kernel_at(&symbols, i, &at, &name, &kind); i++) {
        if (kind != 't' && !ended)
            pseudo_print(t, "%016llx T _etext\n", (unsigned long long)end);
        ended = kind != 't';
        pseudo_print(t, "%016llx %c %s\n", (unsigned long long)at, kind, name);
    }
    if (!ended)
        pseudo_print(t, "%016llx T _etext\n", (unsigned long long)end);
}
