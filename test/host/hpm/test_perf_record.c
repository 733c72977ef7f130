/* Records of perf events, read back field by field as linux/perf_event.h describes them, for random
 * attrs. */
#include <stdlib.h>
#include <string.h>
#include "test/host/double/expect_panic.h"
#include "hpm/linux/record.h"
#include "test/host/double/random.h"

static uint8_t out[PERF_RECORD_BYTES + 64], stack[2 * PERF_STACK_BYTES];
static uint64_t registers[33];
static const uint8_t *at;
static size_t length;

static uint64_t next64(void)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    at += sizeof v;
    return v;
}

static uint32_t next32(void)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    at += sizeof v;
    return v;
}

/* Checks the header, and that nothing was written behind the record. */
static void begins(uint32_t type, uint16_t misc)
{
    struct perf_event_header h;

    assert_in_range(length, sizeof h, PERF_RECORD_BYTES);
    assert_int_equal(length % 8, 0);
    memcpy(&h, out, sizeof h);
    assert_int_equal(h.type, type);
    assert_int_equal(h.misc, misc);
    assert_int_equal(h.size, length);
    for (size_t i = length; i < sizeof out; i++)
        assert_int_equal(out[i], 0xa5);
    at = out + sizeof h;
}

static void ends(void)
{
    assert_ptr_equal(at, out + length);
}

static struct perf_event_attr draw_attr(uint64_t *seed)
{
    struct perf_event_attr a = {.sample_type = test_random(seed) & PERF_SAMPLED};

    a.sample_id_all = test_random(seed) & 1;
    a.mmap2 = test_random(seed) & 1;
    a.exclude_callchain_user = test_random(seed) % 4 == 0;
    a.exclude_callchain_kernel = test_random(seed) % 4 == 0;
    a.sample_regs_user = test_random(seed) >> 31;
    a.sample_stack_user = (uint32_t)(test_random(seed) % (2 * PERF_STACK_BYTES)) & ~7u;
    return a;
}

static struct perf_ident draw_ident(uint64_t *seed)
{
    return (struct perf_ident){(uint32_t)test_random(seed), (uint32_t)test_random(seed),
                               (uint32_t)test_random(seed) % 64, test_random(seed),
                               test_random(seed)};
}

static void trailer_follows(const struct perf_event_attr *a, const struct perf_ident *i)
{
    uint64_t t = a->sample_id_all ? a->sample_type : 0;

    if (t & PERF_SAMPLE_TID) {
        assert_int_equal(next32(), i->pid);
        assert_int_equal(next32(), i->tid);
    }
    if (t & PERF_SAMPLE_TIME)
        assert_int_equal(next64(), i->time);
    if (t & PERF_SAMPLE_ID)
        assert_int_equal(next64(), i->id);
    if (t & PERF_SAMPLE_STREAM_ID)
        assert_int_equal(next64(), i->id);
    if (t & PERF_SAMPLE_CPU)
        assert_int_equal(next64(), i->cpu);
    if (t & PERF_SAMPLE_IDENTIFIER)
        assert_int_equal(next64(), i->id);
    ends();
}

/* Registers and a part of the stack, as far as there are some and they were asked for. */
static void dump_follows(const struct perf_event_attr *a, const struct perf_taken *s)
{
    if (a->sample_type & PERF_SAMPLE_REGS_USER) {
        assert_int_equal(next64(),
                         s->registers ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
        for (unsigned n = 0; n < 33 && s->registers; n++)
            if (a->sample_regs_user >> n & 1)
                assert_int_equal(next64(), n < s->register_count ? registers[n] : 0);
    }
    if (!(a->sample_type & PERF_SAMPLE_STACK_USER))
        return;
    uint64_t n = next64();
    uint64_t most = MIN(MIN(s->stack_bytes, a->sample_stack_user), (uint32_t)PERF_STACK_BYTES);
    assert_int_equal(n, s->registers ? most : 0);
    if (!n)
        return;
    assert_memory_equal(at, stack, n);
    at += n;
    assert_int_equal(next64(), n);
}

/* The addresses that the chain must have, in order, without marks. */
static void chain_follows(const struct perf_event_attr *a, const struct perf_taken *s)
{
    const uint8_t *end = out + length;
    bool user = false, marked = false;
    uint64_t n = next64();
    unsigned next = 0;

    assert_true(at + 8 * n <= end);
    for (; n; n--) {
        uint64_t v = next64();
        if (v == PERF_CONTEXT_USER || v == PERF_CONTEXT_KERNEL) {
            user = v == PERF_CONTEXT_USER;
            marked = true;
            continue;
        }
        assert_true(marked);
        for (;; next++) {
            assert_true(next <= s->chain_length);
            uint64_t wanted = next ? s->chain[next - 1] : s->ip;
            bool of_user = next ? wanted < s->user_end : s->user;
            if (of_user ? a->exclude_callchain_user : a->exclude_callchain_kernel)
                continue;
            assert_int_equal(v, wanted);
            assert_int_equal(user, of_user);
            next++;
            break;
        }
    }
}

static void samples_are_read_back(void **state)
{
    uint64_t seed = 3, chain[PERF_CHAIN_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof stack; i++)
        stack[i] = (uint8_t)test_random(&seed);
    for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
        registers[i] = test_random(&seed);
    for (unsigned n = 0; n < 20000; n++) {
        struct perf_event_attr a = draw_attr(&seed);
        struct perf_ident i = draw_ident(&seed);
        struct perf_taken s = {.ip = test_random(&seed) >> 17,
                               .period = test_random(&seed),
                               .user = test_random(&seed) & 1,
                               .chain = chain,
                               .chain_length =
                                   (unsigned)(test_random(&seed) % (PERF_CHAIN_MAX + 1)),
                               .user_end = (uint64_t)1 << 47};
        unsigned kernel = (unsigned)(test_random(&seed) % (s.chain_length + 1));
        for (unsigned k = 0; k < s.chain_length; k++)
            chain[k] = k < kernel ? ~(uint64_t)0 << 31 | test_random(&seed) >> 40
                                  : test_random(&seed) >> 18;
        s.registers = test_random(&seed) % 4 ? registers : NULL;
        s.register_count = test_random(&seed) & 1 ? 33 : 24;
        s.stack = stack;
        s.stack_bytes = (uint32_t)(test_random(&seed) % sizeof stack) & ~7u;
        struct perf_access access = {.data = test_random(&seed),
                                     .physical = test_random(&seed),
                                     .latency = (uint32_t)test_random(&seed),
                                     .level = test_random(&seed) % 6};
        s.access = test_random(&seed) & 1 ? &access : NULL;
        memset(out, 0xa5, sizeof out);
        length = perf_put_sample(&a, &i, &s, out);
        begins(PERF_RECORD_SAMPLE, s.user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
        if (a.sample_type & PERF_SAMPLE_IDENTIFIER)
            assert_int_equal(next64(), i.id);
        if (a.sample_type & PERF_SAMPLE_IP)
            assert_int_equal(next64(), s.ip);
        if (a.sample_type & PERF_SAMPLE_TID) {
            assert_int_equal(next32(), i.pid);
            assert_int_equal(next32(), i.tid);
        }
        if (a.sample_type & PERF_SAMPLE_TIME)
            assert_int_equal(next64(), i.time);
        if (a.sample_type & PERF_SAMPLE_ADDR)
            assert_int_equal(next64(), s.access ? access.data : 0);
        if (a.sample_type & PERF_SAMPLE_ID)
            assert_int_equal(next64(), i.id);
        if (a.sample_type & PERF_SAMPLE_STREAM_ID)
            assert_int_equal(next64(), i.id);
        if (a.sample_type & PERF_SAMPLE_CPU)
            assert_int_equal(next64(), i.cpu);
        if (a.sample_type & PERF_SAMPLE_PERIOD)
            assert_int_equal(next64(), s.period);
        if (a.sample_type & PERF_SAMPLE_CALLCHAIN)
            chain_follows(&a, &s);
        dump_follows(&a, &s);
        if (a.sample_type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
            assert_int_equal(next64(), s.access ? access.latency : 0);
        if (a.sample_type & PERF_SAMPLE_DATA_SRC)
            assert_int_equal(next64(), s.access ? perf_data_source(&access) : 0x5080021);
        if (a.sample_type & PERF_SAMPLE_PHYS_ADDR)
            assert_int_equal(next64(), s.access ? access.physical : 0);
        ends();
    }
}

/* Against the published structure, whose fields perf reads. */
static void sources_are_those_that_perf_knows(void **state)
{
    static const struct {
        struct perf_access access;
        unsigned op, level, snoop, lock, number, remote;
    } rows[] = {
        {{.level = PERF_LEVEL_L1}, 2, 2 | 8, 2, 1, 1, 0},
        {{.level = PERF_LEVEL_L2}, 2, 2 | 0x20, 2, 1, 2, 0},
        {{.level = PERF_LEVEL_L3}, 2, 2 | 0x40, 2, 1, 3, 0},
        {{.level = PERF_LEVEL_OTHER_CACHE}, 2, 2 | 0x400, 4, 1, 0xb, 0},
        {{.level = PERF_LEVEL_OTHER_CACHE, .modified = true}, 2, 2 | 0x400, 16, 1, 0xb, 0},
        {{.level = PERF_LEVEL_RAM, .locked = true}, 2, 2 | 0x80, 2, 2, 0xd, 0},
        {{.level = PERF_LEVEL_OTHER_RAM}, 2, 2 | 0x100, 2, 1, 0xd, 1},
        {{.level = PERF_LEVEL_L1, .store = true}, 4, 2 | 8, 2, 1, 1, 0},
        {{.level = PERF_LEVEL_L2, .store = true, .locked = true}, 4, 4 | 8, 2, 2, 1, 0},
        {{.level = PERF_LEVEL_OTHER_CACHE, .store = true, .modified = true}, 4, 4 | 8, 16, 1, 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (unsigned walked = 0; walked < 2; walked++) {
            struct perf_access a = rows[i].access;
            a.walked = walked;
            union perf_mem_data_src s = {.val = perf_data_source(&a)};
            assert_int_equal(s.mem_op, rows[i].op);
            assert_int_equal(s.mem_lvl, rows[i].level);
            assert_int_equal(s.mem_snoop, rows[i].snoop);
            assert_int_equal(s.mem_lock, rows[i].lock);
            assert_int_equal(s.mem_lvl_num, rows[i].number);
            assert_int_equal(s.mem_remote, rows[i].remote);
            assert_int_equal(s.mem_dtlb, walked ? 2 | 32 : 2 | 8 | 16);
            assert_int_equal(s.mem_rsvd, 0);
        }
}

/* Names of all lengths end with a NUL, and zeros up to a whole word; longer ones are cut. */
static void names_and_mappings_are_read_back(void **state)
{
    static char name[2 * PERF_NAME_BYTES];
    uint64_t seed = 5;

    (void)state;
    for (unsigned n = 0; n < PERF_NAME_BYTES + 100; n++) {
        struct perf_event_attr a = draw_attr(&seed);
        struct perf_ident i = draw_ident(&seed);
        struct perf_mapped m = {0x1000 + n, 0x2000, 0x3000, 77, 5, 2, name};
        size_t kept = n < PERF_NAME_BYTES - 8 ? n : PERF_NAME_BYTES - 8;
        memset(name, 'x', n);
        name[n] = '\0';
        memset(out, 0xa5, sizeof out);
        length = perf_put_mapping(&a, &i, &m, out);
        begins(a.mmap2 ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
        assert_int_equal(next32(), i.pid);
        assert_int_equal(next32(), i.tid);
        assert_int_equal(next64(), m.start);
        assert_int_equal(next64(), m.bytes);
        assert_int_equal(next64(), m.offset);
        if (a.mmap2) {
            assert_int_equal(next64(), 0);
            assert_int_equal(next64(), 77);
            assert_int_equal(next64(), 0);
            assert_int_equal(next32(), 5);
            assert_int_equal(next32(), 2);
        }
        assert_memory_equal(at, name, kept);
        for (size_t k = kept; k < (kept + 8) / 8 * 8; k++)
            assert_int_equal(at[k], 0);
        at += (kept + 8) / 8 * 8;
        trailer_follows(&a, &i);
        memset(out, 0xa5, sizeof out);
        length = perf_put_name(&a, &i, name, n & 1, out);
        begins(PERF_RECORD_COMM, n & 1 ? PERF_RECORD_MISC_COMM_EXEC : 0);
        at += 8 + (kept + 8) / 8 * 8;
        trailer_follows(&a, &i);
    }
}

static void lives_and_losses_are_read_back(void **state)
{
    uint64_t seed = 9;

    (void)state;
    for (unsigned n = 0; n < 1000; n++) {
        struct perf_event_attr a = draw_attr(&seed);
        struct perf_ident i = draw_ident(&seed);
        memset(out, 0xa5, sizeof out);
        length = perf_put_task(&a, &i, 12, 34, n & 1, out);
        begins(n & 1 ? PERF_RECORD_EXIT : PERF_RECORD_FORK, 0);
        assert_int_equal(next32(), i.pid);
        assert_int_equal(next32(), 12);
        assert_int_equal(next32(), i.tid);
        assert_int_equal(next32(), 34);
        assert_int_equal(next64(), i.time);
        trailer_follows(&a, &i);
        memset(out, 0xa5, sizeof out);
        length = perf_put_lost(&a, &i, 1000 + n, out);
        assert_in_range(length, 24, 128);
        begins(PERF_RECORD_LOST, 0);
        assert_int_equal(next64(), i.id);
        assert_int_equal(next64(), 1000 + n);
        trailer_follows(&a, &i);
        memset(out, 0xa5, sizeof out);
        length = perf_put_throttle(&a, &i, n & 1, out);
        begins(n & 1 ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, 0);
        assert_int_equal(next64(), i.time);
        assert_int_equal(next64(), i.id);
        assert_int_equal(next64(), i.id);
        trailer_follows(&a, &i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_read_back),
        cmocka_unit_test(sources_are_those_that_perf_knows),
        cmocka_unit_test(names_and_mappings_are_read_back),
        cmocka_unit_test(lives_and_losses_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
