/*
 * Runs a part of a test in a process of its own: mm cannot be initialized twice, and a crash is
 * reported by the sanitizers, not by cmocka.
 */
#pragma once
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test/host/double/expect_panic.h"

static struct sigaction in_child_segv, in_child_abrt; /* as they were before cmocka's */

/* First in main(). */
static void in_child_begin(void)
{
    sigaction(SIGSEGV, NULL, &in_child_segv);
    sigaction(SIGABRT, NULL, &in_child_abrt);
}

/* Runs play(from) in a child. Returns its status as waitpid() has it: 0 if play() returns, SIGALRM
 * after `seconds`. */
static int in_child(void (*play)(uint64_t from), uint64_t from, unsigned seconds)
{
    int status = 0;
    pid_t child = fork();

    if (!child) {
        sigaction(SIGSEGV, &in_child_segv, NULL);
        sigaction(SIGABRT, &in_child_abrt, NULL);
        alarm(seconds);
        play(from);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}
