/* Files of /proc that describe the machine. */
#include "kernel/core/cpu.h"
#include "kernel/fs/fs.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/procfs.h"

#define TICKS_HZ 100 /* of the times that Linux tells: USER_HZ */

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

    frame_stats(&f);
    unsigned long long total = f.total_pages * PAGE_SIZE / KIB,
                       left = f.free_pages * PAGE_SIZE / KIB;
    pseudo_print(
        t,
        "MemTotal:       %8llu kB\nMemFree:        %8llu kB\nMemAvailable:   %8llu kB\n"
        "Buffers:               0 kB\nCached:                0 kB\nSwapCached:     "
        "       0 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n"
        "HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n",
        total, left, left);
}

/* Times of CPUs are not told apart: each was in user mode since the start. */
void procfs_stat(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    unsigned long long ticks = arch_clock_ns() / (NS_PER_S / TICKS_HZ);

    pseudo_print(t, "cpu  %llu 0 0 0 0 0 0 0 0 0\n", ticks * cpu_count());
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        pseudo_print(t, "cpu%u %llu 0 0 0 0 0 0 0 0 0\n", cpu, ticks);
    pseudo_print(t, "ctxt 0\nbtime 0\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n");
}

void procfs_uptime(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    unsigned long long hundredths = arch_clock_ns() / (NS_PER_S / 100);

    pseudo_print(t, "%llu.%02llu 0.00\n", hundredths / 100, hundredths % 100);
}

void procfs_loadavg(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "0.00 0.00 0.00 1/1 %u\n", thread_current()->process->pid);
}

void procfs_mounts(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    char path[64];

    for (const struct mount *m = fs_mounts(); m; m = m->next)
        if (path_of(m->root, path, sizeof(path)) > 0)
            pseudo_print(t, "%s %s %s %s,relatime 0 0\n", m->of ?: m->type, path, m->type,
                         m->read_only ? "ro" : "rw");
}

void procfs_applications(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    char name[PROCESS_APPLICATION_MAX + 1];
    uint64_t cursor = 0;

    while (process_next_application(&cursor, name))
        pseudo_print(t, "%s\n", name);
}
