/* See hpm_work.h. */
#include "kernel/core/cpu.h"
#include "test/qemu/kernel/hpm_work.h"
#include "test/qemu/kernel/threads.h"

void start_on(struct worker *w, void (*entry)(void *), const struct cpuset *cpus)
{
    w->thread = make_thread((struct thread_params){.entry = entry, .arg = w, .affinity = cpus});
    thread_start(w->thread);
}

void finish(struct worker *w)
{
    wait_until_dead(w->thread);
    hpm_read_thread(&w->thread->hpm, &w->counted);
}

void drop(struct worker *w)
{
    thread_put(w->thread);
}

uint64_t rounds_wanted;

/* Writes the line in turn with its partner: each turn moves the line. */
static void ping_pong(void *arg)
{
    struct worker *w = arg;

    for (uint64_t turn = w->parity; turn < 2 * rounds_wanted; turn += 2) {
        while (__atomic_load_n(&w->line->word[0], __ATOMIC_ACQUIRE) != turn)
            arch_cpu_relax();
        __atomic_store_n(&w->line->word[0], turn + 1, __ATOMIC_RELEASE);
        w->steps++;
    }
}

void play(struct worker pair[2], struct line *line, unsigned cpu0, unsigned cpu1)
{
    struct cpuset at[2] = {cpuset_one(cpu0), cpuset_one(cpu1)};

    line->word[0] = 0;
    for (unsigned i = 0; i < 2; i++) {
        pair[i] = (struct worker){.line = line, .parity = i};
        start_on(&pair[i], ping_pong, &at[i]);
    }
}

unsigned far_cpu(void)
{
    unsigned cpu = 0;

    while (cpus[cpu].place.chip == cpus[0].place.chip)
        cpu++;
    return cpu;
}
