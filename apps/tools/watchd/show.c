/* See show.h: JSON. Times are microseconds or milliseconds, as their names end. */
#include "apps/tools/watchd/show.h"
#include <inttypes.h>
#include <stddef.h>
#include "apps/libc/state.h"
#include "apps/tools/watchd/lines.h"

#define WORD(field) (offsetof(struct sys_breakdown, field) / sizeof(uint64_t))

const char *const show_causes[7] = {
    "instruction_cache", "branch", "data_cache", "translation", "other", "front_end", "back_end"};
const char *const show_sources[7] = {"l1",        "local_l2",     "local_l3",     "remote_l2",
                                     "remote_l3", "local_memory", "remote_memory"};

static double us(uint64_t ns)
{
    return (double)ns / 1000;
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* Writes "name":[...] of n numbers. */
static void numbers(struct text *t, const char *name, const uint64_t *v, unsigned n)
{
    text_say(t, "\"%s\":[", name);
    for (unsigned i = 0; i < n; i++)
        text_say(t, "%s%" PRIu64, i ? "," : "", v[i]);
    text_bytes(t, "]", 1);
}

/* Writes ,"name":"word". */
static void add_word(struct text *t, const char *name, const char *word)
{
    text_say(t, ",\"%s\":", name);
    text_json(t, word);
}

static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* A process's or thread's number of a place, -1: none. */
static int place(uint32_t n)
{
    return n == SYS_NOWHERE ? -1 : (int)n;
}

/* ---- What does not change -------------------------------------------------------------------- */

static void names(struct text *t, const char *key, const char *const *name, uint64_t counted)
{
    text_say(t, "\"%s\":[", key);
    for (unsigned i = 0; i < 7; i++)
        text_say(t, "%s{\"name\":\"%s\",\"counted\":%s}", i ? "," : "", name[i],
                 counted >> i & 1 ? "true" : "false");
    text_bytes(t, "]", 1);
}

void show_about(struct text *t, const struct machine *m)
{
    const struct sys_breakdown *b = &m->cycles.total;
    char arch[STATE_ARCH_MAX];

    state_arch(arch);
    text_say(t,
             "{\"version\":1,\"arch\":\"%s\",\"counters\":%s,\"model_time\":%s,"
             "\"chips\":%d,\"cpus\":[",
             arch, m->counts ? "true" : "false", m->model ? "true" : "false", m->chips);
    for (int i = 0; i < m->cpus; i++)
        text_say(t, "%s{\"chip\":%d,\"core\":%d,\"node\":%d}", i ? "," : "", m->cpu[i].chip,
                 m->cpu[i].core, m->cpu[i].node);
    text_say(t, "],");
    names(t, "causes", show_causes, b->counted >> WORD(stall));
    text_say(t, ",");
    names(t, "sources", show_sources, b->counted >> WORD(dcache));
    text_say(t, ",");
    numbers(t, "latency_cycles", b->latency, 7);
    text_say(t, "}");
}

/* ---- Cycles ---------------------------------------------------------------------------------- */

/* Where cycles went. A source whose cycles are not counted is estimated: accesses by latency. */
static void cycles(struct text *t, const struct sys_breakdown *b)
{
    text_say(t,
             "{\"cycles\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"idle\":%" PRIu64
             ",\"seen\":%" PRIu64 ",",
             b->cycles, b->instructions, b->idle_cycles, b->seen_cycles);
    numbers(t, "stall", b->stall, 7);
    text_say(t, ",");
    numbers(t, "source", b->dcache, 7);
    text_say(t, ",");
    numbers(t, "served", b->served, 7);
    text_say(t, "}");
}

/* ---- Threads and processes ------------------------------------------------------------------- */

static void thread(struct text *t, const struct machine_thread *th)
{
    const struct sys_thread_state *n = &th->now, *b = &th->before;
    const char *const states[] = {"blocked", "ready", "running"};

    text_say(t,
             "{\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"cpu\":%" PRIu32
             ",\"home\":%d,\"cluster\":%d,\"group\":%d,\"state\":\"%s\",\"run_us\":%.1f,"
             "\"wait_us\":%.1f,\"moves\":%" PRIu64 ",\"b\":",
             n->pid, n->tid, n->cpu, place(n->home), place(n->cluster), place(n->group),
             states[n->state < 3 ? n->state : 0], us(since(n->run_ns, b->run_ns)),
             us(since(n->ready_ns, b->ready_ns)), n->migrations);
    cycles(t, &th->cycles.since);
    text_say(t, "}");
}

static void threads(struct text *t, const struct machine *m)
{
    text_say(t, "\"threads\":[");
    for (int i = 0; i < m->threads; i++) {
        text_bytes(t, ",", i > 0);
        thread(t, m->thread[i]);
    }
    text_say(t, "],\"threads_left_out\":%d,\"moves\":[", m->threads_left_out);
    for (int i = 0; i < m->moves; i++)
        text_say(t,
                 "%s{\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"from\":%" PRIu32 ",\"to\":%" PRIu32
                 "}",
                 i ? "," : "", m->move[i].pid, m->move[i].tid, m->move[i].from, m->move[i].to);
    text_say(t, "]");
}

static void memory(struct text *t, const struct machine_process *p)
{
    const struct sys_memory *n = &p->memory, *b = &p->memory_before;

    text_say(t,
             "{\"mapped\":%" PRIu64 ",\"resident\":%" PRIu64 ",\"swapped\":%" PRIu64
             ",\"limit\":%" PRIu64 ",\"pool\":%" PRIu64 ",\"planned\":%" PRIu64 ",\"hot\":%" PRIu64
             ",",
             n->mapped_bytes, n->resident_bytes, n->swapped_bytes, n->limit_bytes, n->pool_bytes,
             n->planned_bytes, n->hot_bytes);
    text_say(t,
             "\"faults\":%" PRIu64 ",\"major\":%" PRIu64 ",\"page_ins\":%" PRIu64
             ",\"page_outs\":%" PRIu64 ",\"prefetched\":%" PRIu64 ",\"prefetch_used\":%" PRIu64
             ",\"waited_us\":%.1f,\"policy\":",
             since(n->faults, b->faults), since(n->own_major_faults, b->own_major_faults),
             since(n->page_ins, b->page_ins), since(n->page_outs, b->page_outs),
             since(n->prefetched, b->prefetched), since(n->prefetched_used, b->prefetched_used),
             us(since(n->own_waited_ns, b->own_waited_ns)));
    text_json(t, n->policy);
    add_word(t, "in_force", n->in_force);
    add_word(t, "prefetch", n->prefetch);
    add_word(t, "tracker", n->tracker);
    text_say(t, "}");
}

static void curve(struct text *t, const struct sys_curve *c)
{
    text_say(t,
             "{\"pages\":%" PRIu64 ",\"accesses\":%" PRIu64 ",\"first_uses\":%" PRIu64
             ",\"epochs\":%" PRIu64 ",",
             c->pages, c->accesses, c->first_uses, c->epochs);
    numbers(t, "lru", c->lru, c->points < SYS_CURVE_POINTS ? c->points : SYS_CURVE_POINTS);
    text_say(t, "}");
}

/* ---- Sharing --------------------------------------------------------------------------------- */

static void shmap_row(struct text *t, const struct sys_sharing *s, uint32_t row)
{
    static const char digits[] = "0123456789abcdef";

    text_say(t, "%s{\"tid\":%" PRIu32 ",\"cluster\":%d,\"why\":", row ? "," : "", s->tid[row],
             s->cluster[row]);
    text_json(t, s->why[row]);
    text_say(t, ",\"counts\":\"");
    for (uint32_t c = 0; c < s->columns; c++) {
        uint8_t n = s->count[row * s->columns + c];
        text_bytes(t, (char[]){digits[n >> 4], digits[n & 15]}, 2);
    }
    text_say(t, "\"}");
}

static void sharing(struct text *t, const struct machine_process *p)
{
    const struct sys_sharing *s = &p->sharing;

    text_say(t,
             "{\"detecting\":%s,\"remote_permille\":%" PRIu32 ",\"detections\":%" PRIu64
             ",\"migrations\":%" PRIu64 ",\"taken_back\":%" PRIu32 ",\"samples\":%" PRIu64
             ",\"lost\":%" PRIu64 ",\"cost_us\":%.1f,\"passed_us\":%.1f,\"map\":",
             s->detecting ? "true" : "false", s->remote_permille, s->detections, s->migrations,
             s->taken_back, s->all_samples, s->lost, us(s->cost_ns), us(s->passed_ns));
    if (!s->time_ns || s->rows > SYS_SHARING_ROWS || s->columns > SYS_SHARING_COLUMNS) {
        text_say(t, "null}");
        return;
    }
    text_say(t,
             "{\"ms\":%.3f,\"later_ms\":%.3f,\"samples\":%" PRIu64 ",\"threads\":%" PRIu32
             ",\"clusters\":%" PRIu32 ",\"lines\":%" PRIu32 ",\"global_lines\":%" PRIu32
             ",\"line_bytes\":%" PRIu32 ",\"line\":[",
             ms(s->time_ns), ms(p->later_ns), s->samples, s->threads, s->clusters, s->lines,
             s->global_lines, s->line_bytes);
    for (uint32_t i = 0; i < s->columns; i++)
        text_say(t, "%s\"%" PRIx64 "\"", i ? "," : "", s->line[i]);
    text_say(t, "],\"rows\":[");
    for (uint32_t i = 0; i < s->rows; i++)
        shmap_row(t, s, i);
    text_say(t, "]}}");
}

static void processes(struct text *t, const struct machine *m)
{
    text_say(t, "\"processes\":[");
    for (int i = 0; i < m->processes; i++) {
        const struct machine_process *p = m->process[i];
        text_say(t, "%s{\"pid\":%" PRIu32 ",\"name\":", i ? "," : "", p->pid);
        text_json(t, p->name);
        text_say(t, ",\"threads\":%" PRIu32 ",\"b\":", p->threads);
        cycles(t, &p->cycles.since);
        text_say(t, ",\"memory\":");
        memory(t, p);
        text_say(t, ",\"curve\":");
        if (p->has_curve)
            curve(t, &p->curve);
        else
            text_say(t, "null");
        text_say(t, ",\"sharing\":");
        if (p->has_sharing)
            sharing(t, p);
        else
            text_say(t, "null");
        text_say(t, "}");
    }
    text_say(t, "]");
}

static void decisions(struct text *t, const struct machine *m)
{
    text_say(t, "\"decisions_lost\":%" PRIu64 ",\"decisions\":[", m->decisions_lost);
    for (int i = 0; i < m->decisions; i++) {
        const struct sys_decision *d = &m->decision[i];
        text_say(t, "%s{\"number\":%" PRIu64 ",\"ms\":%.3f,\"pid\":%" PRIu32 ",\"phase\":",
                 i ? "," : "", d->number, ms(d->time_ns), d->pid);
        text_json(t, d->phase);
        add_word(t, "reason", d->reason);
        add_word(t, "text", d->text);
        text_say(t, "}");
    }
    text_say(t, "]");
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void value(struct text *t, const struct sys_hpm_value *v)
{
    static const char *const sure[] = {"exact",     "interval", "short", "unseen",
                                       "published", "beyond",   "none"};

    text_say(t, "{\"seen_permille\":%" PRIu32, v->seen_permille);
    if (v->kind == SYS_VALUE_METRIC && v->trouble)
        text_say(t, ",\"value\":null");
    else if (v->kind == SYS_VALUE_METRIC)
        text_say(t, ",\"value\":%.6f", (double)v->millionths / 1e6);
    else
        text_say(t, ",\"sure\":\"%s\",\"value\":%" PRIu64 ",\"low\":%" PRIu64, sure[v->sure % 7],
                 v->count, v->low);
    if (v->kind == SYS_VALUE_COUNT && v->sure <= SYS_SURE_INTERVAL)
        text_say(t, ",\"high\":%" PRIu64, v->high);
    text_say(t, "}");
}

static void event(struct text *t, const struct sys_hpm_value *now,
                  const struct sys_hpm_value *total)
{
    text_say(t, "{\"name\":");
    text_json(t, now->name);
    add_word(t, "unit", now->unit);
    text_say(t, ",\"now\":");
    value(t, now);
    text_say(t, ",\"total\":");
    value(t, total);
    text_say(t, "}");
}

static void events(struct text *t, const struct machine *m)
{
    text_say(t, "\"events_why\":");
    text_json(t, m->events_why);
    text_say(t, ",\"events\":[");
    for (int i = 0; i < m->events; i++) {
        text_bytes(t, ",", i > 0);
        event(t, &m->event[i], &m->event_total[i]);
    }
    text_say(t, "]");
}

/* ---- A reading ------------------------------------------------------------------------------- */

static void cpus(struct text *t, const struct machine *m)
{
    text_say(t, "\"cpus\":[");
    for (int i = 0; i < m->cpus; i++)
        text_say(t, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
                 since(m->cpu[i].busy_cycles, m->cpu_before[i].busy_cycles),
                 since(m->cpu[i].idle_cycles, m->cpu_before[i].idle_cycles));
    text_say(t, "]");
}

/* Writes when a reading was made, and where cycles went since the one before. */
static void begin_reading(struct text *t, const struct machine *m)
{
    text_say(t, "{\"reading\":%" PRIu64 ",\"ms\":%.3f,\"since_ms\":%.3f,\"b\":", m->reading,
             ms(m->ns), ms(m->ns - m->before_ns));
    cycles(t, &m->cycles.since);
    text_say(t, ",");
}

void show_past(struct text *t, const struct machine *m)
{
    begin_reading(t, m);
    decisions(t, m);
    text_say(t, "}");
}

void show_tick(struct text *t, const struct machine *m, const struct watch_self *self)
{
    begin_reading(t, m);
    cpus(t, m);
    text_say(t, ",");
    processes(t, m);
    text_say(t, ",");
    threads(t, m);
    text_say(t, ",");
    decisions(t, m);
    text_say(t, ",");
    events(t, m);
    text_say(t, ",");
    lines_show(t, m);
    text_say(t, ",\"network\":");
    network_show(t, &m->network);
    text_say(t,
             ",\"self\":{\"pid\":%" PRIu32 ",\"took_us\":%.1f,\"interval_ms\":%" PRIu64
             ",\"readers\":%" PRIu32 ",\"requests\":%" PRIu64 ",\"refused\":%" PRIu64
             ",\"snapshots_dropped\":%" PRIu64 ",\"knobs\":%s}}",
             self->pid, us(m->took_ns), self->interval_ms, self->readers, self->requests,
             self->refused, self->snapshots_dropped, self->knobs ? "true" : "false");
}

void show_knobs(struct text *t)
{
    static const char *const live[] = {"boot", "now", "next"};
    struct sys_knob k;
    uint32_t cursor = 0;

    text_say(t, "[");
    for (unsigned i = 0; !knob_list(&cursor, &k); i++) {
        text_say(t, "%s{\"name\":", i ? "," : "");
        text_json(t, k.name);
        add_word(t, "value", k.value);
        add_word(t, "accepts", k.accepts);
        add_word(t, "help", k.help);
        text_say(t, ",\"live\":\"%s\"}", live[k.live % 3]);
    }
    text_say(t, "]");
}
