/*
 * Ends the run readably: message, registers, a symbolised backtrace of every CPU, and a failure as
 * the exit status. The first CPU that panics owns the console; the others are stopped and print in
 * turn. Most are stopped by an interrupt they cannot mask (NMI, FIQ). Where there is none, a CPU
 * with interrupts off stops when it next takes a lock or prints; one that does neither is named. A
 * panic within the panic ends the run at once.
 */
#include "kernel/core/panic.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/end.h"
#include "kernel/core/lock.h"
#include "kernel/core/outputs.h"
#include "kernel/core/printf.h"
#include "kernel/lib/symbols.h"
#include "kernel/lib/text.h"

#define EXIT_CODE_PANIC 101
#define STOP_WAIT_NS    (2 * NS_PER_S) /* for all CPUs to stop */
/* For each CPU to print: on a busy host an emulated CPU rarely runs. */
#define PRINT_WAIT_NS (10 * NS_PER_S)
/* Bounds the wait in a panic before the clock is calibrated, when arch_clock_ns() stands still. */
#define STOP_SPINS_MAX 200000000u

static unsigned owner;        /* index + 1 of the CPU that panics */
static unsigned turn;         /* index + 1 of the CPU that may print */
static bool stopped[CPU_MAX]; /* each written by its own CPU */

struct trace {
    vaddr_t last;
    bool returns;   /* the next address is a return address: the call is before it */
    unsigned again; /* repetitions of the last address: deep recursion is one line */
};

static void print_again(struct trace *trace)
{
    if (trace->again)
        kprintf("    ... %u times more\n", trace->again);
    trace->again = 0;
}

/* Returns whether the caller of the code at `place` was interrupted there, rather than making a
 * call: the address is then exact, perhaps that of a function's first instruction. */
static bool is_entry(const struct symbol_found *place)
{
    static const char name[] = "/entry.S";
    size_t n = place->file ? text_length(place->file) : 0;

    return n >= sizeof(name) - 1 &&
           text_same(name, place->file + n - (sizeof(name) - 1), sizeof(name) - 1);
}

static void print_step(vaddr_t pc, void *arg)
{
    struct trace *trace = arg;
    struct symbol_found place;
    char text[SYMBOLS_TEXT_MAX];
    bool returns = trace->returns;

    if (pc == trace->last) {
        trace->again++;
        return;
    }
    print_again(trace);
    trace->last = pc;
    symbols_find_kernel(pc - returns, &place);
    place.offset += returns;
    trace->returns = !is_entry(&place);
    symbols_describe(&place, text, sizeof(text));
    kprintf("    %016llx%s%s\n", (unsigned long long)pc, text[0] ? " " : "", text);
}

static void print_backtrace(const struct arch_frame *frame)
{
    struct trace trace = {.returns = !frame};

    kprintf("  backtrace: cpu=%u\n", this_cpu()->index);
    arch_backtrace(frame, print_step, &trace);
    print_again(&trace);
}

/* Waits up to `wait_ns` until done(cpu). Returns false if that takes too long. */
static bool wait_until(bool (*done)(const struct cpu *cpu), const struct cpu *cpu, uint64_t wait_ns)
{
    uint64_t since_ns = arch_clock_ns();

    for (unsigned spins = 0; !done(cpu); spins++) {
        if (spins == STOP_SPINS_MAX || arch_clock_ns() - since_ns > wait_ns)
            return false;
        arch_cpu_relax();
    }
    return true;
}

static bool has_stopped(const struct cpu *cpu)
{
    return __atomic_load_n(&stopped[cpu->index], __ATOMIC_ACQUIRE);
}

static bool all_have_stopped(const struct cpu *self)
{
    cpu_for_each (cpu) {
        if (cpu != self && !has_stopped(cpu))
            return false;
    }
    return true;
}

static bool has_had_its_turn(UNUSED const struct cpu *cpu)
{
    return !__atomic_load_n(&turn, __ATOMIC_ACQUIRE);
}

static void let_print(const struct cpu *cpu)
{
    __atomic_store_n(&turn, cpu->index + 1, __ATOMIC_RELEASE);
    if (!wait_until(has_had_its_turn, cpu, PRINT_WAIT_NS))
        kprintf("  backtrace: event=none cpu=%u reason=silent: it does not answer\n", cpu->index);
}

static void print_others(const struct cpu *self)
{
    bool all = wait_until(all_have_stopped, self, STOP_WAIT_NS);

    cpu_for_each (cpu) {
        if (cpu != self && has_stopped(cpu))
            let_print(cpu);
    }
    if (all)
        return;
    cpu_for_each (cpu) {
        if (cpu != self && !has_stopped(cpu))
            kprintf("  backtrace: event=none cpu=%u reason=runs: it did not stop\n", cpu->index);
    }
}

/* Stops a CPU that is not the owner of the panic. */
static NORETURN void panic_stopped(void)
{
    unsigned me = this_cpu()->index + 1;

    arch_irq_save();
    while (has_stopped(this_cpu())) /* entered again: it panicked while printing */
        arch_cpu_relax();
    __atomic_store_n(&stopped[me - 1], true, __ATOMIC_RELEASE);
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
        arch_cpu_relax();
    print_backtrace(NULL);
    __atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
    arch_stop();
}

void panic_stop_asked(void)
{
    if (!end_whole_asked() && !has_stopped(this_cpu()))
        panic_stopped();
}

/* Stops a CPU that takes a lock or prints, unless it owns the panic or it is its turn. */
static void stop_unless_asked(void)
{
    unsigned me = this_cpu()->index + 1;

    if (__atomic_load_n(&owner, __ATOMIC_ACQUIRE) != me &&
        __atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
        panic_stopped();
}

/* Returns on one CPU only: the owner of the panic. */
static void become_owner(void)
{
    unsigned none = 0, me = this_cpu()->index + 1;

    arch_irq_save();
    if (__atomic_compare_exchange_n(&owner, &none, me, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    if (none == me) {
        static const char again[] = "panic: event=nested: panic within panic\r\n";
        static bool twice; /* even that message failed */
        if (twice)
            arch_poweroff(EXIT_CODE_PANIC);
        twice = true;
        console_force(again, sizeof(again) - 1);
        end_run(EXIT_CODE_PANIC);
    }
    panic_stopped();
}

static bool has_code(const char *fmt)
{
    static const char key[] = "code=";
    size_t n = 0;

    while (key[n] && fmt[n] == key[n])
        n++;
    return !key[n];
}

/* Prints the panic's line. A message may begin with keys, the first of them code=. */
static void print_reason(const char *fmt, va_list args)
{
    kprintf("\npanic: cpu=%u%s", this_cpu()->index, has_code(fmt) ? " " : ": ");
    kvprintf(fmt, args);
    kprintf("\n");
}

static NORETURN void panic_all(const struct arch_frame *frame, const char *fmt, va_list args)
{
    va_list again;

    va_copy(again, args);
    become_owner();
    console_panic_mode();
    spin_panic_mode(stop_unless_asked);
    cpu_for_each (cpu) {
        if (cpu != this_cpu())
            arch_ipi_send(cpu, IPI_STOP);
    }
    print_reason(fmt, args);
    if (frame)
        arch_frame_print(frame);
    print_backtrace(frame);
    print_others(this_cpu());
    /* On a display the beginning may have scrolled out. */
    if (outputs_on_display()) {
        print_reason(fmt, again);
        print_backtrace(frame);
    }
    end_run(EXIT_CODE_PANIC);
}

void panic(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    panic_all(NULL, fmt, args);
}

void panic_frame(const struct arch_frame *frame, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    panic_all(frame, fmt, args);
}
