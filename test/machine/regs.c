/*
 * The register pages: the memory of the ivshmem device "machine", mapped here from the same file.
 * Guest accesses are recognized by their physical address, wherever the guest or its firmware has
 * put the BAR. Layout and meaning: kernel/dev/model/machine.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "test/machine/engine.h"

#define DEVICE "/machine/peripheral/machine"

static bool has_device; /* a page file was given */
static paddr_t bar = UINT64_MAX;

static uint8_t *map_file(const char *file)
{
    struct stat s;
    int fd = open(file, O_RDWR | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &s))
        machine_error("page=%s: %s", file, strerror(errno));
    if (s.st_size != MACHINE_BYTES)
        machine_error("page=%s: must be a file of %d bytes", file, MACHINE_BYTES);
    void *pages = mmap(NULL, MACHINE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (pages == MAP_FAILED)
        machine_error("page=%s: %s", file, strerror(errno));
    return pages;
}

static uint32_t bytes_of(struct geometry g)
{
    return g.sets * g.ways * machine.topology->line_bytes;
}

static void describe_machine(struct machine_id *id)
{
    const struct topology *t = machine.topology;

    *id = (struct machine_id){
        .version = MACHINE_VERSION,
        .caps = MACHINE_CAP_PMU | MACHINE_CAP_PATH,
        .cycles_hz = NS_PER_S,
        .clock_mhz = t->clock_mhz,
        .cpus = machine.cpus,
        .chips = t->chips,
        .cores_per_chip = t->cores_per_chip,
        .threads_per_core = t->threads_per_core,
        .line_bytes = t->line_bytes,
        .home_block_bytes = t->home_block_bytes,
        .l1d_bytes = bytes_of(t->l1d),
        .l1d_ways = t->l1d.ways,
        .l1i_bytes = bytes_of(t->l1i),
        .l1i_ways = t->l1i.ways,
        .l2_bytes = bytes_of(t->l2),
        .l2_ways = t->l2.ways,
        .l3_bytes = bytes_of(t->l3),
        .l3_ways = t->l3.ways,
        .tlb_entries = t->tlb.sets * t->tlb.ways,
        .tlb_ways = t->tlb.ways,
        .walk_cycles = t->walk_cycles,
        .mispredict_cycles = t->mispredict_cycles,
        .exception_entry_cycles = t->exception_entry_cycles,
        .exception_return_cycles = t->exception_return_cycles,
        .register_cycles = t->register_cycles,
        .ipi_cycles = t->ipi_cycles,
        .tlb_invalidate_cycles = t->tlb_invalidate_cycles,
        .context_sync_cycles = t->context_sync_cycles,
        .record_cycles = PMU_RECORD_CYCLES,
        .completion_cpi_256 = t->completion_cpi_256,
        .smt_factor_256 = t->smt_factor_256,
        .pause_cycles = 100,
        .pstate_cycle_256 = {256, 320, 384, 512},
        .sample_sources = PMU_SAMPLE_SOURCES,
        .sample_kinds = PMU_SAMPLE_KINDS,
        .ring_records_max = PMU_RING_RECORDS,
    };
    strncpy(id->name, t->name, sizeof(id->name) - 1);
    for (unsigned s = 0; s < CACHE_SOURCES; s++)
        id->latency[s] = t->latency[s];
    memcpy(id->counter_mask, pmu_counter_mask, MACHINE_EVENTS);
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++)
        id->place[cpu] = (struct machine_place){
            .chip = (uint8_t)topology_chip_of_cpu(t, cpu),
            .core = (uint8_t)(topology_core_of_cpu(t, cpu) % t->cores_per_chip),
            .thread = (uint8_t)(cpu % t->threads_per_core),
        };
    id->magic = MACHINE_MAGIC;
}

void regs_init(const char *file)
{
    has_device = file;
    machine.pages = file ? map_file(file) : calloc(1, MACHINE_BYTES);
    if (!machine.pages)
        machine_error("out of memory");
    memset(machine.pages, 0, MACHINE_BYTES);
    machine.id = (struct machine_id *)machine.pages;
    describe_machine(machine.id);
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++) {
        machine.vcpus[cpu].pmu.page =
            (struct machine_cpu *)(machine.pages + MACHINE_CPU_OFFSET + cpu * PAGE_SIZE);
        path_regs_init(&machine.vcpus[cpu]);
    }
    disk_regs_init();
    wire_regs_init();
}

void *regs_device(void)
{
    static void *device;

    if (has_device && !device && !(device = qemu.object(DEVICE, NULL)))
        machine_error(
            "page= needs -device ivshmem-plain,id=machine with a memory backend of the same file");
    return device;
}

bool regs_contains(paddr_t pa)
{
    void *device = regs_device();

    if (!device)
        return false;
    bar = qemu.bar(device, MACHINE_PCI_BAR);
    return bar != UINT64_MAX && pa - bar < MACHINE_BYTES;
}

/* Handles a store to a register that costs no cycles. Returns whether it is one. */
static bool instrument_store(struct vcpu *v, size_t offset, size_t cpu_page)
{
    if (offset == offsetof(struct machine_id, mark)) {
        char label[sizeof(machine.id->mark_label) + 1] = "";
        memcpy(label, machine.id->mark_label, sizeof(machine.id->mark_label));
        truth_mark(label);
        return true;
    }
    if (offset == offsetof(struct machine_id, output_bytes)) {
        page_trace_output(machine.id->output_at, machine.id->output_bytes);
        return true;
    }
    if (offset == cpu_page + offsetof(struct machine_cpu, tag)) {
        truth_tag(v, v->pmu.page->tag);
        v->calls.tag = v->pmu.page->tag;
        return true;
    }
    if (offset ==
        MACHINE_USER_OFFSET + v->index * PAGE_SIZE + offsetof(struct machine_user, latch)) {
        pmu_user_latch(v);
        return true;
    }
    return (offset >= offsetof(struct machine_id, mark_label) &&
            offset < offsetof(struct machine_id, mark)) ||
           offset == offsetof(struct machine_id, output_at);
}

/* Takes the P-state that the guest wants for the core of v. */
static void set_pstate(struct vcpu *v)
{
    uint32_t wanted = v->pmu.page->pstate;

    for (struct vcpu *t = machine.vcpus; t < machine.vcpus + machine.cpus; t++) {
        if (t->core != v->core)
            continue;
        if (wanted < MACHINE_PSTATES) {
            t->pstate_time[t->pstate] += t->now - t->pstate_since;
            t->pstate_since = t->now;
            t->pstate = wanted;
            t->cycle_256 = machine.id->pstate_cycle_256[wanted];
        }
        t->pmu.page->pstate = t->pstate;
    }
}

void regs_access(struct vcpu *v, paddr_t pa, bool store)
{
    size_t offset = pa - bar;
    size_t cpu_page = MACHINE_CPU_OFFSET + v->index * PAGE_SIZE;

    if (store && instrument_store(v, offset, cpu_page))
        return;
    execute_charge(v, machine.topology->register_cycles);
    volatile struct machine_cpu *page = v->pmu.page;
    if (store && offset == cpu_page + offsetof(struct machine_cpu, command))
        page->result = pmu_command(v, page->command);
    if (store && offset == cpu_page + offsetof(struct machine_cpu, turn))
        page->result = pmu_turn(v, page->turn);
    if (store && offset == cpu_page + offsetof(struct machine_cpu, user_open))
        pmu_user_open(v);
    if (store && offset == cpu_page + offsetof(struct machine_cpu, pstate))
        set_pstate(v);
    size_t path_page = MACHINE_PATH_OFFSET + v->index * PAGE_SIZE;
    if (store && offset - path_page < sizeof(struct machine_path))
        path_store(v, offset - path_page);
    if (store && offset - MACHINE_DISK_OFFSET < sizeof(struct machine_disk))
        disk_store(v, offset - MACHINE_DISK_OFFSET);
    size_t wire_page = offset - MACHINE_WIRE_OFFSET;
    if (store && wire_page < MACHINE_WIRE_PORTS * PAGE_SIZE)
        wire_store(v, (unsigned)(wire_page / PAGE_SIZE), wire_page % PAGE_SIZE);
}
