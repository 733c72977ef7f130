/* Checks of the architecture's contract from inside the kernel: protection of the image, user
 * copies, clock, backtraces. */
#include "kernel/core/cpu.h"
#include "kernel/lib/symbols.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "sched/cpuset.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define CLOCK_READS 20000

extern char image_start[], image_end[], text_start[], text_end[], rodata_end[], boot_stack_guard[];

static unsigned prot_of(vaddr_t va)
{
    paddr_t pa;
    unsigned prot;

    return arch_space_query(NULL, va, &pa, &prot) ? 0 : prot;
}

static void image_is_write_xor_execute(void)
{
    for (vaddr_t va = (vaddr_t)image_start; va < (vaddr_t)image_end; va += PAGE_SIZE) {
        unsigned prot = prot_of(va);
        bool text = va >= (vaddr_t)text_start && va < (vaddr_t)text_end;
        bool data = va >= (vaddr_t)rodata_end;
        CHECK(!(prot & PROT_USER));
        CHECK(!(prot & PROT_X) == !text);
        if (va == (vaddr_t)boot_stack_guard)
            CHECK(!prot);
        else
            CHECK(prot && !(prot & PROT_W) == !data);
    }
}

static void direct_map_and_stacks_are_not_executable(void)
{
    char here;
    paddr_t pa;
    unsigned prot;

    CHECK(prot_of((vaddr_t)&here) == (PROT_R | PROT_W));
    CHECK(arch_space_query(NULL, (vaddr_t)&here, &pa, &prot) == 0);
    CHECK(prot_of((vaddr_t)phys_to_virt(pa)) == (PROT_R | PROT_W));
}

/* This thread has no process, so there is no user memory. */
static void user_copies_refuse_every_bad_address(void)
{
    static const vaddr_t bad[] = {0,
                                  1,
                                  USER_MIN,
                                  USER_MAX - 8,
                                  USER_MAX - 1,
                                  USER_MAX,
                                  0x800000000000,
                                  0xffff7fffffffffff,
                                  DIRECT_BASE,
                                  KERNEL_BASE,
                                  (vaddr_t)-8,
                                  (vaddr_t)-1};
    uint64_t word = 0;
    uint32_t half;

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        CHECK(arch_copy_from_user(&word, bad[i], sizeof(word)) == -EFAULT);
        CHECK(arch_copy_to_user(bad[i], &word, sizeof(word)) == -EFAULT);
        CHECK(arch_copy_to_user(bad[i], &word, SIZE_MAX - 4) == -EFAULT);
        CHECK(arch_peek_user32(bad[i] & ~(vaddr_t)3, &half) == -EFAULT);
    }
    CHECK(arch_peek_user32(USER_MIN + 2, &half) == -EFAULT);
    CHECK(arch_copy_from_user(image_start, (vaddr_t)image_start, sizeof(word)) == -EFAULT);
}

static void user_copies_go_through_pages_of_a_space(void)
{
    struct arch_space space;
    const vaddr_t va = 2 * MIB - PAGE_SIZE; /* the second page belongs to another table */
    paddr_t pages[2];
    uint8_t out[64], in[64] = {0};
    uint32_t half = 0;

    CHECK(!arch_space_init(&space, &frame_page_tables));
    for (unsigned i = 0; i < 2; i++) {
        CHECK(!frame_alloc_zeroed(&pages[i]));
        CHECK(!arch_space_map(&space, va + i * PAGE_SIZE, pages[i],
                              PROT_R | PROT_W | PROT_USER | PROT_WRITTEN));
    }
    for (unsigned i = 0; i < sizeof(out); i++)
        out[i] = (uint8_t)(i * 7 + 1);
    bool irq = arch_irq_save();
    arch_space_switch(&space);
    CHECK(!arch_copy_to_user(va + PAGE_SIZE - 33, out, sizeof(out)));
    CHECK(!arch_copy_from_user(in, va + PAGE_SIZE - 33, sizeof(in)));
    CHECK(!memcmp(in, out, sizeof(in)));
    CHECK(!arch_peek_user32(va + PAGE_SIZE - 4, &half));
    CHECK(!memcmp(&half, out + 29, sizeof(half)));
    CHECK(arch_copy_to_user(va + 2 * PAGE_SIZE - 8, out, 16) == -EFAULT);
    CHECK(!arch_space_protect(&space, va, PROT_R | PROT_USER));
    arch_tlb_flush(&space, va, 1);
    CHECK(arch_copy_to_user(va, out, 1) == -EFAULT);
    CHECK(!arch_copy_from_user(in, va, 1));
    arch_space_switch(NULL);
    arch_irq_restore(irq);
    for (unsigned i = 0; i < 2; i++) {
        paddr_t was;
        CHECK(!arch_space_unmap(&space, va + i * PAGE_SIZE, &was) && was == pages[i]);
        frame_free(pages[i], 0);
    }
    arch_space_destroy(&space);
}

static void registers_beyond_the_cpus_reach_are_refused(void)
{
    const paddr_t end = (paddr_t)1 << arch_physical_bits();
    paddr_t pa;
    unsigned prot;

    CHECK(arch_physical_bits() >= 32 && arch_physical_bits() <= 52);
    CHECK(!arch_map_device(end, 1));
    CHECK(!arch_map_device(end - PAGE_SIZE, PAGE_SIZE + 1));
    CHECK(!arch_map_device(end - 2 * MIB, 4 * MIB));
    CHECK(!arch_map_device(-PAGE_SIZE, PAGE_SIZE));
    CHECK(!arch_map_device(-1, 2));
    CHECK(!arch_map_device(PAGE_SIZE, UINT64_MAX));
    /* The registers are not accessed. */
    void *last = arch_map_device(end - 1, 1);
    CHECK(last && !arch_space_query(NULL, (vaddr_t)last, &pa, &prot));
    CHECK(last && pa == end - PAGE_SIZE && prot == (PROT_R | PROT_W | PROT_DEVICE));
}

static uint64_t latest_ns;
static unsigned backwards;

static void read_clock(UNUSED void *arg)
{
    for (unsigned i = 0; i < CLOCK_READS; i++) {
        uint64_t others_ns = __atomic_load_n(&latest_ns, __ATOMIC_SEQ_CST);
        uint64_t now_ns = arch_clock_ns();
        if (now_ns < others_ns)
            __atomic_add_fetch(&backwards, 1, __ATOMIC_RELAXED);
        if (now_ns > others_ns)
            __atomic_compare_exchange_n(&latest_ns, &others_ns, now_ns, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED);
    }
    note_end();
}

static void clock_never_runs_backwards_between_cpus(void)
{
    latest_ns = backwards = 0;
    threads_begin();
    cpu_for_each (cpu)
        start_thread_on(cpu->index, (struct thread_params){.entry = read_clock});
    wait_for_ends(cpu_count());
    CHECK(!backwards);
}

static void sleeps_are_never_short(void)
{
    for (unsigned i = 0; i < 50; i++) {
        uint64_t until_ns = arch_clock_ns() + i * 137 * NS_PER_US / 4;
        sched_sleep_until(until_ns);
        CHECK(arch_clock_ns() >= until_ns);
    }
}

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static uint32_t line_of_look;

static void look_for_caller(vaddr_t pc, void *arg)
{
    struct symbol_found place;

    if (symbols_find_kernel(pc - 1, &place) && place.function && place.file &&
        same(place.function, "backtraces_name_their_callers") && same(place.file, __FILE__) &&
        place.line == line_of_look)
        *(bool *)arg = true;
}

static void __attribute__((noinline)) look_back(bool *found)
{
    arch_backtrace(NULL, look_for_caller, found);
}

static void __attribute__((noinline)) backtraces_name_their_callers(void)
{
    struct symbol_found place;
    bool found = false;

    line_of_look = __LINE__ + 1;
    look_back(&found);
    CHECK(found);
    char text[SYMBOLS_TEXT_MAX];
    CHECK(symbols_find_kernel((vaddr_t)look_back, &place));
    symbols_describe(&place, text, sizeof(text));
    CHECK(text_same("look_back+0x0 ", text, sizeof("look_back+0x0 ") - 1));
    CHECK(!symbols_find_kernel(0, &place) && !symbols_find_kernel((vaddr_t)text_end, &place));
}

static struct {
    uint64_t part[4];
} with_a_value = {{1, 2, 3, 4}};
static uint64_t without_a_value[8];

static bool is_variable(const volatile void *at, const char *name, uint64_t offset)
{
    struct symbol_found place;

    return symbols_find_kernel((vaddr_t)at, &place) && same(place.function, name) &&
           place.offset == offset && !place.file;
}

static void variables_have_their_names(void)
{
    CHECK(is_variable(&with_a_value.part[0], "with_a_value", 0));
    CHECK(is_variable(&with_a_value.part[3], "with_a_value", 24));
    CHECK(is_variable(&without_a_value[0], "without_a_value", 0));
    CHECK(is_variable((char *)&without_a_value[7] + 7, "without_a_value", 63));
}

/* Compares with copies byte by byte; guard bytes around must stay. */
static void memory_functions_do_every_length_and_alignment(void)
{
    static uint8_t a[256], b[256], want[256];

    for (unsigned n = 0; n < 80; n++) {
        for (unsigned from = 0; from < 16; from += 3) {
            for (unsigned to = 0; to < 48; to += 5) {
                for (unsigned i = 0; i < sizeof(a); i++)
                    a[i] = b[i] = want[i] = (uint8_t)(i * 31 + n);
                for (unsigned i = 0; i < n; i++)
                    want[to + 64 + i] = a[from + i];
                memcpy(b + to + 64, a + from, n);
                CHECK(!memcmp(b, want, sizeof(b)));
                for (unsigned i = 0; i < sizeof(a); i++)
                    want[i] = b[i] = (uint8_t)(i * 31 + n);
                for (unsigned i = 0; i < n; i++)
                    want[to + i] = a[from + i];
                memmove(b + to, b + from, n);
                CHECK(!memcmp(b, want, sizeof(b)));
                for (unsigned i = 0; i < n; i++)
                    want[to + i] = (uint8_t)n;
                memset(b + to, (int)n, n);
                CHECK(!memcmp(b, want, sizeof(b)));
                if (n) {
                    b[to + n - 1]++;
                    CHECK((memcmp(b + to, want + to, n) > 0) == (b[to + n - 1] > want[to + n - 1]));
                }
            }
        }
    }
}

static const struct suite_test tests[] = {
    {"the image is writable or executable, never both", image_is_write_xor_execute},
    {"the direct map and stacks are not executable", direct_map_and_stacks_are_not_executable},
    {"user copies refuse every bad address", user_copies_refuse_every_bad_address},
    {"user copies go through the pages of a space", user_copies_go_through_pages_of_a_space},
    {"registers beyond the CPU's reach are refused", registers_beyond_the_cpus_reach_are_refused},
    {"the clock never runs backwards between CPUs", clock_never_runs_backwards_between_cpus},
    {"sleeps are never short", sleeps_are_never_short},
    {"backtraces name their callers", backtraces_name_their_callers},
    {"variables have their names", variables_have_their_names},
    {"memory functions do every length and alignment",
     memory_functions_do_every_length_and_alignment},
    {0},
};

const struct suite arch_suite = {.name = "arch", .tests = tests};
