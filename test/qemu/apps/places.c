/*
 * What is where: the program asks the kernel about addresses of its own. `places wait` tells its
 * number and sleeps; `places N` asks about process N, another one of this program.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps/libc/hpm.h"
#include "apps/libc/memory.h"
#include "apps/libc/syscall.h"
#include "apps/libc/libc.h"
#include "test/qemu/apps/tap.h"

#define PAGE       4096u
#define THIS       "test/qemu/apps/places.c"
#define ADDRESS(x) ((uint64_t)(uintptr_t)(x))

static uint64_t variable = 5;
static uint32_t line_of_call;
static uint64_t caller;

static void __attribute__((noinline)) note_caller(void)
{
    caller = ADDRESS(__builtin_return_address(0));
}

static void __attribute__((noinline)) call(void)
{
    line_of_call = __LINE__ + 1;
    note_caller();
    variable++;
}

static struct sys_symbol at(uint64_t address)
{
    struct sys_symbol place;

    memset(&place, 0xee, sizeof place);
    tap_check(symbol_of(0, address, &place) == 0, "%#llx can be asked about",
              (unsigned long long)address);
    printf("# %s+%llu %s+%llu %s:%u\n", place.region, (unsigned long long)place.region_offset,
           place.function, (unsigned long long)place.function_offset, place.file,
           (unsigned)place.line);
    return place;
}

static bool is_code(const struct sys_symbol *p, const char *function, const char *file)
{
    return strcmp(p->region, "code") == 0 && strcmp(p->function, function) == 0 &&
           strcmp(p->file, file) == 0 && p->line;
}

static bool is_memory(const struct sys_symbol *p, const char *region, uint64_t offset)
{
    return strcmp(p->region, region) == 0 && p->region_offset == offset && !p->function[0] &&
           !p->function_offset && !p->file[0] && !p->line;
}

static void code_is_known_by_line(void)
{
    struct sys_symbol place = at(ADDRESS(call));

    tap_check(is_code(&place, "call", THIS) && place.function_offset == 0,
              "a function's first instruction");
    call();
    place = at(caller - 1);
    tap_check(is_code(&place, "call", THIS) && place.line == line_of_call, "a call, by its line");
    tap_check(caller - 1 - place.function_offset == ADDRESS(call),
              "... and how far into the function it is");
    place = at(ADDRESS(pthread_create));
    tap_check(is_code(&place, "pthread_create", "apps/libc/thread.c"),
              "a function of the library beside it");
    place = at(ADDRESS(qsort));
    tap_check(is_code(&place, "qsort", "qsort.c"), "a function of newlib, by the name of its file");
    place = at(ADDRESS(longjmp));
    tap_check(strcmp(place.function, "longjmp") == 0, "a function in assembly");
}

static void memory_is_known_by_region(void)
{
    int64_t page = (int64_t)memory_map("a place", 2 * PAGE);
    struct sys_symbol place = at((uint64_t)page + 5000), next;

    tap_check(is_memory(&place, "a place", 5000), "memory that was mapped by a name");
    tap_check(place.region_bytes == 2 * PAGE, "... and how large it is");
    place = at(ADDRESS(&variable));
    next = at(ADDRESS(&variable) + 8);
    tap_check(strcmp(place.region, "data") == 0 && place.region_offset == next.region_offset - 8,
              "a variable's region");
    tap_check(strcmp(place.function, "variable") == 0 && !place.function_offset && !place.file[0],
              "... and name, without a file");
    place = at(ADDRESS(&variable) + 7);
    tap_check(strcmp(place.function, "variable") == 0 && place.function_offset == 7,
              "... and the offset in it");
    place = at(ADDRESS(&place));
    tap_check(strcmp(place.region, "main stack") == 0 && !place.function[0],
              "a variable on the stack");
    place = at(8);
    tap_check(is_memory(&place, "", 0), "nothing is at a null pointer");
    place = at(0x7ffffffffff0);
    tap_check(is_memory(&place, "", 0), "nothing is at the end of user memory");
    place = at(UINT64_MAX);
    tap_check(is_memory(&place, "", 0), "nothing is at the last address");
    place = at(0xffffffff80200000 + 0x10000);
    tap_check(strcmp(place.region, "kernel") == 0 && place.region_offset == 0x10000 &&
                  place.function[0],
              "the kernel's code");
}

static void answers_are_as_long_as_asked_for(void)
{
    struct sys_symbol place;

    memset(&place, 'x', sizeof place);
    tap_check(syscall4(SYS_SYMBOL, 0, ADDRESS(call), &place,
                       offsetof(struct sys_symbol, function) + 2) == 0,
              "a part can be asked for");
    tap_check(memcmp(place.function, "caxx", 4) == 0, "... and no more is written");
    tap_check(syscall4(SYS_SYMBOL, 0, ADDRESS(call), &place, 0) == -EINVAL, "no room is refused");
    tap_check(syscall4(SYS_SYMBOL, 0, ADDRESS(call), 8, sizeof place) == -EFAULT,
              "a bad pointer is refused");
    tap_check(symbol_of(999999, ADDRESS(call), &place) == ESRCH,
              "a process that does not exist is refused");
    tap_check(symbol_of(999999, 0xffffffff80200000 + 0x10000, &place) == 0 &&
                  strcmp(place.region, "kernel") == 0,
              "... the kernel's code in its name is known");
}

/* While it lives, and once it does no more. */
static void other_processes_are_known(unsigned pid)
{
    struct sys_symbol place;
    unsigned asked = 0, wrong = 0;
    int error;

    while ((error = symbol_of((int)pid, ADDRESS(call), &place)) == 0) {
        asked++;
        wrong += strcmp(place.function, "call") != 0 || strcmp(place.region, "code") != 0;
    }
    tap_check(asked && !wrong, "the other's code is known as long as it lives (%u times asked)",
              asked);
    tap_check(error == ESRCH, "... and then refused");
}

static void code_of_a_child_that_has_ended_is_known(void)
{
    struct sys_symbol place;
    int pid = application_start((char *[]){"places", "nothing"}, 2);

    tap_check(pid > 0 && application_wait(pid) == 0, "a child runs and ends");
    tap_check(symbol_of(pid, ADDRESS(call), &place) == 0,
              "its code can be asked about all the same");
    tap_check(strcmp(place.function, "call") == 0 && strcmp(place.file, THIS) == 0 && place.line &&
                  !place.region[0] && !place.region_offset && !place.region_bytes,
              "... and is known, without a region");
    tap_check(symbol_of(pid, ADDRESS(&variable), &place) == 0 &&
                  strcmp(place.function, "variable") == 0 && !place.region[0],
              "... and so is a variable");
    tap_check(symbol_of(pid, ADDRESS(&place), &place) == 0 && is_memory(&place, "", 0),
              "... other memory is not");
    tap_check(symbol_of(pid, 0xffffffff80200000 + 0x10000, &place) == 0 &&
                  strcmp(place.region, "kernel") == 0,
              "... and the kernel's code is as ever");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "nothing") == 0)
        return 0;
    if (argc == 2 && strcmp(argv[1], "wait") == 0) {
        sleep_ns((uint64_t)1000000000);
        return 0;
    }
    if (argc == 2) {
        other_processes_are_known((unsigned)strtoul(argv[1], NULL, 10));
        return tap_done();
    }
    code_is_known_by_line();
    memory_is_known_by_region();
    answers_are_as_long_as_asked_for();
    code_of_a_child_that_has_ended_is_known();
    return tap_done();
}
