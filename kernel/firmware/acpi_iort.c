/*
 * Parses the IO Remapping Table (Arm DEN 0049E, 3): it says which device of which interrupt
 * translation service a PCI requester is. Nodes refer to each other by offsets in the table. A root
 * complex maps its requesters to an ITS group, or to an SMMU that maps them further.
 */
#include "kernel/firmware/acpi_platform.h"

enum { IORT_NODE_COUNT = 36, IORT_NODE_OFFSET = 40 };
enum { NODE_TYPE = 0, NODE_SIZE = 1, NODE_MAP_COUNT = 8, NODE_MAP_OFFSET = 12, NODE_DATA = 16 };
enum { TYPE_ITS_GROUP = 0, TYPE_ROOT_COMPLEX = 2, TYPE_SMMU = 3, TYPE_SMMU_V3 = 4 };
enum { GROUP_COUNT = 16, GROUP_FIRST_ID = 20, ROOT_COMPLEX_SEGMENT = 28 };
enum {
    MAP_SIZE = 20,
    MAP_INPUT = 0,
    MAP_LAST = 4,
    MAP_OUTPUT = 8,
    MAP_REFERENCE = 12,
    MAP_FLAGS = 16
};
enum { MAP_SINGLE = 1 };
#define REQUESTERS 0x10000

struct map {
    uint64_t input, count, output;
    uint32_t reference;
};

static unsigned type_of(const struct acpi_table *t, uint32_t node)
{
    return (unsigned)acpi_field(t, node + NODE_TYPE, 1);
}

/* Reads the nth mapping of a node. Returns false if it is not a range or does not exist. Fields
 * beyond the table are 0. */
static bool get_map(const struct acpi_table *t, uint32_t node, uint32_t n, struct map *out)
{
    uint64_t at = node + acpi_field(t, node + NODE_MAP_OFFSET, 4) + (uint64_t)n * MAP_SIZE;

    if (at + MAP_SIZE > t->size || (acpi_field(t, (uint32_t)at + MAP_FLAGS, 4) & MAP_SINGLE))
        return false;
    *out = (struct map){
        .input = acpi_field(t, (uint32_t)at + MAP_INPUT, 4),
        .count = acpi_field(t, (uint32_t)at + MAP_LAST, 4) + 1,
        .output = acpi_field(t, (uint32_t)at + MAP_OUTPUT, 4),
        .reference = (uint32_t)acpi_field(t, (uint32_t)at + MAP_REFERENCE, 4),
    };
    return out->reference >= NODE_DATA && out->reference < t->size;
}

static uint32_t map_count(const struct acpi_table *t, uint32_t node)
{
    return (uint32_t)MIN(acpi_field(t, node + NODE_MAP_COUNT, 4), (uint64_t)t->size / MAP_SIZE);
}

static void add_map(const struct acpi_table *t, const struct map *m, struct platform *p)
{
    if (type_of(t, m->reference) != TYPE_ITS_GROUP ||
        !acpi_field(t, m->reference + GROUP_COUNT, 4) ||
        acpi_field(t, m->reference + NODE_SIZE, 2) < GROUP_FIRST_ID + 4 || m->input >= REQUESTERS)
        return;
    platform_add_msi_map(p, (struct platform_msi_map){
                                .first = (uint32_t)m->input,
                                .count = (uint32_t)MIN(m->count, REQUESTERS - m->input),
                                .device = (uint32_t)m->output,
                                .its = (uint32_t)acpi_field(t, m->reference + GROUP_FIRST_ID, 4),
                            });
}

/* Adds the part of mapping `m` that the mappings of an SMMU pass on. */
static void add_through(const struct acpi_table *t, const struct map *m, struct platform *p)
{
    struct map on;

    for (uint32_t n = 0; n < map_count(t, m->reference); n++) {
        if (!get_map(t, m->reference, n, &on))
            continue;
        uint64_t from = MAX(m->output, on.input),
                 to = MIN(m->output + m->count, on.input + on.count);
        if (from >= to)
            continue;
        struct map both = {
            .input = m->input + (from - m->output),
            .count = to - from,
            .output = on.output + (from - on.input),
            .reference = on.reference,
        };
        add_map(t, &both, p);
    }
}

static void read_root_complex(const struct acpi_table *t, uint32_t node, struct platform *p)
{
    struct map m;

    for (uint32_t n = 0; n < map_count(t, node); n++) {
        if (!get_map(t, node, n, &m))
            continue;
        unsigned type = type_of(t, m.reference);
        if (type == TYPE_SMMU || type == TYPE_SMMU_V3)
            add_through(t, &m, p);
        else
            add_map(t, &m, p);
    }
}

void acpi_iort_read(const struct acpi_table *iort, struct platform *p)
{
    uint32_t nodes = (uint32_t)acpi_field(iort, IORT_NODE_COUNT, 4);
    uint64_t at = acpi_field(iort, IORT_NODE_OFFSET, 4);

    p->msi_mapped = true;
    p->msi_requester_mask = REQUESTERS - 1;
    for (uint32_t i = 0; i < nodes && at + NODE_DATA <= iort->size; i++) {
        uint32_t node = (uint32_t)at, size = (uint32_t)acpi_field(iort, node + NODE_SIZE, 2);
        if (size < NODE_DATA)
            return;
        if (type_of(iort, node) == TYPE_ROOT_COMPLEX &&
            !acpi_field(iort, node + ROOT_COMPLEX_SEGMENT, 4))
            read_root_complex(iort, node, p);
        at += size;
    }
}
