/*
 * The start of the kernel, in order: kernel_main() until there are threads, then init_thread() in
 * the first of them.
 */
#include "hpm/hpm.h"
#include "kernel/args.h"
#include "kernel/boot/boot_info.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/end.h"
#include "kernel/core/entropy.h"
#include "kernel/core/outputs.h"
#include "kernel/core/panic.h"
#include "kernel/core/printf.h"
#include "kernel/core/wall_clock.h"
#include "kernel/dev/block/block.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/dev/pci/pci.h"
#include "kernel/drivers.h"
#include "kernel/file/terminal.h"
#include "kernel/fs/fs.h"
#include "kernel/fs/share.h"
#include "kernel/handlers.h"
#include "kernel/mem/mem.h"
#include "kernel/mem/memory_check.h"
#include "kernel/net/lwip/interface.h"
#include "kernel/proc/jobs.h"
#include "kernel/proc/process.h"
#include "kernel/proc/procfs.h"
#include "kernel/report/report.h"
#include "kernel/run.h"
#include "kernel/selftest/selftest.h"
#include "kernel/trace/telemetry.h"
#include "kernel/vdso/vdso.h"
#include "mm/mm.h"
#include "mm/track/track.h"
#include "sched/sched.h"

#define VERSION              "0.1"
#define EXIT_BAD_ARGUMENT    2
#define EXIT_SELFTEST        3
#define STATUS_MAX           127 /* the largest exit status of a run */
#define SECONDARY_STACK_SIZE KSTACK_SIZE

extern const char bundle_start[], bundle_end[];

static char cmdline_text[BOOT_CMDLINE_MAX], cmdline_error[256];
static struct cmdline cmdline;
static struct arch_shape shape; /* too large for a stack */
static unsigned cpus_found;

/* ---- Boot arguments -------------------------------------------------------------------------- */

/* Reads the arguments but prints nothing: they say where text goes. */
static int read_arguments(const struct boot_info *info)
{
    memcpy(cmdline_text, info->cmdline, sizeof(cmdline_text));
    cmdline_text[sizeof(cmdline_text) - 1] = '\0';
    return cmdline_parse(cmdline_text, arg_tables, &cmdline, cmdline_error, sizeof(cmdline_error));
}

static void obey_arguments(int err)
{
    if (err) {
        kprintf("boot: event=refused %s\n", cmdline_error);
        end_run(EXIT_BAD_ARGUMENT);
    }
    if (cmdline.help) {
        boot_print_help(arg_tables);
        end_run(0);
    }
}

/* ---- Start ----------------------------------------------------------------------------------- */

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
    boot_print_cpus();
    boot_print_nodes();
}

/* The first thread. */
static void init_thread(void *arg)
{
    const struct boot_info *info = arg;
    unsigned status = 0;

    console_thread_start();
    knobs_init(arg_tables);
    start_cpus();
    hpm_cpus_started();
    track_init(paging_divides());
    if (!selftest_wanted) /* the selftest's report contains them */
        quirks_print("quirk:");
    telemetry_start();
    drivers_probe(DEVICE_NET);
    drivers_probe(DEVICE_BLOCK);
    block_start();
    paging_start();
    fs_start(bundle_start, bundle_end - bundle_start, phys_to_virt(info->initrd.base),
             info->initrd.bytes);
    if (share_start())
        end_run(EXIT_BAD_ARGUMENT);
    terminals_start(&jobs_of_terminals);
    vdso_init(wall_clock_base_ns());
    procfs_start();
    process_init();
    sched_load_start();
    sharing_start();
    monitor_start();
    if (!selftest_wanted)
        net_interface_start();
    if (selftest_wanted)
        status = selftest_run(info) ? EXIT_SELFTEST : 0;
    else if (!cmdline.count) {
        kprintf("boot: event=idle reason=no-application: name one behind '--' on the command line; "
                "'help' explains\n");
        process_list_applications();
    }
    unsigned run_status = run_commands(&cmdline);
    telemetry_stop();
    track_end();
    memory_report_files();
    net_interface_report();
    share_report();
    if (selftest_wanted)
        selftest_end();
    end_run(MIN(status ? status : run_status, (unsigned)STATUS_MAX));
}

NORETURN void kernel_main(const struct boot_info *info)
{

    enum arch_serial serial = arch_console_init();
    arch_init_early(&cpus[0]);
    int err = read_arguments(info);
    outputs_init(info, serial, err ? OUTPUTS_BOTH : (enum outputs_choice)console_wanted);
    kprintf("\nvigil: event=start version=" VERSION " arch=%s by=%s\n", arch_name, info->protocol);
    outputs_report();
    obey_arguments(err);
    if (selftest_wanted)
        kstack_measure();
    start_memory(info);
    boot_print_memory();
    boot_print_initrd(&info->initrd);
    arch_attach(&kernel_handlers);
    if (arch_init_irq(info, frame_alloc))
        panic("no usable interrupt controller, clock or timer");
    if (!pci_init(info))
        drivers_probe(DEVICE_MACHINE);
    entropy_start(machine_id());
    wall_clock_start(info, machine_id());
    cpus_found =
        arch_cpus_find(info, machine_shape(&shape) ? &shape : NULL, cpus, (unsigned)cpus_wanted);
    memory_check_cpus(info, cpus_found);
    sched_topology_init(1);
    hpm_init(cpus_found);
    hpm_cpu_init(&cpus[0]);
    sched_init_cpu(&cpus[0]);
    telemetry_init(cpus_found);
    if (telemetry_wants(TELEMETRY_QUANTA))
        sched_quanta_begin();
    if (thread_create_kernel("init", init_thread, (void *)info, NULL))
        panic("no memory for the first thread");
    sched_start();
}

NORETURN void kernel_secondary_main(struct cpu *cpu)
{
    hpm_cpu_init(cpu);
    sched_start();
}
