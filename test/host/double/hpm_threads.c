/* See hpm_threads.h. */
#include "test/host/double/hpm_threads.h"
#include "hpm/sampling.h"

struct hpm_thread threads[THREADS];
int running[DOUBLE_CPUS];

void threads_begin(unsigned per_process)
{
    for (unsigned i = 0; i < THREADS; i++)
        hpm_thread_init(&threads[i], 100 + i, 10 + i / per_process);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        running[c] = -1;
}

int threads_end(void **state)
{
    (void)state;
    with_modes(0);
    double_late = false;
    host_irqs_on = true;
    double_run_on(0);
    one_stop();
    double_shut_down();
    return 0;
}

static struct hpm_thread *thread(int n)
{
    return n < 0 ? NULL : &threads[n];
}

void switch_to(unsigned cpu, int next)
{
    double_run_on(cpu);
    host_irqs_on = false;
    hpm_switch(thread(running[cpu]), thread(next));
    host_irqs_on = true;
    running[cpu] = next;
    double_deliver();
}

void tick(unsigned cpu)
{
    double_run_on(cpu);
    host_irqs_on = false;
    hpm_tick();
    host_irqs_on = true;
    double_deliver();
}

bool is_running(int thread)
{
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        if (running[c] == thread)
            return true;
    return false;
}

void idle_everywhere(void)
{
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        switch_to(c, -1);
}

struct hpm_breakdown counted(int thread)
{
    struct hpm_breakdown b;

    context_read(&threads[thread].counts, &hpm_state.plan->mux, &hpm_state.figures, &b);
    return b;
}

struct hpm_breakdown counted_in_all(void)
{
    struct hpm_breakdown sum = {0};

    for (int i = 0; i < THREADS; i++) {
        struct hpm_breakdown part = counted(i);
        hpm_breakdown_add(&sum, &part);
    }
    return sum;
}
