/*
 * Looks up QEMU's internals by name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include "test/machine/qemu.h"

struct qemu_internals qemu;

static const struct {
    const char *name;
    void *where;
} internals[] = {
    {"cpus_get_accel", &qemu.accel},
    {"tcg_handle_interrupt", &qemu.handle_interrupt},
    {"rr_kick_vcpu_thread", &qemu.kick},
    {"qemu_clock_deadline_ns_all", &qemu.deadline_ns},
    {"qemu_clock_run_timers", &qemu.run_timers},
    {"bql_lock_impl", &qemu.lock},
    {"bql_unlock", &qemu.unlock},
    {"bql_locked", &qemu.locked},
    {"all_cpu_threads_idle", &qemu.all_idle},
    {"bdrv_drain_all", &qemu.drain_disks},
    {"rcu_register_thread", &qemu.rcu_register},
    {"main_loop_poll_add_notifier", &qemu.watch_main_loop},
    {"qemu_get_cpu", &qemu.cpu},
    {"cpu_exit", &qemu.cpu_exit},
    {"cpu_get_phys_page_attrs_debug", &qemu.translate},
    {"address_space_stl_le", &qemu.store32},
    {"address_space_memory", &qemu.memory},
    {"cpu_physical_memory_rw", &qemu.copy},
    {"cpu_physical_memory_is_io", &qemu.is_io},
    {"msi_send_message", &qemu.msi_send},
    {"object_resolve_path", &qemu.object},
    {"pci_get_bar_addr", &qemu.bar},
    {"g_byte_array_new", &qemu.byte_array_new},
    {"g_byte_array_set_size", &qemu.byte_array_set_size},
};

const char *qemu_find(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(internals); i++) {
        void *found = dlsym(RTLD_DEFAULT, internals[i].name);
        if (!found)
            return internals[i].name;
        memcpy(internals[i].where, &found, sizeof(found));
    }
    return NULL;
}

void *qemu_thread_local(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}
