/*
 * The simulator's interface to QEMU: some functions of the plugin interface (no package has its
 * header; this is API version 4, QEMU 9.2 to 10.x), and some internals that Debian's QEMU exports
 * for its modules. The internals are looked up at run time; qemu_find() says which one this QEMU
 * lacks.
 */
#pragma once
#include "kernel/lib/base.h"

#define QEMU_API_VERSION 4

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_info {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    int smp_vcpus, max_vcpus;
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W };

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_plugin_register;

/* glib's arrays, as the interface passes them. */
struct glib_array {
    uint8_t *data;
    unsigned len; /* number of elements */
};

struct qemu_plugin_reg_descriptor {
    struct qemu_plugin_register *handle;
    const char *name;
    const char *feature;
};

typedef void (*qemu_plugin_vcpu_simple_cb)(qemu_plugin_id_t, unsigned cpu);
typedef void (*qemu_plugin_vcpu_udata_cb)(unsigned cpu, void *data);
typedef void (*qemu_plugin_vcpu_mem_cb)(unsigned cpu, qemu_plugin_meminfo_t, uint64_t va,
                                        void *data);
typedef void (*qemu_plugin_tb_trans_cb)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*qemu_plugin_udata_cb)(qemu_plugin_id_t, void *data);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, qemu_plugin_vcpu_simple_cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_tb_trans_cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_udata_cb, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *to, size_t size);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, qemu_plugin_vcpu_udata_cb,
                                          enum qemu_plugin_cb_flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, qemu_plugin_vcpu_udata_cb,
                                            enum qemu_plugin_cb_flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, qemu_plugin_vcpu_mem_cb,
                                      enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw,
                                      void *data);

/* In a memory callback: log2 of the number of bytes, and the address accessed (NULL: unknown). */
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t va);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);

struct glib_array *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *, struct glib_array *bytes);

/* QEMU's internals. CPUState and the like are untyped pointers. */
#define QEMU_CLOCK_VIRTUAL 1

/* Called by the main loop before and after it waits. struct MainLoopPoll (include/qemu/main-loop.h)
 * begins with which of the two. */
#define QEMU_BEFORE_WAITING 0
struct qemu_notifier {
    void (*notify)(struct qemu_notifier *, void *which);
    void *node[2]; /* QEMU's */
};

/* struct MSIMessage (include/hw/pci/msi.h). */
struct qemu_msi {
    uint64_t address;
    uint32_t data;
};

struct qemu_internals {
    void **(*accel)(void);                             /* struct AccelOpsClass, see clock.c */
    void *handle_interrupt, *kick;                     /* expected in two of its slots */
    int64_t (*deadline_ns)(int clock, int attributes); /* from now; -1: none */
    bool (*run_timers)(int clock);                     /* big lock held */
    void (*lock)(const char *file, int line);          /* the big lock */
    void (*unlock)(void);
    bool (*locked)(void);      /* whether this thread holds it */
    bool (*all_idle)(void);    /* big lock held */
    void (*drain_disks)(void); /* returns when no disk has a request in flight; big lock held */
    void (*rcu_register)(void);
    void (*watch_main_loop)(struct qemu_notifier *); /* big lock held */
    void *(*cpu)(int index);
    void **current; /* the vCPU that the vCPU thread runs */
    void (*cpu_exit)(void *cpu);
    uint64_t (*translate)(void *cpu, uint64_t va,
                          /* returns the physical page of a virtual page; UINT64_MAX: none */
                          uint64_t *attributes);
    void (*store32)(void *space, uint64_t pa, uint32_t value, uint64_t attributes,
                    uint32_t *result);
    void *memory; /* QEMU's address space of memory */
    void (*copy)(uint64_t pa, void *buffer, uint64_t bytes, bool write);
    bool (*is_io)(uint64_t pa); /* whether there is no memory at pa */
    void (*msi_send)(void *pci_device, struct qemu_msi);
    void *(*object)(const char *path, bool *ambiguous);
    uint64_t (*bar)(void *pci_device, int bar); /* UINT64_MAX: not mapped */
    struct glib_array *(*byte_array_new)(void);
    struct glib_array *(*byte_array_set_size)(struct glib_array *, unsigned size);
};
extern struct qemu_internals qemu;

/* Returns the name of the first internal that is missing, or NULL. */
const char *qemu_find(void);
/* Returns the calling thread's variable of that name, or NULL. */
void *qemu_thread_local(const char *name);
