/* See path_double.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test/host/double/path_double.h"

#define USED ((uint64_t)1 << 63)

struct path_double_unit path_double[PATH_DOUBLE_CPUS];
bool path_double_no_machine, path_double_no_unit, path_double_no_msi;
int path_double_refuses = -1;
uint8_t path_double_output[1 << 20];
size_t path_double_output_bytes;

static struct machine_id id;
static struct {
    struct machine_path regs ALIGNED(4096);
} page[PATH_DOUBLE_CPUS];

#define INSIST(cond)                                                                         \
    do {                                                                                     \
        if (!(cond)) {                                                                       \
            fprintf(stderr, "%s:%d: the unit does not allow this: %s\n", __FILE__, __LINE__, \
                    #cond);                                                                  \
            abort();                                                                         \
        }                                                                                    \
    } while (0)

static struct path_double_unit *here(void)
{
    return &path_double[host_cpu->index];
}

static volatile struct machine_path *regs_here(void)
{
    return &page[host_cpu->index].regs;
}

/* ---- Where it is ----------------------------------------------------------------------------- */

volatile struct machine_id *machine_id(void)
{
    return path_double_no_machine ? NULL : &id;
}

volatile struct machine_path *machine_path(unsigned index)
{
    return &page[index].regs;
}

int arch_path_msi(struct cpu *cpu, struct arch_msi *msi)
{
    if (path_double_no_msi)
        return -ENOTSUP;
    *msi = (struct arch_msi){.address = 0xfee00000 | cpu->index << 12, .data = 0xe1};
    return 0;
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

static void take_interrupt(void)
{
    host_irqs_on = false;
    path_interrupt();
    host_irqs_on = true;
}

void path_double_deliver(void)
{
    while (here()->irq_raised) {
        here()->irq_raised = false;
        take_interrupt();
    }
}

void path_double_spurious(void)
{
    INSIST(host_irqs_on);
    take_interrupt();
}

/* ---- The unit -------------------------------------------------------------------------------- */

static uint32_t append(struct path_double_unit *u)
{
    struct machine_path_ring *ring = phys_to_virt(u->ring_base);
    uint32_t n = u->logged;

    /* or it would overwrite entries that have not been taken */
    INSIST(ring->head - ring->tail + n <= u->ring_entries);
    for (uint32_t i = 0; i < n; i++)
        ring->entry[ring->head++ & (u->ring_entries - 1)] = u->log[i];
    ring->lost = u->lost_told = u->lost;
    u->logged = 0;
    return n;
}

static bool spill(struct path_double_unit *u)
{
    const struct machine_path_ring *ring = phys_to_virt(u->ring_base);

    if (!u->spill || ring->head - ring->tail + u->logged > u->ring_entries)
        return false;
    u->spilled += append(u);
    u->spills++;
    return true;
}

static void interrupt_if_due(struct path_double_unit *u)
{
    bool full = u->threshold && u->logged >= u->threshold && !spill(u);
    bool due = full || (u->spilled && u->spilled >= u->spill);

    if (u->unacknowledged || !due || !regs_here()->irq_address)
        return;
    INSIST(regs_here()->irq_address == (0xfee00000 | host_cpu->index << 12) &&
           regs_here()->irq_data == 0xe1);
    u->unacknowledged = u->irq_raised = true;
    u->interrupts++;
}

static uint32_t find(const struct path_double_unit *u, uint64_t key)
{
    uint32_t i = 0;

    while (i < u->count && (u->known[i] & ~USED) != key)
        i++;
    return i;
}

static void take_out(struct path_double_unit *u, uint32_t i)
{
    memmove(u->known + i, u->known + i + 1, (--u->count - i) * sizeof(u->known[0]));
}

static enum path_double_use use(struct path_double_unit *u, uint64_t key, bool write)
{
    uint32_t i = find(u, key);
    bool sampled = MACHINE_PATH_SAMPLED(key, u->sample_shift);

    if (i < u->count) {
        take_out(u, i);
        u->known[u->count++] = key | USED;
        return PATH_KNOWN;
    }
    if (sampled && u->logged == u->log_entries) {
        u->lost++;
        return PATH_LOST;
    }
    if (u->count == u->pab_entries)
        take_out(u, 0);
    u->known[u->count++] = key;
    if (!sampled)
        return PATH_KNOWN;
    u->log[u->logged++] = key | (write ? MACHINE_PATH_WRITE : 0);
    return PATH_LOGGED;
}

enum path_double_use path_double_access(vaddr_t va, bool write)
{
    struct path_double_unit *u = here();

    if (!u->pab_entries || !u->space)
        return PATH_UNSEEN;
    enum path_double_use is =
        use(u, (uint64_t)u->space << MACHINE_PATH_SPACE_SHIFT | va >> PAGE_SHIFT, write);
    regs_here()->waiting = u->logged;
    if (is == PATH_LOGGED)
        interrupt_if_due(u);
    if (host_irqs_on)
        path_double_deliver();
    return is;
}

uint64_t path_double_lost(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < PATH_DOUBLE_CPUS; i++)
        sum += path_double[i].lost;
    return sum;
}

uint64_t path_double_waiting(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < PATH_DOUBLE_CPUS; i++)
        sum += path_double[i].logged;
    return sum;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static int configure(struct path_double_unit *u, const volatile struct machine_path *r)
{
    if ((int)host_cpu->index == path_double_refuses || r->threshold > r->log_entries ||
        (r->spill && !r->threshold) || r->filter_entries > MACHINE_PATH_FILTER_MAX ||
        r->log_entries > MACHINE_PATH_LOG_MAX)
        return -EINVAL;
    if (r->pab_entries &&
        (!is_pow2(r->pab_entries) || r->pab_entries < MACHINE_PATH_PAB_MIN ||
         r->pab_entries > MACHINE_PATH_PAB_MAX || !r->log_entries || !is_pow2(r->ring_entries) ||
         r->ring_entries < r->log_entries || r->ring_base % 128))
        return -EINVAL;
    u->count = u->logged = u->spilled = 0;
    u->unacknowledged = false;
    u->pab_entries = r->pab_entries;
    u->log_entries = r->log_entries;
    u->threshold = r->threshold;
    u->spill = r->spill;
    u->ring_base = r->ring_base;
    u->ring_entries = r->ring_entries;
    u->configures++;
    return 0;
}

static int drain(struct path_double_unit *u)
{
    INSIST(u->pab_entries);
    u->unacknowledged = false;
    u->spilled = 0;
    if (!u->logged && u->lost == u->lost_told)
        return 0;
    u->drains++;
    return (int)append(u);
}

/* Undefined bits are set, for they may get a meaning. */
static int probe(uint64_t key)
{
    int is = 0x40000004;

    for (struct path_double_unit *u = path_double; u < path_double + PATH_DOUBLE_CPUS; u++) {
        uint32_t i = find(u, key);
        if (i == u->count)
            continue;
        is |= MACHINE_PATH_IS_KEPT | (u->known[i] & USED ? MACHINE_PATH_IS_USED : 0);
        u->known[i] &= ~USED;
    }
    return is;
}

static int forget(uint64_t key, uint64_t mask)
{
    for (struct path_double_unit *u = path_double; u < path_double + PATH_DOUBLE_CPUS; u++)
        for (uint32_t i = u->count; i-- > 0;)
            if ((u->known[i] & mask) == key)
                take_out(u, i);
    return 0;
}

static int obey(struct path_double_unit *u, const volatile struct machine_path *r)
{
    const uint64_t space = (uint64_t)(MACHINE_PATH_SPACES - 1) << MACHINE_PATH_SPACE_SHIFT;

    switch (r->command) {
    case MACHINE_PATH_CMD_CONFIGURE:
        return configure(u, r);
    case MACHINE_PATH_CMD_DRAIN:
        return drain(u);
    case MACHINE_PATH_CMD_PROBE:
        INSIST(!(r->operand & ~(space | MACHINE_PATH_PAGE)));
        return probe(r->operand);
    case MACHINE_PATH_CMD_FORGET_PAGE:
        INSIST(!(r->operand & ~(space | MACHINE_PATH_PAGE)));
        return forget(r->operand, ~USED);
    case MACHINE_PATH_CMD_FORGET_SPACE:
        return forget(r->operand & space, space);
    default:
        return -EINVAL;
    }
}

static size_t offset_of(const volatile void *reg)
{
    size_t at = (size_t)((const volatile uint8_t *)reg - (const volatile uint8_t *)page);

    INSIST(at / sizeof(page[0]) == host_cpu->index); /* of another CPU, or of none */
    INSIST(!host_irqs_on);
    here()->registers++;
    return at % sizeof(page[0]);
}

void host_io_read(const volatile void *reg)
{
    offset_of(reg);
}

/* Handles a write to the machine's first page: appends to a file of the host's. */
static void put_out(const volatile void *reg)
{
    size_t room = sizeof path_double_output - path_double_output_bytes;

    INSIST(reg == &id.output_at || reg == &id.output_bytes);
    if (reg == &id.output_at)
        return;
    memcpy(path_double_output + path_double_output_bytes, phys_to_virt(id.output_at),
           MIN((size_t)id.output_bytes, room));
    path_double_output_bytes += MIN((size_t)id.output_bytes, room);
}

void host_io_written(volatile void *reg)
{
    if (reg >= (volatile void *)&id && reg < (volatile void *)(&id + 1)) {
        put_out(reg);
        return;
    }
    volatile struct machine_path *r = regs_here();
    struct path_double_unit *u = here();

    switch (offset_of(reg)) {
    case offsetof(struct machine_path, command):
        r->result = obey(u, r);
        r->waiting = u->logged;
        r->lost = u->lost;
        break;
    case offsetof(struct machine_path, space):
        INSIST(r->space < MACHINE_PATH_SPACES);
        u->space = r->space;
        break;
    case offsetof(struct machine_path, sample_shift):
        INSIST(r->sample_shift <= MACHINE_PATH_SAMPLE_SHIFT_MAX);
        u->sample_shift = r->sample_shift;
        break;
    case offsetof(struct machine_path, result):
    case offsetof(struct machine_path, waiting):
    case offsetof(struct machine_path, walks):
    case offsetof(struct machine_path, pab_hits):
    case offsetof(struct machine_path, filter_hits):
    case offsetof(struct machine_path, lost):
        INSIST(!"the machine alone writes there");
    }
}

/* ---- Set-up ---- */

void path_double_boot(void)
{
    memset(path_double, 0, sizeof path_double);
    memset(page, 0, sizeof page);
    path_double_output_bytes = 0;
    id = (struct machine_id){.magic = MACHINE_MAGIC,
                             .version = MACHINE_VERSION,
                             .caps = path_double_no_unit ? MACHINE_CAP_PMU : MACHINE_CAP_PATH};
}
