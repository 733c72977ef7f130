/*
 * Traces written in the Common Trace Format are read back equal by babeltrace2, the format's
 * reference reader: events with every kind of field, several packets and CPUs, discarded events.
 */
#include "test/host/double/expect_panic.h"
#include <sys/stat.h>
#include <unistd.h>
#include "kernel/trace/ctf.h"

#define PACKET 512
#define CPUS   3
#define EVENTS 400

static const char *const colours[] = {"red", "green", "blue", NULL};
static const struct ctf_event types[] = {
    {"numbers", (const struct ctf_field[]){{"small", CTF_U8, NULL},
                                           {"middle", CTF_U16, NULL},
                                           {"large", CTF_U32, NULL},
                                           {"huge", CTF_U64, NULL},
                                           {"less", CTF_S32, NULL},
                                           {0}}},
    {"address",
     (const struct ctf_field[]){{"at", CTF_HEX, NULL}, {"colour", CTF_U8, colours}, {0}}},
    {"words",
     (const struct ctf_field[]){
         {"first", CTF_TEXT, NULL}, {"n", CTF_U8, NULL}, {"last", CTF_TEXT, NULL}, {0}}},
    {"nothing", (const struct ctf_field[]){{0}}},
    {0},
};
static const uint8_t uuid[CTF_UUID_BYTES] = {0xde, 0xad, 0xbe, 0xef, 1, 2,  3,  4,
                                             5,    6,    7,    8,    9, 10, 11, 0xff};
static const struct ctf_trace trace = {uuid, types, 1000000000, "test", "0 0 1"};

static char folder[] = "/tmp/vigil-ctf.XXXXXX", output[1 << 20];

static FILE *create(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    return f;
}

/* Runs the reader and keeps its output, errors included. */
static int read_back(const char *options)
{
    char command[256];
    snprintf(command, sizeof(command), "babeltrace2 %s %s 2>&1", options, folder);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(output, 1, sizeof(output) - 1, f);
    output[n] = '\0';
    return pclose(f);
}

static void write_metadata(void)
{
    static char text[16384];
    size_t n = ctf_describe(&trace, text, sizeof(text));
    assert_true(n < sizeof(text) && strlen(text) == n);
    FILE *f = create("metadata");
    fputs(text, f);
    fclose(f);
}

static struct stream {
    FILE *file;
    struct ctf_packet packet;
    struct ctf_context context;
    uint8_t memory[PACKET];
} streams[CPUS];

static void end_packet(struct stream *s, uint64_t now)
{
    uint32_t bytes = ctf_end(&s->packet, now, &s->context);
    assert_true(bytes <= PACKET && bytes % 8 == 0);
    assert_int_equal(fwrite(s->memory, 1, bytes, s->file), bytes);
    s->context.sequence++;
    ctf_begin(&s->packet, s->memory, PACKET, now);
}

static void open_streams(void)
{
    char name[32];

    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        snprintf(name, sizeof(name), "cpu%u", cpu);
        streams[cpu].file = create(name);
        streams[cpu].context = (struct ctf_context){uuid, cpu, 0, 0};
        ctf_begin(&streams[cpu].packet, streams[cpu].memory, PACKET, 1000);
        end_packet(&streams[cpu], 1000); /* discarded events are counted relative to a packet */
    }
}

static void close_streams(uint64_t now)
{
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        end_packet(&streams[cpu], now);
        fclose(streams[cpu].file);
    }
}

static void record(unsigned cpu, unsigned id, uint64_t now, const uint64_t *values)
{
    struct stream *s = &streams[cpu];

    if (ctf_put(&s->packet, types, id, now, values))
        return;
    end_packet(s, now);
    assert_true(ctf_put(&s->packet, types, id, now, values));
}

static int group_begin(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int group_end(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

/* Invents an event of a random type with random values, and the line that the reader must print. */
static unsigned invent(uint64_t *seed, uint64_t *values, char *text, size_t size)
{
    static const char *const phrases[] = {"", "a", "two words", "with, punctuation = {1}"};
    unsigned id = test_random(seed) % 4;

    for (unsigned i = 0; i < 5; i++)
        values[i] = test_random(seed) >> test_random(seed) % 64;
    switch (id) {
    case 0:
        snprintf(text, size, "numbers: small = %u, middle = %u, large = %u, huge = %llu, less = %d",
                 (uint8_t)values[0], (uint16_t)values[1], (uint32_t)values[2],
                 (unsigned long long)values[3], (int32_t)values[4]);
        break;
    case 1:
        values[1] %= 3;
        snprintf(text, size, "address: at = 0x%llX, colour = ( \"%s\" : container = %u )",
                 (unsigned long long)values[0], colours[values[1]], (unsigned)values[1]);
        break;
    case 2: {
        const char *first = phrases[values[0] % 4], *last = phrases[values[2] % 4];
        values[0] = ctf_text(first);
        values[2] = ctf_text(last);
        snprintf(text, size, "words: first = \"%s\", n = %u, last = \"%s\"", *first ? first : "-",
                 (uint8_t)values[1], *last ? last : "-");
        break;
    }
    default:
        snprintf(text, size, "nothing:");
        break;
    }
    return id;
}

/* Splits "[123] name: { cpu_id = 1 }, { fields }" into the text of invent(), the time and the
 * CPU. */
static bool take_line(char **at, unsigned long long *time, unsigned *cpu, char *text, size_t size)
{
    char name[32], *line = *at, *end = strchr(line, '\n');
    int used = 0;

    if (!end)
        return false;
    *end = '\0';
    *at = end + 1;
    if (sscanf(line, "[%llu] %31[a-z]: { cpu_id = %u }%n", time, name, cpu, &used) != 3)
        fail_msg("not an event: %s", line);
    const char *fields = line + used;
    if (!strncmp(fields, ", { ", 4) && fields[4] != '}') {
        end[-2] = '\0'; /* " }" */
        snprintf(text, size, "%s: %s", name, fields + 4);
    } else {
        snprintf(text, size, "%s:", name);
    }
    return true;
}

static void events_are_read_back_equal(void **state)
{
    static char expected[EVENTS][256], text[512];
    static uint64_t times[EVENTS];
    static unsigned cpus[EVENTS];
    uint64_t seed = 42, now = 1000, values[8];
    unsigned cpu;
    unsigned long long time;

    (void)state;
    write_metadata();
    open_streams();
    for (unsigned i = 0; i < EVENTS; i++) {
        times[i] = now += 1 + test_random(&seed) % 1000000;
        cpus[i] = test_random(&seed) % CPUS;
        record(cpus[i], invent(&seed, values, expected[i], sizeof(expected[i])), now, values);
    }
    close_streams(now + 5);
    assert_int_equal(read_back("--clock-cycles --no-delta"), 0);
    assert_null(strstr(output, "WARNING"));
    char *at = output;
    for (unsigned i = 0; i < EVENTS; i++) {
        assert_true(take_line(&at, &time, &cpu, text, sizeof(text)));
        assert_int_equal(time, times[i]);
        assert_int_equal(cpu, cpus[i]);
        assert_string_equal(text, expected[i]);
    }
    assert_int_equal(*at, '\0');
    assert_true(streams[0].context.sequence > 5);
}

static void what_was_discarded_is_reported(void **state)
{
    const uint64_t values[] = {0x1234, 1};

    (void)state;
    write_metadata();
    open_streams();
    record(1, 1, 2000, values);
    streams[1].context.discarded = 3;
    end_packet(&streams[1], 3000);
    record(1, 1, 4000, values);
    streams[1].context.discarded = 10;
    close_streams(5000);
    assert_int_equal(read_back("--clock-cycles"), 0);
    assert_non_null(strstr(output, "discarded 7 events"));
    assert_non_null(strstr(output, "discarded 3 events"));
}

static void a_missing_packet_is_reported(void **state)
{
    const uint64_t values[] = {0x1234, 1};

    (void)state;
    write_metadata();
    open_streams();
    record(2, 1, 2000, values);
    end_packet(&streams[2], 3000);
    streams[2].context.sequence += 4;
    record(2, 1, 4000, values);
    close_streams(5000);
    read_back("--clock-cycles");
    assert_non_null(strstr(output, "4 packets"));
}

/* The same text in packets, as it is sent. */
static void a_description_in_packets_is_read(void **state)
{
    static char text[16384];
    uint8_t memory[256];
    const uint64_t values[] = {0xabc, 2};
    uint32_t total = (uint32_t)ctf_describe(&trace, text, sizeof(text));
    FILE *f = create("metadata");

    (void)state;
    for (uint32_t at = 0, n; at < total; at += n) {
        n = MIN((uint32_t)sizeof(memory) - CTF_METADATA_HEADER_BYTES - 8, total - at);
        uint32_t bytes = ctf_metadata(memory, uuid, text + at, n);
        assert_true(bytes <= sizeof(memory) && bytes % 8 == 0);
        assert_int_equal(fwrite(memory, 1, bytes, f), bytes);
    }
    fclose(f);
    open_streams();
    record(0, 1, 2000, values);
    close_streams(5000);
    assert_int_equal(read_back("--clock-cycles"), 0);
    assert_non_null(strstr(output, "at = 0xABC, colour = ( \"blue\" : container = 2 )"));
}

static void a_full_packet_refuses_and_is_whole(void **state)
{
    uint8_t memory[CTF_HEADER_BYTES + 9 + 19 + 3];
    struct ctf_packet p;
    const uint64_t values[] = {1, 2, 3, 4, 5};

    (void)state;
    ctf_begin(&p, memory, sizeof(memory), 7);
    assert_true(ctf_put(&p, types, 0, 8, values));
    struct ctf_packet before = p;
    assert_false(ctf_put(&p, types, 3, 9, values));
    assert_memory_equal(&p, &before, sizeof(p));
    assert_int_equal(p.events, 1);
}

static void text_is_cut_off_and_printable(void **state)
{
    static char huge[1000];
    uint8_t memory[PACKET];
    struct ctf_packet p;
    const uint64_t values[] = {ctf_text(huge), 1, ctf_text("a\n\x80z")};

    (void)state;
    memset(huge, 'x', sizeof(huge) - 1);
    ctf_begin(&p, memory, sizeof(memory), 0);
    assert_true(ctf_put(&p, types, 2, 1, values));
    const char *first = (const char *)memory + CTF_HEADER_BYTES + 9;
    assert_int_equal(strlen(first), CTF_TEXT_MAX);
    assert_string_equal(first + CTF_TEXT_MAX + 2, "a??z");
    assert_int_equal(p.used, CTF_HEADER_BYTES + 9 + CTF_TEXT_MAX + 1 + 1 + 5);
}

static void a_description_that_does_not_fit_is_measured(void **state)
{
    char small[10];

    (void)state;
    size_t all = ctf_describe(&trace, NULL, 0);
    assert_int_equal(ctf_describe(&trace, small, sizeof(small)), all);
    assert_int_equal(strlen(small), sizeof(small) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_read_back_equal),
        cmocka_unit_test(what_was_discarded_is_reported),
        cmocka_unit_test(a_missing_packet_is_reported),
        cmocka_unit_test(a_description_in_packets_is_read),
        cmocka_unit_test(a_full_packet_refuses_and_is_whole),
        cmocka_unit_test(text_is_cut_off_and_printable),
        cmocka_unit_test(a_description_that_does_not_fit_is_measured),
    };

    return cmocka_run_group_tests_name("ctf", tests, group_begin, group_end);
}
