/* See its_layout.h. */
#include "its_layout.h"

enum {
    MOVI = 0x01,
    INT = 0x03,
    SYNC = 0x05,
    MAPD = 0x08,
    MAPC = 0x09,
    MAPTI = 0x0a,
    INV = 0x0c,
    DISCARD = 0x0f
};
#define VALID        (UINT64_C(1) << 63)
#define PAGES_MAX    256
#define LEVEL1_BYTES 8

void its_table_plan(struct its_table *t, unsigned id_bits, uint64_t entry_bytes, unsigned page_code,
                    bool can_indirect, uint64_t bytes_max)
{
    uint64_t page = (4 * KIB) << 2 * page_code, ids = (uint64_t)1 << id_bits;
    uint64_t most = MIN(PAGES_MAX * page, ALIGN_DOWN(bytes_max, page));
    bool indirect = can_indirect && ids * entry_bytes > page;
    /* bytes of the table for each entry ... */
    uint64_t each = indirect ? LEVEL1_BYTES : entry_bytes;
    uint64_t covers = indirect ? page / entry_bytes : 1; /* ... that covers this number of ids */
    uint64_t bytes = MIN(ALIGN_UP((ids + covers - 1) / covers * each, page), most);

    *t = (struct its_table){
        .indirect = indirect,
        .page_bytes = page,
        .entry_bytes = entry_bytes,
        .bytes = bytes,
        .ids = MIN(bytes / each * covers, ids),
    };
}

static struct its_command of_event(unsigned what, uint32_t device, uint32_t event)
{
    return (struct its_command){{what | (uint64_t)device << 32, event}};
}

struct its_command its_mapd(uint32_t device, unsigned event_bits, paddr_t itt)
{
    return (struct its_command){{MAPD | (uint64_t)device << 32, event_bits - 1, itt | VALID}};
}

struct its_command its_mapc(uint16_t collection, uint64_t redist)
{
    return (struct its_command){{MAPC, 0, redist | collection | VALID}};
}

struct its_command its_mapti(uint32_t device, uint32_t event, uint32_t intid, uint16_t collection)
{
    return (struct its_command){
        {MAPTI | (uint64_t)device << 32, event | (uint64_t)intid << 32, collection}};
}

struct its_command its_movi(uint32_t device, uint32_t event, uint16_t collection)
{
    return (struct its_command){{MOVI | (uint64_t)device << 32, event, collection}};
}

struct its_command its_discard(uint32_t device, uint32_t event)
{
    return of_event(DISCARD, device, event);
}

struct its_command its_inv(uint32_t device, uint32_t event)
{
    return of_event(INV, device, event);
}

struct its_command its_int(uint32_t device, uint32_t event)
{
    return of_event(INT, device, event);
}

struct its_command its_sync(uint64_t redist)
{
    return (struct its_command){{SYNC, 0, redist}};
}
