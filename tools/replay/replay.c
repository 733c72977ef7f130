/* A page trace through replacement policies, at several sizes of memory, and through OPT. */
#include <stdlib.h>
#include <string.h>
#include "tools/replay/replay.h"
#include "tools/replay/simulate.h"

/* ---- What is asked for ----------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static int one_size(const char **at, uint32_t pages, uint32_t *out, char *why)
{
    char *end;
    unsigned long long n = strtoull(*at, &end, 10);
    bool percent = end != *at && *end == '%';

    if (end == *at || **at < '0' || **at > '9' || n == 0 || (percent && n > 100) ||
        n > REPLACE_NODES_MAX) {
        snprintf(
            why, TRACE_WHY,
            "--frames: expected a number of pages from 1 to %u, or 1%% to 100%%, found \"%.20s\"",
            REPLACE_NODES_MAX, *at);
        return -EINVAL;
    }
    *out = MAX(percent ? (uint32_t)(n * pages / 100) : (uint32_t)n, 1u);
    end += percent;
    if (*end && *end != ',') {
        snprintf(why, TRACE_WHY, "--frames: expected a comma, found \"%.20s\"", end);
        return -EINVAL;
    }
    *at = *end ? end + 1 : end;
    return 0;
}

int replay_sizes(struct replay_request *q, const char *list, unsigned points,
                 const struct page_trace *t, char why[TRACE_WHY])
{
    q->sizes = 0;
    for (unsigned i = 1; !list && i <= MIN(points, (unsigned)REPLAY_SIZES_MAX); i++)
        q->frames[q->sizes++] = MAX((uint32_t)((uint64_t)t->pages * i / points), 1u);
    for (const char *at = list; at && (*at || at == list);) {
        if (q->sizes == REPLAY_SIZES_MAX) {
            snprintf(why, TRACE_WHY, "--frames: expected %u sizes at most", REPLAY_SIZES_MAX);
            return -EINVAL;
        }
        int rc = one_size(&at, t->pages, &q->frames[q->sizes++], why);
        if (rc)
            return rc;
    }
    qsort(q->frames, q->sizes, sizeof *q->frames, by_number);
    return 0;
}

int replay_policies(struct replay_request *q, const char *list, char why[TRACE_WHY])
{
    q->policies = 0;
    for (unsigned i = 0; !list && replace_policies[i] && i < REPLAY_POLICIES_MAX; i++)
        q->policy[q->policies++] = replace_policies[i];
    for (const char *at = list; at;) {
        char name[32] = "";
        size_t length = strcspn(at, ",");
        memcpy(name, at, MIN(length, sizeof name - 1));
        const struct replace_ops *ops = replace_find(name);
        if (ops && q->policies == REPLAY_POLICIES_MAX) {
            snprintf(why, TRACE_WHY, "--policy: expected %u policies at most", REPLAY_POLICIES_MAX);
            return -EINVAL;
        }
        if (!ops) {
            int n = snprintf(why, TRACE_WHY, "--policy: expected one of");
            for (const struct replace_ops *const *p = replace_policies; *p; p++)
                n += snprintf(why + n, TRACE_WHY - (size_t)n, " %s", (*p)->name);
            snprintf(why + n, TRACE_WHY - (size_t)n, ", found \"%s\"", name);
            return -EINVAL;
        }
        q->policy[q->policies++] = ops;
        at = at[length] ? at + length + 1 : NULL;
    }
    return 0;
}

/* Asks a chooser of a small memory for its experts. */
static struct replace_report chooser_experts(void)
{
    struct replace_config config = {.nodes = 16, .frames = 4};
    struct replace_report report = {.experts = 0};
    struct simulation s;

    if (!simulation_start(&s, &replace_chooser, &config, 0)) {
        replace_chooser.report(s.state, &report);
        simulation_end(&s);
    }
    return report;
}

int replay_first(const struct replay_request *q, char why[TRACE_WHY])
{
    struct replace_report chooser = chooser_experts();
    bool chooses = false;
    int n;

    for (unsigned p = 0; p < q->policies; p++)
        chooses |= q->policy[p] == &replace_chooser;
    if (!q->first)
        return 0;
    if (!chooses) {
        snprintf(why, TRACE_WHY, "--first: expected chooser in --policy: no other has one");
        return -EINVAL;
    }
    n = snprintf(why, TRACE_WHY, "--first: expected one of");
    for (unsigned e = 0; e < chooser.experts; e++) {
        if (!strcmp(q->first, chooser.expert[e].policy))
            return 0;
        n += snprintf(why + n, TRACE_WHY - (size_t)n, " %s", chooser.expert[e].policy);
    }
    snprintf(why + n, TRACE_WHY - (size_t)n, ", found \"%.40s\"", q->first);
    return -EINVAL;
}

int replay_fits(const struct replay_request *q, const struct page_trace *t, uint32_t space,
                char why[TRACE_WHY])
{
    if (space != TRACE_SPACES && t->format != TRACE_VIGIL) {
        snprintf(why, TRACE_WHY, "--space: expected a trace in format vigil, found %s",
                 trace_format_names[t->format]);
        return -EINVAL;
    }
    if (q->prefetch && !t->prefetched) {
        snprintf(why, TRACE_WHY,
                 "--prefetch: expected a trace that says which pages were read ahead");
        return -EINVAL;
    }
    return 0;
}

/* ---- Running --------------------------------------------------------------------------------- */

static int run_policy(const struct replay_request *q, const struct replace_ops *ops,
                      uint32_t frames, const struct page_trace *t, uint64_t *misses)
{
    struct replace_config config = {
        .nodes = t->pages, .frames = frames, .seed = q->seed, .first = q->first};
    struct simulation s;
    int rc = simulation_start(&s, ops, &config, q->buffer);

    if (rc)
        return rc;
    for (size_t i = 0; i < t->length; i++) {
        if (t->event[i] == TRACE_ACCESS)
            simulation_access(&s, t->page[i]);
        else if (t->event[i] == TRACE_UNMAPPED)
            simulation_unmap(&s, t->page[i]);
        else if (q->prefetch)
            simulation_prefetch(&s, t->page[i]);
    }
    *misses = s.misses;
    simulation_end(&s);
    return 0;
}

static int run_optimum(const struct replay_request *q, const struct page_trace *t,
                       struct replay_result *out)
{
    uint32_t *page = malloc((t->accesses + 1) * sizeof *page);
    struct access_trace used = {.page = page, .pages = t->pages};
    int rc = page ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < t->length; i++)
        if (t->event[i] == TRACE_ACCESS)
            page[used.length++] = t->page[i];
    for (unsigned s = 0; !rc && s < q->sizes; s++)
        rc = belady(&used, q->frames[s], &out->misses[s][0]);
    free(page);
    return rc;
}

int replay_run(const struct replay_request *q, const struct page_trace *t,
               struct replay_result *out)
{
    int rc = run_optimum(q, t, out);

    for (unsigned s = 0; s < q->sizes; s++)
        for (unsigned p = 0; !rc && p < q->policies; p++)
            rc = run_policy(q, q->policy[p], q->frames[s], t, &out->misses[s][1 + p]);
    return rc;
}

/* ---- Showing --------------------------------------------------------------------------------- */

void replay_print(FILE *out, const struct replay_request *q, const struct page_trace *t,
                  const struct replay_result *result)
{
    fprintf(out, "trace: format=%s pages=%u accesses=%llu lost=%llu\n",
            trace_format_names[t->format], t->pages, (unsigned long long)t->accesses,
            (unsigned long long)t->lost);
    fprintf(out, "%10s %12s", "frames", "opt");
    for (unsigned p = 0; p < q->policies; p++)
        fprintf(out, " %12s", q->policy[p]->name);
    for (unsigned s = 0; s < q->sizes; s++) {
        fprintf(out, "\n%10u", q->frames[s]);
        for (unsigned p = 0; p <= q->policies; p++)
            fprintf(out, " %12llu", (unsigned long long)result->misses[s][p]);
    }
    fprintf(out, "\n");
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), e = strlen(end);

    return n > e && !strcmp(name + n - e, end);
}

static void plot_data(FILE *gnuplot, const struct replay_request *q, const struct page_trace *t,
                      const struct replay_result *result)
{
    for (unsigned p = 0; p <= q->policies; p++) {
        for (unsigned s = 0; s < q->sizes; s++)
            fprintf(gnuplot, "%u %.6f\n", q->frames[s],
                    100.0 * (double)result->misses[s][p] / (double)t->accesses);
        fprintf(gnuplot, "e\n");
    }
}

int replay_plot_to(const char *file, char why[TRACE_WHY])
{
    if ((!ends_in(file, ".svg") && !ends_in(file, ".png")) || strchr(file, '\'')) {
        snprintf(why, TRACE_WHY,
                 "--plot: expected a name that ends in .svg or .png, found \"%.60s\"", file);
        return -EINVAL;
    }
    FILE *f = fopen(file, "a");
    if (!f) {
        snprintf(why, TRACE_WHY, "--plot: cannot write \"%.60s\": %s", file, strerror(errno));
        return -EINVAL;
    }
    fclose(f);
    return 0;
}

int replay_plot(const char *file, const struct replay_request *q, const struct page_trace *t,
                const struct replay_result *result, char why[TRACE_WHY])
{
    bool svg = ends_in(file, ".svg");
    /* its output if the file cannot be written */
    FILE *gnuplot = popen("gnuplot >/dev/null", "w");

    if (!gnuplot) {
        snprintf(why, TRACE_WHY, "--plot: gnuplot does not start");
        return -EINVAL;
    }
    fprintf(gnuplot,
            "set terminal %s size 800,500\nset output '%s'\nset xlabel 'frames'\nset ylabel "
            "'misses, percent "
            "of accesses'\n"
            "set yrange [0:*]\nset key outside right\nplot ",
            svg ? "svg" : "pngcairo", file);
    for (unsigned p = 0; p <= q->policies; p++)
        fprintf(gnuplot, "%s'-' with linespoints title '%s'", p ? ", " : "",
                p ? q->policy[p - 1]->name : "opt");
    fprintf(gnuplot, "\n");
    plot_data(gnuplot, q, t, result);
    if (pclose(gnuplot)) {
        snprintf(why, TRACE_WHY, "--plot: gnuplot failed on \"%.60s\"", file);
        return -EINVAL;
    }
    return 0;
}
