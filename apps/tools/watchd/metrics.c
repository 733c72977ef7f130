/* See show.h: Prometheus' text format, version 0.0.4. All counters begin at boot. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include "apps/tools/watchd/show.h"

#define WORD(field) (offsetof(struct sys_breakdown, field) / sizeof(uint64_t))

static bool counted(const struct sys_breakdown *b, size_t word)
{
    return b->counted >> word & 1;
}

static void head(struct text *t, const char *name, const char *type, const char *help)
{
    text_say(t, "# HELP vigil_%s %s\n# TYPE vigil_%s %s\n", name, help, name, type);
}

/* Writes a label's value, without what a label cannot have. */
static void label(struct text *t, const char *s)
{
    for (; *s; s++)
        text_bytes(t, *s == '"' || *s == '\\' || *s < ' ' || *s > '~' ? "_" : s, 1);
}

/* ---- Cycles ---------------------------------------------------------------------------------- */

/* Cycles by cause: causes that are counted, and the rest. */
static void causes(struct text *t, const char *name, const char *labels,
                   const struct sys_breakdown *b)
{
    uint64_t rest = b->cycles;

    for (unsigned i = 0; i < 7; i++) {
        if (!counted(b, WORD(stall) + i))
            continue;
        rest -= b->stall[i] < rest ? b->stall[i] : rest;
        text_say(t, "vigil_%s_total{%scause=\"%s\"} %" PRIu64 "\n", name, labels, show_causes[i],
                 b->stall[i]);
    }
    text_say(t, "vigil_%s_total{%scause=\"completion\"} %" PRIu64 "\n", name, labels, rest);
}

static void sources(struct text *t, const struct sys_breakdown *b)
{
    head(t, "data_stall_cycles_total", "counter", "Cycles stalled for data, by what served it.");
    for (unsigned i = 0; i < 7; i++)
        if (counted(b, WORD(dcache) + i))
            text_say(t, "vigil_data_stall_cycles_total{source=\"%s\"} %" PRIu64 "\n",
                     show_sources[i], b->dcache[i]);
    head(t, "accesses_total", "counter", "Accesses to data, by what served them.");
    for (unsigned i = 0; i < 7; i++)
        if (counted(b, WORD(served) + i))
            text_say(t, "vigil_accesses_total{source=\"%s\"} %" PRIu64 "\n", show_sources[i],
                     b->served[i]);
}

static void machine(struct text *t, const struct machine *m)
{
    const struct sys_breakdown *b = &m->cycles.total;

    head(t, "cycles_total", "counter", "Cycles of all CPUs that were not idle, by cause.");
    causes(t, "cycles", "", b);
    sources(t, b);
    head(t, "instructions_total", "counter", "Instructions completed.");
    text_say(t, "vigil_instructions_total %" PRIu64 "\n", b->instructions);
    head(t, "cpu_cycles_total", "counter", "Cycles of each CPU.");
    for (int i = 0; i < m->cpus; i++) {
        text_say(t, "vigil_cpu_cycles_total{cpu=\"%d\",chip=\"%d\",mode=\"busy\"} %" PRIu64 "\n", i,
                 m->cpu[i].chip, m->cpu[i].busy_cycles);
        text_say(t, "vigil_cpu_cycles_total{cpu=\"%d\",chip=\"%d\",mode=\"idle\"} %" PRIu64 "\n", i,
                 m->cpu[i].chip, m->cpu[i].idle_cycles);
    }
}

static void process_cycles(struct text *t, const struct machine *m)
{
    head(t, "process_cycles_total", "counter", "Cycles of a process, by cause.");
    for (int i = 0; i < m->processes; i++) {
        struct text labels = {0};
        text_say(&labels, "pid=\"%" PRIu32 "\",process=\"", m->process[i]->pid);
        label(&labels, m->process[i]->name);
        text_say(&labels, "\",");
        if (!labels.failed)
            causes(t, "process_cycles", labels.at, &m->process[i]->cycles.total);
        text_free(&labels);
    }
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* A figure of each process: where it is in struct machine_process. */
struct figure {
    const char *name, *type, *help;
    size_t at, bytes;
    double unit; /* in base units */
};
#define AT(m) offsetof(struct machine_process, m), sizeof(((struct machine_process *)0)->m)
static const struct figure figures[] = {
    {"process_threads", "gauge", "Threads of a process.", AT(threads), 1},
    {"process_mapped_bytes", "gauge", "Memory that a process has mapped.", AT(memory.mapped_bytes),
     1},
    {"process_resident_bytes", "gauge", "Memory of a process that is in memory.",
     AT(memory.resident_bytes), 1},
    {"process_swapped_bytes", "gauge", "Memory of a process that is on the swap disk.",
     AT(memory.swapped_bytes), 1},
    {"process_page_faults_total", "counter", "Page faults of a process.", AT(memory.faults), 1},
    {"process_major_faults_total", "counter", "Page faults that waited for a disk.",
     AT(memory.own_major_faults), 1},
    {"process_waited_seconds_total", "counter", "Time that threads waited for pages.",
     AT(memory.own_waited_ns), 1e-9},
    {"pool_page_ins_total", "counter", "Pages read into the process's pool.", AT(memory.page_ins),
     1},
    {"pool_page_outs_total", "counter", "Pages of its pool that were written.",
     AT(memory.page_outs), 1},
};
static const struct figure sharing_figures[] = {
    {"sharing_remote_ratio", "gauge",
     "Part of the cycles in which a process waited for other chips' caches.",
     AT(sharing.remote_permille), 1e-3},
    {"sharing_detections_total", "counter", "Detections of sharing that have ended.",
     AT(sharing.detections), 1},
    {"sharing_migrations_total", "counter", "Threads moved to another chip by placement.",
     AT(sharing.migrations), 1},
    {"sharing_taken_back_total", "counter", "Placements taken back, for stalls had grown.",
     AT(sharing.taken_back), 1},
    {"sharing_samples_lost_total", "counter", "Samples of detections that were lost.",
     AT(sharing.lost), 1},
    {"sharing_cost_seconds_total", "counter", "CPU time that detections took.", AT(sharing.cost_ns),
     1e-9},
};

static void figure(struct text *t, const struct machine *m, const struct figure *f, bool shared)
{
    head(t, f->name, f->type, f->help);
    for (int i = 0; i < m->processes; i++) {
        const struct machine_process *p = m->process[i];
        uint64_t v = 0;
        if (shared && !p->has_sharing)
            continue;
        memcpy(&v, (const char *)p + f->at, f->bytes);
        text_say(t, "vigil_%s{pid=\"%" PRIu32 "\",process=\"", f->name, p->pid);
        label(t, p->name);
        text_say(t, "\"} %.10g\n", (double)v * f->unit);
    }
}

/* ---- Threads, and the rest ------------------------------------------------------------------- */

static void threads(struct text *t, const struct machine *m)
{
    head(t, "thread_run_seconds_total", "counter", "Time that a thread was on a CPU.");
    for (int i = 0; i < m->threads; i++) {
        const struct sys_thread_state *s = &m->thread[i]->now;
        text_say(t,
                 "vigil_thread_run_seconds_total{pid=\"%" PRIu32 "\",tid=\"%" PRIu32 "\"} %.9f\n",
                 s->pid, s->tid, (double)s->run_ns / 1e9);
    }
    head(t, "thread_migrations_total", "counter", "Moves of a thread to another CPU.");
    for (int i = 0; i < m->threads; i++) {
        const struct sys_thread_state *s = &m->thread[i]->now;
        text_say(t,
                 "vigil_thread_migrations_total{pid=\"%" PRIu32 "\",tid=\"%" PRIu32 "\"} %" PRIu64
                 "\n",
                 s->pid, s->tid, s->migrations);
    }
}

static void single(struct text *t, const char *name, const char *type, const char *help, double v)
{
    head(t, name, type, help);
    text_say(t, "vigil_%s %.10g\n", name, v);
}

void show_metrics(struct text *t, const struct machine *m, const struct watch_self *self)
{
    single(t, "uptime_seconds", "gauge", "Time since boot, of the machine's own clock.",
           (double)m->ns / 1e9);
    if (m->counts) {
        machine(t, m);
        process_cycles(t, m);
    }
    for (unsigned i = 0; i < sizeof figures / sizeof figures[0]; i++)
        figure(t, m, &figures[i], false);
    for (unsigned i = 0; i < sizeof sharing_figures / sizeof sharing_figures[0]; i++)
        figure(t, m, &sharing_figures[i], true);
    threads(t, m);
    network_metrics(t, &m->network);
    single(t, "watchd_readings_total", "counter", "Readings that watchd has made.",
           (double)m->reading);
    single(t, "watchd_requests_total", "counter", "HTTP requests answered.",
           (double)self->requests);
    single(t, "watchd_refused_total", "counter", "HTTP requests refused.", (double)self->refused);
    single(t, "watchd_snapshots_dropped_total", "counter",
           "Snapshots left out for readers that were too slow.", (double)self->snapshots_dropped);
}
