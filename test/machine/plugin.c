/*
 * The simulated multiprocessor as a QEMU plugin: arguments, start, and the instrumentation of
 * translated blocks.
 *
 *   -accel tcg,thread=single -plugin machine.so,topology=NAME,page=FILE,truth=FILE,q=CYCLES,seed=N,
 *       tlb=ENTRIES,pages=FILE,changes=FILE,output=FILE,disk=SIZE,wire=QUEUES,calls=1,verify=1
 *
 *   topology      name of the machine (default openpower720); it has at least as many CPUs as
 *                 QEMU's -smp says
 *   page          file of MACHINE_BYTES that also backs the ivshmem device with id=machine; without
 *                 it the guest has no registers
 *   truth         file for the ground truth (truth.c); without it, none is written
 *   cells         cycles of a cell: what each CPU did in each, in the truth file's name with .cells
 *                 behind it (cells.c)
 *   calls         1: the calls that each thread is in where user mode is interrupted, in the truth
 *                 file's name with .calls behind it (calls.c)
 *   q             cycles of a turn (turn.c), 100 to 1000000, default 2000
 *   seed          of all random numbers, default 1
 *   tlb           entries of each hardware thread's TLB instead of the topology's: a power of two
 *                 times its ways, up to 65536
 *   pages         file for every TLB miss of the spaces that the guest tracks
 *   changes       or for every change of the page from one data access of a CPU to its next
 *                 (page_trace.c)
 *   output        file for the guest's output (machine_id.output_at)
 *   disk          a disk in model time: its size, such as 64M, with contents that are zero and gone
 *                 at the end; or a file with the contents
 *   disk_latency  cycles of an access to it, up to 10^12, default 1000000
 *   disk_page     cycles of its channel for each page, up to 10^9, default 4096; 0: no limit
 *   wire          a network wire in model time, with two ports, and a port's number of queues, 1
 *                 to 8
 *   wire_latency  cycles from the end of a frame at one port to that at the other, up to 10^7,
 *                 default 5000
 *   wire_mbps     its bandwidth in megabits a second, up to 10^6, default 10000; 0: no limit
 *   verify        1: check every translation against QEMU's
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "test/machine/engine.h"

#define PLUGIN_EXPORT __attribute__((visibility("default")))
PLUGIN_EXPORT int qemu_plugin_version = QEMU_API_VERSION;

#define TLB_ENTRIES_MAX 65536

struct machine machine = {.quantum = 2000 << CYCLE_SHIFT, .random = 1};

static struct {
    const char *topology, *page, *truth, *pages, *changes, *output;
} files = {.topology = "openpower720"};
static uint64_t disk_latency = DISK_LATENCY_CYCLES, disk_page_cycles = DISK_PAGE_CYCLES;
static uint64_t wire_latency = WIRE_LATENCY_CYCLES;
static uint32_t wire_queues, wire_mbps = WIRE_MBPS; /* wire_queues 0: there is none */
static uint64_t cell_cycles;                        /* 0: no cells */
static bool calls_wanted;
static uint32_t tlb_entries; /* 0: the topology's */

void machine_say(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fputs("machine: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

void machine_error(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fputs("machine: error: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    _exit(1);
}

void panic(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    abort();
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static uint64_t number(const char *name, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 0);

    if (!*text || *end || *text == '-' || value < least || value > most)
        machine_error("%s=%s: a number from %llu to %llu is wanted", name, text,
                      (unsigned long long)least, (unsigned long long)most);
    return value;
}

static void take_argument(const char *arg)
{
    const char *value = strchr(arg, '=');
    size_t length = value ? (size_t)(value - arg) : strlen(arg);
#define IS(name) (value && length == strlen(name) && memcmp(arg, name, length) == 0)

    if (value)
        value++;
    if (IS("topology"))
        files.topology = value;
    else if (IS("page"))
        files.page = value;
    else if (IS("truth"))
        files.truth = value;
    else if (IS("pages"))
        files.pages = value;
    else if (IS("changes"))
        files.changes = value;
    else if (IS("output"))
        files.output = value;
    else if (IS("cells"))
        cell_cycles = number("cells", value, 1000, 1000000000);
    else if (IS("calls"))
        calls_wanted = number("calls", value, 0, 1);
    else if (IS("q"))
        machine.quantum = number("q", value, 100, 1000000) << CYCLE_SHIFT;
    else if (IS("seed"))
        machine.random = number("seed", value, 1, UINT64_MAX);
    else if (IS("tlb"))
        tlb_entries = (uint32_t)number("tlb", value, 1, TLB_ENTRIES_MAX);
    else if (IS("disk"))
        disk_open(value);
    else if (IS("disk_latency"))
        disk_latency = number("disk_latency", value, 0, 1000000000000);
    else if (IS("disk_page"))
        disk_page_cycles = number("disk_page", value, 0, 1000000000);
    else if (IS("wire"))
        wire_queues = (uint32_t)number("wire", value, 1, MACHINE_WIRE_QUEUES);
    else if (IS("wire_latency"))
        wire_latency = number("wire_latency", value, 0, 10000000);
    else if (IS("wire_mbps"))
        wire_mbps = (uint32_t)number("wire_mbps", value, 0, 1000000);
    else if (IS("verify"))
        machine.verify = number("verify", value, 0, 1);
    else
        machine_error(
            "unknown argument '%s'; there are topology= page= truth= cells= calls= q= seed= "
            "tlb= pages= changes= output= disk= disk_latency= disk_page= wire= wire_latency= "
            "wire_mbps= "
            "verify=",
            arg);
#undef IS
}

/* Replaces the topology by one with another TLB. */
static void resize_tlb(void)
{
    static struct topology changed;
    uint32_t ways = MIN(machine.topology->tlb.ways, tlb_entries);

    changed = *machine.topology;
    changed.tlb = (struct geometry){.sets = tlb_entries / ways, .ways = ways};
    if (tlb_entries % ways || !is_pow2(changed.tlb.sets))
        machine_error("tlb=%u: %u ways times a power of two are wanted", tlb_entries, ways);
    machine.topology = &changed;
}

static void choose_topology(void)
{
    const char *what;

    machine.topology = topology_find(files.topology);
    if (!machine.topology) {
        const struct topology *t;
        for (unsigned i = 0; (t = topology_at(i)); i++)
            machine_say("  %-16s %s", t->name, t->what);
        machine_error("topology=%s: there is no such machine; see the list above", files.topology);
    }
    if (tlb_entries)
        resize_tlb();
    if (topology_check(machine.topology, &what))
        machine_error("topology=%s: its %s makes no sense", files.topology, what);
    if (machine.cpus > topology_cpus(machine.topology))
        machine_error("topology=%s has %u CPUs; -smp %u is too many", files.topology,
                      topology_cpus(machine.topology), machine.cpus);
    if (machine.cpus > MACHINE_CPUS)
        machine_error("at most %d CPUs", MACHINE_CPUS);
}

/* ---- Translation ----------------------------------------------------------------------------- */

/* Returns memory for blocks and instructions, which is never freed: QEMU does not say when it drops
 * a translation. */
static void *keep(size_t bytes)
{
    static uint8_t *at, *end;
    void *kept;

    if ((size_t)(end - at) < bytes) {
        at = calloc(1, MIB);
        if (!at)
            machine_error("out of memory");
        end = at + MIB;
    }
    kept = at;
    at += ALIGN_UP(bytes, 16);
    return kept;
}

/* Returns where the page with this code is in memory. Without a translation the virtual address
 * identifies the page. */
static paddr_t code_page(struct vcpu *v, vaddr_t va)
{
    uint64_t attributes[2] = {0};
    paddr_t pa = qemu.translate(v->cpu, va & ~(vaddr_t)PAGE_MASK, attributes);
    return pa == UINT64_MAX ? va & ~(vaddr_t)PAGE_MASK & (((vaddr_t)1 << 50) - 1) : pa;
}

static unsigned lines_of(paddr_t pa, uint64_t bytes)
{
    return (unsigned)(((pa + bytes - 1) >> machine.line_shift) - (pa >> machine.line_shift) + 1);
}

static struct block *make_block(struct vcpu *v, const struct qemu_plugin_tb *tb,
                                size_t instructions)
{
    const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, instructions - 1);
    struct block *b = keep(sizeof(*b));
    uint64_t pc = qemu_plugin_tb_vaddr(tb);
    uint64_t end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
    uint64_t first_bytes = MIN(end - pc, PAGE_SIZE - (pc & PAGE_MASK));
    paddr_t pa;

    b->pc = pc;
    b->instructions = (uint32_t)instructions;
    b->bytes = (uint32_t)(end - pc);
    b->mode = isa_user(pc) ? MODE_USER : MODE_KERNEL;
    b->page = code_page(v, pc);
    pa = b->page | (pc & PAGE_MASK);
    b->line = pa >> machine.line_shift;
    b->lines = (uint8_t)lines_of(pa, first_bytes);
    if (first_bytes < end - pc) {
        pa = code_page(v, pc + first_bytes);
        b->second_line = pa >> machine.line_shift;
        b->second_lines = (uint8_t)lines_of(pa, end - pc - first_bytes);
    }
    return b;
}

static void special(unsigned cpu, void *data)
{
    const struct insn *i = data;

    (void)cpu;
    i->execute(machine.running, i);
}

static void keep_call(struct qemu_plugin_insn *in, const struct insn *found)
{
    struct insn *i = keep(sizeof(*i));

    *i = *found;
    qemu_plugin_register_vcpu_insn_exec_cb(in, found->call ? calls_call : calls_return,
                                           QEMU_PLUGIN_CB_R_REGS, i);
}

/* Instruments an instruction, which becomes the last of block b. */
static void instrument(struct block *b, struct qemu_plugin_insn *in)
{
    uint8_t bytes[ISA_INSN_BYTES];
    size_t size = qemu_plugin_insn_data(in, bytes, sizeof(bytes));
    void *pc = (void *)qemu_plugin_insn_vaddr(in);
    struct insn found = {.pc = (uint64_t)pc, .block = b->pc, .bytes = (uint8_t)size};

    machine.isa->decode(&found, bytes, size);
    b->predicted = found.predicted;
    b->branch = found.predicted || found.jump;
    if (found.execute) {
        struct insn *i = keep(sizeof(*i));
        *i = found;
        qemu_plugin_register_vcpu_insn_exec_cb(
            in, special, i->reads_registers ? QEMU_PLUGIN_CB_R_REGS : QEMU_PLUGIN_CB_NO_REGS, i);
    }
    if (machine.calls && isa_user(found.pc) && (found.call || found.back))
        keep_call(in, &found);
    if (found.atomic) {
        qemu_plugin_register_vcpu_mem_cb(in, execute_atomic, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_W, pc);
        return;
    }
    qemu_plugin_register_vcpu_mem_cb(in, found.string ? execute_string_load : execute_load,
                                     QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R, pc);
    qemu_plugin_register_vcpu_mem_cb(in, found.string ? execute_string_store : execute_store,
                                     QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, pc);
}

static void translate_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t instructions = qemu_plugin_tb_n_insns(tb);

    struct block *b = make_block(turn_find(*qemu.current), tb, instructions);

    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, execute_block, QEMU_PLUGIN_CB_NO_REGS, b);
    for (size_t i = 0; i < instructions; i++)
        instrument(b, qemu_plugin_tb_get_insn(tb, i));
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* Returns the ISA of that target, or NULL. */
static const struct isa *isa_of(const char *target)
{
    static const struct isa *const isas[] = {&isa_x86_64, &isa_aarch64};

    for (size_t i = 0; i < ARRAY_SIZE(isas); i++)
        if (strcmp(isas[i]->target, target) == 0)
            return isas[i];
    return NULL;
}

static void find_registers(struct vcpu *v)
{
    struct glib_array *all = qemu_plugin_get_registers();
    const struct qemu_plugin_reg_descriptor *d = (const void *)all->data;
    unsigned wanted = 0;

    while (machine.isa->registers[wanted])
        wanted++;
    v->registers = calloc(wanted, sizeof(*v->registers));
    for (unsigned r = 0; r < wanted; r++) {
        for (unsigned i = 0; i < all->len && !v->registers[r]; i++)
            if (strcmp(d[i].name, machine.isa->registers[r]) == 0)
                v->registers[r] = d[i].handle;
        if (!v->registers[r])
            machine_error("QEMU does not show the guest's register %s", machine.isa->registers[r]);
    }
}

uint64_t execute_register(struct vcpu *v, int number)
{
    static struct glib_array *bytes;
    uint64_t value = 0;

    if (!bytes)
        bytes = qemu.byte_array_new();
    qemu.byte_array_set_size(bytes, 0);
    int size = qemu_plugin_read_register(v->registers[number], bytes);
    if (size > 0)
        memcpy(&value, bytes->data, MIN((size_t)size, sizeof(value)));
    return value;
}

static void vcpu_starts(qemu_plugin_id_t id, unsigned cpu)
{
    struct vcpu *v = &machine.vcpus[cpu];

    (void)id;
    clock_thread_is_vcpus();
    qemu.current = qemu_thread_local("current_cpu");
    v->cpu = qemu.cpu((int)cpu);
    if (cpu == 0)
        clock_install();
    interrupt_install(v);
    find_registers(v);
}

static void create_vcpu(unsigned index)
{
    struct vcpu *v = &machine.vcpus[index];
    const struct topology *t = machine.topology;

    v->index = (uint16_t)index;
    v->core = (uint16_t)topology_core_of_cpu(t, index);
    v->mode = &v->count[MODE_KERNEL];
    v->cpi = t->completion_cpi_256;
    v->cycle_256 = 1u << CYCLE_SHIFT;
    v->code_page = v->pmu_at = NEVER;
    forget_hits(v);
    storebuf_init(&v->stores, t->storebuf_entries, t->storebuf_drain);
    branch_reset(&v->branch);
    if (tlb_init(&v->tlb, t->tlb))
        machine_error("out of memory");
}

static void machine_ends(qemu_plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    truth_mark("exit");
    page_trace_end();
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                                      char **argv)
{
    const char *missing = qemu_find();

    for (int i = 0; i < argc; i++)
        take_argument(argv[i]);
    if (missing)
        machine_error("this QEMU does not export %s: Debian's QEMU 10.0 is known to work", missing);
    machine.isa = isa_of(info->target_name);
    if (!info->system_emulation || !machine.isa)
        machine_error("no model for guests of type %s", info->target_name);
    machine.cpus = (unsigned)info->smp_vcpus;
    choose_topology();
    machine.line_shift = log2_floor(machine.topology->line_bytes);
    machine.cache = cache_create(machine.topology);
    machine.vcpus = calloc(machine.cpus, sizeof(*machine.vcpus));
    if (!machine.cache || !machine.vcpus)
        machine_error("out of memory");
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++)
        create_vcpu(cpu);
    disk_times(disk_latency, disk_page_cycles);
    if (wire_queues)
        wire_open(wire_queues, wire_latency, wire_mbps);
    regs_init(files.page);
    truth_init(files.truth);
    if (files.pages && files.changes)
        machine_error("pages= and changes=: one of them");
    machine.trace_walks = files.pages;
    machine.trace_changes = files.changes;
    page_trace_init(files.pages ? files.pages : files.changes, files.output);
    cells_init(files.truth, cell_cycles);
    calls_init(files.truth, calls_wanted);
    qemu_plugin_register_vcpu_init_cb(id, vcpu_starts);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate_block);
    qemu_plugin_register_atexit_cb(id, machine_ends, NULL);
    return 0;
}
