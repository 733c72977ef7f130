/* /proc: the machine, and the processes that the reader may see. */
#pragma once
#include "kernel/fs/pseudo.h"

/* Mounts it, and makes links to files of it in /etc where the root has none. At boot, after
 * fs_start(). Panics without memory. */
void procfs_start(void);
/* Returns the process whose folder v is, or 0. */
uint32_t procfs_pid_of(struct vnode *v);

/* ---- procfs_machine.c: files of the machine -------------------------------------------------- */
void procfs_kallsyms(struct pseudo_text *t, const uint32_t *n);
void procfs_cpuinfo(struct pseudo_text *t, const uint32_t *n);
void procfs_meminfo(struct pseudo_text *t, const uint32_t *n);
void procfs_stat(struct pseudo_text *t, const uint32_t *n);
void procfs_uptime(struct pseudo_text *t, const uint32_t *n);
void procfs_vmstat(struct pseudo_text *t, const uint32_t *n);
void procfs_hostname(struct pseudo_text *t, const uint32_t *n);
void procfs_domainname(struct pseudo_text *t, const uint32_t *n);
void procfs_loadavg(struct pseudo_text *t, const uint32_t *n);
void procfs_mounts(struct pseudo_text *t, const uint32_t *n);
void procfs_mountinfo(struct pseudo_text *t, const uint32_t *n);
/* Vigil's own: names of the programs of the bundle, a line each. */
void procfs_applications(struct pseudo_text *t, const uint32_t *n);

/* ---- procfs_net.c: files of the network ------------------------------------------------------ */
void procfs_net_dev(struct pseudo_text *t, const uint32_t *n);
void procfs_net_route(struct pseudo_text *t, const uint32_t *n);
void procfs_net_snmp(struct pseudo_text *t, const uint32_t *n);
void procfs_net_sockstat(struct pseudo_text *t, const uint32_t *n);
void procfs_net_tcp(struct pseudo_text *t, const uint32_t *n);
void procfs_net_udp(struct pseudo_text *t, const uint32_t *n);
void procfs_net_unix(struct pseudo_text *t, const uint32_t *n);
/* In the form of resolv.conf, as Linux has it. */
void procfs_net_pnp(struct pseudo_text *t, const uint32_t *n);
/* Vigil's own: memory of the network, and frames that were dropped, by reason. */
void procfs_net_vigil(struct pseudo_text *t, const uint32_t *n);

/* ---- procfs_process.c: files of a process, n[0] its pid -------------------------------------- */
void procfs_self(struct pseudo_text *t, const uint32_t *n);
void procfs_thread_self(struct pseudo_text *t, const uint32_t *n);
bool procfs_next_pid(const uint32_t *n, uint32_t *at);
bool procfs_is_pid(const uint32_t *n, uint32_t pid);
bool procfs_next_tid(const uint32_t *n, uint32_t *at);
bool procfs_next_fd(const uint32_t *n, uint32_t *at);
void procfs_maps(struct pseudo_text *t, const uint32_t *n);
void procfs_cmdline(struct pseudo_text *t, const uint32_t *n);
void procfs_oom_score_adj(struct pseudo_text *t, const uint32_t *n);
int procfs_written_oom_score_adj(const uint32_t *n, const char *text, size_t length);
void procfs_limits(struct pseudo_text *t, const uint32_t *n);
void procfs_exe(struct pseudo_text *t, const uint32_t *n);
int procfs_follow_exe(const uint32_t *n, struct vnode **out);
void procfs_cwd(struct pseudo_text *t, const uint32_t *n);
int procfs_follow_cwd(const uint32_t *n, struct vnode **out);
void procfs_fd(struct pseudo_text *t, const uint32_t *n);
int procfs_follow_fd(const uint32_t *n, struct vnode **out);

/* ---- procfs_stat.c: what a process, or its thread n[1], does now ----------------------------- */
void procfs_process_stat(struct pseudo_text *t, const uint32_t *n);
void procfs_thread_stat(struct pseudo_text *t, const uint32_t *n);
void procfs_status(struct pseudo_text *t, const uint32_t *n);
void procfs_thread_status(struct pseudo_text *t, const uint32_t *n);
void procfs_statm(struct pseudo_text *t, const uint32_t *n);
void procfs_thread_comm(struct pseudo_text *t, const uint32_t *n);
void procfs_comm(struct pseudo_text *t, const uint32_t *n);
/* Counts the threads of all processes. Thread context, no lock held. */
struct procfs_threads {
    unsigned all, running; /* running: on a CPU or waiting for one */
    uint32_t latest;       /* the highest pid */
};
struct procfs_threads procfs_count_threads(void);
