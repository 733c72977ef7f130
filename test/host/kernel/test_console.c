/*
 * Text for a transmitter that takes any number of bytes, and for a display: nothing is lost or
 * mixed, and interrupts are never off for more than a portion. An interrupt comes as soon as
 * interrupts are on; each test says what it does.
 */
#include <stdio.h>
#include "test/host/double/expect_panic.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/lib/format.h"
#include "kernel/core/outputs.h"
#include "kernel/core/printf.h"

struct cpu cpus[CPU_MAX];
bool host_irqs_on;
struct cpu *host_cpu = cpus;
uint64_t host_ticks = 1;

static char out[200000];
static size_t out_n;
static size_t takes;             /* bytes taken at once; 0: stuck */
static unsigned looks;           /* number of times that the transmitter was offered bytes */
static size_t since_on, longest; /* bytes handed over since interrupts were last on */
static void (*interrupt)(void);  /* the next interrupt, once */

/* The display: number of portions to draw all of it; 0: there is none. */
#define DRAWS 5
static unsigned draws, undrawn, drawn_since_on, drawn_longest;
static char shown[2000];
static size_t shown_n;

uint64_t arch_clock_ns(void)
{
    return host_ticks;
}

size_t outputs_send(const char *s, size_t n)
{
    size_t took = MIN(n, takes);

    assert_false(host_irqs_on);
    assert_true(n <= CONSOLE_PORTION && out_n + took < sizeof(out));
    memcpy(out + out_n, s, took);
    out_n += took;
    since_on += took;
    longest = MAX(longest, since_on);
    looks++;
    return took;
}

void outputs_show(const char *s, size_t n)
{
    assert_false(host_irqs_on);
    if (!draws || shown_n + n >= sizeof(shown))
        return;
    memcpy(shown + shown_n, s, n);
    shown_n += n;
    undrawn = draws;
}

unsigned outputs_draws(void)
{
    return draws;
}

bool outputs_draw(void)
{
    assert_false(host_irqs_on);
    drawn_longest = MAX(drawn_longest, ++drawn_since_on);
    if (!undrawn)
        return false;
    undrawn--;
    return true;
}

void host_interrupt(void)
{
    void (*now)(void) = interrupt;

    since_on = 0;
    drawn_since_on = 0;
    interrupt = NULL;
    if (now) {
        host_irqs_on = false;
        now();
        assert_false(host_irqs_on);
        host_irqs_on = true;
    }
}

static int start(void **state)
{
    (void)state;
    memset(out, 0, sizeof(out));
    out_n = since_on = longest = looks = 0;
    takes = CONSOLE_PORTION;
    host_irqs_on = true;
    interrupt = NULL;
    memset(shown, 0, sizeof(shown));
    shown_n = undrawn = draws = drawn_since_on = drawn_longest = 0;
    return 0;
}

static int start_with_display(void **state)
{
    start(state);
    draws = DRAWS;
    return 0;
}

static void expect_out(const char *want)
{
    assert_string_equal(out, want);
    assert_true(host_irqs_on);
    assert_int_equal(cpus[0].spin_depth, 0);
}

static void lines_go_out_as_terminals_want_them(void **state)
{
    (void)state;
    kprintf("one %d\ntwo\n", 1);
    kwrite(CONSOLE_PROGRAM, "th\0ree", 6);
    assert_int_equal(out_n, 18);
    assert_memory_equal(out, "one 1\r\ntwo\r\nth\0ree", 18);
}

static void a_split_console_has_what_programs_write_byte_for_byte(void **state)
{
    static const char want[] =
        "boot\r\n\20Pa\n\r\n\20\20P\20K\20\20K\r\n\20P\20\20\20Ee\n\20Kend\r\n";

    (void)state;
    kprintf("%s", "");
    console_split = 1;
    kprintf("boot\n");
    kwrite(CONSOLE_PROGRAM, "a\n\r\n", 4);
    kwrite(CONSOLE_PROGRAM, "\20P", 2);
    kprintf("\20K\n");
    kwrite(CONSOLE_PROGRAM, "\20", 1);
    kwrite(CONSOLE_ERRORS, "e\n", 2);
    kprintf("end\n");
    console_split = 0;
    assert_int_equal(out_n, sizeof(want) - 1);
    assert_memory_equal(out, want, sizeof(want) - 1);
}

static void interrupts_are_off_for_a_portion_at_most(void **state)
{
    static char text[1500];

    memset(text, 'x', sizeof(text) - 1);
    for (size_t some = 1; some <= CONSOLE_PORTION; some += 5) {
        start(state);
        takes = some;
        kprintf("%s", text);
        expect_out(text);
        assert_true(longest <= CONSOLE_PORTION);
    }
}

static void with_interrupts_off_all_goes_out_all_the_same(void **state)
{
    (void)state;
    host_irqs_on = false;
    kprintf("nothing may come in between, and this is more than one portion");
    assert_false(host_irqs_on);
    host_irqs_on = true;
    expect_out("nothing may come in between, and this is more than one portion");
}

static void write_in_between(void)
{
    kprintf("[interrupt]\n");
}

static void an_interrupt_may_write_amid_a_line_and_does_not_mix(void **state)
{
    (void)state;
    interrupt = write_in_between;
    takes = 3;
    kprintf("a line that is interrupted as soon as its first bytes are out\n");
    expect_out("a line that is interrupted as soon as its first bytes are out\r\n[interrupt]\r\n");
}

static void a_text_longer_than_the_ring_goes_out_whole(void **state)
{
    static char text[100000];

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(text); i++)
        text[i] = (char)('a' + i % 23);
    takes = 7;
    kprintf("%s", text);
    expect_out(text);
}

static void many_texts_wrap_around_in_the_ring(void **state)
{
    size_t at = 0;

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        char want[80];
        takes = 1 + i % CONSOLE_PORTION;
        kprintf("text %u%.*s\n", i, (int)(i % 50),
                "--------------------------------------------------");
        int n = snprintf(want, sizeof(want), "text %u%.*s\r\n", i, (int)(i % 50),
                         "--------------------------------------------------");
        assert_memory_equal(out + at, want, (size_t)n);
        at += (size_t)n;
        assert_int_equal(out_n, at);
    }
}

static void a_stuck_transmitter_costs_its_text_and_not_the_kernel(void **state)
{
    (void)state;
    takes = 0;
    kprintf("lost");
    unsigned first = looks;
    kprintf("lost at once");
    assert_true(looks - first < first / 50);
    assert_int_equal(out_n, 0);
    takes = 4;
    kprintf("heard again");
    expect_out("heard again");
}

static void a_display_is_drawn_with_interrupts_let_in(void **state)
{
    (void)state;
    kprintf("a line\n");
    expect_out("a line\r\n");
    assert_string_equal(shown, "a line\n");
    assert_int_equal(undrawn, 0);
    assert_int_equal(drawn_longest, 1);
}

static void a_stuck_transmitter_does_not_keep_text_from_the_display(void **state)
{
    (void)state;
    takes = 0;
    kprintf("not lost");
    assert_int_equal(out_n, 0);
    assert_string_equal(shown, "not lost");
    assert_int_equal(undrawn, 0);
}

/* Makes everything stale again whenever it was drawn. */
static void put_more(void)
{
    undrawn = draws;
    interrupt = put_more;
}

static void who_prints_does_not_draw_for_others_for_ever(void **state)
{
    (void)state;
    interrupt = put_more;
    kprintf("mine\n");
    assert_true(undrawn);
    interrupt = NULL;
    console_draw();
    assert_int_equal(undrawn, 0);
}

static void with_interrupts_off(const char *text)
{
    host_irqs_on = false;
    drawn_longest = 0;
    kprintf("%s", text);
    assert_false(host_irqs_on);
    host_irqs_on = true;
}

/* This cannot be undone, either. */
static void once_a_thread_draws_nobody_does_with_interrupts_off(void **state)
{
    (void)state;
    with_interrupts_off("one");
    assert_int_equal(undrawn, 0);
    console_draw_later();
    with_interrupts_off("two");
    assert_int_equal(drawn_longest, 0);
    assert_int_equal(undrawn, DRAWS);
    console_draw();
    assert_int_equal(undrawn, 0);
    kprintf("three");
    assert_int_equal(undrawn, 0);
    assert_string_equal(shown, "onetwothree");
}

static void write_half(void)
{
    console_begin(CONSOLE_KERNEL);
    console_put("half", 4);
}

static void panic_on_another_cpu(void)
{
    cpus[1].index = 1;
    host_cpu = &cpus[1];
    console_panic_mode();
    kprintf("panic\n");
    host_cpu = &cpus[0];
}

/* These come last: panic mode cannot be left. */
static void a_panic_gets_through_whoever_has_the_console(void **state)
{
    (void)state;
    interrupt = write_half; /* CPU 0 is stopped in the middle of a text, with the lock held */
    host_interrupt();
    interrupt = panic_on_another_cpu;
    host_interrupt();
    assert_string_equal(out, "panic\r\n");
    assert_string_equal(shown, "halfpanic\n");
    /* with interrupts off, whether or not a drawing thread exists */
    assert_int_equal(undrawn, 0);
}

static void what_was_on_its_way_comes_before_a_panic(void **state)
{
    (void)state;
    interrupt = panic_on_another_cpu;
    takes = 3;
    kprintf("the line that was on its way\n");
    expect_out("the line that was on its way\r\npanic\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lines_go_out_as_terminals_want_them, start),
        cmocka_unit_test_setup(a_split_console_has_what_programs_write_byte_for_byte, start),
        cmocka_unit_test_setup(interrupts_are_off_for_a_portion_at_most, start),
        cmocka_unit_test_setup(with_interrupts_off_all_goes_out_all_the_same, start),
        cmocka_unit_test_setup(an_interrupt_may_write_amid_a_line_and_does_not_mix, start),
        cmocka_unit_test_setup(a_text_longer_than_the_ring_goes_out_whole, start),
        cmocka_unit_test_setup(many_texts_wrap_around_in_the_ring, start),
        cmocka_unit_test_setup(a_stuck_transmitter_costs_its_text_and_not_the_kernel, start),
        cmocka_unit_test_setup(a_display_is_drawn_with_interrupts_let_in, start_with_display),
        cmocka_unit_test_setup(a_stuck_transmitter_does_not_keep_text_from_the_display,
                               start_with_display),
        cmocka_unit_test_setup(who_prints_does_not_draw_for_others_for_ever, start_with_display),
        cmocka_unit_test_setup(once_a_thread_draws_nobody_does_with_interrupts_off,
                               start_with_display),
        cmocka_unit_test_setup(a_panic_gets_through_whoever_has_the_console, start_with_display),
        cmocka_unit_test_setup(what_was_on_its_way_comes_before_a_panic, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
