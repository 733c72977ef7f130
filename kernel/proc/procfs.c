/* The table of /proc. */
#include "hpm/linux/attr.h"
#include "kernel/proc/procfs.h"
#include "kernel/fs/disk.h"
#include "kernel/fs/fs.h"
#include "kernel/lib/release.h"
#include "kernel/proc/machine_name.h"
#include <linux/magic.h>

#define R    (S_IFREG | 0444)
#define RW   (S_IFREG | 0644)
#define LINK (S_IFLNK | 0777)

static const struct pseudo_row rows[] = {
    {"self", LINK, procfs_self, NULL, {NULL}},
    {"thread-self", LINK, procfs_thread_self, NULL, {NULL}},
    {"mounts", LINK, NULL, "self/mounts", {NULL}},
    {"net", LINK, NULL, "self/net", {NULL}},
    {"cpuinfo", R, procfs_cpuinfo, NULL, {NULL}},
    {"kallsyms", R, procfs_kallsyms, NULL, {NULL}},
    {"modules", R, NULL, "", {NULL}},
    {"meminfo", R, procfs_meminfo, NULL, {NULL}},
    {"stat", R, procfs_stat, NULL, {NULL}},
    {"vmstat", R, procfs_vmstat, NULL, {NULL}},
    {"diskstats", R, disk_print, NULL, {NULL}},
    {"uptime", R, procfs_uptime, NULL, {NULL}},
    {"loadavg", R, procfs_loadavg, NULL, {NULL}},
    {"version", R, NULL, "Linux version " RELEASE_NAME " (Vigil) " RELEASE_BUILD "\n", {NULL}},
    {"filesystems",
     R,
     NULL,
     "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tdevtmpfs\nnodev\tdevpts\n",
     {NULL}},
    {"cmdline", R, NULL, "\n", {NULL}},
    {"tty/drivers",
     R,
     NULL,
     "/dev/tty             /dev/tty        5       0 system:/dev/tty\n"
     "/dev/console         /dev/console    5       1 system:console\n"
     "/dev/ptmx            /dev/ptmx       5       2 system\n"
     "pty_slave            /dev/pts      136 0-1023 pty:slave\n"
     "pty_master           /dev/ptm      128 0-1023 pty:master\n",
     {NULL}},
    {"devices",
     R,
     NULL,
     "Character devices:\n  1 mem\n  5 /dev/tty\n  5 /dev/console\n  5 /dev/ptmx\n136 pts\n",
     {NULL}},
    {"sys/kernel/ostype", R, NULL, "Linux\n", {NULL}},
    {"sys/kernel/osrelease", R, NULL, RELEASE_NAME "\n", {NULL}},
    {"sys/kernel/version", R, NULL, RELEASE_BUILD "\n", {NULL}},
    {"sys/kernel/hostname", R, procfs_hostname, NULL, {NULL}},
    {"sys/kernel/domainname", R, procfs_domainname, NULL, {NULL}},
    {"sys/kernel/tainted", R, NULL, "0\n", {NULL}},
    {"sys/kernel/core_pattern", R, NULL, "core\n", {NULL}},
    {"sys/kernel/pid_max", R, NULL, "4194304\n", {NULL}},
    {"sys/kernel/threads-max", R, NULL, "4096\n", {NULL}},
    {"sys/kernel/cap_last_cap", R, NULL, "40\n", {NULL}},
    {"sys/kernel/sem", R, NULL, "32000\t32768000\t500\t1024\n", {NULL}},
    {"sys/kernel/msgmni", R, NULL, "1024\n", {NULL}},
    {"sys/kernel/msgmax", R, NULL, "8192\n", {NULL}},
    {"sys/kernel/msgmnb", R, NULL, "16384\n", {NULL}},
    {"sys/kernel/shmmni", R, NULL, "1024\n", {NULL}},
    {"sys/kernel/ngroups_max", R, NULL, "65536\n", {NULL}},
    {"sys/kernel/perf_event_paranoid", R, NULL, "-1\n", {NULL}},
    {"sys/kernel/perf_event_max_sample_rate", R, NULL, TEXT_OF(PERF_FREQUENCY_MAX) "\n", {NULL}},
    {"sys/kernel/perf_event_max_stack", R, NULL, TEXT_OF(PERF_STACK_MAX) "\n", {NULL}},
    {"sys/kernel/perf_event_max_contexts_per_stack", R, NULL, "8\n", {NULL}},
    {"sys/kernel/perf_event_mlock_kb", R, NULL, "516\n", {NULL}},
    {"sys/kernel/perf_cpu_time_max_percent", R, NULL, "25\n", {NULL}},
    {"sys/kernel/nmi_watchdog", R, NULL, "0\n", {NULL}},
    {"sys/kernel/kptr_restrict", R, NULL, "0\n", {NULL}},
    {"sys/kernel/pty/max", R, NULL, "1024\n", {NULL}},
    {"sys/kernel/randomize_va_space", R, NULL, "0\n", {NULL}},
    {"sys/vm/overcommit_memory", R, NULL, "1\n", {NULL}},
    {"sys/vm/max_map_count", R, NULL, "65530\n", {NULL}},
    {"sys/vm/mmap_min_addr", R, NULL, "65536\n", {NULL}},
    {"sys/vm/nr_hugepages", R, NULL, "0\n", {NULL}},
    {"sys/net/core/somaxconn", R, NULL, "4096\n", {NULL}},
    {"sys/fs/pipe-max-size", R, NULL, "1048576\n", {NULL}},
    {"sys/fs/file-max", R, NULL, "9223372036854775807\n", {NULL}},
    {"sys/fs/nr_open", R, NULL, "65536\n", {NULL}},
    {"vigil/applications", R, procfs_applications, NULL, {NULL}},
    {"%p/exe", LINK, procfs_exe, NULL, {procfs_follow_exe}},
    {"%p/cwd", LINK, procfs_cwd, NULL, {procfs_follow_cwd}},
    {"%p/root", LINK, NULL, "/", {NULL}},
    {"%p/maps", R, procfs_maps, NULL, {NULL}},
    {"%p/stat", R, procfs_process_stat, NULL, {NULL}},
    {"%p/status", R, procfs_status, NULL, {NULL}},
    {"%p/statm", R, procfs_statm, NULL, {NULL}},
    {"%p/comm", R, procfs_comm, NULL, {NULL}},
    {"%p/cmdline", R, procfs_cmdline, NULL, {NULL}},
    {"%p/limits", R, procfs_limits, NULL, {NULL}},
    {"%p/mounts", R, procfs_mounts, NULL, {NULL}},
    {"%p/mountinfo", R, procfs_mountinfo, NULL, {NULL}},
    {"%p/cgroup", R, NULL, "0::/\n", {NULL}},
    {"%p/oom_score_adj", RW, procfs_oom_score_adj, NULL, {.written = procfs_written_oom_score_adj}},
    {"%p/fd", S_IFDIR, NULL, NULL, {NULL}},
    {"%p/fd/%f", LINK, procfs_fd, NULL, {procfs_follow_fd}},
    {"%p/net/dev", R, procfs_net_dev, NULL, {NULL}},
    {"%p/net/hosts", R, NULL, "127.0.0.1 localhost\n127.0.0.1 vigil\n", {NULL}},
    {"%p/net/pnp", R, procfs_net_pnp, NULL, {NULL}},
    {"%p/net/route", R, procfs_net_route, NULL, {NULL}},
    {"%p/net/snmp", R, procfs_net_snmp, NULL, {NULL}},
    {"%p/net/sockstat", R, procfs_net_sockstat, NULL, {NULL}},
    {"%p/net/tcp", R, procfs_net_tcp, NULL, {NULL}},
    {"%p/net/udp", R, procfs_net_udp, NULL, {NULL}},
    {"%p/net/unix", R, procfs_net_unix, NULL, {NULL}},
    {"%p/net/vigil", R, procfs_net_vigil, NULL, {NULL}},
    {"%p/task/%t/comm", R, procfs_thread_comm, NULL, {NULL}},
    {"%p/task/%t/stat", R, procfs_thread_stat, NULL, {NULL}},
    {"%p/task/%t/status", R, procfs_thread_status, NULL, {NULL}},
    {"%p/task/%t/cmdline", R, procfs_cmdline, NULL, {NULL}},
    {0},
};

static const struct pseudo_variable variables[] = {{'p', procfs_next_pid, procfs_is_pid},
                                                   {'t', procfs_next_tid, NULL},
                                                   {'f', procfs_next_fd, NULL},
                                                   {0}};

static struct pseudo proc_fs = {
    .mount = {.type = "proc", .magic = PROC_SUPER_MAGIC},
    .rows = rows,
    .variables = variables,
};

uint32_t procfs_pid_of(struct vnode *v)
{
    uint32_t pid;

    return pseudo_is_number(&proc_fs, v, &pid) ? pid : 0;
}

void procfs_start(void)
{
    fs_mount("/proc", &proc_fs);
    fs_add_link("/etc/resolv.conf", "/proc/net/pnp");
    fs_add_link("/etc/hosts", "/proc/net/hosts");
}
