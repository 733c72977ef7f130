/* vigil-replay: the misses of a page trace by replacement policy and size of memory.
 * docs/use/memory.md. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "test/machine/path.h"
#include "tools/replay/replay.h"

void panic(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

static const char usage[] =
    "usage: vigil-replay [options] TRACE\n"
    "  --policy NAME,...   lru clock mru lirs lirs-recent arc sieve s3fifo wtinylfu "
    "wtinylfu-margin gap "
    "region\n"
    "                      chooser: all, if not given\n"
    "  --frames N,...      sizes of memory in pages, or percents of the pages of the trace: "
    "1000,20%\n"
    "  --points N          that many sizes, evenly up to all pages (20), if --frames is not given\n"
    "  --format NAME       vigil text lirs u32 u64 oracle: guessed, if not given\n"
    "  --space N           of a trace of Vigil's: one address space\n"
    "  --first NAME        the policy that the chooser starts with\n"
    "  --seed N            of policies that draw or hash (1)\n"
    "  --buffer N          the trace is of TLB misses, and a page access buffer of N entries comes "
    "before "
    "the policies\n"
    "  --prefetch          the trace's prefetched pages become resident as recorded; OPT never "
    "prefetches\n"
    "  --plot FILE         miss-rate curves, as .svg or .png\n";

struct options {
    const char *policy, *frames, *plot, *file;
    enum trace_format format;
    uint32_t space;
    unsigned points;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "vigil-replay: %s: %s\n", what, why);
    exit(2);
}

static unsigned long long number(const char *option, const char *text, unsigned long long least,
                                 unsigned long long most)
{
    char *end, why[TRACE_WHY];

    errno = 0;
    unsigned long long n = strtoull(text, &end, 0);
    if (errno || end == text || *end || *text == '-' || n < least || n > most) {
        snprintf(why, sizeof why, "expected a number from %llu to %llu, found \"%.40s\"", least,
                 most, text);
        fail(option, why);
    }
    return n;
}

static enum trace_format format(const char *name)
{
    for (unsigned f = 0; f < TRACE_FORMATS; f++)
        if (!strcmp(trace_format_names[f], name))
            return f;
    fail("--format", "expected one of vigil text lirs u32 u64 oracle");
    return TRACE_GUESS;
}

static uint32_t buffer(const char *text)
{
    uint32_t entries =
        (uint32_t)number("--buffer", text, MACHINE_PATH_PAB_MIN, MACHINE_PATH_PAB_MAX);

    if (!is_pow2(entries))
        fail("--buffer", "expected a power of two");
    return entries;
}

static void parse(int argc, char **argv, struct options *o, struct replay_request *q)
{
    static const struct option names[] = {
        {"policy", 1, NULL, 'p'},   {"frames", 1, NULL, 'f'}, {"points", 1, NULL, 'n'},
        {"format", 1, NULL, 'F'},   {"space", 1, NULL, 's'},  {"first", 1, NULL, '1'},
        {"seed", 1, NULL, 'r'},     {"plot", 1, NULL, 'P'},   {"help", 0, NULL, 'h'},
        {"prefetch", 0, NULL, 'x'}, {"buffer", 1, NULL, 'b'}, {NULL, 0, NULL, 0},
    };

    for (int c; (c = getopt_long(argc, argv, "h", names, NULL)) != -1;)
        switch (c) {
        case 'p':
            o->policy = optarg;
            break;
        case 'f':
            o->frames = optarg;
            break;
        case 'n':
            o->points = (unsigned)number("--points", optarg, 1, REPLAY_SIZES_MAX);
            break;
        case 'F':
            o->format = format(optarg);
            break;
        case 's':
            o->space = (uint32_t)number("--space", optarg, 0, TRACE_SPACES - 1);
            break;
        case '1':
            q->first = optarg;
            break;
        case 'r':
            q->seed = number("--seed", optarg, 0, UINT64_MAX);
            break;
        case 'P':
            o->plot = optarg;
            break;
        case 'b':
            q->buffer = buffer(optarg);
            break;
        case 'x':
            q->prefetch = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            fputs(usage, stderr);
            exit(2);
        }
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        exit(2);
    }
    o->file = argv[optind];
}

static uint8_t *read_file(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    uint8_t *data = NULL;
    size_t room = 0, n = 1;

    if (!f)
        fail(name, strerror(errno));
    for (*size = 0; n > 0; *size += n) {
        if (*size == room) {
            room = room ? room * 2 : 1 << 16;
            data = realloc(data, room);
            if (!data)
                fail(name, "no memory to read it into");
        }
        n = fread(data + *size, 1, room - *size, f);
    }
    if (ferror(f))
        fail(name, strerror(errno));
    fclose(f);
    return data;
}

int main(int argc, char **argv)
{
    static struct replay_result result;
    static struct replay_request q = {.seed = 1};
    struct options o = {.points = 20, .space = TRACE_SPACES};
    struct page_trace t;
    char why[TRACE_WHY];
    size_t size;

    parse(argc, argv, &o, &q);
    if (replay_policies(&q, o.policy, why) || replay_first(&q, why) ||
        (o.plot && replay_plot_to(o.plot, why)))
        fail("options", why);
    uint8_t *data = read_file(o.file, &size);
    int rc = trace_open(&t, data, size, o.format, o.space, why);
    if (rc)
        fail(o.file, rc == -ENOMEM ? "no memory" : why);
    free(data);
    if (replay_fits(&q, &t, o.space, why) || replay_sizes(&q, o.frames, o.points, &t, why))
        fail("options", why);
    rc = replay_run(&q, &t, &result);
    if (rc)
        fail(o.file, rc == -ENOMEM ? "no memory" : "a policy refuses this number of pages");
    replay_print(stdout, &q, &t, &result);
    if (fflush(stdout) || ferror(stdout))
        fail("standard output", strerror(errno));
    if (o.plot && replay_plot(o.plot, &q, &t, &result, why))
        fail("options", why);
    trace_close(&t);
    return 0;
}
