/* Tests of x86-64 alone: repeated string instructions. */
#include "test/machine/guest/guest.h"

#define LINES  64
#define ROUNDS 100

static void fill_bytes(uint64_t at, uint64_t bytes)
{
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(7) : "memory");
}

static void copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}

static void a_string_instruction_accesses_each_line_once(void)
{
    struct counting c = {.event = {MACHINE_EVENT_LOADS, MACHINE_EVENT_STORES}};
    uint64_t bytes = LINES * id->line_bytes, from = arena(bytes),
             to = arena(bytes + id->line_bytes);

    count_start(&c, MACHINE_COUNT_KERNEL);
    fill_bytes(from, bytes);
    count_stop(&c);
    check("filling memory stores a line once", c.value[1], LINES, LINES + 40);
    check("  the last byte, too", load(from + bytes - 8) >> 56, 7, 7);
    count_start(&c, MACHINE_COUNT_KERNEL);
    copy(to, from, bytes);
    count_stop(&c);
    check("copying memory loads a line once", c.value[0], LINES, LINES + 40);
    check("  and stores it once", c.value[1], LINES, LINES + 40);
    count_start(&c, MACHINE_COUNT_KERNEL);
    copy(to + 3, from, bytes);
    count_stop(&c);
    check("a copy that is not aligned stores one line more", c.value[1], LINES + 1, LINES + 41);
}

static void each_string_instruction_accesses_its_line(void)
{
    struct counting c = {.event = {MACHINE_EVENT_STORES}};
    uint64_t at = arena(PAGE_SIZE);

    count_start(&c, MACHINE_COUNT_KERNEL);
    for (unsigned i = 0; i < ROUNDS; i++)
        fill_bytes(at, 16);
    count_stop(&c);
    check("each of many short fills of a line is a store", c.value[0], ROUNDS, ROUNDS + 40);
}

static void filling_new_memory_waits_for_its_lines_only(void)
{
    struct counting c = {.event = {MACHINE_EVENT_STALL_OTHER}};
    uint64_t bytes = LINES * id->line_bytes, at = arena(bytes);

    count_start(&c, MACHINE_COUNT_KERNEL);
    fill_bytes(at, bytes);
    count_stop(&c);
    check("filling new memory waits for its lines only", c.value[0], 0,
          LINES * id->latency[MACHINE_REMOTE_MEMORY] + 1000);
}

void (*const platform_tests[])(void) = {
    a_string_instruction_accesses_each_line_once,
    each_string_instruction_accesses_its_line,
    filling_new_memory_waits_for_its_lines_only,
    NULL,
};
