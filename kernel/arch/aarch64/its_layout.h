/*
 * The layout of an ITS and its tables (Arm IHI 0069H, 5.3 commands, 12.13, 12.19 registers):
 * commands as words, the size of tables. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

/* ---- Registers with a table's address: memory attributes ------------------------------------- */
/* GITS_CBASER, GITS_BASER<n>: write-back, read and write allocate, inner shareable; or uncached. */
#define ITS_BASE_SHARED     (UINT64_C(7) << 59 | UINT64_C(1) << 10)
#define ITS_BASE_UNCACHED   (UINT64_C(1) << 59)
#define ITS_BASE_SHARE_MASK (UINT64_C(3) << 10)
/* The same for GICR_PROPBASER, GICR_PENDBASER. */
#define GICR_BASE_SHARED     (UINT64_C(7) << 7 | UINT64_C(1) << 10)
#define GICR_BASE_UNCACHED   (UINT64_C(1) << 7)
#define GICR_BASE_SHARE_MASK (UINT64_C(3) << 10)

/* ---- GITS_TYPER ------------------------------------------------------------------------------ */
static inline bool its_has_physical(uint64_t typer)
{
    return typer & 1;
}
static inline unsigned its_entry_bytes(uint64_t typer) /* of an interrupt translation table */
{
    return (unsigned)(typer >> 4 & 15) + 1;
}
static inline unsigned its_event_bits(uint64_t typer)
{
    return (unsigned)(typer >> 8 & 31) + 1;
}
static inline unsigned its_device_bits(uint64_t typer)
{
    return (unsigned)(typer >> 13 & 31) + 1;
}
/* Returns the number of collections that may be mapped: those that the ITS keeps itself, or those
 * in its table. */
static inline uint64_t its_collections(uint64_t typer, uint64_t in_table)
{
    uint64_t named = typer >> 36 & 1 ? UINT64_C(2) << (typer >> 32 & 15) : UINT64_C(1) << 16;

    return MIN(named, MAX(typer >> 24 & 0xff, in_table));
}
/* Returns how commands name a redistributor: by its address, or by the number in its GICR_TYPER. */
static inline uint64_t its_redist(uint64_t its_typer, paddr_t redist, uint64_t gicr_typer)
{
    return its_typer >> 19 & 1 ? redist & UINT64_C(0xfffffffff0000)
                               : (gicr_typer >> 8 & 0xffff) << 16;
}

/* ---- GITS_BASER<n> --------------------------------------------------------------------------- */
enum { ITS_TABLE_NONE = 0, ITS_TABLE_DEVICES = 1, ITS_TABLE_COLLECTIONS = 4 };
#define ITS_BASER_VALID    (UINT64_C(1) << 63)
#define ITS_BASER_INDIRECT (UINT64_C(1) << 62)
#define ITS_BASER_RO       (UINT64_C(7) << 56 | UINT64_C(31) << 48) /* type, entry size */
#define ITS_BASER_PAGE(n)  ((uint64_t)(n) << 8) /* 0: 4 KB, 1: 16 KB, 2: 64 KB */
#define ITS_BASER_CACHE    (UINT64_C(7) << 59 | UINT64_C(7) << 53 | UINT64_C(3) << 10)
static inline unsigned its_table_type(uint64_t baser)
{
    return (unsigned)(baser >> 56 & 7);
}
static inline uint64_t its_table_entry_bytes(uint64_t baser)
{
    return (baser >> 48 & 31) + 1;
}

struct its_table {
    bool indirect;        /* entries of the first level are addresses of pages with entries */
    uint64_t page_bytes;  /* of both levels */
    uint64_t entry_bytes; /* of the level with the entries themselves */
    uint64_t bytes;       /* of the table that GITS_BASER refers to: whole pages */
    uint64_t ids;         /* with an entry: 0 to ids - 1 */
};
/* Plans a table for ids of `id_bits` bits. It has two levels if they are supported and one would
 * exceed a page. `bytes_max`: the largest contiguous allocation; if that is too small, some ids
 * have no entry. */
void its_table_plan(struct its_table *t, unsigned id_bits, uint64_t entry_bytes, unsigned page_code,
                    bool can_indirect, uint64_t bytes_max);
/* Returns the entry of the first level for a page of the second. */
static inline uint64_t its_level1_entry(paddr_t page)
{
    return page | UINT64_C(1) << 63;
}

/* ---- Commands -------------------------------------------------------------------------------- */
struct its_command {
    uint64_t word[4];
};
/* itt: the interrupt translation table of 1 << event_bits entries, aligned to 256. */
struct its_command its_mapd(uint32_t device, unsigned event_bits, paddr_t itt);
struct its_command its_mapc(uint16_t collection, uint64_t redist);
struct its_command its_mapti(uint32_t device, uint32_t event, uint32_t intid, uint16_t collection);
struct its_command its_movi(uint32_t device, uint32_t event, uint16_t collection);
struct its_command its_discard(uint32_t device, uint32_t event);
struct its_command its_inv(uint32_t device, uint32_t event);
struct its_command its_int(uint32_t device, uint32_t event);
struct its_command its_sync(uint64_t redist);
