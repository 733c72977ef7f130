/* Effects of AArch64 instructions on the model: words as an assembler makes them, and what the
 * engine is asked to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "test/machine/engine.h"

#define CPUS           3
#define COST_SYNC      30
#define COST_TLBI      120
#define COST_IPI       300
#define TTBR0_REGISTER 31
#define TTBR1_REGISTER 32
#define TCR_REGISTER   33
#define TCR_A1         (1ull << 22)

struct machine machine;
static struct vcpu vcpus[CPUS];
static const struct topology topology = {
    .context_sync_cycles = COST_SYNC, .tlb_invalidate_cycles = COST_TLBI, .ipi_cycles = COST_IPI};

/* ---- The engine's double: notes its last call, and counts calls ------------------------------ */

static struct {
    const char *what;
    const struct vcpu *on;
    uint64_t value, space, cycles;
    unsigned calls;
} asked;
static uint64_t registers[36]; /* in the order of isa_aarch64.registers */

static void note_call(const char *what, const struct vcpu *on, uint64_t value, uint64_t space)
{
    asked.what = what;
    asked.on = on;
    asked.value = value;
    asked.space = space;
    asked.calls++;
}

void execute_fence(struct vcpu *v)
{
    note_call("fence", v, 0, 0);
}

void execute_device(struct vcpu *v)
{
    note_call("device", v, 0, 0);
}

void execute_charge(struct vcpu *v, uint64_t cycles)
{
    (void)v;
    asked.cycles += cycles;
}

void execute_exception_return(struct vcpu *v)
{
    note_call("return", v, 0, 0);
}

void execute_block_store(struct vcpu *v, vaddr_t va, uint64_t bytes, vaddr_t pc)
{
    (void)pc;
    note_call("zero", v, va, bytes);
}

void execute_flush_all(struct vcpu *v)
{
    note_call("all", v, 0, 0);
}

void execute_flush_space(struct vcpu *v, uint16_t space)
{
    note_call("space", v, 0, space);
}

void execute_flush_page(struct vcpu *v, vaddr_t va, uint16_t space)
{
    note_call("page", v, va, space);
}

void execute_flush_page_all(struct vcpu *v, vaddr_t va)
{
    note_call("page in all", v, va, 0);
}

uint64_t execute_register(struct vcpu *v, int number)
{
    (void)v;
    return registers[number];
}

void turn_pause(struct vcpu *v)
{
    note_call("pause", v, 0, 0);
}

void turn_halt(struct vcpu *v)
{
    note_call("halt", v, 0, 0);
}

static struct insn decoded(uint32_t word)
{
    struct insn i = {.bytes = 4};
    uint8_t bytes[4];

    memcpy(bytes, &word, sizeof(bytes));
    isa_aarch64.decode(&i, bytes, sizeof(bytes));
    return i;
}

/* Executes an instruction on the second CPU. */
static void executed(uint32_t word)
{
    struct insn i = decoded(word);

    memset(&asked, 0, sizeof(asked));
    asked.what = "nothing";
    if (i.execute)
        i.execute(&vcpus[1], &i);
}

static int prepare(void **state)
{
    (void)state;
    memset(vcpus, 0, sizeof(vcpus));
    memset(registers, 0, sizeof(registers));
    machine = (struct machine){.topology = &topology, .vcpus = vcpus, .cpus = CPUS};
    return 0;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

struct word {
    uint32_t word;
    const char *text;
};

static void calls_and_returns_are_told(void **state)
{
    static const struct word calls[] = {{0x94000010, "bl"},
                                        {0xd63f0020, "blr x1"},
                                        {0xd63f083f, "blraaz x1"},
                                        {0xd73f0822, "blraa x1, x2"}};
    static const struct word returns[] = {
        {0xd65f03c0, "ret"}, {0xd65f0bff, "retaa"}, {0xd65f0fff, "retab"}};
    static const struct word neither[] = {
        {0x14000010, "b"}, {0xd61f0200, "br x16"}, {0xd69f03e0, "eret"}, {0x54000041, "b.ne"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        if (!decoded(calls[i].word).call || decoded(calls[i].word).back)
            fail_msg("%s is a call", calls[i].text);
    for (size_t i = 0; i < ARRAY_SIZE(returns); i++)
        if (decoded(returns[i].word).call || !decoded(returns[i].word).back)
            fail_msg("%s is a return", returns[i].text);
    for (size_t i = 0; i < ARRAY_SIZE(neither); i++)
        if (decoded(neither[i].word).call || decoded(neither[i].word).back)
            fail_msg("%s is neither", neither[i].text);
}

static void branches_that_can_go_two_ways_are_predicted(void **state)
{
    static const struct word yes[] = {{0x54000041, "b.ne"},         {0xb4000060, "cbz x0"},
                                      {0x35000021, "cbnz w1"},      {0x36180042, "tbz w2, #3"},
                                      {0xb7180042, "tbnz x2, #35"}, {0xd65f03c0, "ret"},
                                      {0xd61f0200, "br x16"},       {0xd63f0020, "blr x1"}};
    static const struct word no[] = {{0x14000010, "b"},        {0x94000010, "bl"},
                                     {0xd503201f, "nop"},      {0xd69f03e0, "eret"},
                                     {0x9a811000, "csel, ne"}, {0xd4000001, "svc #0"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
        if (!decoded(yes[i].word).predicted)
            fail_msg("%s is not predicted", yes[i].text);
    for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
        struct insn found = decoded(no[i].word);
        if (found.predicted)
            fail_msg("%s is predicted", no[i].text);
        if (found.jump != (i < 2))
            fail_msg("%s: a direct jump is b or bl", no[i].text);
    }
}

static void what_reads_and_writes_at_once_is_atomic(void **state)
{
    static const struct word yes[] = {
        {0xc8027c20, "stxr w2, x0, [x1]"},     {0x0800fc20, "stlxrb w0, w0, [x1]"},
        {0xc8220420, "stxp w2, x0, x1, [x1]"}, {0xc8a07c41, "cas x0, x1, [x2]"},
        {0x48e0fc41, "casalh w0, w1, [x2]"},   {0x48207c82, "casp x0, x1, x2, x3, [x4]"},
        {0xf8210040, "ldadd x1, x0, [x2]"},    {0xb8e03041, "ldsetal w0, w1, [x2]"},
        {0xf8e18040, "swpal x1, x0, [x2]"},    {0xf820005f, "stadd x0, [x2]"}};
    static const struct word no[] = {
        {0xc85f7c20, "ldxr x0, [x1]"},           {0xc85ffc20, "ldaxr x0, [x1]"},
        {0xc87f0420, "ldxp x0, x1, [x1]"},       {0xf8bfc020, "ldapr x0, [x1]"},
        {0xc8dffc20, "ldar x0, [x1]"},           {0xc89ffc20, "stlr x0, [x1]"},
        {0xa9bf07e0, "stp x0, x1, [sp, #-16]!"}, {0xf8216840, "str x0, [x2, x1]"},
        {0xf8200420, "ldraa x0, [x1]"},          {0x3c810400, "str q0, [x0], #16"},
        {0x4c402c20, "ld1 {v0.2d-v3.2d}, [x1]"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
        if (!decoded(yes[i].word).atomic)
            fail_msg("%s is not atomic", yes[i].text);
    for (size_t i = 0; i < ARRAY_SIZE(no); i++)
        if (decoded(no[i].word).atomic)
            fail_msg("%s is atomic", no[i].text);
}

static void instructions_do_what_they_should(void **state)
{
    static const struct {
        struct word instruction;
        const char *what;
        uint64_t cycles;
    } list[] = {
        {{0xd503203f, "yield"}, "pause", 0},
        {{0xd503205f, "wfe"}, "pause", 0},
        {{0xd503207f, "wfi"}, "halt", 0},
        {{0xd503201f, "nop"}, "nothing", 0},
        {{0xd503209f, "sev"}, "nothing", 0},
        {{0xd5033f9f, "dsb sy"}, "fence", 0},
        {{0xd5033b9f, "dsb ish"}, "fence", 0},
        {{0xd5033abf, "dmb ishst"}, "fence", 0},
        {{0xd5033bbf, "dmb ish"}, "fence", 0},
        {{0xd50339bf, "dmb ishld"}, "nothing", 0},
        {{0xd503399f, "dsb ishld"}, "nothing", 0},
        {{0xd5033fdf, "isb"}, "nothing", COST_SYNC},
        {{0xd69f03e0, "eret"}, "return", 0},
        {{0xd4000001, "svc #0"}, "nothing", 0},
        {{0xd51be320, "msr cntv_ctl_el0, x0"}, "device", 0},
        {{0xd51be340, "msr cntv_cval_el0, x0"}, "device", 0},
        {{0xd51be200, "msr cntp_tval_el0, x0"}, "device", 0},
        {{0xd53be040, "mrs x0, cntvct_el0"}, "nothing", 0},
        {{0xd53be320, "mrs x0, cntv_ctl_el0"}, "nothing", 0},
        {{0xd518cba0, "msr icc_sgi1r_el1, x0"}, "device", COST_IPI},
        {{0xd538cc00, "mrs x0, icc_iar1_el1"}, "device", 0},
        {{0xd518cc20, "msr icc_eoir1_el1, x0"}, "device", 0},
        {{0xd518c000, "msr vbar_el1, x0"}, "nothing", 0},
        {{0xd5184600, "msr icc_pmr_el1, x0"}, "nothing", 0},
        {{0xd50342df, "msr daifset, #2"}, "nothing", 0},
        {{0xd51bd040, "msr tpidr_el0, x0"}, "nothing", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
        executed(list[i].instruction.word);
        if (strcmp(asked.what, list[i].what) || asked.cycles != list[i].cycles)
            fail_msg("%s: %s, %llu cycles", list[i].instruction.text, asked.what,
                     (unsigned long long)asked.cycles);
    }
}

static void an_invalidation_names_page_and_space(void **state)
{
    (void)state;
    registers[3] = (uint64_t)0x1234 << 48 | (0xffff800012345000ull >> 12 & ((1ull << 44) - 1));
    executed(0xd5088723); /* tlbi vae1, x3 */
    assert_string_equal(asked.what, "page");
    assert_int_equal(asked.value, 0xffff800012345000);
    assert_int_equal(asked.space, 0x1234);
    assert_int_equal(asked.cycles, COST_TLBI);
    assert_int_equal(asked.calls, 1);
    assert_ptr_equal(asked.on, &vcpus[1]);

    registers[3] = 0x7ffff5678ull;
    executed(0xd50887e3); /* tlbi vaale1, x3 */
    assert_string_equal(asked.what, "page in all");
    assert_int_equal(asked.value, 0x7ffff5678000);
    registers[3] = (uint64_t)9 << 48;
    executed(0xd5088743); /* tlbi aside1, x3 */
    assert_string_equal(asked.what, "space");
    assert_int_equal(asked.space, 9);
    executed(0xd508871f); /* tlbi vmalle1 */
    assert_string_equal(asked.what, "all");
}

static void shareable_invalidations_reach_every_cpu(void **state)
{
    (void)state;
    executed(0xd508831f); /* tlbi vmalle1is */
    assert_string_equal(asked.what, "all");
    assert_int_equal(asked.calls, CPUS);
    assert_int_equal(asked.cycles, COST_TLBI);
    executed(0xd5088323); /* tlbi vae1is, x3 */
    assert_string_equal(asked.what, "page");
    assert_int_equal(asked.calls, CPUS);
    executed(0xd5088123); /* tlbi vae1os, x3 */
    assert_int_equal(asked.calls, CPUS);
    executed(0xd5088223); /* tlbi rvae1is, x3 */
    assert_string_equal(asked.what, "all");
    assert_int_equal(asked.calls, CPUS);
    executed(0xd5088623); /* tlbi rvae1, x3 */
    assert_string_equal(asked.what, "all");
    assert_int_equal(asked.calls, 1);
}

static void the_address_space_is_in_the_register_that_tcr_says(void **state)
{
    (void)state;
    registers[0] = (uint64_t)5 << 48 | 0x1000;
    executed(0xd5182000); /* msr ttbr0_el1, x0 */
    assert_int_equal(vcpus[1].space, 5);
    registers[0] = (uint64_t)6 << 48 | 0x1000;
    executed(0xd5182020); /* msr ttbr1_el1, x0 */
    assert_int_equal(vcpus[1].space, 5);
    registers[TCR_REGISTER] = TCR_A1;
    executed(0xd5182020);
    assert_int_equal(vcpus[1].space, 6);
    executed(0xd5182000);
    assert_int_equal(vcpus[1].space, 6);
}

static void zero_as_an_operand_is_no_register(void **state)
{
    (void)state;
    registers[TTBR0_REGISTER] = (uint64_t)7 << 48; /* the index of XZR */
    vcpus[1].space = 7;
    executed(0xd518201f); /* msr ttbr0_el1, xzr */
    assert_int_equal(vcpus[1].space, 0);
}

static void writing_tcr_changes_where_the_address_space_is(void **state)
{
    (void)state;
    registers[TTBR0_REGISTER] = (uint64_t)7 << 48;
    registers[TTBR1_REGISTER] = (uint64_t)8 << 48;
    registers[0] = TCR_A1;
    executed(0xd5182040); /* msr tcr_el1, x0 */
    assert_int_equal(vcpus[1].space, 8);
    assert_string_equal(asked.what, "all");
    registers[0] = 0;
    executed(0xd5182040);
    assert_int_equal(vcpus[1].space, 7);
}

static void turning_translation_on_forgets_all(void **state)
{
    (void)state;
    executed(0xd5181000); /* msr sctlr_el1, x0 */
    assert_string_equal(asked.what, "all");
    assert_true(vcpus[1].globals);
}

static void zeroing_takes_the_whole_block(void **state)
{
    (void)state;
    registers[7] = 0x12345;
    executed(0xd50b7427); /* dc zva, x7 */
    assert_string_equal(asked.what, "zero");
    assert_int_equal(asked.value, 0x12340);
    assert_int_equal(asked.space, 64);
    executed(0xd50b7e27); /* dc civac, x7 */
    assert_string_equal(asked.what, "nothing");
}

static void only_firmware_calls_that_wait_park_a_cpu(void **state)
{
    (void)state;
    registers[0] = 0xc4000001; /* CPU_SUSPEND */
    executed(0xd4000002);      /* hvc #0 */
    assert_true(vcpus[1].parks);
    registers[0] = 0x84000002; /* CPU_OFF */
    executed(0xd4000003);      /* smc #0 */
    assert_true(vcpus[1].parks);
    registers[0] = 0xc4000003; /* CPU_ON */
    executed(0xd4000002);
    assert_false(vcpus[1].parks);
    assert_int_equal(asked.cycles, COST_IPI);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(calls_and_returns_are_told, prepare),
        cmocka_unit_test_setup(branches_that_can_go_two_ways_are_predicted, prepare),
        cmocka_unit_test_setup(what_reads_and_writes_at_once_is_atomic, prepare),
        cmocka_unit_test_setup(instructions_do_what_they_should, prepare),
        cmocka_unit_test_setup(an_invalidation_names_page_and_space, prepare),
        cmocka_unit_test_setup(shareable_invalidations_reach_every_cpu, prepare),
        cmocka_unit_test_setup(the_address_space_is_in_the_register_that_tcr_says, prepare),
        cmocka_unit_test_setup(zero_as_an_operand_is_no_register, prepare),
        cmocka_unit_test_setup(writing_tcr_changes_where_the_address_space_is, prepare),
        cmocka_unit_test_setup(turning_translation_on_forgets_all, prepare),
        cmocka_unit_test_setup(zeroing_takes_the_whole_block, prepare),
        cmocka_unit_test_setup(only_firmware_calls_that_wait_park_a_cpu, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
