/*
 * The driver of the simulated machine's disk against a double of its registers: the requests that
 * it makes, the CPUs that are interrupted, and a disk that breaks the rules.
 */
#include "test/host/double/expect_panic.h"
#include "test/host/double/said.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/block/block_core.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/dev/pci/pci.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

#define PAGES 100
#define CPUS  3

bool host_irqs_on;
struct cpu cpus[CPU_MAX], *host_cpu = cpus;
uint64_t host_ticks;

/* ---- What the driver stands on --------------------------------------------------------------- */

static struct machine_id id;
static union {
    struct machine_disk disk;
    uint8_t bytes[4096];
} regs ALIGNED(64);
static const struct pci_device pci = {.bus = 1, .slot = 2, .function = 3};
static void *frames[8];
static unsigned frame_count, frames_max, messages, messages_max;
static void (*handler)(void *arg);
static bool master;
static struct block_device *found;
static unsigned broken, back_count;
static struct {
    struct block_request *request;
    int status;
} came_back[MACHINE_DISK_SLOTS + 1];

volatile struct machine_id *machine_id(void)
{
    return &id;
}
volatile struct machine_disk *machine_disk(void)
{
    return &regs.disk;
}
const struct pci_device *machine_pci(void)
{
    return &pci;
}
void pci_enable(const struct pci_device *d, bool bus_master)
{
    assert_ptr_equal(d, &pci);
    master = bus_master;
}
unsigned cpu_count(void)
{
    return CPUS;
}
int arch_msi_alloc(uint32_t requester, struct cpu *target, void (*to)(void *arg), void *arg,
                   unsigned *out)
{
    assert_int_equal(requester, 1 << 8 | 2 << 3 | 3);
    assert_ptr_equal(target, &cpus[messages]);
    assert_null(arg);
    handler = to;
    *out = messages;
    return messages == messages_max ? -ENOSPC : (messages++, 0);
}
void arch_msi_message(unsigned n, struct arch_msi *out)
{
    *out = (struct arch_msi){.address = 0x1000 + n, .data = 500 + n};
}
int frame_alloc(unsigned order, paddr_t *out)
{
    if (frame_count == frames_max)
        return -ENOMEM;
    *out = virt_to_phys(frames[frame_count++] = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order));
    memset(phys_to_virt(*out), 0, PAGE_SIZE << order);
    return 0;
}
void frame_free(paddr_t pa, unsigned order)
{
    (void)order;
    assert_ptr_equal(phys_to_virt(pa), frames[frame_count - 1]);
    free(frames[--frame_count]);
}
void block_add(struct block_device *d, const char *what)
{
    assert_string_equal(what, "in model time");
    found = d;
}
bool block_lock(struct block_device *d)
{
    assert_ptr_equal(d, found);
    return false;
}
void block_unlock(struct block_device *d, bool irq)
{
    (void)d, (void)irq;
}
void block_back(struct block_request *r, int status)
{
    assert_true(back_count < ARRAY_SIZE(came_back));
    came_back[back_count].request = r;
    came_back[back_count++].status = status;
}
void block_broken(struct block_device *d)
{
    d->failed = true;
    broken++;
}

/* ---- The disk -------------------------------------------------------------------------------- */

static struct machine_disk_ring *ring;
static struct machine_disk_request asked[MACHINE_DISK_SLOTS];
static unsigned asked_count, resets;
static bool refuses;

void host_io_read(const volatile void *reg)
{
    (void)reg;
}

void host_io_written(volatile void *reg)
{
    if (reg == &regs.disk.reset) {
        resets++;
        ring = regs.disk.ring_entries ? phys_to_virt(regs.disk.ring_base) : NULL;
        asked_count = 0;
        regs.disk.result = refuses ? -22 : 0;
    }
    if (reg == &regs.disk.submit) {
        assert_true(asked_count < MACHINE_DISK_SLOTS && regs.disk.submit % MACHINE_DISK_ALIGN == 0);
        regs.disk.result = refuses ? -22 : 0;
        if (!refuses)
            memcpy(&asked[asked_count++], phys_to_virt(regs.disk.submit), sizeof(asked[0]));
    }
}

static void complete(uint64_t token)
{
    ring->done[ring->head % regs.disk.ring_entries].token = token;
    ring->head++;
}

static struct block_request requests[MACHINE_DISK_SLOTS];

static struct block_request *ask(unsigned i, uint64_t page, uint32_t count, bool write)
{
    struct block_request *r = &requests[i];

    *r = (struct block_request){.page = page, .count = count, .write = write, .device = found};
    for (uint32_t k = 0; k < count; k++)
        r->frame[k] = 0x10000 * (k + 1);
    found->ops->submit(found, r);
    return r;
}

static int begin(void **state)
{
    (void)state;
    while (frame_count)
        free(frames[--frame_count]);
    memset(&regs, 0, sizeof(regs));
    regs.disk.pages = PAGES;
    regs.disk.latency_cycles = 1000000;
    regs.disk.page_cycles = 4096;
    id.caps = MACHINE_CAP_DISK;
    for (unsigned i = 0; i < CPUS; i++)
        cpus[i].index = i;
    host_cpu = cpus;
    said[0] = '\0';
    found = NULL;
    broken = back_count = asked_count = resets = messages = 0;
    frames_max = ARRAY_SIZE(frames);
    messages_max = CPUS;
    refuses = master = false;
    return 0;
}

static int end(void **state)
{
    return begin(state);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void it_is_found_where_the_machine_has_one(void **state)
{
    (void)state;
    block_model_driver.probe();
    assert_string_equal(found->name, "model");
    assert_int_equal(found->pages, PAGES);
    assert_int_equal(found->depth, MACHINE_DISK_SLOTS);
    assert_int_equal(found->pages_max, 32);
    assert_false(found->read_only);
    assert_true(master);
    assert_non_null(ring);
    assert_int_equal(messages, CPUS);
    begin(NULL);
    regs.disk.read_only = 1;
    block_model_driver.probe();
    assert_true(found->read_only);
    begin(NULL);
    id.caps = MACHINE_CAP_PMU;
    block_model_driver.probe();
    assert_null(found);
    assert_string_equal(said, "");
}

static void a_request_is_passed_on_and_its_cpu_is_told(void **state)
{
    (void)state;
    messages_max = 2; /* the third CPU has none of its own */
    block_model_driver.probe();
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        host_cpu = &cpus[cpu];
        struct block_request *r = ask(0, 7, 3, cpu == 1);
        const struct machine_disk_request *a = &asked[cpu];
        assert_int_equal(a->page, 7);
        assert_int_equal(a->count, 3);
        assert_int_equal(a->flags, cpu == 1 ? MACHINE_DISK_WRITE : 0);
        assert_int_equal(a->frame[2], 0x30000);
        assert_int_equal(a->irq_address, 0x1000 + cpu % 2);
        assert_int_equal(a->irq_data, 500 + cpu % 2);
        handler(NULL);
        assert_int_equal(back_count, cpu);
        complete(a->token);
        handler(NULL);
        assert_int_equal(back_count, cpu + 1);
        assert_ptr_equal(came_back[cpu].request, r);
        assert_int_equal(came_back[cpu].status, 0);
    }
    ask(0, 0, 0, true); /* flush: nothing is kept back */
    assert_int_equal(back_count, CPUS + 1);
    assert_int_equal(asked_count, CPUS);
}

static void all_slots_come_back_in_any_order(void **state)
{
    uint64_t seed = 5;

    (void)state;
    block_model_driver.probe();
    for (unsigned round = 0; round < 100; round++) {
        back_count = asked_count = 0;
        for (unsigned i = 0; i < MACHINE_DISK_SLOTS; i++)
            ask(i, i, 1, false);
        for (unsigned left = MACHINE_DISK_SLOTS; left; left--) {
            unsigned pick = (unsigned)(test_random(&seed) % left);
            complete(asked[pick].token);
            asked[pick] = asked[left - 1];
            if (test_random(&seed) % 4 == 0)
                handler(NULL);
        }
        handler(NULL);
        assert_int_equal(back_count, MACHINE_DISK_SLOTS);
        uint64_t seen = 0;
        for (unsigned i = 0; i < back_count; i++)
            seen |= (uint64_t)1 << (came_back[i].request - requests);
        assert_int_equal(seen, UINT64_MAX);
    }
}

static void a_disk_that_lies_is_used_no_more(void **state)
{
    (void)state;
    for (unsigned lie = 0; lie < 5; lie++) {
        begin(NULL);
        block_model_driver.probe();
        refuses = lie == 4;
        ask(0, 1, 1, false);
        switch (lie) {
        case 0:
            complete(MACHINE_DISK_SLOTS);
            break; /* no such token */
        case 1:
            complete(asked[0].token ^ 1);
            break; /* no request has it */
        case 2:
            ring->head += MACHINE_DISK_SLOTS + 1;
            break; /* more than can be */
        case 3:
            complete(asked[0].token);
            complete(asked[0].token);
            break; /* twice */
        }
        handler(NULL);
        assert_int_equal(back_count, lie == 3);
        assert_int_equal(broken, 1);
        assert_int_equal(resets, 2); /* no frame is touched any more */
        assert_null(ring);
        assert_non_null(strstr(said, "disk: event=stopped name=model reason=device: it re"));
        handler(NULL);
        assert_int_equal(broken, 1);
    }
}

static void a_disk_is_stopped(void **state)
{
    (void)state;
    block_model_driver.probe();
    found->ops->stop(found);
    assert_int_equal(resets, 2);
    assert_null(ring);
}

static void an_unusable_disk_gives_one_line(void **state)
{
    static const char *const lines[] = {
        "disk: event=refused name=model reason=device: it has not even a page: left alone\n",
        "disk: event=refused name=model reason=device: nothing here delivers its messages: left "
        "alone\n",
        "disk: event=refused name=model reason=device: no memory for its requests: left alone\n",
        "disk: event=refused name=model reason=device: it does not take a ring: left alone\n",
    };

    (void)state;
    for (unsigned fault = 0; fault < ARRAY_SIZE(lines); fault++) {
        begin(NULL);
        if (fault == 0)
            regs.disk.pages = 0;
        if (fault == 1)
            messages_max = 0;
        if (fault == 2)
            frames_max = 1;
        refuses = fault == 3;
        block_model_driver.probe();
        assert_null(found);
        assert_string_equal(said, lines[fault]);
        assert_true(fault != 2 || !frame_count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_found_where_the_machine_has_one, begin, end),
        cmocka_unit_test_setup_teardown(a_request_is_passed_on_and_its_cpu_is_told, begin, end),
        cmocka_unit_test_setup_teardown(all_slots_come_back_in_any_order, begin, end),
        cmocka_unit_test_setup_teardown(a_disk_that_lies_is_used_no_more, begin, end),
        cmocka_unit_test_setup_teardown(a_disk_is_stopped, begin, end),
        cmocka_unit_test_setup_teardown(an_unusable_disk_gives_one_line, begin, end),
    };

    return cmocka_run_group_tests_name("model_disk", tests, NULL, NULL);
}
