/* See machine.h. */
#include "apps/tools/watchd/machine.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps/libc/hpm.h"
#include "apps/libc/memory.h"
#include "apps/libc/state.h"
#include "apps/tools/measuring/since.h"

uint64_t machine_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Reads a breakdown, and what is new of it. Of an object that is gone the last one stays. */
static bool read_cycles(struct machine_cycles *c, uint32_t scope, uint32_t pid, uint32_t tid)
{
    const struct sys_hpm_read what = {.scope = scope, .pid = pid, .tid = tid};
    struct sys_breakdown now;

    memset(&c->since, 0, sizeof c->since);
    if (hpm_breakdown(&what, &now))
        return false;
    c->since = now;
    breakdown_since(&c->since, &c->total);
    c->total = now;
    return true;
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

static void read_cpus(struct machine *m)
{
    memcpy(m->cpu_before, m->cpu, sizeof m->cpu);
    int n = state_cpus(m->cpu, MACHINE_CPUS);

    m->cpus = n < 0 ? 0 : n < MACHINE_CPUS ? n : MACHINE_CPUS;
    m->chips = 0;
    for (int i = 0; i < m->cpus; i++)
        if (m->cpu[i].chip >= m->chips)
            m->chips = m->cpu[i].chip + 1;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Returns the thread, which is new if it was not there at the last reading; NULL: no room. */
static struct machine_thread *thread_of(struct machine *m, const struct sys_thread_state *s)
{
    for (int i = 0; i < m->threads; i++)
        if (m->thread[i]->now.tid == s->tid && m->thread[i]->now.pid == s->pid)
            return m->thread[i];
    struct machine_thread *t = m->threads < MACHINE_THREADS ? calloc(1, sizeof *t) : NULL;
    if (t) {
        t->now = *s;
        m->thread[m->threads++] = t;
    }
    return t;
}

static void note_move(struct machine *m, const struct machine_thread *t)
{
    if (t->now.cpu == t->before.cpu || m->moves == MACHINE_MOVES)
        return;
    m->move[m->moves++] = (struct machine_move){t->now.pid, t->now.tid, t->before.cpu, t->now.cpu};
}

static void read_thread(struct machine *m, const struct sys_thread_state *s)
{
    struct machine_thread *t = thread_of(m, s);

    if (!t) {
        m->threads_left_out++;
        return;
    }
    t->before = t->now;
    t->now = *s;
    t->reading = m->reading;
    note_move(m, t);
    if (m->counts)
        read_cycles(&t->cycles, SYS_SCOPE_THREAD, s->pid, s->tid);
}

static void read_threads(struct machine *m)
{
    static struct sys_thread_state state[2 * MACHINE_THREADS];
    const int room = 2 * MACHINE_THREADS;
    int n = state_threads(0, state, (size_t)room), kept = 0;

    m->moves = 0;
    m->threads_left_out = n > room ? n - room : 0;
    for (int i = 0; i < n && i < room; i++)
        read_thread(m, &state[i]);
    for (int i = 0; i < m->threads; i++)
        if (m->thread[i]->reading == m->reading)
            m->thread[kept++] = m->thread[i];
        else
            free(m->thread[i]);
    m->threads = kept;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static struct machine_process *process_of(struct machine *m, const struct sys_thread_state *s)
{
    for (int i = 0; i < m->processes; i++)
        if (m->process[i]->pid == s->pid)
            return m->process[i];
    struct machine_process *p = m->processes < MACHINE_PROCESSES ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->pid = s->pid;
    memcpy(p->name, s->name, sizeof p->name);
    m->process[m->processes++] = p;
    return p;
}

/* Reads what the detector has found; see later_ns. */
static void read_sharing(struct machine_process *p)
{
    static struct sys_sharing now;

    p->has_sharing = !state_sharing((int)p->pid, &now);
    if (!p->has_sharing)
        return;
    p->later_ns = !now.clusters && p->sharing.clusters ? now.time_ns : 0;
    if (!p->later_ns) {
        p->sharing = now;
        return;
    }
    p->sharing.detecting = now.detecting;
    p->sharing.remote_permille = now.remote_permille;
    p->sharing.detections = now.detections;
    p->sharing.migrations = now.migrations;
    p->sharing.taken_back = now.taken_back;
    p->sharing.all_samples = now.all_samples;
    p->sharing.lost = now.lost;
    p->sharing.cost_ns = now.cost_ns;
    p->sharing.passed_ns = now.passed_ns;
}

static void read_process(const struct machine *m, struct machine_process *p)
{
    if (m->counts)
        read_cycles(&p->cycles, SYS_SCOPE_PROCESS, p->pid, 0);
    p->memory_before = p->memory;
    memory_read((int)p->pid, &p->memory);
    p->has_curve = !memory_curve((int)p->pid, &p->curve);
    read_sharing(p);
}

static void read_processes(struct machine *m)
{
    int kept = 0;

    for (int i = 0; i < m->processes; i++)
        m->process[i]->threads = 0;
    for (int i = 0; i < m->threads; i++) {
        struct machine_process *p = process_of(m, &m->thread[i]->now);
        if (!p)
            continue;
        p->reading = m->reading;
        p->threads++;
    }
    for (int i = 0; i < m->processes; i++) {
        struct machine_process *p = m->process[i];
        if (p->reading != m->reading) {
            free(p);
            continue;
        }
        read_process(m, p);
        m->process[kept++] = p;
    }
    m->processes = kept;
}

bool machine_others(const struct machine *m, uint32_t own)
{
    for (int i = 0; i < m->processes; i++)
        if (m->process[i]->pid != own)
            return true;
    return false;
}

/* ---- Decisions and events -------------------------------------------------------------------- */

static void read_decisions(struct machine *m)
{
    int n = state_decisions(m->decision_next, m->decision, MACHINE_DECISIONS);

    m->decisions = n > 0 ? n : 0;
    for (int i = 0; i < m->decisions; i++) {
        m->decisions_lost += m->decision[i].number - m->decision_next;
        m->decision_next = m->decision[i].number + 1;
    }
}

static void read_events(struct machine *m)
{
    struct sys_hpm_read what = {.session = (uint32_t)m->session, .scope = SYS_SCOPE_MACHINE};
    int n = m->session ? hpm_values(&what, m->event_total, MACHINE_EVENTS) : 0;

    what.since_last = 1;
    if (n > 0)
        n = hpm_values(&what, m->event, MACHINE_EVENTS);
    m->events = n < 0 ? 0 : n < MACHINE_EVENTS ? n : MACHINE_EVENTS;
}

int machine_events(struct machine *m, const char *events)
{
    int session = events[0] ? hpm_open(events, m->events_why, sizeof m->events_why) : 0;

    if (session < 0)
        return session;
    if (m->session)
        hpm_close(m->session);
    m->session = session;
    m->events_why[0] = '\0';
    read_events(m);
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

void machine_begin(struct machine *m, const char *events)
{
    struct sys_memory memory;

    m->decision_next = 1;
    m->model = !memory_read(0, &memory) && memory.cycles_hz;
    read_cycles(&m->cycles, SYS_SCOPE_MACHINE, 0, 0);
    m->counts = m->cycles.total.counted & 1;
    machine_events(m, events);
    machine_read(m);
}

void machine_read(struct machine *m)
{
    m->before_ns = m->ns;
    m->ns = machine_ns();
    m->reading++;
    read_cpus(m);
    if (m->counts)
        read_cycles(&m->cycles, SYS_SCOPE_MACHINE, 0, 0);
    read_threads(m);
    read_processes(m);
    read_decisions(m);
    read_events(m);
    network_read(&m->network);
    m->took_ns = machine_ns() - m->ns;
}
