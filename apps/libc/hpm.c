/* Counters, samples and applications: wrappers of the calls (hpm.h). */
#include "apps/libc/hpm.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "apps/libc/syscall.h"

/* The calling thread's page, and the session that it shows; page NULL: that session shows none. */
static __thread struct {
    const volatile struct hpm_user_page *page;
    int session;
} shown;

void hpm_mark(const char *label)
{
    syscall1(SYS_MARK, label);
}

void hpm_group(int group)
{
    syscall1(SYS_GROUP, group);
}

/* Says why a call failed that another kernel than Vigil does not know. */
static int say_missing(int64_t result, char *why, size_t size)
{
    if (result == -ENOSYS && size)
        snprintf(why, size, "this kernel is not Vigil");
    return (int)result;
}

int hpm_open(const char *names, char *why, size_t size)
{
    if (size)
        why[0] = '\0';
    return say_missing(syscall3(SYS_HPM_OPEN, names, why, size), why, size);
}

int hpm_values(const struct sys_hpm_read *read, struct sys_hpm_value *out, size_t room)
{
    return (int)syscall3(SYS_HPM_VALUES, read, out, room * sizeof *out);
}

int hpm_list(uint32_t *cursor, struct sys_hpm_listed *out)
{
    return (int)syscall3(SYS_HPM_LIST, cursor, out, sizeof *out);
}

int hpm_turns(int session, struct sys_hpm_turns *out, struct sys_hpm_turn *of, size_t room)
{
    return (int)syscall5(SYS_HPM_TURNS, session, out, sizeof *out, of, room * sizeof *of);
}

int hpm_log(int session, const struct sys_hpm_log *what, char *why, size_t size)
{
    if (size)
        why[0] = '\0';
    return say_missing(syscall4(SYS_HPM_LOG, session, what, why, size), why, size);
}

int hpm_log_take(int session, void *out, size_t bytes)
{
    return (int)syscall3(SYS_HPM_LOG_TAKE, session, out, bytes);
}

void hpm_close(int session)
{
    if (session == shown.session)
        shown.session = 0;
    syscall1(SYS_HPM_CLOSE, session);
}

static void show_session(int session)
{
    int64_t at = (int64_t)syscall1(SYS_HPM_SHOW, session);

    shown.session = session;
    shown.page = at > 0 ? (const volatile struct hpm_user_page *)at : NULL;
}

static int ask_count(int session, unsigned i, uint64_t *count)
{
    const struct sys_hpm_read own = {.session = (uint32_t)session, .scope = SYS_SCOPE_THREAD};
    struct sys_hpm_value v[HPM_USER_COUNTS];
    int n = hpm_values(&own, v, HPM_USER_COUNTS);

    if (n < 0)
        return n;
    if (i >= (unsigned)n || i >= HPM_USER_COUNTS || v[i].kind != SYS_VALUE_COUNT)
        return -EINVAL;
    *count = v[i].count;
    return 0;
}

int hpm_count_read(int session, unsigned i, uint64_t *count)
{
    if (session != shown.session)
        show_session(session);
    if (shown.page && hpm_user_read(shown.page, i, counter_read, count))
        return 1;
    return ask_count(session, i, count);
}

int samples_open(const char *criteria, uint32_t pid, uint32_t rate, uint32_t permille, char *why,
                 size_t size)
{
    struct sys_profiling what = {
        .criteria = (uint64_t)criteria, .pid = pid, .rate = rate, .permille = permille};

    return samples_open_chains(&what, why, size);
}

int samples_open_chains(const struct sys_profiling *what, char *why, size_t size)
{
    if (size)
        why[0] = '\0';
    return say_missing(syscall3(SYS_SAMPLE_OPEN, what, why, size), why, size);
}

int samples_chain(int session, uint32_t chain, uint64_t *out, size_t room)
{
    return (int)syscall4(SYS_SAMPLE_CHAIN, session, chain, out, room * sizeof *out);
}

int samples_take(int session, struct sys_sample *out, size_t room)
{
    return (int)syscall3(SYS_SAMPLE_TAKE, session, out, room * sizeof *out);
}

int samples_account(int session, unsigned criterion, struct sys_sample_account *out)
{
    return (int)syscall4(SYS_SAMPLE_ACCOUNT, session, criterion, out, sizeof *out);
}

void samples_close(int session)
{
    syscall1(SYS_SAMPLE_CLOSE, session);
}

int hpm_breakdown(const struct sys_hpm_read *read, struct sys_breakdown *out)
{
    return (int)syscall3(SYS_HPM_READ, read, out, sizeof *out);
}

int application_start(char *const *argv, int argc)
{
    char text[SYS_ARGS_BYTES];
    size_t used = 0;

    for (int i = 0; i < argc; i++) {
        size_t n = strlen(argv[i]) + 1;
        if (n > sizeof text - used)
            return -E2BIG;
        memcpy(text + used, argv[i], n);
        used += n;
    }
    return (int)syscall2(SYS_SPAWN, text, used);
}

int application_next_pid(void)
{
    return (int)syscall0(SYS_NEXT_PID);
}

int application_wait(int pid)
{
    return (int)syscall1(SYS_WAIT, pid);
}

int application_threads(int pid, struct sys_thread_info *out, size_t room)
{
    return (int)syscall3(SYS_THREADS, pid, out, room * sizeof *out);
}
