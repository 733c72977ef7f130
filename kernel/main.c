/*
 * The start of the kernel, in order, on one screen: kernel_main() until there are threads, then init() in the first of them.
 * Here is also what ties the subsystems together: the handlers the architecture reports to, and the boot arguments' tables.
 */
#include "hpm/hpm.h"
#include "hpm/path/path.h"
#include "kernel/boot/boot_info.h"
#include "kernel/core/call.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/block/block.h"
#include "kernel/drivers.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/firmware/numa.h"
#include "kernel/dev/pci/pci.h"
#include "kernel/core/end.h"
#include "kernel/mem/memory_check.h"
#include "kernel/report/monitor.h"
#include "kernel/core/number.h"
#include "kernel/core/outputs.h"
#include "kernel/core/panic.h"
#include "kernel/core/printf.h"
#include "kernel/proc/process.h"
#include "kernel/report/quirks.h"
#include "kernel/run.h"
#include "kernel/selftest/selftest.h"
#include "kernel/trace/telemetry.h"
#include "kernel/mem/mem.h"
#include "mm/mm.h"
#include "mm/track/track.h"
#include "sched/cpuset.h"
#include "sched/sched.h"

#define VERSION              "0.1"
#define EXIT_BAD_ARGUMENT    2
#define EXIT_SELFTEST        3
#define STATUS_MAX           127 /* the largest exit status of a run */
#define SECONDARY_STACK_SIZE KSTACK_SIZE
#define MEM_LIMIT_MIN        (32 * MIB)
#define MEM_UNLIMITED        (4 * GIB)

static uint64_t cpus_limit = CPU_MAX, mem_limit = MEM_UNLIMITED, console_wanted = OUTPUTS_AUTO;

static const struct arg kernel_args[] = {
    {"cpus", ARG_U64, &cpus_limit, 1, CPU_MAX, NULL, ARG_BOOT, "use at most this many CPUs"},
    {"cpus.late", ARG_U64, &arch_cpu_late, 0, CPU_MAX - 1, NULL, ARG_BOOT,
     "for tests: the CPU of this number comes when another one is started in its place; 0: none does"},
    {"mem.limit", ARG_BYTES, &mem_limit, MEM_LIMIT_MIN, MEM_UNLIMITED, NULL, ARG_BOOT,
     "use no memory above this address; the largest value: no limit"},
    {"mem.space_ids", ARG_U64, &arch_space_ids_max, ARCH_SPACE_IDS_MIN, ARCH_SPACE_IDS_MAX, NULL, ARG_BOOT,
     "where the TLB tells address spaces apart by identifiers (AArch64), use fewer than so many"},
    {"numbers.first", ARG_U64, &numbers_first, 1, NUMBER_MAX, NULL, ARG_BOOT,
     "for tests: number of the first process, and of the first thread; behind the largest comes 1 again"},
    {"console", ARG_CHOICE, &console_wanted, 0, 0, outputs_choices, ARG_BOOT,
     "where text goes; auto: the serial port that firmware names, or else the framebuffer and any serial "
     "port"},
    {"end", ARG_CHOICE, &end_wanted, 0, 0, end_choices, ARG_BOOT,
     "after the run switch off, or stay on; auto: stay on where text goes to the framebuffer"},
    {"selftest", ARG_BOOL, &selftest_wanted, 0, 0, NULL, ARG_BOOT,
     "check this machine before anything is run, and print a report of it"},
    {0},
};
const struct arg *const arg_tables[] = {kernel_args, sched_args,     sharing_args, hpm_args,     mm_args,
                                        track_args,  telemetry_args, disk_args,    process_args, NULL};

static char cmdline_text[BOOT_CMDLINE_MAX], cmdline_error[256];
static struct cmdline cmdline;
static struct arch_shape shape; /* too large for a stack */
static unsigned cpus_found;

/* ---- What the architecture reports ---- */

static void handle_ipi(enum arch_ipi kind)
{
    switch (kind) {
    case IPI_RESCHED: /* cpu->resched is set; the way out of this interrupt or the idle loop looks at it */
        break;
    case IPI_TLB:
        tlb_ipi();
        break;
    case IPI_CALL:
        call_ipi();
        break;
    case IPI_STOP:
        panic_stop_asked();
        break;
    default:
        panic("unexpected inter-processor interrupt %d", (int)kind);
    }
}

static void handle_timer(const struct arch_frame *frame)
{
    hpm_timer(frame);
    sched_timer();
}

static void handle_user_return(const struct arch_frame *frame)
{
    if (frame)
        hpm_entered(frame);
    track_user_return();
    sched_point();
    process_user_return();
}

static const struct arch_handlers handlers = {
    .timer = handle_timer,
    .ipi = handle_ipi,
    .pmu = hpm_interrupt,
    .path = path_interrupt,
    .interrupt_begin = hpm_interrupt_begin,
    .interrupt_end = hpm_interrupt_end,
    .page_fault = process_page_fault,
    .user_fault = process_user_fault,
    .syscall = syscall_dispatch,
    .user_return = handle_user_return,
};

/* ---- Boot arguments ---- */

static void print_help(void)
{
    static const char *const scope[] = {[ARG_BOOT] = "",
                                        [ARG_GROUP] = "; also per application, for all beside it",
                                        [ARG_PROCESS] = "; also per application"};
    char value[32], accepts[160];

    kprintf("usage: argument=value ... -- [argument=value ...] application arguments ; application & "
            "application ...\n");
    for (const struct arg *const *table = arg_tables; *table; table++) {
        for (const struct arg *a = *table; a->name; a++) {
            kprintf("  %-20s %s\n", a->name, a->help);
            kprintf("  %-20s   %s; default %s%s\n", "", cmdline_accepts(a, accepts, sizeof(accepts)),
                    cmdline_value(a, *a->value, value, sizeof(value)), scope[a->scope]);
        }
    }
    for (const struct sched_policy *const *p = sched_policies; *p; p++)
        kprintf("  sched.policy=%-10s %s\n", sched_policy_name(*p), sched_policy_help(*p));
    process_list_applications();
}

/* Prints nothing: the arguments say where to. */
static int read_arguments(const struct boot_info *info)
{
    memcpy(cmdline_text, info->cmdline, sizeof(cmdline_text));
    cmdline_text[sizeof(cmdline_text) - 1] = '\0';
    return cmdline_parse(cmdline_text, arg_tables, &cmdline, cmdline_error, sizeof(cmdline_error));
}

static void obey_arguments(int err)
{
    if (err) {
        kprintf("boot arguments: %s\n", cmdline_error);
        end_run(EXIT_BAD_ARGUMENT);
    }
    if (cmdline.help) {
        print_help();
        end_run(0);
    }
}

/* ---- Start ---- */

static void start_memory(const struct boot_info *info)
{
    paddr_t limit = mem_limit == MEM_UNLIMITED ? boot_early_end(info) : mem_limit;

    memory_check_start(info, limit);
    frame_init(info, limit);
    arch_init_memory(info, &frame_page_tables);
    outputs_mapped();
    console_draw();
    if (mem_limit == MEM_UNLIMITED)
        frame_init_rest();
}

static void print_memory(void)
{
    struct frame_stats stats;

    frame_stats(&stats);
    kprintf("memory: %llu MB, %llu MB free\n", (unsigned long long)(stats.total_pages * PAGE_SIZE / MIB),
            (unsigned long long)(stats.free_pages * PAGE_SIZE / MIB));
}

static void print_cpus(void)
{
    const struct sched_topology *t = sched_topology();

    kprintf("cpus: %u on %u chips of %u cores of %u threads\n", t->cpus, t->chips, t->cores_per_chip,
            t->threads_per_core);
    for (unsigned chip = 0; chip < t->chips; chip++) {
        char line[512];
        size_t n = 0;
        unsigned core = CPU_MAX;
        for (unsigned i = 0; i < t->cpus && n < sizeof(line); i++) {
            if (t->of[i].chip != chip)
                continue;
            n += ksnprintf(line + n, sizeof(line) - n, "%s %u", t->of[i].core == core ? "" : "  |", i);
            core = t->of[i].core;
        }
        kprintf("  chip %u%s\n", chip, line);
    }
}

/* The last element of arg is what nobody gives to a node. */
static void count_by_node(paddr_t base, paddr_t end, void *arg)
{
    const struct numa *numa = arch_numa();
    uint64_t *bytes = arg;

    bytes[numa->node_count] += end - base;
    for (unsigned node = 0; node < numa->node_count; node++) {
        uint64_t own = numa_bytes(numa, node, base, end);
        bytes[node] += own;
        bytes[numa->node_count] -= own;
    }
}

static void print_nodes(void)
{
    const struct numa *numa = arch_numa();
    uint64_t bytes[NUMA_NODES_MAX + 1] = {0}, *unnamed = &bytes[numa->node_count];
    static char line[NUMA_NODES_MAX * 24]; /* too large for a stack; only the first thread comes here */
    size_t n = 0;

    frame_each_run(count_by_node, bytes);
    if (numa->source && *unnamed)
        kprintf("nodes: %s gives no node to %llu KB: node 0\n", numa->source,
                (unsigned long long)(*unnamed / KIB));
    bytes[0] += *unnamed;
    for (unsigned node = 0; node < numa->node_count && n < sizeof(line); node++)
        n += ksnprintf(line + n, sizeof(line) - n, "%s %u: %u CPUs %llu MB", node ? "," : "", node,
                       cpuset_count(&sched_topology()->node_cpus[node]),
                       (unsigned long long)(bytes[node] / MIB));
    kprintf("nodes: %u%s%s;%s\n", numa->node_count, numa->source ? " by " : "",
            numa->source ? numa->source : "", line);
}

static void start_cpus(void)
{
    for (unsigned i = 1; i < cpus_found; i++) {
        char *stack = kstack_alloc(SECONDARY_STACK_SIZE);
        if (!stack) {
            kprintf("cpus: no memory for the stack of CPU %u\n", i);
            cpus_found = i;
            break;
        }
        cpus[i].boot_stack_top = stack + SECONDARY_STACK_SIZE;
        sched_init_cpu(&cpus[i]);
    }
    unsigned running = arch_cpus_start(cpus, cpus_found);
    sched_topology_init(running);
    cpu_count_set(running);
    print_cpus();
    print_nodes();
}

/* The first thread. */
static void init(void *arg)
{
    const struct boot_info *info = arg;
    unsigned status = 0;

    console_thread_start();
    start_cpus();
    hpm_cpus_started();
    track_init(paging_divides());
    if (!selftest_wanted) /* whose report has them */
        quirks_print("");
    telemetry_start();
    block_init(block_drivers);
    paging_start();
    process_init();
    sharing_start();
    monitor_start();
    if (selftest_wanted)
        status = selftest_run(info) ? EXIT_SELFTEST : 0;
    else if (!cmdline.count) {
        kprintf("no application given: name one behind '--' on the command line; 'help' explains\n");
        process_list_applications();
    }
    unsigned run_status = run_commands(&cmdline);
    telemetry_stop();
    track_end();
    if (selftest_wanted)
        selftest_end();
    end_run(MIN(status ? status : run_status, (unsigned)STATUS_MAX));
}

NORETURN void kernel_main(const struct boot_info *info)
{
    struct thread *first;

    enum arch_serial serial = arch_console_init();
    arch_init_early(&cpus[0]);
    int err = read_arguments(info);
    outputs_init(info, serial, err ? OUTPUTS_BOTH : (enum outputs_choice)console_wanted);
    kprintf("\nVigil " VERSION " %s, started by %s\n", arch_name, info->protocol);
    outputs_report();
    obey_arguments(err);
    if (selftest_wanted)
        kstack_measure();
    start_memory(info);
    print_memory();
    arch_attach(&handlers);
    if (arch_init_irq(info, frame_alloc))
        panic("no usable interrupt controller, clock or timer");
    if (!pci_init(info))
        machine_init();
    cpus_found = arch_cpus_find(info, machine_shape(&shape) ? &shape : NULL, cpus, (unsigned)cpus_limit);
    memory_check_cpus(info, cpus_found);
    sched_topology_init(1);
    hpm_init(cpus_found);
    hpm_cpu_init(&cpus[0]);
    sched_init_cpu(&cpus[0]);
    telemetry_init(cpus_found);
    if (thread_create(
            &(struct thread_params){
                .name = "init", .entry = init, .arg = (void *)info, .prio = PRIO_KERNEL, .group = GROUP_NONE},
            &first))
        panic("no memory for the first thread");
    thread_start(first);
    thread_put(first);
    sched_start();
}

NORETURN void kernel_secondary_main(struct cpu *cpu)
{
    hpm_cpu_init(cpu);
    sched_start();
}
