/* Records of the Statistical Profiling Extension: what is read from bytes as the manual defines
 * them, and from any others. */
#include "test/host/double/expect_panic.h"
#include "hpm/pmu/arm/spe_sources.h"

enum { ROOM = 4096 };

static uint8_t bytes[ROOM] ALIGNED(64);
static size_t size;
static struct spe_bytes b;
static struct spe_record r;

static void put(uint8_t header, uint64_t payload, unsigned n)
{
    bytes[size++] = header;
    for (unsigned i = 0; i < n; i++)
        bytes[size++] = (uint8_t)(payload >> 8 * i);
}

static int empty(void **state)
{
    (void)state;
    size = 0;
    memset(bytes, 0xee, sizeof bytes);
    return 0;
}

static void read_from(size_t align, size_t record_max)
{
    b = (struct spe_bytes){.base = bytes, .size = size, .align = align, .record_max = record_max};
}

static enum spe_found next(void)
{
    size_t before = b.at;
    enum spe_found found = spe_next(&b, &r);

    assert_true(b.at <= b.size && (found == SPE_NOTHING ? b.at == b.size : b.at > before));
    return found;
}

/* Writes a record of 64 bytes with padding, in the order in which Arm's own processors write it. */
static void put_load(uint64_t pc)
{
    size_t start = size;

    put(0x49, 0x00, 1);                                /* a load */
    put(0xb2, 0xaaff800000001238, 8);                  /* data, with a tag */
    put(0xb3, 0x80000008fb24ebc8, 8);                  /* physical, non-secure */
    put(0x9a, 7, 2);                                   /* translation latency */
    put(0x99, 5, 2);                                   /* issue latency */
    put(0x98, 321, 2);                                 /* total latency */
    put(0x43, 0x0d, 1);                                /* source */
    put(0x52, 0x41e, 2);                               /* events, two bytes */
    put(0xb0, 0xa000000000000000 | (pc << 8 >> 8), 8); /* pc: non-secure, EL1 */
    put(0x71, 0x123456789abcdef0, 8);                  /* time */
    while (size - start < 64)
        bytes[size++] = 0;
}

static void a_record_says_what_its_packets_say(void **state)
{
    (void)state;
    put_load(0xffff800012345678);
    read_from(64, 64);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(r.has, 0xff);
    assert_int_equal(r.pc, 0xffff800012345678);
    assert_int_equal(r.level, 1);
    assert_int_equal(r.data, 0xffff800000001238);
    assert_int_equal(r.phys, 0x8fb24ebc8);
    assert_int_equal(r.latency, 321);
    assert_int_equal(r.source, 0x0d);
    assert_int_equal(r.events, 0x41e);
    assert_int_equal(r.time, 0x123456789abcdef0);
    assert_false(r.store);
    assert_int_equal(next(), SPE_NOTHING);
}

/* Bits 63 to 56 of addresses have another meaning; bit 55 tells the half of the address space. */
static void addresses_are_as_the_processor_translates_them(void **state)
{
    static const uint64_t wrote[] = {0x00007fffffffffff, 0xff007fffffffffff, 0x00ffffffffffffff,
                                     0x5aff800000000000};
    static const uint64_t means[] = {0x00007fffffffffff, 0x00007fffffffffff, 0xffffffffffffffff,
                                     0xffff800000000000};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(wrote); i++) {
        put(0xb2, wrote[i], 8);
        put(0xb0, wrote[i], 8);
        put(0x01, 0, 0);
    }
    read_from(1, 64);
    for (unsigned i = 0; i < ARRAY_SIZE(wrote); i++) {
        assert_int_equal(next(), SPE_RECORD);
        assert_int_equal(r.has, SPE_HAS_DATA | SPE_HAS_PC);
        assert_int_equal(r.data, means[i]);
        assert_int_equal(r.pc, means[i]);
        assert_int_equal(r.level, wrote[i] >> 61 & 3);
    }
    assert_int_equal(next(), SPE_NOTHING);
}

static void only_loads_and_stores_are_accesses(void **state)
{
    static const struct {
        uint8_t header, payload;
        bool access, store;
    } operations[] = {{0x48, 0x01, false, false}, {0x49, 0x00, true, false},
                      {0x49, 0x01, true, true},   {0x49, 0x0f, true, true},
                      {0x49, 0x04, true, false},  {0x4a, 0x01, false, false}};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(operations); i++) {
        put(operations[i].header, operations[i].payload, 1);
        put(0x01, 0, 0);
    }
    read_from(1, 64);
    for (unsigned i = 0; i < ARRAY_SIZE(operations); i++) {
        assert_int_equal(next(), SPE_RECORD);
        assert_int_equal(!!(r.has & SPE_HAS_ACCESS), operations[i].access);
        assert_int_equal(r.store, operations[i].store);
    }
}

static void events_and_sources_have_any_size(void **state)
{
    (void)state;
    for (unsigned log = 0; log < 4; log++) {
        put((uint8_t)(0x42 | log << 4), 0x8877665544332211, 1 << log);
        put((uint8_t)(0x43 | log << 4), 0x8877665544332211, 1 << log);
        put(0x01, 0, 0);
    }
    read_from(1, 64);
    for (unsigned log = 0; log < 4; log++) {
        assert_int_equal(next(), SPE_RECORD);
        uint64_t all = 0x8877665544332211;
        assert_int_equal(r.events, all << (64 - (8 << log)) >> (64 - (8 << log)));
        assert_int_equal(r.source, log ? 0x2211 : 0x11);
    }
}

/* Nothing of one record remains in the next. */
static void a_record_may_be_nearly_empty(void **state)
{
    (void)state;
    put_load(1);
    put(0x01, 0, 0);
    put(0x71, 5, 8);
    read_from(1, 64);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(r.has, 0);
    assert_int_equal(r.events | r.pc | r.data | r.phys | r.time | r.latency | r.source, 0);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(r.has, SPE_HAS_TIME);
    assert_int_equal(r.time, 5);
    assert_int_equal(next(), SPE_NOTHING);
}

static void padding_may_be_anywhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++)
        put(0x00, 0, 0); /* longer than a record may be */
    put(0x98, 42, 2);
    put(0x00, 0, 0);
    put(0x00, 0, 0);
    put(0x42, 2, 1);
    put(0x01, 0, 0);
    put(0x00, 0, 0);
    read_from(1, 64);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(r.has, SPE_HAS_LATENCY | SPE_HAS_EVENTS);
    assert_int_equal(next(), SPE_NOTHING);
}

/* Bytes up to the boundary may be anything. */
static void an_alignment_packet_skips_to_its_boundary(void **state)
{
    (void)state;
    for (unsigned log = 0; log < 4; log++)
        for (unsigned before = 0; before < 16; before++) {
            empty(state);
            size = before;
            memset(bytes, 0, before);
            put((uint8_t)(0x20 | log), 0, 1);
            size_t boundary = (before / (2 << log) + 1) * (2 << log);
            /* the header's own second byte */
            bytes[boundary] = boundary == before + 1 ? 0 : bytes[boundary];
            size = MAX(boundary, before + 2);
            put(0x98, 42, 2);
            put(0x01, 0, 0);
            read_from(1, 64);
            assert_int_equal(next(), SPE_RECORD);
            assert_int_equal(r.latency, 42);
        }
    empty(state);
    put(0x23, 0, 1); /* the bytes end before the boundary */
    read_from(1, 64);
    assert_int_equal(next(), SPE_NOTHING);
}

/* Extended headers may have indices that are undefined yet: other addresses, other counters. */
static void what_is_not_known_is_passed_over_by_its_length(void **state)
{
    (void)state;
    put(0x21, 0xb0, 1); /* address 8 */
    put(0x11, 0x1111111111111111 >> 8, 7);
    put(0x22, 0x98, 1); /* counter 16 */
    put(0x11, 0x11, 1);
    put(0xb1, 0x1234, 8); /* branch target */
    put(0xb4, 0x1234, 8); /* previous branch target */
    put(0x64, 0x5678, 4); /* context */
    put(0x5c, 0x9999, 2); /* reserved; its header tells two bytes */
    put(0xaf, 0x9999, 4); /* reserved, four */
    put(0x20, 0x71, 1);   /* an extended packet like a timestamp */
    put(0x00, 0, 7);
    put(0x20, 0x98, 1); /* the total latency by an extended header */
    put(77, 0, 1);
    put(0x42, 0x02, 1);
    put(0x01, 0, 0);
    read_from(1, 128);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(r.has, SPE_HAS_LATENCY | SPE_HAS_EVENTS);
    assert_int_equal(r.latency, 77);
    assert_int_equal(next(), SPE_NOTHING);
}

/* A header without a known length: this record is lost, and the next begins at its multiple. */
static void a_broken_record_costs_itself(void **state)
{
    static const uint8_t broken[] = {0x02, 0x1f, 0x24, 0x3f, 0xc0, 0xff};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(broken); i++) {
        empty(state);
        put_load(1);
        put_load(2);
        put_load(3);
        bytes[64 + i] = broken[i];
        memset(bytes + 64, 0, i);
        read_from(64, 64);
        assert_int_equal(next(), SPE_RECORD);
        assert_int_equal(next(), SPE_BROKEN);
        assert_int_equal(next(), SPE_RECORD);
        assert_int_equal(r.pc, 3);
        assert_int_equal(next(), SPE_NOTHING);
    }
}

/* If records begin anywhere, the start of the next one is unknown. */
static void a_broken_record_costs_the_rest_where_records_have_no_places(void **state)
{
    (void)state;
    put_load(1);
    put_load(2);
    put_load(3);
    bytes[64 + 2] = 0xc0;
    bytes[64] = bytes[64 + 1] = 0;
    read_from(8, 64);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(next(), SPE_BROKEN);
    assert_int_equal(next(), SPE_NOTHING);
}

static void a_record_that_does_not_end_is_broken(void **state)
{
    (void)state;
    while (size < 128)
        put(0x49, 1, 1);
    put_load(3);
    read_from(64, 64);
    assert_int_equal(next(), SPE_BROKEN);
    assert_int_equal(b.at, 64);
    assert_int_equal(next(), SPE_BROKEN);
    assert_int_equal(b.at, 128);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(r.pc, 3);
}

/* At every byte except the end of its last packet. */
static void a_record_may_be_cut_off_anywhere(void **state)
{
    size_t whole = 0;

    (void)state;
    put_load(1);
    put_load(2);
    while (bytes[64 + whole] != 0x71)
        whole += bytes[64 + whole] >> 6 ? 1 + (1u << (bytes[64 + whole] >> 4 & 3)) : 1;
    whole += 9;
    for (size = 65; size < 64 + whole; size++) {
        /* In memory of exactly that size, so that reading beyond it is found. */
        uint8_t *copy = malloc(size);
        memcpy(copy, bytes, size);
        b = (struct spe_bytes){.base = copy, .size = size, .align = 64, .record_max = 64};
        assert_int_equal(next(), SPE_RECORD);
        assert_int_equal(next(), SPE_CUT);
        assert_int_equal(next(), SPE_NOTHING);
        free(copy);
    }
    read_from(64, 64);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(next(), SPE_RECORD);
    assert_int_equal(next(), SPE_NOTHING);
}

/* Half of them are valid headers. */
static void any_bytes_come_to_an_end(void **state)
{
    static const uint8_t likely[] = {0x00, 0x01, 0x71, 0x42, 0x43, 0x49,
                                     0xb0, 0xb2, 0x98, 0x20, 0x23};
    static const size_t sizes[] = {1, 4, 16, 64, 2048};
    uint64_t seed = 7;
    unsigned found[4] = {0};

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        size_t n = test_random(&seed) % 300;
        uint8_t *some = malloc(n ? n : 1);
        for (size_t i = 0; i < n; i++)
            some[i] = test_random(&seed) % 2 ? likely[test_random(&seed) % ARRAY_SIZE(likely)]
                                             : (uint8_t)test_random(&seed);
        b = (struct spe_bytes){.base = some,
                               .size = n,
                               .align = sizes[test_random(&seed) % ARRAY_SIZE(sizes)],
                               .record_max =
                                   MAX(sizes[test_random(&seed) % ARRAY_SIZE(sizes)], (size_t)16)};
        enum spe_found f;
        for (size_t steps = 0; (f = next()) != SPE_NOTHING; steps++) {
            found[f]++;
            assert_true(steps < n);
        }
        free(some);
    }
    assert_true(found[SPE_RECORD] > 1000 && found[SPE_BROKEN] > 1000 && found[SPE_CUT] > 1000);
}

/* ---- Sources --------------------------------------------------------------------------------- */

#define NEOVERSE_N1 0x413fd0c1
#define NOT_LISTED  0x410fd0b0

static void processors_with_known_codes_are_those_listed(void **state)
{
    static const uint32_t known[] = {0x413fd0c1, 0x411fd401, 0x410fd493, 0x410fd4f1, 0x410fd4c0,
                                     0x411fd4e0, 0x410fd811, 0x410fd850, 0x410fd870};
    static const uint32_t others[] = {0,          NOT_LISTED, 0x420fd0c1,
                                      0x410fd0d0, 0x410fd080, 0xc00fac40};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(known); i++)
        assert_ptr_equal(spe_codes_of(known[i]), spe_codes_of(NEOVERSE_N1));
    assert_non_null(spe_codes_of(NEOVERSE_N1));
    for (unsigned i = 0; i < ARRAY_SIZE(others); i++)
        assert_null(spe_codes_of(others[i]));
}

static void each_code_has_its_source(void **state)
{
    static const uint8_t means[] = {[0x0] = SOURCE_L1,           [0x1 ... 0x7] = SPE_NOT_KNOWN,
                                    [0x8] = SOURCE_LOCAL_L2,     [0x9] = SOURCE_LOCAL_L3,
                                    [0xa] = SOURCE_LOCAL_L3,     [0xb] = SOURCE_LOCAL_L3,
                                    [0xc] = SOURCE_LOCAL_L3,     [0xd] = SOURCE_REMOTE_L3,
                                    [0xe] = SOURCE_LOCAL_MEMORY, [0xf ... 0x11] = SPE_NOT_KNOWN};
    const struct spe_codes *codes = spe_codes_of(NEOVERSE_N1);

    (void)state;
    for (uint16_t code = 0; code < ARRAY_SIZE(means); code++) {
        struct spe_record load = {.has = SPE_HAS_ACCESS | SPE_HAS_SOURCE, .source = code};
        assert_int_equal(spe_source(codes, &load), means[code]);
        load.events = SPE_EVENT_REMOTE;
        assert_int_equal(spe_source(codes, &load),
                         code == 0xe ? SOURCE_REMOTE_MEMORY : means[code]);
        load.has = SPE_HAS_SOURCE;
        assert_int_equal(spe_source(codes, &load), SPE_NOT_SERVED);
    }
    struct spe_record far = {.has = SPE_HAS_ACCESS | SPE_HAS_SOURCE, .source = 0xffff};
    assert_int_equal(spe_source(codes, &far), SPE_NOT_KNOWN);
}

/* The code is ignored where its meaning is unknown. */
static void events_alone_tell_some_sources(void **state)
{
    static const struct {
        uint64_t events;
        unsigned source;
    } means[] = {{SPE_EVENT_RETIRED, SPE_NOT_SERVED},
                 {SPE_EVENT_L1, SOURCE_L1},
                 {SPE_EVENT_L1 | SPE_EVENT_L1_MISS, SPE_NOT_SERVED},
                 {SPE_EVENT_L1 | SPE_EVENT_L1_MISS | SPE_EVENT_LLC, SOURCE_LOCAL_L3},
                 {SPE_EVENT_L1 | SPE_EVENT_L1_MISS | SPE_EVENT_LLC | SPE_EVENT_LLC_MISS,
                  SOURCE_LOCAL_MEMORY},
                 {SPE_EVENT_LLC_MISS | SPE_EVENT_REMOTE, SOURCE_REMOTE_L3}};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(means); i++) {
        struct spe_record load = {.has = SPE_HAS_ACCESS | SPE_HAS_SOURCE | SPE_HAS_EVENTS,
                                  .source = 8,
                                  .events = means[i].events};
        assert_int_equal(spe_source(NULL, &load), means[i].source);
        load.has &= ~(uint32_t)SPE_HAS_SOURCE; /* as of a store */
        assert_int_equal(spe_source(spe_codes_of(NEOVERSE_N1), &load), means[i].source);
    }
}

/* Every source offered can come out, except that one remote cache stands for both. */
static void what_is_offered_can_come(void **state)
{
    static const uint32_t midr[] = {NEOVERSE_N1, NOT_LISTED};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(midr); i++) {
        const struct spe_codes *codes = spe_codes_of(midr[i]);
        uint32_t seen = 1u << SOURCE_REMOTE_L2;
        for (uint16_t code = 0; code < 16; code++)
            for (uint64_t events = 0; events < 0x800; events++) {
                struct spe_record load = {
                    .has = SPE_HAS_ACCESS | SPE_HAS_SOURCE, .source = code, .events = events};
                unsigned source = spe_source(codes, &load);
                seen |= source < SOURCE_COUNT ? 1u << source : 0;
            }
        assert_int_equal(spe_sources(codes), seen);
    }
}

#define TEST(name) cmocka_unit_test_setup(name, empty)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_record_says_what_its_packets_say),
        TEST(addresses_are_as_the_processor_translates_them),
        TEST(only_loads_and_stores_are_accesses),
        TEST(events_and_sources_have_any_size),
        TEST(a_record_may_be_nearly_empty),
        TEST(padding_may_be_anywhere),
        TEST(an_alignment_packet_skips_to_its_boundary),
        TEST(what_is_not_known_is_passed_over_by_its_length),
        TEST(a_broken_record_costs_itself),
        TEST(a_broken_record_costs_the_rest_where_records_have_no_places),
        TEST(a_record_that_does_not_end_is_broken),
        TEST(a_record_may_be_cut_off_anywhere),
        TEST(any_bytes_come_to_an_end),
        TEST(processors_with_known_codes_are_those_listed),
        TEST(each_code_has_its_source),
        TEST(events_alone_tell_some_sources),
        TEST(what_is_offered_can_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
