/* See hpm_kernel.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test/host/double/hpm_kernel.h"
#include "kernel/core/call.h"
#include "kernel/lib/format.h"
#include "kernel/core/printf.h"
#include "kernel/trace/telemetry.h"
#include "kernel/mem/mem.h"
#include "hpm/hpm.h"
#include "hpm/sampling.h"

char double_output[8192];

struct cpu cpus[CPU_MAX];
bool host_irqs_on = true, double_late;
struct cpu *host_cpu = cpus;
uint64_t host_ticks = 1;
vaddr_t host_pc;
bool host_user;
unsigned double_calls_refused, double_frames_max = DOUBLE_FRAMES;
static void *frames[DOUBLE_FRAMES];
static unsigned frame_count;

struct hpm_access *one;

uint64_t telemetry_on; /* 0: nothing is recorded */
uint64_t trace_counts, trace_frequency;
bool double_quanta;

bool telemetry_asked(uint64_t what)
{
    return double_quanta && (what & TELEMETRY_QUANTA);
}

void (*double_put)(enum trace_event id, const uint64_t *values);

bool telemetry_put(enum trace_event id, const uint64_t *values)
{
    if (!double_put)
        abort();
    double_put(id, values);
    return true;
}

uint64_t arch_clock_ns(void)
{
    return host_ticks;
}

uint64_t arch_ticks_ns(uint64_t ticks)
{
    return ticks;
}

uint64_t arch_ticks_hz(void)
{
    return NS_PER_S;
}

vaddr_t arch_frame_pc(const struct arch_frame *frame)
{
    (void)frame;
    return host_pc;
}

bool arch_frame_user(const struct arch_frame *frame)
{
    (void)frame;
    return host_user;
}

/* Nothing that is interrupted keeps records of its callers. */
uint64_t arch_frame_link(const struct arch_frame *frame)
{
    (void)frame;
    return 0;
}

uint64_t arch_frame_sp(const struct arch_frame *frame)
{
    return arch_frame_link(frame);
}

uint64_t arch_frame_caller(const struct arch_frame *frame)
{
    return arch_frame_link(frame);
}

uint64_t arch_frame_kept(const struct arch_frame *frame)
{
    return arch_frame_link(frame);
}

uint64_t arch_frame_scratch(const struct arch_frame *frame)
{
    return arch_frame_link(frame);
}

const struct arch_frame *arch_record_frame(uint64_t at)
{
    (void)at;
    return NULL;
}

void arch_frame_registers(const struct arch_frame *frame, uint64_t *out)
{
    (void)frame;
    memset(out, 0, ARCH_REGISTERS * sizeof *out);
}

const struct arch_frame *arch_user_frame(void)
{
    return NULL;
}

int arch_peek_user32(vaddr_t src, uint32_t *out)
{
    (void)src;
    (void)out;
    return -EFAULT;
}

int arch_peek_user64(vaddr_t src, uint64_t *out)
{
    (void)src;
    (void)out;
    return -EFAULT;
}

int arch_peek64(vaddr_t src, uint64_t *out)
{
    (void)src;
    (void)out;
    return -EFAULT;
}

void *kmalloc(size_t size)
{
    return calloc(1, size);
}

void kfree(void *p)
{
    free(p);
}

unsigned cpu_count(void)
{
    return DOUBLE_CPUS;
}

int call_cpu(struct cpu *cpu, void (*fn)(void *arg), void *arg, uint64_t wait_ns)
{
    struct cpu *caller = host_cpu;
    bool irqs_on = host_irqs_on;

    (void)wait_ns;
    if (double_calls_refused) {
        double_calls_refused--;
        return -ETIMEDOUT;
    }
    host_cpu = cpu;
    host_irqs_on = false;
    fn(arg);
    host_irqs_on = irqs_on;
    host_cpu = caller;
    return 0;
}

void frame_stats(struct frame_stats *out)
{
    *out = (struct frame_stats){1 << 20, 1 << 20};
}

void *area_alloc(uint64_t bytes)
{
    return calloc(1, bytes);
}

void area_free(void *p)
{
    free(p);
}

int frame_alloc(unsigned order, paddr_t *out)
{
    if (frame_count >= double_frames_max)
        return -ENOMEM;
    void *p = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);
    if (!p)
        return -ENOMEM;
    frames[frame_count++] = p;
    *out = virt_to_phys(p);
    return 0;
}

void frame_free(paddr_t pa, unsigned order)
{
    (void)order;
    for (unsigned i = 0; i < frame_count; i++) {
        if (frames[i] != phys_to_virt(pa))
            continue;
        free(frames[i]);
        frames[i] = frames[--frame_count];
        return;
    }
    abort();
}

unsigned double_frames(void)
{
    return frame_count;
}

void double_shut_down(void)
{
    while (frame_count)
        free(frames[--frame_count]);
}

static void append(void *to, const char *s, size_t n)
{
    size_t used = strlen(double_output);

    (void)to;
    if (used + n + 1 > sizeof double_output)
        used = 0;
    memcpy(double_output + used, s, n);
    double_output[used + n] = 0;
}

void kprintf(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    format_text(append, NULL, fmt, args);
    va_end(args);
}

void kwrite(UNUSED enum console_writer writer, const char *s, size_t n)
{
    append(NULL, s, n);
}

size_t kvsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
    return (size_t)vsnprintf(buf, size, fmt, args);
}

size_t ksnprintf(char *buf, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    size_t n = kvsnprintf(buf, size, fmt, args);
    va_end(args);
    return n;
}

void double_run_on(unsigned cpu)
{
    host_cpu = &cpus[cpu];
}

bool double_interruptible(void)
{
    return host_irqs_on && !double_late;
}

void with_argument(const char *name, uint64_t value)
{
    const struct arg *const tables[] = {hpm_args, frequency_args};

    for (unsigned i = 0; i < ARRAY_SIZE(tables); i++)
        for (const struct arg *a = tables[i]; a->name; a++)
            if (!strcmp(a->name, name))
                *a->value = value;
}

void with_modes(uint64_t modes)
{
    with_argument("hpm.modes", modes);
}

void kernel_reset(void)
{
    double_shut_down();
    memset(cpus, 0, sizeof cpus);
    memset(&hpm_state, 0, sizeof hpm_state);
    one = NULL;
    double_output[0] = 0;
    host_irqs_on = true;
    double_late = false;
    double_run_on(0);
}

void kernel_start_hpm(void)
{
    hpm_init(1);
    host_irqs_on = false;
    for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
        cpus[i].index = i;
        cpus[i].online = true;
        double_run_on(i);
        hpm_cpu_init(&cpus[i]);
    }
    host_irqs_on = true;
    double_run_on(0);
}

int one_start(const struct hpm_sampling *config)
{
    int err = one ? 0 : hpm_access_open("one", &one);

    return err ? err : hpm_access_start(one, config);
}

void one_stop(void)
{
    if (one)
        hpm_access_stop(one);
}

size_t one_take(struct hpm_sample *out, size_t max)
{
    return one ? hpm_access_take(one, out, max) : 0;
}

void one_account(struct hpm_sample_account *out)
{
    *out = (struct hpm_sample_account){0};
    if (one)
        hpm_access_account(one, out);
}
