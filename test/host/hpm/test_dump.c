/* Dumps of registers and stacks: as far as the stack is there, no more than wait for the consumer,
 * and each as it was made. */
#include <stdlib.h>
#include <string.h>
#include "test/host/double/expect_panic.h"
#include "hpm/dump.h"
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"

enum { WORDS = 4096, WAIT = 64, STACK = 8192 };
#define BASE ((vaddr_t)0x7000000)

static uint64_t memory[WORDS];
static unsigned present = WORDS; /* words from BASE on */
static uint64_t seed = 11;

/* ---- What the dumps are made of -------------------------------------------------------------- */

vaddr_t arch_frame_sp(const struct arch_frame *frame)
{
    return *(const vaddr_t *)frame;
}

void arch_frame_registers(const struct arch_frame *frame, uint64_t *out)
{
    for (unsigned i = 0; i < ARCH_REGISTERS; i++)
        out[i] = arch_frame_sp(frame) * 31 + i;
}

int arch_peek_user64(vaddr_t at, uint64_t *out)
{
    assert_int_equal(at % 8, 0);
    if (at < BASE || at >= BASE + 8 * present)
        return -EFAULT;
    *out = memory[(at - BASE) / 8];
    return 0;
}

void *kmalloc(size_t bytes)
{
    return calloc(1, bytes);
}

void kfree(void *p)
{
    free(p);
}

void *area_alloc(uint64_t bytes)
{
    return calloc(1, bytes);
}

void area_free(void *p)
{
    free(p);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static uint64_t make(struct dump_ring *r, vaddr_t sp)
{
    return dump_here(r, (const struct arch_frame *)&sp);
}

static void is_dump_of(const struct hpm_dump *d, vaddr_t sp)
{
    uint64_t first = (sp - BASE) / 8, bytes = sp % 8 || sp < BASE ? 0 : (present - first) * 8;

    if (first >= present)
        bytes = 0;
    assert_int_equal(d->register_count, ARCH_REGISTERS);
    for (unsigned i = 0; i < ARCH_REGISTERS; i++)
        assert_int_equal(d->registers[i], sp * 31 + i);
    assert_int_equal(d->bytes, MIN(bytes, (uint64_t)STACK));
    if (d->bytes)
        assert_memory_equal(d->stack, &memory[first], d->bytes);
}

static void as_far_as_the_stack_is_there(void **state)
{
    struct dump_ring *r;
    (void)state;

    assert_int_equal(dumps_make(&r, STACK), 0);
    for (uint64_t n = 1; n <= 2000; n++) {
        vaddr_t sp = BASE - 64 + test_random(&seed) % (8 * WORDS + 128);
        if (test_random(&seed) % 4)
            sp &= ~(vaddr_t)7;
        present = 1 + (unsigned)(test_random(&seed) % WORDS);
        assert_int_equal(make(r, sp), n);
        is_dump_of(dump_at(r, n), sp);
        dump_taken(r, n);
    }
    dumps_free(r);
}

static void none_is_overwritten_that_waits(void **state)
{
    vaddr_t sp[WAIT];
    struct dump_ring *r;
    uint64_t made = 0, taken = 0;
    (void)state;

    present = WORDS;
    assert_int_equal(dumps_make(&r, STACK), 0);
    for (unsigned step = 0; step < 20000; step++) {
        if (test_random(&seed) % 2 && taken < made) {
            uint64_t n = taken + 1 + test_random(&seed) % (made - taken);
            is_dump_of(dump_at(r, n), sp[n % WAIT]);
            dump_taken(r, taken = n);
            continue;
        }
        vaddr_t at = BASE + 8 * (test_random(&seed) % WORDS);
        uint64_t n = make(r, at);
        assert_int_equal(n, made - taken == WAIT ? 0 : made + 1);
        if (n)
            sp[(made = n) % WAIT] = at;
    }
    dumps_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_far_as_the_stack_is_there),
        cmocka_unit_test(none_is_overwritten_that_waits),
    };
    for (unsigned i = 0; i < WORDS; i++)
        memory[i] = test_random(&seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
