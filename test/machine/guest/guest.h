/*
 * The machine's test guest: the minimum to run exact programs on each CPU and to see what the
 * machine counted. There is no kernel; one program runs at a time. Code that depends on the
 * instruction set is in a folder of its name: start.S, platform.c, and platform.h with the inline
 * part:
 *
 *   RETURN_CODE                                   an instruction that returns
 *   ARENA                                         physical = virtual: free memory from here on, 64
 *                                                 MB aligned
 *   uint64_t ticks(void)                          the clock, in model cycles
 *   void cpu_pause(void)                          in a loop that waits for another CPU
 *   void spin(uint64_t n)                         n rounds of two instructions, the second a branch
 *   void invalidate_page(uint64_t va)             one instruction
 *   void system_call(void)                        an exception that returns at once
 *   void halt(void)                               waits for an interrupt
 *   void halt_unless(const volatile void *word)   the same unless the word there is set; loses no
 *                                                 interrupt
 */
#pragma once
#include "kernel/dev/model/machine.h"
#include "platform.h"

#define GUEST_CPUS 64

extern volatile struct machine_id *id;   /* the register pages */
unsigned guest_cpus(void);               /* number of running CPUs */
volatile struct machine_cpu *regs(void); /* of the calling CPU */

void print(const char *text);
void print_number(uint64_t n);

/* Runs f on a CPU other than CPU 0, which is the caller. run_wait waits until it is done. */
void run_on(unsigned cpu, void (*f)(void *), void *arg);
void run_wait(unsigned cpu);

static inline uint64_t load(uint64_t address)
{
    return *(volatile uint64_t *)address;
}

static inline void store(uint64_t address, uint64_t value)
{
    *(volatile uint64_t *)address = value;
}

/* The calling CPU's interrupts: their number, and the time of the last one. */
struct interrupts {
    volatile uint64_t count, time;
};
extern struct interrupts interrupts[GUEST_CPUS];

/* ---- The platform's -------------------------------------------------------------------------- */
unsigned this_cpu(void);
void console_put(char c);
NORETURN void power_off(unsigned code); /* the code becomes QEMU's status as in tools/qemu.sh */
void platform_init(void);               /* called once by the first CPU */
void platform_init_cpu(void);           /* called by each CPU; interrupts are on afterwards */
void platform_start(unsigned cpu, void *stack_top);
/* Configuration space of bus 0, and an address with room for the machine's BAR. */
uint32_t pci_read(unsigned device, unsigned offset);
void pci_write(unsigned device, unsigned offset, uint32_t value);
extern const uint32_t pci_bar_place;
/* Interrupts. All end in guest_interrupt(), which calls interrupt_done(). */
void wake(unsigned cpu);                      /* sends it an interrupt */
void timer_in(uint64_t cycles);               /* raises one here after this time */
void message(volatile struct machine_cpu *r); /* lets the performance monitor raise one here */
/* lets the page-access tracker raise one here */
void path_message(volatile struct machine_path *r);
void interrupt_done(void);

/* Called by the platform's code: by each CPU, the first one first; at each interrupt. */
NORETURN void guest_main(void);
void guest_interrupt(void);

/* Gives the machine a command that must succeed. */
int command(enum machine_command c);

/* Counts up to four events on this CPU between the two calls. mode: MACHINE_COUNT_USER,
 * MACHINE_COUNT_KERNEL. */
struct counting {
    enum machine_event event[4];
    uint64_t value[4];
    uint64_t instructions, cycles;
};
void count_start(const struct counting *c, uint32_t mode);
void count_stop(struct counting *c);

/* Test results, as TAP. */
void check(const char *what, uint64_t value, uint64_t least, uint64_t most);
void tests(void);
extern uint64_t line;                          /* bytes of a line of the caches */
void touch_lines(uint64_t at, uint64_t lines); /* loads from each */
uint64_t arena(uint64_t bytes);                /* returns memory that was not touched before */
extern void (*const platform_tests[])(
    void); /* tests of this instruction set only; NULL after the last */

/* path.c */
void page_accesses_are_tracked(void);

/* disk.c */
void pages_are_transferred_in_model_time(void);

/* wire.c */
void frames_cross_a_wire_in_model_time(void);

/* time.c */
void time_is_model_time(void);

/* pstates.c */
void counters_are_for_users_and_cores_for_saving(void);

/* samples.c */
void accesses_are_sampled(void);

/* settings.c */
void a_turn_counts_nothing_for_the_wrong_event(void);
void a_turn_acknowledges_and_begins_a_whole_period(void);
void bad_settings_are_refused(void);
