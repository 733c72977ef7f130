/*
 * The calls that each thread is in, as ground truth for chains of calls: a shadow stack that is
 * kept by the calls and returns that its user mode executes. No memory of the guest is read, so it
 * holds for programs without frame pointers or tables of frames, and in the middle of prologues.
 *
 *   CPU TIME TAG ADDRESS...  an interrupt or a fault of user mode, at its entry, TIME in model
 *                            cycles; TAG is the thread's; the address that it interrupted, and the
 *                            return addresses of the calls that it was in, the innermost first
 *
 * Off unless asked for (calls=1). Threads are told apart by the tag that the kernel stores at each
 * switch; without one nothing is written. An entry is dead when the stack pointer has risen above
 * it, as it does behind longjmp. What a longjmp has left may come to life if the stack grows over
 * it without a call.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test/machine/engine.h"

struct call {
    uint64_t sp; /* while its function has not yet pushed anything */
    uint64_t back;
};

struct calls {
    uint32_t tag, count, room;
    struct call *call;
};

static FILE *file;
static struct calls *threads;
static uint32_t thread_count, thread_room;

static void *grow(void *of, uint32_t *room, size_t bytes)
{
    *room = *room ? 2 * *room : 64;
    of = realloc(of, *room * bytes);
    if (!of)
        machine_error("calls=: out of memory");
    return of;
}

static struct calls *find(uint32_t tag)
{
    for (struct calls *c = threads; c < threads + thread_count; c++)
        if (c->tag == tag)
            return c;
    if (thread_count == thread_room)
        threads = grow(threads, &thread_room, sizeof(*threads));
    threads[thread_count] = (struct calls){.tag = tag};
    return &threads[thread_count++];
}

static struct calls *calls_of(const struct vcpu *v)
{
    return find(v->calls.tag);
}

static void drop_below(struct calls *c, uint64_t sp)
{
    while (c->count && c->call[c->count - 1].sp < sp)
        c->count--;
}

/* Returns the address behind a call. A library's page is translated once, at the address that one
 * process has it at; another may have it elsewhere. The program counter is somewhere in what was
 * translated together, which is less than a page. */
static uint64_t behind(struct vcpu *v, const struct insn *i)
{
    uint64_t moved = execute_register(v, machine.isa->pc) - i->block;

    return i->pc + i->bytes + (moved & ~(uint64_t)PAGE_MASK);
}

void calls_call(unsigned cpu, void *data)
{
    const struct insn *i = data;
    struct vcpu *v = machine.running;
    struct calls *c = calls_of(v);
    uint64_t sp = execute_register(v, machine.isa->sp) - machine.isa->call_pushes;

    (void)cpu;
    drop_below(c, sp + 1); /* one at the same address is this call, which faulted and is repeated */
    if (c->count == c->room)
        c->call = grow(c->call, &c->room, sizeof(*c->call));
    c->call[c->count++] = (struct call){sp, behind(v, i)};
}

void calls_return(unsigned cpu, void *data)
{
    struct vcpu *v = machine.running;

    (void)cpu;
    (void)data;
    drop_below(calls_of(v), execute_register(v, machine.isa->sp) + 1);
}

void calls_stop(struct vcpu *v)
{
    if (!file)
        return;
    v->calls.pc = execute_register(v, machine.isa->pc);
    v->calls.sp = execute_register(v, machine.isa->sp);
}

void calls_enter(struct vcpu *v)
{
    if (!file || !v->calls.tag || !isa_user(v->calls.pc))
        return;
    struct calls *c = calls_of(v);
    drop_below(c, v->calls.sp);
    fprintf(file, "%u %llu %u %llx", v->index, (unsigned long long)vcpu_cycles(v), c->tag,
            (unsigned long long)v->calls.pc);
    for (uint32_t n = c->count; n--;)
        fprintf(file, " %llx", (unsigned long long)c->call[n].back);
    fputc('\n', file);
}

void calls_init(const char *truth, bool wanted)
{
    char name[4096];

    machine.calls = truth && wanted;
    if (!machine.calls)
        return;
    snprintf(name, sizeof(name), "%s.calls", truth);
    file = fopen(name, "w");
    if (!file)
        machine_error("calls=: %s: %s", name, strerror(errno));
}
