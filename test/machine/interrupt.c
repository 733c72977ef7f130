/*
 * Interrupts and exceptions, in both directions: messages that the machine's own devices send, and
 * the entry of each exception, which costs time.
 *
 * The plugin interface of QEMU 10.0 does not report exceptions. Each class of CPUs points to a
 * constant table of operations. The table is found as the one that contains QEMU's exception
 * function, and is replaced by a copy in which the functions here come first. System calls that are
 * not exceptions to QEMU (x86) are recognized as instructions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include "test/machine/engine.h"

#define CLASS_WORDS 128 /* words of CPUClass that are searched for the pointer to the table */
/* Words of struct TCGCPUOps, at least; words after it are copied and not used. */
#define TABLE_WORDS 48

static void (*exception)(void *cpu);
static bool (*interrupt)(void *cpu, int request);
static void *operations[TABLE_WORDS];

static void enters(struct vcpu *v)
{
    turn_wake(v);
    execute_exception(v);
    calls_enter(v);
    v->stop = 0;
}

static void watch_exception(void *cpu)
{
    struct vcpu *v = turn_find(cpu);

    calls_stop(v);
    if (v->parks) { /* QEMU's function does not return from there */
        v->parks = false;
        enters(v);
        turn_halt(v);
        exception(cpu);
        return;
    }
    exception(cpu);
    enters(v);
}

static bool watch_interrupt(void *cpu, int request)
{
    struct vcpu *v = turn_find(cpu);

    calls_stop(v);
    bool taken = interrupt(cpu, request);
    if (taken && v->started)
        enters(v);
    return taken;
}

/* The memory of the QEMU program, where the table must be. */
struct range {
    uintptr_t begin, end;
};

static int program_range(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct range *range = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        range->begin = MIN(range->begin, info->dlpi_addr + p->p_vaddr);
        range->end = MAX(range->end, info->dlpi_addr + p->p_vaddr + p->p_memsz);
    }
    return 1; /* the program is the first entry */
}

static int slot_of(void *const *table, const void *function)
{
    for (int i = 0; i < TABLE_WORDS; i++)
        if (table[i] == function)
            return i;
    return -1;
}

/* Returns the word of the class that points to the table: the one that points closest before the
 * functions. interrupt_function NULL: only the other one is looked for. */
static void **find_table(void **class, const void *exception_function,
                         const void *interrupt_function)
{
    struct range range = {UINTPTR_MAX, 0};
    void **found = NULL;
    int closest = TABLE_WORDS;

    dl_iterate_phdr(program_range, &range);
    for (int i = 0; i < CLASS_WORDS; i++) {
        uintptr_t at = (uintptr_t) class[i];
        if (at < range.begin || at + sizeof(operations) > range.end || at % sizeof(void *))
            continue;
        int slot = slot_of(class[i], exception_function);
        if (slot < 0 || slot >= closest ||
            (interrupt_function && slot_of(class[i], interrupt_function) < 0))
            continue;
        closest = slot;
        found = &class[i];
    }
    return found;
}

void interrupt_install(struct vcpu *v)
{
    static void **installed;          /* the class that has the copy; all CPUs have one class */
    void **class = *(void ***)v->cpu; /* first word of an object, QEMU include/qom/object.h */
    void *exception_function = dlsym(RTLD_DEFAULT, machine.isa->exception);
    const char *interrupt_name = machine.isa->interrupt;
    void *interrupt_function = interrupt_name ? dlsym(RTLD_DEFAULT, interrupt_name) : NULL;

    if (installed == class)
        return;
    installed = class;
    void **table = exception_function && !interrupt_name == !interrupt_function
                       ? find_table(class, exception_function, interrupt_function)
                       : NULL;
    if (!table)
        machine_error("this QEMU's table of CPU operations was not found: Debian's QEMU 10.0 is "
                      "known to work");
    memcpy(operations, *table, sizeof(operations));
    memcpy(&exception, &exception_function, sizeof(exception));
    operations[slot_of(operations, exception_function)] = (void *)watch_exception;
    if (interrupt_function) {
        memcpy(&interrupt, &interrupt_function, sizeof(interrupt));
        operations[slot_of(operations, interrupt_function)] = (void *)watch_interrupt;
    }
    *table = operations;
}

void interrupt_send(uint64_t address, uint32_t data)
{
    bool had_lock = qemu.locked();

    if (!had_lock)
        qemu.lock(__FILE__, __LINE__);
    qemu.store32(qemu.memory, address, data, 0, NULL);
    if (!had_lock)
        qemu.unlock();
}

/* An interrupt translation service identifies the sender. */
void interrupt_send_device(uint64_t address, uint32_t data)
{
    void *device = regs_device();

    if (device)
        qemu.msi_send(device, (struct qemu_msi){address, data});
}
