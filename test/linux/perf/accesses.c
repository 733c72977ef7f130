/* Samples of loads and stores: which address, what served it, how long that took. */
#include "perf.h"

#ifdef __x86_64__
#define EVENTS "/sys/bus/event_source/devices/cpu/events/"
#define LOADS  0x1cd
#define STORES 0x82d0
#define LEAST  3
#else
#define EVENTS "/sys/bus/event_source/devices/armv8_pmuv3_0/events/"
#define LOADS  0x66
#define STORES 0x67
#define LEAST  (3ull << 16)
#endif
#define WORDS 32768

struct sample {
    struct perf_event_header h;
    uint64_t id, ip, data, weight, source, physical;
};

static volatile uint64_t words[WORDS];

static int open_accesses(uint64_t code, unsigned precise)
{
    struct perf_event_attr a = attr_of(PERF_TYPE_RAW, code);

    a.config1 = code == LOADS ? LEAST : 0;
    a.precise_ip = precise & 3;
    a.sample_period = 97;
    a.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |
                    PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR;
    a.exclude_kernel = 1;
    a.disabled = 1;
    a.read_format = TIMES;
    return open_event(&a, 0, -1, -1, 0);
}

static void use_words(uint64_t code)
{
    for (unsigned i = 0; i < WORDS; i += 4) {
        if (code == LOADS)
            (void)words[i];
        else
            words[i] = i;
    }
}

static void test_kind(uint64_t code, unsigned op)
{
    union {
        struct sample s;
        uint8_t bytes[65536];
    } u;
    int fd = open_accesses(code, 2);
    struct ring r = map_ring(fd, RING_PAGES);
    unsigned samples = 0, here = 0, right = 0;

    check(fd >= 0 && r.page, code == LOADS ? "loads are sampled" : "stores are sampled");
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int tries = 0; samples < 200 && tries < 2000; tries++) {
        use_words(code);
        while (next_record(&r, &u)) {
            union perf_mem_data_src source = {.val = u.s.source};
            if (u.s.h.type != PERF_RECORD_SAMPLE)
                continue;
            samples++;
            bool in_words = u.s.data - (uintptr_t)words < sizeof(words);
            here += in_words;
            right += u.s.h.size == sizeof(u.s) && source.mem_op == op && source.mem_lvl > 1 &&
                     (op == PERF_MEM_OP_STORE || u.s.weight >= 3) &&
                     (!in_words || (u.s.physical - u.s.data) % PAGE == 0);
        }
    }
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    printf("# %u samples, %u of the array\n", samples, here);
    check(samples >= 200 && right == samples, "... of this kind, with their level and latency");
    check(here >= samples * 3 / 4, "... at the addresses that the program uses");
    munmap(r.page, r.bytes + PAGE);
    close(fd);
}

/* By the number in this file perf finds a processor's events. */
static void test_identity(void)
{
#ifdef __aarch64__
    uint64_t midr, is = 0;
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "r");

    __asm__("mrs %0, midr_el1" : "=r"(midr));
    check(f && fscanf(f, "0x%lx", &is) == 1 && is == midr, "/sys tells the processor's MIDR_EL1");
    if (f)
        fclose(f);
#endif
}

void test_accesses(void)
{
    struct perf_event_attr a = attr_of(PERF_TYPE_RAW, LOADS);

    test_identity();
    if (access(EVENTS "mem-loads", F_OK) || access(EVENTS "mem-stores", F_OK)) {
        skip("samples of accesses", "no accesses are sampled");
        return;
    }
    test_kind(LOADS, PERF_MEM_OP_LOAD);
    test_kind(STORES, PERF_MEM_OP_STORE);
    a.config1 = LEAST;
    a.precise_ip = 2;
    a.sample_period = 97;
    a.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
    answer("two kinds of weights", open_event(&a, 0, -1, -1, 0), -EINVAL);
    a.sample_type = PERF_SAMPLE_WEIGHT_STRUCT;
    answer("a weight in parts", open_event(&a, 0, -1, -1, 0), 0);
}
