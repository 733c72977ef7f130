/*
 * Frames are accepted if and only if none of the rules below is broken. The rules are written here
 * once more, each by itself, and judge random frames together with net_frame_check().
 */
#include <stdlib.h>
#include "kernel/net/lwip/frame.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/random.h"

#define FRAME_MAX 128

static const struct frame {
    const char *what;
    uint8_t bytes[FRAME_MAX];
    size_t n;
} seeds[] = {
    {"ARP",
     {2, 0, 0, 0, 0, 1, 2, 0,  0, 0, 0, 2, 8, 6, 0, 1, 8, 0,  6, 4, 0,
      1, 2, 0, 0, 0, 0, 2, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1},
     42},
    {"TCP",
     {2, 0, 0,  0, 0, 1, 2,    0,  0, 0, 0,  2, 8, 0, 0x45, 0, 0, 46,  0,   1,
      0, 0, 64, 6, 0, 0, 10,   0,  0, 2, 10, 0, 0, 1, 1,    2, 3, 4,   0,   0,
      0, 1, 0,  0, 0, 1, 0x60, 16, 0, 0, 0,  0, 0, 0, 2,    4, 5, 180, 'h', 'i'},
     60},
    {"UDP",
     {2,  0, 0, 0,  0, 1, 2, 0,  0, 0, 0, 2, 8, 0, 0x45, 0, 0,  32, 0, 1,   0,   0,   64,
      17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1, 1, 2, 3, 4,    0, 12, 0,  0, 'e', 'c', 'h', 'o'},
     46},
    {"ICMP with a timestamp option",
     {2, 0,  0, 0, 0, 1,  2, 0, 0, 0,  0, 2, 8, 0, 0x47, 0, 0, 36, 0, 1, 0, 0, 64, 1, 0,
      0, 10, 0, 0, 2, 10, 0, 0, 1, 68, 6, 5, 0, 0, 0,    1, 0, 8,  0, 0, 0, 0, 1,  0, 1},
     50},
    {"a fragment",
     {2, 0,  0,  0, 0, 1,  2, 0, 0, 0,  0, 2, 8, 0, 0x45, 0, 0, 28, 0, 1, 0x20,
      8, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1, 1, 2,    3, 4, 5,  6, 7, 8},
     42},
};
enum { SEED_ARP, SEED_TCP, SEED_UDP, SEED_ICMP, SEED_FRAGMENT };

/* ---- The rules ------------------------------------------------------------------------------- */

struct sight {
    const uint8_t *p;
    size_t here, bytes;
    bool fragments;
};

/* Returns byte i, 0 where there is none. */
static unsigned at(const struct sight *s, size_t i)
{
    return i < s->here && i < s->bytes ? s->p[i] : 0;
}

static unsigned at16(const struct sight *s, size_t i)
{
    return at(s, i) * 256 + at(s, i + 1);
}

static bool is_ip(const struct sight *s)
{
    return at16(s, 12) == 0x800;
}

static bool is_arp(const struct sight *s)
{
    return at16(s, 12) == 0x806;
}

static size_t ip_header(const struct sight *s)
{
    return (at(s, 14) % 16) * 4;
}

static bool is_piece(const struct sight *s)
{
    return at16(s, 20) & 0x3fff;
}

static size_t place(const struct sight *s)
{
    return at16(s, 20) % 0x2000 * 8;
}

/* The protocol whose header must follow; 0 in a later fragment. lwIP reads ports in those, too. */
static unsigned protocol(const struct sight *s)
{
    return is_ip(s) && !place(s) ? at(s, 23) : 0;
}

static size_t payload(const struct sight *s)
{
    return at16(s, 16) - ip_header(s);
}

/* How many bytes from the frame's start the first buffer must have. */
static size_t wanted_here(const struct sight *s)
{
    size_t start = 14 + ip_header(s);

    if (is_arp(s))
        return 42;
    if (!is_ip(s))
        return 14;
    if (s->here < 34 || s->here < start)
        return MAX(start, (size_t)34);
    if (place(s))
        return start + (at(s, 23) == 17 ? 8 : 0);
    switch (protocol(s)) {
    case 6:
        return s->here < start + 20 ? start + 20 : start + at(s, start + 12) / 16 * 4;
    case 17:
    case 1:
        return start + 8;
    default:
        return start;
    }
}

/* Whether the options from byte i to `end` have lengths that fit. */
static bool option_walk(const struct sight *s, size_t i, size_t end, bool *routed)
{
    *routed = false;
    while (i < end) {
        unsigned kind = at(s, i), length = i + 1 < end ? at(s, i + 1) : 0;
        if (kind == 0)
            return true;
        if (kind == 1) {
            i++;
            continue;
        }
        if (length < 2 || i + length > end)
            return false;
        *routed |= kind == 131 || kind == 137;
        i += length;
    }
    return true;
}

static bool broken(const struct sight *s, enum net_verdict rule)
{
    size_t start = 14 + ip_header(s);
    bool routed;

    switch (rule) {
    case FRAME_SHORT:
        return s->bytes < 14;
    case FRAME_TYPE:
        return !is_ip(s) && !is_arp(s);
    case FRAME_MAC:
        return at(s, 6) % 2;
    case FRAME_ARP_SHORT:
        return is_arp(s) && s->bytes < 42;
    case FRAME_ARP_KIND:
        return is_arp(s) &&
               (at16(s, 14) != 1 || at16(s, 16) != 0x800 || at(s, 18) != 6 || at(s, 19) != 4);
    case FRAME_ARP_SENDER:
        return is_arp(s) && (at(s, 22) % 2 || at(s, 28) == 127 || at(s, 28) >= 224);
    case FRAME_IP_SHORT:
        return is_ip(s) && s->bytes < 34;
    case FRAME_VERSION:
        return is_ip(s) && at(s, 14) / 16 != 4;
    case FRAME_IP_HEADER:
        return is_ip(s) && (ip_header(s) < 20 || ip_header(s) > at16(s, 16));
    case FRAME_IP_LENGTH:
        return is_ip(s) && 14 + at16(s, 16) > s->bytes;
    case FRAME_OPTIONS:
        return is_ip(s) && !option_walk(s, 34, start, &routed);
    case FRAME_ROUTE:
        option_walk(s, 34, start, &routed);
        return is_ip(s) && routed;
    case FRAME_SOURCE:
        return is_ip(s) && (!(at16(s, 26) | at16(s, 28)) || at(s, 26) == 127 || at(s, 26) >= 224);
    case FRAME_TARGET:
        return is_ip(s) && (!(at16(s, 30) | at16(s, 32)) || at(s, 30) == 127);
    case FRAME_FRAGMENT:
        return is_ip(s) && is_piece(s) && !s->fragments;
    case FRAME_PIECE:
        return is_ip(s) && is_piece(s) && s->fragments &&
               (place(s) + at16(s, 16) > 65535 || payload(s) == 0 ||
                (at(s, 23) == 6 && place(s) > 0 && place(s) < 20));
    case FRAME_TCP:
        return protocol(s) == 6 && (payload(s) < 20 || at(s, start + 12) / 16 < 5 ||
                                    at(s, start + 12) / 16 * 4 > payload(s));
    case FRAME_TCP_OPTIONS:
        return protocol(s) == 6 &&
               !option_walk(s, start + 20, start + at(s, start + 12) / 16 * 4, &routed);
    case FRAME_TCP_GROUP:
        return is_ip(s) && at(s, 23) == 6 && (at(s, 0) % 2 || at(s, 30) >= 224);
    case FRAME_UDP:
        return protocol(s) == 17 && (payload(s) < 8 || at16(s, start + 4) < 8 ||
                                     (!(at16(s, 20) & 0x2000) && at16(s, start + 4) > payload(s)));
    case FRAME_ICMP:
        return protocol(s) == 1 && payload(s) < 8;
    case FRAME_SPLIT:
        return MIN(s->here, s->bytes) < wanted_here(s);
    default:
        return false;
    }
}

/* Fails unless the verdict is a rule that is broken, or none is. */
static enum net_verdict judge(const uint8_t *frame, size_t here, size_t bytes, bool fragments)
{
    uint8_t *copy = malloc(here ? here : 1); /* of that size, for the sanitizer */
    struct sight s = {copy, here, bytes, fragments};
    enum net_verdict verdict;

    memcpy(copy, frame, here);
    verdict = net_frame_check(copy, here, bytes, fragments);
    assert_true(verdict < FRAME_VERDICTS);
    if (verdict) {
        if (!broken(&s, verdict))
            fail_msg("refused for %s, wrongly", net_verdicts[verdict]);
    } else {
        for (unsigned rule = 1; rule < FRAME_VERDICTS; rule++)
            if (broken(&s, rule))
                fail_msg("accepted in spite of %s", net_verdicts[rule]);
        net_frame_hash(copy);
    }
    free(copy);
    return verdict;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void well_formed_frames_are_accepted(UNUSED void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
        print_message("# %s\n", seeds[i].what);
        assert_string_equal(net_verdicts[judge(seeds[i].bytes, seeds[i].n, seeds[i].n, true)],
                            "accepted");
    }
}

static void each_frame_cut_short_is_refused(UNUSED void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(seeds); i++)
        for (size_t n = 0; n < seeds[i].n; n++)
            assert_int_not_equal(judge(seeds[i].bytes, n, n, true), FRAME_ACCEPTED);
}

static void headers_must_be_in_the_first_buffer(UNUSED void **state)
{
    static const size_t headers[] = {42, 58, 42, 50, 42};

    for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
        for (size_t here = 0; here < headers[i]; here++)
            assert_int_equal(judge(seeds[i].bytes, here, seeds[i].n, true), FRAME_SPLIT);
        assert_int_equal(judge(seeds[i].bytes, headers[i], seeds[i].n, true), FRAME_ACCEPTED);
    }
}

/* One byte of a well-formed frame changed, and the verdict. */
static const struct change {
    unsigned seed, at, value;
    enum net_verdict verdict;
} changes[] = {
    {SEED_TCP, 12, 0x86, FRAME_TYPE},       {SEED_TCP, 6, 3, FRAME_MAC},
    {SEED_ARP, 15, 6, FRAME_ARP_KIND},      {SEED_ARP, 19, 16, FRAME_ARP_KIND},
    {SEED_ARP, 22, 0xff, FRAME_ARP_SENDER}, {SEED_ARP, 28, 224, FRAME_ARP_SENDER},
    {SEED_ARP, 28, 127, FRAME_ARP_SENDER},  {SEED_TCP, 14, 0x65, FRAME_VERSION},
    {SEED_TCP, 14, 0x44, FRAME_IP_HEADER},  {SEED_TCP, 14, 0x4f, FRAME_IP_HEADER},
    {SEED_TCP, 17, 47, FRAME_IP_LENGTH},    {SEED_TCP, 16, 1, FRAME_IP_LENGTH},
    {SEED_ICMP, 35, 1, FRAME_OPTIONS},      {SEED_ICMP, 35, 9, FRAME_OPTIONS},
    {SEED_ICMP, 34, 131, FRAME_ROUTE},      {SEED_ICMP, 34, 137, FRAME_ROUTE},
    {SEED_TCP, 26, 127, FRAME_SOURCE},      {SEED_TCP, 26, 255, FRAME_SOURCE},
    {SEED_TCP, 26, 239, FRAME_SOURCE},      {SEED_TCP, 30, 127, FRAME_TARGET},
    {SEED_UDP, 30, 224, FRAME_ACCEPTED},    {SEED_TCP, 30, 224, FRAME_TCP_GROUP},
    {SEED_TCP, 0, 1, FRAME_TCP_GROUP},      {SEED_UDP, 0, 255, FRAME_ACCEPTED},
    {SEED_FRAGMENT, 23, 6, FRAME_ACCEPTED}, {SEED_TCP, 46, 0x40, FRAME_TCP},
    {SEED_TCP, 46, 0x70, FRAME_TCP},        {SEED_TCP, 54, 0, FRAME_ACCEPTED},
    {SEED_TCP, 55, 1, FRAME_TCP_OPTIONS},   {SEED_TCP, 55, 5, FRAME_TCP_OPTIONS},
    {SEED_UDP, 39, 7, FRAME_UDP},           {SEED_UDP, 39, 13, FRAME_UDP},
    {SEED_UDP, 39, 11, FRAME_ACCEPTED},     {SEED_ICMP, 17, 35, FRAME_ICMP},
    {SEED_ICMP, 23, 99, FRAME_ACCEPTED},
};

static void each_rule_has_its_verdict(UNUSED void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        const struct change *c = &changes[i];
        uint8_t frame[FRAME_MAX];
        memcpy(frame, seeds[c->seed].bytes, FRAME_MAX);
        frame[c->at] = (uint8_t)c->value;
        assert_string_equal(net_verdicts[judge(frame, seeds[c->seed].n, seeds[c->seed].n, true)],
                            net_verdicts[c->verdict]);
    }
}

/* lwIP would read a byte behind it. */
static void an_option_of_tcp_without_a_length_is_refused(UNUSED void **state)
{
    uint8_t frame[FRAME_MAX];

    memcpy(frame, seeds[SEED_TCP].bytes, FRAME_MAX);
    memcpy(frame + 54, "\1\1\1\4", 4);
    assert_int_equal(judge(frame, 60, 60, true), FRAME_TCP_OPTIONS);
}

static void fragments_are_refused_unless_they_are_wanted(UNUSED void **state)
{
    const struct frame *f = &seeds[SEED_FRAGMENT];
    uint8_t first[FRAME_MAX];

    assert_int_equal(judge(f->bytes, f->n, f->n, false), FRAME_FRAGMENT);
    memcpy(first, seeds[SEED_UDP].bytes, FRAME_MAX);
    first[20] = 0x20;
    assert_int_equal(judge(first, seeds[SEED_UDP].n, seeds[SEED_UDP].n, false), FRAME_FRAGMENT);
}

static void a_fragment_beyond_the_largest_packet_is_refused(UNUSED void **state)
{
    uint8_t frame[FRAME_MAX];

    memcpy(frame, seeds[SEED_FRAGMENT].bytes, FRAME_MAX);
    frame[20] = 0x1f;
    frame[21] = 0xfd; /* 65,512 + 28 */
    assert_int_equal(judge(frame, 42, 42, true), FRAME_PIECE);
    frame[21] = 0xfc; /* 65,504 + 28 */
    assert_int_equal(judge(frame, 42, 42, true), FRAME_ACCEPTED);
}

static void a_short_fragment_of_udp_must_have_padding(UNUSED void **state)
{
    uint8_t frame[FRAME_MAX];

    memcpy(frame, seeds[SEED_FRAGMENT].bytes, FRAME_MAX);
    frame[17] = 21;
    assert_int_equal(judge(frame, 35, 35, true), FRAME_SPLIT);
    assert_int_equal(judge(frame, 42, 42, true), FRAME_ACCEPTED);
}

static void a_fragment_may_not_split_the_header_of_tcp(UNUSED void **state)
{
    uint8_t frame[FRAME_MAX];

    memcpy(frame, seeds[SEED_FRAGMENT].bytes, FRAME_MAX);
    frame[23] = 6;
    frame[21] = 2;
    assert_int_equal(judge(frame, 42, 42, true), FRAME_PIECE);
    frame[21] = 3;
    assert_int_equal(judge(frame, 42, 42, true), FRAME_ACCEPTED);
}

static void an_address_of_zero_is_neither_end(UNUSED void **state)
{
    uint8_t frame[FRAME_MAX];

    memcpy(frame, seeds[SEED_UDP].bytes, FRAME_MAX);
    memset(frame + 26, 0, 4);
    assert_int_equal(judge(frame, 46, 46, true), FRAME_SOURCE);
    memcpy(frame + 26, "\x0a\0\0\x02\0\0\0\0", 8);
    assert_int_equal(judge(frame, 46, 46, true), FRAME_TARGET);
}

/* A few bytes of a well-formed frame are changed, or all are random. */
static void random_frames_are_judged_by_the_rules(UNUSED void **state)
{
    static const uint8_t likely[] = {0, 1, 6, 8, 17, 20, 32, 0x45, 0x46, 0x4f, 127, 131, 224, 255};
    unsigned seen[FRAME_VERDICTS] = {0};
    uint64_t random = 1;

    for (unsigned round = 0; round < 400000; round++) {
        const struct frame *f = &seeds[test_random(&random) % ARRAY_SIZE(seeds)];
        uint8_t frame[FRAME_MAX];
        unsigned changed = test_random(&random) % 5;
        size_t n = f->n, here;

        memcpy(frame, f->bytes, FRAME_MAX);
        if (test_random(&random) % 16 == 0)
            n = test_random(&random) % FRAME_MAX;
        while (n && changed--) {
            uint64_t r = test_random(&random);
            frame[r % n] = r >> 63 ? likely[(r >> 40) % ARRAY_SIZE(likely)] : (uint8_t)(r >> 32);
        }
        here = test_random(&random) % 4 ? n : test_random(&random) % (n + 1);
        seen[judge(frame, here, n, test_random(&random) % 4)]++;
    }
    for (unsigned verdict = 0; verdict < FRAME_VERDICTS; verdict++)
        if (!seen[verdict])
            fail_msg("no frame was refused for %s", net_verdicts[verdict]);
}

static void each_verdict_has_a_name_of_its_own(UNUSED void **state)
{
    for (unsigned i = 0; i < FRAME_VERDICTS; i++) {
        assert_non_null(net_verdicts[i]);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(net_verdicts[i], net_verdicts[j]);
    }
}

/* The vectors by which the receive-side scaling specification verifies the hash. */
static void a_frame_hashes_as_a_network_device_hashes_it(UNUSED void **state)
{
    static const struct net_ends ends = {
        {66, 9, 149, 187}, {161, 142, 100, 80}, {0x0a, 0xea}, {0x06, 0xe6}};
    uint8_t frame[FRAME_MAX];

    memcpy(frame, seeds[SEED_TCP].bytes, FRAME_MAX);
    memcpy(frame + 26, &ends, 12);
    assert_int_equal(net_frame_hash_ends(&ends), 0x51ccc178);
    assert_int_equal(net_frame_hash(frame), 0x51ccc178);
    frame[23] = 17;
    assert_int_equal(net_frame_hash(frame), 0x323e8fc2);
    frame[23] = 6;
    frame[20] = 0x20;
    assert_int_equal(net_frame_hash(frame), 0x323e8fc2);
    assert_int_equal(net_frame_hash(seeds[SEED_ARP].bytes), 0);
}

static void ports_are_found_behind_options(UNUSED void **state)
{
    uint8_t frame[FRAME_MAX];
    struct net_ends ends;

    memcpy(frame, seeds[SEED_ICMP].bytes, FRAME_MAX);
    frame[23] = 6;
    memcpy(&ends, frame + 26, 8);
    memcpy((uint8_t *)&ends + 8, frame + 42, 4);
    assert_int_equal(net_frame_hash(frame), net_frame_hash_ends(&ends));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_frames_are_accepted),
        cmocka_unit_test(each_frame_cut_short_is_refused),
        cmocka_unit_test(headers_must_be_in_the_first_buffer),
        cmocka_unit_test(each_rule_has_its_verdict),
        cmocka_unit_test(an_option_of_tcp_without_a_length_is_refused),
        cmocka_unit_test(fragments_are_refused_unless_they_are_wanted),
        cmocka_unit_test(a_fragment_beyond_the_largest_packet_is_refused),
        cmocka_unit_test(a_short_fragment_of_udp_must_have_padding),
        cmocka_unit_test(a_fragment_may_not_split_the_header_of_tcp),
        cmocka_unit_test(an_address_of_zero_is_neither_end),
        cmocka_unit_test(random_frames_are_judged_by_the_rules),
        cmocka_unit_test(each_verdict_has_a_name_of_its_own),
        cmocka_unit_test(a_frame_hashes_as_a_network_device_hashes_it),
        cmocka_unit_test(ports_are_found_behind_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
